// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file is the one place that names an atomic, and the memory that an atomic guards.
//!
//! Every shared word of the project goes through this module. So the same source is compiled in
//! three ways: on the machine's atomics, on [loom]'s model of them (`--cfg loom`), and on counted
//! ones (feature `count-ops`), with which the tests count locked operations and full fences.
//!
//! All shared words are 32 bits wide: the library builds for cores without 64-bit atomics.
//! Sequentially consistent *accesses* are not offered, only the fence: loom models the fence and
//! not the accesses.
//!
//! [loom]: https://docs.rs/loom

#[cfg(loom)]
pub use loom::sync::atomic::{fence, AtomicU32};

pub use core::sync::atomic::Ordering;

#[cfg(not(loom))]
pub use counted::{fence, AtomicU32};

/// Memory that a shared word guards. The context that the word admits has it alone. The interface
/// is that of [`core::cell::UnsafeCell`].
///
/// In the models loom fails an entry that the word does not order behind the one before.
#[derive(Debug)]
#[cfg_attr(not(loom), repr(transparent))]
pub struct Guarded<T> {
    #[cfg(loom)]
    entered: loom::cell::UnsafeCell<()>,
    inside: core::cell::UnsafeCell<T>,
}

impl<T> Guarded<T> {
    /// Memory that no context has entered.
    #[inline]
    pub fn new(inside: T) -> Self {
        Self {
            #[cfg(loom)]
            entered: loom::cell::UnsafeCell::new(()),
            inside: core::cell::UnsafeCell::new(inside),
        }
    }

    /// Its address. Context: the one that the word admits.
    #[inline]
    #[cfg_attr(loom, track_caller)]
    pub fn get(&self) -> *mut T {
        #[cfg(loom)]
        // An empty access for loom: it fails if another context may be inside at the same time.
        self.entered.with_mut(|_| ());
        self.inside.get()
    }

    /// The memory, before it is shared.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.inside.get_mut()
    }
}

/// Whether [`prefetch_for_write`] does anything: on processors with such an instruction, and not in
/// code for kernels and microcontrollers (`compact`), where a batch's loop over it is dear.
pub const PREFETCHES: bool = cfg!(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(feature = "compact"),
    not(miri),
    not(loom)
));

