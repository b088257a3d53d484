// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers: greeting them, being greeted, and what is said in the control lane beside answers.

use super::peer::{LastHello, Wants};
use super::places::more_hold_off;
use super::Driver;
use crate::config::MAX_DEPTH;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{LinkId, Nid, PeerId};
use crate::message::{Envelope, Hello, HelloAck, Lane, Message};
use crate::peer::credits::Ours;
use crate::peer::{hello_step, HelloEffect, HelloEvent, HelloState};
use crate::ports::{Channel, Ports, Tracer};
use crate::time::{Instant, Span};
use crate::trace::Trace;

/// The wire version this driver speaks.
pub(super) const VERSION: u8 = 1;

/// Stalls in a row after which the session begins anew.
const FRUITLESS: u8 = 16;

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
            let peer = self.peers.get_mut(id);
            let parked = peer.is_some_and(|peer| {
                peer.revive_at = None;
                peer.parked != 0
            });
            self.offer = true;
            self.places.may_be_free();
            if state == HelloState::Unknown && parked && !seeded("parked-not-asked-for") {
                self.peers.want(id, Wants::ASK);
            }
        }
        match effect {
            HelloEffect::Greet => self.greet(now, id, event),
            HelloEffect::SweepAndGreet => {
                self.request_sweep();
                self.greet(now, id, event);
            }
            HelloEffect::Sweep => self.peer_is_down(now, id, event),
            HelloEffect::FailQueue => {
                self.request_sweep();
                self.unwant(id, Wants::HELLO);
            }
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
                    self.peer_is_down(now, id, HelloEvent::Down);
                    return false;
                }
            }
        }
        self.hello_event(now, id, HelloEvent::Wanted);
        self.greetings(now, id);
        true
    }

    /// A request of a peer's known incarnation has come, and the peer is not admitted: we took it for
    /// down, perhaps wrongly, and it does not know. The request stays in the channel, since its sender
    /// may have been told OK (S0-18); a hello tells the peer, and its answer admits it (LU-16214). After
    /// a silence the hold-off goes first, and doubles with each: what lies in the channel is no news.
    pub(super) fn revive(&mut self, now: Instant, id: PeerId) {
        match self.peer_state(id) {
            HelloState::Greeting | HelloState::Good => return,
            HelloState::Unknown => self.hello_event(now, id, HelloEvent::Wanted),
            HelloState::Down => {
                let Some(peer) = self.peers.get(id) else { return };
                let (noticed, silences) = (peer.revive_at, peer.silences);
                let more = more_hold_off(self.hold_off(), silences);
                match noticed.map(|at| at.after(more)) {
                    // An interrupt has declared it down.
                    None => self.peer_is_down(now, id, HelloEvent::Down),
                    Some(at) if silences > 0 && at > now => {
                        // The request will not come again by itself.
                        self.timers.arm(self.config.slots + id.index() as u32, at);
                        return;
                    }
                    Some(_) => {}
                }
                self.hello_event(now, id, HelloEvent::HelloSameLife);
            }
        }
        self.greetings(now, id);
    }

    /// Asks a peer for its count, and tells it ours.
    pub(super) fn resync(&mut self, now: Instant, id: PeerId) {
        self.hello_event(now, id, HelloEvent::Resync);
        self.greetings(now, id);
    }

    /// How long a peer that is down is not asked again (R68).
    pub(super) fn hold_off(&self) -> Span {
        self.config.hello_timeout.times(u32::from(self.config.hello_tries))
    }

    fn peer_is_down(&mut self, now: Instant, id: PeerId, event: HelloEvent) {
        self.counters.count(Counter::PeersDown);
        self.request_sweep();
        self.timers.disarm(self.config.slots + id.index() as u32);
        let hold_off = self.hold_off();
        if let Some(peer) = self.peers.get_mut(id) {
            peer.revive_at = Some(now.after(hold_off));
            let silent = event == HelloEvent::Exhausted;
            let refused = event == HelloEvent::Incompatible && !seeded("refused-and-asked-again");
            peer.silences = if silent || refused { peer.silences.saturating_add(1) } else { 0 };
            // Two sides that ask for incarnations which are not there would wait for each other.
            peer.proven &= !silent || seeded("proof-outlives-silence");
            peer.tries = 0;
            peer.wants.remove(Wants::HELLO | Wants::NOOP | Wants::FLUSH);
        }
    }

    /// Notes that a hello is to be sent and arms its timer. It is sent by
    /// [`greetings`](Self::greetings), at the end of what led to it. The session goes on: a new one
    /// begins with the first hello to an incarnation. While none of our links is open no try counts.
    #[inline]
    fn greet(&mut self, now: Instant, id: PeerId, event: HelloEvent) {
        let counts = u8::from(self.any_link_open() || seeded("own-links-blame-the-peer"));
        let reliable = self.channel.is_reliable();
        let without = self.peers.get(id).is_some_and(|peer| peer.session == 0);
        if without || event == HelloEvent::HelloNewLife {
            self.begin_session(id);
        }
        let Some(peer) = self.peers.get_mut(id) else { return };
        if event != HelloEvent::TryAgain {
            peer.tries = 0;
            peer.attempt = peer.attempt.wrapping_add(1);
            peer.overheard = false;
            // The same in each hello of the attempt: its answer says that they were taken note of. Where
            // the channel may lose what it called sent, a stall may mean that all in flight is lost.
            let stalled = peer.fruitless > 0 && (!reliable || seeded("resync-gives-up-all"));
            let lost = if stalled { peer.in_flight() } else { 0 };
            peer.announced = peer.given_up | lost;
        }
        peer.tries = peer.tries.saturating_add(counts);
        peer.postponed = false;
        let timer = self.config.slots + id.index() as u32;
        self.timers.arm(timer, now.after(self.config.hello_timeout));
        self.peers.want(id, Wants::HELLO);
    }

    /// Begins our session with a peer anew; the next hello says so.
    pub(super) fn begin_session(&mut self, id: PeerId) {
        self.next_session = self.next_session.wrapping_add(1).max(1);
        if let Some(peer) = self.peers.get_mut(id) {
            peer.begin_session(self.next_session, self.config.counting_from);
        }
    }

    /// A peer's timer has run out: the hello's, or the credits', which is armed while there are none.
    pub(super) fn peer_timer(&mut self, now: Instant, due: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(id) else { return };
        if self.was_away(now, due) && !peer.postponed {
            let greeting = self.peer_state(id) == HelloState::Greeting;
            let bound = if greeting { self.config.hello_timeout } else { self.config.credit_stall };
            self.timers.arm(self.config.slots + id.index() as u32, now.after(bound));
            if let Some(peer) = self.peers.get_mut(id) {
                peer.postponed = true;
            }
            return;
        }
        match self.peer_state(id) {
            HelloState::Greeting
                if !self.any_link_open() && !seeded("own-links-blame-the-peer") =>
            {
                self.hello_event(now, id, HelloEvent::NoLink);
            }
            HelloState::Greeting if peer.tries < self.config.hello_tries => {
                self.hello_event(now, id, HelloEvent::TryAgain);
            }
            HelloState::Greeting => self.hello_event(now, id, HelloEvent::Exhausted),
            HelloState::Good if peer.told && self.channel.is_reliable() && !seeded("told-once") => {
                self.hello_event(now, id, HelloEvent::Resync);
            }
            HelloState::Good if peer.queue.is_empty() => {
                // Whoever waited has given up before the bound. The next one shall not wait for it
                // again: with deadlines shorter than the bound none would ever get through.
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.stalled = true;
                }
            }
            HelloState::Good => {
                // Every credit is gone and none comes back: the receiver is slow, or what carried
                // them is lost. The answer to a hello tells which.
                self.counters.count(Counter::Resyncs);
                self.count_stall(id);
                self.hello_event(now, id, HelloEvent::Resync);
            }
            // Armed by a request that waits in the channel: see `revive`.
            HelloState::Down if peer.parked != 0 || seeded("down-peer-greeted") => {
                self.hello_event(now, id, HelloEvent::HelloSameLife);
            }
            HelloState::Down | HelloState::Unknown => {}
        }
    }

    /// Counts a stall. After many in a row the two sides count differently: a late hello of a session's
    /// begin, behind one of a former incarnation, does that. A new session makes it good, and loses
    /// nothing where the channel does not; the receiver's own cap bounds what it takes (INV-12).
    fn count_stall(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.fruitless = peer.fruitless.saturating_add(1);
        if peer.fruitless >= FRUITLESS {
            peer.session = 0;
            peer.fruitless = 0;
        }
    }

    /// A hello: always answered (S0-14), whatever we think of the peer.
    pub(super) fn on_hello(&mut self, now: Instant, link: LinkId, from: &Envelope, hello: &Hello) {
        // Requests of ours may lie in its channel, if it knows us.
        let promised = self.channel.is_reliable() && from.to_life == Some(self.me.life);
        let known = self.peers.find(from.from);
        let Some(id) = known.or_else(|| self.take_up_stranger(now, from.from, promised)) else {
            self.turn_hello_away(now, link, from, hello);
            return;
        };
        if seeded("deaf-while-greeting") && self.peer_state(id) == HelloState::Greeting {
            return;
        }
        let fits = (hello.version_min..=hello.version_max).contains(&VERSION);
        let reliable = self.channel.is_reliable();
        let state = self.peer_state(id);
        let proven = reliable && state == HelloState::Good;
        // A session under way with us: if we do not know it, requests of it may still lie in the channel. Our
        // answer says that we do not count it, and the next session is the first that we count.
        let begun = from.sequence != self.config.counting_from;
        let counts = !(begun && from.to_life == Some(self.me.life) && reliable);
        let it = LastHello::of(from, hello, link, (fits, counts));
        let Some(peer) = self.peers.get_mut(id) else { return };
        if reliable && peer.closed == Some(from.from_life) && !seeded("hello-after-goodbye") {
            // It comes late, and its sender takes no answer any more.
            self.counters.count(Counter::Early);
            return;
        }
        let new_life = peer.life.is_some_and(|life| life != from.from_life);
        if fits && new_life && peer.proven && !seeded("successor-not-asked") {
            self.on_claim(now, id, it);
            return;
        }
        peer.last_heard = now;
        let unknown = new_life || !peer.counted;
        let newer = new_life || peer.may_open(from.session);
        let late = !newer && peer.counted_session() != Some(from.session);
        // It does not take the answer of the present one.
        if !(late && peer.wants.contains(Wants::ACK)) || seeded("late-hello-takes-the-answer") {
            peer.last_hello = it;
        }
        // It takes us for an earlier incarnation, or it does not count our session: it may have
        // forgotten us, and its answer to our hello tells.
        let forgot_us = from.to_life.is_some_and(|life| life != self.me.life)
            || !late && peer.ours.depth() > 0 && from.credits_of != peer.session;
        if forgot_us && reliable && from.to_life.is_some() && !seeded("asked-and-silent") {
            // It asks for our session, which our hello opens: that is not given up while it asks.
            peer.tries = 0;
        }
        peer.overheard |= fits && peer.life.is_none() && state == HelloState::Greeting;
        if fits && newer && !counts {
            peer.life = Some(from.from_life);
            peer.forget_theirs(from.session);
        } else if fits && newer {
            // An incarnation that has answered our hello is the present one.
            peer.doubted |= unknown && (new_life || !proven);
            peer.life = Some(from.from_life);
            peer.open_theirs(from.session, from.sequence);
            peer.features = hello.features;
            peer.immediate_max = hello.immediate_max;
        }
        if fits {
            self.go_on(id, from, hello);
            if new_life {
                self.begin_incarnation(id);
            }
            let event = if new_life { HelloEvent::HelloNewLife } else { HelloEvent::HelloSameLife };
            self.hello_event(now, id, event);
            self.admit(id);
            if forgot_us && self.peer_state(id) == HelloState::Good {
                self.hello_event(now, id, HelloEvent::Resync);
            }
        }
        self.peers.want(id, Wants::ACK);
        self.greetings(now, id);
    }

    /// A hello of another incarnation than the one that has answered ours: its successor's, or a late one.
    /// Incarnations are not ordered, so our hello asks who is there. If it is the successor, that is taken
    /// up with the session that is noted here, and answered (docs/decisions/0018-successors.md).
    fn on_claim(&mut self, now: Instant, id: PeerId, mut claim: LastHello) {
        let asked = self.peer_state(id) == HelloState::Greeting;
        let Some(peer) = self.peers.get_mut(id) else { return };
        let before = peer.last_hello;
        let again = before.life == claim.life;
        if again {
            // A repetition; or a late one, of a session that its successor has replaced.
            match claim.session.wrapping_sub(before.session) as i32 {
                0 => (claim.sequence, claim.counts) = (before.sequence, before.counts),
                1.. => {}
                _ => return,
            }
        }
        peer.last_hello = claim;
        // What the known one has said is not answered now; if it is there, it asks again.
        peer.wants.remove(Wants::ACK);
        if !again || !asked {
            self.hello_event(now, id, HelloEvent::Claimed);
        }
        self.greetings(now, id);
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
            peer.open_theirs(from.session, from.sequence);
        }
        match peer.theirs.give_up(from.sequence, hello.given_up, reliable) {
            Some(lost) => self.counters.add(Counter::LostRequests, u64::from(lost)),
            // What is late is taken as a request of a session before the next one.
            None => peer.forget_theirs(from.session),
        }
    }

    /// What the peer's former incarnation had is over.
    fn begin_incarnation(&mut self, id: PeerId) {
        self.counters.count(Counter::PeersRestarted);
        if let Some(gate) = self.shared.peer_gate(id.index()) {
            gate.change(|view| view.next_life());
        }
    }

    /// Admits a peer's present incarnation.
    fn admit(&mut self, id: PeerId) {
        if let Some(gate) = self.shared.peer_gate(id.index()) {
            gate.change(|view| view.with_admission(true));
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
        let reliable = self.channel.is_reliable();
        let Some((id, peer)) = id.and_then(|id| self.peers.get_mut(id).map(|p| (id, p))) else {
            self.counters.count(Counter::IgnoredHellos);
            return None;
        };
        let state = self.shared.peer_gate(id.index()).map(|g| g.view().state());
        let ours = from.to_life == Some(self.me.life)
            && (ack.session == peer.session || seeded("any-ack-will-do"));
        let current = ack.attempt == peer.attempt || seeded("any-ack-will-do");
        if !ours || !current || state != Some(HelloState::Greeting) {
            self.counters.count(Counter::IgnoredHellos);
            let known = peer.life == Some(from.from_life);
            if ours
                && state == Some(HelloState::Down)
                && known
                && (!peer.has_closed() || seeded("goodbye-forgotten"))
            {
                // It answers late, so it is there: a wrong verdict ends here, not with the hold-off.
                self.hello_event(now, id, HelloEvent::HelloSameLife);
                self.greetings(now, id);
            }
            return None;
        }
        let new_life = peer.life.is_some_and(|life| life != from.from_life);
        if new_life && peer.overheard && !seeded("predecessor-answers") {
            // We asked before its successor, or a late hello, was heard; the next answer is the present
            // one's.
            self.counters.count(Counter::IgnoredHellos);
            self.hello_event(now, id, HelloEvent::Claimed);
            self.greetings(now, id);
            return None;
        }
        if ack.depth == 0 {
            // It has no room for us and takes no note of us, so we learn nothing of it (S0-14). But where a
            // request of its incarnation waits, our next hello says so by naming that.
            self.counters.count(Counter::NoRoom);
            if peer.parked != 0 && !seeded("refusal-tells-nothing") {
                peer.life = Some(from.from_life);
                if new_life {
                    self.take_up_successor(id, from.session);
                }
            }
            self.hello_event(now, id, HelloEvent::Incompatible);
            return None;
        }
        peer.last_heard = now;
        peer.life = Some(from.from_life);
        peer.features = ack.features;
        peer.immediate_max = ack.immediate_max;
        peer.stalled = false;
        peer.silences = 0;
        peer.tries = 0;
        peer.proven = true;
        // An answer names the session that its sender has opened last. Where no hello comes twice, any
        // session of an incarnation that answers is its own.
        let other = new_life || peer.counted_session() != Some(from.session);
        peer.doubted &= other && !reliable;
        let begun = peer.ours.depth() > 0;
        let forgotten = begun && (new_life || from.credits_of != peer.session);
        if new_life {
            self.take_up_successor(id, from.session);
        }
        // It may answer our requests before its own hello, which may be lost, gets here.
        self.admit(id);
        if ack.version != Some(VERSION) {
            self.hello_event(now, id, HelloEvent::Incompatible);
            self.greetings(now, id);
            return None;
        }
        let peer = self.peers.get_mut(id)?;
        if reliable && peer.is_news(from.session) {
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
        peer.given_up &= !core::mem::take(&mut peer.announced);
        self.hello_event(now, id, HelloEvent::Answered);
        Some(id)
    }

    /// The answer to our hello proves that another incarnation is there now. If what greeted us last was
    /// it, its session is opened, and its hello answered; all else that we know is of a former one.
    fn take_up_successor(&mut self, id: PeerId, session: u32) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        let claim = peer.last_hello;
        let claimed = claim.fits && (claim.life == peer.life || seeded("claim-of-another"));
        if claimed && claim.counts {
            peer.open_theirs(claim.session, claim.sequence);
            peer.doubted = false;
        } else {
            peer.forget_theirs(session);
        }
        if claimed {
            self.peers.want(id, Wants::ACK);
        }
        self.request_sweep();
        self.begin_incarnation(id);
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
            } else {
                self.places.may_be_free();
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
        if wants.contains(Wants::ASK) && self.any_link_open() {
            self.unwant(id, Wants::ASK);
            self.revive(now, id);
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
    /// the answer sets free then names our session, and is not doubted. By the link by which theirs
    /// came.
    #[inline(never)]
    pub(super) fn greetings(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(id) else { return };
        let (wants, came_by) = (peer.wants, peer.last_hello.link());
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
        let Some(peer) = self.peers.get(id) else { return };
        let hello = Hello {
            given_up: peer.announced,
            attempt: peer.attempt,
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
            session: peer.last_hello.session,
            attempt: peer.last_hello.attempt,
            version: peer.last_hello.fits.then_some(VERSION),
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
        match (message, self.peers.get(id)) {
            // To whoever has asked: a life with another version is not taken up as the peer's.
            (Message::HelloAck(_), Some(peer)) => envelope.to_life = peer.last_hello.life,
            (Message::Hello(_), Some(peer)) => envelope.sequence = peer.sequence,
            _ => {}
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
