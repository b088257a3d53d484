// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a link or connection that has failed still has: invalidated before it stops, reclaimed after.

use crate::base::counters::Counter;
use crate::base::id::Tag;
use crate::base::time::Instant;
use crate::links::{Domain, Link};
use crate::machines::transfer::{Debts, Event};
use crate::ports::trace::Trace;
use crate::ports::{Ports, Tracer};
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// Cancels and invalidates what a domain that has failed still has, up to `budget` slots, before it
    /// is stopped (S0-20, S0-15): a device that still answers says of each descriptor whether it
    /// was touched, which its stop does not tell. One that does not answer loses nothing; one that is gone
    /// is not asked. Returns whether more are left.
    ///
    /// The sweep does the same for all links; it may be asked for again and again, and the stop may not
    /// wait for that.
    pub(crate) fn invalidate_all(&mut self, now: Instant, domain: Domain, budget: u32) -> bool {
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

    /// Yanks up to `budget` descriptors of a stopped domain. Returns whether more are left.
    pub(crate) fn reclaim(&mut self, now: Instant, domain: Domain, budget: u32) -> bool {
        for _ in 0..budget {
            let Some(recovery) = self.links.recovery_mut(domain) else { return false };
            let slot = recovery.at;
            if slot >= self.slots.count() {
                return false;
            }
            recovery.at += 1;
            self.reclaim_slot(now, domain, slot);
        }
        true
    }

    /// One slot of a stopped domain: the real outcome if the descriptor's memory holds one, else by
    /// hand. Real and by-hand completions exclude each other in the transfer's word (S0-21). A slot that
    /// is free or whose transfer has ended owes nothing, and stays as it is.
    fn reclaim_slot(&mut self, now: Instant, domain: Domain, slot: u32) {
        let word = self.slots.word(slot);
        if !self.is_in(slot, domain) {
            return;
        }
        let tag = self.slots.tag(slot);
        // A pull that waits has no descriptor. It ends here as it would in the sweep, which may come later.
        if let Some(cause) = self.pull_is_blocked(slot) {
            self.cancel(now, tag, cause);
        } else if word.owes(Debts::HW) {
            self.reclaim_descriptor(now, domain, tag);
        }
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
        let Some(returned) = returned else { return };
        self.counters.count(Counter::ReclaimedReal);
        self.apply(now, tag, Event::of_descriptor(returned));
    }
}
