// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The trace of one context, kept as compact records; the newest records stay.
//!
//! Each context that decides has a log of its own (a thread's, an interrupt's), so that no log
//! needs a lock. The reader merges them by time.

use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::compact::{encode, MAX_RECORD};
use lnd_core::trace::Trace;

/// A ring of records. A record without room overwrites the oldest.
#[derive(Debug)]
pub struct Log<const N: usize> {
    bytes: [u8; N],
    /// Place of the oldest record, and number of bytes in use from there.
    first: usize,
    used: usize,
    lost: u32,
}

impl<const N: usize> Log<N> {
    /// An empty log. `N` is at least [`MAX_RECORD`].
    pub const fn new() -> Self {
        const { assert!(N >= MAX_RECORD) };
        Self { bytes: [0; N], first: 0, used: 0, lost: 0 }
    }

    /// Records that were overwritten.
    pub const fn lost(&self) -> u32 {
        self.lost
    }

    /// Every stored byte, oldest first: whole records, one after the other.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        let (end, start) = self.bytes.split_at_checked(self.first).unwrap_or((&[], &self.bytes));
        start.iter().chain(end).take(self.used).copied()
    }

    /// The place `ahead` bytes after the oldest.
    const fn place(&self, ahead: usize) -> usize {
        let at = self.first + ahead;
        if at >= N {
            at - N
        } else {
            at
        }
    }

    fn push_out(&mut self) {
        // A record begins with its length. A length of zero cannot occur, and would never be
        // skipped.
        let length = self.bytes.get(self.first).map_or(1, |&l| usize::from(l).max(1));
        self.first = self.place(length.min(self.used));
        self.used = self.used.saturating_sub(length);
        self.lost = self.lost.saturating_add(1);
    }
}

impl<const N: usize> Default for Log<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Tracer for Log<N> {
    fn record(&mut self, now: Instant, trace: Trace) {
        let mut record = [0; MAX_RECORD];
        let length = encode(now, &trace, &mut record);
        while self.used > 0 && N - self.used < length {
            self.push_out();
        }
        for byte in record.iter().take(length) {
            let place = self.place(self.used);
            if let Some(place) = self.bytes.get_mut(place) {
                *place = *byte;
                self.used += 1;
            }
        }
    }
}

/// The log of another owner.
#[derive(Debug)]
pub struct Lent<'l, const N: usize>(pub &'l mut Log<N>);

impl<const N: usize> Tracer for Lent<'_, N> {
    fn record(&mut self, now: Instant, trace: Trace) {
        self.0.record(now, trace);
    }
}
