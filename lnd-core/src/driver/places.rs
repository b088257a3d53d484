// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who has a place in the peer table, and which promised request waits for one
//! (docs/decisions/0019-few-places.md).

use super::peer::Peer;
use super::shutdown::RunState;
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{Incarnation, LinkId, Nid, PeerId};
use crate::message::Envelope;
use crate::peer::HelloState;
use crate::ports::{Channel, Ports};
use crate::shared::Shared;
use crate::time::{Instant, Span};

/// The sender of a promised request that has no place in the peer table.
#[derive(Clone, Copy, Debug, Hash)]
struct Waiting {
    nid: Nid,
    /// The one that has sent the request, or, if that was refused a place, the one that has refused it.
    incarnation: Incarnation,
    /// The links by which its requests were offered. None: it has just lost its place, and it waits for
    /// one only if its request is offered again.
    parked: u8,
    /// Handshakes in a row that it has not answered, from the time when it had a place.
    silences: u8,
    /// It gets no place before this.
    not_before: Instant,
}

/// How much longer than a hold-off a peer is not asked for a request that waits, after so many silences.
pub(super) fn more_hold_off(hold_off: Span, silences: u8) -> Span {
    let doublings = u32::from(silences.saturating_sub(1)).min(6);
    hold_off.times((1 << doublings) - 1)
}

/// A search of the peer table for a place.
#[derive(Debug)]
pub(super) struct Search<'m> {
    shared: &'m Shared<'m>,
    now: Instant,
    /// Until then a peer that has answered keeps its place for its own request.
    stays_until: Instant,
    /// Look at peers that have answered, and at no others.
    answered: bool,
    /// The earliest time at which one of the places that were looked at can be had.
    earliest: Instant,
    /// The peer that loses its place, and its silences, if a request of it waits.
    displaced: Option<(Nid, Incarnation, u8)>,
}

