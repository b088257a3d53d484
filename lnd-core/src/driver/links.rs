// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Links fail and come back (S0-10 to S0-12, S0-20): gate closed → posters out → descriptors
//! invalidated → engine stopped → proof → descriptors yanked, transfers settled by hand → reset → up. Without a proof, because the
//! device does not answer, the link is failed and what was lent stays lent (INV-2, INV-3).

use core::hash::{Hash, Hasher};

use super::details::Marks;
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{LinkId, Tag};
use crate::link::{link_step, LinkEffect, LinkEvent, LinkState, Quiesced};
use crate::ports::{Channel, Engine, Features, Ports, Returned, Tracer};
use crate::time::Instant;
use crate::trace::Trace;
use crate::transfer::{Cause, Debts, Event, Phase};

/// One link's owned half.
pub(super) struct Link<E> {
    pub engine: E,
    pub features: Features,
    state: LinkState,
    proof: Option<Quiesced>,
    /// The next slot to invalidate, then the next one to reclaim.
    at: u32,
    pub doorbell_owed: bool,
    /// Another context has found the device gone; until the next proof.
    gone: bool,
    failed_at: Instant,
    quiesced_at: Option<Instant>,
}

impl<E> Link<E> {
    /// A link whose engine has just been reset; it opens when the engine says that it is up.
    pub const fn new(engine: E, features: Features) -> Self {
        Self {
            engine,
            features,
            state: LinkState::Down,
            proof: None,
            at: 0,
            doorbell_owed: false,
            gone: false,
            failed_at: Instant::ORIGIN,
            quiesced_at: None,
        }
    }

    pub const fn state(&self) -> LinkState {
        self.state
    }

    /// Whether the engine still works on descriptors, and new ones may be posted.
    pub const fn in_service(&self) -> bool {
        matches!(self.state, LinkState::Up)
    }
}

impl<E> Link<E> {
    /// What its future depends on.
    pub fn hash_state(&self, hasher: &mut impl Hasher) {
        (self.state, self.proof.is_some(), self.at, self.doorbell_owed).hash(hasher);
        self.gone.hash(hasher);
    }
}

impl<E: Engine> Link<E> {
    /// Whether the device was found gone, by the engine or by another context.
    fn is_gone(&self) -> bool {
        self.gone || self.engine.is_gone()
    }

    /// Whether the engine may be asked for descriptors: until it is asked to stop, unless its device is
    /// gone.
    pub fn takes_invalidates(&self) -> bool {
        match self.state {
            LinkState::Up => true,
            LinkState::Stalled => !self.is_gone(),
            _ => false,
        }
    }

    /// Rings the doorbell if something was posted since the last ring; returns whether it did.
    pub fn ring(&mut self) -> bool {
        let owed = core::mem::take(&mut self.doorbell_owed);
        if owed {
            self.engine.doorbell();
        }
        owed
    }
}

