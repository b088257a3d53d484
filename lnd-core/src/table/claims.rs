// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file tracks which slots are in use, with one bit for each slot.

use crate::base::sync::{AtomicU32, Ordering};

/// The claim bitmap. A set bit is a free slot. Behind it is a bitmap of its words: a set bit is a
/// word with a free slot.
///
/// Only the shard's owner claims and releases: interrupts decide that a transfer has ended, and the
/// reporting thread alone releases its slot. So neither needs a locked operation. The words are
/// atomics because other contexts hold references to them, and for audits. A claim continues where
/// it last found a slot, and reads at most one word for 1,024 slots.
#[derive(Debug)]
pub struct Claims<'m> {
    words: &'m [AtomicU32],
    summary: &'m [AtomicU32],
    slots: usize,
}

/// Where the next claim begins to search. Belongs to the claimer.
#[derive(Debug, Default, Hash)]
pub struct Cursor {
    word: usize,
}

/// `count` of the lowest 32 bits.
const fn lowest(count: usize) -> u32 {
    if count >= 32 {
        u32::MAX
    } else {
        (1 << count) - 1
    }
}

impl<'m> Claims<'m> {
    /// Words that a bitmap of `slots` bits needs, with the bitmap of its words.
    pub const fn words(slots: usize) -> usize {
        slots.div_ceil(32) + slots.div_ceil(32 * 32)
    }

    /// The initial value of word `index` of a bitmap of `slots` bits: all slots free.
    pub const fn initial(slots: usize, index: usize) -> u32 {
        let words = slots.div_ceil(32);
        match index.checked_sub(words) {
            Some(summary) => lowest(words.saturating_sub(summary * 32)),
            None => lowest(slots.saturating_sub(index * 32)),
        }
    }

    /// A bitmap over `words`, which hold their [`initial`](Self::initial) values.
    pub const fn new(words: &'m [AtomicU32], slots: usize) -> Self {
        match words.split_at_checked(slots.div_ceil(32)) {
            Some((words, summary)) => Self { words, summary, slots },
            None => Self { words: &[], summary: &[], slots },
        }
    }

    /// Number of slots.
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Claims a free slot, or `None` if all are in use. Context: the shard's owner.
    #[inline]
    pub fn claim(&self, cursor: &mut Cursor) -> Option<u32> {
        // The cursor stays on its word while that has free slots. The usual claim reads one word.
        let (word, free) = match self.free_in(cursor.word) {
            Some(found) => found,
            None => {
                cursor.word = self.next_word(cursor.word)?;
                self.free_in(cursor.word)?
            }
        };
        // Without the lowest bit, which is set.
        let left = free & free.wrapping_sub(1);
        // Relaxed: only the owner writes.
        word.store(left, Ordering::Relaxed);
        if left == 0 {
            self.note(cursor.word, false);
        }
        Some(cursor.word as u32 * 32 + free.trailing_zeros())
    }

    /// Releases a slot. Context: the shard's owner, which is also the next claimer.
    #[inline]
    pub fn release(&self, slot: u32) {
        let index = slot as usize / 32;
        if let Some(word) = self.words.get(index) {
            // Relaxed: there is one owner. The hand-over of a shard to another thread orders the
            // two.
            let free = word.load(Ordering::Relaxed);
            word.store(free | 1 << (slot % 32), Ordering::Relaxed);
            // The summary changes only when the word becomes empty or stops being empty.
            if free == 0 {
                self.note(index, true);
            }
        }
    }

    /// The slots in use among the 32 from `32 * index` on, as bits. For audits.
    pub(crate) fn used_in(&self, index: u32) -> u32 {
        let index = index as usize;
        let free = self.words.get(index).map_or(u32::MAX, |word| word.load(Ordering::Relaxed));
        !free & Self::initial(self.slots, index)
    }

    /// Whether a slot is free at this moment. For audits.
    #[inline]
    pub fn is_free(&self, slot: u32) -> bool {
        match self.words.get(slot as usize / 32) {
            Some(word) => word.load(Ordering::Relaxed) & (1 << (slot % 32)) != 0,
            None => false,
        }
    }

