// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps the incarnations of a peer: the known one, and one other.
//!
//! The other one is the sender of the last hello, or of the last goodbye, where that is not the
//! known one. A hello is repeated until it is answered, so it gives way to a goodbye, without which
//! requests that were promised would be dropped (S0-18).

use super::last_hello::LastHello;
use super::peer::{Peer, PeerFlags, Wants};
use crate::base::id::Incarnation;
use crate::base::message::Envelope;

/// The flags that say which incarnation has sent its goodbye.
const SENT: PeerFlags = PeerFlags::CLOSED.union(PeerFlags::OTHER_CLOSED);

impl Peer {
    /// Takes another incarnation for the known one, or the same again.
    pub fn set_incarnation(&mut self, new: Incarnation) {
        if self.incarnation() == Some(new) {
            return;
        }
        let (closed, claims) = (self.closed(), self.hello_of() == Some(new));
        self.flags.remove(SENT);
        self.last_hello.set_of_other(false);
        self.incarnation = Some(new);
        self.other = None;
        if let Some(closed) = closed {
            self.set_closed(closed);
        }
        // The hello of any other incarnation is over, and so is its answer.
        if !claims {
            self.forget_hello();
        }
    }

    /// The incarnation that sent its goodbye last. Its earlier requests may still be read behind
    /// its goodbye, even behind its successor's hello.
    pub fn closed(&self) -> Option<Incarnation> {
        if self.is(PeerFlags::CLOSED) {
            self.incarnation
        } else {
            self.other.filter(|_| self.is(PeerFlags::OTHER_CLOSED))
        }
    }

    /// Whether the known incarnation has sent its goodbye.
    pub const fn has_closed(&self) -> bool {
        self.is(PeerFlags::CLOSED)
    }

    /// Whether a request of an incarnation other than the known one is of an earlier one. That
    /// holds if the known incarnation has answered us, or if it sent its goodbye and is the latest.
    /// A goodbye alone does not show that: it may be delayed, as its sender's hello may be
    /// (decision 0018).
    pub fn is_settled(&self) -> bool {
        self.is(PeerFlags::PROVEN) || self.has_closed() && self.is(PeerFlags::LATEST)
    }

    /// Notes a goodbye.
    pub fn note_goodbye(&mut self, from: &Envelope) {
        self.set_closed(from.from_incarnation);
        // Our session begins anew for each incarnation that displaces another. A goodbye that names
        // it was sent by the latest incarnation.
        if self.has_closed() && from.credits_of == self.session {
            self.flags.insert(PeerFlags::LATEST);
        }
    }

    fn set_closed(&mut self, closed: Incarnation) {
        let known = self.incarnation() == Some(closed);
        if !known && self.hello_of() != Some(closed) && self.last_hello.is_of_other() {
            self.forget_hello();
        }
        self.flags.set(PeerFlags::CLOSED, known);
        self.flags.set(PeerFlags::OTHER_CLOSED, !known);
        if !known {
            self.other = Some(closed);
        }
    }

    /// The incarnation that sent the last hello. It is not the known one while that has not been
    /// replaced, or if the versions do not meet.
    pub fn hello_of(&self) -> Option<Incarnation> {
        if self.last_hello.is_of_other() {
            self.other
        } else {
            self.incarnation
        }
    }

    /// Notes the last hello, of an incarnation. `false`: there is no room for it, since a goodbye
    /// of a third one is kept.
    #[must_use]
    #[cfg_attr(feature = "compact", inline(never))]
    pub fn note_hello(&mut self, of: Incarnation, hello: LastHello) -> bool {
        let known = self.incarnation() == Some(of);
        if !known && self.is(PeerFlags::OTHER_CLOSED) && { self.other } != Some(of) {
            return false;
        }
        if !known {
            self.other = Some(of);
        } else if !self.is(PeerFlags::OTHER_CLOSED) {
            self.other = None;
        }
        self.last_hello = hello;
        self.last_hello.set_of_other(!known);
        true
    }

    fn forget_hello(&mut self) {
        self.last_hello = LastHello::NOTHING;
        self.wants.remove(Wants::ACK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{LinkId, Nid};
    use crate::base::message::Hello;

    fn incarnation(number: u64) -> Incarnation {
        Incarnation::from_raw(1 + number).unwrap()
    }

    fn envelope(from: Incarnation, session: u32) -> Envelope {
        let nid = Nid::from_raw(1).unwrap();
        Envelope {
            from: nid,
            to: nid,
            from_incarnation: from,
            to_incarnation: None,
            session,
            sequence: 0,
            credits: 0,
            credits_of: 7,
        }
    }

    fn hello(from: Incarnation, session: u32) -> LastHello {
        let hello = Hello {
            given_up: 0,
            attempt: 0,
            version_min: 1,
            version_max: 1,
            immediate_max: 0,
            features: 0,
        };
        LastHello::of(&envelope(from, session), &hello, LinkId::new(0).unwrap(), (true, true))
    }

    /// Against three incarnations kept in full. Only a hello may be missing: the last one, while a
    /// goodbye of a third incarnation is kept.
    #[test]
    fn s0_18_two_places_keep_the_goodbye_whatever_comes_beside_it() {
        let rounds = if cfg!(miri) { 400 } else { 40_000 };
        let mut x = 0x9e37_79b9_7f4a_7c15_u64;
        let (mut peer, mut refused, mut kept) = (Peer::UNUSED, 0, 0);
        let (mut known, mut closed, mut last) = (None, None, None);
        for session in 1..rounds {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let of = incarnation(x >> 8 & 3);
            match x % 8 {
                0 => {
                    peer.set_incarnation(of);
                    if known != Some(of) && last.is_some_and(|(sender, _)| sender != of) {
                        assert!(!peer.wants.contains(Wants::ACK), "its answer is over too");
                        last = None;
                    }
                    known = Some(of);
                }
                1 => {
                    peer.note_goodbye(&envelope(of, session));
                    let third = known != Some(of)
                        && last.is_some_and(|(sender, _)| sender != of && Some(sender) != known);
                    if third {
                        last = None;
                    }
                    closed = Some(of);
                }
                _ => {
                    peer.wants.insert(Wants::ACK);
                    let third =
                        Some(of) != known && closed.is_some_and(|it| it != of && Some(it) != known);
                    assert_eq!(peer.note_hello(of, hello(of, session)), !third);
                    if third {
                        refused += 1;
                    } else {
                        (last, kept) = (Some((of, session)), kept + 1);
                    }
                }
            }
            assert_eq!((peer.incarnation(), peer.closed()), (known, closed));
            assert_eq!(peer.has_closed(), closed.is_some() && closed == known);
            if let Some((sender, session)) = last {
                assert_eq!(
                    (peer.hello_of(), { peer.last_hello().session }),
                    (Some(sender), session)
                );
            } else {
                assert!(!peer.last_hello().fits());
            }
        }
        assert!(refused > 0 && kept > 0);
    }
}
