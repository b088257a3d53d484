// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One budget for all actions that health starts itself: pings, probes, reconnects.

use lnd_core::time::{Instant, Span};

/// One action per `every`; unused actions are saved up to `burst`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// Time for one action, in nanoseconds.
    every: u64,
    burst: u32,
    left: u32,
    since: Instant,
}

impl Allowance {
    /// One action per `every`, at most `burst` at once; full at `now`. `every` is at least 1 ns.
    pub(crate) const fn new(every: Span, burst: u32, now: Instant) -> Self {
        Self { every: every.as_nanos(), burst, left: burst, since: now }
    }

    /// Uses one action. Returns `false` if none is left at `now`.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        self.earn(now);
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Whether an action is left at `now`.
    pub(crate) fn ready(&mut self, now: Instant) -> bool {
        self.earn(now);
        self.left > 0
    }

    /// The time of the next action. If one is left now it may be any earlier time, also after the
    /// clock stepped back.
    pub(crate) const fn next(&self) -> Instant {
        if self.left > 0 {
            Instant::ORIGIN
        } else {
            self.since.after(Span::from_nanos(self.every))
        }
    }

    fn earn(&mut self, now: Instant) {
        let passed = now.since(self.since).as_nanos();
        let earned = passed.checked_div(self.every).unwrap_or(0);
        if earned == 0 {
            return;
        }
        let room = u64::from(self.burst.saturating_sub(self.left));
        self.left = self.left.saturating_add(earned.min(room) as u32);
        // A remainder below one action is kept, unless the budget is full.
        self.since = if earned >= room {
            now
        } else {
            self.since.after(Span::from_nanos(earned.saturating_mul(self.every)))
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_than_burst_and_rate() {
        let every = Span::from_millis(10);
        let mut purse = Allowance::new(every, 5, Instant::ORIGIN);
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut taken = 0_u64;
        for ms in 0..1_000 {
            while purse.take(at(ms)) {
                taken += 1;
            }
            assert!(taken <= 5 + ms / 10, "{taken} after {ms} ms");
            assert!(purse.next() > at(ms));
        }
        assert!(taken >= 5 + 99, "{taken}");
        // A long pause saves up one burst at most.
        assert_eq!((0..50).filter(|_| purse.take(at(1_000_000))).count(), 5);
    }
}
