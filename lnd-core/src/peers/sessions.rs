// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file decides which session of a peer is counted, and which may follow it.

use super::peer::{Peer, PeerFlags};
use crate::base::id::Incarnation;
use crate::base::message::Envelope;
use crate::machines::peer::credits::Theirs;

impl Peer {
    /// Whether a message is from the known incarnation and names ours, `me`.
    #[inline]
    pub fn is_of(&self, from: &Envelope, me: Incarnation) -> bool {
        self.incarnation() == Some(from.from_incarnation) && from.to_incarnation == Some(me)
    }

    /// Whether a request of the peer may have a slot. A peer has at most `depth` requests without a
    /// decision and at most twice `depth` in all, whatever its sessions granted (INV-12, INV-14).
    #[inline]
    pub fn has_room(&self, depth: u16) -> bool {
        // The depth is bounded (`MAX_DEPTH`): twice as much cannot wrap.
        u16::from(self.undecided) < depth && u16::from(self.held.passive()) < depth.wrapping_mul(2)
    }

    /// Whether a request is the next expected one of the present sessions of both sides. `me`: our
    /// incarnation. The count of our requests that it carries may be new.
    #[inline(always)]
    pub fn sends_next(&self, from: &Envelope, me: Incarnation) -> bool {
        // This is the usual case of a request. Each condition that fails here is examined in full
        // elsewhere.
        let flags = self.flags & (PeerFlags::COUNTED | PeerFlags::UNVERIFIED);
        self.is_of(from, me)
            && self.their_session == from.session
            && self.theirs.expects(from.sequence)
            && flags == PeerFlags::COUNTED
            && from.credits_of == self.session
            && self.parked == 0
    }

    /// Accepts a request of the peer, by its number. `None`: it is of a former session. Returns how
    /// many before it are lost.
    #[inline]
    pub fn take_in(&mut self, number: Option<u32>) -> u32 {
        let Some(sequence) = number else { return 0 };
        let lost = self.theirs.lost_by(sequence);
        self.theirs.take_in(sequence, lost);
        lost
    }

    /// Which of the peer's sessions a request is of, by `opened`: the present one, or one before
    /// it.
    #[inline]
    pub const fn session_of(&self, former: bool) -> u32 {
        self.opened.wrapping_sub(former as u32)
    }

    /// Consumes a request of the present session: its credit returns. Returns whether the peer must
    /// be notified.
    #[inline]
    #[must_use]
    pub fn consume(&mut self, depth: u16) -> bool {
        self.theirs.consume();
        // Half the depth is the usual threshold. After losses the peer may have no credit left
        // before that, and it would wait for ever (INV-11).
        self.theirs.owed() >= (depth / 2).max(1) || self.theirs.is_spent(depth)
    }

    /// Whether the peer has spent all the credits that it knows of and is owed some. It sends
    /// nothing more before it is notified: its last requests wait here for their decisions, and
    /// these may take any time (INV-11).
    #[inline]
    pub fn waits_for_credits(&self, depth: u16) -> bool {
        self.theirs.owed() > 0 && self.theirs.is_spent(depth)
    }

    /// The peer opens a session. Its requests are counted from `first`.
    pub fn open_theirs(&mut self, session: u32, first: u32) {
        self.their_session = session;
        // From here on the window decides about the session's requests.
        self.flags.insert(PeerFlags::COUNTED);
        self.flags.remove(PeerFlags::NOTIFIED);
        self.opened = self.opened.wrapping_add(1);
        self.theirs = Theirs::counting_from(first);
    }

    /// Whether a hello of this session, from the known incarnation, opens it. A delayed repetition
    /// must not reopen an old session.
    pub fn may_open(&self, session: u32) -> bool {
        self.is_later_session(session)
            || !self.is(PeerFlags::COUNTED) && self.their_session() == Some(session)
    }

    /// Whether neither this session nor a later one is known.
    pub fn is_later_session(&self, session: u32) -> bool {
        // Without a known session any hello may open one: there is nothing older to protect.
        self.their_session().is_none() || self.is_later(session)
    }

    /// Whether a session comes after the latest known one. The sessions of one incarnation count
    /// up, and wrap.
    pub fn is_later(&self, session: u32) -> bool {
        // The numbers wrap, so the sign of the difference decides.
        self.their_session().is_some_and(|known| session.wrapping_sub(known) as i32 > 0)
    }

    /// Whether a session that a hello opens may have been counted before, with a CANCEL answered in
    /// it. A new window would forget that promise (docs/decisions/0029-cancel.md).
    pub fn is_promised(&self, session: u32, new_incarnation: bool) -> bool {
        self.is(PeerFlags::PROMISED) && !self.is_first(session, new_incarnation)
    }

    /// Whether a session was certainly not counted before. That holds if its incarnation has
    /// answered our hello, because the answer named the latest session before it.
    fn is_first(&self, session: u32, new_incarnation: bool) -> bool {
        !new_incarnation && self.is(PeerFlags::PROVEN) && self.is_later_session(session)
    }

    /// Notes that a hello opens a session, of a new incarnation or of the known one.
    pub fn note_opening(&mut self, session: u32, new_incarnation: bool) {
        if self.is_first(session, new_incarnation) {
            self.flags.remove(PeerFlags::PROMISED | PeerFlags::ANEW);
        } else if new_incarnation {
            self.flags.insert(PeerFlags::ANEW);
        }
    }

    /// Stops counting the peer's sessions up to this one; no earlier one is counted again. Zero:
    /// none.
    #[cfg_attr(feature = "compact", inline(never))]
    pub fn forget_theirs(&mut self, session: u32) {
        self.their_session = session;
        self.flags.remove(PeerFlags::COUNTED | PeerFlags::NOTIFIED);
        self.opened = self.opened.wrapping_add(1);
        self.theirs = Theirs::open();
    }
}
