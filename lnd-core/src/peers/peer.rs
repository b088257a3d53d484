// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the owner's half of a peer.

use super::attempt::Attempt;
use super::heard::Heard;
use super::held::Held;
use super::last_hello::LastHello;
use super::setbacks::Setbacks;
use crate::base::id::{Identity, Incarnation, Nid};
use crate::base::message::Envelope;
use crate::base::narrow::Entry;
use crate::machines::peer::credits::{Ours, Theirs};
use crate::slots::{PutOff, Queue, NONE};

bitflags::bitflags! {
    /// What is to be sent to a peer as soon as the control lane has room (INV-11).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct Wants: u8 {
        const ACK = 1 << 0;
        const HELLO = 1 << 1;
        const NOOP = 1 << 2;
        /// Requests wait for room in the channel or for a link.
        const FLUSH = 1 << 3;
        /// Pulls wait, and one may start.
        const PULL = 1 << 4;
        /// A request waits in the channel. Its sender gets a hello once a link is open.
        const CONNECT = 1 << 5;
    }
}

bitflags::bitflags! {
    /// Facts about a peer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct PeerFlags: u16 {
        /// Its incarnation has answered a hello of ours.
        const PROVEN = 1 << 0;
        /// Its hello has opened its session, so that we count its requests.
        const COUNTED = 1 << 1;
        /// A message of ours has shown the peer that its session, with requests in the channel, is
        /// not counted.
        const NOTIFIED = 1 << 2;
        /// Its session is unverified: the hello came from an unknown incarnation, or there was no
        /// number to compare with. It may be a delayed copy (decision 0016).
        const UNVERIFIED = 1 << 3;
        /// The first incarnation was heard after our attempt began. An answer of another
        /// incarnation may be its predecessor's.
        const OVERHEARD = 1 << 4;
        /// All credits are spent, none came back within the bound, and no request waits. The next
        /// request asks for the peer's counts at once.
        const STALLED = 1 << 5;
        /// The decision on its silence was postponed by one call (R41).
        const POSTPONED = 1 << 6;
        /// Its engines and ours both signal the end of a pull to the source: see
        /// [`Links::signalled`](crate::links::Links::signalled).
        const SIGNALLED = 1 << 7;
        /// No other incarnation whose requests may lie in a channel is later than this one: it has
        /// answered a hello of ours, or its goodbye names our session. A silence does not revoke
        /// that.
        const LATEST = 1 << 8;
        /// The decision on its silence was postponed for a pause of this host (R41).
        const PAUSED = 1 << 9;
        /// It answers CANCEL: see [`Links::cancels`](crate::links::Links::cancels).
        const CANCELS = 1 << 10;
        /// A CANCEL of this peer was answered, or a counted session of it was given up. Only the
        /// lost window knew what was promised. See [`is_promised`](Peer::is_promised).
        const PROMISED = 1 << 11;
        /// Its session may have been counted before the peer was taken for another incarnation.
        /// What was received then is unknown.
        const ANEW = 1 << 12;
        /// The known incarnation has sent its goodbye, the last one.
        const CLOSED = 1 << 13;
        /// The other incarnation has.
        const OTHER_CLOSED = 1 << 14;
        /// Its engines and ours push: see [`Links::pushes`](crate::links::Links::pushes).
        const PUSHES = 1 << 15;
        /// What follows from the features that both sides have announced.
        const AGREED = Self::SIGNALLED.bits() | Self::CANCELS.bits() | Self::PUSHES.bits();
    }
}

/// In place of the next peer of the queue: this peer is not queued.
const NOT_PENDING: Entry = Entry::new(Entry::NONE.get() - 1);

