// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The last happenings, and a hash over all of them.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::hash::Hasher;

use lnd_core::id::Tag;
use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::Trace;

/// A happening and its time.
pub type Traced = (Instant, Trace);

/// Keeps the last `room` happenings and hashes all of them.
#[derive(Debug)]
pub struct History {
    last: VecDeque<Traced>,
    room: usize,
    hash: Fnv,
    hashes: bool,
    count: u64,
}

#[derive(Debug)]
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// Debug text goes straight into the hash.
impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text.as_bytes());
        Ok(())
    }
}

impl History {
    /// A history of `room` happenings.
    pub fn new(room: usize) -> Self {
        let hash = Fnv(0xcbf2_9ce4_8422_2325);
        Self { last: VecDeque::with_capacity(room), room, hash, hashes: true, count: 0 }
    }

    /// A history of `room` happenings with no hash over them, which takes longer than most
    /// happenings: for real time, in which no two runs are equal.
    pub fn without_hash(room: usize) -> Self {
        Self { hashes: false, ..Self::new(room) }
    }

    /// The hash over everything recorded: equal runs have equal hashes.
    pub fn hash(&self) -> u64 {
        self.hash.finish()
    }

    /// How much was recorded in all.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The last happenings, oldest first.
    pub fn last(&self) -> impl Iterator<Item = &Traced> {
        self.last.iter()
    }

    /// The last happenings of one transfer.
    pub fn of(&self, tag: Tag) -> impl Iterator<Item = &Traced> {
        self.last.iter().filter(move |(_, trace)| tag_of(trace) == Some(tag))
    }
}

impl Tracer for History {
    fn record(&mut self, now: Instant, trace: Trace) {
        self.count += 1;
        if self.hashes {
            self.hash.write_u64(now.as_nanos());
            // The debug text names every field, so that equal texts are equal happenings.
            // Hashing cannot fail.
            let _ = write!(self.hash, "{trace:?}");
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

/// The transfer that a happening is about.
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
