// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Maintenance and shutdown: no new messages, and how many remain.

use super::Health;
use crate::ids::{NiId, Object, PeerId};
use crate::journal::Evidence;
use lnd_core::time::Instant;

impl Health<'_> {
    /// Takes a local interface out of use for maintenance, or back into use. Messages under way end
    /// as usual; no new one is sent over it. Its health does not change. It is drained once it has
    /// no message [in flight](crate::Ni::in_flight).
    pub fn drain_local(&mut self, now: Instant, id: NiId, drain: bool) {
        self.drain(now, Object::Local(id), drain);
    }

    /// The same for all current interfaces of a peer. [`Peer::attempts`](super::Peer::attempts)
    /// also counts messages between two tries.
    pub fn drain_peer(&mut self, now: Instant, id: PeerId, drain: bool) {
        let mut next = self.peer_mut(id).map_or(crate::ids::NONE, |peer| peer.first);
        for _ in 0..crate::ids::MAX_PEER_NIS {
            let Some((object, _)) = self.peer_ni_at(next) else { break };
            let Some(ni) = self.peer_ni(object) else { break };
            next = ni.next;
            self.drain(now, Object::Peer(object), drain);
        }
    }

    /// Begins the node's shutdown: no more pings, probes, connections and resends. The queues are
    /// emptied, and later answers are stale. Messages end as usual.
    pub fn shut_down(&mut self) {
        self.stopping = true;
        for _ in 0..self.recovery.len() {
            self.recovery.drain();
        }
        for index in 0..self.peer_nis.len() as u32 {
            self.prober.unwatch(index);
            self.reconnect.settled(index);
        }
    }

    /// Messages of this node under way, including those between two tries.
    pub fn remaining(&self) -> u32 {
        let attempts = self.peers.iter().filter(|peer| peer.used).map(|peer| peer.attempts);
        attempts.fold(0, u32::saturating_add)
    }

    fn drain(&mut self, now: Instant, object: Object, drain: bool) {
        let Some(ni) = self.ni_mut(object) else { return };
        if ni.is_draining() != drain {
            ni.set_draining(drain);
            let ni = *ni;
            self.write(now, object, &ni, &ni, Evidence::Operator, 0);
        }
    }
}
