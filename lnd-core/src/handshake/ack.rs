// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The answer to a hello of ours.

use super::control::VERSION;
use crate::base::counters::Counter;
use crate::base::id::PeerId;
use crate::base::message::{Envelope, HelloAck};
use crate::base::time::Instant;
use crate::machines::peer::credits::Ours;
use crate::machines::peer::{HelloEvent, HelloState};
use crate::peers::{PeerFlags, Wants};
use crate::ports::{Channel, Ports};
use crate::shard::config::MAX_DEPTH;
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// The answer to a hello of ours. Returns the peer if what waits for it may be posted now.
    pub(crate) fn on_hello_ack(
        &mut self,
        now: Instant,
        from: &Envelope,
        ack: &HelloAck,
    ) -> Option<PeerId> {
        let id = self.peers.find(from.from);
        let (reliable, inline_max) = (self.channel.is_reliable(), self.inline_max());
        let signalled = self.links.signalled(ack.features);
        let cancels = self.links.cancels(ack.features);
        let state = id.map(|id| self.peers.state(id));
        let Some((id, peer)) = id.and_then(|id| self.peers.get_mut(id).map(|p| (id, p))) else {
            self.counters.count(Counter::IgnoredHellos);
            return None;
        };
        let ours = from.to_incarnation == Some(self.me.incarnation) && ack.session == peer.session;
        let current = ack.attempt == peer.attempt;
        if !ours || !current || state != Some(HelloState::Handshake) {
            self.counters.count(Counter::IgnoredHellos);
            let known = peer.incarnation == Some(from.from_incarnation);
            if ours && state == Some(HelloState::Down) && known && !peer.has_closed() {
                // It answers late, so it is there: a wrong verdict ends here, not with the hold-off.
                self.hello_event(now, id, HelloEvent::HelloSameIncarnation);
                self.send_handshake(now, id);
            }
            return None;
        }
        let new_incarnation =
            peer.incarnation.is_some_and(|incarnation| incarnation != from.from_incarnation);
        if new_incarnation && peer.is(PeerFlags::OVERHEARD) {
            // We asked before its successor, or a late hello, was heard; the next answer is the present
            // one's.
            self.counters.count(Counter::IgnoredHellos);
            self.hello_event(now, id, HelloEvent::Claimed);
            self.send_handshake(now, id);
            return None;
        }
        if ack.depth == 0 {
            // It has no room for us and takes no note of us, so we learn nothing of it (S0-14). But where a
            // request of its incarnation waits, our next hello says so by naming that.
            self.counters.count(Counter::NoRoom);
            if peer.parked != 0 {
                peer.incarnation = Some(from.from_incarnation);
                if new_incarnation {
                    self.take_up_successor(id, from.session);
                }
            }
            self.hello_event(now, id, HelloEvent::Incompatible);
            return None;
        }
        peer.last_heard = now;
        peer.incarnation = Some(from.from_incarnation);
        peer.flags.set(PeerFlags::SIGNALLED, signalled);
        peer.flags.set(PeerFlags::CANCELS, cancels);
        peer.inline_max = inline_max.min(ack.immediate_max);
        peer.flags.remove(PeerFlags::STALLED);
        peer.silences = 0;
        peer.tries = 0;
        peer.flags.insert(PeerFlags::PROVEN | PeerFlags::LATEST);
        // An answer names the session that its sender has opened last. Where no hello comes twice, any
        // session of an incarnation that answers is its own.
        let other = new_incarnation || peer.counted_session() != Some(from.session);
        peer.keep_if(PeerFlags::UNVERIFIED, other && !reliable);
        let begun = peer.ours.depth() > 0;
        let forgotten = begun && (new_incarnation || from.credits_of != peer.session);
        if new_incarnation {
            self.take_up_successor(id, from.session);
        }
        // It may answer our requests before its own hello, which may be lost, gets here.
        self.admit(id);
        if ack.version != Some(VERSION) {
            self.hello_event(now, id, HelloEvent::Incompatible);
            self.send_handshake(now, id);
            return None;
        }
        let peer = self.peers.get_mut(id)?;
        let promised = peer.is(PeerFlags::PROMISED | PeerFlags::ANEW);
        if (reliable || promised) && peer.is_later_session(from.session) {
            peer.forget_theirs(from.session);
        }
        if forgotten {
            // It does not count our session. The next one begins with no requests in flight; what was
            // sent in this one it tells by the session's number.
            peer.session = 0;
            self.resync(now, id);
            return None;
        }
        if peer.ours.depth() == 0 {
            peer.ours = Ours::counting_from(ack.depth.min(MAX_DEPTH), peer.sequence);
            peer.given_up = 0;
        } else {
            match peer.ours.returned(from.credits) {
                None => self.counters.count(Counter::BadCredits),
                Some(0) => {}
                Some(_) => peer.fruitless = 0,
            }
        }
        peer.given_up &= !peer.handshake.announced();
        self.hello_event(now, id, HelloEvent::Answered);
        Some(id)
    }

    /// The answer to our hello proves that another incarnation is there now. If what greeted us last was
    /// it, its session is opened, and its hello answered; all else that we know is of a former one.
    fn take_up_successor(&mut self, id: PeerId, session: u32) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        let claim = peer.last_hello;
        let claimed = claim.fits() && { claim.incarnation } == peer.incarnation;
        if claimed && claim.counts() {
            peer.open_theirs(claim.session, claim.sequence);
            // No promise to the former incarnation can be asked for any more.
            peer.flags.remove(PeerFlags::UNVERIFIED | PeerFlags::PROMISED | PeerFlags::ANEW);
        } else {
            peer.forget_theirs(session);
        }
        if claimed {
            self.peers.want(id, Wants::ACK);
        }
        self.slots.request_sweep();
        self.begin_incarnation(id);
    }
}
