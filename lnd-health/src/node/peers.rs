// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers: what is kept for a node beside its interfaces.

use super::tally::Count;
use super::Health;
use crate::dedup::{Copy, Numbers, Taken};
use crate::ids::{NiId, PeerId, Use, NONE};
use lnd_core::id::Incarnation;

/// What the caller knows of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerSettings {
    /// It routes: its interfaces stand for all that lies behind them.
    pub router: bool,
    /// It recognises second copies by number (R45).
    pub suppresses: bool,
    /// Without multi-rail: it knows us by this one interface.
    pub bound: Option<NiId>,
}

/// A peer.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub(super) settings: PeerSettings,
    /// Which use of the entry this is: names of earlier ones name nothing (R14).
    pub(super) generation: Use,
    /// First of its interfaces, or next unused entry.
    pub(super) first: u32,
    pub(super) interfaces: u8,
    pub(super) used: bool,
    /// Journeys open to it.
    pub(super) journeys: u32,
    life: Option<Incarnation>,
    /// Number of its present life.
    pub(super) epoch: u32,
    taken: Taken,
    pub(super) numbers: Numbers,
}

impl Peer {
    pub(super) const fn unused(next: u32) -> Self {
        Self {
            settings: PeerSettings { router: false, suppresses: false, bound: None },
            generation: Use::FIRST,
            first: next,
            interfaces: 0,
            used: false,
            journeys: 0,
            life: None,
            epoch: 0,
            taken: Taken::new(),
            numbers: Numbers::new(),
        }
    }

    /// The entry once it was removed, ready for its next use.
    pub(super) const fn retired(self, next: u32) -> Self {
        let mut peer = Self::unused(next);
        (peer.epoch, peer.generation) = (self.epoch, self.generation.next());
        peer
    }

    /// A peer without interfaces, in this entry. Its epoch goes on counting from the entry's last
    /// use.
    pub(super) const fn taken_up(self, settings: PeerSettings) -> Self {
        let mut peer = Self::unused(NONE);
        (peer.settings, peer.generation, peer.used) = (settings, self.generation, true);
        peer.epoch = self.epoch.wrapping_add(1);
        peer
    }

    pub(super) const fn is_used(&self) -> bool {
        self.used
    }

    /// What the caller said of it.
    pub const fn settings(&self) -> PeerSettings {
        self.settings
    }

    /// Number of its interfaces.
    pub const fn interfaces(&self) -> u8 {
        self.interfaces
    }

    /// Messages on their way to it.
    pub const fn journeys(&self) -> u32 {
        self.journeys
    }

    /// Which life of it is the present one.
    pub const fn life(&self) -> Option<Incarnation> {
        self.life
    }
}

impl Health<'_> {
    /// The peer's greeting has shown which life it is in. A new life knows nothing of numbers given
    /// before, so that numbering starts anew on both sides; what may have reached a former life is
    /// not sent to the new one. Returns whether it is a new life.
    pub fn peer_life(&mut self, id: PeerId, life: Incarnation) -> bool {
        let Some(peer) = self.peer_mut(id) else { return false };
        if peer.life == Some(life) {
            return false;
        }
        peer.life = Some(life);
        peer.epoch = peer.epoch.wrapping_add(1);
        (peer.taken, peer.numbers) = (Taken::new(), Numbers::new());
        true
    }

    /// A message with a number has arrived from a peer in the given life (R45). `None`: of a life
    /// that is not its present one; drop it.
    pub fn arrived(&mut self, id: PeerId, life: Incarnation, number: u32) -> Option<Copy> {
        let peer = self.peer_mut(id).filter(|p| p.life == Some(life))?;
        let copy = peer.taken.take(number);
        match copy {
            Copy::First => {}
            Copy::Second => self.tally.count(Count::Copies),
            Copy::Outside => self.tally.count(Count::Outside),
        }
        Some(copy)
    }
}
