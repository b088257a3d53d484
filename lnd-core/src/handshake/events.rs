// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file applies handshake events to a peer and carries out the effects of the table.

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
    /// Handles a report of the platform, the prober or the operator that a peer is down or up. The
    /// work is bounded: [`on_time`](Self::on_time) cancels the peer's transfers.
    pub fn on_peer(&mut self, now: Instant, nid: Nid, up: bool) {
        self.note_work();
        if let Some(peer) = self.peers.find(nid) {
            self.hello_event(now, peer, if up { HelloEvent::Up } else { HelloEvent::Down });
            self.send_handshake(now, peer);
        }
    }

    /// Asks a peer whether it still runs, because the transport has heard nothing of it (S2): our
    /// hello is repeated. An answer changes nothing, and nothing in flight is cancelled meanwhile.
    /// A peer that does not answer is down once the handshake's tries are over. A peer that is
    /// being asked already keeps its time, and one that is not good is not asked.
    pub fn ask_peer(&mut self, now: Instant, nid: Nid) {
        self.note_work();
        if let Some(peer) = self.peers.find(nid) {
            if self.peers.state(peer) == HelloState::Good {
                self.resync(now, peer);
            }
        }
    }

    /// Applies an event to a peer's handshake and carries out the effect of the table.
    pub(crate) fn hello_event(&mut self, now: Instant, id: PeerId, event: HelloEvent) {
        let (Some(gate), Some(nid)) = (self.peers.gate(id), self.peers.nid(id)) else { return };
        // An interrupt may change the same gate. The effect is computed from the value that this
        // change replaced, so each transition has its effect exactly once.
        let before = gate.change(|view| view.on_hello(event));
        let (state, effect) = hello_step(before.state(), event);
        if state != before.state() {
            self.tracer.record(now, Trace::Peer { peer: nid, state });
            let peer = self.peers.get_mut(id);
            let parked = peer.is_some_and(|peer| {
                // An attempt belongs to one state. Without the reset a late send completion of its
                // hello would be charged to the next attempt.
                peer.handshake = Attempt::NONE;
                peer.parked != 0
            });
            // A request in a channel may be acceptable in the new state, so the host offers it
            // again.
            self.offer = true;
            self.peers.places.may_be_free();
            // `Unknown` starts nothing by itself, and the parked request does not arrive again.
            // `CONNECT` stays set until a link is open.
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
            // The caller that received the answer posts the queue: see `on_message`.
            HelloEffect::Flush => self.peers.disarm(id),
            HelloEffect::Ignored => {
                if event == HelloEvent::Answered {
                    self.counters.count(Counter::IgnoredHellos);
                }
            }
            HelloEffect::None => {}
        }
    }

    /// Ensures that a handshake is under way if one is needed. Returns `false` if the peer is down
    /// and its hold-off still runs (R68).
    #[inline]
    pub(crate) fn connect(&mut self, now: Instant, id: PeerId) -> bool {
        // A good peer is the usual case. The plain load saves a locked operation and a full fence
        // per submit.
        self.peers.state(id) == HelloState::Good || self.start_handshake(now, id)
    }

    #[inline(never)]
    fn start_handshake(&mut self, now: Instant, id: PeerId) -> bool {
        if self.peers.state(id) == HelloState::Down {
            match self.peers.get(id).and_then(|p| p.handshake.revive_at()) {
                Some(at) if at <= now => self.hello_event(now, id, HelloEvent::Up),
                Some(_) => return false,
                None => {
                    // An interrupt declared the peer down, and no bookkeeping ran there. The
                    // bookkeeping runs here, and the hold-off starts now.
                    self.peer_is_down(now, id, HelloEvent::Down);
                    return false;
                }
            }
        }
        self.hello_event(now, id, HelloEvent::Wanted);
        self.send_handshake(now, id);
        true
    }

    /// Starts a handshake for a request of the peer's known incarnation while the peer is not
    /// admitted. The peer may have been declared down by mistake. The request stays in the channel,
    /// because its sender may already have reported it as sent (S0-18). The answer to our hello
    /// admits the peer (LU-16214).
    pub(crate) fn revive(&mut self, now: Instant, id: PeerId) {
        match self.peers.state(id) {
            HelloState::Handshake | HelloState::Good => return,
            HelloState::Unknown => self.hello_event(now, id, HelloEvent::Wanted),
            HelloState::Down => {
                let Some(peer) = self.peers.get(id) else { return };
                let (noticed, silences) = (peer.handshake.revive_at(), peer.setbacks.silences());
                // A request in the channel does not prove that its sender runs now. After a silence
                // the hold-off passes first, and it doubles with each further silence, up to a
                // limit (R68).
                let more = more_hold_off(self.hold_off(), silences);
                match noticed.map(|at| at.after(more)) {
                    // An interrupt declared the peer down: see `start_handshake`.
                    None => self.peer_is_down(now, id, HelloEvent::Down),
                    Some(at) if silences > 0 && at > now => {
                        // The request does not arrive again by itself, so a timer starts the
                        // handshake.
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

    /// Asks a peer for its count of our requests, and sends it our count of its requests.
    pub(crate) fn resync(&mut self, now: Instant, id: PeerId) {
        self.hello_event(now, id, HelloEvent::Resync);
        self.send_handshake(now, id);
    }

    /// How long no hello is sent to a peer that is down (R68).
    #[cfg_attr(feature = "compact", inline(never))]
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
            let silences = peer.setbacks.silences().wrapping_add(1);
            peer.setbacks.set_silences(if silent || refused { silences } else { 0 });
            // Two sides that each wait for an incarnation that no longer runs would block each
            // other. A silence ends that: the next hello is accepted without proof (decision 0018).
            peer.keep_if(PeerFlags::PROVEN, !silent);
            peer.tries = 0;
            // The answer to the peer's hello is still sent: a hello is always answered (S0-14).
            peer.wants.remove(Wants::HELLO | Wants::NOOP | Wants::FLUSH);
        }
    }

    /// Whether the channel may have lost something of which no connection's end has told.
    fn may_have_lost(&self, now: Instant) -> bool {
        let keeps = self.channel.is_connected() && now >= self.links.losses_until;
        !(keeps || self.channel.is_reliable())
    }

    /// Notes that a hello is due and arms its timer. [`send_handshake`](Self::send_handshake) sends
    /// it at the end of the call that led here.
    #[inline]
    fn begin_attempt(&mut self, now: Instant, id: PeerId, event: HelloEvent) {
        let nid = self.peers.nid(id);
        let counts = u8::from(nid.is_some_and(|nid| self.links.any_leads_to(nid)));
        let loses = self.may_have_lost(now);
        let without = self.peers.get(id).is_some_and(|peer| peer.session == 0);
        // A session lasts as long as both incarnations (decision 0017). Only the first hello to an
        // incarnation begins one.
        if without || event == HelloEvent::HelloNewIncarnation {
            self.peers.begin_session(id);
        }
        let Some(peer) = self.peers.get_mut(id) else { return };
        // A repetition keeps the attempt number, so the answer to either copy counts. A new attempt
        // gets a new number, so late answers to the former one do not count.
        if event != HelloEvent::TryAgain {
            peer.tries = 0;
            peer.attempt = peer.attempt.wrapping_add(1);
            peer.flags.remove(PeerFlags::OVERHEARD);
            // Each hello of an attempt announces the same bits, so one answer acknowledges them
            // all. On a channel that may lose a request after its send completion, a stall may mean
            // that everything in flight is lost (decision 0017).
            let stalled = peer.setbacks.stalls() > 0 && loses;
            let lost = if stalled { peer.in_flight() } else { 0 };
            peer.handshake = Attempt::announcing(peer.given_up | lost);
        }
        // A try counts only while a link leads to the peer. The peer is not to blame for a link of
        // ours (LU-17505).
        peer.tries = peer.tries.saturating_add(counts);
        peer.set_put_off(PutOff::Not);
        self.peers.arm(id, now.after(self.config.hello_timeout));
        self.peers.want(id, Wants::HELLO);
    }
}
