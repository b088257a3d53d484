// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a client tells of its operations: one record an attempt, for percentiles, and counts.

use std::collections::VecDeque;

use lnd_core::time::{Instant, Span};

use super::operations::{End, Finished, Part};

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpKind {
    /// A chunk, until it had left (or had not): the driver's end of a PUT.
    Put,
    /// The same chunk, until its ACK: there and back, end to end.
    Ack,
    /// A chunk fetched, until its data was there.
    Get,
    /// A call, until its answer.
    Call,
}

/// One attempt of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpDone {
    /// What.
    pub kind: OpKind,
    /// Its payload.
    pub bytes: u32,
    /// When it was handed to the layer.
    pub started: Instant,
    /// When its end was known.
    pub ended: Instant,
    /// Whether it succeeded; if not, it is tried again.
    pub ok: bool,
}

impl OpDone {
    /// How long it took.
    pub fn duration(&self) -> Span {
        self.ended.since(self.started)
    }
}

/// Counts of everything since the client was made. None ever decreases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientStats {
    /// Bytes of chunks sent and acknowledged, those of files begun anew included.
    pub sent_bytes: u64,
    /// Bytes of chunks fetched, those fetched again included.
    pub fetched_bytes: u64,
    /// Attempts of operations.
    pub attempts: u64,
    /// Of these, failed.
    pub failures: u64,
    /// Files and windows begun anew.
    pub restarts: u64,
    /// Windows that were not what their checksum said.
    pub mismatches: u64,
    /// Messages on the answer portal that made no sense or were cut or lost on the way.
    pub bad_answers: u64,
    /// Answers that no call waited for.
    pub stale_answers: u64,
    /// Records dropped because they were not read.
    pub records_dropped: u64,
    /// Jobs that succeeded.
    pub jobs_done: u64,
    /// Jobs that failed.
    pub jobs_failed: u64,
}

/// The newest records.
#[derive(Debug)]
pub(super) struct Records {
    pub stats: ClientStats,
    queue: VecDeque<OpDone>,
    limit: usize,
}

impl Records {
    pub fn new(limit: usize) -> Self {
        Self { stats: ClientStats::default(), queue: VecDeque::new(), limit }
    }

    pub fn push(&mut self, record: OpDone) {
        self.queue.push_back(record);
        if self.queue.len() > self.limit {
            self.queue.pop_front();
            self.stats.records_dropped += 1;
        }
    }

    pub fn count(&mut self, finished: &Finished) {
        let bytes = u64::from(finished.buffer.length());
        match (finished.part, &finished.end) {
            (Part::Send, End::Moved) => self.stats.sent_bytes += bytes,
            (Part::Fetch(_), End::Moved) => self.stats.fetched_bytes += bytes,
            _ => {}
        }
    }

    pub fn pop(&mut self) -> Option<OpDone> {
        self.queue.pop_front()
    }
}
