// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Single operations: one call, one chunk sent, one chunk fetched. Each is tried again until it has
//! succeeded, its attempts are used up, or its job no longer wants it.
//!
//! ```text
//!   begin ──▶ Paused ──▶ Flying ──▶ answered, and the layer is done with it ──▶ Finished
//!                ▲          │
//!                └──────────┘ failed, refused, timed out, and the layer is done with it
//! ```
//!
//! An operation keeps its memory over all attempts, and ends only when the layer has given it back
//! (`RequestDone`, INV-2): one that is cancelled or timed out is expired first.

use std::collections::BTreeMap;

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::lnet::{Event, Get, Lnet, Put, SendEnd, SendError};
use lnd_sim::rng::Rng;

use crate::files::pages::Pages;
use crate::files::rpc::{Answer, Refusal};
use crate::files::words::{word, Role};

use super::flow::{Chunks, Flow};
pub(super) use super::operation::{Begin, End, Finished, Part, Patience};
use super::operation::{Flight, Operation, Outcome, State};
use super::records::{OpKind, Records};

/// Most bytes that a job reads and copies in one turn.
pub(super) const PIECE: u32 = 32 << 10;
/// Most chunks whose memory is kept when nothing needs it.
const MOST_SPARE: usize = 32;

/// All operations of a client, and its memory.
#[derive(Debug)]
pub(super) struct Operations {
    pub pages: Pages,
    pub records: Records,
    table: BTreeMap<u64, Operation>,
    next: u64,
    /// The xid of a call is its number plus this: answers to another incarnation do not match. The
    /// upper half is the [incarnation](crate::files::rpc::incarnation_of) of the client.
    first_xid: u64,
    patience: Patience,
    random: Rng,
    flows: BTreeMap<Nid, Flow>,
    /// Chunks in the table.
    chunks: usize,
    /// Begun, and not tried yet.
    fresh: Vec<u64>,
    /// No operation but fresh ones is due before.
    earliest: Instant,
    /// Most payload bytes under way to or from one server.
    most_bytes: u64,
    /// Most chunks of each kind under way to or from one server.
    most_chunks: Chunks,
    /// One piece of a file on its way between its source and the window.
    pub piece: Vec<u8>,
    /// Memory of chunks that came early, for the next ones.
    spare: Vec<Vec<u8>>,
}

impl Operations {
    pub fn new(
        pages: Pages,
        patience: Patience,
        mut random: Rng,
        records: Records,
        (most_bytes, most_chunks): (u64, Chunks),
    ) -> Self {
        // A seed of small numbers makes first xids that lie far apart. Zero is that of notices.
        let first_xid = random.next() >> 32 << 32 | 1 << 63;
        Self {
            pages,
            records,
            table: BTreeMap::new(),
            next: 1,
            first_xid,
            patience,
            random,
            flows: BTreeMap::new(),
            chunks: 0,
            fresh: Vec::new(),
            earliest: Instant::NEVER,
            most_bytes,
            most_chunks,
            piece: vec![0; PIECE as usize],
            spare: Vec::new(),
        }
    }

    /// Whether a chunk of `length` bytes may be under way to or from `server` besides those that
    /// are.
    pub fn admits(&mut self, server: Nid, length: u32) -> bool {
        self.flow(server).admits(length)
    }

    /// Payload bytes that may be under way to or from `server` in large chunks.
    pub fn window_of(&mut self, server: Nid) -> u64 {
        self.flow(server).window()
    }

    fn flow(&mut self, server: Nid) -> &mut Flow {
        let (bytes, chunks) = (self.most_bytes, self.most_chunks);
        self.flows.entry(server).or_insert_with(|| Flow::new(bytes, chunks))
    }

    /// Memory for a chunk that came early, at least this long.
    pub fn take_spare(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        if bytes.len() < length {
            bytes.resize(length, 0);
        }
        bytes
    }

