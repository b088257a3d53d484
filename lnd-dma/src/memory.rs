// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The memory of one link: one block that the driver, the device and the other nodes' devices
//! share. A heap block, a mapped file and a PCI BAR have the same layout.
//!
//! ```text
//! registers 256 | descriptors 64 each | completion ring 16 each | post ring 4 each
//!   | invalidation bits | invalidation summary | done bits | done summary | lists 4096 each
//! ```

use core::marker::PhantomData;
use core::ptr::NonNull;

use lnd_core::fragment::{Fragment, MAX_FRAGMENTS};
use lnd_core::sync::{AtomicU32, Ordering};

use crate::bits::Bits;
use crate::descriptor::Descriptor;
use crate::regs::{ControlBits, Register, RegisterAccess, RegisterBlock, MAGIC, VERSION};

/// Bytes in memory for each byte of the layout: one. Under loom, whose atomics are larger than the
/// machine's, the same words lie further apart.
const SCALE: usize = core::mem::size_of::<AtomicU32>() / 4;
/// Bytes of the registers.
const REGISTERS: usize = 256;
/// Bytes of one indirect list.
const LIST: usize = MAX_FRAGMENTS * 16;
/// Most descriptors of a link.
pub const MAX_DESCRIPTORS: u32 = 1 << 20;
/// Most indirect lists of a link.
pub const MAX_LISTS: u32 = 65_536;

/// The largest node number: it has eight bits in the own word.
pub const MAX_NODE: u32 = 255;

/// Sizes of one link's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkGeometry {
    /// Descriptors, `1..=1,048,576`: one per transfer slot.
    pub descriptors: u32,
    /// Indirect lists, `0..=65,536`.
    pub lists: u32,
}

/// Memory that cannot be a link's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// Too small for the geometry, or not aligned to 64 bytes.
    Size,
    /// The geometry is out of range.
    Geometry,
    /// The magic number or the version differs: not formatted, or formatted by another version.
    Foreign,
}

lnd_core::sentences! { LayoutError {
    Self::Size => "the memory is too small, or not aligned to 64 bytes",
    Self::Geometry => "the number of descriptors or lists is out of range",
    Self::Foreign => "the memory is not formatted, or by another version",
}}

impl LinkGeometry {
    /// Entries of the post ring and of the completion ring: every descriptor fits at once. At least
    /// two, because the engine completes only where two entries are free.
    pub const fn ring(&self) -> u32 {
        if self.descriptors < 2 {
            2
        } else {
            self.descriptors.next_power_of_two()
        }
    }

    const fn check(&self) -> Result<(), LayoutError> {
        if self.descriptors == 0 || self.descriptors > MAX_DESCRIPTORS || self.lists > MAX_LISTS {
            return Err(LayoutError::Geometry);
        }
        Ok(())
    }

    const fn offsets(&self) -> Offsets {
        let completions = REGISTERS + self.descriptors as usize * 64;
        let posts = completions + self.ring() as usize * 16;
        let invalidate = line(posts + self.ring() as usize * 4);
        let done = invalidate + line(Bits::words(self.descriptors) * 4);
        let lists = done + line(Bits::words(self.descriptors) * 4);
        let end = lists + self.lists as usize * LIST;
        Offsets {
            completions: completions as u32,
            posts: posts as u32,
            invalidate: invalidate as u32,
            done: done as u32,
            lists: lists as u32,
            end: end as u32,
            mask: self.ring() - 1,
        }
    }

    /// Bytes of memory for one link.
    pub const fn bytes_needed(&self) -> usize {
        self.offsets().end as usize * SCALE
    }
}

const fn line(bytes: usize) -> usize {
    bytes.div_ceil(64) * 64
}

/// In bytes; the largest link has less than 2^29. A narrow type, because engines keep many of
/// these. The descriptors follow the registers.
#[derive(Clone, Copy, Debug)]
struct Offsets {
    completions: u32,
    posts: u32,
    invalidate: u32,
    done: u32,
    lists: u32,
    end: u32,
    /// Entries of the rings, less one.
    mask: u32,
}

