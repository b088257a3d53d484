// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The liveness prober in a node's health (S2).

use super::{Health, Probe};
use crate::ids::{Object, PeerNiId};
use crate::journal::Evidence;
use crate::probe_kind::ProbeKinds;
use crate::prober::{Finding, ProbeEnd};
use lnd_core::time::Instant;

impl Health<'_> {
    /// Reports the end of a liveness probe. The finding is an input of the peer's state machine,
    /// like any other (R60); [`Finding::CleanUp`] has already ended the watch.
    pub fn probed(&mut self, now: Instant, probe: Probe, end: ProbeEnd) -> Finding {
        if !self.knows(Object::Peer(probe.peer_ni)) {
            return Finding::Nothing;
        }
        let finding = self.prober.end(now, &mut self.jitter, probe.due(), end);
        let object = Object::Peer(probe.peer_ni);
        let Some(ni) = self.ni_mut(object) else { return finding };
        match finding {
            Finding::Nothing => return finding,
            Finding::Alive => ni.heard(now),
            Finding::Down | Finding::CleanUp => {
                ni.found_dead();
                let ni = *ni;
                self.write(now, object, &ni, &ni, Evidence::Probe, 0);
            }
        }
        // The peer has now been heard.
        self.enqueue(now, object);
        finding
    }

    /// The kinds of probe; the illegal read only after its trial.
    pub const fn probe_kinds(&mut self) -> &mut ProbeKinds {
        &mut self.kinds
    }

    /// Probes a peer's interface from now on, when it is idle. `one_way`: this node only receives
    /// from it.
    pub fn watch(&mut self, now: Instant, id: PeerNiId, one_way: bool) {
        if self.knows(Object::Peer(id)) && !self.stopping {
            self.prober.watch(now, &mut self.jitter, id.raw(), one_way);
        }
    }

    /// Stops probing it.
    pub fn unwatch(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.unwatch(id.raw());
        }
    }

    /// There was traffic in either direction that shows it alive.
    pub fn active(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.active(id.raw());
        }
    }

    /// The transport has begun, or has finished, to move it to another path (S2-8).
    pub fn migrating(&mut self, id: PeerNiId, migrating: bool) {
        if self.knows(Object::Peer(id)) {
            self.prober.migrating(id.raw(), migrating);
        }
    }

    /// Adds a user on this node.
    pub fn add_user(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.add_user(id.raw());
        }
    }

    /// Removes a user.
    pub fn remove_user(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.remove_user(id.raw());
        }
    }

    /// Number of its users on this node: a clean-up concerns them.
    pub fn users(&self, id: PeerNiId) -> u32 {
        self.peer_ni(id).map_or(0, |_| self.prober.users(id.raw()))
    }

    /// Its peer has published a word for probing, or has withdrawn it.
    pub fn published(&mut self, id: PeerNiId, published: bool) {
        if self.knows(Object::Peer(id)) {
            self.prober.publish(id.raw(), published);
        }
    }

    /// Work waits for its result: it is probed first (R59).
    pub fn urge(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.urge(id.raw());
        }
    }
}
