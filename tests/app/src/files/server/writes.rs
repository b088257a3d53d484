// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files being written: from OpenWrite over chunks in any order to a verified commit.

mod verify;

use std::collections::{BTreeMap, VecDeque};

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::lnet::Event;

use crate::files::hash::Hash;
use crate::files::pages::WindowMemory;
use crate::files::rpc::{Answer, Refusal};
use crate::files::store::{Store, StoreError};
use crate::files::At;

use super::{is_over, FileServer};

/// Bytes of a file that are copied at a time: they stay in the processor's cache on their way.
const PIECE: u32 = 128 << 10;

/// All files being written.
#[derive(Debug)]
pub(super) struct Writes<D> {
    open: BTreeMap<u32, Write<D>>,
    /// The last commits: client, id, checksum.
    committed: VecDeque<(Nid, u32, u64)>,
    /// The file that was verified last: the next one's turn comes first.
    verified: u32,
    /// When what is read aside was looked at last.
    looked: Instant,
}

#[derive(Debug)]
struct Write<D> {
    /// Who opened it, and with which call: the same call again gets the same file.
    opened_by: (Nid, u64),
    name: String,
    draft: D,
    size: u64,
    chunk: u32,
    chunks: Chunks,
    touched: Instant,
    /// The store has failed it: what the client is told.
    broken: Option<Refusal>,
    /// What has been read back: so many bytes from the front, none of which is written again.
    verified: u64,
    /// Of these bytes. Not here while the store reads the next.
    hash: Option<Hash>,
    /// So many bytes behind them are being read back aside.
    reading: u64,
    commit: Option<Commit>,
}

/// A commit under way: all chunks are there, and the rest has to be verified.
#[derive(Clone, Copy, Debug)]
struct Commit {
    xid: u64,
    checksum: u64,
}

/// Which chunks have come.
#[derive(Debug)]
struct Chunks {
    words: Vec<u64>,
    missing: u64,
    /// So many have come of those at the front.
    front: u32,
}

impl Chunks {
    fn new(count: u64) -> Self {
        Self { words: vec![0; count.div_ceil(64) as usize], missing: count, front: 0 }
    }

    fn bit(index: u32) -> (usize, u64) {
        (index as usize / 64, 1 << (index % 64))
    }

    fn contains(&self, index: u32) -> bool {
        let (word, bit) = Self::bit(index);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    fn insert(&mut self, index: u32) {
        let (word, bit) = Self::bit(index);
        if let Some(word) = self.words.get_mut(word).filter(|word| **word & bit == 0) {
            *word |= bit;
            self.missing -= 1;
        }
        while self.contains(self.front) {
            self.front += 1;
        }
    }
}

/// A chunk as it came.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    pub from: Nid,
    pub id: u32,
    pub index: u32,
}

/// What became of a chunk.
enum InjectedFault {
    Stored,
    Duplicate,
    /// The store refuses it for good.
    Refused(Refusal),
    /// Sent for another file, or for a former incarnation.
    Stale,
    Bad,
}

impl<D> Default for Writes<D> {
    fn default() -> Self {
        let (open, committed) = (BTreeMap::new(), VecDeque::new());
        Self { open, committed, verified: 0, looked: Instant::ORIGIN }
    }
}

impl<D> Writes<D> {
    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn contains(&self, id: u32) -> bool {
        self.open.contains_key(&id)
    }

    pub fn oldest(&self) -> Option<Instant> {
        self.open.values().map(|write| write.touched).min()
    }

    pub fn close(&mut self, from: Nid, id: u32) {
        if self.open.get(&id).is_some_and(|write| write.opened_by.0 == from) {
            self.open.remove(&id);
        }
    }

    /// Forgets what this client has begun, but for what it has begun in the incarnation `kept`. A
    /// commit under way goes on.
    pub fn close_of(&mut self, client: Nid, kept: Option<u32>) {
        self.open
            .retain(|_, write| write.commit.is_some() || !is_over(write.opened_by, client, kept));
    }

    /// Forgets what was not touched for so long. Returns how many.
    pub fn expire(&mut self, now: Instant, idle: Span) -> u64 {
        let before = self.open.len();
        self.open.retain(|_, write| now < write.touched.after(idle) || write.commit.is_some());
        (before - self.open.len()) as u64
    }
}

impl<D> Write<D> {
    /// Bytes at the front that have been stored.
    fn stored(&self) -> u64 {
        (u64::from(self.chunks.front) * u64::from(self.chunk)).min(self.size)
    }
}

impl<S: Store> FileServer<S> {
    pub(super) fn open_write(
        &mut self,
        now: Instant,
        opened_by: (Nid, u64),
        name: &str,
        size: u64,
        chunk: u32,
    ) -> Result<Answer, Refusal> {
        let incarnation = self.config.incarnation;
        let same = self.writes.open.iter_mut().find(|(_, write)| write.opened_by == opened_by);
        if let Some((&id, write)) = same {
            write.touched = now;
            return Ok(Answer::Writing { id, incarnation });
        }
        let count = size.div_ceil(u64::from(chunk.max(1)));
        if chunk == 0
            || chunk > self.config.max_chunk
            || size > self.config.max_file
            || count > u64::from(self.config.max_chunks)
        {
            return Err(Refusal::TooLarge);
        }
        if self.writes.len() >= self.config.max_writes {
            return Err(Refusal::Busy);
        }
        let draft = self.store.create(name, size);
        let draft = draft.map_err(|error| self.refuse(opened_by.0, name, error))?;
        let id = self.issue_id();
        let chunks = Chunks::new(count);
        let write = Write {
            opened_by,
            name: name.to_owned(),
            draft,
            size,
            chunk,
            chunks,
            touched: now,
            broken: None,
            verified: 0,
            hash: Some(Hash::new()),
            reading: 0,
            commit: None,
        };
        self.writes.open.insert(id, write);
        Ok(Answer::Writing { id, incarnation })
    }

