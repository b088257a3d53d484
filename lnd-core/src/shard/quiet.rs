// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! When there is something to do next (R39).

use super::{Driver, RunState};
use crate::base::time::{Instant, Span};
use crate::ports::Ports;
use crate::slots::PutOff;

/// A time that comes.
#[inline]
pub(crate) fn unless_never(next: Instant) -> Option<Instant> {
    (next != Instant::NEVER).then_some(next)
}

impl<P: Ports> Driver<'_, P> {
    /// When there is something to do next, if nothing but a timer brings it.
    pub(crate) fn quiet_until(&self) -> Option<Instant> {
        let (next, quiet) = self.next_of_own(Instant::ORIGIN);
        quiet.then_some(next)
    }

    /// Whether [`on_time`](Self::on_time) would do nothing now, and its last answer holds. For hosts that sleep
    /// until then and have made another call since.
    #[inline]
    pub fn is_quiet(&self, now: Instant) -> bool {
        now < self.quiet_until && !self.shared.attention_wanted()
    }

    /// When there is something to do next, as [`on_time`](Self::on_time) would say, and nothing is done. For
    /// hosts that sleep until then: another call may have made it earlier.
    pub fn next_time(&self, now: Instant) -> Option<Instant> {
        unless_never(self.next_due(now).0)
    }

    /// When there is something to do next; and whether nothing but a timer brings it, or another context.
    /// [`NEVER`](Instant::NEVER): nothing waits for time.
    pub(crate) fn next_due(&self, now: Instant) -> (Instant, bool) {
        let announced = self.links.any_gone() || self.shared.attention_wanted();
        if announced && self.run.state() != RunState::Quiescent {
            return (now, false);
        }
        self.next_of_own(now)
    }

    /// Whether a call of [`on_time`](Self::on_time) would go on with something at once: nothing of it waits for
    /// time, for a device or for room. What the bound of a call has left over is such, and so is what others
    /// than `on_time` have left to it. What other contexts ask for and engines find is not looked at.
    fn goes_on(&self) -> bool {
        let shutdown = match self.run.state() {
            RunState::Running | RunState::Quiescent => false,
            // What ends before, ends before the shutdown looks.
            RunState::Refusing | RunState::Draining => self.slots.in_use() == (0, 0),
            // Goodbyes are left to send.
            RunState::Closing => true,
            RunState::Stopping => self.links.all_down(),
        };
        let to_send = self.peers.goes_on() || self.replies.goes_on();
        shutdown || to_send || !self.slots.is_swept() || self.links.any_goes_on()
    }

    /// The same, whatever other contexts ask for and engines find.
    fn next_of_own(&self, now: Instant) -> (Instant, bool) {
        let state = self.run.state();
        if state == RunState::Quiescent {
            return (Instant::NEVER, false);
        }
        if self.goes_on() {
            return (now, false);
        }
        let timers = [self.slots.next_due(), self.peers.next_due()];
        let mut next = timers.into_iter().flatten().min().unwrap_or(Instant::NEVER);
        let mut quiet = state == RunState::Running && self.peers.all_heard();
        if self.peers.anything_to_send() || !self.replies.is_empty() || self.links.any_out() {
            // What nothing tells of is looked at by the clock.
            next = next.min(self.polled.min(now).after(self.config.link_poll));
            quiet = false;
        }
        if let Some(place) = self.peers.places.next(now) {
            next = next.min(place);
            quiet = false;
        }
        if let Some(grace) = self.run.grace() {
            next = next.min(grace);
        }
        (next.max(now), quiet)
    }

    /// Notes that we run. A longer time without a call of [`on_time`](Self::on_time) may have been a pause.
    #[inline]
    pub(crate) fn note_run(&mut self, now: Instant) {
        if now.since(self.ran) > self.gap {
            self.awake = now;
        }
        self.ran = now;
    }

    /// Until when, and for what, the verdict on a silence is put off: others are silent only while we listen
    /// (R41). Its time, of `bound`, was over at `due`. `None`: we have run since before its end, or it has been put
    /// off for as much `before`.
    ///
    /// This may be the first call after a pause, however short, and a verdict would come before the frames that
    /// came meanwhile. So it comes with a later call, and frames are taken in between the two. A pause may have
    /// stopped the other side too: it has as long again as we know that we did not run.
    pub(crate) fn put_off(
        &self,
        now: Instant,
        due: Instant,
        bound: Span,
        before: PutOff,
    ) -> Option<(Instant, PutOff)> {
        let late = now.since(due).min(bound);
        let long = late.as_nanos() > bound.as_nanos() >> 1;
        let heard = self.awake < due;
        // A call that is a little late, as those of a host that sleeps are, uses up nothing of what a pause is
        // granted.
        let put_off = if long { PutOff::Pause } else { PutOff::Call };
        if heard || put_off <= before {
            return None;
        }
        Some((now.after(late.max(self.config.granularity())), put_off))
    }

    /// Whether a slot has become free, the state of a peer has changed, or a decision has made room for a
    /// peer's next request, since this was asked last: each request that got
    /// [`Inbound::Wait`](crate::driver::Inbound::Wait) is to be offered again. To be asked after
    /// [`on_time`](Self::on_time), [`next_report`](Self::next_report), and the decision on a
    /// [`RxRequest`](crate::driver::Ticket). `next_report` frees slots of requests that have ended without a
    /// report, too.
    #[must_use]
    pub fn offer_again(&mut self) -> bool {
        core::mem::take(&mut self.offer)
    }
}
