// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The payload window: who may use which pages, and how their bytes are reached.

use std::collections::BTreeMap;
use std::fmt;

use lnd_core::fragment::Fragment;
use lnd_sim::lnet::span;

use super::bytes::Bytes;

/// Bytes of a page; every buffer begins at a multiple of it.
pub const PAGE: u64 = 4096;

/// The memory of a node's payload window, by bus address. What lies outside the window, or belongs
/// to another buffer, is never asked for.
pub trait WindowMemory {
    /// The bytes at `address`, to be copied.
    fn bytes(&self, address: u64, length: u32) -> Bytes<'_>;
    /// Copies the bytes at `address` out.
    fn read(&self, address: u64, into: &mut [u8]);
    /// Copies bytes in at `address`.
    fn write(&mut self, address: u64, from: &[u8]);
}

/// Pages of the window, held as long as this value.
///
/// There is no copy of it: it is given back once, by [`Pages::free`], and only after the layer has
/// said that no message uses the memory any more (INV-2).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "pages that are dropped are lost"]
pub struct Buffer {
    address: u64,
    length: u32,
}

impl Buffer {
    /// Bus address of the first byte.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Bytes that were asked for.
    pub const fn length(&self) -> u32 {
        self.length
    }

    /// The first `length` bytes as the layer below wants them; fewer if the buffer is shorter.
    pub fn memory(&self, length: u32) -> Vec<Fragment> {
        span(self.address, length.min(self.length))
    }

    fn pages(&self) -> u64 {
        u64::from(self.length).div_ceil(PAGE)
    }
}

/// Which pages are free: first fit over extents that are merged when they meet.
#[derive(Debug)]
pub struct Pages {
    base: u64,
    /// Pages in all.
    total: u64,
    /// Free extents: first page and number of pages. No two touch.
    free: BTreeMap<u64, u64>,
}

impl Pages {
    /// The whole pages within the `length` bytes at bus address `base`.
    pub fn new(base: u64, length: u64) -> Self {
        let first = base.next_multiple_of(PAGE);
        let total = length.saturating_sub(first - base) / PAGE;
        let free = if total > 0 { BTreeMap::from([(0, total)]) } else { BTreeMap::new() };
        Self { base: first, total, free }
    }

    /// A buffer of `length` bytes in one piece; `None` if no extent is long enough. A buffer of no
    /// bytes takes no page.
    pub fn alloc(&mut self, length: u32) -> Option<Buffer> {
        let wanted = u64::from(length).div_ceil(PAGE);
        if wanted == 0 {
            return Some(Buffer { address: self.base, length });
        }
        let (&first, &found) = self.free.iter().find(|(_, &pages)| pages >= wanted)?;
        self.free.remove(&first);
        if found > wanted {
            self.free.insert(first + wanted, found - wanted);
        }
        Some(Buffer { address: self.base + first * PAGE, length })
    }

    /// Takes back a buffer of this allocator.
    pub fn free(&mut self, buffer: Buffer) {
        let mut pages = buffer.pages();
        if pages == 0 {
            return;
        }
        let mut first = (buffer.address - self.base) / PAGE;
        if let Some(behind) = self.free.remove(&(first + pages)) {
            pages += behind;
        }
        if let Some((&before, &length)) = self.free.range(..first).next_back() {
            debug_assert!(before + length <= first, "pages given back twice");
            if before + length == first {
                self.free.remove(&before);
                first = before;
                pages += length;
            }
        }
        self.free.insert(first, pages);
    }

    /// Whether so many bytes are free, in one piece or not.
    ///
    /// # Errors
    /// They are not.
    pub fn check(&self, needed: u64) -> Result<(), TooSmall> {
        let free = self.free_bytes();
        if needed <= free {
            Ok(())
        } else {
            Err(TooSmall { needed, free })
        }
    }

    /// Bytes in all.
    pub const fn total_bytes(&self) -> u64 {
        self.total * PAGE
    }

    /// Bytes that are not held.
    pub fn free_bytes(&self) -> u64 {
        self.free.values().sum::<u64>() * PAGE
    }

    /// Whether no page is held.
    pub fn is_whole(&self) -> bool {
        self.free_bytes() == self.total_bytes()
    }
}

/// A window is too small for what it shall be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// Bytes that are needed at least.
    pub needed: u64,
    /// Bytes that are there.
    pub free: u64,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of the payload window are needed, {} are free", self.needed, self.free)
    }
}

impl std::error::Error for TooSmall {}

#[cfg(test)]
mod tests {
    use super::*;
    use lnd_sim::rng::Rng;

    #[test]
    fn buffers_are_whole_pages_within_the_window() {
        let mut pages = Pages::new(100, 3 * PAGE);
        assert_eq!(pages.total_bytes(), 2 * PAGE, "the first page is cut");
        let one = pages.alloc(1).unwrap();
        let next = pages.alloc(4096).unwrap();
        assert_eq!((one.address(), next.address()), (PAGE, 2 * PAGE));
        assert_eq!((one.length(), next.length()), (1, 4096));
        assert_eq!(pages.alloc(1), None);
        pages.free(one);
        assert_eq!(pages.alloc(4097), None, "too long for the hole");
        pages.free(next);
        let whole = pages.alloc(8192).unwrap();
        assert_eq!(pages.free_bytes(), 0);
        pages.free(whole);
        assert!(pages.is_whole());
    }

    #[test]
    fn nothing_takes_no_page() {
        let mut pages = Pages::new(0, 0);
        let none = pages.alloc(0).unwrap();
        assert_eq!(none.memory(0), []);
        pages.free(none);
        assert_eq!(pages.alloc(1), None);
    }

    #[test]
    fn no_page_is_given_out_twice_and_all_come_back() {
        let mut random = Rng::new(4);
        let mut pages = Pages::new(0, 64 * PAGE);
        let mut owner = [false; 64];
        let mut held: Vec<Buffer> = Vec::new();
        let mark = |owner: &mut [bool; 64], buffer: &Buffer, taken: bool| {
            let first = (buffer.address() / PAGE) as usize;
            for page in &mut owner[first..first + buffer.pages() as usize] {
                assert_eq!(*page, !taken);
                *page = taken;
            }
        };
        for _ in 0..5000 {
            if random.chance(500_000) {
                if let Some(buffer) = pages.alloc(1 + random.below(5 * PAGE) as u32) {
                    mark(&mut owner, &buffer, true);
                    held.push(buffer);
                }
            } else if !held.is_empty() {
                let buffer = held.swap_remove(random.below(held.len() as u64) as usize);
                mark(&mut owner, &buffer, false);
                pages.free(buffer);
            }
            let taken = owner.iter().filter(|page| **page).count() as u64;
            assert_eq!(pages.free_bytes(), (64 - taken) * PAGE);
        }
        held.into_iter().for_each(|buffer| pages.free(buffer));
        let whole = pages.alloc(64 * PAGE as u32).unwrap();
        pages.free(whole);
        assert!(pages.is_whole(), "the extents have merged");
    }
}
