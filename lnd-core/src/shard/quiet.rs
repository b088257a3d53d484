// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file finds the time at which there is something to do next (R39).

use super::{Driver, RunState};
use crate::base::time::{Instant, Span};
use crate::ports::Ports;
use crate::slots::PutOff;

/// The time, if it ever comes.
#[inline]
pub(crate) fn unless_never(next: Instant) -> Option<Instant> {
    (next != Instant::NEVER).then_some(next)
}

impl<P: Ports> Driver<'_, P> {
    /// When there is something to do next, if only a timer brings it.
    pub(crate) fn quiet_until(&self) -> Option<Instant> {
        let (next, quiet) = self.next_of_own(Instant::ORIGIN);
        quiet.then_some(next)
    }

    /// Whether [`on_time`](Self::on_time) would do nothing now and its last answer is still valid.
    /// For hosts that sleep until then and have made another call since.
    #[inline]
    pub fn is_quiet(&self, now: Instant) -> bool {
        now < self.quiet_until && !self.shared.attention_wanted()
    }

    /// When there is something to do next, as [`on_time`](Self::on_time) would return it, without
    /// doing anything. For hosts that sleep until then: another call may have made it earlier.
    /// Reports that wait are not included: a host that has left some, so that
    /// [`nothing_to_report`](Self::nothing_to_report) is false, runs its thread again at once.
    pub fn next_time(&self, now: Instant) -> Option<Instant> {
        unless_never(self.next_due(now).0)
    }

    /// When there is something to do next, and whether only a timer or another context brings it.
    /// [`NEVER`](Instant::NEVER): nothing waits for time.
    pub(crate) fn next_due(&self, now: Instant) -> (Instant, bool) {
        let announced = self.links.any_gone() || self.shared.attention_wanted();
        if announced && self.run.state() != RunState::Quiescent {
            return (now, false);
        }
        self.next_of_own(now)
    }

    /// Whether a call of [`on_time`](Self::on_time) would continue some work at once, without
    /// waiting for time, a device or room. That is what the bound of a call has left, and what
    /// other calls have left to `on_time`. Requests of other contexts and findings of engines are
    /// not included.
    fn goes_on(&self) -> bool {
        let shutdown = match self.run.state() {
            RunState::Running | RunState::Quiescent => false,
            // The reports must be fetched first: the shutdown waits for the last slot.
            RunState::Refusing | RunState::Draining => self.slots.in_use() == (0, 0),
            // Goodbyes are left to send.
            RunState::Closing => true,
            RunState::Stopping => self.links.all_down(),
        };
        let to_send = self.peers.goes_on() || self.replies.goes_on();
        shutdown || to_send || !self.slots.is_swept() || self.links.any_goes_on()
    }

    /// The same as [`next_due`](Self::next_due), without the requests of other contexts and the
    /// findings of engines.
    fn next_of_own(&self, now: Instant) -> (Instant, bool) {
        let state = self.run.state();
        if state == RunState::Quiescent {
            return (Instant::NEVER, false);
        }
        // Work is left, so no time is computed: the host calls again at once.
        if self.goes_on() {
            return (now, false);
        }
        let mut next = self.slots.next_due().min(self.peers.next_due());
        let mut quiet = state == RunState::Running && self.peers.all_heard();
        if self.peers.anything_to_send() || !self.replies.is_empty() || self.links.any_out() {
            // These have no event, so they are polled by the clock. The clock may have stepped back
            // behind the last poll.
            next = next.min(self.polled.min(now).after(self.config.link_poll));
            quiet = false;
        }
        // The waiting node's search depends on changes of peers too, so the answer is not quiet.
        if let Some(place) = self.peers.places.next(now) {
            next = next.min(place);
            quiet = false;
        }
        if let Some(grace) = self.run.grace() {
            next = next.min(grace);
        }
        (next.max(now), quiet)
    }

    /// Notes that this host runs. A longer time without a call of [`on_time`](Self::on_time) may
    /// have been a pause.
    #[inline]
    pub(crate) fn note_run(&mut self, now: Instant) {
        // A pause and a host that slept until its time look alike from here. Both get the
        // allowance.
        if now.since(self.ran) > self.gap {
            self.awake = now;
        }
        self.ran = now;
    }

    /// Until when, and for which reason, the decision on a silence is postponed (R41). Its time of
    /// `bound` ended at `due`. `None`: this host has run since before that end, or the decision was
    /// postponed as much `before`.
    pub(crate) fn put_off(
        &self,
        now: Instant,
        due: Instant,
        bound: Span,
        before: PutOff,
    ) -> Option<(Instant, PutOff)> {
        // A host that was paused has read no frames. A decision now would precede the frames that
        // arrived meanwhile. So it is made by a later call, and frames are handled in between. The
        // pause may have stopped the other side too: it has as long again as this host is known not
        // to have run.
        let late = now.since(due).min(bound);
        let long = late.as_nanos() > bound.as_nanos() >> 1;
        let heard = self.awake < due;
        // A call that is a little late, as those of a sleeping host are, uses up nothing of the
        // allowance for a pause.
        let put_off = if long { PutOff::Pause } else { PutOff::Call };
        if heard || put_off <= before {
            return None;
        }
        Some((now.after(late.max(self.config.granularity())), put_off))
    }

    /// Whether a request that got [`Inbound::Wait`](crate::driver::Inbound::Wait) is to be offered
    /// again: since the last call a slot became free, a peer changed its state, or a decision made
    /// room for a peer's next request. To be called after [`on_time`](Self::on_time), after
    /// [`next_report`](Self::next_report), which also frees slots of requests without a report, and
    /// after the decision on an [`RxRequest`](crate::driver::RxRequest).
    #[must_use]
    pub fn offer_again(&mut self) -> bool {
        core::mem::take(&mut self.offer)
    }
}