/// Asks the processor to have the cache line at an address, which another processor has written or
/// read, ready for writing. A hint: it moves no data that a program sees, orders nothing, and an
/// address that is not mapped is ignored. Does nothing without [`PREFETCHES`].
///
/// A read and a compare-and-swap behind it cost two transfers of a line that another processor has
/// written, and each waits for the one before. Asked for early, the lines of a batch come at once.
/// Context: any.
#[inline(always)]
pub fn prefetch_for_write<T>(place: *const T) {
    if !PREFETCHES {
        return;
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction faults at no address and changes neither memory nor registers. A
    // processor of this architecture without it treats it as an empty one.
    unsafe {
        core::arch::asm!(
            "prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a hint of the base architecture, which faults at no address.
    unsafe {
        core::arch::asm!(
            "prfm pstl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly)
        );
    }
    let _ = place;
}

/// As [`prefetch_for_write`], for all lines in which a value may lie.
#[inline(always)]
pub(crate) fn prefetch_all_for_write<T>(value: &T) {
    const LINE: usize = 64;
    let (first, bytes) = (core::ptr::from_ref(value).cast::<u8>(), core::mem::size_of::<T>());
    // A value that begins within a line may end one line further on.
    let lines = (0..bytes).step_by(LINE).chain(bytes.checked_sub(1));
    lines.for_each(|at| prefetch_for_write(first.wrapping_add(at)));
}

#[cfg(not(loom))]
mod counted {
    use super::Ordering;

    /// A 32-bit atomic word; the interface is that of [`core::sync::atomic::AtomicU32`].
    ///
    /// The layout is exactly one `u32`, so it may lie in memory shared with a device or a process.
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct AtomicU32(core::sync::atomic::AtomicU32);

    impl AtomicU32 {
        /// A word holding `value`.
        #[inline]
        pub const fn new(value: u32) -> Self {
            Self(core::sync::atomic::AtomicU32::new(value))
        }

        /// Reads the word.
        #[inline]
        pub fn load(&self, order: Ordering) -> u32 {
            super::tally::loaded();
            self.0.load(order)
        }

        /// Writes the word.
        #[inline]
        pub fn store(&self, value: u32, order: Ordering) {
            self.0.store(value, order);
        }

        /// Replaces the word and returns what it held. One locked operation.
        #[inline]
        pub fn swap(&self, value: u32, order: Ordering) -> u32 {
            super::tally::locked();
            self.0.swap(value, order)
        }

        /// Ors into the word and returns what it held. One locked operation.
        #[inline]
        pub fn fetch_or(&self, value: u32, order: Ordering) -> u32 {
            super::tally::locked();
            self.0.fetch_or(value, order)
        }

        /// Ands into the word and returns what it held. One locked operation.
        #[inline]
        pub fn fetch_and(&self, value: u32, order: Ordering) -> u32 {
            super::tally::locked();
            self.0.fetch_and(value, order)
        }

        /// Adds to the word, wrapping, and returns what it held. One locked operation.
        #[inline]
        pub fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
            super::tally::locked();
            self.0.fetch_add(value, order)
        }

        /// Replaces `current` by `new`. One locked operation.
        ///
        /// # Errors
        /// The word held something else, which is returned; nothing was written.
        #[inline]
        pub fn compare_exchange(
            &self,
            current: u32,
            new: u32,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u32, u32> {
            super::tally::locked();
            self.0.compare_exchange(current, new, success, failure)
        }

        /// As [`compare_exchange`](Self::compare_exchange), and may also fail spuriously.
        ///
        /// # Errors
        /// The word's value; nothing was written.
        #[inline]
        pub fn compare_exchange_weak(
            &self,
            current: u32,
            new: u32,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u32, u32> {
            super::tally::locked();
            self.0.compare_exchange_weak(current, new, success, failure)
        }
    }

    /// A memory fence. `SeqCst` is the full fence that the gates' protocols need.
    #[inline]
    pub fn fence(order: Ordering) {
        super::tally::fenced(order);
        core::sync::atomic::fence(order);
    }
}

/// Counts of locked operations, full fences and loads since they were last taken.
///
/// Without the feature `count-ops` nothing is counted, and the calls cost nothing.
#[cfg(not(loom))]
pub mod tally {
    use super::Ordering;

    #[cfg(feature = "count-ops")]
    mod cells {
        use core::sync::atomic::AtomicUsize;
        pub static LOCKED: AtomicUsize = AtomicUsize::new(0);
        pub static FENCES: AtomicUsize = AtomicUsize::new(0);
        pub static LOADS: AtomicUsize = AtomicUsize::new(0);
    }

    #[inline]
    pub(super) fn loaded() {
        #[cfg(feature = "count-ops")]
        cells::LOADS.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn locked() {
        #[cfg(feature = "count-ops")]
        cells::LOCKED.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn fenced(order: Ordering) {
        #[cfg(feature = "count-ops")]
        if matches!(order, Ordering::SeqCst) {
            cells::FENCES.fetch_add(1, Ordering::Relaxed);
        }
        #[cfg(not(feature = "count-ops"))]
        let _ = order;
    }

    /// The counts since the last call: `(locked operations, full fences)`.
    ///
    /// Context: any. The counts are process wide, so a test that reads them runs alone.
    #[cfg(feature = "count-ops")]
    pub fn take() -> (usize, usize) {
        (cells::LOCKED.swap(0, Ordering::Relaxed), cells::FENCES.swap(0, Ordering::Relaxed))
    }

    /// How often a shared word was read since the last call.
    ///
    /// Context: as for [`take`].
    #[cfg(feature = "count-ops")]
    pub fn take_loads() -> usize {
        cells::LOADS.swap(0, Ordering::Relaxed)
    }
}
