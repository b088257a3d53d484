// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The last events, and a hash over all of them.

use std::collections::VecDeque;

use lnd_core::id::Tag;
use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::compact::{encode, MAX_RECORD};
use lnd_core::trace::Trace;

use crate::mixer::Mixer;

/// An event and its time.
pub type Traced = (Instant, Trace);

/// Keeps the last `room` events and hashes all of them.
#[derive(Debug)]
pub struct History {
    last: VecDeque<Traced>,
    room: usize,
    hash: Mixer,
    hashes: bool,
    count: u64,
}

impl History {
    /// A history of `room` events.
    pub fn new(room: usize) -> Self {
        let (last, hash) = (VecDeque::with_capacity(room), Mixer::default());
        Self { last, room, hash, hashes: true, count: 0 }
    }

    /// A history of `room` events with no hash over them, which takes longer than most
    /// events: for real time, in which no two runs are equal.
    pub fn without_hash(room: usize) -> Self {
        Self { hashes: false, ..Self::new(room) }
    }

    /// The hash over everything recorded: equal runs have equal hashes.
    pub const fn hash(&self) -> u64 {
        self.hash.value()
    }

    /// How much was recorded in all.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The last events, oldest first.
    pub fn last(&self) -> impl Iterator<Item = &Traced> {
        self.last.iter()
    }

    /// The last events of one transfer.
    pub fn of(&self, tag: Tag) -> impl Iterator<Item = &Traced> {
        self.last.iter().filter(move |(_, trace)| tag_of(trace) == Some(tag))
    }
}

impl Tracer for History {
    fn record(&mut self, now: Instant, trace: Trace) {
        self.count += 1;
        if self.hashes {
            // A record can be decoded, so that equal records are equal events.
            let mut record = [0; MAX_RECORD];
            let length = encode(now, &trace, &mut record);
            self.hash.add_bytes(&record[..length]);
        }
        if self.room == 0 {
            return;
        }
        if self.last.len() == self.room {
            self.last.pop_front();
        }
        self.last.push_back((now, trace));
    }
}

/// The transfer that an event is about.
pub const fn tag_of(trace: &Trace) -> Option<Tag> {
    match trace {
        Trace::Accepted { tag, .. }
        | Trace::Step { tag, .. }
        | Trace::Stale { tag }
        | Trace::Posted { tag, .. }
        | Trace::Invalidated { tag, .. }
        | Trace::Reclaimed { tag, .. }
        | Trace::Finalized { tag, .. } => Some(*tag),
        _ => None,
    }
}
