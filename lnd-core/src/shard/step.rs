// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file applies events of transfers on the shard's own thread.

use super::Driver;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::message::{Envelope, Lane};
use crate::base::time::Instant;
use crate::machines::transfer::{Effect, Event};
use crate::ports::trace::Trace;
use crate::ports::{Completion, Ports, Returned, Sent, Tracer};
use crate::slots::shared::{attention, Applied};
use crate::table::completed::FinalizeToken;

impl Event {
    /// The return of a descriptor.
    pub(crate) const fn of_descriptor(returned: Returned) -> Self {
        match returned {
            Returned::Ok => Self::HwOk,
            Returned::Untouched => Self::HwUntouched,
            Returned::Touched => Self::HwTouched,
        }
    }

    /// The end of a short message.
    pub(crate) const fn of_message(sent: Sent) -> Self {
        match sent {
            Sent::Ok => Self::MsgOk,
            Sent::NotDelivered => Self::MsgNotDelivered,
            Sent::Unknown => Self::MsgUnknown,
        }
    }
}

impl<P: Ports> Driver<'_, P> {
    /// Applies the end of a short message. The same as
    /// [`IrqHandle::on_sent`](crate::driver::IrqHandle::on_sent), for the shard's own thread.
    pub fn on_sent(&mut self, now: Instant, tag: Tag, sent: Sent) {
        if self.own_handle().hello_sent(tag, sent).is_none() {
            self.on_hardware(now, tag, Event::of_message(sent));
        }
    }

    /// Applies the return of a descriptor. The same as
    /// [`IrqHandle::on_completion`](crate::driver::IrqHandle::on_completion), for hosts whose own
    /// thread handles completions.
    pub fn on_completion(&mut self, now: Instant, completion: Completion) {
        if completion.tag.index < self.slots.count() {
            self.on_hardware(now, completion.tag, Event::of_descriptor(completion.returned));
        } else {
            self.counters.count(Counter::ForeignCompletion);
        }
    }

    /// As [`on_completion`](Self::on_completion), of a descriptor that came back well. Returns the
    /// token of a transfer that has ended and is the next to be reported.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(crate) fn completed_well(&mut self, now: Instant, tag: Tag) -> Option<FinalizeToken> {
        if tag.index >= self.slots.count() {
            self.counters.count(Counter::ForeignCompletion);
            return None;
        }
        let (applied, token) = self.slots.apply_last::<true>(tag, Event::HwOk);
        let _ = self.applied(now, tag, Event::HwOk, applied, Counter::StaleCompletion);
        token
    }

    /// As [`completed_well`](Self::completed_well), of a descriptor with any outcome.
    pub(crate) fn completed(
        &mut self,
        now: Instant,
        Completion { tag, returned }: Completion,
    ) -> Option<FinalizeToken> {
        if tag.index >= self.slots.count() {
            self.counters.count(Counter::ForeignCompletion);
            return None;
        }
        let event = Event::of_descriptor(returned);
        let (applied, token) = self.slots.apply_last::<false>(tag, event);
        let _ = self.applied(now, tag, event, applied, Counter::StaleCompletion);
        token
    }

    /// Applies an event of the hardware.
    fn on_hardware(&mut self, now: Instant, tag: Tag, event: Event) {
        let applied = self.slots.apply(tag, event);
        let effect = self.applied(now, tag, event, applied, Counter::StaleCompletion);
        if effect == Some(Effect::Invalidate) {
            // The engine is not called from here, because the caller may be in the middle of its
            // completion ring. The sweep invalidates the descriptor.
            // This thread will run anyway, so no wake-up is needed: the attention shows in the next
            // due time.
            self.shared.want(attention::SWEEP);
        }
    }

    /// Applies an event and traces it. `None`: the tag is stale. That is counted here.
    pub(crate) fn apply(&mut self, now: Instant, tag: Tag, event: Event) -> Option<Effect> {
        let applied = self.slots.apply(tag, event);
        self.applied(now, tag, event, applied, Counter::StaleAnswer)
    }

    /// The thread has finished its work on a transfer.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(crate) fn pay_cpu(&mut self, now: Instant, tag: Tag) -> Option<Effect> {
        let applied = self.slots.apply_here(tag, Event::PayCpu);
        self.applied(now, tag, Event::PayCpu, applied, Counter::StaleAnswer)
    }

    /// Traces what an event has done.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(crate) fn applied(
        &mut self,
        now: Instant,
        tag: Tag,
        event: Event,
        applied: Option<Applied>,
        stale: Counter,
    ) -> Option<Effect> {
        let Some(Applied { before, after, effect }) = applied else {
            self.counters.count(stale);
            self.tracer.record(now, Trace::Stale { tag });
            return None;
        };
        self.tracer.record(now, Trace::Step { tag, event, before, after, effect });
        if effect == Effect::Late {
            self.counters.count(Counter::LateEvent);
        }
        Some(effect)
    }

    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(crate) fn after_sending(
        &mut self,
        now: Instant,
        link: LinkId,
        envelope: &Envelope,
        lane: Lane,
        sent: bool,
    ) {
        if sent {
            self.counters.count(Counter::Sent);
            let (to, sequence) = (envelope.to, envelope.sequence);
            self.tracer.record(now, Trace::Sent { to, link, lane, sequence });
        } else {
            self.counters.count(Counter::SendFailed);
        }
    }

    /// Whether nothing waits to be reported. A hint.
    pub fn nothing_to_report(&self) -> bool {
        self.slots.nothing_ended()
    }

    /// Whether a transfer belongs to the present incarnation of a peer.
    pub(crate) fn is_with(&self, tag: Tag, id: PeerId) -> bool {
        let owner = self.slots.owner(tag.index);
        let incarnation = self.peers.gate(id).map(|g| g.view().incarnation());
        // Tags of a peer's former incarnation may be in flight. An answer must match both (R31).
        owner.peer_index() as usize == id.index() && incarnation == Some(owner.incarnation())
    }
}
