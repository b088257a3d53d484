// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Descriptors that the driver wants back (S0-6 to S0-8). They come back as completions, with
//! whatever outcome is true.

use super::{Fabric, Faults, SoftEngine};
use crate::descriptor::{Flags, State};
use crate::regs::ErrorBits;

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Looks at up to `budget` recalls.
    pub(super) fn invalidate_some(&mut self, budget: u32) {
        let invalidates = self.memory.invalidates();
        if !invalidates.any() {
            return;
        }
        // Round and round, so that those that must wait do not hold up the others; once round at
        // most.
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

    /// Deals with one recall; `false`: it must be looked at again.
    fn invalidate(&mut self, index: u32) -> bool {
        let Some(descriptor) = self.memory.descriptor(index) else { return true };
        let own = descriptor.own();
        if !descriptor.is_wanted(own) {
            // An earlier use of it was, and has come back by itself (R14).
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
                // If a puller claims it just now, the swap fails and we look again.
                self.take_back(own, index, State::Untouched, ErrorBits::INVALIDATED);
                !descriptor.own().is(State::Busy)
            }
            Some(State::Busy) if !self.fabric.alive(own.puller()) => {
                // The puller is dead and touches nothing any more: its part ends here (S0-9).
                self.take_back(own, index, State::Touched, ErrorBits::INVALIDATED);
                true
            }
            Some(State::Busy) => {
                // The puller sees it between two chunks. It may also die before: look again.
                let _ = own.invalidated() || descriptor.swap(own, own.invalidating());
                false
            }
            // It has come back by itself: that is its one return. A puller that died with it may
            // not have said so.
            _ => {
                self.report(index);
                true
            }
        }
    }
}

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// A pull wanted back: broken off if it has begun, else returned as it is.
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
