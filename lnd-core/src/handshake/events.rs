// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The handshake with a peer: its events, and what the table says to do.

use crate::base::counters::Counter;
use crate::base::id::{Nid, PeerId};
use crate::base::time::{Instant, Span};
use crate::machines::peer::{hello_step, HelloEffect, HelloEvent, HelloState};
use crate::peers::{more_hold_off, Attempt, PeerFlags, Wants};
use crate::ports::trace::Trace;
use crate::ports::{Channel, Ports, Tracer};
use crate::shard::Driver;
use crate::slots::PutOff;

impl<P: Ports> Driver<'_, P> {
    /// The platform, the prober or the operator says that a peer is down or up. Bounded; the
    /// cancellations are [`on_time`](Self::on_time)'s.
    pub fn on_peer(&mut self, now: Instant, nid: Nid, up: bool) {
        self.stir();
        if let Some(peer) = self.peers.find(nid) {
            self.hello_event(now, peer, if up { HelloEvent::Up } else { HelloEvent::Down });
            self.send_handshake(now, peer);
        }
    }

    /// Puts an event into a peer's handshake and does what the table says.
    pub(crate) fn hello_event(&mut self, now: Instant, id: PeerId, event: HelloEvent) {
        let (Some(gate), Some(nid)) = (self.peers.gate(id), self.peers.nid(id)) else { return };
        let before = gate.change(|view| view.on_hello(event));
        let (state, effect) = hello_step(before.state(), event);
        if state != before.state() {
            self.tracer.record(now, Trace::Peer { peer: nid, state });
            let peer = self.peers.get_mut(id);
            let parked = peer.is_some_and(|peer| {
                peer.handshake = Attempt::NONE;
                peer.parked != 0
            });
            self.offer = true;
            self.peers.places.may_be_free();
            if state == HelloState::Unknown && parked {
                self.peers.want(id, Wants::CONNECT);
            }
        }
        match effect {
            HelloEffect::StartHandshake => self.begin_attempt(now, id, event),
            HelloEffect::SweepAndHandshake => {
                self.slots.request_sweep();
                self.begin_attempt(now, id, event);
            }
            HelloEffect::Sweep => self.peer_is_down(now, id, event),
            HelloEffect::FailQueue => {
                self.slots.request_sweep();
                self.peers.unwant(id, Wants::HELLO);
            }
            // What waits is posted by the call that brought the answer: see `on_message`.
            HelloEffect::Flush => self.peers.disarm(id),
            HelloEffect::Ignored => {
                if event == HelloEvent::Answered {
                    self.counters.count(Counter::IgnoredHellos);
                }
            }
            HelloEffect::None => {}
        }
    }

    /// Sees that a handshake is begun if there has to be one; returns `false` if it is down and it is too
    /// early to try again (R68).
    #[inline]
    pub(crate) fn seek(&mut self, now: Instant, id: PeerId) -> bool {
        // The usual case changes no gate: a locked operation and a full fence saved per submit.
        self.peers.state(id) == HelloState::Good || self.start_handshake(now, id)
    }

    #[inline(never)]
    fn start_handshake(&mut self, now: Instant, id: PeerId) -> bool {
        if self.peers.state(id) == HelloState::Down {
            match self.peers.get(id).and_then(|p| p.handshake.revive_at()) {
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
        self.send_handshake(now, id);
        true
    }

    /// A request of a peer's known incarnation has come, and the peer is not admitted: we took it for
    /// down, perhaps wrongly, and it does not know. The request stays in the channel, since its sender
    /// may have been told OK (S0-18); a hello tells the peer, and its answer admits it (LU-16214). After
    /// a silence the hold-off goes first, and doubles with each: what lies in the channel is no news.
    pub(crate) fn revive(&mut self, now: Instant, id: PeerId) {
        match self.peers.state(id) {
            HelloState::Handshake | HelloState::Good => return,
            HelloState::Unknown => self.hello_event(now, id, HelloEvent::Wanted),
            HelloState::Down => {
                let Some(peer) = self.peers.get(id) else { return };
                let (noticed, silences) = (peer.handshake.revive_at(), peer.silences);
                let more = more_hold_off(self.hold_off(), silences);
                match noticed.map(|at| at.after(more)) {
                    // An interrupt has declared it down.
                    None => self.peer_is_down(now, id, HelloEvent::Down),
                    Some(at) if silences > 0 && at > now => {
                        // The request will not come again by itself.
                        self.peers.arm(id, at);
                        return;
                    }
                    Some(_) => {}
                }
                self.hello_event(now, id, HelloEvent::HelloSameIncarnation);
            }
        }
        self.send_handshake(now, id);
    }

    /// Asks a peer for its count, and tells it ours.
    pub(crate) fn resync(&mut self, now: Instant, id: PeerId) {
        self.hello_event(now, id, HelloEvent::Resync);
        self.send_handshake(now, id);
    }

    /// How long a peer that is down is not asked again (R68).
    pub(crate) fn hold_off(&self) -> Span {
        self.config.hello_timeout.times(u32::from(self.config.hello_tries))
    }

    fn peer_is_down(&mut self, now: Instant, id: PeerId, event: HelloEvent) {
        self.counters.count(Counter::PeersDown);
        self.slots.request_sweep();
        self.peers.disarm(id);
        let hold_off = self.hold_off();
        if let Some(peer) = self.peers.get_mut(id) {
            peer.handshake = Attempt::down(now.after(hold_off));
            let silent = event == HelloEvent::Exhausted;
            let refused = event == HelloEvent::Incompatible;
            peer.silences = if silent || refused { peer.silences.saturating_add(1) } else { 0 };
            // Two sides that ask for incarnations which are not there would wait for each other.
            peer.keep_if(PeerFlags::PROVEN, !silent);
            peer.tries = 0;
            peer.wants.remove(Wants::HELLO | Wants::NOOP | Wants::FLUSH);
        }
    }

    /// Notes that a hello is to be sent and arms its timer. It is sent by
    /// [`send_handshake`](Self::send_handshake), at the end of what led to it. The session goes on: a new one
    /// begins with the first hello to an incarnation. While no link leads to the peer no try counts.
    #[inline]
    fn begin_attempt(&mut self, now: Instant, id: PeerId, event: HelloEvent) {
        let nid = self.peers.nid(id);
        let counts = u8::from(nid.is_some_and(|nid| self.links.any_leads_to(nid)));
        let reliable = self.channel.is_reliable();
        let without = self.peers.get(id).is_some_and(|peer| peer.session == 0);
        if without || event == HelloEvent::HelloNewIncarnation {
            self.peers.begin_session(id);
        }
        let Some(peer) = self.peers.get_mut(id) else { return };
        if event != HelloEvent::TryAgain {
            peer.tries = 0;
            peer.attempt = peer.attempt.wrapping_add(1);
            peer.flags.remove(PeerFlags::OVERHEARD);
            // The same in each hello of the attempt: its answer says that they were taken note of. Where
            // the channel may lose what it called sent, a stall may mean that all in flight is lost.
            let stalled = peer.fruitless > 0 && !reliable;
            let lost = if stalled { peer.in_flight() } else { 0 };
            peer.handshake = Attempt::announcing(peer.given_up | lost);
        }
        peer.tries = peer.tries.saturating_add(counts);
        peer.set_put_off(PutOff::Not);
        self.peers.arm(id, now.after(self.config.hello_timeout));
        self.peers.want(id, Wants::HELLO);
    }
}