/// One peer.
#[derive(Clone, Copy, Debug, Hash)]
#[repr(Rust, packed(4))]
pub(crate) struct Peer {
    pub nid: Option<Nid>,
    pub(super) incarnation: Option<Incarnation>,
    /// An incarnation beside the known one: see [`set_incarnation`](Self::set_incarnation).
    pub(super) other: Option<Incarnation>,
    pub flags: PeerFlags,
    /// Our session with this incarnation of the peer. Zero: none yet. It outlives resyncs and wrong
    /// decisions about the peer: what the channel holds of it stays valid.
    pub session: u32,
    /// The latest known session of the peer. Zero: none.
    pub(super) their_session: u32,
    /// How many sessions the peer has opened, over all its incarnations.
    pub opened: u32,
    pub(super) last_hello: LastHello,
    pub ours: Ours,
    pub theirs: Theirs,
    pub sequence: u32,
    /// Requests of ours that ended without proof of delivery. Bit `i` is request `sequence - i`.
    /// The next hello announces them, so that their credits come back.
    pub given_up: u32,
    pub queue: Queue,
    /// Pulls from this peer that wait for others from it to end.
    pub pull_queue: Queue,
    /// Pulls from this peer that are under way.
    pub pulls: u16,
    /// Slots in use for this peer, and those of its requests.
    pub held: Held,
    /// Of its requests, those without a decision (INV-12).
    pub undecided: u8,
    /// The first slot of the peer's requests, for CANCEL. Each slot names the next.
    pub requests: Entry,
    /// Largest payload sent inline to it: see [`inline_max`](Self::inline_max).
    pub(super) inline_max: u16,
    pub tries: u8,
    /// The handshake attempt that is under way, or the end of the hold-off.
    pub handshake: Attempt,
    /// Handshake attempts of our session, modulo 2^8. An answer to an earlier one does not count
    /// (R31).
    pub attempt: u8,
    pub wants: Wants,
    /// The next peer of the send queue, or [`NOT_PENDING`].
    pub(super) next_pending: Entry,
    pub last_heard: Heard,
    pub setbacks: Setbacks,
    /// The links in whose channels a request of it waits for admission. Bit `i` is link `i`.
    pub parked: u8,
}

impl Peer {
    pub const UNUSED: Self = Self {
        nid: None,
        incarnation: None,
        other: None,
        flags: PeerFlags::empty(),
        session: 0,
        their_session: 0,
        opened: 0,
        last_hello: LastHello::NOTHING,
        ours: Ours::open(0),
        theirs: Theirs::open(),
        sequence: 0,
        given_up: 0,
        queue: Queue::EMPTY,
        pull_queue: Queue::EMPTY,
        pulls: 0,
        held: Held::NOTHING,
        undecided: 0,
        requests: Entry::NONE,
        inline_max: 0,
        tries: 0,
        handshake: Attempt::NONE,
        attempt: 0,
        wants: Wants::empty(),
        next_pending: NOT_PENDING,
        last_heard: Heard::NEVER,
        setbacks: Setbacks::NONE,
        parked: 0,
    };

    /// Largest payload sent inline to it: the smaller limit of the two sides, at most 65,535.
    #[inline]
    pub const fn inline_max(&self) -> u32 {
        self.inline_max as u32
    }

    /// Notes the limits of the two sides.
    pub fn set_inline_max(&mut self, ours: u32, theirs: u32) {
        self.inline_max = ours.min(theirs).min(u16::MAX.into()) as u16;
    }

    /// The known incarnation.
    #[inline]
    pub const fn incarnation(&self) -> Option<Incarnation> {
        self.incarnation
    }

    /// The last hello that was received.
    pub const fn last_hello(&self) -> LastHello {
        self.last_hello
    }

    /// The reason for which the decision on its silence was postponed.
    pub fn put_off(&self) -> PutOff {
        if self.flags.contains(PeerFlags::PAUSED) {
            PutOff::Pause
        } else if self.flags.contains(PeerFlags::POSTPONED) {
            PutOff::Call
        } else {
            PutOff::Not
        }
    }

    /// Notes the reason for which the decision on its silence is postponed.
    pub fn set_put_off(&mut self, it: PutOff) {
        self.flags.set(PeerFlags::POSTPONED, it == PutOff::Call);
        self.flags.set(PeerFlags::PAUSED, it == PutOff::Pause);
    }

    /// Begins a session of ours. Requests are counted from `first`.
    pub fn begin_session(&mut self, session: u32, first: u32) {
        self.session = session;
        // No credits: only the answer to our hello grants them.
        self.ours = Ours::open(0);
        self.sequence = first;
        self.given_up = 0;
    }

    /// Notes what both sides can do: flags of [`AGREED`](PeerFlags::AGREED).
    pub fn agree(&mut self, agreed: PeerFlags) {
        self.flags = self.flags.difference(PeerFlags::AGREED).union(agreed);
    }

    /// Whether the credits allow a request to be handed to the channel now.
    #[inline]
    pub fn has_credit(&self, reliable: bool) -> bool {
        self.ours.left() > 0 && !self.must_announce(reliable)
    }

