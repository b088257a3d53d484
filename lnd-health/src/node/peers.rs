// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers: the state of a node beside its interfaces.

use super::memory::Remembered;
use crate::dedup::Numbers;
use crate::ids::{NiId, Use, NONE};
use lnd_core::id::{Incarnation, Nid};

/// The caller's settings of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerSettings {
    /// It is a router: its interfaces stand for all nodes behind them.
    pub router: bool,
    /// It recognises duplicates by their number (R45).
    pub suppresses: bool,
    /// Without multi-rail: it reaches this node through this one interface.
    pub bound: Option<NiId>,
}

/// A peer.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub(super) settings: PeerSettings,
    /// The use of the entry: names of earlier uses name nothing (R14).
    pub(super) generation: Use,
    /// First of its interfaces, or next unused entry.
    pub(super) first: u32,
    pub(super) interfaces: u8,
    pub(super) used: bool,
    /// Whether `memory` is this peer's. Until then it is that of the entry's last use, which may be
    /// the same node.
    pub(super) identified: bool,
    /// Its first address.
    pub(super) nid: Option<Nid>,
    /// Messages open to it.
    pub(super) attempts: u32,
    /// How many times it has restarted.
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

    /// The entry after its removal, ready for its next use. The node's stored state stays.
    pub(super) const fn retired(self) -> Self {
        let mut peer = Self::unused(NONE);
        (peer.memory, peer.generation) = (self.memory, self.generation.next());
        peer
    }

    /// A peer without interfaces in this entry; its numbers have a new epoch.
    pub(super) const fn taken_up(self, settings: PeerSettings, epoch: u32) -> Self {
        let mut peer = Self::unused(NONE);
        (peer.settings, peer.generation, peer.used) = (settings, self.generation, true);
        (peer.memory, peer.numbers) = (self.memory, Numbers::new(epoch));
        peer
    }

    pub(super) const fn is_used(&self) -> bool {
        self.used
    }

    /// The caller's settings of it.
    pub const fn settings(&self) -> PeerSettings {
        self.settings
    }

    /// Number of its interfaces.
    pub const fn interfaces(&self) -> u8 {
        self.interfaces
    }

    /// Messages open to it.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Its current incarnation, if known.
    pub const fn incarnation(&self) -> Option<Incarnation> {
        if self.identified {
            self.memory.incarnation()
        } else {
            None
        }
    }

    /// The node's stored state. From now on it is this peer's.
    pub(super) fn memory(&mut self) -> &mut Remembered {
        if !self.identified {
            (self.memory, self.identified) = (Remembered::new(self.nid), true);
        }
        &mut self.memory
    }
}
