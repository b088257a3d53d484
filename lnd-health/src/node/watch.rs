// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The liveness prober as a node's health has it (S2).

use super::{Health, Probe};
use crate::ids::{Object, PeerNiId};
use crate::journal::Evidence;
use crate::probe_kind::ProbeKinds;
use crate::prober::{Finding, ProbeEnd};
use lnd_core::time::Instant;

impl Health<'_> {
    /// How a liveness probe ended. What is found is for the peer's machine, like any other input
    /// (R60); [`Finding::CleanUp`] has already ended the watch.
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
        // No stranger any more.
        self.enqueue(now, object);
        finding
    }

    /// Which kinds of probe there are; the illegal read only after its trial.
    pub const fn probe_kinds(&mut self) -> &mut ProbeKinds {
        &mut self.kinds
    }

    /// Probes a peer's interface from now on, whenever it is idle. `one_way`: it only sends to us.
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

    /// There was traffic with it, in either direction, that shows it alive.
    pub fn active(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.active(id.raw());
        }
    }

    /// The transport has begun, or has ended, to move it to another path (S2-8).
    pub fn migrating(&mut self, id: PeerNiId, migrating: bool) {
        if self.knows(Object::Peer(id)) {
            self.prober.migrating(id.raw(), migrating);
        }
    }

    /// One more on this node uses it.
    pub fn add_user(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.add_user(id.raw());
        }
    }

    /// One that used it does so no longer.
    pub fn remove_user(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.remove_user(id.raw());
        }
    }

    /// How many on this node use it: whom a clean-up concerns.
    pub fn users(&self, id: PeerNiId) -> u32 {
        self.peer_ni(id).map_or(0, |_| self.prober.users(id.raw()))
    }

    /// Its peer has published a word for probing, or has withdrawn it.
    pub fn published(&mut self, id: PeerNiId, published: bool) {
        if self.knows(Object::Peer(id)) {
            self.prober.publish(id.raw(), published);
        }
    }

    /// Something waits for news of it: it is probed first (R59).
    pub fn urge(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.prober.urge(id.raw());
        }
    }
}
