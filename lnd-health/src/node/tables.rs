// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Adds and removes interfaces, peers, routes and policies. Cold: bounded by the tables' sizes.

use super::peers::PeerSettings;
use super::tally::HealthCounter;
use super::Health;
use crate::ids::{NiId, Object, PeerId, PeerNiId, RouteId, MAX_NETS, MAX_PEER_NIS, NONE};
use crate::ni::Ni;
use crate::select::{net_bit, Match, Net, Route, Rule};
use lnd_core::id::Nid;

/// Why an entry could not be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// No entry is left.
    Table,
    /// No slot for another network is left.
    Networks,
    /// The peer has the most interfaces that a peer may have.
    PeerNis,
    /// There is no such peer or gateway.
    Unknown,
    /// The address exists already.
    Known,
}

/// Why an entry could not be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remove {
    /// There is no such entry.
    Unknown,
    /// Messages are under way: drain it first.
    Busy,
    /// A route uses it.
    Gateway,
}

lnd_core::sentences! { Full {
    Self::Table => "the table has no free entry",
    Self::Networks => "no slot for another network is left",
    Self::PeerNis => "the peer has as many interfaces as a peer may have",
    Self::Unknown => "there is no such peer or gateway",
    Self::Known => "the address exists already",
}}

lnd_core::sentences! { Remove {
    Self::Unknown => "there is no such entry",
    Self::Busy => "messages are under way: drain it first",
    Self::Gateway => "a route uses it",
}}

