// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file notes what an answer to our hello says of its sender.

use super::peer::{Peer, PeerFlags};
use crate::base::message::Envelope;
use crate::machines::peer::credits::Ours;
use crate::shard::config::MAX_DEPTH;

impl Peer {
    /// Notes that an incarnation has answered our current hello. Returns whether the sender does
    /// not count our session, although it is under way.
    pub fn note_answer(&mut self, from: &Envelope, new_incarnation: bool, reliable: bool) -> bool {
        self.set_incarnation(from.from_incarnation);
        self.flags.remove(PeerFlags::STALLED);
        self.setbacks.set_silences(0);
        self.tries = 0;
        self.flags.insert(PeerFlags::PROVEN | PeerFlags::LATEST);
        // An answer names the latest session of its sender. A session with another number may come
        // from a delayed copy of a hello, so it stays unverified. A reliable channel delivers no
        // hello twice: there every session of an answering incarnation is genuine (decision 0016).
        let other = self.counted_session() != Some(from.session);
        self.keep_if(PeerFlags::UNVERIFIED, other && !reliable);
        // A successor never has counted our session; the known incarnation may have forgotten us.
        let begun = self.ours.depth() > 0;
        begun && (new_incarnation || from.credits_of != self.session)
    }

    /// Applies the credits of the answer. `false`: it counts more than was sent.
    #[must_use]
    pub fn count_answered(&mut self, credits: u16, depth: u16) -> bool {
        let mut good = true;
        // The depth is zero until the first answer of a session grants the credits. Both sides
        // count requests from the sequence that the hello named.
        if self.ours.depth() == 0 {
            self.ours = Ours::counting_from(depth.min(MAX_DEPTH), self.sequence);
        } else {
            // A repeated answer must not grant credits again. The count is cumulative, so only the
            // difference is returned. A count beyond what was sent changes nothing.
            match self.ours.returned(credits) {
                None => good = false,
                Some(0) => {}
                Some(_) => self.setbacks.end_stalls(),
            }
        }
        // The peer has noted what this attempt announced. The next hello announces what was given
        // up since then.
        self.given_up &= !self.handshake.announced();
        good
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_returns_credits_ends_the_stalls() {
        let mut peer = Peer::UNUSED;
        assert!(peer.count_answered(0, 4), "the first answer grants them");
        assert!(peer.next_request().is_some());
        peer.setbacks.count_stall();
        assert!(peer.count_answered(0, 4));
        assert_eq!((peer.setbacks.stalls(), peer.ours.left()), (1, 3), "it brings none back");
        assert!(!peer.count_answered(2, 4), "more than was sent");
        assert_eq!((peer.setbacks.stalls(), peer.ours.left()), (1, 3));
        assert!(peer.count_answered(1, 4));
        assert_eq!((peer.setbacks.stalls(), peer.ours.left()), (0, 4));
    }
}
