// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Duplicates (R45): known incarnations, the stamps of messages, and received messages.

use super::memory::{Remembered, Start};
use super::tally::HealthCounter;
use super::Health;
use crate::attempts::Attempts;
use crate::dedup::{Stamp, WindowCheck};
use crate::ids::PeerId;
use lnd_core::id::{Incarnation, Nid};

impl Health<'_> {
    /// A handshake with the peer has shown its incarnation: the driver reports the peer as good, so
    /// it has answered. Call it for each such report, in order, before any other call about that
    /// incarnation, once the peer has an interface. A new incarnation has received nothing; a
    /// message that may have reached an earlier one is not sent to it. A delayed report of an
    /// earlier incarnation has no effect. Returns whether it is a new incarnation.
    pub fn peer_incarnation(&mut self, id: PeerId, incarnation: Incarnation) -> bool {
        let Some(peer) = self.peer_mut(id).filter(|peer| peer.interfaces > 0) else { return false };
        match peer.memory().starts(incarnation) {
            Start::Known => false,
            Start::Late => {
                self.tally.count(HealthCounter::StaleStamps);
                false
            }
            // Numbers assigned before the first handshake stay valid: they belong to no other
            // incarnation.
            Start::First => true,
            Start::Anew => {
                peer.starts = peer.starts.wrapping_add(1);
                true
            }
        }
    }

    /// The stamp for the header of a message's try; call it after [`begin`](Self::begin). `None`:
    /// the message has no number, and is not resent if it may have arrived.
    pub fn stamp(&self, attempts: &Attempts) -> Option<Stamp> {
        let (from, number) = (self.config.incarnation?, attempts.number()?);
        let peer = self.peer(attempts.peer())?;
        let to = peer.incarnation().filter(|_| attempts.may_have_arrived());
        Some(Stamp { from, to, number })
    }

    /// A message with a stamp has arrived from a peer (R45). After [`WindowCheck::First`] report
    /// its end through [`received`](Self::message_received) or [`not
    /// received`](Self::message_not_received). Until then other copies are refused.
    pub fn arrived(&mut self, id: PeerId, stamp: Stamp) -> WindowCheck {
        let check = match self.memory_of(id, stamp) {
            Some(memory) => memory.window().arrive(stamp.number),
            None => WindowCheck::Stale,
        };
        match check {
            WindowCheck::First => {}
            WindowCheck::Coming | WindowCheck::Second => self.tally.count(HealthCounter::Copies),
            WindowCheck::Outside => self.tally.count(HealthCounter::Outside),
            WindowCheck::Stale => self.tally.count(HealthCounter::StaleStamps),
        }
        check
    }

    /// A first copy was received by the upper layer: other copies are duplicates from now on.
    /// Returns whether it was coming.
    pub fn message_received(&mut self, id: PeerId, stamp: Stamp) -> bool {
        self.memory_of(id, stamp).is_some_and(|memory| memory.window().received(stamp.number))
    }

    /// A first copy was not received: its payload did not arrive, or the upper layer has refused
    /// it. The next copy is the first again. Returns whether it was coming.
    pub fn message_not_received(&mut self, id: PeerId, stamp: Stamp) -> bool {
        self.memory_of(id, stamp).is_some_and(|memory| memory.window().not_received(stamp.number))
    }

    /// The stored state for a stamp, if it is from the peer's current incarnation and for ours.
    fn memory_of(&mut self, id: PeerId, stamp: Stamp) -> Option<&mut Remembered> {
        let own = self.config.incarnation;
        let memory = self.peer_mut(id).filter(|peer| peer.interfaces > 0)?.memory();
        let for_us = stamp.to.is_none() || stamp.to == own;
        (memory.incarnation() == Some(stamp.from) && for_us).then_some(memory)
    }

    /// A peer has an address: it may be a node that was removed before.
    pub(super) fn identify(&mut self, id: PeerId, nid: Nid) {
        let Some(peer) = self.peers.get_mut(id.index()) else { return };
        peer.nid = peer.nid.or(Some(nid));
        if peer.identified || !self.remembers {
            return;
        }
        if peer.memory.is_of(nid) {
            peer.identified = true;
            return;
        }
        // A removed node has another entry now. The two exchange places, so that neither node's
        // state is lost.
        let other = self.peers.iter_mut().find(|other| !other.used && other.memory.is_of(nid));
        let Some(memory) = other.map(|other| other.memory) else { return };
        let Some(peer) = self.peers.get_mut(id.index()) else { return };
        let own = core::mem::replace(&mut peer.memory, memory);
        peer.identified = true;
        if let Some(other) = self.peers.iter_mut().find(|o| !o.used && o.memory.is_of(nid)) {
            other.memory = own;
        }
    }
}
