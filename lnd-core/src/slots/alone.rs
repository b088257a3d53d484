// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file knows whether a shard's owner is the only context of its words (decision 0037).

use crate::base::sync::{AtomicU32, Ordering};

/// Set until another context gets a reference to the shard's words. While it is set, the owner
/// changes them without locked operations, and its submissions need no fence.
#[derive(Debug)]
pub(crate) struct Alone(AtomicU32);

impl Alone {
    /// Not set: any context may use the words.
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Context: the owner, before any other context has a reference.
    pub fn begin(&self) {
        // Code for kernels and microcontrollers has one way only.
        let alone = cfg!(not(feature = "compact"));
        // Relaxed: only the owner has the words.
        self.0.store(u32::from(alone), Ordering::Relaxed);
    }

    /// Another context is about to get a reference, and may keep it. Context: the owner.
    #[inline]
    pub fn end(&self) {
        // Only the first call writes: the line is read by all contexts from then on.
        if self.is_set() {
            // Relaxed: the owner reads it, and contexts that get the reference later. What passes
            // the reference on orders them behind this store, and behind all plain stores before.
            self.0.store(0, Ordering::Relaxed);
        }
    }

    /// Contexts other than the owner always find `false`.
    #[inline]
    pub fn is_set(&self) -> bool {
        // Relaxed: see `end`.
        cfg!(not(feature = "compact")) && self.0.load(Ordering::Relaxed) != 0
    }
}
