// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sessions of a peer: which one we count, and which may follow it.

use super::peer::{Peer, PeerFlags};
use crate::base::id::Incarnation;
use crate::base::message::Envelope;
use crate::machines::peer::credits::Theirs;

impl Peer {
    /// Whether a message is from the incarnation that we know, and means ours, `me`.
    #[inline]
    pub fn is_of(&self, from: &Envelope, me: Incarnation) -> bool {
        self.incarnation == Some(from.from_incarnation) && from.to_incarnation == Some(me)
    }

    /// Whether a request of the peer may have a slot. Whatever its sessions granted, a peer has no more than
    /// its `depth` without a decision, and as much again under way (INV-12, INV-14).
    #[inline]
    pub fn has_room(&self, depth: u16) -> bool {
        // The depth is bounded (`MAX_DEPTH`): twice as much cannot wrap.
        u16::from(self.undecided) < depth && u16::from(self.passive) < depth.wrapping_mul(2)
    }

    /// Whether a request is the next one that we expect, says nothing new of our own requests, and leaves
    /// the peer within its `depth` of them. `me`: our incarnation.
    #[inline]
    pub fn sends_next(&self, from: &Envelope, me: Incarnation, depth: u16) -> bool {
        let flags = self.flags & (PeerFlags::COUNTED | PeerFlags::UNVERIFIED);
        self.is_of(from, me)
            && self.their_session == from.session
            && self.theirs.expects(from.sequence)
            && flags == PeerFlags::COUNTED
            && from.credits_of == self.session
            && self.ours.has_returned(from.credits)
            && self.has_room(depth)
            && self.parked == 0
    }

    /// A request of the peer is taken, by its number and how many before it are lost. `None`: it is of a
    /// former session. Returns how many are lost.
    #[inline]
    pub fn take_in(&mut self, number: Option<(u32, u32)>) -> u32 {
        let Some((sequence, lost)) = number else { return 0 };
        self.theirs.take_in(sequence, lost);
        lost
    }

    /// A request of its present session is consumed: its credit goes back. Whether the peer must be told.
    #[inline]
    #[must_use]
    pub fn consume(&mut self, depth: u16) -> bool {
        self.theirs.consume();
        // Where requests were lost the peer may have nothing left before we owe it half (INV-11).
        self.theirs.owed() >= (depth / 2).max(1) || self.theirs.is_spent(depth)
    }

    /// The peer opens a session; its requests are counted from `first`.
    pub fn open_theirs(&mut self, session: u32, first: u32) {
        self.their_session = session;
        self.flags.insert(PeerFlags::COUNTED);
        self.flags.remove(PeerFlags::NOTIFIED);
        self.opened = self.opened.wrapping_add(1);
        self.theirs = Theirs::counting_from(first);
    }

    /// Whether a hello of this session, by the incarnation that we know, opens it: a late repetition must
    /// not reopen an old one.
    pub fn may_open(&self, session: u32) -> bool {
        self.is_later_session(session)
            || !self.is(PeerFlags::COUNTED) && self.their_session() == Some(session)
    }

    /// Whether we have not heard of a session, nor of one after it.
    pub fn is_later_session(&self, session: u32) -> bool {
        self.their_session().is_none() || self.is_later(session)
    }

    /// Whether a session comes after the latest one that we know of. The sessions of one incarnation
    /// count up, and wrap.
    pub fn is_later(&self, session: u32) -> bool {
        self.their_session().is_some_and(|known| session.wrapping_sub(known) as i32 > 0)
    }

    /// Whether a session that a hello opens may have been counted before, and a CANCEL answered then: with a new
    /// window the promise would be forgotten (docs/decisions/0029-cancel.md).
    pub fn is_promised(&self, session: u32, new_incarnation: bool) -> bool {
        self.is(PeerFlags::PROMISED) && !self.is_first(session, new_incarnation)
    }

    /// Whether a session was not counted before, for sure: its incarnation has named the latest one before it in
    /// its answer to our hello.
    fn is_first(&self, session: u32, new_incarnation: bool) -> bool {
        !new_incarnation && self.is(PeerFlags::PROVEN) && self.is_later_session(session)
    }

    /// A hello is about to open a session, of another incarnation than the one that we know or not.
    pub fn note_opening(&mut self, session: u32, new_incarnation: bool) {
        if self.is_first(session, new_incarnation) {
            self.flags.remove(PeerFlags::PROMISED | PeerFlags::ANEW);
        } else if new_incarnation {
            self.flags.insert(PeerFlags::ANEW);
        }
    }

    /// None of the peer's sessions up to this one is counted, and none before it will be. Zero: none.
    pub fn forget_theirs(&mut self, session: u32) {
        self.their_session = session;
        self.flags.remove(PeerFlags::COUNTED | PeerFlags::NOTIFIED);
        self.opened = self.opened.wrapping_add(1);
        self.theirs = Theirs::open();
    }
}
