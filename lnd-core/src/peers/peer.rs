// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The owned half of a peer.

use super::attempt::Attempt;
use super::last_hello::LastHello;
use crate::base::id::{Identity, Incarnation, Nid};
use crate::base::message::{Envelope, Lane};
use crate::base::time::Instant;
use crate::machines::peer::credits::{Ours, Theirs};
use crate::slots::{PutOff, Queue, NONE};

bitflags::bitflags! {
    /// What we have to say to a peer; said as soon as the control lane has room (INV-11).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct Wants: u8 {
        const ACK = 1 << 0;
        const HELLO = 1 << 1;
        const NOOP = 1 << 2;
        /// Requests wait for room in the channel or for a link.
        const FLUSH = 1 << 3;
        /// Pulls wait, and one may start.
        const PULL = 1 << 4;
        /// A request lies in the channel, and its sender is to be asked once a link is open.
        const CONNECT = 1 << 5;
    }
}

bitflags::bitflags! {
    /// What is true of a peer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct PeerFlags: u16 {
        /// Its incarnation has answered a hello of ours.
        const PROVEN = 1 << 0;
        /// Its hello has opened its session, so that we count its requests.
        const COUNTED = 1 << 1;
        /// We have said that we do not count the session of requests that lie in the channel.
        const NOTIFIED = 1 << 2;
        /// Its session may be an echo: its hello came from a life that we did not know, or with nothing to
        /// compare its number with, and nothing has shown yet that it is not one of long ago.
        const UNVERIFIED = 1 << 3;
        /// The first incarnation was heard since our attempt began: an answer of another one may be of its
        /// predecessor.
        const OVERHEARD = 1 << 4;
        /// Every credit is out and none has come back for the whole bound, although nothing waits any
        /// more: the next request asks for the peer's counts at once.
        const STALLED = 1 << 5;
        /// The verdict on its silence was put off by a call (R41).
        const POSTPONED = 1 << 6;
        /// Its engines and ours both tell the source of a pull's end: see
        /// [`Links::signalled`](crate::links::Links::signalled).
        const SIGNALLED = 1 << 7;
        /// Its incarnation was there after all others of which a request may lie in a channel: it has answered
        /// a hello of ours, or its goodbye names our session. A silence does not take that back.
        const LATEST = 1 << 8;
        /// The verdict on its silence was put off for a pause of ours (R41).
        const PAUSED = 1 << 9;
        /// It answers CANCEL: see [`Links::cancels`](crate::links::Links::cancels).
        const CANCELS = 1 << 10;
        /// A CANCEL of it was answered, or a session of it that was counted is not any more: what was promised
        /// is known from the window alone. See [`is_promised`](Peer::is_promised).
        const PROMISED = 1 << 11;
        /// Its session was perhaps counted before it was taken for another incarnation: what was taken then is
        /// not known any more.
        const ANEW = 1 << 12;
    }
}

/// In place of the next peer that has something to say: it is not among them.
const NOT_PENDING: u32 = NONE - 1;

/// One peer.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Peer {
    pub nid: Option<Nid>,
    /// Which use of this place this is (R14).
    pub generation: u32,
    pub incarnation: Option<Incarnation>,
    pub flags: PeerFlags,
    /// Our session with this incarnation of the peer; zero: none yet. It outlives resyncs and wrong
    /// verdicts: what was handed to the channel in it stays valid.
    pub session: u32,
    /// The latest session of the peer that we know of; zero: none.
    pub(super) their_session: u32,
    /// The incarnation that said goodbye last: what it sent before lies behind its goodbye, perhaps
    /// behind its successor's hello.
    pub closed: Option<Incarnation>,
    /// How many sessions the peer has opened, over all its lives.
    pub opened: u32,
    pub last_hello: LastHello,
    pub ours: Ours,
    pub theirs: Theirs,
    pub sequence: u32,
    /// Requests of ours that ended without having been delivered for sure: bit `i` is request
    /// `sequence - i`. Announced in the next hello, so that their credits come back.
    pub given_up: u32,
    pub control_sequence: u32,
    pub queue: Queue,
    /// Pulls from this peer that wait for others of it to end.
    pub pull_queue: Queue,
    /// Pulls from this peer that are under way, and those in `pull_queue`.
    pub pulls: u16,
    pub pulls_waiting: u16,
    /// Slots in use for this peer.
    pub transfers: u32,
    /// Of these, the peer's requests: in all, and those without a decision (INV-12).
    pub passive: u8,
    pub undecided: u8,
    /// The first slot of these, in 24 bits, where CANCEL may name one; each slot names the next.
    pub(super) invalidating: [u8; 3],
    /// Largest payload that goes inline to it, by what both sides take.
    pub inline_max: u32,
    pub tries: u8,
    /// Our attempt at a handshake that is under way, or when the next one may begin.
    pub handshake: Attempt,
    /// Handshakes of our session, modulo 2^8: an answer to an earlier one does not count (R31).
    pub attempt: u8,
    pub wants: Wants,
    /// Next peer that has something to say, or [`NOT_PENDING`].
    pub(super) next_pending: u32,
    pub last_heard: Instant,
    /// Handshakes in a row that were not answered, or were refused. A request that lies in the channel
    /// revives such a peer ever less often: it may be what a dead one has left behind.
    pub silences: u8,
    /// The links in whose channels a request of it waits until it is admitted: bit `i` is link `i`.
    pub parked: u8,
    /// Stalls in a row that brought no credit.
    pub fruitless: u8,
}

