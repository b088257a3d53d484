// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles the answer to a hello of ours.

use super::control::VERSION;
use crate::base::counters::Counter;
use crate::base::id::PeerId;
use crate::base::message::{Envelope, HelloAck};
use crate::base::time::Instant;
use crate::machines::peer::{HelloEvent, HelloState};
use crate::peers::{Heard, PeerFlags, Wants};
use crate::ports::{Channel, Ports};
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// Handles the answer to a hello of ours. Returns the peer if queued requests may be posted
    /// now.
    pub(crate) fn on_hello_ack(
        &mut self,
        now: Instant,
        from: &Envelope,
        ack: &HelloAck,
    ) -> Option<PeerId> {
        let id = self.peers.find(from.from);
        let state = id.map(|id| self.peers.state(id));
        let Some((id, peer)) = id.and_then(|id| self.peers.get(id).map(|p| (id, p))) else {
            self.counters.count(Counter::IgnoredHellos);
            return None;
        };
        // The answer must name our incarnation, our session and the current attempt. The counts in
        // an answer to an earlier attempt may be stale, so it must not open the gate (R31).
        let ours = from.to_incarnation == Some(self.me.incarnation) && ack.session == peer.session;
        let current = ack.attempt == peer.attempt;
        if !ours || !current || state != Some(HelloState::Handshake) {
            self.counters.count(Counter::IgnoredHellos);
            let known = peer.incarnation() == Some(from.from_incarnation);
            if ours && state == Some(HelloState::Down) && known && !peer.has_closed() {
                // A late answer of the known incarnation proves that the peer runs. The handshake
                // starts now, not at the end of the hold-off (LU-16214). A peer that sent its
                // goodbye is excluded: its answer was sent before the goodbye.
                self.hello_event(now, id, HelloEvent::HelloSameIncarnation);
                self.send_handshake(now, id);
            }
            return None;
        }
        let new_incarnation =
            peer.incarnation().is_some_and(|incarnation| incarnation != from.from_incarnation);
        if new_incarnation && peer.is(PeerFlags::OVERHEARD) {
            // The hello went out before this peer's own hello was received. The answer may be of
            // the predecessor, delayed on another link. Only an answer to a later hello identifies
            // the present incarnation (decision 0018).
            self.counters.count(Counter::IgnoredHellos);
            self.hello_event(now, id, HelloEvent::Claimed);
            self.send_handshake(now, id);
            return None;
        }
        if ack.depth == 0 {
            self.on_refusal(now, id, from, new_incarnation);
            return None;
        }
        self.take_answer(now, id, from, ack, new_incarnation)
    }

    /// Handles the answer of a node that has no room for us.
    fn on_refusal(&mut self, now: Instant, id: PeerId, from: &Envelope, new_incarnation: bool) {
        // A refusing node keeps no state for us, so its answer proves nothing more (S0-14). Only
        // the incarnation is kept, and only while a request of this node waits in the channel. The
        // next hello names that incarnation, and the node then makes room (decision 0019).
        self.counters.count(Counter::NoRoom);
        if let Some(peer) = self.peers.get_mut(id).filter(|peer| peer.parked != 0) {
            peer.set_incarnation(from.from_incarnation);
            if new_incarnation {
                self.take_up_successor(id, from.session);
            }
        }
        self.hello_event(now, id, HelloEvent::Incompatible);
    }

    /// Takes the answer to our current hello. Returns the peer if it is good now.
    fn take_answer(
        &mut self,
        now: Instant,
        id: PeerId,
        from: &Envelope,
        ack: &HelloAck,
        new_incarnation: bool,
    ) -> Option<PeerId> {
        let (reliable, inline_max) = (self.channel.is_reliable(), self.inline_max());
        let agreed = self.agreed(ack.features);
        let peer = self.peers.get_mut(id)?;
        peer.last_heard = Heard::at(now);
        peer.agree(agreed);
        peer.set_inline_max(inline_max, ack.immediate_max);
        let forgotten = peer.note_answer(from, new_incarnation, reliable);
        // The successor comes before the admission, because the new incarnation clears the
        // admission in the gate.
        if new_incarnation {
            self.take_up_successor(id, from.session);
        }
        // The peer may answer our requests before its own hello arrives. That hello may be lost, so
        // the answer alone admits the peer.
        self.admit(id);
        // The version is checked last. A peer with another version still runs, and its own hello is
        // still answered (S0-14).
        if ack.version != Some(VERSION) {
            self.hello_event(now, id, HelloEvent::Incompatible);
            self.send_handshake(now, id);
            return None;
        }
        let peer = self.peers.get_mut(id)?;
        // The answer names a later session than the one known here, so its hello was lost or is
        // late. The session is not counted: a count that starts in the middle would skip promised
        // requests. The sender finds that out from our messages and begins the next session
        // (S0-18).
        let promised = peer.is(PeerFlags::PROMISED | PeerFlags::ANEW);
        if (reliable || promised) && peer.is_later_session(from.session) {
            peer.forget_theirs(from.session);
        }
        if forgotten {
            // The peer does not count our session. The next session starts with no request in
            // flight. A request that is still in the channel keeps the number of this session, so
            // the peer can distinguish the two (decision 0017).
            peer.session = 0;
            self.resync(now, id);
            return None;
        }
        if !peer.count_answered(from.credits, ack.depth) {
            self.counters.count(Counter::BadCredits);
        }
        self.hello_event(now, id, HelloEvent::Answered);
        Some(id)
    }

    /// Takes up another incarnation, which an answer to our hello has proven. If the last noted
    /// hello is of that incarnation, its session is opened and the hello is answered. All other
    /// state belongs to the former incarnation.
    fn take_up_successor(&mut self, id: PeerId, session: u32) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        // The hello of any other incarnation was forgotten when this one was noted.
        let claim = peer.last_hello();
        let claimed = claim.fits();
        if claimed && claim.counts() {
            peer.open_theirs(claim.session, claim.sequence);
            // The marks protect requests of the former incarnation. No CANCEL can name these any
            // more.
            peer.flags.remove(PeerFlags::UNVERIFIED | PeerFlags::PROMISED | PeerFlags::ANEW);
        } else {
            // Without a usable hello there is no number to count from. The session is noted as
            // passed, so that no delayed hello of an earlier one opens it.
            peer.forget_theirs(session);
        }
        if claimed {
            self.peers.want(id, Wants::ACK);
        }
        // A transfer keeps the tag of the incarnation it was sent under. The sweep cancels those
        // with the former tag (decision 0004).
        self.slots.request_sweep();
        self.begin_incarnation(id);
    }
}
