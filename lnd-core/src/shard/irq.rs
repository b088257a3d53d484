// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The half of the driver that runs anywhere: interrupts decide, threads report.

use crate::base::counters::{Count, Counter, Counters};
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::time::Instant;
use crate::machines::peer::{GateView, HelloEvent, HelloState};
use crate::machines::transfer::{Effect, Event};
use crate::ports::trace::Trace;
use crate::ports::{Completion, Completions, Sent, Tracer};
use crate::slots::shared::{attention, Shared};

/// A handle to a shard's words, for any context. Copies are free.
///
/// Every call returns whether the shard's thread should be woken: something is to be reported or
/// to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct IrqHandle<'m> {
    shared: &'m Shared<'m>,
}

impl<'m> IrqHandle<'m> {
    pub(crate) const fn new(shared: &'m Shared<'m>) -> Self {
        Self { shared }
    }

    /// The shard's words.
    pub const fn shared(&self) -> &'m Shared<'m> {
        self.shared
    }

    /// A descriptor came back. Context: any.
    pub fn on_completion(
        &self,
        now: Instant,
        completion: Completion,
        counters: &mut impl Count,
        tracer: &mut impl Tracer,
    ) -> bool {
        if completion.tag.index as usize >= self.shared.claims().slots() {
            counters.count(Counter::ForeignCompletion);
            return false;
        }
        self.decide(
            now,
            completion.tag,
            Event::of_descriptor(completion.returned),
            counters,
            tracer,
        )
    }

    /// As [`on_completion`](Self::on_completion), told by the engine of `link`: a completion of a transfer on
    /// another link is counted and changes nothing. Only a transfer's own engine says that it has let go of
    /// the memory (INV-2). Context: any.
    pub fn on_completion_of(
        &self,
        now: Instant,
        link: LinkId,
        completion: Completion,
        counters: &mut impl Count,
        tracer: &mut impl Tracer,
    ) -> bool {
        if self.is_foreign(link, completion.tag) {
            counters.count(Counter::ForeignCompletion);
            return false;
        }
        self.on_completion(now, completion, counters, tracer)
    }

    /// Whether a transfer is on another link. Its link is fixed while it has a descriptor out.
    fn is_foreign(&self, link: LinkId, tag: Tag) -> bool {
        self.shared.owner(tag.index).link() != Some(link) && self.shared.tag(tag.index) == tag
    }

    /// A short message ended: of a transfer, or a hello, of which only [`Sent::NotDelivered`] is news
    /// (LU-14536). Context: any.
    pub fn on_sent(
        &self,
        now: Instant,
        tag: Tag,
        sent: Sent,
        counters: &mut impl Count,
        tracer: &mut impl Tracer,
    ) -> bool {
        match self.hello_sent(tag, sent) {
            Some(unheard) => unheard,
            None => self.decide(now, tag, Event::of_message(sent), counters, tracer),
        }
    }

    /// Whether a hello was not delivered, if the tag is of one.
    pub(super) fn hello_sent(&self, tag: Tag, sent: Sent) -> Option<bool> {
        let place = self.hello_place(tag)?;
        if sent == Sent::NotDelivered {
            self.shared.hello_unheard(place, tag.generation);
        }
        Some(sent == Sent::NotDelivered)
    }

    /// The place of the peer to which a hello went, if the tag names one.
    fn hello_place(&self, tag: Tag) -> Option<u32> {
        let place = tag.index.checked_sub(self.shared.claims().slots() as u32)?;
        self.shared.peer_gate(place as usize).filter(|_| tag.generation != 0).map(|_| place)
    }

    fn decide(
        &self,
        now: Instant,
        tag: Tag,
        event: Event,
        counters: &mut impl Count,
        tracer: &mut impl Tracer,
    ) -> bool {
        let Some(applied) = self.shared.apply(tag, event) else {
            counters.count(Counter::StaleCompletion);
            tracer.record(now, Trace::Stale { tag });
            return false;
        };
        tracer.record(
            now,
            Trace::Step {
                tag,
                event,
                before: applied.before,
                after: applied.after,
                effect: applied.effect,
            },
        );
        match applied.effect {
            Effect::Finalize => true,
            Effect::Invalidate => {
                // Only the shard's thread talks to the engine; its sweep will ask.
                self.shared.want(attention::SWEEP);
                true
            }
            Effect::Late => {
                counters.count(Counter::LateEvent);
                false
            }
            _ => false,
        }
    }

