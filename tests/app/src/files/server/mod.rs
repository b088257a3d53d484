// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The server: takes files, gives files, remembers nothing that a client could not ask for again.
//!
//! ```text
//!   PORTAL_CALL   ── request buffers ──▶ call ──▶ writes / reads ──▶ answer ──▶ PORTAL_ANSWER
//!   PORTAL_CHUNK  ── request buffers ──▶ draft in the store
//!   PORTAL_WINDOW ◀─ one entry a window ◀── OpenRead stages a part of a file
//! ```
//!
//! Files being written and windows being read belong to the client that opened them. One that its
//! client has not touched for [`ServerConfig::idle`] is forgotten, and so is all that a client's
//! former incarnation has opened, once its successor opens something: a dead client leaks nothing.

mod config;
mod reads;
mod replies;
mod writes;

use std::collections::VecDeque;
use std::io::ErrorKind;

use lnd_core::id::Nid;
use lnd_core::time::Instant;

use super::pages::{Pages, TooSmall, WindowMemory};
use super::receive::ReceiveBuffers;
use super::rpc::{incarnation_of, Answer, Call, Refusal, MAX_MESSAGE};
use super::store::{Store, StoreError};
use super::words::{about, Role};
use super::{At, PORTAL_CALL, PORTAL_CHUNK};
pub use config::{Limits, ServerConfig, ServerStats, Trouble};
use lnd_sim::lnet::{AckDue, Event, Lnet, SendError};
use reads::Reads;
use replies::Replies;
use writes::Writes;

/// Most ACKs that wait for the layer to have room; beyond, the client has to send the chunk again.
const MAX_WAITING_ACKS: usize = 64;
/// Most failures of the store that wait to be told of; beyond, the oldest are dropped.
const MAX_TROUBLES: usize = 16;

/// Serves the files of a store on one node.
///
/// After every batch of events, and at [`next_deadline`](Self::next_deadline), call
/// [`poll`](Self::poll); calling it more often is harmless. It may cause further events. Before the
/// layer is shut down, call [`stop`](Self::stop) and go on passing events until
/// [`is_idle`](Self::is_idle). A server whose layer has died is dropped with its pages.
#[derive(Debug)]
pub struct FileServer<S: Store> {
    config: ServerConfig,
    store: S,
    pages: Pages,
    calls: ReceiveBuffers,
    chunks: ReceiveBuffers,
    replies: Replies,
    writes: Writes<S::Draft>,
    reads: Reads,
    /// ACKs that the layer had no room for.
    acks: Vec<AckDue>,
    last_id: u32,
    /// A call that is being read.
    call: Vec<u8>,
    stopping: bool,
    /// Only what has begun goes on.
    draining: bool,
    stats: ServerStats,
    troubles: VecDeque<Trouble>,
}

impl<S: Store> FileServer<S> {
    /// A server that listens. It uses the pages and nothing else of the window.
    ///
    /// # Errors
    /// Fewer pages than [`ServerConfig::least_memory`].
    pub fn new(
        config: ServerConfig,
        mut pages: Pages,
        store: S,
        lnet: &mut Lnet,
    ) -> Result<Self, TooSmall> {
        pages.check(config.least_memory())?;
        let calls = (PORTAL_CALL, Role::Calls);
        let chunks = (PORTAL_CHUNK, Role::Chunks);
        // Answers first: without them nothing works.
        let replies = Replies::new(&mut pages, config.max_answers);
        let max_message = MAX_MESSAGE as u32;
        let calls = ReceiveBuffers::new(lnet, &mut pages, calls, config.calls, max_message);
        let chunks = ReceiveBuffers::new(lnet, &mut pages, chunks, config.chunks, config.max_chunk);
        // Ids of two incarnations should not meet; that they never do harm is the checksums'
        // business.
        let last_id = super::hash(&config.incarnation.to_le_bytes()) as u32;
        Ok(Self {
            config,
            store,
            pages,
            calls,
            chunks,
            replies,
            writes: Writes::default(),
            reads: Reads::default(),
            acks: Vec::new(),
            last_id,
            call: Vec::new(),
            stopping: false,
            draining: false,
            stats: ServerStats::default(),
            troubles: VecDeque::new(),
        })
    }