    pub(super) fn on_chunk(&mut self, at: &mut At<'_, impl WindowMemory>, slot: u64, event: Event) {
        let Event::PutReceived { from, match_bits, data, offset, length, status, ack, .. } = event
        else {
            return;
        };
        if self.stopping {
            return;
        }
        if status.errno != 0 {
            self.stats.bad_chunks += 1;
            return;
        }
        let chunk = Chunk { from, id: (match_bits >> 32) as u32, index: match_bits as u32 };
        let place = (self.chunks.address_of(slot, offset, length), length);
        let injected = self.store_chunk(at, chunk, data, place);
        match injected {
            InjectedFault::Stored | InjectedFault::Duplicate => {
                if let Some(due) = ack {
                    self.send_ack(at.lnet, due);
                }
            }
            // The client learns now what it would else learn with its commit.
            InjectedFault::Refused(why) => {
                self.reply(at, from, 0, Answer::Broken { id: chunk.id, why })
            }
            InjectedFault::Stale => self.reply(at, from, 0, Answer::Lost { id: chunk.id }),
            InjectedFault::Bad => {}
        }
        match injected {
            InjectedFault::Stored => {
                self.stats.chunks += 1;
                self.stats.chunk_bytes += u64::from(length);
            }
            InjectedFault::Duplicate => self.stats.duplicate_chunks += 1,
            InjectedFault::Stale => self.stats.stale_chunks += 1,
            InjectedFault::Refused(_) | InjectedFault::Bad => self.stats.bad_chunks += 1,
        }
    }

    /// Stores the chunk that lies at `place`: address and length.
    fn store_chunk(
        &mut self,
        at: &At<'_, impl WindowMemory>,
        chunk: Chunk,
        incarnation: u64,
        place: (Option<u64>, u32),
    ) -> InjectedFault {
        let write = self.writes.open.get_mut(&chunk.id);
        let write =
            write.filter(|w| w.opened_by.0 == chunk.from && incarnation == self.config.incarnation);
        let Some(write) = write else { return InjectedFault::Stale };
        let start = u64::from(chunk.index) * u64::from(write.chunk);
        let left = write.size.saturating_sub(start);
        let (Some(address), length) = place else { return InjectedFault::Bad };
        if left == 0 || u64::from(length) != left.min(u64::from(write.chunk)) {
            return InjectedFault::Bad;
        }
        write.touched = at.now;
        if let Some(why) = write.broken.filter(|why| why.is_final()) {
            return InjectedFault::Refused(why);
        }
        if write.chunks.contains(chunk.index) {
            return InjectedFault::Duplicate;
        }
        let aside = self.store.reads_aside(&write.draft);
        let mut stored = Ok(());
        for done in (0..length).step_by(PIECE as usize) {
            let piece = (length - done).min(PIECE);
            let bytes = at.memory.bytes(address + u64::from(done), piece);
            let to = start + u64::from(done);
            stored = self.store.write_bytes(&mut write.draft, to, &bytes);
            // What comes in order is read back while it is in the processor's cache.
            if stored.is_ok() && write.verified == to && !aside {
                stored = write.verify(&mut self.store, piece);
            }
            if stored.is_err() {
                break;
            }
        }
        if stored.is_ok() {
            write.chunks.insert(chunk.index);
            // The next part is read while the next chunk comes.
            if aside {
                stored = write.go_on_aside(&mut self.store);
            }
        }
        match stored {
            Ok(()) => InjectedFault::Stored,
            Err(error) => match self.fail_write(chunk.id, error) {
                Some(why) => InjectedFault::Refused(why),
                // What may pass is said with the commit: an ACK has no room for it.
                None => InjectedFault::Stored,
            },
        }
    }

    /// The store has failed a file. Returns what its client is told at once.
    fn fail_write(&mut self, id: u32, error: StoreError) -> Option<Refusal> {
        let write = self.writes.open.get(&id)?;
        let (client, name) = (write.opened_by.0, write.name.clone());
        let why = self.refuse(client, &name, error);
        self.writes.open.get_mut(&id)?.broken = Some(why);
        Some(why).filter(|why| why.is_final())
    }

    pub(super) fn commit(
        &mut self,
        at: &mut At<'_, impl WindowMemory>,
        from: Nid,
        xid: u64,
        id: u32,
        checksum: u64,
    ) -> Option<Answer> {
        if self.writes.committed.contains(&(from, id, checksum)) {
            return Some(Answer::Committed);
        }
        let write = self.writes.open.get_mut(&id).filter(|write| write.opened_by.0 == from);
        let Some(write) = write else { return Some(Answer::Refused(Refusal::Unknown)) };
        write.touched = at.now;
        if let Some(commit) = &mut write.commit {
            commit.xid = xid;
            return None;
        }
        let wrong = match (write.broken, write.chunks.missing) {
            (Some(why), _) => why,
            (None, 0) => {
                write.commit = Some(Commit { xid, checksum });
                self.conclude(at, id);
                return None;
            }
            (None, _) => Refusal::Incomplete,
        };
        self.writes.open.remove(&id);
        Some(Answer::Refused(wrong))
    }
}