    /// The platform says that a peer is down. Context: any, interrupts too; the driver's thread
    /// must be woken and will cancel the peer's transfers. Returns whether the id names a peer: a stale
    /// one takes nothing down (R14).
    pub fn peer_down(&self, peer: PeerId) -> bool {
        let gate = self.shared.peer_gate(peer.index());
        let down = |view: GateView| view.on_hello(HelloEvent::Down);
        let found = gate.and_then(|gate| gate.change_of(peer.generation(), down)).is_some();
        if found {
            self.shared.want(attention::SWEEP);
        }
        found
    }

    /// The platform says that a link has failed. Context: any, interrupts too; the driver's thread
    /// must be woken and will stop the engine.
    pub fn link_failed(&self, link: LinkId) {
        if let Some(gate) = self.shared.link(link) {
            gate.close();
            self.shared.want(attention::failed(link));
        }
    }

    /// The device of a link says what no working device says, or does not answer. Context: any,
    /// interrupts too; the driver's thread must be woken. The link fails, and it stays
    /// [`Failed`](crate::link::LinkState::Failed) until there is a proof that the device has stopped.
    pub fn device_gone(&self, link: LinkId) {
        if let Some(gate) = self.shared.link(link) {
            gate.close();
            self.shared.want(attention::gone(link));
        }
    }

    /// How far the handshake with a peer has come; `Unknown` if the id is stale. Context: any.
    pub fn peer_state(&self, peer: PeerId) -> HelloState {
        self.shared.peer(peer).map_or(HelloState::Unknown, |gate| gate.view().state())
    }
}

/// One link's interrupt: takes completions and decides.
///
/// It shares nothing with the driver but the words, so that no lock is taken in an interrupt.
#[derive(Debug)]
pub struct Interrupt<'m, Q> {
    irq_handle: IrqHandle<'m>,
    queue: Q,
    link: Option<LinkId>,
    counters: Counters,
}

/// What an interrupt did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Completions taken.
    pub taken: u32,
    /// The shard's thread should be woken.
    pub wake: bool,
    /// The budget ran out: more may be waiting.
    pub more: bool,
}

impl<'m, Q: Completions> Interrupt<'m, Q> {
    /// The interrupt of the link whose completion ring is `queue`.
    pub fn new(irq_handle: IrqHandle<'m>, queue: Q) -> Self {
        Self { irq_handle, queue, link: None, counters: Counters::new() }
    }

    /// As [`new`](Self::new), for the ring of `link`: a completion of a transfer on another link is
    /// counted and changes nothing. Only a transfer's own engine says that it has let go of the memory
    /// (INV-2).
    pub fn of_link(irq_handle: IrqHandle<'m>, queue: Q, link: LinkId) -> Self {
        Self { irq_handle, queue, link: Some(link), counters: Counters::new() }
    }

    /// Takes up to `budget` completions. Context: the link's interrupt, or a thread in its place;
    /// never both at once, which `&mut` says.
    pub fn on_interrupt(&mut self, now: Instant, budget: u32, tracer: &mut impl Tracer) -> Served {
        let mut served = Served::default();
        while served.taken < budget {
            let Some(completion) = self.queue.pop() else { return served };
            served.taken += 1;
            let tag = completion.tag;
            if self.link.is_some_and(|link| self.irq_handle.is_foreign(link, tag)) {
                self.counters.count(Counter::ForeignCompletion);
                continue;
            }
            served.wake |=
                self.irq_handle.on_completion(now, completion, &mut self.counters, tracer);
        }
        served.more = true;
        served
    }

    /// The interrupt status was one that no working device shows: it is counted, and the device of
    /// `link`, whose interrupt this is, is gone (INV-3). Context: as for
    /// [`on_interrupt`](Self::on_interrupt).
    pub fn on_impossible_status(&mut self, link: LinkId) {
        self.counters.count(Counter::ImpossibleStatus);
        self.irq_handle.device_gone(link);
    }

    /// What this interrupt has counted.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The completion ring.
    pub const fn queue(&self) -> &Q {
        &self.queue
    }

    /// The completion ring, for its own maintenance.
    pub fn queue_mut(&mut self) -> &mut Q {
        &mut self.queue
    }
}