impl Peer {
    pub(super) const UNUSED: Self = Self {
        nid: None,
        generation: 0,
        incarnation: None,
        flags: PeerFlags::empty(),
        session: 0,
        their_session: 0,
        closed: None,
        opened: 0,
        last_hello: LastHello::NOTHING,
        ours: Ours::open(0),
        theirs: Theirs::open(),
        sequence: 0,
        given_up: 0,
        control_sequence: 0,
        queue: Queue::EMPTY,
        pull_queue: Queue::EMPTY,
        pulls: 0,
        pulls_waiting: 0,
        transfers: 0,
        passive: 0,
        undecided: 0,
        invalidating: [u8::MAX; 3],
        inline_max: 0,
        tries: 0,
        handshake: Attempt::NONE,
        attempt: 0,
        wants: Wants::empty(),
        next_pending: NOT_PENDING,
        last_heard: Instant::ORIGIN,
        silences: 0,
        parked: 0,
        fruitless: 0,
    };

    /// A place that has not been used, and that counts its uses from `generation`.
    pub const fn unused(generation: u32) -> Self {
        Self { generation, ..Self::UNUSED }
    }

    /// The first of the slots that its requests have. Beyond all slots: there is none.
    pub fn first_cancelled(&self) -> u32 {
        let [low, middle, high] = self.invalidating;
        u32::from_le_bytes([low, middle, high, 0])
    }

    /// Another slot is the first one, or none is.
    pub fn set_first_cancelled(&mut self, slot: u32) {
        let [low, middle, high, _] = slot.to_le_bytes();
        self.invalidating = [low, middle, high];
    }

    /// For what the verdict on its silence was put off.
    pub fn put_off(&self) -> PutOff {
        if self.flags.contains(PeerFlags::PAUSED) {
            PutOff::Pause
        } else if self.flags.contains(PeerFlags::POSTPONED) {
            PutOff::Call
        } else {
            PutOff::Not
        }
    }

    /// Notes for what the verdict on its silence is put off.
    pub fn set_put_off(&mut self, it: PutOff) {
        self.flags.set(PeerFlags::POSTPONED, it == PutOff::Call);
        self.flags.set(PeerFlags::PAUSED, it == PutOff::Pause);
    }

    /// Opens a session of ours; requests are counted from `first`.
    pub fn begin_session(&mut self, session: u32, first: u32) {
        self.session = session;
        self.ours = Ours::open(0);
        self.sequence = first;
        self.given_up = 0;
        self.handshake.announce_nothing();
    }

    /// Whether the channel may be given a request now, as far as credits go.
    #[inline]
    pub fn has_credit(&self, reliable: bool) -> bool {
        self.ours.left() > 0 && !self.must_announce(reliable)
    }

    /// Whether a new request may go out now, before no other, as far as credits go.
    #[inline]
    pub fn may_send(&self, reliable: bool) -> bool {
        self.queue.is_empty() && self.has_credit(reliable)
    }

    /// The envelope of the next message from `me` to the peer. A request takes a credit (R34).
    #[inline]
    pub fn envelope(&mut self, me: Identity, lane: Lane) -> Option<Envelope> {
        let sequence = match lane {
            Lane::Request => self.next_request()?,
            Lane::Control => {
                self.control_sequence = self.control_sequence.wrapping_add(1);
                self.control_sequence
            }
        };
        self.notified();
        self.envelope_of(me, sequence)
    }

    /// The envelope of the next request. Nothing is taken yet: see [`take_next`](Self::take_next).
    #[inline]
    pub fn next_envelope(&self, me: Identity) -> Option<Envelope> {
        self.envelope_of(me, self.sequence.wrapping_add(1))
    }

    /// The request whose envelope is [`next_envelope`](Self::next_envelope) goes out: takes its number and
    /// a credit.
    #[inline]
    pub fn take_next(&mut self) -> Option<u32> {
        let taken = self.next_request()?;
        self.notified();
        Some(taken)
    }