/// One completion ring entry: status, cookie, and the free-running index plus one, written last.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct CompletionEntry {
    /// The outcome and the reason: see [`crate::completion`].
    pub status: AtomicU32,
    /// The tag's index.
    pub index: AtomicU32,
    /// The tag's generation.
    pub generation: AtomicU32,
    /// The entry's free-running index plus one once the entry is valid.
    pub sequence: AtomicU32,
}

/// One link's memory. Copies refer to the same memory.
#[derive(Clone, Copy, Debug)]
pub struct LinkMemory<'m> {
    base: NonNull<u8>,
    geometry: LinkGeometry,
    offsets: Offsets,
    memory: PhantomData<&'m RegisterBlock>,
}

// SAFETY: the memory is only accessed through atomics (and lists through atomics as well), which
// any number of threads may do at once; it lives for 'm by the contract of `format` and `attach`.
unsafe impl Send for LinkMemory<'_> {}
// SAFETY: no field changes, and all shared words are atomics.
unsafe impl Sync for LinkMemory<'_> {}

impl<'m> LinkMemory<'m> {
    /// Makes `len` bytes at `base` a link's memory: all descriptors free, the engine not enabled,
    /// the link down, all free-running indices at `start` (any value; tests start near the wrap).
    ///
    /// # Errors
    /// [`LayoutError`]; nothing was written.
    ///
    /// # Safety
    /// The bytes are valid for reads and writes for `'m`. During `'m` every access goes through
    /// [`LinkMemory`], that of other processes and devices included. No engine, of this or of
    /// another node, works on them during this call.
    pub unsafe fn format(
        base: NonNull<u8>,
        len: usize,
        geometry: LinkGeometry,
        node: u32,
        features: u32,
        start: u32,
    ) -> Result<Self, LayoutError> {
        geometry.check()?;
        let this = Self::over(base, len, geometry)?;
        let regs = this.registers();
        regs.magic.store(0, Ordering::Relaxed);
        // A new round, as after a stop: a slow engine of another node may still check whether its
        // claim from the former incarnation is valid.
        let control = ControlBits(regs.control.load(Ordering::Relaxed)).stopping();
        // SAFETY: the whole layout.
        let all = unsafe { this.words(0, this.offsets.end as usize / 4) };
        all.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        for (word, value) in [
            (&regs.version, VERSION),
            (&regs.features, features),
            (&regs.descriptors, geometry.descriptors),
            (&regs.post_size, geometry.ring()),
            (&regs.completion_size, geometry.ring()),
            (&regs.lists, geometry.lists),
            (&regs.node, node),
            (&regs.control, ControlBits::empty().in_round(control.round()).bits()),
            (&regs.post_tail, start),
            (&regs.post_head, start),
            (&regs.completion_head, start),
            (&regs.post_start, start),
            (&regs.completion_start, start),
            (&regs.completion_tail, start),
        ] {
            word.store(value, Ordering::Relaxed);
        }
        for index in 0..geometry.ring() {
            let index = start.wrapping_add(index);
            // Any value but the index plus one means "not yet".
            this.completion(index).sequence.store(index, Ordering::Relaxed);
        }
        // Release: partner is the Acquire in `attach`: a reader that sees the magic number sees
        // everything above.
        regs.magic.store(MAGIC, Ordering::Release);
        Ok(this)
    }

    /// Attaches to memory that [`format`](Self::format) has prepared.
    ///
    /// # Errors
    /// [`LayoutError`]: the memory is not formatted, or its numbers do not match its size.
    ///
    /// # Safety
    /// As for [`format`](Self::format), but engines may be running.
    pub unsafe fn attach(base: NonNull<u8>, len: usize) -> Result<Self, LayoutError> {
        let smallest = LinkGeometry { descriptors: 1, lists: 0 };
        let probe = Self::over(base, len, smallest)?;
        let regs = probe.registers();
        // Acquire: partner is the Release in `format`.
        if regs.magic.load(Ordering::Acquire) != MAGIC
            || regs.version.load(Ordering::Relaxed) != VERSION
        {
            return Err(LayoutError::Foreign);
        }
        let geometry = LinkGeometry {
            descriptors: regs.descriptors.load(Ordering::Relaxed),
            lists: regs.lists.load(Ordering::Relaxed),
        };
        geometry.check()?;
        Self::over(base, len, geometry)
    }

