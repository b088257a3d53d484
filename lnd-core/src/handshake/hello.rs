// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hellos of peers: always answered (S0-14).

use super::control::VERSION;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId};
use crate::base::message::{Envelope, Hello};
use crate::base::time::Instant;
use crate::machines::peer::{HelloEvent, HelloState};
use crate::peers::{LastHello, PeerFlags, Wants};
use crate::ports::{Channel, Ports};
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// A hello: always answered (S0-14), whatever we think of the peer.
    pub(crate) fn on_hello(&mut self, now: Instant, link: LinkId, from: &Envelope, hello: &Hello) {
        // Requests of ours may lie in its channel, if it knows us.
        let promised =
            self.channel.is_reliable() && from.to_incarnation == Some(self.me.incarnation);
        let known = self.peers.find(from.from);
        let Some(id) = known.or_else(|| self.take_up_stranger(now, from.from, promised)) else {
            self.refuse_hello(now, link, from, hello);
            return;
        };
        let fits = (hello.version_min..=hello.version_max).contains(&VERSION);
        let reliable = self.channel.is_reliable();
        let state = self.peers.state(id);
        let proven = reliable && state == HelloState::Good;
        // A session under way with us: if we do not know it, requests of it may still lie in the channel. Our
        // answer says that we do not count it, and the next session is the first that we count.
        let begun = from.sequence != self.config.counting_from;
        let counts = !(begun && from.to_incarnation == Some(self.me.incarnation) && reliable);
        let it = LastHello::of(from, hello, link, (fits, counts));
        let (inline_max, signalled) = (self.inline_max(), self.links.signalled(hello.features));
        let cancels = self.links.cancels(hello.features);
        let Some(peer) = self.peers.get_mut(id) else { return };
        if reliable && peer.closed == Some(from.from_incarnation) {
            // It comes late, and its sender takes no answer any more.
            self.counters.count(Counter::Early);
            return;
        }
        let new_incarnation =
            peer.incarnation.is_some_and(|incarnation| incarnation != from.from_incarnation);
        if fits && new_incarnation && peer.is(PeerFlags::PROVEN) {
            self.on_claim(now, id, it);
            return;
        }
        peer.last_heard = now;
        peer.keep_if(PeerFlags::LATEST, !(fits && new_incarnation));
        let unknown = new_incarnation || !peer.is(PeerFlags::COUNTED);
        let newer = new_incarnation || peer.may_open(from.session);
        let lasting = !self.links.safe_invalidate();
        let counts = counts && !(lasting && peer.is_promised(from.session, new_incarnation));
        let late = !newer && peer.counted_session() != Some(from.session);
        // It does not take the answer of the present one.
        if !(late && peer.wants.contains(Wants::ACK)) {
            peer.last_hello = it;
        }
        // It takes us for an earlier incarnation, or it does not count our session: it may have
        // forgotten us, and its answer to our hello tells.
        let forgot_us =
            from.to_incarnation.is_some_and(|incarnation| incarnation != self.me.incarnation)
                || !late && peer.ours.depth() > 0 && from.credits_of != peer.session;
        if forgot_us && reliable && from.to_incarnation.is_some() {
            // It asks for our session, which our hello opens: that is not given up while it asks.
            peer.tries = 0;
        }
        if fits && peer.incarnation.is_none() && state == HelloState::Handshake {
            peer.flags.insert(PeerFlags::OVERHEARD);
        }
        if fits && newer && !counts {
            peer.incarnation = Some(from.from_incarnation);
            peer.forget_theirs(from.session);
        } else if fits && newer {
            // An incarnation that has answered our hello is the present one.
            if unknown && (new_incarnation || !proven) {
                peer.flags.insert(PeerFlags::UNVERIFIED);
            }
            if lasting {
                peer.note_opening(from.session, new_incarnation);
            }
            peer.incarnation = Some(from.from_incarnation);
            peer.open_theirs(from.session, from.sequence);
            peer.flags.set(PeerFlags::SIGNALLED, signalled);
            peer.flags.set(PeerFlags::CANCELS, cancels);
            peer.inline_max = inline_max.min(hello.immediate_max);
        }
        if fits {
            self.go_on(id, from, hello);
            if new_incarnation {
                self.begin_incarnation(id);
            }
            let event = if new_incarnation {
                HelloEvent::HelloNewIncarnation
            } else {
                HelloEvent::HelloSameIncarnation
            };
            self.hello_event(now, id, event);
            self.admit(id);
            if forgot_us && self.peers.state(id) == HelloState::Good {
                self.hello_event(now, id, HelloEvent::Resync);
            }
        }
        self.peers.want(id, Wants::ACK);
        self.send_handshake(now, id);
    }

    /// A hello of another incarnation than the one that has answered ours: its successor's, or a late one.
    /// Incarnations are not ordered, so our hello asks who is there. If it is the successor, that is taken
    /// up with the session that is noted here, and answered (docs/decisions/0018-successors.md).
    fn on_claim(&mut self, now: Instant, id: PeerId, mut claim: LastHello) {
        let invalidating = self.peers.state(id) == HelloState::Handshake;
        let Some(peer) = self.peers.get_mut(id) else { return };
        let before = peer.last_hello;
        let again = { before.incarnation } == { claim.incarnation };
        if again {
            // A repetition; or a late one, of a session that its successor has replaced.
            match { claim.session }.wrapping_sub(before.session) as i32 {
                0 => claim.count_as(&before),
                1.. => {}
                _ => return,
            }
        }
        peer.last_hello = claim;
        // What the known one has said is not answered now; if it is there, it asks again.
        peer.wants.remove(Wants::ACK);
        if !again || !invalidating {
            self.hello_event(now, id, HelloEvent::Claimed);
        }
        self.send_handshake(now, id);
    }

    /// A hello of the session that we know: takes what its sender gives up, and its number where we
    /// have lost count.
    fn go_on(&mut self, id: PeerId, from: &Envelope, hello: &Hello) {
        let reliable = self.channel.is_reliable();
        let Some(peer) = self.peers.get_mut(id) else { return };
        if peer.counted_session() != Some(from.session) {
            return;
        }
        if peer.theirs.is_behind(from.sequence) {
            if reliable {
                // What was promised may lie in the channel. The sender begins the next session.
                self.give_up_session(id, from.session);
                return;
            }
            peer.open_theirs(from.session, from.sequence);
        }
        match peer.theirs.give_up(from.sequence, hello.given_up, reliable) {
            Some(lost) => self.counters.add(Counter::LostRequests, u64::from(lost)),
            // What is late is taken as a request of a session before the next one.
            None => self.give_up_session(id, from.session),
        }
    }

    /// A session that was counted is not any more. Its sender begins the next one.
    pub(crate) fn give_up_session(&mut self, id: PeerId, session: u32) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.forget_theirs(session);
        if !self.links.safe_invalidate() {
            peer.flags.insert(PeerFlags::PROMISED);
        }
    }

    /// What the peer's former incarnation had is over.
    pub(crate) fn begin_incarnation(&mut self, id: PeerId) {
        self.counters.count(Counter::PeersRestarted);
        if let Some(gate) = self.peers.gate(id) {
            gate.change(|view| view.next_incarnation());
        }
    }

    /// Admits a peer's present incarnation.
    pub(crate) fn admit(&mut self, id: PeerId) {
        if let Some(gate) = self.peers.gate(id) {
            gate.change(|view| view.with_admission(true));
        }
    }
}
