// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file searches the peer table for a place (docs/decisions/0019-few-places.md).

use super::peer::Peer;
use super::Peers;
use crate::base::id::{Incarnation, Nid, PeerId};
use crate::base::time::{Instant, Span};
use crate::machines::peer::HelloState;

/// The bounds of a search of the table.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// Places searched, at most.
    pub places: u32,
    /// How long no hello goes to a peer that is down.
    pub hold_off: Span,
    /// Whether the sender of a request in the channel may have reported it as sent.
    pub reliable: bool,
}

/// A search of the peer table for a place.
#[derive(Debug)]
pub(super) struct Search {
    now: Instant,
    /// Until then a peer that has answered keeps its place for its own request.
    stays_until: Instant,
    /// The search covers peers that have answered, too.
    answered: bool,
    /// The earliest time at which one of the searched places can be had.
    earliest: Instant,
    /// The peer that loses its place, and its silences, if a request of it waits.
    displaced: Option<(Nid, Incarnation, u8)>,
}

impl Search {
    pub fn new(now: Instant, stays_until: Instant) -> Self {
        Self { now, stays_until, answered: false, earliest: Instant::NEVER, displaced: None }
    }

    /// From now on the search covers peers that have answered, too.
    pub fn with_answered(&mut self) {
        self.answered = true;
    }

    pub const fn earliest(&self) -> Instant {
        self.earliest
    }

    pub const fn displaced(&self) -> Option<(Nid, Incarnation, u8)> {
        self.displaced
    }

    /// Whether a peer without transfers may be forgotten.
    pub fn may_forget(&mut self, state: Option<HelloState>, peer: &Peer) -> bool {
        let parked = peer.parked != 0;
        // A parked request keeps its peer's place until the hold-off ends. Two nodes that share one
        // place would otherwise take it from each other without a pause.
        let until = match state {
            Some(HelloState::Unknown) => return true,
            Some(HelloState::Down) => {
                self.displaced = peer
                    .nid
                    .zip(peer.incarnation)
                    .filter(|_| parked)
                    .map(|(n, l)| (n, l, peer.setbacks.silences()));
                peer.handshake.revive_at().unwrap_or(self.now)
            }
            Some(HelloState::Good) if self.answered => self.stays_until,
            _ => return false,
        };
        if parked && until > self.now {
            self.earliest = self.earliest.min(until);
            self.displaced = None;
            return false;
        }
        true
    }
}

impl Peers<'_> {
    /// Finds a place for a node: an unused one, or that of a peer without transfers. A peer that
    /// has answered loses its place only for a request that was `promised`. A peer whose own
    /// request waits in the channel keeps its place for a hold-off.
    ///
    /// # Errors
    /// The earliest time at which one of the searched places can be had.
    #[inline(never)]
    pub fn find_place(
        &mut self,
        now: Instant,
        nid: Nid,
        promised: bool,
        bounds: &Bounds,
    ) -> Result<PeerId, Instant> {
        let from = self.clock;
        let mut search = Search::new(now, self.places.stays_until(bounds.hold_off));
        let mut found = self.add(nid, bounds.places, &mut search);
        if found.is_none() && promised {
            // The same places are searched again, now with peers that have answered. They are the
            // last resort: each costs a handshake later.
            self.clock = from;
            search.with_answered();
            found = self.add(nid, bounds.places, &mut search);
        }
        let id = found.ok_or(search.earliest())?;
        // The gate outlives its peers. A new generation makes the ids of the former peer stale for
        // every context.
        if let Some(gate) = self.gate(id) {
            gate.renew(id.generation());
        }
        self.disarm(id);
        if let Some(displaced) = search.displaced().filter(|_| bounds.reliable) {
            self.places.keep_displaced(displaced, now, bounds.hold_off);
        }
        Ok(id)
    }

    /// As [`find_place`](Self::find_place), for a node other than the waiting one. The search for
    /// the waiting node continues where it was.
    ///
    /// # Errors
    /// As for `find_place`.
    pub fn find_place_beside(
        &mut self,
        now: Instant,
        nid: Nid,
        promised: bool,
        bounds: &Bounds,
    ) -> Result<PeerId, Instant> {
        let from = self.clock;
        let found = self.find_place(now, nid, promised, bounds);
        if found.is_err() && self.places.is_searching() {
            self.clock = from;
        }
        found
    }

    /// Finds a place for a new peer: an unused one, or an idle one that the search finds free.
    /// Searches `bound` places at most.
    fn add(&mut self, nid: Nid, bound: u32, search: &mut Search) -> Option<PeerId> {
        let place = if self.used < self.table.len() {
            self.used += 1;
            self.used - 1
        } else {
            self.forget_one(bound, search)?
        };
        let entry = self.table.get_mut(place)?;
        let generation = self.gates.get(place)?.generation().wrapping_add(1);
        *entry = Peer { nid: Some(nid), opened: self.counting_from, ..Peer::UNUSED };
        self.index.insert(nid, place as u32);
        let id = PeerId::new(place as u32, generation);
        // The peer that was found last may have lost this place to another with its NID.
        self.latest = id;
        Some(id)
    }

    fn forget_one(&mut self, bound: u32, search: &mut Search) -> Option<usize> {
        for _ in 0..bound.min(self.table.len() as u32) {
            let place = self.clock;
            self.clock = if place + 1 < self.table.len() { place + 1 } else { 0 };
            let peer = self.table.get(place)?;
            let state = self.gates.get(place).map(|gate| gate.view().state());
            // A queued peer still has something to send, and a transfer names its peer by place.
            // Neither may change owner.
            let idle =
                peer.held.transfers() == 0 && !peer.is_pending() && search.may_forget(state, peer);
            if let (true, Some(nid)) = (idle, peer.nid) {
                let table = &*self.table;
                let nid_of = |p: u32| table.get(p as usize).and_then(|p| p.nid);
                self.index.remove(nid, place as u32, nid_of);
                return Some(place);
            }
        }
        None
    }
}
