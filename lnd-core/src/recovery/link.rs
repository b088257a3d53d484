// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles links that fail and return (S0-10 to S0-12, S0-20).
//!
//! The order is: gate closed → posters out → descriptors invalidated → engine stopped → proof →
//! descriptors reclaimed, transfers settled → reset → up. Without a proof, because the device does
//! not answer, the link is failed, and what was lent stays lent (INV-2, INV-3).

use crate::base::counters::Counter;
use crate::base::id::LinkId;
use crate::base::time::Instant;
use crate::links::{Domain, Link};
use crate::machines::link::{link_step, LinkEffect, LinkEvent, LinkGate, LinkState, Quiesced};
use crate::machines::transfer::{Debts, Phase};
use crate::ports::trace::Trace;
use crate::ports::{Channel, Engine, Ports, Tracer};
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// The fabric reports a link down (`up` false) or up. Bounded: [`on_time`](Self::on_time) does
    /// the rest.
    ///
    /// A link that was reported down is stopped and reset, and is in service again once
    /// [`Engine::link_up`] returns `true`. A host that reports links therefore implements
    /// `link_up`: with its default the link works again after the reset.
    pub fn on_link(&mut self, now: Instant, link: LinkId, up: bool) {
        self.note_work();
        let event = if up { LinkEvent::Restored } else { LinkEvent::Failed };
        self.link_event(now, link, event);
    }

    /// A link's state, or `None` if there is no such link.
    pub fn link_state(&self, link: LinkId) -> Option<LinkState> {
        self.links.get(link).map(Link::state)
    }

    /// The platform asserts that the domain of the proof has stopped, by knowledge beyond the
    /// registers. Only a link or connection that waits for the proof accepts it:
    /// [`Stopping`](LinkState::Stopping) or [`Failed`](LinkState::Failed).
    ///
    /// # Errors
    /// The proof, unused.
    pub fn assert_stopped(&mut self, now: Instant, proof: Quiesced) -> Result<(), Quiesced> {
        self.note_work();
        // A proof in any other state is stale or early. To keep it would allow a reclaim from an
        // engine that runs (INV-3).
        let state = self.links.of_proof(&proof).and_then(|it| self.domain_state(it));
        if !matches!(state, Some(LinkState::Stopping | LinkState::Failed)) {
            return Err(proof);
        }
        self.counters.count(Counter::StopsAsserted);
        self.take_proof(now, proof);
        Ok(())
    }

    /// Transfers of a link whose memory the device still holds, and which only a proof or the
    /// device itself can return: the gauge of the quarantine (R13, INV-14). Zero while the link is
    /// up and all its connections are in service. Takes time linear in the slots.
    pub fn quarantined(&self, id: LinkId) -> u32 {
        let all = self.is_held(Domain::Link(id));
        let held = |&slot: &u32| {
            let word = self.slots.word(slot);
            let ours = self.slots.owner(slot).link() == Some(id);
            let owes = word.phase() == Phase::Live && word.owes(Debts::HW);
            ours && owes && (all || self.is_held_by_connection(slot))
        };
        (0..self.config.slots).filter(held).count() as u32
    }

    /// How long the last failure of a link took until its engine was proven stopped.
    pub fn time_to_quiesce(&self, link: LinkId) -> Option<crate::base::time::Span> {
        let it = &self.links.get(link)?.recovery;
        it.quiesced_at.map(|at| at.since(it.failed_at))
    }

    /// Applies an event to a link.
    pub(crate) fn link_event(&mut self, now: Instant, id: LinkId, event: LinkEvent) {
        self.domain_event(now, Domain::Link(id), event);
    }

    /// Applies an event to a stop domain.
    pub(crate) fn domain_event(&mut self, now: Instant, domain: Domain, event: LinkEvent) {
        // In a shutdown no link returns: its engine would have to be stopped again.
        if event == LinkEvent::Restored && self.run.is_over() {
            return;
        }
        let Some(recovery) = self.links.recovery_mut(domain) else { return };
        let (state, effect) = link_step(recovery.state, event);
        if state != recovery.state {
            recovery.state = state;
            let trace = match domain {
                Domain::Link(link) => Some(Trace::Link { link, state }),
                Domain::Connection(place) => {
                    let connection = self.links.connection(place);
                    connection.map(|connection| Trace::Connection { connection, state })
                }
            };
            if let Some(trace) = trace {
                self.tracer.record(now, trace);
            }
        }
        match effect {
            LinkEffect::CloseGate => self.close(now, domain),
            LinkEffect::StopEngine => self.stop(domain),
            LinkEffect::Quarantine => self.counters.count(Counter::DevicesGone),
            LinkEffect::Reclaim => {
                if let Some(recovery) = self.links.recovery_mut(domain) {
                    recovery.reclaim(now);
                }
            }
            LinkEffect::ResetEngine => self.reset(domain),
            LinkEffect::OpenGate => self.open(now, domain),
            LinkEffect::None | LinkEffect::Ignored => {}
        }
    }

    /// Closes a domain: nothing more is posted in it.
    fn close(&mut self, now: Instant, domain: Domain) {
        if let Some(recovery) = self.links.recovery_mut(domain) {
            recovery.begin(now);
        }
        // The sweep cancels the transfers that wait for this domain.
        self.slots.request_sweep();
        match domain {
            Domain::Link(id) => {
                self.counters.count(Counter::LinksFailed);
                // The link's stop includes its connections.
                self.links.put_back(domain);
                if let Some(gate) = self.links.gate(id) {
                    gate.close();
                }
            }
            // Only this thread posts, so no poster is inside and a connection needs no gate.
            Domain::Connection(_) => self.counters.count(Counter::ConnectionsFailed),
        }
    }

    fn stop(&mut self, domain: Domain) {
        match domain {
            Domain::Link(id) => {
                if let Some(link) = self.links.get_mut(id) {
                    link.engine.stop();
                }
            }
            Domain::Connection(place) => {
                let Some(connection) = self.links.connection(place) else { return };
                if let Some(link) = self.links.get_mut(connection.link) {
                    link.engine.stop_connection(connection);
                }
            }
        }
    }

    fn reset(&mut self, domain: Domain) {
        let Some(proof) = self.links.recovery_mut(domain).and_then(|it| it.proof.take()) else {
            return;
        };
        if let Some(link) = self.links.get_mut(proof.link()) {
            // After the reset of a link no descriptor is left to announce. A connection's reset
            // leaves those of other peers.
            link.doorbell_owed &= matches!(domain, Domain::Connection(_));
            link.engine.reset(proof);
        }
    }

    fn open(&mut self, now: Instant, domain: Domain) {
        if self.channel.is_connected() {
            self.note_losses(now, domain);
        }
        // `send_pending` handles waiting peers in turn.
        self.peers.look_again();
        match domain {
            Domain::Link(id) => {
                self.counters.count(Counter::LinksRestored);
                if let Some(gate) = self.links.gate(id) {
                    gate.open();
                }
            }
            Domain::Connection(_) => {
                self.counters.count(Counter::ConnectionsReset);
                self.links.put_back(domain);
            }
        }
    }

    /// Notes that what was in flight in a domain that has been stopped may be lost: hellos announce
    /// it when the credits do not come back (decision 0064).
    fn note_losses(&mut self, now: Instant, domain: Domain) {
        match domain {
            // Peers are too many to be marked. One whose credits are all lost has stalled, or will
            // within the bound, and its hello is tried again until the hold-off at most.
            Domain::Link(_) if self.links.losses_until == Instant::NEVER => {
                let bound = self.config.credit_stall.times(2);
                self.links.losses_until = now.after(bound).after(self.hold_off());
            }
            // It comes up for the first time.
            Domain::Link(_) => {}
            Domain::Connection(place) => {
                let peer = self.links.connection(place).and_then(|it| self.peers.find(it.peer));
                if let Some(peer) = peer.and_then(|id| self.peers.get_mut(id)) {
                    peer.given_up |= peer.in_flight();
                }
            }
        }
    }

    /// Advances every link and connection that is out of service by one step. `budget` bounds the
    /// slots walked.
    pub(crate) fn poll_links(&mut self, now: Instant, budget: u32) {
        for id in self.links.ids() {
            match self.links.get(id).map_or(LinkState::Up, Link::state) {
                LinkState::Down if self.links.get_mut(id).is_some_and(|l| l.engine.link_up()) => {
                    self.link_event(now, id, LinkEvent::Restored);
                }
                LinkState::Up if self.links.get(id).is_some_and(Link::is_gone) => {
                    self.link_event(now, id, LinkEvent::Gone);
                }
                LinkState::Up | LinkState::Down => {}
                _ => self.recover(now, Domain::Link(id), budget),
            }
        }
        if !self.links.any_connection_out() {
            return;
        }
        // The connections take turns with the budget, one per call.
        let turn = self.links.next_turn();
        for place in 0..self.links.connections() {
            let its = turn == Some(place);
            self.recover(now, Domain::Connection(place), if its { budget } else { 0 });
            self.give_up_connection(now, place);
        }
    }

    /// Fails the link of a connection whose stop does not end in time, if the link's stop can be
    /// proven.
    fn give_up_connection(&mut self, now: Instant, place: u8) {
        let Some(connection) = self.links.connection(place) else { return };
        // Memory must not stay lent for ever while another stop would give the proof (decision
        // 0026).
        let bound = self.config.drain_bound.times(2);
        let held = self.is_held(Domain::Connection(place));
        let failed_at = self.links.recovery(Domain::Connection(place)).map(|it| it.failed_at);
        let overdue = failed_at.is_some_and(|at| at.after(bound) <= now);
        if held && overdue && self.links.proves_more(connection.link) {
            self.link_event(now, connection.link, LinkEvent::Failed);
        }
    }

    /// Advances a failed domain by one step.
    fn recover(&mut self, now: Instant, domain: Domain, budget: u32) {
        match self.domain_state(domain).unwrap_or(LinkState::Up) {
            LinkState::Stalled => {
                let out = match domain {
                    Domain::Link(id) => self.links.gate(id).is_some_and(LinkGate::posters_out),
                    Domain::Connection(_) => true,
                };
                // The invalidation ends before the stop is requested: afterwards no descriptor
                // reports whether it was touched.
                if out && !self.invalidate_all(now, domain, budget) {
                    self.domain_event(now, domain, LinkEvent::PostersOut);
                }
            }
            LinkState::Stopping | LinkState::Failed => self.look_for_proof(now, domain),
            LinkState::Reclaiming if self.reclaim(now, domain, budget) => {}
            LinkState::Reclaiming => {
                self.domain_event(now, domain, LinkEvent::Reclaimed);
                // A connection is made again when something is sent on it.
                if matches!(domain, Domain::Connection(_)) {
                    self.domain_event(now, domain, LinkEvent::Restored);
                }
            }
            LinkState::Up | LinkState::Down => {}
        }
    }

    fn look_for_proof(&mut self, now: Instant, domain: Domain) {
        let proof = match domain {
            Domain::Link(id) => self.links.get_mut(id).and_then(|link| link.engine.quiesced()),
            Domain::Connection(place) => self.links.connection(place).and_then(|it| {
                self.links.get_mut(it.link).and_then(|link| link.engine.connection_quiesced(it))
            }),
        };
        let gone = |link: &Link<_>| link.is_gone() && link.state() == LinkState::Stopping;
        match (proof, domain) {
            // A proof counts even if the device is gone: the platform may know more than the
            // registers.
            (Some(proof), _) => self.take_proof(now, proof),
            (None, Domain::Link(id)) if self.links.get(id).is_some_and(gone) => {
                self.domain_event(now, domain, LinkEvent::Gone);
            }
            (None, _) => {}
        }
    }

    /// Accepts a proof: the domain has stopped, and its descriptors may be reclaimed.
    fn take_proof(&mut self, now: Instant, proof: Quiesced) {
        let Some(domain) = self.links.of_proof(&proof) else { return };
        if let Domain::Link(id) = domain {
            if self.channel.is_connected() {
                self.links.losses_until = Instant::NEVER;
            }
            if let Some(link) = self.links.get_mut(id) {
                link.gone = false;
            }
        }
        // From here on the channel reports no message of this domain. The driver settles those
        // itself.
        self.channel.quiesce(proof.link(), &proof);
        if let Some(recovery) = self.links.recovery_mut(domain) {
            recovery.proof = Some(proof);
        }
        self.domain_event(now, domain, LinkEvent::Quiesced);
    }

    /// Another context has found the device of a link gone. A link that is stopped already, or has
    /// been reset, holds nothing.
    pub(crate) fn device_gone(&mut self, now: Instant, id: LinkId) {
        let Some(link) = self.links.get_mut(id) else { return };
        link.gone = !matches!(link.state(), LinkState::Reclaiming | LinkState::Down);
        self.link_event(now, id, LinkEvent::Gone);
    }
}
