// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file cancels transfers: what is queued ends at once, what the engine holds is invalidated.

use crate::base::counters::Counter;
use crate::base::id::Tag;
use crate::base::time::Instant;
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Cause, Debts, Effect, Event, Phase};
use crate::ports::Ports;
use crate::shard::Driver;
use crate::slots::shared::Owner;
use crate::slots::{Flags, Role};

impl<P: Ports> Driver<'_, P> {
    /// The upper layer withdraws a transfer of its own, by tag. The report follows as usual.
    ///
    /// Returns whether it is one that is under way. What has ended is unaffected, and so is a
    /// request of a peer or a message that ends one: no report would follow.
    pub fn withdraw(&mut self, now: Instant, tag: Tag) -> bool {
        self.note_work();
        if !self.slots.get(tag.index).is_some_and(|state| state.role.reported()) {
            return false;
        }
        let Some(applied) = self.slots.apply(tag, Event::Cancel(Cause::Withdrawn)) else {
            return false;
        };
        self.cancelled(now, tag, Cause::Withdrawn, applied.effect);
        true
    }

    /// Cancels a transfer and carries out the effect. A repetition is harmless.
    pub(crate) fn cancel(&mut self, now: Instant, tag: Tag, cause: Cause) {
        if let Some(effect) = self.apply(now, tag, Event::Cancel(cause)) {
            self.cancelled(now, tag, cause, effect);
        }
    }

    /// As [`cancel`](Self::cancel), compiled into its caller: for the sweep, where every transfer
    /// of a peer passes.
    #[cfg(not(feature = "compact"))]
    #[inline(always)]
    pub(crate) fn cancel_here(&mut self, now: Instant, tag: Tag, owner: Owner, cause: Cause) {
        let event = Event::Cancel(cause);
        let applied = self.slots.apply_here(tag, event);
        match self.applied(now, tag, event, applied, Counter::StaleAnswer) {
            Some(Effect::Invalidate) => self.invalidate_here(now, tag, owner),
            Some(effect) => self.cancelled(now, tag, cause, effect),
            None => {}
        }
    }

    #[cfg(feature = "compact")]
    pub(crate) fn cancel_here(&mut self, now: Instant, tag: Tag, _: Owner, cause: Cause) {
        self.cancel(now, tag, cause);
    }

    /// Carries out the effect of a cancellation.
    fn cancelled(&mut self, now: Instant, tag: Tag, cause: Cause, effect: Effect) {
        match effect {
            Effect::Unqueue => self.give_up_queued(now, tag),
            Effect::Invalidate => self.invalidate(now, tag),
            // A waiting pull is `Live`, and its queue holds its `CPU`. No other place pays that
            // debt, so the pull ends here.
            Effect::None | Effect::Repeat if self.give_up_pull(now, tag, cause) => {}
            // The descriptor or the message is still out. From now on the wait for it is bounded
            // (R40).
            Effect::None | Effect::Repeat => self.await_drain(now, tag),
            _ => {}
        }
    }

    /// Ends a cancelled transfer of which nothing was posted, and removes it from its queue. A
    /// request of a peer returns its credit, as with any decision.
    fn give_up_queued(&mut self, now: Instant, tag: Tag) {
        self.unqueue(tag);
        if self.slots.get(tag.index).is_some_and(|d| d.role == Role::RxRequest) {
            self.consume(tag);
        }
        let _ = self.apply(now, tag, Event::PayCpu);
    }

    /// Ends a transfer whose deadline has passed, before any of it is posted (LU-16303, INV-9).
    /// Returns whether it did.
    pub(crate) fn end_if_late(&mut self, now: Instant, tag: Tag) -> bool {
        // Every path out of a queue checks this. A received message may release what waits before
        // `on_time` is called for the present time.
        let Some(state) = self.slots.get(tag.index) else { return false };
        let role = state.role;
        // The timer of a cancelled transfer bounds its drain. A final message that has room now is
        // sent, whatever its timer says: a pause may have moved it (R41).
        let bounded = !state.flags.contains(Flags::DRAINING)
            && !role.is_final()
            && matches!(self.slots.word(tag.index).phase(), Phase::Queued | Phase::Live);
        let late = bounded && self.slots.armed(tag.index).is_some_and(|due| due <= now);
        if late {
            self.deadline_passed(now, tag);
            return true;
        }
        false
    }

    pub(crate) fn deadline_passed(&mut self, now: Instant, tag: Tag) {
        self.counters.count(Counter::Deadlines);
        self.cancel(now, tag, Cause::Deadline);
    }

    /// The reason for which a queued request cannot be sent, if there is one. Its only link is
    /// closed, or its peer has no connection there. Or its peer is unknown because no link is open
    /// for a hello.
    pub(crate) fn link_closed(&self, slot: u32) -> Option<Cause> {
        // It fails at once. The upper layer can then choose another path, and nothing waits behind
        // the request (R53).
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

    /// Ends a waiting pull whose request has failed meanwhile, cancelled by another context.
    pub(crate) fn end_if_invalidating(&mut self, now: Instant, tag: Tag) -> bool {
        let word = self.slots.word(tag.index);
        match word.cause().filter(|_| word.invalidating()) {
            Some(cause) => self.give_up_pull(now, tag, cause),
            None => false,
        }
    }

    /// The reason for which a waiting pull will never start: its link is closed, its connection is
    /// out of service, or its peer has another incarnation. It ends at once, ahead of those in
    /// front of it.
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

    /// Ends a pull that is `Live`, cancelled, and waiting. Nothing was posted. Returns whether the
    /// transfer was such a pull.
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
            // The end of its request is still outstanding.
            self.await_drain(now, tag);
        }
        true
    }
}
