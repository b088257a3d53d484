// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory that several parties write.

use std::cell::UnsafeCell;
use std::ptr::NonNull;

/// One cache line.
#[repr(C, align(64))]
struct Line(UnsafeCell<[u8; 64]>);

/// Zeroed memory, aligned to 64 bytes.
pub struct Block {
    lines: Box<[Line]>,
    len: usize,
}

// SAFETY: access is through raw pointers only; who may touch which byte when is what the tests are
// about, and Miri's and ThreadSanitizer's race detection look at the same accesses.
unsafe impl Sync for Block {}

impl Block {
    pub fn new(len: usize) -> Self {
        let lines = (0..len.div_ceil(64)).map(|_| Line(UnsafeCell::new([0; 64]))).collect();
        Self { lines, len }
    }

    pub fn base(&self) -> NonNull<u8> {
        // Derived from the whole slice, so that it may be used for all of it.
        NonNull::from(&*self.lines).cast()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Where `length` bytes at `offset` lie.
    pub fn at(&self, offset: usize, length: usize) -> Option<NonNull<u8>> {
        if offset.checked_add(length)? > self.len {
            return None;
        }
        // SAFETY: within the block, checked above.
        Some(unsafe { self.base().add(offset) })
    }

    pub fn read(&self, offset: usize, into: &mut [u8]) {
        let from = self.at(offset, into.len()).expect("within the block");
        // SAFETY: in bounds; the test owns these bytes at this time.
        unsafe { from.as_ptr().copy_to(into.as_mut_ptr(), into.len()) }
    }

    pub fn write(&self, offset: usize, from: &[u8]) {
        let to = self.at(offset, from.len()).expect("within the block");
        // SAFETY: in bounds; the test owns these bytes at this time.
        unsafe { to.as_ptr().copy_from(from.as_ptr(), from.len()) }
    }
}