    /// Keeps the memory of a chunk for another one.
    pub fn keep_spare(&mut self, bytes: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            self.spare.push(bytes);
        }
    }

    /// Operations that have not ended.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Chunks under way. Calls do not count: one that waits for its turn at the server must not
    /// keep those from ending whose turn it is.
    pub const fn chunks(&self) -> usize {
        self.chunks
    }

    /// The xid of the operation that begins next.
    pub fn next_xid(&self) -> u64 {
        self.first_xid.wrapping_add(self.next)
    }

    /// A pause before the `attempt`-th attempt at anything: half of it is random, so that those who
    /// failed together do not come back together.
    pub fn pause(&mut self, attempt: u32) -> Span {
        let doubled = self.patience.first_pause.times(1 << attempt.saturating_sub(1).min(20));
        let longest = doubled.min(self.patience.longest_pause).as_nanos();
        Span::from_nanos(self.random.between(longest / 2, longest))
    }

    /// Queues an operation; the next [`poll`](Self::poll) tries it.
    pub fn begin(&mut self, now: Instant, begin: Begin) {
        if begin.part != Part::Call {
            self.chunks += 1;
            let length = begin.buffer.length();
            self.flow(begin.to).begin(length);
        }
        let state = State::Paused(now);
        let operation = Operation { begin, attempt: 0, cancelled: false, state };
        self.table.insert(self.next, operation);
        self.fresh.push(self.next);
        self.next += 1;
    }

    /// Takes an operation out of the table.
    fn remove(&mut self, number: u64) -> Option<Operation> {
        let operation = self.table.remove(&number)?;
        if operation.begin.part != Part::Call {
            self.chunks -= 1;
            let (to, length) = (operation.begin.to, operation.begin.buffer.length());
            self.flow(to).end(length);
        }
        Some(operation)
    }

    /// No call waits for the operations of this job any more.
    pub fn cancel(&mut self, lnet: &mut Lnet, job: u64) {
        let own = self.table.iter_mut().filter(|(_, operation)| operation.begin.job == job);
        let mut idle = Vec::new();
        for (&number, operation) in own {
            operation.begin.job = 0;
            operation.cancelled = true;
            match operation.request() {
                Some(request) => drop(lnet.expire(request)),
                None => idle.push(number),
            }
        }
        for over in idle.into_iter().filter_map(|number| self.remove(number)).collect::<Vec<_>>() {
            self.pages.free(over.begin.buffer);
        }
    }

    /// Tries what is due, and gives up what takes too long.
    pub fn poll(&mut self, now: Instant, lnet: &mut Lnet) -> Vec<Finished> {
        let mut due = std::mem::take(&mut self.fresh);
        if self.earliest <= now {
            let late = self.table.iter().filter(|(_, operation)| operation.deadline() <= now);
            due = late.map(|(&number, _)| number).collect();
        }
        let ended = due.iter().filter_map(|&number| self.on_time(now, lnet, number)).collect();
        if self.earliest <= now {
            self.earliest = self.first_deadline();
        }
        due.clear();
        self.fresh = due;
        ended
    }

    /// When something is due next.
    pub fn next_deadline(&self) -> Option<Instant> {
        let first = if self.fresh.is_empty() { self.earliest } else { Instant::ORIGIN };
        Some(first).filter(|due| *due < Instant::NEVER)
    }

    fn first_deadline(&self) -> Instant {
        self.table.values().map(Operation::deadline).min().unwrap_or(Instant::NEVER)
    }

    /// An event of the operation with this number.
    pub fn on_event(&mut self, now: Instant, number: u64, event: &Event) -> Option<Finished> {
        let patience = self.patience;
        let operation = self.table.get_mut(&number)?;
        let part = operation.begin.part;
        let bytes = operation.begin.buffer.length();
        let attempt = operation.attempt;
        let State::Flying(flight) = &mut operation.state else { return None };
        let started = flight.started;
        let mut record = None;
        match (event, part) {
            (Event::SendDone { end, .. }, _) => {
                if part == Part::Send && *end != SendEnd::Cancelled {
                    record = Some((OpKind::Put, end.is_ok()));
                }
                if !end.is_ok() {
                    flight.fail();
                } else if matches!(flight.outcome, Outcome::Open) {
                    flight.until = flight.until.min(now.after(patience.for_answer(attempt)));
                    self.earliest = self.earliest.min(flight.until);
                }
            }
            (Event::Ack { length, .. }, Part::Send) if *length == bytes => {
                record = Some((OpKind::Ack, true));
                flight.outcome = Outcome::Good(End::Moved);
            }
            (Event::Reply { length, status, .. }, Part::Fetch(_))
                if status.errno == 0 && *length == bytes =>
            {
                record = Some((OpKind::Get, true));
                flight.outcome = Outcome::Good(End::Moved);
            }
            (Event::RequestDone { .. }, _) => flight.request = None,
            // An answer that says less than all is none.
            _ => flight.fail(),
        }
        let (to, moved) =
            (operation.begin.to, matches!(record, Some((kind, true)) if kind == part.kind()));
        if let Some((kind, ok)) = record {
            self.records.push(operation.record(kind, started, now, ok));
        }
        if moved {
            self.flow(to).on_success(bytes);
        }
        self.settle(now, number)
    }

    /// An answer has come. Returns whether a call was waiting for it, and how that ended.
    pub fn on_answer(
        &mut self,
        now: Instant,
        from: Nid,
        xid: u64,
        answer: Answer,
    ) -> (bool, Option<Finished>) {
        let number = xid.wrapping_sub(self.first_xid);
        let Some(operation) = self.table.get_mut(&number) else { return (false, None) };
        let called = operation.begin.to == from && operation.begin.part == Part::Call;
        if !called || operation.cancelled {
            return (false, None);
        }
        let busy = answer == Answer::Refused(Refusal::Busy);
        match &mut operation.state {
            // An answer to an attempt that was given up is as good as one to the next.
            State::Paused(_) if !busy => {
                let finished = self.remove(number);
                (true, finished.map(|operation| operation.finish(End::Answered(answer))))
            }
            State::Paused(_) => (true, None),
            State::Flying(flight) => {
                let started = flight.started;
                if busy {
                    flight.fail();
                } else if !matches!(flight.outcome, Outcome::Good(_)) {
                    flight.outcome = Outcome::Good(End::Answered(answer));
                    let record = operation.record(OpKind::Call, started, now, true);
                    self.records.push(record);
                }
                (true, self.settle(now, number))
            }
        }
    }

    fn on_time(&mut self, now: Instant, lnet: &mut Lnet, number: u64) -> Option<Finished> {
        let operation = self.table.get_mut(&number)?;
        match &mut operation.state {
            State::Paused(_) => self.launch(now, lnet, number),
            State::Flying(flight) => {
                flight.until = Instant::NEVER;
                flight.fail();
                flight.request.map(|request| lnet.expire(request));
                self.settle(now, number)
            }
        }
    }

    fn launch(&mut self, now: Instant, lnet: &mut Lnet, number: u64) -> Option<Finished> {
        let operation = self.table.get_mut(&number)?;
        let Begin { to, part, target, ref buffer, .. } = operation.begin;
        let memory = buffer.memory(buffer.length());
        let user = word(Role::Operation, number);
        let begun = match part {
            Part::Fetch(_) => lnet.get(Get { to, target, memory, user }),
            Part::Send => lnet.put(Put { to, target, memory, ack: true, user }),
            Part::Call => lnet.put(Put { to, target, memory, ack: false, user }),
        };
        match begun {
            Ok(request) => {
                operation.attempt += 1;
                let until = now.after(self.patience.timeout);
                operation.state = State::Flying(Flight {
                    request: Some(request),
                    started: now,
                    until,
                    outcome: Outcome::Open,
                });
                self.earliest = self.earliest.min(until);
                self.records.stats.attempts += 1;
                None
            }
            // Not an attempt: the layer has too much to do.
            Err(SendError::Full) => {
                let pause = self.pause(1);
                self.pause_until(number, now.after(pause));
                None
            }
            Err(error) => Some(self.remove(number)?.finish(End::Impossible(error))),
        }
    }

    /// Ends an attempt that is over; ends the operation, or has it tried again.
    fn settle(&mut self, now: Instant, number: u64) -> Option<Finished> {
        let operation = self.table.get_mut(&number)?;
        let State::Flying(flight) = &mut operation.state else { return None };
        if flight.request.is_some() {
            return None;
        }
        if operation.cancelled {
            let over = self.remove(number)?;
            self.pages.free(over.begin.buffer);
            return None;
        }
        match std::mem::replace(&mut flight.outcome, Outcome::Open) {
            Outcome::Good(end) => Some(self.remove(number)?.finish(end)),
            // The answer to a call comes as a message of its own.
            Outcome::Open if operation.begin.part == Part::Call => None,
            Outcome::Open | Outcome::Bad => {
                let started = flight.started;
                let kind = operation.begin.part.kind();
                self.records.push(operation.record(kind, started, now, false));
                self.records.stats.failures += 1;
                let (attempt, to, part) =
                    (operation.attempt, operation.begin.to, operation.begin.part);
                if part != Part::Call {
                    self.flow(to).on_loss(started, now);
                }
                let operation = self.table.get(&number)?;
                if operation.begin.attempts.is_some_and(|most| attempt >= most) {
                    return Some(self.remove(number)?.finish(End::Failed));
                }
                let pause = self.pause(attempt);
                self.pause_until(number, now.after(pause));
                None
            }
        }
    }

    fn pause_until(&mut self, number: u64, until: Instant) {
        if let Some(operation) = self.table.get_mut(&number) {
            operation.state = State::Paused(until);
            self.earliest = self.earliest.min(until);
        }
    }
}
