// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Plain data that a protocol hands from one context to another.

use loom::cell::UnsafeCell;

/// A word of plain memory, such as a transfer's details or a ring entry.
///
/// It has no synchronization of its own: loom fails the model if two accesses of which one writes
/// are not ordered by the protocol under test.
#[derive(Debug)]
pub struct Watched(UnsafeCell<u32>);

impl Watched {
    /// Memory that holds `value`.
    #[track_caller]
    pub fn new(value: u32) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Reads the memory.
    ///
    /// # Panics
    /// A write is not ordered with this read.
    #[track_caller]
    pub fn get(&self) -> u32 {
        // SAFETY: the pointer is the cell's own, and loom has just checked that every write
        // happened before; its threads are coroutines of one system thread.
        self.0.with(|value| unsafe { *value })
    }

    /// Writes the memory.
    ///
    /// # Panics
    /// Another access is not ordered with this write.
    #[track_caller]
    pub fn set(&self, to: u32) {
        // SAFETY: as in `get`; here every access has happened before.
        self.0.with_mut(|value| unsafe { *value = to });
    }
}
