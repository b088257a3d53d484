// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The memory before the slots of a mailbox.

use super::line::Line;
use core::mem::{align_of, size_of};
use lnd_core::sync::{AtomicU32, Ordering};

/// The memory before the slots: a line that format writes and attach reads, and a line for each
/// end's writes.
#[repr(C, align(64))]
pub(super) struct Header {
    pub magic: AtomicU32,
    pub version: AtomicU32,
    pub kind: AtomicU32,
    pub slots: AtomicU32,
    pub slot_size: AtomicU32,
    pub check: AtomicU32,
    pub words: Words,
}

/// The positions that the ends share.
#[repr(C, align(64))]
pub(super) struct Words {
    /// Keeps the layout of version 1, where a mailbox with several producers had words here.
    pub _reserved: Line,
    pub consumed: Consumed,
}

/// Number of the first message that the consumer has not returned. In a line of its own: the
/// consumer writes it, and the producer rarely reads it.
#[repr(C, align(64))]
pub(super) struct Consumed {
    word: AtomicU32,
}

impl Consumed {
    /// A word that shows all messages before its number as returned.
    pub(super) const fn at(word: AtomicU32) -> Self {
        Self { word }
    }

    /// Returns all messages before `position` to the producer.
    #[inline]
    pub(super) fn report(&self, position: u32) {
        // Release: pairs with `read`; all our reads of those messages are done before.
        self.word.store(position, Ordering::Release);
    }

    /// The number of the first message that was not returned.
    #[inline]
    pub(super) fn read(&self) -> u32 {
        // Acquire: pairs with `report`; the producer writes after the consumer has read.
        self.word.load(Ordering::Acquire)
    }
}

/// Bytes before the first slot. One line more than the header: processors fetch lines in pairs, and
/// a fetch of the consumed word must not include the first slot.
pub(super) const HEADER_SIZE: usize = size_of::<Header>() + size_of::<Line>();

#[cfg(not(loom))]
const _: () = {
    assert!(HEADER_SIZE == 256);
    assert!(core::mem::offset_of!(Header, check) == 20);
    assert!(core::mem::offset_of!(Header, words) == 64);
    assert!(core::mem::offset_of!(Words, consumed) == 64);
};

static_assertions::const_assert_eq!(align_of::<Header>(), align_of::<Line>());