    /// A word of slots, and its free ones, if it has some.
    #[inline]
    fn free_in(&self, index: usize) -> Option<(&'m AtomicU32, u32)> {
        let word = self.words.get(index)?;
        // Relaxed: only the owner writes.
        let free = word.load(Ordering::Relaxed);
        (free != 0).then_some((word, free))
    }

    /// Notes whether a word of slots has a free one.
    fn note(&self, index: usize, free: bool) {
        if let Some(summary) = self.summary.get(index / 32) {
            let (noted, bit) = (summary.load(Ordering::Relaxed), 1 << (index % 32));
            summary.store(if free { noted | bit } else { noted & !bit }, Ordering::Relaxed);
        }
    }

    /// The next word with a free slot behind word `from`, round the end.
    fn next_word(&self, from: usize) -> Option<usize> {
        let summaries = self.summary;
        let start = from / 32;
        // Of the first summary, the bits behind `from` come first. The others come after a round.
        for at in (start..summaries.len()).chain(0..=start) {
            let noted = summaries.get(at).map_or(0, |summary| summary.load(Ordering::Relaxed));
            let behind =
                if at == start && from % 32 != 31 { !lowest(from % 32 + 1) } else { u32::MAX };
            let found = if noted & behind != 0 { noted & behind } else { noted };
            if found != 0 {
                return Some(at * 32 + found.trailing_zeros() as usize);
            }
        }
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn bitmap(slots: usize) -> Vec<AtomicU32> {
        (0..Claims::words(slots)).map(|i| AtomicU32::new(Claims::initial(slots, i))).collect()
    }

    #[test]
    fn claims_each_slot_once_then_refuses() {
        for slots in [1, 2, 31, 32, 33, 64, 100, 1023, 1024, 1025, 3000] {
            let words = bitmap(slots);
            let claims = Claims::new(&words, slots);
            let mut cursor = Cursor::default();
            let mut got: Vec<u32> = core::iter::from_fn(|| claims.claim(&mut cursor)).collect();
            got.sort_unstable();
            assert_eq!(got, (0..slots as u32).collect::<Vec<_>>());
            claims.release(slots as u32 / 2);
            assert_eq!(claims.claim(&mut cursor), Some(slots as u32 / 2));
        }
    }

    #[test]
    fn what_is_beyond_the_table_is_never_free() {
        let words = bitmap(10);
        let claims = Claims::new(&words, 10);
        // A cursor that has served a larger table begins anew.
        let mut cursor = Cursor { word: 7 };
        assert_eq!(claims.claim(&mut cursor), Some(0));
        claims.release(32);
        assert!(claims.is_free(9) && !claims.is_free(0) && !claims.is_free(32));
        assert_eq!((Claims::initial(10, 1), Claims::initial(10, 2)), (1, 0));
        assert_eq!(Claims::new(&[], 0).claim(&mut cursor), None);
    }

    #[test]
    fn behaves_like_a_set_of_free_slots() {
        let rounds = if cfg!(miri) { 300 } else { 30_000 };
        for slots in [40, 1500, 2080] {
            let words = bitmap(slots);
            let (claims, mut cursor) = (Claims::new(&words, slots), Cursor::default());
            let (mut used, mut x) = (Vec::new(), 0x9e37_79b9_7f4a_7c15_u64);
            for round in 0..rounds {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                // Mostly full, then mostly empty.
                let takes = if round / 4096 % 2 == 0 { x % 4 != 0 } else { x % 4 == 0 };
                if takes {
                    let claimed = claims.claim(&mut cursor);
                    assert_eq!(claimed.is_some(), used.len() < slots, "round {round}");
                    if let Some(slot) = claimed {
                        assert!(!used.contains(&slot) && (slot as usize) < slots);
                        used.push(slot);
                    }
                } else if !used.is_empty() {
                    claims.release(used.swap_remove(x as usize % used.len()));
                }
            }
            assert!((0..slots as u32).all(|slot| claims.is_free(slot) != used.contains(&slot)));
        }
    }
}
