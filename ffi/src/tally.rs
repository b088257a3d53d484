// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is counted outside the lock. Interrupts count in words of their own, 32 bits wide. The
//! thread adds each word's growth since its last call.

use lnd_core::counters::{Count, Counter, Counters};
use lnd_core::sync::{AtomicU32, Ordering};

use crate::abi::LND_MAX_LINKS;

/// The counts of contexts without the lock, modulo 2^32.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub interrupts: AtomicU32,
    pub completions: AtomicU32,
    stale: AtomicU32,
    late: AtomicU32,
    foreign: AtomicU32,
    impossible: AtomicU32,
}

impl Tally {
    /// Publishes the total counts of the link's only counting context. Context: the link's
    /// interrupt.
    pub fn show(&self, counters: &Counters) {
        for (word, counter) in self.words() {
            word.store(counters.value(counter) as u32, Ordering::Relaxed);
        }
    }

    fn words(&self) -> [(&AtomicU32, Counter); 4] {
        [
            (&self.stale, Counter::StaleCompletion),
            (&self.late, Counter::LateEvent),
            (&self.foreign, Counter::ForeignCompletion),
            (&self.impossible, Counter::ImpossibleStatus),
        ]
    }
}

/// Counts in words that other contexts also count in. Context: any.
impl Count for &Tally {
    fn count(&mut self, counter: Counter) {
        for (word, counted) in self.words() {
            if counted == counter {
                // Relaxed: a count.
                word.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// How far the thread has added one tally.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    interrupts: u32,
    completions: u32,
    counted: [u32; 4],
}

/// The thread's sums, in 64 bits.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    seen: [Seen; LND_MAX_LINKS + 1],
    interrupts: u64,
    completions: u64,
    misuses: u64,
    misuses_seen: u32,
    counters: Counters,
}

/// The growth of a word since it was last seen. Marks it as seen.
fn growth(word: u32, seen: &mut u32) -> u64 {
    u64::from(word.wrapping_sub(core::mem::replace(seen, word)))
}

impl Totals {
    /// Adds the growth of every tally. Must be called before any of them wraps.
    pub fn follow<'t>(&mut self, tallies: impl Iterator<Item = &'t Tally>, misuses: u32) {
        for (tally, seen) in tallies.zip(self.seen.iter_mut()) {
            let now = tally.interrupts.load(Ordering::Relaxed);
            self.interrupts = self.interrupts.wrapping_add(growth(now, &mut seen.interrupts));
            let now = tally.completions.load(Ordering::Relaxed);
            self.completions = self.completions.wrapping_add(growth(now, &mut seen.completions));
            for ((word, counter), seen) in tally.words().into_iter().zip(seen.counted.iter_mut()) {
                self.counters.add(counter, growth(word.load(Ordering::Relaxed), seen));
            }
        }
        let grown = growth(misuses, &mut self.misuses_seen);
        self.misuses = self.misuses.wrapping_add(grown);
    }

    /// One counter.
    pub fn value(&self, counter: Counter) -> u64 {
        self.counters.value(counter)
    }

    /// Interrupts taken.
    pub const fn interrupts(&self) -> u64 {
        self.interrupts
    }

    /// Completions taken.
    pub const fn completions(&self) -> u64 {
        self.completions
    }

    /// Calls refused as misuse.
    pub const fn misuses(&self) -> u64 {
        self.misuses
    }
}
