// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A whole-table check of the driver's own books, for tests and for debug builds.

use super::details::{Marks, Role, NO_LIST};
use super::Driver;
use crate::ports::Ports;
use crate::transfer::{Debts, Phase};

/// An invariant that does not hold. Never seen outside of tests, or something is very wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Slots in use and slots counted differ (INV-14).
    SlotCount,
    /// A free slot's word is not free, or the reverse.
    SlotState(u32),
    /// A queued transfer owes more than `CPU`, or a queue's link is wrong.
    QueueState(u32),
    /// A finished transfer owes something.
    DoneOwes(u32),
    /// A peer's count of transfers is wrong.
    PeerCount(u32),
    /// More requests in flight than there are credits (INV-12).
    Credits(u32),
    /// Pulls under way or waiting and those counted differ, or a peer has more than it may (R25).
    Pulls(u32),
    /// Fragment lists in use and lists referred to differ.
    Lists,
}

impl<P: Ports> Driver<'_, P> {
    /// Checks the books: work linear in slots and peers.
    ///
    /// # Errors
    /// The first thing that does not add up.
    pub fn audit(&self) -> Result<(), Broken> {
        let (mut used, mut lists, mut pulls) = (0, 0, (0, 0));
        for slot in 0..self.config.slots {
            let word = self.shared.word(slot);
            let free = self.shared.claims().is_free(slot);
            if free != (word.phase() == Phase::Free) {
                return Err(Broken::SlotState(slot));
            }
            if free {
                continue;
            }
            used += 1;
            let Some(details) = self.details.get(slot as usize) else { continue };
            lists += usize::from(details.list != NO_LIST);
            let queued = details.marks.contains(Marks::QUEUED);
            pulls.0 += u32::from(details.marks.contains(Marks::PULLING));
            pulls.1 += u32::from(queued && details.role.pulls());
            // A GET whose PULL_READY has come is live, and its queue holds its `CPU`.
            let pull = details.role == Role::GetPull
                && word.phase() == Phase::Live
                && word.owes(Debts::CPU)
                && word.owes(Debts::HW);
            let nothing_out = word.phase() == Phase::Queued && word.debts().0 == Debts::CPU.0;
            if queued && !pull && !nothing_out {
                return Err(Broken::QueueState(slot));
            }
            if word.phase() == Phase::Done && word.debts().0 != 0 {
                return Err(Broken::DoneOwes(slot));
            }
        }
        if used != self.active + self.passive {
            return Err(Broken::SlotCount);
        }
        if lists != self.lists.used() {
            return Err(Broken::Lists);
        }
        self.audit_peers(used, pulls)
    }

    fn audit_peers(&self, used: u32, mut pulls: (u32, u32)) -> Result<(), Broken> {
        let mut transfers = 0;
        for number in 0..self.peers.len() as u32 {
            let Some(peer) = self.peers.id(number).and_then(|id| self.peers.get(id)) else {
                continue;
            };
            transfers += peer.transfers;
            let rest = pulls.0.checked_sub(u32::from(peer.pulls));
            let waiting = pulls.1.checked_sub(u32::from(peer.pulls_waiting));
            match (rest, waiting) {
                (Some(rest), Some(waiting)) if peer.pulls <= self.config.pulls => {
                    pulls = (rest, waiting);
                }
                _ => return Err(Broken::Pulls(number)),
            }
            if peer.ours.left().checked_add(peer.ours.in_flight()) != Some(peer.ours.depth()) {
                return Err(Broken::Credits(number));
            }
        }
        if transfers != used {
            return Err(Broken::PeerCount(transfers));
        }
        if pulls != (0, 0) {
            return Err(Broken::Pulls(u32::MAX));
        }
        Ok(())
    }
}