    /// Whether a new request may be sent now, ahead of none that waits, as far as credits go.
    #[inline]
    pub fn may_send(&self, reliable: bool) -> bool {
        self.queue.is_empty() && self.has_credit(reliable)
    }

    /// The envelope of message `number` from `me` to the peer.
    #[inline]
    pub fn envelope(&mut self, me: Identity, number: u32) -> Option<Envelope> {
        self.notified();
        self.envelope_of(me, number)
    }

    /// The envelope of the next request. No number and no credit is used yet: see
    /// [`take_next`](Self::take_next).
    #[inline]
    pub fn next_envelope(&self, me: Identity) -> Option<Envelope> {
        self.envelope_of(me, self.sequence.wrapping_add(1))
    }

    /// Uses a number and a credit for the request whose envelope is
    /// [`next_envelope`](Self::next_envelope).
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
            // Zero: none is counted. The peer then begins the next one.
            credits_of: self.counted_session().unwrap_or(0),
        })
    }

    /// Notes that a message has carried the count of consumed requests to the peer.
    #[inline]
    fn notified(&mut self) {
        self.wants.remove(Wants::NOOP);
        let _ = self.theirs.announce();
    }

    /// Uses the number of the next request, and a credit.
    #[inline]
    pub fn next_request(&mut self) -> Option<u32> {
        // The credit comes first: without one no number is used, so numbers have no gaps.
        self.ours.take()?;
        self.sequence = self.sequence.wrapping_add(1);
        // Bit `i` stands for request `sequence - i`, so the bits move with the sequence.
        self.given_up <<= 1;
        Some(self.sequence)
    }

    /// Notes that a request of ours has ended and was perhaps never received. `false`: it is too
    /// old for any hello of this session to announce.
    #[must_use]
    pub fn give_up(&mut self, session: u32, sequence: u32) -> bool {
        if session != self.session {
            return true;
        }
        let bit = 1_u32.checked_shl(self.sequence.wrapping_sub(sequence));
        self.given_up |= bit.unwrap_or(0);
        bit.is_some()
    }

    /// Whether the next request would push one that was given up out of the announced range. On an
    /// unreliable channel the receiver's window finds such a loss.
    #[inline]
    pub const fn must_announce(&self, reliable: bool) -> bool {
        reliable && self.given_up >> (u32::BITS - 1) != 0
    }

    /// Every request of the session that may be in flight, in the form that a hello announces.
    pub fn in_flight(&self) -> u32 {
        if self.ours.in_flight() == 0 {
            0
        } else {
            u32::MAX
        }
    }

    /// The session whose requests are counted here.
    #[inline]
    pub fn counted_session(&self) -> Option<u32> {
        if self.is(PeerFlags::COUNTED) {
            Some(self.their_session)
        } else {
            None
        }
    }

    /// The latest known session of the peer.
    #[inline]
    pub fn their_session(&self) -> Option<u32> {
        if self.their_session == 0 {
            None
        } else {
            Some(self.their_session)
        }
    }

    /// Whether one of `flags` is set.
    #[inline]
    pub const fn is(&self, flags: PeerFlags) -> bool {
        self.flags.intersects(flags)
    }

    /// Clears the given flags unless `keeps`.
    pub fn keep_if(&mut self, flags: PeerFlags, keeps: bool) {
        self.flags.set(flags, keeps && self.is(flags));
    }

    /// Appends it to the send queue. `false`: it is already queued.
    pub fn set_pending(&mut self) -> bool {
        // A peer is queued at most once: the queue runs through one link word of each peer.
        let is_new = !self.is_pending();
        if is_new {
            self.next_pending = Entry::NONE;
        }
        is_new
    }

    /// Whether it is in the send queue.
    pub fn is_pending(&self) -> bool {
        self.next_pending != NOT_PENDING
    }

    /// Another peer is queued behind it.
    pub fn set_next_pending(&mut self, next: u32) {
        self.next_pending = Entry::new(next);
    }

    /// Removes it from the head of the send queue and returns the next one.
    pub fn take_pending(&mut self) -> u32 {
        let next = core::mem::replace(&mut self.next_pending, NOT_PENDING);
        if next == Entry::NONE {
            NONE
        } else {
            next.get()
        }
    }
}

#[cfg(not(loom))]
static_assertions::const_assert!(core::mem::size_of::<Peer>() == 116);
