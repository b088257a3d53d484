// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which slots are in use: one bit a slot.

use crate::defect::seeded;
use crate::sync::{AtomicU32, Ordering};

/// The claim bitmap. A set bit is a free slot.
///
/// Claiming and releasing are both the shard owner's: interrupts decide that a transfer has ended,
/// and only the reporting thread releases its slot. So neither needs a locked operation; the words
/// are atomics because other contexts hold references to them, and for audits. Claiming walks on
/// from where it last found a slot and gives up after one round.
#[derive(Debug)]
pub struct Claims<'m> {
    words: &'m [AtomicU32],
    slots: usize,
}

/// Where the next claim begins to look. Belongs to the one who claims.
#[derive(Debug, Default, Hash)]
pub struct Cursor {
    word: usize,
}

impl<'m> Claims<'m> {
    /// Words that a bitmap of `slots` bits needs.
    pub const fn words(slots: usize) -> usize {
        slots.div_ceil(32)
    }

    /// The initial value of word `index` of a bitmap of `slots` bits: all slots free.
    pub const fn initial(slots: usize, index: usize) -> u32 {
        let first = index * 32;
        if first + 32 <= slots {
            u32::MAX
        } else if first >= slots {
            0
        } else {
            (1 << (slots - first)) - 1
        }
    }

    /// A bitmap over `words`, which hold their [`initial`](Self::initial) values.
    pub const fn new(words: &'m [AtomicU32], slots: usize) -> Self {
        Self { words, slots }
    }

    /// Number of slots.
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Claims a free slot, or `None` if all are in use. Context: the shard's owner.
    pub fn claim(&self, cursor: &mut Cursor) -> Option<u32> {
        for _ in 0..self.words.len() {
            if let Some(word) = self.words.get(cursor.word) {
                if let Some(bit) = claim_in(word) {
                    return Some(cursor.word as u32 * 32 + bit);
                }
            }
            cursor.word += 1;
            if cursor.word >= self.words.len() {
                cursor.word = 0;
            }
        }
        None
    }

    /// Releases a slot. Context: the shard's owner, who is also the next claimer.
    pub fn release(&self, slot: u32) {
        if let Some(word) = self.words.get(slot as usize / 32) {
            // Relaxed: one owner; whoever hands the shard to another thread orders the two.
            let free = word.load(Ordering::Relaxed);
            word.store(free | 1 << (slot % 32), Ordering::Relaxed);
        }
    }

    /// Whether a slot is free at this moment. For audits.
    pub fn is_free(&self, slot: u32) -> bool {
        match self.words.get(slot as usize / 32) {
            Some(word) => word.load(Ordering::Relaxed) & (1 << (slot % 32)) != 0,
            None => false,
        }
    }
}

/// Takes the lowest free bit of one word.
fn claim_in(word: &AtomicU32) -> Option<u32> {
    // Relaxed, both: only the owner writes.
    let free = word.load(Ordering::Relaxed);
    let without_lowest = free & free.checked_sub(1)?;
    word.store(if seeded("claimed-twice") { free } else { without_lowest }, Ordering::Relaxed);
    Some(free.trailing_zeros())
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
        for slots in [1, 2, 31, 32, 33, 64, 100] {
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
        assert_eq!(claims.claim(&mut cursor), None);
        assert_eq!(claims.claim(&mut cursor), Some(0));
        claims.release(32);
        assert!(claims.is_free(9) && !claims.is_free(0) && !claims.is_free(32));
        assert_eq!(Claims::initial(10, 1), 0);
    }
}
