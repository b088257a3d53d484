// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file checks the whole tables of a driver against each other, for tests and debug builds.

use super::Driver;
use crate::base::time::Instant;
use crate::machines::transfer::{Debts, Phase};
use crate::ports::Ports;
use crate::slots::{Flags, Role};

/// An invariant that does not hold. It never occurs in a correct driver.
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
    /// A peer's credits do not add up (INV-12). Either ours are not its depth, or its requests
    /// received are not the sum of those consumed and those that wait for a decision.
    Credits(u32),
    /// The count of pulls under way or waiting is wrong, or a peer has more than its limit (R25).
    Pulls(u32),
    /// A peer has more slots than its credits allow (INV-12, INV-14).
    Passive(u32),
    /// The count of transfers that drain together is wrong.
    Drains,
    /// The count of fragment lists in use is wrong.
    Lists,
    /// `on_time` would treat work as done that is not.
    NotQuiet,
}

crate::sentences! { Broken {
    Self::SlotCount => "slots in use and slots counted differ",
    Self::SlotState(_) => "a slot's word and the map of free slots disagree",
    Self::QueueState(_) => "a queued transfer owes more than it may, or is linked wrongly",
    Self::DoneOwes(_) => "a finished transfer owes something",
    Self::PeerCount(_) => "the peers' counts of transfers are wrong",
    Self::Credits(_) => "a peer's credits do not add up",
    Self::Pulls(_) => "the count of pulls is wrong",
    Self::Passive(_) => "a peer has more slots than its credits allow",
    Self::Drains => "the count of transfers that drain together is wrong",
    Self::Lists => "the count of fragment lists in use is wrong",
    Self::NotQuiet => "the cached next deadline is wrong",
}}

impl<P: Ports> Driver<'_, P> {
    /// Checks all tables. The work is linear in slots times peers.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn audit(&self) -> Result<(), Broken> {
        let (mut used, mut lists, mut pulls, mut together) = (0, 0, (0, 0), 0);
        for slot in 0..self.config.slots {
            // Bitmap and word are two records of the same fact. A claim or a release that misses
            // one breaks this.
            if self.slots.is_free(slot) != (self.slots.word(slot).phase() == Phase::Free) {
                return Err(Broken::SlotState(slot));
            }
        }
        for slot in self.slots.used() {
            let word = self.slots.word(slot);
            used += 1;
            let Some(state) = self.slots.get(slot) else { continue };
            lists += usize::from(state.pieces.list().is_some());
            together += u32::from(state.flags.contains(Flags::TOGETHER));
            let queued = state.flags.contains(Flags::QUEUED);
            pulls.0 += u32::from(state.flags.contains(Flags::PULLING));
            pulls.1 += u32::from(queued && state.role.pulls());
            // A GET with its PULL_READY is live, and its queue holds its `CPU`.
            let pull = state.role == Role::GetPull
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
        let (active, passive) = self.slots.in_use();
        if used != active + passive {
            return Err(Broken::SlotCount);
        }
        // The cached time must be what a fresh computation returns. A cache that is too late would
        // delay work without any event (R39).
        if self.quiet_until != Instant::ORIGIN && self.quiet_until() != Some(self.quiet_until) {
            return Err(Broken::NotQuiet);
        }
        if lists != self.slots.lists.used() {
            return Err(Broken::Lists);
        }
        if together != self.slots.draining_together() {
            return Err(Broken::Drains);
        }
        self.audit_peers(used, pulls)
    }

    fn audit_peers(&self, used: u32, mut pulls: (u32, u32)) -> Result<(), Broken> {
        let mut transfers = 0;
        for number in 0..self.peers.len() as u32 {
            let Some(peer) = self.peers.id(number).and_then(|id| self.peers.get(id)) else {
                continue;
            };
            transfers += peer.held.transfers();
            let rest = pulls.0.checked_sub(u32::from(peer.pulls));
            let waiting = pulls.1.checked_sub(peer.pull_queue.len(&self.slots));
            match (rest, waiting) {
                (Some(rest), Some(waiting)) if peer.pulls <= self.config.pulls => {
                    pulls = (rest, waiting);
                }
                _ => return Err(Broken::Pulls(number)),
            }
            if peer.ours.left().checked_add(peer.ours.in_flight()) != Some(peer.ours.depth()) {
                return Err(Broken::Credits(number));
            }
            // Without a transfer a peer has no slots, so the walk over the table is saved.
            let slots =
                if peer.held.transfers() == 0 { SlotsOf::default() } else { self.slots_of(number) };
            if slots.posted != u32::from(peer.theirs.posted()) {
                return Err(Broken::Credits(number));
            }
            let depth = u32::from(self.config.depth);
            if slots.undecided > depth || slots.passive > depth.saturating_mul(2) {
                return Err(Broken::Passive(number));
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

    /// The slots of a peer's requests, counted one by one.
    fn slots_of(&self, number: u32) -> SlotsOf {
        let mut slots = SlotsOf::default();
        let opened =
            self.peers.id(number).and_then(|id| self.peers.get(id)).map(|peer| peer.opened);
        // The bitmap of slots in use was checked before.
        for slot in self.slots.used() {
            let word = self.slots.word(slot);
            let of_peer = self.slots.owner(slot).peer_index() == number;
            let Some(state) = self.slots.get(slot).filter(|_| of_peer) else {
                continue;
            };
            if !state.flags.contains(Flags::PASSIVE) {
                continue;
            }
            slots.passive += 1;
            if state.role == Role::RxRequest
                && word.phase() == Phase::Queued
                && !word.invalidating()
            {
                slots.undecided += 1;
                // A request of a former session holds no credit of the present one.
                slots.posted += u32::from(Some(state.session) == opened);
            }
        }
        slots
    }
}

/// The slots of one peer's requests: in all, those without a decision, and of these those of its
/// present session.
#[derive(Default)]
struct SlotsOf {
    passive: u32,
    undecided: u32,
    posted: u32,
}