    /// Takes an event of the layer, or gives it back if it is not about a file that is served here.
    pub fn on_event(
        &mut self,
        now: Instant,
        lnet: &mut Lnet,
        memory: &mut impl WindowMemory,
        event: Event,
    ) -> Option<Event> {
        let Some((role, number)) = about(&event) else { return Some(event) };
        let mut at = At { now, lnet, memory };
        match (role, event) {
            (Role::Calls, event @ Event::PutReceived { .. }) => {
                self.on_call(&mut at, number, &event);
            }
            (Role::Chunks, event @ Event::PutReceived { .. }) => {
                self.on_chunk(&mut at, number, event);
            }
            (Role::Calls, Event::Unlinked { .. }) => {
                self.calls.on_unlinked(at.lnet, &mut self.pages, number);
            }
            (Role::Chunks, Event::Unlinked { .. }) => {
                self.chunks.on_unlinked(at.lnet, &mut self.pages, number);
            }
            (Role::Window, Event::GetServed { length, end, .. }) => {
                self.reads.touch(number, now);
                if end.is_ok() {
                    self.stats.gets += 1;
                    self.stats.get_bytes += u64::from(length);
                } else {
                    self.stats.gets_failed += 1;
                }
            }
            (Role::Window, Event::Unlinked { .. }) => {
                self.reads.on_unlinked(&mut self.pages, number);
            }
            (Role::Reply, Event::SendDone { end, .. }) if !end.is_ok() => {
                self.stats.answers_lost += 1;
            }
            (Role::Reply, Event::RequestDone { .. }) => {
                self.replies.on_done(&mut self.pages, number);
            }
            (Role::Answers | Role::Operation, event) => return Some(event),
            _ => {}
        }
        None
    }

    /// A client's incarnation is over: what it has opened is forgotten.
    pub fn on_client_down(&mut self, lnet: &mut Lnet, client: Nid) {
        self.writes.close_of(client, None);
        self.reads.close_of(client, None, lnet);
    }

    /// Does a bounded piece of what waits for time: verifies files, forgets what is idle.
    pub fn poll(&mut self, now: Instant, lnet: &mut Lnet, memory: &mut impl WindowMemory) {
        let mut at = At { now, lnet, memory };
        for due in std::mem::take(&mut self.acks) {
            self.send_ack(at.lnet, due);
        }
        self.verify_some(&mut at);
        self.stats.expired_writes += self.writes.expire(now, self.config.idle);
        self.stats.expired_reads += self.reads.expire(now, self.config.idle, at.lnet);
    }

    /// Whether [`poll`](Self::poll) has nothing to do until something is heard: no file is open,
    /// and no ACK waits.
    pub fn is_at_rest(&self) -> bool {
        self.acks.is_empty() && self.open_files() == (0, 0)
    }

    /// When to call [`poll`](Self::poll) at the latest; the origin means at once.
    pub fn next_deadline(&self) -> Option<Instant> {
        let touched = [self.writes.oldest(), self.reads.oldest()].into_iter().flatten().min();
        let expires = touched.map(|touched| touched.after(self.config.idle));
        [self.writes.next_read(), expires].into_iter().flatten().min()
    }

    /// The limits that can change.
    pub const fn limits(&self) -> Limits {
        let ServerConfig { max_writes, max_reads, max_file, idle, .. } = self.config;
        Limits { writes: max_writes, reads: max_reads, file_bytes: max_file, idle }
    }

    /// Changes them, for files and windows that are opened from now on; of `idle`: for all.
    pub const fn set_limits(&mut self, to: Limits) {
        let it = &mut self.config;
        (it.max_writes, it.max_reads) = (to.writes, to.reads);
        (it.max_file, it.idle) = (to.file_bytes, to.idle);
    }

    /// Takes no file that has not been begun; what is open goes on.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// Takes no more work and forgets all there is.
    pub fn stop(&mut self, lnet: &mut Lnet) {
        self.stopping = true;
        self.acks.clear();
        self.writes = Writes::default();
        self.reads.close_all(lnet);
        self.calls.close(lnet, &mut self.pages);
        self.chunks.close(lnet, &mut self.pages);
        self.replies.stop(&mut self.pages);
    }

    /// Whether no memory is in use; only after [`stop`](Self::stop).
    pub fn is_idle(&self) -> bool {
        self.pages.is_whole()
    }

    /// The counts so far.
    pub fn stats(&self) -> &ServerStats {
        &self.stats
    }

    /// The next failure of the store that has not been told of.
    pub fn next_trouble(&mut self) -> Option<Trouble> {
        self.troubles.pop_front()
    }

    /// Remembers a failure of the store; what a client is told of it.
    fn refuse(&mut self, client: Nid, name: &str, error: StoreError) -> Refusal {
        if matches!(error, StoreError::Io(_) | StoreError::Foreign | StoreError::Disowned) {
            if self.troubles.len() == MAX_TROUBLES {
                self.troubles.pop_front();
            }
            self.troubles.push_back(Trouble { client, name: name.to_owned(), error });
        }
        refusal(error)
    }

    /// Who has which pages, in bytes.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Files being written and windows being read.
    pub fn open_files(&self) -> (usize, usize) {
        (self.writes.len(), self.reads.len())
    }

