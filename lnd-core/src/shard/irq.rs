// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the half of the driver that runs in any context: interrupts decide, threads
//! report.

use crate::base::counters::{Count, Counter, Counters};
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::time::Instant;
use crate::machines::peer::{GateView, HelloEvent, HelloState};
use crate::machines::transfer::{Effect, Event};
use crate::ports::trace::Trace;
use crate::ports::{Completion, Completions, Sent, Tracer};
use crate::slots::shared::{attention, Shared};

/// A handle to a shard's words, for any context. Copies cost nothing.
///
/// Every call returns whether the caller has to wake the shard's thread, to report or to handle
/// something.
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

    /// Applies the return of a descriptor. Context: any.
    pub fn on_completion(
        &self,
        now: Instant,
        completion: Completion,
        counters: &mut impl Count,
        tracer: &mut impl Tracer,
    ) -> bool {
        // The index comes from the device and is checked before it names anything (R14).
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

    /// As [`on_completion`](Self::on_completion), from the engine of `link`. A completion of a
    /// transfer on another link is counted and changes nothing: only a transfer's own engine can
    /// report that it no longer touches the memory (INV-2). Context: any.
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

    /// Whether a transfer is on another link. Its link is fixed while a descriptor is out.
    #[inline]
    pub(crate) fn is_foreign(&self, link: LinkId, tag: Tag) -> bool {
        // The tag is compared last. If the slot was reused meanwhile, the event is stale and is
        // counted as such.
        self.shared.owner(tag.index).link() != Some(link) && self.shared.tag(tag.index) == tag
    }

    /// Applies the end of a short message: of a transfer, or of a hello. For a hello only
    /// [`Sent::NotDelivered`] has an effect (LU-14536). Context: any.
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

    /// Whether a hello was not delivered. `None`: the tag is not of a hello.
    pub(super) fn hello_sent(&self, tag: Tag, sent: Sent) -> Option<bool> {
        let place = self.hello_place(tag)?;
        if sent == Sent::NotDelivered {
            // Success of a hello's send proves nothing about the peer, so only failure is noted.
            self.shared.hello_unheard(place, tag.generation);
        }
        Some(sent == Sent::NotDelivered)
    }

    /// The place of the peer to which a hello went. `None`: the tag is not of a hello.
    fn hello_place(&self, tag: Tag) -> Option<u32> {
        // Tags of hellos use the indices behind the slots, so they need no slot and match no
        // transfer.
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
                // Only the shard's thread calls the engine. Its sweep invalidates the descriptor.
                self.shared.want(attention::SWEEP);
                true
            }
            Effect::Late => {
                // Normal: the debt was settled by a proof, or by an earlier event (S0-21).
                counters.count(Counter::LateEvent);
                false
            }
            _ => false,
        }
    }

    /// The platform reports that a peer is down. Context: any, interrupts too. The driver's thread
    /// must be woken and then cancels the peer's transfers. Returns whether the id names a peer: a
    /// stale id takes nothing down (R14).
    pub fn peer_down(&self, peer: PeerId) -> bool {
        let gate = self.shared.peer_gate(peer.index());
        let down = |view: GateView| view.on_hello(HelloEvent::Down);
        let found = gate.and_then(|gate| gate.change_of(peer.generation(), down)).is_some();
        // The gate is changed before the request. The sweep that it causes then sees the change.
        if found {
            self.shared.want(attention::SWEEP);
        }
        found
    }

    /// The platform reports that a link has failed. Context: any, interrupts too. The driver's
    /// thread must be woken and then stops the engine.
    pub fn link_failed(&self, link: LinkId) {
        if let Some(gate) = self.shared.link(link) {
            // From here on nothing more is posted, even before the thread runs (S0-20).
            gate.close();
            self.shared.want(attention::failed(link));
        }
    }

    /// The device of a link does not answer, or its registers hold what no working device reports.
    /// Context: any, interrupts too. The driver's thread must be woken. The link fails and stays
    /// [`Failed`](crate::link::LinkState::Failed) until the device is proven stopped.
    pub fn device_gone(&self, link: LinkId) {
        if let Some(gate) = self.shared.link(link) {
            gate.close();
            self.shared.want(attention::gone(link));
        }
    }

    /// How far the handshake with a peer has come. `Unknown` if the id is stale. Context: any.
    pub fn peer_state(&self, peer: PeerId) -> HelloState {
        self.shared.peer(peer).map_or(HelloState::Unknown, |gate| gate.view().state())
    }
}

