// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A mapped memory region, accessed by offset. No offset yields a pointer outside the region.

use core::marker::PhantomData;
use core::ptr::NonNull;

use lnd_core::sync::AtomicU32;

/// Alignment that a region's base must have: a cache line.
pub const ALIGN: usize = 64;

/// A region of shared memory. Copies refer to the same memory.
#[derive(Clone, Copy, Debug)]
pub struct SharedRegion<'m> {
    base: NonNull<u8>,
    len: usize,
    memory: PhantomData<&'m AtomicU32>,
}

// SAFETY: a region is an address and a length. Its memory is accessed as words through atomics, and
// as payload by copies whose exclusion is the protocol's (see `Bus`).
unsafe impl Send for SharedRegion<'_> {}
// SAFETY: no field changes, and a copy allows whatever a shared reference does.
unsafe impl Sync for SharedRegion<'_> {}

impl<'m> SharedRegion<'m> {
    /// `len` bytes at `base`; `None` unless the base is aligned to [`ALIGN`] and the address space
    /// has that many bytes behind it.
    ///
    /// # Safety
    /// For `'m` the bytes are initialised (fresh pages are), valid for reads and writes, and this
    /// address space accesses them only through this crate. Payload windows may also be accessed
    /// within what engines were lent. Other address spaces and devices may do anything: a hostile
    /// one can corrupt the fabric, but no memory outside it.
    pub unsafe fn new(base: NonNull<u8>, len: usize) -> Option<Self> {
        let sound = base.addr().get() % ALIGN == 0 && len <= isize::MAX as usize;
        sound.then_some(Self { base, len, memory: PhantomData })
    }

    /// Length in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the region is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The word at a byte offset, if it is aligned and within the region.
    pub fn word(&self, offset: usize) -> Option<&'m AtomicU32> {
        if offset % 4 != 0 {
            return None;
        }
        let place = self.place(offset, 4)?;
        // SAFETY: in bounds; aligned, as base and offset are; an atomic is valid for every bit
        // pattern, and words of the region are accessed through atomics only.
        Some(unsafe { place.cast().as_ref() })
    }

    /// The `count` words from a byte offset on, if it is aligned and they are within the region.
    pub(crate) fn words(&self, offset: usize, count: usize) -> Option<&'m [AtomicU32]> {
        if offset % 4 != 0 {
            return None;
        }
        let place = self.place(offset, count.checked_mul(4)?)?;
        // SAFETY: in bounds and aligned, as base and offset are; an atomic is valid for every bit
        // pattern, and words of the region are accessed through atomics only.
        Some(unsafe { NonNull::slice_from_raw_parts(place.cast(), count).as_ref() })
    }

    /// The place of `len` bytes at a byte offset, if they are within the region.
    pub fn place(&self, offset: usize, len: usize) -> Option<NonNull<u8>> {
        let end = offset.checked_add(len)?;
        if end > self.len {
            return None;
        }
        // SAFETY: within the region, just checked.
        Some(unsafe { self.base.add(offset) })
    }
}