    #[inline]
    fn envelope_of(&self, me: Identity, sequence: u32) -> Option<Envelope> {
        Some(Envelope {
            from: me.nid,
            to: self.nid?,
            from_incarnation: me.incarnation,
            to_incarnation: self.incarnation,
            session: self.session,
            sequence,
            credits: self.theirs.total(),
            credits_of: self.counted_session().unwrap_or(0),
        })
    }

    /// A message has told the peer what was consumed.
    #[inline]
    fn notified(&mut self) {
        self.wants.remove(Wants::NOOP);
        let _ = self.theirs.announce();
    }

    /// Takes the number of the next request, and a credit.
    #[inline]
    pub fn next_request(&mut self) -> Option<u32> {
        self.ours.take()?;
        self.sequence = self.sequence.wrapping_add(1);
        self.given_up <<= 1;
        Some(self.sequence)
    }

    /// Notes that a request of ours has ended and was perhaps never taken. `false`: it lies so far back
    /// that no hello of the session can announce it.
    #[must_use]
    pub fn give_up(&mut self, session: u32, sequence: u32) -> bool {
        if session != self.session {
            return true;
        }
        let bit = 1_u32.checked_shl(self.sequence.wrapping_sub(sequence));
        self.given_up |= bit.unwrap_or(0);
        bit.is_some()
    }

    /// Whether the next request would push one that was given up out of what a hello can announce.
    /// Where `reliable` is false the window finds its loss.
    #[inline]
    pub const fn must_announce(&self, reliable: bool) -> bool {
        reliable && self.given_up >> (u32::BITS - 1) != 0
    }

    /// Every request of the session that may be in flight, as a hello announces them.
    pub fn in_flight(&self) -> u32 {
        if self.ours.in_flight() == 0 {
            0
        } else {
            u32::MAX
        }
    }

    /// The session whose requests we count.
    #[inline]
    pub fn counted_session(&self) -> Option<u32> {
        if self.is(PeerFlags::COUNTED) {
            Some(self.their_session)
        } else {
            None
        }
    }

    /// The latest session of the peer that we know of.
    #[inline]
    pub fn their_session(&self) -> Option<u32> {
        if self.their_session == 0 {
            None
        } else {
            Some(self.their_session)
        }
    }

    /// Whether one of `flags` is true of it.
    #[inline]
    pub const fn is(&self, flags: PeerFlags) -> bool {
        self.flags.intersects(flags)
    }

    /// Keeps what is true of it only if `keeps`.
    pub fn keep_if(&mut self, flags: PeerFlags, keeps: bool) {
        self.flags.set(flags, keeps && self.is(flags));
    }

    /// Puts it behind the last one that has something to say. `false`: it is among them.
    pub fn set_pending(&mut self) -> bool {
        let is_new = !self.is_pending();
        if is_new {
            self.next_pending = NONE;
        }
        is_new
    }

    /// Whether it is among those that have something to say.
    pub const fn is_pending(&self) -> bool {
        self.next_pending != NOT_PENDING
    }

    /// Another one has something to say behind it.
    pub fn set_next_pending(&mut self, next: u32) {
        self.next_pending = next;
    }

    /// Takes it out, the first of those that have something to say; returns the next one.
    pub fn take_pending(&mut self) -> u32 {
        core::mem::replace(&mut self.next_pending, NOT_PENDING)
    }

    /// Whether the incarnation that we know has said goodbye.
    pub fn has_closed(&self) -> bool {
        self.closed.is_some() && self.closed == self.incarnation
    }

    /// Whether a request of another incarnation than the one that we know is of an earlier one: that has
    /// answered us, or it has said goodbye and was there after all others. A goodbye alone does not show
    /// that: it may come late, as its sender's hello did.
    pub fn is_settled(&self) -> bool {
        self.is(PeerFlags::PROVEN) || self.has_closed() && self.is(PeerFlags::LATEST)
    }

    /// Notes a goodbye. Our session began when the incarnation that we know displaced another one, or before
    /// any was heard. If its goodbye names that session, it was there after all others.
    pub fn note_goodbye(&mut self, from: &Envelope) {
        self.closed = Some(from.from_incarnation);
        if self.has_closed() && from.credits_of == self.session {
            self.flags.insert(PeerFlags::LATEST);
        }
    }
}

#[cfg(not(loom))]
static_assertions::const_assert!(core::mem::size_of::<Peer>() <= 144);
// Twice the depth, and a slot.
static_assertions::const_assert!(crate::shard::config::MAX_DEPTH * 2 <= u8::MAX as u16);
static_assertions::const_assert!(crate::shard::config::MAX_SLOTS < (1 << 24) - 1);
