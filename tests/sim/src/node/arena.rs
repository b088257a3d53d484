// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory for drivers, one block per incarnation, freed all together.

use std::mem::MaybeUninit;
use std::sync::Mutex;

/// Hands out blocks of memory that live as long as the hall.
#[derive(Debug, Default)]
pub struct Arena {
    blocks: Mutex<Vec<Box<[MaybeUninit<u8>]>>>,
}

impl Arena {
    /// An empty hall.
    pub fn new() -> Self {
        Self::default()
    }

    /// A block of `bytes` bytes.
    // Each call hands out memory of its own, so that no two of the references meet.
    #[allow(clippy::mut_from_ref)]
    pub fn block(&self, bytes: usize) -> &mut [MaybeUninit<u8>] {
        let mut block = Box::<[u8]>::new_uninit_slice(bytes);
        let place = block.as_mut_ptr();
        match self.blocks.lock() {
            Ok(mut blocks) => blocks.push(block),
            Err(poisoned) => poisoned.into_inner().push(block),
        }
        // SAFETY: the box's memory does not move when the box does, is kept until the hall is
        // dropped, which outlives the borrow of `self`, and is handed out this once.
        unsafe { core::slice::from_raw_parts_mut(place, bytes) }
    }
}
