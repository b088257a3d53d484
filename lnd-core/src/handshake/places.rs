// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file gives nodes places in the peer table (docs/decisions/0019-few-places.md).

use crate::base::counters::Counter;
use crate::base::id::{LinkId, Nid, PeerId};
use crate::base::message::Envelope;
use crate::base::time::Instant;
use crate::peers::Bounds;
use crate::ports::{Channel, Ports};
use crate::shard::{Driver, RunState};

impl<P: Ports> Driver<'_, P> {
    fn bounds(&self) -> Bounds {
        let reliable = self.channel.is_reliable();
        Bounds { places: self.config.batch, hold_off: self.hold_off(), reliable }
    }

    /// Takes up a node as a peer if there is a place. A node that already waits for a place goes
    /// first. [`find_place`](crate::peers::Peers::find_place) describes which places are given.
    pub(crate) fn take_up_peer(
        &mut self,
        now: Instant,
        nid: Nid,
        promised: bool,
    ) -> Option<PeerId> {
        if !self.peers.places.is_waiting(nid) {
            self.place_waiting(now);
        }
        // The search looks at `batch` places at most: a hello of an unknown node must not cost a
        // walk over the whole table (R64).
        let bounds = self.bounds();
        let Ok(peer) = self.peers.find_place_beside(now, nid, promised, &bounds) else {
            self.counters.count(Counter::PeersFull);
            return None;
        };
        if self.peers.places.is_waiting(nid) {
            self.peers.places.clear();
        }
        Some(peer)
    }

    /// Gives the sender of a promised request a place, or lets it wait for one.
    pub(crate) fn wait_for_place(&mut self, now: Instant, link: LinkId, from: &Envelope) {
        self.peers.places.keep(from.from, from.from_incarnation, link);
        self.place_waiting(now);
        if self.peers.find(from.from).is_none() {
            self.counters.count(Counter::PeersFull);
        }
    }

    /// Takes up the waiting node if a place is free, and sends it a hello. Looks at `batch` places
    /// at most.
    #[inline(never)]
    pub(crate) fn place_waiting(&mut self, now: Instant) {
        // The request does not arrive again by itself, so the search is driven by time and by state
        // changes of peers.
        if !self.peers.places.is_due(now, self.peers.len() as u32) {
            return;
        }
        let Some(waiting) = self.peers.places.take() else { return };
        // No peer is made during shutdown (LU-1600).
        if self.run.state() != RunState::Running || !self.channel.reaches(waiting.nid) {
            return;
        }
        let bounds = self.bounds();
        match self.peers.find_place(now, waiting.nid, true, &bounds) {
            Ok(id) => {
                self.peers.places.placed(waiting.nid, now);
                if let Some(peer) = self.peers.get_mut(id) {
                    // Our hello names the incarnation of the request. Its node then makes room for
                    // us, because the request is its own.
                    peer.set_incarnation(waiting.incarnation);
                    peer.setbacks.set_silences(waiting.silences);
                    peer.parked = waiting.parked;
                }
                self.revive(now, id);
            }
            Err(earliest) => self.peers.places.none_among(waiting, bounds.places, earliest),
        }
    }
}
