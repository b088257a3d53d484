// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Maintenance and shutdown: nothing new, and what is left.

use super::Health;
use crate::ids::{NiId, Object, PeerId};
use crate::journal::Evidence;
use lnd_core::defect::seeded;
use lnd_core::time::Instant;

/// What has still to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remains {
    /// Messages on their way.
    pub messages: u32,
    /// Whether anything is left.
    pub drained: bool,
}

impl Remains {
    const fn of(messages: u32) -> Self {
        Self { messages, drained: messages == 0 }
    }
}

impl Health<'_> {
    /// Takes one of our interfaces out of use for maintenance, or back into it. What is on its way
    /// ends as usual; nothing new is sent over it. Its health is not touched.
    pub fn drain_local(&mut self, now: Instant, id: NiId, drain: bool) {
        self.drain(now, Object::Local(id), drain);
    }

    /// The same for all interfaces that a peer has now.
    pub fn drain_peer(&mut self, now: Instant, id: PeerId, drain: bool) {
        let mut next = self.peer_mut(id).map_or(crate::ids::NONE, |peer| peer.first);
        for _ in 0..crate::ids::MAX_PEER_NIS {
            let Some((object, _)) = self.peer_ni_at(next) else { break };
            let Some(ni) = self.peer_ni(object) else { break };
            next = ni.next;
            self.drain(now, Object::Peer(object), drain);
        }
    }

    /// What is still on its way over one of our interfaces.
    pub fn local_remains(&self, id: NiId) -> Remains {
        Remains::of(self.local(id).map_or(0, |ni| ni.in_flight))
    }

    /// What is still on its way to a peer: messages between two tries count too.
    pub fn peer_remains(&self, id: PeerId) -> Remains {
        Remains::of(self.peer(id).map_or(0, |peer| peer.journeys))
    }

    /// Begins the node's shutdown: no more pings, probes, connections and resends; the queues are
    /// emptied, and answers that still come are stale. Messages end as they do.
    pub fn shut_down(&mut self) {
        self.stopping = true;
        let left = u32::from(seeded("drain-loses-one"));
        for _ in left..self.recovery.len() {
            self.recovery.drain();
        }
        for index in 0..self.peer_nis.len() as u32 {
            self.prober.unwatch(index);
            self.reconnect.settled(index);
        }
    }

    /// What is still on its way from this node.
    pub fn remains(&self) -> Remains {
        let journeys = self.peers.iter().filter(|peer| peer.used).map(|peer| peer.journeys);
        Remains::of(journeys.fold(0, u32::saturating_add))
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
