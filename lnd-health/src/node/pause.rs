// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! When a message is resent: pauses between rounds, and the time of a try (R37, S4-19).

use super::tally::HealthCounter;
use super::Health;
use crate::attempts::{Attempts, UNTIL_DEADLINE};
use crate::effect::Resend;
use lnd_core::time::{Instant, Span};

impl Health<'_> {
    /// The end of the pause of a message whose paths have all been tried; `None`: too little time
    /// is left for another try. At most half of the time left, so that a long pause does not cost a
    /// try.
    pub(super) fn pause(
        &mut self,
        now: Instant,
        attempts: &mut Attempts,
        full: bool,
    ) -> Option<Instant> {
        let backoff = if full { self.config.pressure } else { self.config.resend };
        let left = attempts.deadline().since(now);
        if left < backoff.first {
            return None;
        }
        let delay = backoff.jittered(&mut self.jitter, attempts.pauses());
        let delay = delay.min(Span::from_nanos(left.as_nanos() / 2));
        let at = now.after(delay);
        attempts.pause(at, self.recoveries);
        attempts.next = Resend::Untried;
        if attempts.round_is_full() || self.choose(attempts, &[]).is_err() {
            attempts.start_over();
        }
        self.tally.count(HealthCounter::Pauses);
        Some(at)
    }

    /// The earliest time of a message's next try: the end of its pause, or now if an interface has
    /// come up since the pause began. Context: any; constant time.
    pub const fn next_try(&self, attempts: &Attempts) -> Instant {
        if attempts.recoveries == self.recoveries {
            attempts.not_before()
        } else {
            Instant::ORIGIN
        }
    }

    /// The time by which a try that begins at `now` should end (R37), never after the deadline.
    /// With a limit of resends each remaining try has as much time; without one, a third of the
    /// time left, but at least the shortest pause.
    pub fn slice(&self, now: Instant, attempts: &Attempts) -> Instant {
        let tries = attempts.tries().saturating_sub(u32::from(attempts.under_way()));
        let left = match self.config.resends() {
            UNTIL_DEADLINE => 2,
            limit => u32::from(limit).saturating_sub(tries).min(u32::from(u8::MAX)) as u8,
        };
        let slice = attempts.slice(now, left);
        match self.config.resends() {
            UNTIL_DEADLINE => slice.max(now.after(self.config.resend.first)),
            _ => slice,
        }
        .min(attempts.deadline())
    }
}
