// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Number and size of the slots, and the memory they take.

use super::cell;
use super::header::HEADER_SIZE;
use super::line::{Line, SLOT_HEAD};
use super::ring::SlotHead;
use core::mem::{align_of, size_of};

/// Most slots of a mailbox.
pub const MAX_SLOTS: u32 = 1 << 16;

/// Largest slot in bytes: the largest frame and the slot's own words, in whole lines.
pub const MAX_SLOT_SIZE: u32 = (1 << 16) + 64;

/// Size and number of a mailbox's slots. Valid by construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxGeometry {
    slots: u32,
    slot_size: u32,
}

impl MailboxGeometry {
    /// `slots` is a power of two from 2 to [`MAX_SLOTS`]. `slot_size` is in bytes, a multiple of 64
    /// up to [`MAX_SLOT_SIZE`]; such a slot holds a message of 8 bytes less. `None` for anything
    /// else, and for more than the machine can address.
    pub const fn new(slots: u32, slot_size: u32) -> Option<Self> {
        let slots_fit = slots.is_power_of_two() && slots >= 2 && slots <= MAX_SLOTS;
        let size_fits = slot_size != 0 && slot_size % 64 == 0 && slot_size <= MAX_SLOT_SIZE;
        if !(slots_fit && size_fits) {
            return None;
        }
        let geometry = Self { slots, slot_size };
        // Four lines before the slots; no object is larger than `isize::MAX`.
        match geometry.stride().checked_mul(slots as usize) {
            Some(bytes) if bytes <= isize::MAX as usize - 4096 => Some(geometry),
            _ => None,
        }
    }

    /// Number of slots. With that many messages the mailbox is full.
    pub const fn slots(self) -> u32 {
        self.slots
    }

    /// Bytes of a slot.
    pub const fn slot_size(self) -> u32 {
        self.slot_size
    }

    /// Longest message in bytes.
    pub const fn capacity(self) -> usize {
        (self.slot_size - SLOT_HEAD) as usize
    }

    /// Bytes of memory of the mailbox, its header included.
    pub const fn bytes_needed(self) -> usize {
        // `new` has checked that this does not overflow.
        HEADER_SIZE + self.stride().wrapping_mul(self.slots as usize)
    }

    /// Bytes from one slot to the next: the slot's size, except in the models, where atomics are
    /// larger than words.
    pub(super) const fn stride(self) -> usize {
        let bytes = size_of::<SlotHead>() + cell::footprint(self.capacity());
        bytes.next_multiple_of(align_of::<Line>())
    }
}

#[cfg(not(loom))]
const _: () = {
    assert!(size_of::<SlotHead>() == SLOT_HEAD as usize);
    assert!(size_of::<Line>() == 64);
};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::FIRST_LINE;
    use super::*;

    #[test]
    fn only_sound_geometries_exist() {
        for (slots, slot_size) in [(0, 64), (1, 64), (3, 64), (MAX_SLOTS * 2, 64)] {
            assert_eq!(MailboxGeometry::new(slots, slot_size), None, "{slots} slots");
        }
        for slot_size in [0, 8, 63, 65, 96, MAX_SLOT_SIZE + 64, u32::MAX] {
            assert_eq!(MailboxGeometry::new(4, slot_size), None, "{slot_size} bytes");
        }
    }

    #[test]
    fn a_slot_is_as_large_as_it_says() {
        let geometry = MailboxGeometry::new(8, 192).unwrap();
        assert_eq!(geometry.capacity(), 184);
        assert_eq!(geometry.bytes_needed(), 256 + 8 * 192);
        assert_eq!(MailboxGeometry::new(2, 64).unwrap().capacity(), FIRST_LINE);
    }
}
