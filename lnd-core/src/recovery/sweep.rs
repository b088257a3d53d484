// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The sweep: one pass over the table that catches up with whatever the gates say.
//!
//! Transmit and receive alike (S0-15, S0-19): peer-down, a new incarnation, a failed link and a failed
//! message all come to the same question for each transfer: must it be cancelled, must its descriptor be
//! invalidated? One pass in index order answers it for any number of peers and links at once, so that a
//! peer-down costs time linear in the table and nothing per peer (see
//! `docs/decisions/0004-one-sweep.md`).

use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Debts, Phase};
use crate::ports::Ports;
use crate::shard::{Driver, RunState};

impl<P: Ports> Driver<'_, P> {
    /// Looks at up to `budget` slots.
    pub(crate) fn sweep_some(&mut self, now: Instant, budget: u32) {
        for _ in 0..budget {
            let Some(slot) = self.slots.next_to_sweep() else { return };
            self.sweep_slot(now, slot);
        }
    }

    pub(crate) fn sweep_slot(&mut self, now: Instant, slot: u32) {
        if !self.slots.is_under_way(slot) {
            return;
        }
        let word = self.slots.word(slot);
        let tag = self.slots.tag(slot);
        if !word.invalidating() {
            let cancelled = self.shared.must_cancel(slot).map(|(_, cause)| cause);
            let vain = self.link_closed(slot);
            let over = (self.run.state() == RunState::Draining).then_some(Cause::Shutdown);
            let pull = self.pull_is_blocked(slot);
            let cut = (word.phase() == Phase::Live && self.is_disconnected(slot))
                .then_some(Cause::ConnectionDown);
            if let Some(cause) = cancelled.or(cut).or(vain).or(pull).or(over) {
                self.cancel(now, tag, cause);
            }
        }
        let word = self.slots.word(slot);
        self.end_if_invalidating(now, tag);
        if word.invalidating() && word.owes(Debts::HW) && !word.owes(Debts::CPU) {
            self.invalidate(now, tag);
        }
    }
}
