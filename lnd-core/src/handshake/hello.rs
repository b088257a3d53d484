// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles hellos of peers, which are always answered (S0-14).

use super::control::VERSION;
use crate::base::counters::Counter;
use crate::base::id::{Incarnation, LinkId, PeerId};
use crate::base::message::{Envelope, Hello};
use crate::base::time::Instant;
use crate::machines::peer::{HelloEvent, HelloState};
use crate::peers::{Heard, LastHello, PeerFlags, Wants};
use crate::ports::{Channel, Ports};
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// Handles a hello. It is always answered, in every state of the peer (S0-14).
    pub(crate) fn on_hello(&mut self, now: Instant, link: LinkId, from: &Envelope, hello: &Hello) {
        // A node that names our incarnation has been in contact with us. Requests of ours may lie
        // in its channel, so it may displace an idle peer (decision 0019).
        let promised =
            self.channel.is_reliable() && from.to_incarnation == Some(self.me.incarnation);
        let known = self.peers.find(from.from);
        let Some(id) = known.or_else(|| self.take_up_stranger(now, from.from, promised)) else {
            self.refuse_hello(now, link, from, hello);
            return;
        };
        let fits = (hello.version_min..=hello.version_max).contains(&VERSION);
        let reliable = self.channel.is_reliable();
        // The session is under way, yet it is unknown here: the peer was forgotten for want of
        // room. Requests of it may still lie in the channel, and the hello's number would skip
        // them. The answer shows that the session is not counted. The sender then begins the next
        // one (decision 0018).
        let begun = from.sequence != self.config.counting_from;
        let counts = !(begun && from.to_incarnation == Some(self.me.incarnation) && reliable);
        let it = LastHello::of(from, hello, link, (fits, counts));
        let Some(peer) = self.peers.get(id) else { return };
        if reliable && peer.closed() == Some(from.from_incarnation) {
            // The hello was delayed behind its sender's goodbye. Its sender accepts no answer any
            // more.
            self.counters.count(Counter::Early);
            return;
        }
        let new_incarnation =
            peer.incarnation().is_some_and(|incarnation| incarnation != from.from_incarnation);
        // An incarnation that has answered is not replaced by a hello alone. The hello may be
        // delayed, and a replacement would cancel the transfers of the present incarnation
        // (decision 0018).
        if fits && new_incarnation && peer.is(PeerFlags::PROVEN) {
            self.on_claim(now, id, from.from_incarnation, it);
        } else {
            self.take_hello(now, id, from, hello, it, new_incarnation);
        }
    }

    /// Takes a hello of the known incarnation, or of one that may replace it.
    fn take_hello(
        &mut self,
        now: Instant,
        id: PeerId,
        from: &Envelope,
        hello: &Hello,
        it: LastHello,
        new_incarnation: bool,
    ) {
        let (fits, reliable) = (it.fits(), self.channel.is_reliable());
        let (me, state) = (self.me.incarnation, self.peers.state(id));
        let lasting = !self.links.safe_invalidate();
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.last_heard = Heard::at(now);
        // `LATEST` lets requests of earlier incarnations be dropped. A new incarnation has not
        // shown that it is the latest one.
        peer.keep_if(PeerFlags::LATEST, !(fits && new_incarnation));
        let newer = new_incarnation || peer.may_open(from.session);
        // After an answered CANCEL nothing is pulled any more. A session that is opened a second
        // time has an empty window and would break that promise (decision 0029).
        let counts = it.counts() && !(lasting && peer.is_promised(from.session, new_incarnation));
        let late = !newer && peer.counted_session() != Some(from.session);
        // The peer names an earlier incarnation of ours, or it does not count our session. It may
        // have forgotten us. Our hello finds out.
        let forgot_us = from.to_incarnation.is_some_and(|incarnation| incarnation != me)
            || !late && peer.ours.depth() > 0 && from.credits_of != peer.session;
        if forgot_us && reliable && from.to_incarnation.is_some() {
            // The peer waits for our hello, which opens our session there. The tries start again,
            // so the attempt lasts as long as the peer asks.
            peer.tries = 0;
        }
        // Our hello may have reached a predecessor of this incarnation: see `on_hello_ack`.
        if fits && peer.incarnation().is_none() && state == HelloState::Handshake {
            peer.flags.insert(PeerFlags::OVERHEARD);
        }
        if fits && newer {
            peer.set_incarnation(from.from_incarnation);
        }
        // A delayed hello must not replace the one whose answer is still to be sent. The peer does
        // not accept the answer to the delayed one.
        let answered_first = late && peer.wants.contains(Wants::ACK);
        if !answered_first && !peer.note_hello(from.from_incarnation, it) {
            // The versions do not meet, and there is no room to keep the hello until it is
            // answered. To its sender we are down, as after an answer.
            self.counters.count(Counter::Early);
            return;
        }
        if fits && newer && !counts {
            peer.forget_theirs(from.session);
        } else if fits && newer {
            self.open_session(id, from, new_incarnation);
        }
        if fits {
            self.go_on(id, from, hello);
            self.meet(now, id, new_incarnation, forgot_us);
        }
        self.peers.want(id, Wants::ACK);
        self.send_handshake(now, id);
    }

    /// What this side and a peer that has announced `theirs` can both do.
    pub(super) fn agreed(&self, theirs: u32) -> PeerFlags {
        let mut agreed = PeerFlags::empty();
        agreed.set(PeerFlags::SIGNALLED, self.links.signalled(theirs));
        agreed.set(PeerFlags::CANCELS, self.links.cancels(theirs));
        agreed.set(PeerFlags::PUSHES, self.links.pushes(theirs));
        agreed
    }

    /// Opens the session of a hello.
    fn open_session(&mut self, id: PeerId, from: &Envelope, new_incarnation: bool) {
        let proven = self.channel.is_reliable() && self.peers.state(id) == HelloState::Good;
        let lasting = !self.links.safe_invalidate();
        let Some(peer) = self.peers.get_mut(id) else { return };
        // An incarnation that has answered our hello is the present one. The hello of any other may
        // be a delayed copy, so its requests wait until it has answered (decision 0016).
        let unknown = new_incarnation || !peer.is(PeerFlags::COUNTED);
        if unknown && (new_incarnation || !proven) {
            peer.flags.insert(PeerFlags::UNVERIFIED);
        }
        if lasting {
            peer.note_opening(from.session, new_incarnation);
        }
        peer.open_theirs(from.session, from.sequence);
    }

    /// Carries out what the hello of an incarnation means for our handshake with it.
    fn meet(&mut self, now: Instant, id: PeerId, new_incarnation: bool, forgot_us: bool) {
        let mut event = HelloEvent::HelloSameIncarnation;
        if new_incarnation {
            // The tag changes before the event requests its sweep. Transfers of the former
            // incarnation then differ from the gate, and the sweep finds them.
            self.begin_incarnation(id);
            event = HelloEvent::HelloNewIncarnation;
        }
        self.hello_event(now, id, event);
        self.admit(id);
        if forgot_us && self.peers.state(id) == HelloState::Good {
            self.hello_event(now, id, HelloEvent::Resync);
        }
    }

    /// Notes a hello of an incarnation other than the one that has answered ours. It is the
    /// successor's, or it is delayed. Incarnations are not ordered, so our hello asks which one
    /// runs. The answer of the successor opens the noted session
    /// (docs/decisions/0018-successors.md).
    fn on_claim(&mut self, now: Instant, id: PeerId, of: Incarnation, mut claim: LastHello) {
        let asking = self.peers.state(id) == HelloState::Handshake;
        let Some(peer) = self.peers.get_mut(id) else { return };
        let before = peer.last_hello();
        let again = peer.hello_of() == Some(of);
        if again {
            // The hello is a repetition, or a delayed one of an earlier session. The sessions of
            // one incarnation are ordered, so the later session wins while our hello asks. Once the
            // known incarnation has answered, the noted hello is refuted. A forged one with a high
            // number would otherwise turn away every hello of the successor, for ever.
            match { claim.session }.wrapping_sub(before.session) as i32 {
                0 => claim.count_as(&before),
                ..0 if asking => return,
                _ => {}
            }
        }
        // Without room for it the hello counts as lost, and our hello asks all the same.
        let noted = peer.note_hello(of, claim);
        // The hello of the known incarnation is not answered now. If that incarnation runs, it
        // repeats its hello.
        peer.wants.remove(Wants::ACK);
        // A repetition of the same claim must not start a new attempt: the answer to the current
        // one may already be on its way.
        if !again && noted || !asking {
            self.hello_event(now, id, HelloEvent::Claimed);
        }
        self.send_handshake(now, id);
    }

    /// Notes what the sender of a hello can do. If its session is counted here, applies what the
    /// sender gave up, and takes over the sender's number where this side has lost count.
    fn go_on(&mut self, id: PeerId, from: &Envelope, hello: &Hello) {
        let reliable = self.channel.is_reliable();
        let (inline_max, agreed) = (self.inline_max(), self.agreed(hello.features));
        let Some(peer) = self.peers.get_mut(id) else { return };
        // A session that was opened by a noted hello has left open what its sender can do.
        peer.agree(agreed);
        peer.set_inline_max(inline_max, hello.immediate_max);
        if peer.counted_session() != Some(from.session) {
            return;
        }
        if peer.theirs.is_behind(from.sequence) {
            if reliable {
                // Promised requests may still lie in the channel, so the window must not jump over
                // them. The sender begins the next session (S0-18).
                self.give_up_session(id, from.session);
                return;
            }
            peer.open_theirs(from.session, from.sequence);
        }
        match peer.theirs.give_up(from.sequence, hello.given_up, reliable) {
            Some(lost) => self.counters.add(Counter::LostRequests, u64::from(lost)),
            // A request that still arrives is then accepted as one of a former session (decision
            // 0017).
            None => self.give_up_session(id, from.session),
        }
    }

    /// Ends a session that was counted. Its sender begins the next one.
    pub(crate) fn give_up_session(&mut self, id: PeerId, session: u32) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.forget_theirs(session);
        // A CANCEL may have been answered in this session, and its window is gone: see `PROMISED`.
        if !self.links.safe_invalidate() {
            peer.flags.insert(PeerFlags::PROMISED);
        }
    }

    /// Ends everything of the peer's former incarnation.
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
