// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Exponential back-off with a cap and jitter, in lanes.

use crate::jitter::Jitter;
use lnd_core::lanes::Lanes;
use lnd_core::time::{Instant, Span};

/// Doublings with lanes of their own; later ones are at the cap (LNet: 2^9 s, then 900 s).
const DOUBLINGS: usize = 10;
/// Variants of a delay: shortened by 0 to 4 sixteenths.
const VARIANTS: usize = 5;
/// Lanes of a queue with back-off.
pub(crate) const BACKOFF_LANES: usize = (DOUBLINGS + 1) * VARIANTS;

/// The delay before the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Delay before the first try. At least 1 ms.
    pub first: Span,
    /// Longest delay. At least `first`.
    pub cap: Span,
    /// Largest part that jitter subtracts from a delay, in sixteenths, `0..=4`; 0 is none.
    pub jitter: u8,
}

impl Backoff {
    /// Regular intervals, as in the 2017 design (S4-8, S4-13): one per `every`, no jitter.
    pub const fn regular(every: Span) -> Self {
        Self { first: every, cap: every, jitter: 0 }
    }

    /// Delay before try number `count`, from 0, without jitter: `first * 2^count`, at most `cap`.
    pub const fn delay(&self, count: u8) -> Span {
        let doublings = if count as usize > DOUBLINGS { DOUBLINGS as u32 } else { count as u32 };
        let delay = self.first.times(1 << doublings);
        // Later delays are at the cap.
        if count as usize >= DOUBLINGS || delay.as_nanos() > self.cap.as_nanos() {
            self.cap
        } else {
            delay
        }
    }

    /// Delay before try number `count`, with jitter. Without a lane, for waits outside the queue.
    pub(crate) fn jittered(&self, jitter: &mut Jitter, count: u8) -> Span {
        let variants = (self.jitter as usize + 1).min(VARIANTS);
        let variant = jitter.below(variants as u32);
        let delay = self.delay(count).as_nanos();
        Span::from_nanos(delay - delay / 16 * u64::from(variant))
    }

    /// Queues `index` for its try number `count`, in one of the first [`BACKOFF_LANES`] lanes.
    pub(crate) fn arm<const N: usize>(
        &self,
        lanes: &mut Lanes<'_, N>,
        jitter: &mut Jitter,
        now: Instant,
        index: u32,
        count: u8,
    ) {
        let variants = (self.jitter as usize + 1).min(VARIANTS);
        let variant = jitter.below(variants as u32) as usize;
        let delay = self.delay(count).as_nanos();
        let delay = Span::from_nanos(delay - delay / 16 * variant as u64);
        let lane = (count as usize).min(DOUBLINGS) * VARIANTS + variant;
        lanes.arm(index, lane, now.after(delay));
    }

    pub(crate) const fn is_sound(&self) -> bool {
        self.first.as_nanos() >= 1_000_000
            && self.cap.as_nanos() >= self.first.as_nanos()
            && (self.jitter as usize) < VARIANTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lnd_core::lanes::Timer;
    use std::vec;

    #[test]
    fn doubles_up_to_the_cap() {
        // A5: 2^count s, at most 900 s.
        let b = Backoff { first: Span::from_secs(1), cap: Span::from_secs(900), jitter: 0 };
        for (count, seconds) in
            [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900].into_iter().enumerate()
        {
            assert_eq!(b.delay(count as u8), Span::from_secs(seconds));
        }
        let low = Backoff { cap: Span::from_secs(10), ..b };
        assert_eq!(low.delay(3), Span::from_secs(8));
        assert_eq!(low.delay(4), Span::from_secs(10));
        assert_eq!(low.delay(255), Span::from_secs(10));
    }

    #[test]
    fn jitter_shortens_by_a_quarter_at_most_and_spreads() {
        let b = Backoff { first: Span::from_secs(1), cap: Span::from_secs(900), jitter: 4 };
        let mut timers = vec![Timer::UNARMED; 1000];
        let mut lanes = Lanes::<BACKOFF_LANES>::new(&mut timers);
        let mut jitter = Jitter::new(1);
        let mut dues = std::collections::BTreeSet::new();
        for index in 0..1000 {
            b.arm(&mut lanes, &mut jitter, Instant::ORIGIN, index, 2);
            let due = lanes.due(index).unwrap();
            assert!((3_000_000_000..=4_000_000_000).contains(&due.as_nanos()));
            dues.insert(due);
        }
        assert_eq!(dues.len(), 5);
    }
}
