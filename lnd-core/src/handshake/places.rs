// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who gets a place in the peer table (docs/decisions/0019-few-places.md).

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

    /// Takes a node up as a peer, if there is a place. One that waits for a place goes first.
    ///
    /// The places given are those of [`find_place`](crate::peers::Peers::find_place).
    pub(crate) fn take_up_peer(
        &mut self,
        now: Instant,
        nid: Nid,
        promised: bool,
    ) -> Option<PeerId> {
        if !self.peers.places.is_waiting(nid) {
            self.place_waiting(now);
        }
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

    /// A promised request was offered, and its sender has no place: it gets one, or waits for one.
    pub(crate) fn wait_for_place(&mut self, now: Instant, link: LinkId, from: &Envelope) {
        self.peers.places.keep(from.from, from.from_incarnation, link);
        self.place_waiting(now);
        if self.peers.find(from.from).is_none() {
            self.counters.count(Counter::PeersFull);
        }
    }

    /// Takes up the node that waits for a place, if one can be had, and asks it: its request will not
    /// come again by itself. Looks at `batch` places at most.
    #[inline(never)]
    pub(crate) fn place_waiting(&mut self, now: Instant) {
        if !self.peers.places.is_due(now, self.peers.len() as u32) {
            return;
        }
        let Some(waiting) = self.peers.places.take() else { return };
        // While we shut down no peer is made any more (LU-1600).
        if self.run.state() != RunState::Running || !self.channel.reaches(waiting.nid) {
            return;
        }
        let bounds = self.bounds();
        match self.peers.find_place(now, waiting.nid, true, &bounds) {
            Ok(id) => {
                self.peers.places.placed(waiting.nid, now);
                if let Some(peer) = self.peers.get_mut(id) {
                    // Our hello names it: it makes room for us, since the request is its own.
                    peer.incarnation = Some(waiting.incarnation);
                    peer.silences = waiting.silences;
                    peer.parked = waiting.parked;
                }
                self.revive(now, id);
            }
            Err(earliest) => self.peers.places.none_among(waiting, bounds.places, earliest),
        }
    }
}
