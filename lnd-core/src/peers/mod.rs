// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds the peers of one shard: their table, places, timers, and the queue of peers
//! that have something to send.

mod answer;
mod attempt;
mod heard;
mod held;
mod hellos_refused;
mod incarnations;
mod last_hello;
mod peer;
mod places;
mod search;
mod sessions;
mod setbacks;

pub(crate) use attempt::Attempt;
pub(crate) use heard::Heard;
pub(crate) use hellos_refused::HellosRefused;
pub(crate) use last_hello::LastHello;
pub(crate) use peer::{Peer, PeerFlags, Wants};
pub(crate) use places::{more_hold_off, Places};
pub(crate) use search::Bounds;

use crate::base::id::{Identity, LinkId, Nid, PeerId, Tag};
use crate::base::message::{Envelope, Lane};
use crate::base::sync::{prefetch_all_for_write, prefetch_for_write, PREFETCHES};
use crate::base::time::Instant;
use crate::machines::peer::{GateView, HelloState, PeerGate};
use crate::slots::shared::{Owner, Shared};
use crate::slots::{Round, NONE};
use crate::table::completed::Batch;
use crate::table::deadlines::Deadlines;
use crate::table::nids::NidIndex;

/// The peers of one shard. Context: the shard's owner.
#[derive(Debug)]
pub(crate) struct Peers<'m> {
    shared: &'m Shared<'m>,
    gates: &'m [PeerGate],
    table: &'m mut [Peer],
    index: NidIndex<'m>,
    /// The peer that was found last. The next message is often of the same one.
    latest: PeerId,
    /// Where the index begins to look for the node that was announced last.
    expected: usize,
    timers: Deadlines<'m>,
    /// The node that waits for a place.
    pub places: Places,
    used: usize,
    /// Peers that have something to send: a queue through `next_pending`.
    first: u32,
    last: u32,
    /// The round over them that is under way.
    round: Round,
    /// Something is to be sent that no round has covered.
    fresh: bool,
    /// Where the search for a peer to forget continues.
    clock: usize,
    /// The start value of all numbers of a peer.
    counting_from: u32,
    /// The number of the last control message to any peer.
    control_sequence: u32,
    next_session: u32,
    /// How many hellos were sent.
    next_hello: u32,
    /// Peers whose hello was not delivered: taken from the shared list, not yet handled.
    unheard: Batch,
}

impl<'m> Peers<'m> {
    /// A table without peers. All numbers begin at `counting_from`.
    pub fn new(
        shared: &'m Shared<'m>,
        table: &'m mut [Peer],
        index: NidIndex<'m>,
        timers: Deadlines<'m>,
        counting_from: u32,
    ) -> Self {
        Self {
            shared,
            gates: shared.peer_gates(),
            table,
            index,
            latest: PeerId::new(0, 0),
            expected: usize::MAX,
            timers,
            places: Places::EMPTY,
            used: 0,
            first: NONE,
            last: NONE,
            round: Round::NONE,
            fresh: false,
            clock: 0,
            counting_from,
            control_sequence: counting_from,
            next_session: counting_from,
            next_hello: counting_from,
            unheard: Batch::default(),
        }
    }

    /// A peer.
    #[inline]
    pub fn get(&self, peer: PeerId) -> Option<&Peer> {
        self.table.get(peer.index())
    }

    /// A peer.
    #[inline]
    pub fn get_mut(&mut self, peer: PeerId) -> Option<&mut Peer> {
        self.table.get_mut(peer.index())
    }

