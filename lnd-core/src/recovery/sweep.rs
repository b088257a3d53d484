// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the sweep: one pass over the table that applies the state of the gates to every
//! transfer.
//!
//! Transmit and receive are treated alike (S0-15, S0-19). Peer-down, a new incarnation, a failed
//! link and a failed message pose the same question for each transfer: must it be cancelled, and
//! must its descriptor be invalidated? One pass in index order answers it for any number of peers
//! and links at once. A peer-down therefore costs time linear in the table, and no list per peer
//! (see `docs/decisions/0004-one-sweep.md`).

use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Debts, Phase, Word};
use crate::ports::Ports;
use crate::shard::{Driver, RunState};
use crate::slots::shared::Owner;

impl<P: Ports> Driver<'_, P> {
    /// Sweeps up to `budget` slots.
    #[cfg_attr(not(feature = "compact"), inline(never))]
    pub(crate) fn sweep_some(&mut self, now: Instant, budget: u32) {
        for _ in 0..budget {
            let Some(slot) = self.slots.next_to_sweep() else { return };
            self.sweep_here(now, slot);
        }
    }

    pub(crate) fn sweep_slot(&mut self, now: Instant, slot: u32) {
        self.sweep_here(now, slot);
    }

    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn sweep_here(&mut self, now: Instant, slot: u32) {
        let Some((tag, word, owner)) = self.slots.use_of(slot) else { return };
        if !matches!(word.phase(), Phase::Queued | Phase::Live) {
            return;
        }
        if !word.invalidating() {
            // A transfer that was published before its gate changed is found here. A later one sees
            // the changed gate itself (see `PeerGate`). The cancellation invalidates what it can.
            if let Some(cause) = self.cancel_cause(slot, word, owner) {
                self.cancel_here(now, tag, owner, cause);
            }
            return;
        }
        self.end_if_invalidating(now, tag);
        // While `CPU` is owed, the descriptor may be half written. Its holder invalidates it (see
        // `step`).
        if word.owes(Debts::HW) && !word.owes(Debts::CPU) {
            self.invalidate(now, tag);
        }
    }

    /// Why the transfer in a slot must be cancelled, if it must. The order is the priority of the
    /// causes: the first cause stays in the word (R7), and the peer's end outweighs that of the
    /// path.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn cancel_cause(&self, slot: u32, word: Word, owner: Owner) -> Option<Cause> {
        let cut = || word.phase() == Phase::Live && self.is_disconnected(slot);
        let over = || self.run.state() == RunState::Draining;
        self.shared
            .refused(word, owner)
            .or_else(|| cut().then_some(Cause::ConnectionDown))
            .or_else(|| self.link_closed(slot))
            .or_else(|| self.pull_is_blocked(slot))
            .or_else(|| over().then_some(Cause::Shutdown))
    }
}
