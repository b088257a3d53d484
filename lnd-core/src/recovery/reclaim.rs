// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file ends what a failed link or connection still holds: invalidated before the stop,
//! reclaimed after it.

use crate::base::counters::Counter;
use crate::base::id::Tag;
use crate::base::time::Instant;
use crate::links::{Domain, Link};
use crate::machines::transfer::{Debts, Event};
use crate::ports::trace::Trace;
use crate::ports::{Ports, Tracer};
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// Cancels and invalidates what a failed domain still holds, up to `budget` slots, before the
    /// domain is stopped (S0-20, S0-15). Returns whether more are left.
    pub(crate) fn invalidate_all(&mut self, now: Instant, domain: Domain, budget: u32) -> bool {
        // A device that still answers reports for each descriptor whether it was touched. The stop
        // does not show that, so the answers are collected first. A device that is gone is not
        // asked.
        // The sweep does the same for all links. It may be requested again and again, and the stop
        // must not wait for that.
        for _ in 0..budget {
            let Some(recovery) = self.links.recovery_mut(domain) else { return false };
            let slot = recovery.at;
            if slot >= self.slots.count() {
                return false;
            }
            recovery.at += 1;
            let link = self.slots.owner(slot).link().and_then(|id| self.links.get(id));
            let asks = link.is_some_and(Link::takes_invalidates);
            if asks && self.is_in(slot, domain) {
                self.sweep_slot(now, slot);
            }
        }
        true
    }

    /// Reclaims up to `budget` descriptors of a stopped domain. Returns whether more are left.
    pub(crate) fn reclaim(&mut self, now: Instant, domain: Domain, budget: u32) -> bool {
        for _ in 0..budget {
            let Some(recovery) = self.links.recovery_mut(domain) else { return false };
            let slot = recovery.at;
            if slot >= self.slots.count() {
                return false;
            }
            // The position is kept in the domain. The next call continues there, so each call is
            // bounded (R64).
            recovery.at += 1;
            self.reclaim_slot(now, domain, slot);
        }
        true
    }

    /// Settles one slot of a stopped domain: with the real outcome if the descriptor's memory holds
    /// one, else without. A real completion and a synthetic one exclude each other in the
    /// transfer's word (S0-21). A free slot, or one whose transfer has ended, owes nothing and
    /// stays as it is.
    fn reclaim_slot(&mut self, now: Instant, domain: Domain, slot: u32) {
        let word = self.slots.word(slot);
        if !self.is_in(slot, domain) {
            return;
        }
        let tag = self.slots.tag(slot);
        // A waiting pull has no descriptor. It ends here as in the sweep, which may come later.
        if let Some(cause) = self.pull_is_blocked(slot) {
            self.cancel(now, tag, cause);
        } else if word.owes(Debts::HW) {
            self.reclaim_descriptor(now, domain, tag);
        }
        // The word is read again: a completion of another context may have settled it meanwhile.
        let word = self.slots.word(slot);
        if word.owes(Debts::HW) || word.owes(Debts::MSG) {
            self.counters.count(Counter::Asserted);
            let _ = self.apply(now, tag, Event::Stopped);
        }
    }

    fn reclaim_descriptor(&mut self, now: Instant, domain: Domain, tag: Tag) {
        let Some(returned) = self.links.reclaim(domain, tag) else { return };
        let Some(link) = self.slots.owner(tag.index).link() else { return };
        self.counters.count(Counter::Reclaimed);
        self.tracer.record(now, Trace::Reclaimed { tag, link, real: returned.is_some() });
        // No outcome in the descriptor's memory: the caller settles the transfer as stopped.
        let Some(returned) = returned else { return };
        self.counters.count(Counter::ReclaimedReal);
        self.apply(now, tag, Event::of_descriptor(returned));
    }
}