/// One link's interrupt: pops completions and decides.
///
/// It shares only the words with the driver, so an interrupt takes no lock.
///
/// ```
/// use lnd_core::driver::{Driver, Interrupt};
/// use lnd_core::ports::{Completion, Completions, NoTrace, Ports};
/// use lnd_core::time::Instant;
///
/// /// The completions that a device has written.
/// struct Ring(Vec<Completion>);
///
/// impl Completions for Ring {
///     fn pop(&mut self) -> Option<Completion> {
///         self.0.pop()
///     }
/// }
///
/// /// Returns what an interrupt handler keeps. It needs the driver no more.
/// fn interrupt_of<'m, P: Ports>(driver: &Driver<'m, P>) -> Interrupt<'m, Ring> {
///     Interrupt::new(driver.irq_handle(), Ring(Vec::new()))
/// }
///
/// /// The interrupt: 64 completions at most. Returns whether the thread is to be woken.
/// fn on_interrupt(interrupt: &mut Interrupt<'_, Ring>, now: Instant) -> bool {
///     let served = interrupt.on_interrupt(now, 64, &mut NoTrace);
///     // With `served.more` the budget is spent, and the handler calls again.
///     served.wake
/// }
/// ```
#[derive(Debug)]
pub struct Interrupt<'m, Q> {
    irq_handle: IrqHandle<'m>,
    queue: Q,
    link: Option<LinkId>,
    counters: Counters,
}

/// The result of one interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Completions popped.
    pub taken: u32,
    /// The shard's thread is to be woken.
    pub wake: bool,
    /// The budget is spent: more completions may be waiting.
    pub more: bool,
}

impl<'m, Q: Completions> Interrupt<'m, Q> {
    /// The interrupt of the link whose completion ring is `queue`.
    pub fn new(irq_handle: IrqHandle<'m>, queue: Q) -> Self {
        Self { irq_handle, queue, link: None, counters: Counters::new() }
    }

    /// As [`new`](Self::new), for the ring of `link`. A completion of a transfer on another link is
    /// counted and changes nothing: only a transfer's own engine can report that it no longer
    /// touches the memory (INV-2).
    pub fn of_link(irq_handle: IrqHandle<'m>, queue: Q, link: LinkId) -> Self {
        Self { irq_handle, queue, link: Some(link), counters: Counters::new() }
    }

    /// Pops up to `budget` completions. Context: the link's interrupt, or a thread in its place.
    /// `&mut` keeps the two from running at once.
    pub fn on_interrupt(&mut self, now: Instant, budget: u32, tracer: &mut impl Tracer) -> Served {
        let mut served = Served::default();
        while served.taken < budget {
            // The budget bounds the time in the interrupt (R64).
            let Some(completion) = self.queue.pop() else { return served };
            served.taken += 1;
            let tag = completion.tag;
            if self.link.is_some_and(|link| self.irq_handle.is_foreign(link, tag)) {
                self.counters.count(Counter::ForeignCompletion);
                continue;
            }
            // Most completions need no wake-up of their own: one wake-up serves the batch.
            served.wake |=
                self.irq_handle.on_completion(now, completion, &mut self.counters, tracer);
        }
        served.more = true;
        served
    }

    /// Handles an interrupt status that no working device reports. It is counted, and the device of
    /// `link`, to which this interrupt belongs, is gone (INV-3). Context: as for
    /// [`on_interrupt`](Self::on_interrupt).
    pub fn on_impossible_status(&mut self, link: LinkId) {
        self.counters.count(Counter::ImpossibleStatus);
        self.irq_handle.device_gone(link);
    }

    /// The counters of this interrupt.
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
