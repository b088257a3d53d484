// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the adversary does to engines.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::time::{Instant, Span};
use lnd_dma::soft::{CompletionFault, Faults};

use super::fault_rates::EngineFaults;
use super::tally::Tally;
use crate::rng::Rng;

/// The adversary at one engine.
#[derive(Debug)]
pub struct Adversary {
    rng: Rng,
    faults: Rc<Cell<EngineFaults>>,
    tally: Tally,
    now: Instant,
    stalled_until: Instant,
    /// Invalidations that are overlooked, and until when.
    overlooked: BTreeMap<Tag, Instant>,
}

impl Adversary {
    /// An adversary with the faults that `faults` holds at each moment.
    pub const fn new(rng: Rng, faults: Rc<Cell<EngineFaults>>, tally: Tally) -> Self {
        Self {
            rng,
            faults,
            tally,
            now: Instant::ORIGIN,
            stalled_until: Instant::ORIGIN,
            overlooked: BTreeMap::new(),
        }
    }

    /// Whether the last step was one that did nothing.
    pub fn stalled(&self) -> bool {
        self.now < self.stalled_until
    }

    fn strikes(&mut self, rate: u32, what: &'static str) -> bool {
        let hit = rate > 0 && self.rng.chance(rate);
        if hit {
            self.tally.count(what);
        }
        hit
    }

    fn up_to(&mut self, microseconds: u32) -> Instant {
        self.now.after(Span::from_nanos(self.rng.below(u64::from(microseconds) * 1_000 + 1)))
    }
}

impl Faults for Adversary {
    fn stalls(&mut self, now: Instant) -> bool {
        self.now = now;
        let faults = self.faults.get();
        if faults.stall == 0 {
            self.stalled_until = now;
        } else if !self.stalled() && self.strikes(faults.stall, "engine stalls") {
            self.stalled_until = self.up_to(faults.stall_us);
        }
        self.stalled()
    }

    fn completion(&mut self, tag: Tag) -> CompletionFault {
        self.overlooked.remove(&tag);
        let faults = self.faults.get();
        if self.strikes(faults.lose, "completions lost") {
            CompletionFault::Lose
        } else if self.strikes(faults.twice, "completions posted twice") {
            CompletionFault::Twice
        } else if self.strikes(faults.hold, "completions held back") {
            CompletionFault::Hold(self.up_to(faults.hold_us))
        } else if self.strikes(faults.garble, "completions garbled") {
            CompletionFault::Garble
        } else {
            CompletionFault::Deliver
        }
    }

    fn overlooks_invalidate(&mut self, tag: Tag) -> bool {
        let faults = self.faults.get();
        if faults.overlook == 0 {
            return false;
        }
        let until = match self.overlooked.get(&tag) {
            Some(&until) => until,
            None => {
                let hit = self.strikes(faults.overlook, "invalidations overlooked");
                let until = if hit { self.up_to(faults.overlook_us) } else { self.now };
                self.overlooked.insert(tag, until);
                until
            }
        };
        self.now < until
    }

    fn chunk(&mut self, chunk: u32) -> u32 {
        let rate = self.faults.get().small_chunk;
        if self.strikes(rate, "chunks cut short") {
            self.rng.below(u64::from(chunk).min(8192)) as u32
        } else {
            chunk
        }
    }
}