    fn over(base: NonNull<u8>, len: usize, geometry: LinkGeometry) -> Result<Self, LayoutError> {
        let offsets = geometry.offsets();
        if len < offsets.end as usize * SCALE || base.as_ptr() as usize % 64 != 0 {
            return Err(LayoutError::Size);
        }
        Ok(Self { base, geometry, offsets, memory: PhantomData })
    }

    /// The sizes.
    pub const fn geometry(&self) -> LinkGeometry {
        self.geometry
    }

    /// The registers.
    pub fn registers(&self) -> &'m RegisterBlock {
        // SAFETY: `over` has checked size and alignment; all fields are atomics, for which every
        // bit pattern is valid.
        unsafe { self.base.cast().as_ref() }
    }

    /// The place of a byte of the layout.
    ///
    /// # Safety
    /// `offset` is within the layout.
    unsafe fn at(&self, offset: usize) -> NonNull<u8> {
        // SAFETY: `over` has found the whole layout within the memory.
        unsafe { self.base.add(offset * SCALE) }
    }

    /// A descriptor, or `None` beyond the table.
    pub fn descriptor(&self, index: u32) -> Option<&'m Descriptor> {
        if index >= self.geometry.descriptors {
            return None;
        }
        // SAFETY: the offset is within the table, which `over` has found within the memory.
        let place = unsafe { self.at(REGISTERS + index as usize * 64) };
        // SAFETY: aligned to 64 as base and offset are; all fields are atomics.
        Some(unsafe { place.cast().as_ref() })
    }

    /// Entries of the post ring and of the completion ring.
    pub const fn ring(&self) -> u32 {
        self.offsets.mask.wrapping_add(1)
    }

    /// The completion ring entry of a free-running index.
    pub fn completion(&self, index: u32) -> &'m CompletionEntry {
        let entry = index & self.offsets.mask;
        // SAFETY: the ring's size is a power of two, so `entry` is within the ring.
        let place = unsafe { self.at(self.offsets.completions as usize + entry as usize * 16) };
        // SAFETY: aligned to 16; all fields are atomics.
        unsafe { place.cast().as_ref() }
    }

    /// Initialises the descriptors and the completion ring, whatever they hold: every descriptor is
    /// free, and no entry is valid until the engine has written it, from index `start` on. Takes
    /// time linear in the descriptors.
    ///
    /// Only while the engine is stopped and none of its descriptors is out.
    pub fn renew(&self, start: u32) {
        for index in 0..self.geometry.descriptors {
            if let Some(descriptor) = self.descriptor(index) {
                descriptor.free();
            }
        }
        for due in (0..self.ring()).map(|n| start.wrapping_add(n)) {
            // Relaxed: published by the write of CONTROL that resets. Any value but the index plus
            // one means "not yet".
            self.completion(due).sequence.store(due, Ordering::Relaxed);
        }
    }

    /// The post ring entry of a free-running index.
    pub fn post(&self, index: u32) -> &'m AtomicU32 {
        let entry = index & self.offsets.mask;
        // SAFETY: the ring's size is a power of two, so `entry` is within the ring.
        let place = unsafe { self.at(self.offsets.posts as usize + entry as usize * 4) };
        // SAFETY: aligned to 4; an atomic is valid for every bit pattern.
        unsafe { place.cast().as_ref() }
    }

    /// The word at a byte offset, if it is one of this memory's.
    fn word(&self, offset: usize) -> Option<&'m AtomicU32> {
        if offset % 4 != 0 || offset + 4 > self.offsets.end as usize {
            return None;
        }
        // SAFETY: within the memory, checked above.
        let place = unsafe { self.at(offset) };
        // SAFETY: aligned to 4; an atomic is valid for every bit pattern.
        Some(unsafe { place.cast().as_ref() })
    }

    /// The `count` words from a byte offset on.
    ///
    /// # Safety
    /// They are within the layout, and `offset` is a multiple of four.
    unsafe fn words(&self, offset: usize, count: usize) -> &'m [AtomicU32] {
        // SAFETY: within the layout, by the contract.
        let first = unsafe { self.at(offset) };
        let all = NonNull::slice_from_raw_parts(first.cast::<AtomicU32>(), count);
        // SAFETY: aligned, in bounds, atomics; lives for 'm.
        unsafe { all.as_ref() }
    }

    fn bits(&self, offset: usize) -> Bits<'m> {
        let count = Bits::words(self.geometry.descriptors);
        // SAFETY: the bitmap's words are within the memory by the layout.
        Bits::new(unsafe { self.words(offset, count) }, self.geometry.descriptors)
    }

    /// Descriptors that the driver has invalidated.
    pub fn invalidates(&self) -> Bits<'m> {
        self.bits(self.offsets.invalidate as usize)
    }

    /// Staged descriptors that another node's engine has finished with.
    pub fn dones(&self) -> Bits<'m> {
        self.bits(self.offsets.done as usize)
    }

    /// Writes entry `at` of an indirect list. Returns whether there is such an entry.
    pub fn write_fragment(&self, list: u32, at: usize, fragment: &Fragment) -> bool {
        let Some([low, high, length]) = self.fragment_words(list, at) else { return false };
        // Relaxed: published with the descriptor's own word.
        low.store(fragment.address as u32, Ordering::Relaxed);
        high.store((fragment.address >> 32) as u32, Ordering::Relaxed);
        length.store(fragment.length, Ordering::Relaxed);
        true
    }

    /// Reads entry `at` of an indirect list.
    pub fn read_fragment(&self, list: u32, at: usize) -> Option<Fragment> {
        let [low, high, length] = self.fragment_words(list, at)?;
        let address =
            u64::from(low.load(Ordering::Relaxed)) | u64::from(high.load(Ordering::Relaxed)) << 32;
        Some(Fragment::new(address, length.load(Ordering::Relaxed)))
    }

    fn fragment_words(&self, list: u32, at: usize) -> Option<[&'m AtomicU32; 3]> {
        if list >= self.geometry.lists || at >= MAX_FRAGMENTS {
            return None;
        }
        let offset = self.offsets.lists as usize + list as usize * LIST + at * 16;
        Some([self.word(offset)?, self.word(offset + 4)?, self.word(offset + 8)?])
    }
}

/// The registers of an engine in software: words of its memory.
impl RegisterAccess for LinkMemory<'_> {
    fn read(&self, register: Register) -> u32 {
        // Acquire: partner is the Release of the device's register writes.
        self.registers().word(register).load(Ordering::Acquire)
    }

    fn write(&self, register: Register, value: u32) {
        let word = self.registers().word(register);
        // Release: partner is the Acquire of the device's register reads (the doorbell barrier).
        if register == Register::Interrupt {
            // Written bits are cleared. AcqRel: the device's writes from before it raised them are
            // visible; partner is the Release in the engine's `raise`.
            word.fetch_and(!value, Ordering::AcqRel);
        } else {
            word.store(value, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// `docs/registers.md`, in its order.
    #[test]
    fn a_link_takes_what_the_document_says() {
        let bytes = |descriptors, lists| LinkGeometry { descriptors, lists }.bytes_needed();
        assert_eq!(bytes(16, 2), 256 + 1024 + 256 + 64 + 64 + 64 + 8192);
        assert_eq!(bytes(1, 0), 256 + 64 + 32 + (8 + 24) + 64 + 64);
        assert_eq!(bytes(33, 1), 256 + 2112 + 1024 + 256 + 64 + 64 + 4096);
    }
}
