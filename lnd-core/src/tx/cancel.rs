// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Transfers that are given up: what is queued ends at once, what the engine has is invalidated.

use crate::base::counters::Counter;
use crate::base::id::Tag;
use crate::base::time::Instant;
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Cause, Debts, Effect, Event, Phase};
use crate::ports::Ports;
use crate::shard::Driver;
use crate::slots::{Flags, Role};

impl<P: Ports> Driver<'_, P> {
    /// The upper layer gives up a transfer of its own, by tag. Its report will come as usual; one
    /// that has ended already is left alone.
    pub fn withdraw(&mut self, now: Instant, tag: Tag) {
        self.stir();
        if let Some(applied) = self.slots.apply(tag, Event::Cancel(Cause::Withdrawn)) {
            self.cancelled(now, tag, Cause::Withdrawn, applied.effect);
        }
    }

    /// Cancels a transfer and does what the cancellation asks for; asking twice is harmless.
    pub(crate) fn cancel(&mut self, now: Instant, tag: Tag, cause: Cause) {
        if let Some(effect) = self.apply(now, tag, Event::Cancel(cause)) {
            self.cancelled(now, tag, cause, effect);
        }
    }

    /// Does what a cancellation asks for.
    fn cancelled(&mut self, now: Instant, tag: Tag, cause: Cause, effect: Effect) {
        match effect {
            Effect::Unqueue => self.give_up_queued(now, tag),
            Effect::Invalidate => self.invalidate(now, tag),
            Effect::None | Effect::Repeat if self.give_up_pull(now, tag, cause) => {}
            Effect::None | Effect::Repeat => self.await_drain(now, tag),
            _ => {}
        }
    }

    /// A cancelled transfer of which nothing was posted: takes it out of its queue and lets it
    /// end. A ticket gives its credit back, as any verdict would have.
    fn give_up_queued(&mut self, now: Instant, tag: Tag) {
        self.unqueue(tag);
        if self.slots.get(tag.index).is_some_and(|d| d.role == Role::RxRequest) {
            self.consume(tag);
        }
        let _ = self.apply(now, tag, Event::PayCpu);
    }

    /// Ends a transfer whose deadline has passed, before anything of it is posted (LU-16303,
    /// INV-9). Returns whether it did.
    ///
    /// Every path out of a queue asks this: messages may be taken in, and may free what waits, before
    /// [`on_time`](Self::on_time) is called for the present time.
    pub(crate) fn end_if_late(&mut self, now: Instant, tag: Tag) -> bool {
        let Some(state) = self.slots.get(tag.index) else { return false };
        let role = state.role;
        // A cancelled transfer's timer is the drain bound's.
        let bounded = !state.flags.contains(Flags::DRAINING)
            && matches!(self.slots.word(tag.index).phase(), Phase::Queued | Phase::Live);
        let late = bounded && self.slots.armed(tag.index).is_some_and(|due| due <= now);
        if late {
            self.deadline_passed(now, tag, role);
            return true;
        }
        false
    }

    pub(crate) fn deadline_passed(&mut self, now: Instant, tag: Tag, role: Role) {
        self.counters.count(Counter::Deadlines);
        if role == Role::RxRequest {
            self.counters.count(Counter::DecisionLate);
        }
        self.cancel(now, tag, Cause::Deadline);
    }

    /// Why a request would wait in vain, if it would: it is for one link alone, which is closed or by which
    /// its peer has no connection now. It fails at once, so that the upper layer may choose another, and so
    /// that nothing waits behind it (R53). Or its peer could not be asked, since none of our links is open.
    pub(crate) fn link_closed(&self, slot: u32) -> Option<Cause> {
        let state = self.slots.get(slot).filter(|state| state.is_queued())?;
        let peer = self.peers.of_slot(slot);
        let unasked = state.role.requests() && self.peers.state(peer) == HelloState::Unknown;
        let link = state.link_preference();
        if unasked || link.is_some_and(|link| !self.links.is_open(link)) {
            return Some(Cause::LinkDown);
        }
        let out =
            self.peers.nid(peer).zip(link).is_some_and(|(nid, it)| self.links.is_out(nid, it));
        out.then_some(Cause::ConnectionDown)
    }

    /// Gives up a waiting pull whose request has failed meanwhile: another context has cancelled it.
    pub(crate) fn end_if_invalidating(&mut self, now: Instant, tag: Tag) -> bool {
        let word = self.slots.word(tag.index);
        match word.cause().filter(|_| word.invalidating()) {
            Some(cause) => self.give_up_pull(now, tag, cause),
            None => false,
        }
    }

    /// Why a pull that waits will never start: its link is closed, its connection out of service, or its
    /// peer has begun another incarnation. It ends at once, not behind those in front of it.
    pub(crate) fn pull_is_blocked(&self, slot: u32) -> Option<Cause> {
        let state = self.slots.get(slot)?;
        if !state.flags.contains(Flags::QUEUED) || !state.role.pulls() {
            return None;
        }
        let owner = self.slots.owner(slot);
        let open = owner.link().and_then(|link| self.links.gate(link)).is_some_and(|g| g.is_open());
        if !open {
            return Some(Cause::LinkDown);
        }
        if self.is_disconnected(slot) {
            return Some(Cause::ConnectionDown);
        }
        let gate = self.shared.peer_gate(owner.peer_index() as usize)?;
        (gate.view().incarnation() != owner.incarnation()).then_some(Cause::PeerRestarted)
    }

    /// Gives up a pull that is `Live`, was cancelled, and waits: nothing was posted. Returns whether it
    /// was such a one.
    pub(crate) fn give_up_pull(&mut self, now: Instant, tag: Tag, cause: Cause) -> bool {
        let waits = self.slots.get(tag.index).is_some_and(|state| {
            state.flags.contains(Flags::QUEUED) && state.role == Role::GetPull
        });
        if !waits {
            return false;
        }
        self.unqueue_pull(tag);
        let _ = self.apply(now, tag, Event::Withdraw(Debts::HW, cause));
        if self.apply(now, tag, Event::PayCpu) != Some(Effect::Finalize) {
            // The end of its request is still to come.
            self.await_drain(now, tag);
        }
        true
    }
}
