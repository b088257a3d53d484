// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers: greeting them, being greeted, and what is said in the control lane beside answers.

use super::peer::Wants;
use super::Driver;
use crate::config::MAX_DEPTH;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{LinkId, Nid, PeerId};
use crate::message::{Envelope, Hello, HelloAck, Lane, Message};
use crate::peer::credits::{Ours, Theirs};
use crate::peer::{hello_step, HelloEffect, HelloEvent, HelloState};
use crate::ports::{Channel, Ports, Tracer};
use crate::time::Instant;
use crate::trace::Trace;

/// The wire version this driver speaks.
pub(super) const VERSION: u8 = 1;

impl<P: Ports> Driver<'_, P> {
    /// The platform, the prober or the operator says that a peer is down or up. Bounded; the
    /// cancellations are [`on_time`](Self::on_time)'s.
    pub fn on_peer(&mut self, now: Instant, nid: Nid, up: bool) {
        if let Some(peer) = self.peers.find(nid) {
            self.hello_event(now, peer, if up { HelloEvent::Up } else { HelloEvent::Down });
            self.greetings(now, peer);
        }
    }

    /// How far the greeting of a peer has come; `Unknown` if the id is stale.
    pub fn peer_state(&self, peer: PeerId) -> HelloState {
        let gate = self.peers.named(peer).and_then(|_| self.shared.peer_gate(peer.index()));
        gate.map_or(HelloState::Unknown, |gate| gate.view().state())
    }

    pub(super) fn take_up_peer(&mut self, nid: Nid) -> Option<PeerId> {
        let shared = self.shared;
        let peer = self.peers.add(nid, self.config.batch, |id, _| {
            let state = shared.peer_gate(id.index()).map(|g| g.view().state());
            matches!(state, Some(HelloState::Unknown | HelloState::Down))
        });
        match peer {
            Some(id) => {
                if let Some(gate) = shared.peer_gate(id.index()) {
                    gate.renew(id.generation());
                }
                if !seeded("place-keeps-timer") {
                    self.timers.disarm(self.config.slots + id.index() as u32);
                }
            }
            None => self.counters.count(Counter::PeersFull),
        }
        peer
    }

    /// Puts an event into a peer's greeting and does what the table says.
    pub(super) fn hello_event(&mut self, now: Instant, id: PeerId, event: HelloEvent) {
        let (Some(gate), Some(nid)) =
            (self.shared.peer_gate(id.index()), self.peers.get(id).and_then(|p| p.nid))
        else {
            return;
        };
        let before = gate.change(|view| view.on_hello(event));
        let (state, effect) = hello_step(before.state(), event);
        if state != before.state() {
            self.tracer.record(now, Trace::Peer { peer: nid, state });
            if let Some(peer) = self.peers.get_mut(id) {
                peer.revive_at = None;
            }
        }
        match effect {
            HelloEffect::Greet => self.greet(now, id, event != HelloEvent::TryAgain),
            HelloEffect::SweepAndGreet => {
                self.request_sweep();
                self.greet(now, id, true);
            }
            HelloEffect::Sweep => self.peer_is_down(now, id),
            // What waits is handed out by whoever brought the answer: see `on_message`.
            HelloEffect::Flush => self.timers.disarm(self.config.slots + id.index() as u32),
            HelloEffect::Ignored => {
                if event == HelloEvent::Answered {
                    self.counters.count(Counter::IgnoredHellos);
                }
            }
            HelloEffect::None => {}
        }
    }

    /// Sees that a peer is greeted if it has to be; returns `false` if it is down and it is too
    /// early to try again (R68).
    pub(super) fn seek(&mut self, now: Instant, id: PeerId) -> bool {
        // The usual case changes no gate: a locked operation and a full fence saved per submit.
        if self.peer_state(id) == HelloState::Good {
            return true;
        }
        if self.peer_state(id) == HelloState::Down {
            match self.peers.get(id).and_then(|p| p.revive_at) {
                Some(at) if at <= now => self.hello_event(now, id, HelloEvent::Up),
                Some(_) => return false,
                None => {
                    // An interrupt has declared it down.
                    self.peer_is_down(now, id);
                    return false;
                }
            }
        }
        self.hello_event(now, id, HelloEvent::Wanted);
        self.greetings(now, id);
        true
    }

    fn peer_is_down(&mut self, now: Instant, id: PeerId) {
        self.counters.count(Counter::PeersDown);
        self.request_sweep();
        self.timers.disarm(self.config.slots + id.index() as u32);
        let hold_off = self.config.hello_timeout.times(u32::from(self.config.hello_tries));
        if let Some(peer) = self.peers.get_mut(id) {
            peer.revive_at = Some(now.after(hold_off));
            peer.tries = 0;
            peer.wants.remove(Wants::HELLO | Wants::NOOP | Wants::FLUSH);
        }
    }

    /// Notes that a hello is to be said and arms its timer. A `fresh` one opens a new session. It is said
    /// by [`greetings`](Self::greetings), at the end of what led to it.
    #[inline]
    fn greet(&mut self, now: Instant, id: PeerId, fresh: bool) {
        if fresh {
            self.next_session = self.next_session.wrapping_add(1).max(1);
        }
        let session = self.next_session;
        if let Some(peer) = self.peers.get_mut(id) {
            if fresh {
                peer.session = session;
                peer.tries = 0;
            }
            peer.tries = peer.tries.saturating_add(1);
        }
        let timer = self.config.slots + id.index() as u32;
        self.timers.arm(timer, now.after(self.config.hello_timeout));
        self.peers.want(id, Wants::HELLO);
    }

    /// A peer's timer has run out: the hello's, or the credits', which is armed while there are none.
    pub(super) fn peer_timer(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(id) else { return };
        match self.peer_state(id) {
            HelloState::Greeting if peer.tries < self.config.hello_tries => {
                self.hello_event(now, id, HelloEvent::TryAgain);
            }
            HelloState::Greeting => self.hello_event(now, id, HelloEvent::Exhausted),
            HelloState::Good if peer.queue.is_empty() => {
                // Whoever waited has given up before the bound. The next one shall not wait for it
                // again: with deadlines shorter than the bound none would ever get through.
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.stalled = true;
                }
            }
            HelloState::Good => {
                // Every credit is gone and none comes back: whatever carried them is lost.
                self.counters.count(Counter::Resyncs);
                self.hello_event(now, id, HelloEvent::Resync);
            }
            _ => {}
        }
    }

    /// A hello: always answered (S0-14), whatever we think of the peer.
    pub(super) fn on_hello(&mut self, now: Instant, link: LinkId, from: &Envelope, hello: &Hello) {
        let Some(id) = self.peers.find(from.from).or_else(|| self.take_up_stranger(from.from))
        else {
            self.turn_hello_away(now, link, from);
            return;
        };
        if seeded("deaf-while-greeting") && self.peer_state(id) == HelloState::Greeting {
            return;
        }
        let fits = (hello.version_min..=hello.version_max).contains(&VERSION);
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.last_heard = now;
        peer.ack_life = Some(from.from_life);
        peer.ack_session = from.session;
        peer.ack_link = link.index() as u8;
        peer.ack_fits = fits;
        let former = peer.life;
        let new_life = former.is_some_and(|life| life != from.from_life);
        let newer = match peer.their_session {
            // Sessions of one life count up; a late repetition must not reopen an old one.
            Some(_) if seeded("old-hello-reopens") => true,
            Some(session) if seeded("sessions-do-not-wrap") && !new_life => from.session > session,
            Some(session) if !new_life => (from.session.wrapping_sub(session) as i32) > 0,
            _ => true,
        };
        if fits && newer {
            peer.doubted |= new_life || peer.their_session.is_none();
            peer.life = Some(from.from_life);
            peer.their_session = Some(from.session);
            peer.opened = peer.opened.wrapping_add(1);
            peer.theirs = Theirs::counting_from(self.config.counting_from);
            peer.features = hello.features;
            peer.immediate_max = hello.immediate_max;
        }
        if fits {
            self.admit(id, new_life);
            let event = if new_life { HelloEvent::HelloNewLife } else { HelloEvent::HelloSameLife };
            self.hello_event(now, id, event);
            if from.to_life.is_some_and(|life| life != self.me.life) {
                // It takes us for somebody earlier, so it has dropped what it knew of us.
                self.hello_event(now, id, HelloEvent::Resync);
            }
        }
        self.peers.want(id, Wants::ACK);
        self.greetings(now, id);
    }

    /// Admits a peer's present life; a new one first ends the former.
    fn admit(&mut self, id: PeerId, new_life: bool) {
        if new_life {
            self.counters.count(Counter::PeersRestarted);
        }
        if let Some(gate) = self.shared.peer_gate(id.index()) {
            gate.change(|view| {
                let view = if new_life { view.next_life() } else { view };
                view.with_admission(true)
            });
        }
    }

    /// The answer to a hello of ours. Returns the peer if what waits for it may be handed out now.
    pub(super) fn on_hello_ack(
        &mut self,
        now: Instant,
        from: &Envelope,
        ack: &HelloAck,
    ) -> Option<PeerId> {
        let id = self.peers.find(from.from);
        let Some((id, peer)) = id.and_then(|id| self.peers.get_mut(id).map(|p| (id, p))) else {
            self.counters.count(Counter::IgnoredHellos);
            return None;
        };
        let state = self.shared.peer_gate(id.index()).map(|g| g.view().state());
        let ours = from.to_life == Some(self.me.life)
            && (ack.session == peer.session || seeded("any-ack-will-do"));
        if !ours || state != Some(HelloState::Greeting) {
            self.counters.count(Counter::IgnoredHellos);
            return None;
        }
        if ack.depth == 0 {
            // It has no room for us and takes no note of us, so we learn nothing of it (S0-14).
            self.counters.count(Counter::NoRoom);
            self.hello_event(now, id, HelloEvent::Incompatible);
            return None;
        }
        peer.last_heard = now;
        let new_life = peer.life.is_some_and(|life| life != from.from_life);
        peer.life = Some(from.from_life);
        peer.features = ack.features;
        peer.immediate_max = ack.immediate_max;
        peer.ours = Ours::counting_from(ack.depth.min(MAX_DEPTH), self.config.counting_from);
        peer.stalled = false;
        peer.sequence = self.config.counting_from;
        peer.tries = 0;
        // An answer names the session that its sender has opened last.
        peer.doubted &= new_life || peer.their_session != Some(from.session);
        if new_life {
            // The answer to our own session proves who is there now; what greeted us was not it.
            peer.their_session = None;
            peer.opened = peer.opened.wrapping_add(1);
            self.request_sweep();
        }
        // It may answer our requests before its own hello, which may be lost, gets here.
        self.admit(id, new_life);
        let usable = ack.version == Some(VERSION);
        let event = if usable { HelloEvent::Answered } else { HelloEvent::Incompatible };
        self.hello_event(now, id, event);
        usable.then_some(id)
    }

    /// Says what there is to say to up to `budget` of the peers that wait now; those that must wait
    /// on go to the end.
    pub(super) fn speak(&mut self, now: Instant, budget: u32) {
        let last = self.peers.last_speaker();
        for _ in 0..budget {
            let Some(id) = self.peers.next_speaker() else { return };
            self.speak_to(now, id);
            if self.peers.get(id).is_some_and(|p| !p.wants.is_empty()) {
                self.peers.want(id, Wants::empty());
            }
            if Some(id) == last {
                return;
            }
        }
    }

    /// Says what there is to say to one peer, as far as the control lane has room.
    fn speak_to(&mut self, now: Instant, id: PeerId) {
        self.greetings(now, id);
        let wants = self.peers.get(id).map_or(Wants::empty(), |peer| peer.wants);
        if wants.contains(Wants::NOOP) && self.say_control(now, id, None, &Message::Noop) {
            self.unwant(id, Wants::NOOP);
        }
        if wants.contains(Wants::FLUSH) {
            self.unwant(id, Wants::FLUSH);
            self.flush(now, id);
        }
        if wants.contains(Wants::PULL) {
            self.unwant(id, Wants::PULL);
            self.next_pull(now, id);
        }
    }

    /// Says our hello and answers the peer's, where there is one to say or to answer. Ours first: what
    /// the answer sets free then names our session, and is believed at once. By the link by which theirs
    /// came.
    #[inline(never)]
    fn greetings(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(id) else { return };
        let (wants, came_by) = (peer.wants, peer.ack_link());
        let answers = wants.contains(Wants::ACK);
        if wants.contains(Wants::HELLO) {
            self.say_hello(now, id, came_by.filter(|_| answers));
        }
        if answers {
            self.say_ack(now, id, came_by);
        }
    }

    #[inline]
    fn say_hello(&mut self, now: Instant, id: PeerId, link: Option<LinkId>) {
        let hello = Hello {
            version_min: VERSION,
            version_max: VERSION,
            immediate_max: self.config.immediate_max.min(self.channel.immediate_max()),
            features: self.features(),
        };
        if self.say_control(now, id, link, &Message::Hello(hello)) {
            self.counters.count(Counter::Hellos);
            self.unwant(id, Wants::HELLO);
        }
    }

    fn say_ack(&mut self, now: Instant, id: PeerId, link: Option<LinkId>) {
        let Some(peer) = self.peers.get(id) else { return };
        let ack = HelloAck {
            session: peer.ack_session,
            version: peer.ack_fits.then_some(VERSION),
            depth: self.config.depth,
            immediate_max: self.config.immediate_max.min(self.channel.immediate_max()),
            features: self.features(),
        };
        if self.say_control(now, id, link, &Message::HelloAck(ack)) {
            self.unwant(id, Wants::ACK);
        }
    }

    /// What all of our engines can do: what we announce, and therefore go by.
    pub(super) fn features(&self) -> u32 {
        self.links.iter().fold(u32::MAX, |all, link| all & link.features.0)
    }

    fn unwant(&mut self, id: PeerId, wants: Wants) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.wants.remove(wants);
        }
    }

    /// Sends a message that belongs to no transfer, if there is a link and room. By the link given
    /// if it is open, else by any.
    pub(super) fn say_control(
        &mut self,
        now: Instant,
        id: PeerId,
        link: Option<LinkId>,
        message: &Message<'_>,
    ) -> bool {
        let Some(nid) = self.peers.get(id).and_then(|p| p.nid) else { return true };
        let link = self.open_link(link).or_else(|| self.open_link(None));
        let Some(link) = link else { return false };
        if !self.channel.ready(link, nid, Lane::Control) {
            return false;
        }
        let Some(mut envelope) = self.envelope(id, Lane::Control) else { return true };
        if matches!(message, Message::HelloAck(_)) {
            // To whoever has asked: a life with another version is not taken up as the peer's.
            envelope.to_life = self.peers.get(id).and_then(|peer| peer.ack_life);
        }
        let hello = matches!(message, Message::Hello(_));
        let tag = if hello { self.name_hello(id, link) } else { None };
        let sent = self.channel.send(link, &envelope, message, tag);
        self.after_sending(now, link, &envelope, Lane::Control, sent.is_ok());
        if let (Ok(Some(ended)), Some(tag)) = (sent, tag) {
            self.on_sent(now, tag, ended);
        }
        sent.is_ok()
    }
}