    fn on_call(&mut self, at: &mut At<'_, impl WindowMemory>, slot: u64, event: &Event) {
        let &Event::PutReceived { from, offset, length, status, .. } = event else { return };
        let mut bytes = std::mem::take(&mut self.call);
        self.calls.copy_out(at.memory, slot, offset, length, &mut bytes);
        let call = Call::decode(&bytes).ok().filter(|_| status.errno == 0);
        self.call = bytes;
        match call {
            Some((xid, call)) if !self.stopping => {
                self.stats.calls += 1;
                if let Some(answer) = self.answer(at, from, xid, call) {
                    self.reply(at, from, xid, answer);
                }
            }
            Some(_) => {}
            None => self.stats.bad_calls += 1,
        }
    }

    /// The answer to a call; `None`: it comes later.
    fn answer(
        &mut self,
        at: &mut At<'_, impl WindowMemory>,
        from: Nid,
        xid: u64,
        call: Call,
    ) -> Option<Answer> {
        if matches!(call, Call::OpenWrite { .. } | Call::OpenRead { .. }) {
            // The death of a former incarnation may have come to no one's notice: its node was
            // joined again.
            self.writes.close_of(from, Some(incarnation_of(xid)));
            self.reads.close_of(from, Some(incarnation_of(xid)), at.lnet);
        }
        let answer = match call {
            // A client tries again later, and finds another server by then, or none.
            Call::OpenWrite { .. } | Call::OpenRead { offset: 0, .. } if self.draining => {
                Err(Refusal::Busy)
            }
            Call::OpenWrite { name, size, chunk } => {
                self.open_write(at.now, (from, xid), &name, size, chunk)
            }
            Call::Commit { id, checksum } => return self.commit(at, from, xid, id, checksum),
            Call::OpenRead { name, offset } => self.open_read(at, (from, xid), &name, offset),
            Call::Close { id } => {
                self.writes.close(from, id);
                self.reads.close(from, id, at.lnet);
                Ok(Answer::Closed)
            }
            Call::Ping { echo } => Ok(Answer::Pong { echo }),
            Call::List { after } => self.list(&after),
        };
        Some(answer.unwrap_or_else(Answer::Refused))
    }

    fn list(&self, after: &str) -> Result<Answer, Refusal> {
        let room = MAX_MESSAGE - super::rpc::FIXED_BYTES;
        // No name is shorter than two bytes with its end.
        let mut names = self.store.names(after, room / 2 + 1).map_err(refusal)?;
        let found = names.len();
        let mut used = 0;
        names.retain(|name| {
            used += name.len() + 1;
            used <= room
        });
        Ok(Answer::Names { more: names.len() < found, names })
    }

    fn reply(&mut self, at: &mut At<'_, impl WindowMemory>, to: Nid, xid: u64, answer: Answer) {
        match answer {
            Answer::Refused(Refusal::Busy) => self.stats.busy += 1,
            Answer::Refused(_) => self.stats.refused += 1,
            _ => {}
        }
        if self.replies.send(at, to, xid, &answer) {
            self.stats.answers += 1;
        } else {
            self.stats.answers_dropped += 1;
        }
    }

    fn send_ack(&mut self, lnet: &mut Lnet, due: AckDue) {
        match lnet.send_ack(due) {
            Err((due, SendError::Full)) if self.acks.len() < MAX_WAITING_ACKS => {
                self.acks.push(due);
            }
            // Without an ACK the client sends the chunk again.
            Ok(()) | Err(_) => {}
        }
    }

    fn issue_id(&mut self) -> u32 {
        loop {
            self.last_id = self.last_id.wrapping_add(1);
            // Zero is no id. The others are used in turn: only a few are taken.
            if self.last_id != 0
                && !self.writes.contains(self.last_id)
                && !self.reads.contains(self.last_id)
            {
                return self.last_id;
            }
        }
    }
}

/// Whether what was `opened_by` a client's call is over with the client's incarnation, if all its
/// incarnations are but the incarnation `kept`.
fn is_over(opened_by: (Nid, u64), client: Nid, kept: Option<u32>) -> bool {
    opened_by.0 == client && kept != Some(incarnation_of(opened_by.1))
}

/// What a client is told when the store does not do it.
fn refusal(error: StoreError) -> Refusal {
    match error {
        StoreError::NotFound => Refusal::NotFound,
        StoreError::BadName => Refusal::BadName,
        StoreError::NotAFile => Refusal::NotAFile,
        StoreError::Foreign => Refusal::Foreign,
        StoreError::Disowned => Refusal::Disowned,
        StoreError::Io(
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge,
        ) => Refusal::Full,
        StoreError::Io(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            Refusal::Denied
        }
        StoreError::Io(_) => Refusal::Failed,
    }
}
