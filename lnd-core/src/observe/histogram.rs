// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file counts times in buckets of powers of two, with their number, sum, least and most.

use crate::base::time::Span;

/// Buckets of a [`Histogram`]. The last one has no upper bound: it begins at 2^39 ns, 9 minutes.
pub const BUCKETS: usize = 41;

/// Times by powers of two, in fixed memory. Bucket 0 counts zero, bucket `n` counts
/// `2^(n-1) <= ns < 2^n`.
///
/// ```
/// use lnd_core::observe::Histogram;
/// use lnd_core::time::Span;
///
/// let mut waits = Histogram::new();
/// waits.add(Span::from_micros(3));
/// let before = waits.clone();
/// waits.add(Span::from_micros(900));
/// assert_eq!((waits.count(), waits.min(), waits.max()), (2, Some(3_000), Some(900_000)));
/// // What was added since: of least and most only the bucket is known.
/// let since = waits.since(&before);
/// assert_eq!((since.count(), since.sum()), (1, 900_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u32; BUCKETS],
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

/// The bucket that counts a time.
const fn bucket_of(ns: u64) -> usize {
    let bits = (u64::BITS - ns.leading_zeros()) as usize;
    if bits < BUCKETS {
        bits
    } else {
        BUCKETS - 1
    }
}

impl Histogram {
    /// An empty histogram.
    pub const fn new() -> Self {
        Self { buckets: [0; BUCKETS], count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Counts one time. Constant work.
    #[inline]
    pub fn add(&mut self, time: Span) {
        let ns = time.as_nanos();
        if let Some(bucket) = self.buckets.get_mut(bucket_of(ns)) {
            *bucket = bucket.wrapping_add(1);
        }
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// Adds what another histogram has counted.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets) {
            *mine = mine.wrapping_add(theirs);
        }
        self.count = self.count.wrapping_add(other.count);
        self.sum = self.sum.wrapping_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Times counted.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their sum in nanoseconds. It wraps.
    pub const fn sum(&self) -> u64 {
        self.sum
    }

    /// The shortest in nanoseconds, if any was counted.
    pub const fn min(&self) -> Option<u64> {
        if self.count == 0 {
            None
        } else {
            Some(self.min)
        }
    }

    /// The longest in nanoseconds, if any was counted.
    pub const fn max(&self) -> Option<u64> {
        if self.count == 0 {
            None
        } else {
            Some(self.max)
        }
    }

    /// The mean in nanoseconds, rounded down, if any was counted.
    pub const fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }

    /// How many times are in a bucket. Zero if there is no such bucket.
    pub fn bucket(&self, bucket: usize) -> u32 {
        self.buckets.get(bucket).copied().unwrap_or(0)
    }

    /// The longest time in nanoseconds that a bucket counts. `u64::MAX` for the last one.
    pub const fn bound(bucket: usize) -> u64 {
        if bucket + 1 >= BUCKETS {
            u64::MAX
        } else {
            (1 << bucket) - 1
        }
    }

    /// A time in nanoseconds that `per_mille` of all times do not exceed: a bucket's bound, and at
    /// most the longest time. `None`: nothing was counted.
    pub fn at_most(&self, per_mille: u32) -> Option<u64> {
        let most = self.max()?;
        let rank = u128::from(self.count) * u128::from(per_mille.min(1000));
        let mut seen = 0u128;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += u128::from(*count) * 1000;
            if seen >= rank && *count > 0 {
                return Some(Self::bound(bucket).min(most));
            }
        }
        Some(most)
    }

    /// What was counted since `earlier`, an older copy of this histogram. Number, sum and buckets
    /// are exact. Least and most are bounds of the outermost buckets.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut grown = Self::new();
        let counts = self.buckets.iter().zip(earlier.buckets);
        for (bucket, (place, (now, then))) in grown.buckets.iter_mut().zip(counts).enumerate() {
            *place = now.wrapping_sub(then);
            if *place > 0 {
                // A bucket begins behind the bound of the one before.
                let least = bucket.checked_sub(1).map_or(0, |before| Self::bound(before) + 1);
                grown.min = grown.min.min(least.max(self.min));
                grown.max = Self::bound(bucket).min(self.max);
            }
        }
        grown.count = self.count.wrapping_sub(earlier.count);
        grown.sum = self.sum.wrapping_sub(earlier.sum);
        grown
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        times.iter().for_each(|&ns| histogram.add(Span::from_nanos(ns)));
        histogram
    }

    #[test]
    fn every_time_is_in_the_bucket_whose_bounds_hold_it() {
        let mut edges = std::vec![0, u64::MAX];
        edges.extend((0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit]));
        for ns in edges {
            let histogram = of(&[ns]);
            let at = (0..BUCKETS).find(|&b| histogram.bucket(b) == 1).unwrap();
            assert!(ns <= Histogram::bound(at), "{ns} in {at}");
            assert!(at == 0 || ns > Histogram::bound(at - 1), "{ns} in {at}");
            assert_eq!((histogram.min(), histogram.max()), (Some(ns), Some(ns)));
        }
        let none = Histogram::new();
        assert_eq!((none.min(), none.max(), none.mean(), none.at_most(500)), Default::default());
    }

    #[test]
    fn shares_are_bounds_of_their_buckets() {
        let histogram = of(&[1, 2, 3, 1000]);
        assert_eq!(histogram.at_most(250), Some(1));
        assert_eq!(histogram.at_most(500), Some(3));
        assert_eq!(histogram.at_most(750), Some(3));
        assert_eq!(histogram.at_most(751), Some(1000), "1023, and at most the longest");
        assert_eq!(histogram.at_most(5000), Some(1000));
        assert_eq!(histogram.at_most(0), Some(1), "empty buckets hold no share");
        assert_eq!(histogram.mean(), Some(251));
    }

    #[test]
    fn a_difference_and_what_was_before_make_the_whole() {
        let earlier = of(&[0, 7, 5000]);
        let mut later = earlier.clone();
        [6, 70_000].into_iter().for_each(|ns| later.add(Span::from_nanos(ns)));
        let since = later.since(&earlier);
        assert_eq!((since.count(), since.sum()), (2, 70_006));
        assert_eq!((since.min(), since.max()), (Some(4), Some(70_000)));
        let mut whole = earlier.clone();
        whole.merge(&of(&[6, 70_000]));
        assert_eq!(whole, later);
        assert_eq!(later.since(&later), Histogram::new());
    }
}