    /// The gate of a peer.
    #[inline]
    pub fn gate(&self, peer: PeerId) -> Option<&'m PeerGate> {
        self.gates.get(peer.index())
    }

    /// What the gate of a peer shows.
    #[inline]
    pub fn view(&self, peer: PeerId) -> Option<GateView> {
        self.gate(peer).map(PeerGate::view)
    }

    /// How far the handshake with a peer has come.
    #[inline]
    pub fn state(&self, peer: PeerId) -> HelloState {
        self.view(peer).map_or(HelloState::Unknown, GateView::state)
    }

    /// The NID of a peer.
    #[inline]
    pub fn nid(&self, peer: PeerId) -> Option<Nid> {
        self.get(peer)?.nid
    }

    /// The id of a known peer.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    pub fn find(&self, nid: Nid) -> Option<PeerId> {
        let found = self.index.find(nid, |peer| self.table.get(peer as usize).and_then(|p| p.nid));
        found.and_then(|index| self.id(index))
    }

    /// The same, for a peer that a message names.
    #[inline]
    pub fn find_again(&mut self, nid: Nid) -> Option<PeerId> {
        // No other place has this NID, so the place needs no other check.
        match self.table.get(self.latest.index()) {
            Some(peer) if { peer.nid } == Some(nid) => Some(self.latest),
            _ => self.find_other(nid),
        }
    }

    #[inline(never)]
    fn find_other(&mut self, nid: Nid) -> Option<PeerId> {
        let found = self.find(nid)?;
        self.latest = found;
        Some(found)
    }

    /// The id of the peer in a place.
    #[inline]
    pub fn id(&self, index: u32) -> Option<PeerId> {
        // The id carries the present generation. A place by number alone would also name a later
        // peer.
        self.gates.get(index as usize).map(|gate| PeerId::new(index, gate.generation()))
    }

    /// The peer of a slot's transfer. It is not forgotten while the transfer exists.
    #[inline]
    pub fn of_slot(&self, slot: u32) -> PeerId {
        self.of(self.shared.owner(slot))
    }

    /// The peer of a transfer, by its owner.
    #[inline]
    pub fn of(&self, owner: Owner) -> PeerId {
        let index = owner.peer_index();
        // The index comes from a slot of this table and is always in range. The fallback names no
        // peer.
        self.id(index).unwrap_or(PeerId::new(index, 0))
    }

    /// Asks for the cache lines that a message to or from a node touches.
    ///
    /// The index names the peer, so its lines are asked for in the next call, when that of the
    /// index has come.
    #[inline]
    pub fn expect(&mut self, nid: Nid) {
        if PREFETCHES {
            if let Some(place) = self.index.first(self.expected) {
                self.expect_place(place);
            }
            self.expected = self.index.expect(nid);
        }
    }

    /// The same for a place in the table. A wrong one costs nothing but the lines.
    #[inline]
    pub fn expect_place(&self, place: u32) {
        if let (Some(peer), Some(gate)) =
            (self.table.get(place as usize), self.gates.get(place as usize))
        {
            prefetch_all_for_write(peer);
            prefetch_for_write(gate);
        }
    }

    /// A peer by an id from outside. `None` if that peer was forgotten (R14).
    #[inline]
    pub fn named(&self, peer: PeerId) -> Option<&Peer> {
        // The host may have kept the id while the peer was forgotten (R14).
        self.gate(peer).filter(|gate| gate.is_of(peer.generation()))?;
        self.get(peer)
    }

    /// Number of places that are or were in use.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Begins a new session of ours with a peer. The next hello announces it.
    pub fn begin_session(&mut self, id: PeerId) {
        // Session numbers count up over all peers. Zero means "no session", so the count skips it.
        self.next_session = self.next_session.wrapping_add(1).max(1);
        // Sequences of every session start at the same number, so the two sides agree on it without
        // a message.
        let (session, first) = (self.next_session, self.counting_from);
        if let Some(peer) = self.get_mut(id) {
            peer.begin_session(session, first);
        }
    }

    /// Arms a peer's timer, or moves it.
    pub fn arm(&mut self, id: PeerId, due: Instant) {
        self.timers.arm(id.index() as u32, due);
    }

    /// Disarms a peer's timer.
    pub fn disarm(&mut self, id: PeerId) {
        self.timers.disarm(id.index() as u32);
    }

    /// Whether a peer's timer is armed, and for when.
    pub fn armed(&self, id: PeerId) -> Option<Instant> {
        self.timers.armed(id.index() as u32)
    }

    /// The next timer's time, if it ever comes.
    pub fn next_due(&self) -> Instant {
        self.timers.next_due()
    }

    /// Disarms and returns one peer whose timer is due, with the time at which it was.
    pub fn expire(&mut self, now: Instant) -> Option<(Instant, PeerId)> {
        let (due, place) = self.timers.expire(now)?;
        Some((due, self.id(place)?))
    }

    /// The envelope of the next message from `me` to a peer. A request takes a credit (R34).
    #[inline]
    pub fn envelope(&mut self, id: PeerId, me: Identity, lane: Lane) -> Option<Envelope> {
        let peer = self.table.get_mut(id.index())?;
        let number = match lane {
            Lane::Request => peer.next_request()?,
            Lane::Control => {
                // One count for all peers: nothing depends on these numbers.
                self.control_sequence = self.control_sequence.wrapping_add(1);
                self.control_sequence
            }
        };
        peer.envelope(me, number)
    }

    /// Notes that there is something to send to a peer.
    pub fn want(&mut self, id: PeerId, wants: Wants) {
        // Only a new want causes another round. A repeated one is already in the queue and is tried
        // in its turn.
        self.fresh |= self.get(id).is_some_and(|peer| !peer.wants.contains(wants));
        self.want_later(id, wants);
    }

    /// The same, for something that has just been tried. It waits for room in the channel or for a
    /// link, and causes no new round.
    pub fn want_later(&mut self, id: PeerId, wants: Wants) {
        // A peer that is already queued keeps its place, so the queue never holds a peer twice and
        // its length is bounded by the table.
        let Some(peer) = self.table.get_mut(id.index()) else { return };
        peer.wants.insert(wants);
        if !peer.set_pending() {
            return;
        }
        match self.table.get_mut(self.last as usize) {
            Some(last) => last.set_next_pending(id.index() as u32),
            None => self.first = id.index() as u32,
        }
        self.last = id.index() as u32;
    }

    /// Notes that nothing of that kind is to be sent any more.
    pub fn unwant(&mut self, id: PeerId, wants: Wants) {
        if let Some(peer) = self.get_mut(id) {
            peer.wants.remove(wants);
        }
    }

    /// Continues the round over the peers that have something to send, or begins one. `due`: all
    /// waiting peers are to be tried again.
    pub fn begin_round(&mut self, due: bool) {
        let owed = due || self.fresh;
        // What is added during a round is left to the next one, so a round always ends.
        self.fresh &= self.round.goes_on();
        self.round.begin(self.last, owed);
    }

    /// Removes the next peer of the round from the queue and returns it.
    pub fn next_pending(&mut self) -> Option<PeerId> {
        // Outside a round the queue is kept as it is: its peers wait for the next due call.
        let id = self.id(self.first).filter(|_| self.round.is_under_way())?;
        let peer = self.table.get_mut(id.index())?;
        let next = peer.take_pending();
        // The queue's head may be the last peer of the round: the round ends with it, not with what
        // was queued since.
        self.round.removed(self.first, NONE);
        self.first = next;
        if self.first == NONE {
            self.last = NONE;
        }
        Some(id)
    }

    /// What waits may be sendable now. The next round tries it again.
    pub fn look_again(&mut self) {
        // An event that frees room cannot name the peer that waits for it, so the whole queue is
        // tried.
        self.fresh |= self.anything_to_send();
    }

    /// Whether something is to be sent that was not tried yet: a new entry, or the rest of a due
    /// round.
    pub const fn goes_on(&self) -> bool {
        self.fresh || self.round.goes_on()
    }

    /// Whether there is something to send to a peer.
    pub const fn anything_to_send(&self) -> bool {
        self.first != NONE
    }

    /// The tag of the next hello to a peer, for the channel. Its index is that of no slot, and its
    /// number is that of no other hello of this incarnation.
    pub fn name_hello(&mut self, id: PeerId, link: LinkId, slots: u32) -> Option<Tag> {
        // The number zero means "no hello" in the gate, so no hello has it.
        self.next_hello = self.next_hello.wrapping_add(1);
        let generation = Attempt::number(self.next_hello, link);
        let peer = self.get_mut(id)?;
        peer.handshake.started(generation);
        // The channel reports the end of a hello by this tag. It must not match a transfer's slot.
        Some(Tag { index: slots + id.index() as u32, generation })
    }

    /// The next peer whose hello was not delivered, with that hello's number.
    pub fn next_unheard(&mut self) -> Option<(PeerId, u32)> {
        // The shared list is taken as a whole, so that other contexts can go on pushing to an empty
        // one.
        if self.unheard.is_empty() {
            self.unheard = self.shared.take_unheard();
        }
        let (place, number) = self.shared.next_unheard(&mut self.unheard)?;
        Some((self.id(place)?, number))
    }

    /// Whether every undelivered hello that was taken from the shared list has been handled.
    pub const fn all_heard(&self) -> bool {
        self.unheard.is_empty()
    }

    /// Hashes the part of the table's own state on which its future depends.
    pub fn hash_state(&self, hasher: &mut impl core::hash::Hasher) {
        use core::hash::Hash;
        (self.next_session, self.next_hello, self.control_sequence).hash(hasher);
        self.unheard.is_empty().hash(hasher);
        (self.round, self.fresh).hash(hasher);
        self.places.state().hash(hasher);
    }
}
