// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory for drivers, one block per incarnation, freed all together.

use std::any::Any;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::Mutex;

/// Values of any kind, of which only the end is of interest.
struct Kept(#[allow(dead_code)] Box<dyn Any + Send>);

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}

/// Hands out blocks of memory that live as long as the hall.
#[derive(Debug, Default)]
pub struct Arena {
    blocks: Mutex<Vec<Box<[MaybeUninit<u8>]>>>,
    kept: Mutex<Vec<Kept>>,
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

    /// Values that live as long as the arena.
    // Each call hands out memory of its own, so that no two of the references meet.
    #[allow(clippy::mut_from_ref)]
    pub fn keep<T: Send + 'static>(&self, values: impl Iterator<Item = T>) -> &mut [T] {
        let mut values: Vec<T> = values.collect();
        let (place, count) = (values.as_mut_ptr(), values.len());
        let kept = Kept(Box::new(values));
        match self.kept.lock() {
            Ok(mut all) => all.push(kept),
            Err(poisoned) => poisoned.into_inner().push(kept),
        }
        // SAFETY: the vector's memory does not move when the vector does, is kept until the arena
        // is dropped, which outlives the borrow of `self`, and is handed out this once.
        unsafe { core::slice::from_raw_parts_mut(place, count) }
    }
}
