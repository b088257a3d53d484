// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Invalidated descriptors (S0-6 to S0-8). They come back as completions, with their real outcome.

use super::{Fabric, Faults, SoftEngine};
use crate::descriptor::{Flags, State};
use crate::regs::ErrorBits;

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Handles up to `budget` invalidations.
    pub(super) fn invalidate_some(&mut self, budget: u32) {
        let invalidates = self.memory.invalidates();
        if !invalidates.any() {
            return;
        }
        // In a circle, so that those that must wait do not delay the others; one round at most.
        let mut first_waiting = None;
        for _ in 0..budget {
            if !self.room_for(2) {
                break;
            }
            let next = invalidates.take_from(self.invalidate_at).or_else(|| invalidates.take_one());
            let Some(index) = next else { break };
            if first_waiting == Some(index) {
                invalidates.set(index);
                break;
            }
            self.invalidate_at = index.wrapping_add(1);
            if !self.invalidate(index) {
                invalidates.set(index);
                first_waiting = first_waiting.or(Some(index));
            }
        }
        self.progress.busy = true;
    }

    /// Handles one invalidation; `false`: it must be handled again.
    fn invalidate(&mut self, index: u32) -> bool {
        let Some(descriptor) = self.memory.descriptor(index) else { return true };
        let own = descriptor.own();
        if !descriptor.is_wanted(own) {
            // The invalidation is of an earlier use, which came back by itself (R14).
            return true;
        }
        let content = descriptor.read();
        if self.faults.overlooks_invalidate(content.tag) {
            return false;
        }
        match own.state() {
            Some(State::Owned) if content.flags.contains(Flags::PULL) => {
                self.invalidate_pull(index);
                true
            }
            Some(State::Owned) => {
                // If a puller claims it now, the swap fails, and the next check sees the claim.
                self.take_back(own, index, State::Untouched, ErrorBits::INVALIDATED);
                !descriptor.own().is(State::Busy)
            }
            Some(State::Busy) if !self.fabric.alive(own.puller()) => {
                // The puller is dead and accesses nothing any more: its part ends here (S0-9).
                self.take_back(own, index, State::Touched, ErrorBits::INVALIDATED);
                true
            }
            Some(State::Busy) => {
                // The puller sees it between two chunks. It may also die first: check again.
                let _ = own.invalidated() || descriptor.swap(own, own.invalidating());
                false
            }
            // It came back by itself: that is its one return. A puller that died then may not have
            // reported it.
            _ => {
                self.report(index);
                true
            }
        }
    }
}

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Invalidates a pull: aborts it if it has begun, else returns it untouched.
    fn invalidate_pull(&mut self, index: u32) {
        for at in 0..self.pulls.len() {
            let ours =
                self.pulls.get(at).is_some_and(|p| p.as_ref().is_some_and(|p| p.index() == index));
            if ours {
                if let Some(mut pull) = self.pulls.get_mut(at).and_then(Option::take) {
                    let (state, cause) = pull.break_off(ErrorBits::INVALIDATED);
                    if pull.notify() {
                        self.fabric.returned(pull.node());
                    }
                    self.give_back(index, state, cause);
                }
                return;
            }
        }
        self.give_back(index, State::Untouched, ErrorBits::INVALIDATED);
    }
}
