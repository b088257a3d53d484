// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A bitmap with a summary. Any context sets bits; one engine takes them, in time linear in the
//! bits set. It cannot overflow, so ten thousand concurrent invalidations need no special case.

use lnd_core::sync::{AtomicU32, Ordering};

/// One bit per descriptor, and one summary bit per word of them.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'m> {
    bits: &'m [AtomicU32],
    summary: &'m [AtomicU32],
}

impl<'m> Bits<'m> {
    /// Words for `count` bits and their summary.
    pub const fn words(count: u32) -> usize {
        let bits = count.div_ceil(32);
        (bits + bits.div_ceil(32)) as usize
    }

    /// A bitmap of `count` bits over [`words`](Self::words) words.
    pub fn new(words: &'m [AtomicU32], count: u32) -> Self {
        let (bits, summary) =
            words.split_at_checked(count.div_ceil(32) as usize).unwrap_or((&[], &[]));
        Self { bits, summary }
    }

    /// Sets a bit. Everything written before is visible to the taker. Context: any.
    pub fn set(&self, index: u32) {
        self.set_many(index / 32, 1 << (index % 32));
    }

    /// Sets the bits `mask` of the word whose first bit is `32 * word`. Context: any.
    pub fn set_many(&self, word: u32, mask: u32) {
        let (Some(bits), Some(summary)) =
            (self.bits.get(word as usize), self.summary.get(word as usize / 32))
        else {
            return;
        };
        // Release: partner is the Acquire in `take_in` and `take_word`. The bit comes before its
        // summary, so that a taken summary bit shows the bit.
        bits.fetch_or(mask, Ordering::Release);
        summary.fetch_or(1 << (word % 32), Ordering::Release);
    }

    /// Whether any bit may be set. A hint.
    pub fn any(&self) -> bool {
        self.summary.iter().any(|word| word.load(Ordering::Relaxed) != 0)
    }

    /// Clears one set bit and returns its index. Context: the taker.
    pub fn take_one(&self) -> Option<u32> {
        self.take_from(0)
    }

    /// Clears the first set bit at or after `start` and returns its index. Bounded by the words,
    /// even while others set bits. Context: the taker.
    pub(crate) fn take_from(&self, start: u32) -> Option<u32> {
        let first = start / 32;
        for (group, summary) in self.summary.iter().enumerate().skip(first as usize / 32) {
            // Acquire: partner is the Release in `set`.
            let mut seen = summary.load(Ordering::Acquire);
            while seen != 0 {
                let lowest = seen & seen.wrapping_neg();
                seen ^= lowest;
                let word = group as u32 * 32 + lowest.trailing_zeros();
                let from = if word == first { start % 32 } else { 0 };
                if word >= first {
                    if let Some(bit) = self.take_in(word, from, summary, lowest) {
                        return Some(word * 32 + bit);
                    }
                }
            }
        }
        None
    }

    /// Clears all bits of the first word with a set bit. Returns the word's number and the bits.
    /// Context: the taker.
    pub fn take_word(&self) -> Option<(u32, u32)> {
        for (group, summary) in self.summary.iter().enumerate() {
            // Relaxed: a hint; the exchange orders what follows.
            let mut seen = summary.load(Ordering::Relaxed);
            while seen != 0 {
                let lowest = seen & seen.wrapping_neg();
                seen ^= lowest;
                let word = group as u32 * 32 + lowest.trailing_zeros();
                if let Some(set) = self.take_all(word, summary, lowest) {
                    return Some((word, set));
                }
            }
        }
        None
    }

    fn take_all(&self, word: u32, summary: &AtomicU32, ours: u32) -> Option<u32> {
        // AcqRel: partner is the Release in `set_many`. The summary bit is cleared first: a later
        // bit sets it again, and an earlier bit is already visible.
        summary.fetch_and(!ours, Ordering::AcqRel);
        Some(self.swap_all(word)).filter(|set| *set != 0)
    }

    fn swap_all(&self, word: u32) -> u32 {
        // AcqRel: partner is the Release in `set_many`.
        self.bits.get(word as usize).map_or(0, |bits| bits.swap(0, Ordering::AcqRel))
    }