impl Search<'_> {
    /// Whether a peer with which we have nothing under way may be forgotten.
    pub fn may_forget(&mut self, id: PeerId, peer: &Peer) -> bool {
        let state = self.shared.peer_gate(id.index()).map(|gate| gate.view().state());
        let parked = peer.parked != 0;
        let until = match state {
            Some(HelloState::Unknown) if !self.answered => return true,
            Some(HelloState::Down) if !self.answered => {
                self.displaced =
                    peer.nid.zip(peer.life).filter(|_| parked).map(|(n, l)| (n, l, peer.silences));
                peer.revive_at.unwrap_or(self.now)
            }
            Some(HelloState::Good) if self.answered => {
                if parked && seeded("parked-outlives-its-sender") {
                    return false;
                }
                self.stays_until
            }
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

/// Which node waits for a place, and when the table is to be searched for one.
///
/// One node is kept, however many wait. Each place that is given changes a peer's state, upon which the
/// host offers what waits again, and the next one is kept.
#[derive(Debug, Hash)]
pub(super) struct Places {
    waiting: Option<Waiting>,
    /// The node that got a place last. Nodes take turns in the order of their NIDs.
    last: Option<Nid>,
    /// When it got it.
    since: Instant,
    /// The earliest time at which a place can be had, as far as is known.
    next: Instant,
    /// Places that are still to be looked at before that is known.
    left: u32,
    /// Something has changed by which a place may have become free.
    changed: bool,
}

impl Places {
    pub const EMPTY: Self = Self {
        waiting: None,
        last: None,
        since: Instant::ORIGIN,
        next: Instant::NEVER,
        left: 0,
        changed: false,
    };

    /// A place may have become free.
    #[inline(always)]
    pub fn may_be_free(&mut self) {
        self.changed = true;
    }

    /// When the table is to be searched for the node that waits.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        self.waiting.filter(|it| it.parked != 0)?;
        Some(if self.left > 0 || self.changed { now } else { self.next })
    }

    /// What of it the driver's future depends on.
    pub fn state(&self) -> Option<&Self> {
        self.waiting.map(|_| self)
    }

    fn is_waiting(&self, nid: Nid) -> bool {
        self.waiting.is_some_and(|it| it.nid == nid)
    }

    /// Keeps the sender of a request that was offered by `link`, unless it is another one's turn.
    fn keep(&mut self, nid: Nid, incarnation: Incarnation, link: LinkId) {
        let parked = link.bit();
        if let Some(known) = self.waiting.as_mut().filter(|it| it.nid == nid) {
            if known.parked == 0 {
                self.next = Instant::ORIGIN;
            }
            known.parked |= parked;
            return;
        }
        let new = Waiting { nid, incarnation, parked, silences: 0, not_before: Instant::ORIGIN };
        let before = |it: Waiting| self.turn(&new) < self.turn(&it);
        if self.waiting.is_none_or(|it| it.parked == 0 || before(it)) {
            self.waiting = Some(new);
            self.next = Instant::ORIGIN;
        }
    }

    /// The lower, the sooner: one that has not been silent, then by NID, beginning behind the last.
    fn turn(&self, it: &Waiting) -> (u8, u64) {
        let last = self.last.map_or(0, Nid::raw);
        let behind = it.nid.raw().wrapping_sub(last).wrapping_sub(1);
        (it.silences, if seeded("turns-not-taken") { 0 } else { behind })
    }

    /// Keeps one that has lost its place while its request waits, for what is known of it.
    fn keep_displaced(&mut self, it: Waiting) {
        if self.waiting.is_none_or(|it| it.parked == 0) && !seeded("silences-forgotten") {
            self.waiting = Some(it);
        }
    }

    /// Whether to look for a place now, in a table of `places`.
    fn is_due(&mut self, now: Instant, places: u32) -> bool {
        let Some(waiting) = self.waiting.filter(|it| it.parked != 0) else { return false };
        if core::mem::take(&mut self.changed) || self.next <= now {
            (self.left, self.next) = (places, Instant::NEVER);
        }
        if waiting.not_before > now {
            (self.left, self.next) = (0, waiting.not_before);
        }
        self.left > 0
    }

    /// There is no place among `looked_at` of the table; one of them can be had at `earliest`.
    fn none_among(&mut self, looked_at: u32, earliest: Instant) {
        self.left = self.left.saturating_sub(looked_at);
        self.next = self.next.min(earliest);
        if seeded("place-not-waited-for") {
            self.next = Instant::NEVER;
        }
    }
}

impl<P: Ports> Driver<'_, P> {
    /// Whether a slot has become free, or the state of a peer has changed, since this was asked last: each
    /// request that got [`Inbound::Wait`](super::Inbound::Wait) is to be offered again. To be asked after
    /// [`on_time`](Self::on_time) and [`next_report`](Self::next_report); the latter frees slots of
    /// requests that have ended without a report, too.
    #[must_use]
    pub fn offer_again(&mut self) -> bool {
        core::mem::take(&mut self.offer)
    }

    /// Takes a node up as a peer, if there is a place. One that waits for a place goes first.
    ///
    /// The places given are those of [`find_place`](Self::find_place).
    pub(super) fn take_up_peer(
        &mut self,
        now: Instant,
        nid: Nid,
        promised: bool,
    ) -> Option<PeerId> {
        if !self.places.is_waiting(nid) {
            self.seat_waiting(now);
        }
        let from = self.peers.clock;
        let Ok(peer) = self.find_place(now, nid, promised) else {
            if self.places.left > 0 && !seeded("search-led-astray") {
                // The search for the one that waits goes on where it was.
                self.peers.clock = from;
            }
            self.counters.count(Counter::PeersFull);
            return None;
        };
        if self.places.is_waiting(nid) {
            self.places.waiting = None;
        }
        Some(peer)
    }

    /// A promised request was offered, and its sender has no place: it gets one, or waits for one.
    pub(super) fn wait_for_place(&mut self, now: Instant, link: LinkId, from: &Envelope) {
        self.places.keep(from.from, from.from_life, link);
        self.seat_waiting(now);
        if self.peers.find(from.from).is_none() {
            self.counters.count(Counter::PeersFull);
            if seeded("no-place-forgotten") {
                self.places.waiting = None;
            }
        }
    }

    /// Takes up the node that waits for a place, if one can be had, and asks it: its request will not
    /// come again by itself. Looks at `batch` places at most.
    #[inline(never)]
    pub(super) fn seat_waiting(&mut self, now: Instant) {
        if !self.places.is_due(now, self.peers.len() as u32) {
            return;
        }
        let Some(waiting) = self.places.waiting.take() else { return };
        // While we shut down no peer is made any more (LU-1600).
        if self.run.state() != RunState::Running || !self.channel.reaches(waiting.nid) {
            return;
        }
        match self.find_place(now, waiting.nid, true) {
            Ok(id) => {
                (self.places.last, self.places.since) = (Some(waiting.nid), now);
                if let Some(peer) = self.peers.get_mut(id) {
                    // Our hello names it: it makes room for us, since the request is its own.
                    peer.life = Some(waiting.incarnation);
                    peer.silences = waiting.silences;
                    peer.parked = waiting.parked;
                }
                self.revive(now, id);
            }
            Err(earliest) => {
                self.places.waiting = Some(waiting);
                self.places.none_among(self.config.batch, earliest);
            }
        }
    }

    /// A place for a node: an unused one, or one of a peer with which we have nothing under way. One that
    /// has answered us is forgotten only for a request in the channel, ours or the other node's, that was
    /// `promised`; it is greeted anew when there is something to send. One whose own request waits in
    /// the channel is being asked, or is about to be heard, and keeps its place for a hold-off.
    ///
    /// # Errors
    /// The earliest time at which one of the places looked at can be had.
    #[inline(never)]
    fn find_place(&mut self, now: Instant, nid: Nid, promised: bool) -> Result<PeerId, Instant> {
        let (shared, batch, hold_off) = (self.shared, self.config.batch, self.hold_off());
        let from = self.peers.clock;
        let mut search = Search {
            shared,
            now,
            stays_until: self.places.since.after(hold_off),
            answered: false,
            earliest: Instant::NEVER,
            displaced: None,
        };
        let mut found = self.peers.add(nid, batch, &mut search);
        if found.is_none() && promised && !seeded("parked-for-ever") {
            // The same places again, for those that have answered.
            self.peers.clock = from;
            search.answered = true;
            found = self.peers.add(nid, batch, &mut search);
        }
        let id = found.ok_or(search.earliest)?;
        if let Some(gate) = shared.peer_gate(id.index()) {
            gate.renew(id.generation());
        }
        if !seeded("place-keeps-timer") {
            self.timers.disarm(self.config.slots + id.index() as u32);
        }
        if let Some((nid, incarnation, silences)) =
            search.displaced.filter(|_| self.channel.is_reliable())
        {
            let not_before = now.after(more_hold_off(hold_off, silences));
            let it = Waiting { nid, incarnation, parked: 0, silences, not_before };
            self.places.keep_displaced(it);
        }
        Ok(id)
    }
}
