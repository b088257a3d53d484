// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One node's health: all parts behind one small interface for a host.

mod act;
mod action;
mod audit;
mod choose;
mod connection;
mod consequence;
mod copies;
mod create;
mod drain;
mod end;
mod evidence;
mod memory;
mod message;
mod pause;
mod peers;
mod ping;
mod tables;
mod tally;
mod watch;

use crate::allowance::Allowance;
use crate::config::HealthConfig;
use crate::ids::{NiId, Object, PeerId, PeerNiId, MAX_NETS};
use crate::jitter::Jitter;
use crate::journal::Journal;
use crate::ni::Ni;
use crate::probe_kind::ProbeKinds;
use crate::prober::Prober;
use crate::reconnect::Reconnect;
use crate::recovery::Recovery;
use crate::select::{Net, Route, View};
use lnd_core::id::Nid;

pub use action::{Action, Connect, Ping, Probe};
pub use audit::BrokenHealth;
pub use end::{End, Ended, Next, WhyEnded};
pub use peers::{Peer, PeerSettings};
pub use tables::{Full, Remove};
pub use tally::{HealthCounter, Tally};

/// The health of one node's interfaces and of its peers'. Context: its owner's, one at a time.
///
/// A message: [`open`](Self::open) → [`choose`](Self::choose) → [`begin`](Self::begin) → send →
/// [`outcome`](Self::outcome) or [`refused`](Self::refused), which either ends it or returns it for
/// another try. Time: [`next_action`](Self::next_action) until `None`, again at
/// [`next_deadline`](Self::next_deadline).
#[derive(Debug)]
pub struct Health<'m> {
    config: HealthConfig,
    locals: &'m mut [Ni],
    peer_nis: &'m mut [Ni],
    peers: &'m mut [Peer],
    routes: &'m mut [Route],
    nets: [Net; MAX_NETS],
    /// Heads of the lists of unused entries.
    free_peer: u32,
    /// The list's tail: peers' entries are reused in the order in which they became free.
    last_free_peer: u32,
    free_peer_ni: u32,
    journal: Journal<'m>,
    recovery: Recovery<'m>,
    prober: Prober<'m>,
    kinds: ProbeKinds,
    reconnect: Reconnect<'m>,
    allowance: Allowance,
    jitter: Jitter,
    /// Whether the state of a removed peer is stored.
    remembers: bool,
    /// The epoch of numbers for the next peer that is added.
    epoch: u32,
    /// Number of the next selection.
    turn: u32,
    /// Interfaces that have come up again: each ends the pauses that wait for one.
    recoveries: u32,
    /// The queue that is polled first next time.
    poll_turn: u8,
    stopping: bool,
    tally: Tally,
}

impl<'m> Health<'m> {
    /// The configuration.
    pub const fn config(&self) -> &HealthConfig {
        &self.config
    }

    /// A local interface.
    pub fn local(&self, id: NiId) -> Option<&Ni> {
        self.locals.get(id.index()).filter(|ni| ni.nid.is_some() && id.is_of(ni.generation))
    }

    /// One of a peer's interfaces.
    pub fn peer_ni(&self, id: PeerNiId) -> Option<&Ni> {
        self.peer_nis.get(id.index()).filter(|ni| ni.nid.is_some() && id.is_of(ni.generation))
    }

    /// A peer.
    pub fn peer(&self, id: PeerId) -> Option<&Peer> {
        self.peers.get(id.index()).filter(|peer| peer.is_used() && id.is_of(peer.generation))
    }

    /// An interface, local or a peer's.
    pub fn ni(&self, object: Object) -> Option<&Ni> {
        match object {
            Object::Local(id) => self.local(id),
            Object::Peer(id) => self.peer_ni(id),
        }
    }

    /// The journal of changes.
    pub const fn journal(&self) -> &Journal<'m> {
        &self.journal
    }

    /// The recovery queue.
    pub const fn recovery(&self) -> &Recovery<'m> {
        &self.recovery
    }

    /// The liveness prober.
    pub const fn prober(&self) -> &Prober<'m> {
        &self.prober
    }

    /// Connections being made again.
    pub const fn reconnects(&self) -> &Reconnect<'m> {
        &self.reconnect
    }

    /// The counters.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The tables for selection.
    pub const fn view(&self) -> View<'_> {
        View {
            profile: self.config.profile,
            locals: self.locals,
            peer_nis: self.peer_nis,
            nets: &self.nets,
            routes: self.routes,
            turn: self.turn,
            numa_range: self.config.numa_range,
        }
    }

    /// An interface to change. A stale name is counted.
    fn ni_mut(&mut self, object: Object) -> Option<&mut Ni> {
        if !self.knows(object) {
            return None;
        }
        match object {
            Object::Local(id) => self.locals.get_mut(id.index()),
            Object::Peer(id) => self.peer_nis.get_mut(id.index()),
        }
    }

    /// A peer to change. A stale name is counted.
    fn peer_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        if !self.knows_peer(id) {
            return None;
        }
        self.peers.get_mut(id.index())
    }

    /// Whether a name names a peer; a stale one is counted (R14).
    pub fn knows_peer(&mut self, id: PeerId) -> bool {
        let known = self.peer(id).is_some();
        if !known {
            self.tally.count(HealthCounter::StaleNames);
        }
        known
    }

    /// Whether a name names an interface; a stale one is counted (R14).
    pub fn knows(&mut self, object: Object) -> bool {
        let known = self.ni(object).is_some();
        if !known {
            self.tally.count(HealthCounter::StaleNames);
        }
        known
    }

    /// The name of the local interface that is in an entry now, for tables printed by index.
    pub(crate) fn local_at(&self, index: usize) -> Option<NiId> {
        let ni = self.locals.get(index).filter(|ni| ni.nid.is_some())?;
        NiId::of(index, ni.generation)
    }

    /// The name and the address of the peer's interface that is in an entry now.
    pub(crate) fn peer_ni_at(&self, index: u32) -> Option<(PeerNiId, Nid)> {
        let ni = self.peer_nis.get(index as usize)?;
        Some((PeerNiId::of(index, ni.generation), ni.nid?))
    }

    /// The object's place in the recovery queue: local ones first.
    fn place(&self, object: Object) -> u32 {
        match object {
            Object::Local(id) => id.index() as u32,
            Object::Peer(id) => self.place_of_peer_ni(id.raw()),
        }
    }

    const fn place_of_peer_ni(&self, index: u32) -> u32 {
        (self.locals.len() as u32).saturating_add(index)
    }

    fn object_at(&self, place: u32) -> Option<Object> {
        match place.checked_sub(self.locals.len() as u32) {
            Some(index) => self.peer_ni_at(index).map(|(id, _)| Object::Peer(id)),
            None => self.local_at(place as usize).map(Object::Local),
        }
    }
}