impl<P: Ports> Driver<'_, P> {
    /// The fabric reports a link down (`up` false) or up. Bounded; the rest is
    /// [`on_time`](Self::on_time)'s.
    pub fn on_link(&mut self, now: Instant, link: LinkId, up: bool) {
        let event = if up { LinkEvent::Restored } else { LinkEvent::Failed };
        self.link_event(now, link, event);
    }

    /// A link's state, or `None` if there is no such link.
    pub fn link_state(&self, link: LinkId) -> Option<LinkState> {
        self.links.get(link.index()).map(Link::state)
    }

    /// The platform asserts that the engine of the proof's link has stopped, by what it knows besides
    /// the registers. Only a link that waits for the proof takes it:
    /// [`Stopping`](LinkState::Stopping) or [`Failed`](LinkState::Failed).
    ///
    /// # Errors
    /// The proof, unused.
    pub fn assert_stopped(&mut self, now: Instant, proof: Quiesced) -> Result<(), Quiesced> {
        let id = proof.link();
        let waits = matches!(self.link_state(id), Some(LinkState::Stopping | LinkState::Failed));
        if !waits {
            return Err(proof);
        }
        self.counters.count(Counter::StopsAsserted);
        self.take_proof(now, proof);
        Ok(())
    }

    /// Transfers of a link whose memory the device still has and that nothing but a proof, or the
    /// device itself, can bring back: the gauge of the quarantine (R13, INV-14). Zero while the link
    /// is up. Takes time linear in the slots.
    pub fn quarantined(&self, id: LinkId) -> u32 {
        let state = self.link_state(id);
        if !matches!(state, Some(LinkState::Stalled | LinkState::Stopping | LinkState::Failed)) {
            return 0;
        }
        let held = |&slot: &u32| {
            let word = self.shared.word(slot);
            let ours = self.shared.whose(slot).link() == Some(id);
            ours && word.phase() == Phase::Live && word.owes(Debts::HW)
        };
        (0..self.config.slots).filter(held).count() as u32
    }

    /// How long the last failure of a link took until its engine was proven stopped.
    pub fn time_to_quiesce(&self, link: LinkId) -> Option<crate::time::Span> {
        let link = self.links.get(link.index())?;
        link.quiesced_at.map(|at| at.since(link.failed_at))
    }

    pub(super) fn link_event(&mut self, now: Instant, id: LinkId, event: LinkEvent) {
        if event == LinkEvent::Restored && self.run.is_over() {
            return;
        }
        let Some(link) = self.links.get_mut(id.index()) else { return };
        let (state, effect) = link_step(link.state, event);
        if state != link.state {
            link.state = state;
            self.tracer.record(now, Trace::Link { link: id, state });
        }
        match effect {
            LinkEffect::CloseGate => {
                link.failed_at = now;
                link.at = 0;
                link.quiesced_at = None;
                self.counters.count(Counter::LinksFailed);
                if let Some(gate) = self.shared.link(id) {
                    gate.close();
                }
                self.request_sweep();
            }
            LinkEffect::StopEngine => link.engine.stop(),
            LinkEffect::Quarantine => self.counters.count(Counter::DevicesGone),
            LinkEffect::Reclaim => {
                link.quiesced_at = Some(now);
                link.at = 0;
            }
            LinkEffect::ResetEngine => {
                link.doorbell_owed = false;
                if let Some(proof) = link.proof.take() {
                    link.engine.reset(proof);
                }
            }
            LinkEffect::OpenGate => {
                self.counters.count(Counter::LinksRestored);
                if let Some(gate) = self.shared.link(id) {
                    gate.open();
                }
                // Whoever waits for a link is asked in turn by `speak`.
            }
            LinkEffect::None | LinkEffect::Ignored => {}
        }
    }

    /// Moves every link that is not in service one step on. `budget` bounds the slots reclaimed.
    /// Returns whether reclaiming wants to go on at once.
    pub(super) fn poll_links(&mut self, now: Instant, budget: u32) -> bool {
        let mut more = false;
        for number in 0..self.links.len() {
            let Some(id) = LinkId::new(number) else { break };
            match self.links.get(number).map(Link::state) {
                Some(LinkState::Stalled) => {
                    if self.shared.link(id).is_some_and(|g| g.posters_out()) {
                        more |= self.invalidate_all(now, id, budget);
                    }
                    if seeded("reclaimed-before-stop") {
                        self.link_event(now, id, LinkEvent::Quiesced);
                    }
                }
                Some(LinkState::Stopping | LinkState::Failed) => self.look_for_proof(now, id),
                Some(LinkState::Reclaiming) => more |= self.reclaim(now, id, budget),
                Some(LinkState::Down)
                    if self.links.get_mut(number).is_some_and(|l| l.engine.link_up()) =>
                {
                    self.link_event(now, id, LinkEvent::Restored);
                }
                Some(LinkState::Up) if self.links.get(number).is_some_and(Link::is_gone) => {
                    self.link_event(now, id, LinkEvent::Gone);
                }
                Some(LinkState::Up | LinkState::Down) | None => {}
            }
        }
        more
    }

    /// Whether a message could go out by some link.
    pub(super) fn any_link_open(&self) -> bool {
        let gates = (0..self.links.len()).filter_map(LinkId::new);
        gates.filter_map(|id| self.shared.link(id)).any(|gate| gate.is_open())
    }

    /// Whether some link is not in service.
    pub(super) fn any_link_out(&self) -> bool {
        self.links.iter().any(|l| !l.in_service())
    }

    /// Cancels and invalidates what a link that has failed still has, up to `budget` slots, before its
    /// engine is stopped (S0-20, S0-15): a device that still answers says of each descriptor whether it
    /// was touched, which its stop does not tell. One that does not answer loses nothing; one that is gone
    /// is not asked. Returns whether more are left.
    ///
    /// The sweep does the same for all links; it may be asked for again and again, and the stop may not
    /// wait for that.
    fn invalidate_all(&mut self, now: Instant, id: LinkId, budget: u32) -> bool {
        for _ in 0..budget {
            let Some(link) = self.links.get_mut(id.index()) else { return false };
            let slot = link.at;
            if slot >= self.config.slots {
                self.link_event(now, id, LinkEvent::PostersOut);
                return false;
            }
            link.at += 1;
            let asks = link.takes_invalidates() && self.shared.whose(slot).link() == Some(id);
            if asks && !seeded("stopped-without-invalidate") {
                self.sweep_slot(now, slot);
            }
        }
        true
    }

    fn look_for_proof(&mut self, now: Instant, id: LinkId) {
        let Some(link) = self.links.get_mut(id.index()) else { return };
        if let Some(proof) = link.engine.quiesced() {
            self.take_proof(now, proof);
        } else if link.is_gone() && link.state == LinkState::Stopping {
            self.link_event(now, id, LinkEvent::Gone);
        }
    }

    /// The engine has stopped: its descriptors may be taken back.
    fn take_proof(&mut self, now: Instant, proof: Quiesced) {
        let id = proof.link();
        let Some(link) = self.links.get_mut(id.index()) else { return };
        link.gone = false;
        self.channel.quiesce(id, &proof);
        link.proof = Some(proof);
        self.link_event(now, id, LinkEvent::Quiesced);
    }

    /// Another context has found the device of a link gone. One that is stopped already, or has been
    /// reset, holds nothing.
    pub(super) fn device_gone(&mut self, now: Instant, id: LinkId) {
        let Some(link) = self.links.get_mut(id.index()) else { return };
        link.gone = !matches!(link.state, LinkState::Reclaiming | LinkState::Down);
        self.link_event(now, id, LinkEvent::Gone);
    }

    /// Yanks up to `budget` descriptors of a stopped link. Returns whether more are left.
    fn reclaim(&mut self, now: Instant, id: LinkId, budget: u32) -> bool {
        for _ in 0..budget {
            let Some(link) = self.links.get_mut(id.index()) else { return false };
            let slot = link.at;
            if slot >= self.config.slots {
                self.link_event(now, id, LinkEvent::Reclaimed);
                return false;
            }
            link.at += 1;
            self.reclaim_slot(now, id, slot);
        }
        true
    }

    /// One slot of a stopped link: the real outcome if the descriptor's memory holds one, else by
    /// hand. Real and by-hand completions exclude each other in the transfer's word (S0-21). A slot that
    /// is free or whose transfer has ended owes nothing, and stays as it is.
    fn reclaim_slot(&mut self, now: Instant, id: LinkId, slot: u32) {
        let word = self.shared.word(slot);
        let ours = self.shared.whose(slot).link() == Some(id) || seeded("proof-for-every-link");
        let missed = seeded("reclaim-misses-a-slot") && slot == 0;
        if !ours || missed {
            return;
        }
        let tag = self.shared.tag(slot);
        // A pull that waits has no descriptor. It ends here as it would in the sweep, which may come later.
        if self.pull_in_vain(slot).is_some() {
            self.cancel(now, tag, Cause::LinkDown);
        } else if word.owes(Debts::HW) && !seeded("by-hand-without-yank") {
            self.yank(now, id, tag);
        }
        let word = self.shared.word(slot);
        if word.owes(Debts::HW) || word.owes(Debts::MSG) {
            if let Some(details) = self.details.get_mut(slot as usize) {
                details.marks.insert(Marks::BY_HAND);
            }
            self.counters.count(Counter::ByHand);
            let _ = self.apply(now, tag, Event::Stopped);
        }
    }

    fn yank(&mut self, now: Instant, id: LinkId, tag: Tag) {
        let Some(link) = self.links.get_mut(id.index()) else { return };
        let Some(proof) = &link.proof else { return };
        let returned = link.engine.yank(tag, proof);
        self.counters.count(Counter::Yanked);
        self.tracer.record(now, Trace::Yanked { tag, link: id, real: returned.is_some() });
        let event = match returned {
            Some(Returned::Ok) => Event::HwOk,
            Some(Returned::Untouched) => Event::HwUntouched,
            Some(Returned::Touched) => Event::HwTouched,
            None => return,
        };
        self.counters.count(Counter::YankedReal);
        self.apply(now, tag, event);
    }
}
