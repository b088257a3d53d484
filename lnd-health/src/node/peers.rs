// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers: what is kept for a node beside its interfaces.

use super::memory::Remembered;
use crate::dedup::Numbers;
use crate::ids::{NiId, Use, NONE};
use lnd_core::id::{Incarnation, Nid};

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
    /// Whether `memory` is this peer's. Until then it is that of the entry's last use, which may
    /// turn out to be the same node.
    pub(super) identified: bool,
    /// Its first address.
    pub(super) nid: Option<Nid>,
    /// Journeys open to it.
    pub(super) attempts: u32,
    /// How many times it has been seen to start anew.
    pub(super) starts: u32,
    pub(super) memory: Remembered,
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
            identified: false,
            nid: None,
            attempts: 0,
            starts: 0,
            memory: Remembered::new(None),
            numbers: Numbers::new(0),
        }
    }

    /// The entry once it was removed, ready for its next use. What was learned of the node stays.
    pub(super) const fn retired(self) -> Self {
        let mut peer = Self::unused(NONE);
        (peer.memory, peer.generation) = (self.memory, self.generation.next());
        peer
    }

    /// A peer without interfaces, in this entry; its numbers are of a new epoch.
    pub(super) const fn taken_up(self, settings: PeerSettings, epoch: u32) -> Self {
        let mut peer = Self::unused(NONE);
        (peer.settings, peer.generation, peer.used) = (settings, self.generation, true);
        (peer.memory, peer.numbers) = (self.memory, Numbers::new(epoch));
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
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Its present incarnation, as far as it is known.
    pub const fn incarnation(&self) -> Option<Incarnation> {
        if self.identified {
            self.memory.incarnation()
        } else {
            None
        }
    }

    /// What is known of the node. From now on the memory is this peer's.
    pub(super) fn memory(&mut self) -> &mut Remembered {
        if !self.identified {
            (self.memory, self.identified) = (Remembered::new(self.nid), true);
        }
        &mut self.memory
    }
}