impl Health<'_> {
    /// Adds a local interface.
    ///
    /// # Errors
    /// The table or the list of networks is full, or the address exists, locally or as a peer's.
    pub fn add_local(&mut self, nid: Nid) -> Result<NiId, Full> {
        let is_it = |ni: &Ni| ni.nid == Some(nid);
        if self.locals.iter().any(is_it) || self.peer_nis.iter().any(is_it) {
            return Err(Full::Known);
        }
        let free = self.locals.iter().position(|ni| ni.nid.is_none()).ok_or(Full::Table)?;
        let net = self.net_slot(nid.network())?;
        let place = self.locals.get_mut(free).ok_or(Full::Table)?;
        let generation = place.generation;
        *place = Ni::new(nid, net).used(generation);
        NiId::of(free, generation).ok_or(Full::Table)
    }

    /// Removes a local interface.
    ///
    /// # Errors
    /// It does not exist, or messages are under way over it.
    pub fn remove_local(&mut self, id: NiId) -> Result<(), Remove> {
        let ni = self.ni_mut(Object::Local(id)).ok_or(Remove::Unknown)?;
        if ni.in_flight > 0 {
            return Err(Remove::Busy);
        }
        *ni = Ni::UNUSED.used(ni.generation.next());
        self.recovery.leave(self.place(Object::Local(id)));
        Ok(())
    }

    /// Adds a peer, without interfaces.
    ///
    /// # Errors
    /// The table is full.
    pub fn add_peer(&mut self, settings: PeerSettings) -> Result<PeerId, Full> {
        let index = self.free_peer;
        let peer = self.peers.get_mut(index as usize).ok_or(Full::Table)?;
        self.free_peer = peer.first;
        *peer = peer.taken_up(settings, self.epoch);
        // After the last epoch there are no numbers: messages that may have arrived are not resent
        // then.
        self.epoch = if self.epoch == 0 { 0 } else { self.epoch.wrapping_add(1) };
        Ok(PeerId::of(index, peer.generation))
    }

    /// Adds an interface of a peer, on any network (S4-4). It is pinged and probed only when there
    /// is reason to.
    ///
    /// # Errors
    /// No such peer, a table is full, the peer has this address already, or it is a local address:
    /// a local interface is never charged as a peer's (LNet's test 216).
    pub fn add_peer_ni(&mut self, peer: PeerId, nid: Nid) -> Result<PeerNiId, Full> {
        let owner = self.peer(peer).ok_or(Full::Unknown)?;
        let first = owner.first;
        if usize::from(owner.interfaces) >= MAX_PEER_NIS {
            return Err(Full::PeerNis);
        }
        let ours = self.locals.iter().any(|ni| ni.nid == Some(nid));
        let has = |id| self.peer_ni(id).is_some_and(|ni| ni.nid == Some(nid));
        if ours || self.interfaces(peer).any(has) {
            return Err(Full::Known);
        }
        let index = self.free_peer_ni;
        if self.peer_nis.get(index as usize).is_none() {
            return Err(Full::Table);
        }
        let net = self.net_slot(nid.network())?;
        let ni = self.peer_nis.get_mut(index as usize).ok_or(Full::Table)?;
        self.free_peer_ni = ni.next;
        let generation = ni.generation;
        *ni = Ni::new(nid, net).linked(peer.raw(), first).used(generation);
        if let Some(owner) = self.peers.get_mut(peer.index()) {
            owner.first = index;
            owner.interfaces = owner.interfaces.saturating_add(1);
        }
        self.identify(peer, nid);
        Ok(PeerNiId::of(index, generation))
    }

    /// Removes a peer and all its interfaces. Its incarnations and received messages stay stored
    /// under its first address until its entry is needed.
    ///
    /// # Errors
    /// It does not exist, has messages under way, or is a gateway.
    pub fn remove_peer(&mut self, id: PeerId) -> Result<(), Remove> {
        let peer = self.peer_mut(id).ok_or(Remove::Unknown)?;
        let (mut next, attempts) = (peer.first, peer.attempts);
        if attempts > 0 || self.interfaces(id).any(|ni| self.in_flight(ni) > 0) {
            return Err(Remove::Busy);
        }
        let gateway = |ni: PeerNiId| self.routes.iter().any(|r| r.far.is_some() && r.gateway == ni);
        if self.interfaces(id).any(gateway) {
            return Err(Remove::Gateway);
        }
        for _ in 0..MAX_PEER_NIS {
            let Some(ni) = self.peer_nis.get_mut(next as usize) else { break };
            let after = ni.next;
            *ni = Ni::UNUSED.linked(NONE, self.free_peer_ni).used(ni.generation.next());
            self.free_peer_ni = next;
            self.recovery.leave(self.place_of_peer_ni(next));
            self.prober.forget(next);
            self.reconnect.settled(next);
            next = after;
        }
        if let Some(peer) = self.peers.get_mut(id.index()) {
            *peer = peer.retired();
            self.remembers |= peer.memory.is_known();
        }
        match self.peers.get_mut(self.last_free_peer as usize) {
            Some(last) if self.free_peer != NONE => last.first = id.raw(),
            _ => self.free_peer = id.raw(),
        }
        self.last_free_peer = id.raw();
        Ok(())
    }

    /// A peer's interfaces.
    pub fn interfaces(&self, id: PeerId) -> impl Iterator<Item = PeerNiId> + '_ {
        let mut next = self.peer(id).map_or(NONE, |peer| peer.first);
        (0..MAX_PEER_NIS).map_while(move |_| {
            let (here, _) = self.peer_ni_at(next)?;
            next = self.peer_ni(here)?.next;
            Some(here)
        })
    }

    /// The peer's interface with an address: bounded by the number of its interfaces.
    pub fn find(&self, id: PeerId, nid: Nid) -> Option<PeerNiId> {
        self.interfaces(id).find(|&ni| self.peer_ni(ni).is_some_and(|ni| ni.nid == Some(nid)))
    }

    /// Adds a route to network `far` through a gateway's interface.
    ///
    /// # Errors
    /// No such gateway, or a table is full.
    pub fn add_route(&mut self, far: u32, gateway: PeerNiId) -> Result<RouteId, Full> {
        self.peer_ni(gateway).ok_or(Full::Unknown)?;
        let slot = self.net_slot(far)?;
        let free = self.routes.iter().position(|r| r.far.is_none()).ok_or(Full::Table)?;
        if let Some(route) = self.routes.get_mut(free) {
            let generation = route.generation;
            *route = Route { far: Some(slot), gateway, generation, ..Route::UNUSED };
            return Ok(RouteId::of(free as u32, generation));
        }
        Err(Full::Table)
    }

    /// A route, to set its priority, hops or aliveness.
    pub fn route_mut(&mut self, id: RouteId) -> Option<&mut Route> {
        let route = self.routes.get_mut(id.index());
        let route = route.filter(|r| r.far.is_some() && id.is_of(r.generation));
        if route.is_none() {
            self.tally.count(HealthCounter::StaleNames);
        }
        route
    }

    /// Removes a route.
    ///
    /// # Errors
    /// It does not exist.
    pub fn remove_route(&mut self, id: RouteId) -> Result<(), Remove> {
        let route = self.route_mut(id).ok_or(Remove::Unknown)?;
        *route = Route { generation: route.generation.next(), ..Route::UNUSED };
        Ok(())
    }

    /// Sets an interface's remaining credits, less the messages that wait for one, for selection.
    pub fn set_credits(&mut self, object: Object, credits: i32) {
        if let Some(ni) = self.ni_mut(object) {
            ni.set_credits(credits);
        }
    }

    /// Gives an interface a sensitivity of its own, `0..=1000`, or removes it.
    pub fn set_sensitivity(&mut self, object: Object, sensitivity: Option<u16>) {
        if let Some(ni) = self.ni_mut(object) {
            ni.sensitivity = sensitivity;
        }
    }

    /// Replaces the user-defined policies: resets all to priority 0 and no preference, then applies
    /// the rules in order. They apply to what exists now; call it again after an addition. Bounded
    /// by the number of rules times the sizes of the tables.
    pub fn set_rules(&mut self, rules: impl IntoIterator<Item = Rule>) {
        for ni in self.locals.iter_mut().chain(self.peer_nis.iter_mut()) {
            ni.set_priority(0);
            ni.preferred = 0;
        }
        self.nets.iter_mut().for_each(|net| net.priority = 0);
        self.routes.iter_mut().for_each(|route| route.policy = 0);
        for rule in rules {
            self.apply(rule);
        }
    }

    fn apply(&mut self, rule: Rule) {
        match rule.to {
            Match::Net(number) => {
                let nets = self.nets.iter_mut().filter(|net| net.number == Some(number));
                nets.for_each(|net| net.priority = rule.priority);
            }
            Match::Nid(nid) => {
                let all = self.locals.iter_mut().chain(self.peer_nis.iter_mut());
                all.filter(|ni| ni.nid == Some(nid)).for_each(|ni| ni.set_priority(rule.priority));
            }
            Match::Pair { local, peer } => {
                let Some(index) = self.locals.iter().position(|ni| ni.nid == Some(local)) else {
                    return;
                };
                let bit = NiId::new(index).map_or(0, NiId::bit);
                let all = self.peer_nis.iter_mut().filter(|ni| ni.nid == Some(peer));
                all.for_each(|ni| ni.preferred |= bit);
            }
            Match::Gateway(nid) => {
                let nis = &*self.peer_nis;
                let through = |route: &&mut Route| {
                    nis.get(route.gateway.index()).is_some_and(|ni| ni.nid == Some(nid))
                };
                let all = self.routes.iter_mut().filter(|r| r.far.is_some()).filter(through);
                all.for_each(|route| route.policy = rule.priority);
            }
        }
    }

    fn in_flight(&self, id: PeerNiId) -> u32 {
        self.peer_ni(id).map_or(0, |ni| ni.in_flight)
    }

    /// The slot of a network. A new network takes a slot whose network is no longer used.
    fn net_slot(&mut self, number: u32) -> Result<u8, Full> {
        let of = |wanted| self.nets.iter().position(|net| net.number == wanted);
        let slot = of(Some(number)).or_else(|| of(None)).or_else(|| self.deserted_net());
        let slot = slot.ok_or(Full::Networks)?;
        if let Some(net) = self.nets.get_mut(slot).filter(|net| net.number != Some(number)) {
            *net = Net { number: Some(number), ..Net::UNUSED };
        }
        Ok(slot as u8)
    }

    /// A network's slot without an interface and without a route.
    fn deserted_net(&self) -> Option<usize> {
        let nis = self.locals.iter().chain(self.peer_nis.iter()).filter(|ni| ni.nid.is_some());
        let far = self.routes.iter().filter_map(|route| route.far);
        let used = nis.map(|ni| ni.net).chain(far).fold(0, |used, net| used | net_bit(net));
        (0..MAX_NETS).find(|&slot| used & net_bit(slot as u8) == 0)
    }
}