    /// Clears the first set bit of a word at or after `from`.
    fn take_in(&self, word: u32, from: u32, summary: &AtomicU32, ours: u32) -> Option<u32> {
        let Some(bits) = self.bits.get(word as usize) else {
            // A summary bit without a word: the memory was corrupted from outside.
            summary.fetch_and(!ours, Ordering::Relaxed);
            return None;
        };
        // Acquire, here and below: partner is the Release in `set`.
        let all = bits.load(Ordering::Acquire);
        let set = all & (u32::MAX << from);
        if set != 0 {
            let bit = set.trailing_zeros();
            bits.fetch_and(!(1 << bit), Ordering::AcqRel);
            return Some(bit);
        }
        if all == 0 {
            // No bit is set. The summary bit is cleared first and the word read again, because a
            // bit set in between has set the summary before or after the clearing.
            summary.fetch_and(!ours, Ordering::AcqRel);
            if bits.load(Ordering::Acquire) != 0 {
                summary.fetch_or(ours, Ordering::Relaxed);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, vec::Vec};

    #[test]
    fn every_bit_set_is_taken_once() {
        // Miri is slow; fewer bits still cross both levels.
        let counts: &[u32] =
            if cfg!(miri) { &[1, 33, 1025] } else { &[1, 31, 32, 33, 1024, 1025, 5000] };
        for &count in counts {
            let words: Vec<AtomicU32> =
                (0..Bits::words(count)).map(|_| AtomicU32::new(0)).collect();
            let bits = Bits::new(&words, count);
            let wanted: BTreeSet<u32> = (0..count).filter(|i| i % 3 != 1).collect();
            for &index in &wanted {
                bits.set(index);
            }
            bits.set(count + 64);
            let taken: Vec<u32> = core::iter::from_fn(|| bits.take_one()).collect();
            assert_eq!(taken.iter().copied().collect::<BTreeSet<_>>(), wanted);
            assert_eq!(taken.len(), wanted.len());
            assert!(!bits.any());
        }
    }

    #[test]
    fn words_are_set_and_taken_whole() {
        let count = 33 * 32;
        let words: Vec<AtomicU32> = (0..Bits::words(count)).map(|_| AtomicU32::new(0)).collect();
        let bits = Bits::new(&words, count);
        assert_eq!(bits.take_word(), None);
        let set = [(0, 0x8000_0001), (5, u32::MAX), (31, 2), (32, 4)];
        for (word, mask) in set.iter().rev() {
            bits.set_many(*word, *mask);
        }
        bits.set_many(33, 1);
        bits.set(5 * 32 + 7);
        assert!(bits.any());
        assert_eq!(core::iter::from_fn(|| bits.take_word()).collect::<Vec<_>>(), set);
        assert!(!bits.any());
        // One bit at a time or a whole word: the same bits.
        bits.set_many(7, 0b110);
        assert_eq!(bits.take_one(), Some(7 * 32 + 1));
        assert_eq!(bits.take_word(), Some((7, 0b100)));
        assert_eq!((bits.take_one(), bits.take_word()), (None, None));
        // Summary bits without a word are dropped.
        words.last().unwrap().store(u32::MAX, Ordering::Relaxed);
        assert_eq!(bits.take_word(), None);
        assert!(!bits.any());
    }

    #[test]
    fn taking_begins_where_asked() {
        let count = 5000;
        let words: Vec<AtomicU32> = (0..Bits::words(count)).map(|_| AtomicU32::new(0)).collect();
        let bits = Bits::new(&words, count);
        let set = [0, 5, 31, 32, 1023, 1024, 4999];
        let step = if cfg!(miri) { 211 } else { 1 };
        for start in (0..count + 70).step_by(step) {
            set.iter().for_each(|&index| bits.set(index));
            let wanted = set.iter().copied().find(|&index| index >= start);
            assert_eq!(bits.take_from(start), wanted, "from {start}");
        }
    }

    #[test]
    fn a_strangers_summary_bits_are_dropped() {
        let words: Vec<AtomicU32> = (0..Bits::words(40)).map(|_| AtomicU32::new(0)).collect();
        let bits = Bits::new(&words, 40);
        words.last().unwrap().store(u32::MAX, Ordering::Relaxed);
        bits.set(39);
        assert_eq!(bits.take_one(), Some(39));
        assert_eq!(bits.take_one(), None);
        assert!(!bits.any());
        // One bit after the last word. The bits before it do not change.
        bits.set(0);
        words.last().unwrap().fetch_or(1 << 5, Ordering::Relaxed);
        assert_eq!(bits.take_from(64), None);
        assert_eq!(bits.take_one(), Some(0));
        assert_eq!(bits.take_one(), None);
        assert!(!bits.any());
    }
}
