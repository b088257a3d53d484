// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file carves tables out of the caller's memory (R61): no allocator, sizes at run time.

use core::marker::PhantomData;
use core::mem::{align_of, size_of};
use core::ptr::NonNull;

use crossbeam_utils::CachePadded;

/// Alignment of every table, which keeps two tables from sharing a cache line. At least 64, or 16
/// with feature `dense`, for processors without a cache.
///
/// Some processors fetch lines in pairs, so [`CachePadded`] may ask for more than one line.
pub const LINE: usize = {
    let padded = align_of::<CachePadded<u8>>();
    let least = if cfg!(feature = "dense") { 16 } else { 64 };
    if padded > least {
        padded
    } else {
        least
    }
};

/// Memory to carve tables from. It lives as long as the tables: `'m`.
#[derive(Debug)]
pub struct Arena<'m> {
    next: NonNull<u8>,
    left: usize,
    memory: PhantomData<&'m mut [u8]>,
}

/// The arena is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaFull;

crate::sentences! { ArenaFull { Self => "the memory is too small" }}

impl<'m> Arena<'m> {
    /// An arena over `memory`, of which up to `LINE - 1` bytes are lost to alignment.
    pub fn new(memory: &'m mut [core::mem::MaybeUninit<u8>]) -> Self {
        // The caller's memory may have any alignment, and it may be shorter than a line.
        let lost = memory.as_ptr().align_offset(LINE).min(memory.len());
        let left = memory.len() - lost;
        let base = NonNull::from(memory).cast::<u8>();
        // SAFETY: `lost` is at most the length, so the result is in or at the end of the slice.
        let next = unsafe { base.add(lost) };
        Self { next, left, memory: PhantomData }
    }

    /// Bytes of a table of `count` items, alignment included.
    pub const fn table_bytes<T>(count: usize) -> usize {
        let bytes = size_of::<T>().saturating_mul(count);
        bytes.saturating_add(LINE - 1) / LINE * LINE
    }

    /// Carves a table of `count` items, each made by `make(index)`.
    ///
    /// The items are never dropped, because the memory belongs to the caller.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing was carved.
    pub fn table<T>(
        &mut self,
        count: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Result<&'m mut [T], ArenaFull> {
        let table = self.carve::<T>(count)?;
        for index in 0..count {
            // SAFETY: `index < count`, and `count` items fit in what was carved.
            let place = unsafe { table.add(index) };
            // SAFETY: the place is in the table that was just carved, and aligned.
            unsafe { place.write(make(index)) };
        }
        let raw = NonNull::slice_from_raw_parts(table, count);
        // SAFETY: all `count` items were just written; the memory is borrowed for 'm and no other
        // reference to this part of it exists, since it was carved for this one.
        Ok(unsafe { &mut *raw.as_ptr() })
    }

    /// Carves one item.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing was carved.
    pub fn place<T>(&mut self, item: T) -> Result<&'m mut T, ArenaFull> {
        let mut place = self.carve::<T>(1)?;
        // SAFETY: carved for one item, and aligned.
        unsafe { place.write(item) };
        // SAFETY: just written; borrowed for 'm, and carved for this reference alone.
        Ok(unsafe { place.as_mut() })
    }

    /// Memory for `count` items, aligned, that no other table covers.
    fn carve<T>(&mut self, count: usize) -> Result<NonNull<T>, ArenaFull> {
        const { assert!(align_of::<T>() <= LINE) };
        let bytes = Self::table_bytes::<T>(count);
        // A refusal carves nothing, so the arena stays usable.
        if bytes > self.left {
            return Err(ArenaFull);
        }
        // `next` is always a multiple of LINE, and T needs no more.
        let carved = self.next.cast::<T>();
        // SAFETY: `bytes` is at most what is left.
        self.next = unsafe { self.next.add(bytes) };
        self.left -= bytes;
        Ok(carved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::MaybeUninit;
    use std::vec;

    #[test]
    fn tables_are_aligned_disjoint_and_bounded() {
        let mut memory = vec![MaybeUninit::<u8>::uninit(); 4 * LINE];
        let mut arena = Arena::new(&mut memory);
        let a = arena.table::<u64>(3, |i| i as u64).unwrap();
        let b = arena.table::<u8>(LINE, |_| 7).unwrap();
        assert_eq!(a.as_ptr() as usize % LINE, 0);
        assert_eq!(b.as_ptr() as usize - a.as_ptr() as usize, LINE);
        assert_eq!(arena.table::<u8>(4 * LINE, |_| 0).unwrap_err(), ArenaFull);
        assert_eq!((a.to_vec(), b[LINE - 1]), (vec![0, 1, 2], 7));
    }

    #[test]
    fn a_table_takes_whole_lines_and_no_more() {
        for (count, lines) in [(0, 0), (1, 1), (LINE - 1, 1), (LINE, 1), (LINE + 1, 2)] {
            assert_eq!(Arena::table_bytes::<u8>(count), lines * LINE, "{count} bytes");
        }
    }
}
