// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The sweep: one pass over the table that catches up with whatever the gates say.
//!
//! Transmit and receive alike (S0-15, S0-19): peer-down, a new life, a failed link and a failed message all come to the same question for
//! each transfer: must it be cancelled, must its descriptor be asked for? One pass in index order
//! answers it for any number of peers and links at once, so that a peer-down costs time linear in
//! the table and nothing per peer (see `docs/decisions/0004-one-sweep.md`).

use super::details::Marks;
use super::shutdown::RunState;
use super::Driver;
use crate::defect::seeded;
use crate::id::LinkId;
use crate::peer::HelloState;
use crate::ports::Ports;
use crate::time::Instant;
use crate::transfer::{Cause, Debts, Phase};

/// Where the sweep stands.
#[derive(Debug, Default, Hash)]
pub(super) struct Sweep {
    at: u32,
    left: u32,
}

impl Sweep {
    /// Asks for one whole pass from here.
    pub fn request(&mut self, slots: u32) {
        self.left = slots - u32::from(seeded("sweep-misses-a-slot"));
    }

    pub const fn is_done(&self) -> bool {
        self.left == 0
    }
}

impl<P: Ports> Driver<'_, P> {
    pub(super) fn request_sweep(&mut self) {
        self.sweep.request(self.config.slots);
    }

    /// Looks at up to `budget` slots.
    pub(super) fn sweep_some(&mut self, now: Instant, budget: u32) {
        let steps = self.sweep.left.min(budget);
        for _ in 0..steps {
            let slot = self.sweep.at;
            self.sweep.at = if slot + 1 < self.config.slots { slot + 1 } else { 0 };
            self.sweep.left -= 1;
            self.sweep_slot(now, slot);
        }
    }

    pub(super) fn sweep_slot(&mut self, now: Instant, slot: u32) {
        let word = self.shared.word(slot);
        if !matches!(word.phase(), Phase::Queued | Phase::Live) {
            return;
        }
        let tag = self.shared.tag(slot);
        if !word.asked() {
            let doomed = self.shared.doomed(slot).map(|(_, cause)| cause);
            let vain = self.waits_in_vain(slot).then_some(Cause::LinkDown);
            let over = (self.run.state() == RunState::Draining).then_some(Cause::Shutdown);
            let pull = self.pull_in_vain(slot);
            if let Some(cause) = doomed.or(vain).or(pull).or(over) {
                self.cancel(now, tag, cause);
            }
        }
        let word = self.shared.word(slot);
        self.end_if_asked(now, tag);
        if word.asked() && word.owes(Debts::HW) && !word.owes(Debts::CPU) {
            self.recall(now, tag);
        }
    }

    /// Whether a request waits for one link alone, and that link is closed: it fails at once, so
    /// that the upper layer may choose another, and so that nothing waits behind it (R53). Or its peer
    /// could not be asked, since none of our links is open.
    pub(super) fn waits_in_vain(&self, slot: u32) -> bool {
        let Some(details) = self.details.get(slot as usize) else { return false };
        if !details.marks.contains(Marks::QUEUED) {
            return false;
        }
        let wish = LinkId::new(details.wish as usize).and_then(|link| self.shared.link(link));
        let unasked =
            details.role.requests() && self.peer_state(self.peer_of(slot)) == HelloState::Unknown;
        unasked || wish.is_some_and(|gate| !gate.is_open())
    }
}
