// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds one transfer slot: one line of memory with its shared words and its owner's
//! half.

use super::state::SlotState;
use crate::base::sync::{AtomicU32, Guarded};
use crate::machines::transfer::Word;

/// One transfer slot. It has a cache line of its own, because completions and submissions of
/// neighbouring slots come from different processors. A usual transfer touches this line and its
/// timer, and no other memory of its slot (decision 0025).
///
/// Every context may touch the words. Only the `Owned`, of which there is one, touches `owned`.
#[derive(Debug)]
#[cfg_attr(not(feature = "dense"), repr(C, align(64)))]
#[cfg_attr(feature = "dense", repr(C))]
pub struct Slot {
    /// The transfer word. Written by compare-and-swap, and by its owner when it publishes.
    pub(super) word: AtomicU32,
    /// Link of the completed list. Belongs to the holder of the token, then to the reporting
    /// thread.
    pub(super) next: AtomicU32,
    /// How often the slot has been claimed. Written by the owner between claim and publication.
    pub(super) generation: AtomicU32,
    /// The peer, incarnation and link of the transfer: see [`Owner`](super::shared::Owner). Written
    /// by the owner before publication and with `Arm`.
    pub(super) peer: AtomicU32,
    pub(super) link: AtomicU32,
    /// Only the shard's thread touches this half.
    owned: Guarded<SlotState>,
}

#[cfg(not(loom))]
static_assertions::const_assert_eq!(core::mem::size_of::<Slot>(), 64);

// SAFETY: the words are atomics. `owned` is private to this file, where only `Owned` enters it: by
// `&self` to read, by `&mut self` to write. There is at most one `Owned` for a slot, and it is
// neither `Copy` nor `Clone`. So contexts that share slots share words, and the borrow of the
// `Owned` proves which accesses to the other half are under way.
unsafe impl Sync for Slot {}

impl Slot {
    /// A slot that has never been used.
    pub fn new() -> Self {
        Self::counting_from(0)
    }

    /// A slot that has never been used, with uses counted from `generation`.
    pub fn counting_from(generation: u32) -> Self {
        Self {
            word: AtomicU32::new(Word::free(generation).bits()),
            next: AtomicU32::new(0),
            generation: AtomicU32::new(generation),
            peer: AtomicU32::new(0),
            link: AtomicU32::new(0),
            owned: Guarded::new(SlotState::UNUSED),
        }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// The owner's halves of a table of slots. Context: the shard's owner.
#[derive(Debug)]
pub(crate) struct Owned<'m> {
    slots: &'m [Slot],
}

impl<'m> Owned<'m> {
    /// The two halves of a table: the words, for every context, and the rest. The table is borrowed
    /// for as long as the halves exist, so it cannot be parted twice.
    pub fn part(table: &'m mut [Slot]) -> (&'m [Slot], Self) {
        let slots: &'m [Slot] = table;
        (slots, Self { slots })
    }

    /// Number of slots.
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// The owned half of a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<&SlotState> {
        let slot = self.slots.get(slot as usize)?;
        // SAFETY: only this one `Owned` enters. `&self` is borrowed for as long as the result
        // lives, so that nothing is written meanwhile.
        Some(unsafe { &*slot.owned.get() })
    }

    /// The owned half of a slot.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut SlotState> {
        let slot = self.slots.get(slot as usize)?;
        // SAFETY: only this one `Owned` enters. `&mut self` is borrowed for as long as the result
        // lives, so that there is no other reference to any owned half meanwhile.
        Some(unsafe { &mut *slot.owned.get() })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn the_owner_writes_while_others_hold_the_words() {
        let mut table: Vec<_> = (0..3).map(|_| Slot::new()).collect();
        let (words, mut owned) = Owned::part(&mut table);
        let others = words;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                others.iter().for_each(|slot| {
                    slot.next.store(7, crate::base::sync::Ordering::Relaxed);
                });
            });
            for slot in 0..3 {
                owned.get_mut(slot).unwrap().length = slot + 10;
            }
        });
        let lengths: Vec<_> = (0..3).map(|slot| owned.get(slot).unwrap().length).collect();
        assert_eq!((lengths, owned.len()), (Vec::from([10, 11, 12]), 3));
        assert!(owned.get(3).is_none() && owned.get_mut(3).is_none());
        assert!(words.iter().all(|s| s.next.load(crate::base::sync::Ordering::Relaxed) == 7));
    }
}
