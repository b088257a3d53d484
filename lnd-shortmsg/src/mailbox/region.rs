// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The memory of a mailbox: header, then slots. Formats and checks it.

use super::error::RegionError;
use super::geometry::MailboxGeometry;
use super::header::{Consumed, Header, Words, HEADER_SIZE};
use super::line::Line;
use super::ring::Ring;
use core::marker::PhantomData;
use core::mem::size_of_val;
use core::ptr::NonNull;
use lnd_core::sync::{AtomicU32, Ordering};

/// First word of a mailbox: `LNDm` when written big-endian.
pub(super) const MAGIC: u32 = 0x4c4e_446d;

/// Version of the layout in memory.
const VERSION: u32 = 1;

/// The kind of a mailbox with one producer, the only kind.
const ONE_PRODUCER: u32 = 1;

/// Memory of a mailbox, formatted or not.
#[derive(Clone, Copy, Debug)]
pub struct MailboxRegion<'m> {
    base: NonNull<u8>,
    bytes: usize,
    memory: PhantomData<&'m AtomicU32>,
}

impl<'m> MailboxRegion<'m> {
    /// A region of `bytes` bytes.
    ///
    /// # Errors
    /// [`RegionError::Misaligned`].
    ///
    /// # Safety
    /// For `'m` the memory is initialised and valid for reads and writes, and this process accesses
    /// it through this module only. Other processes may do anything.
    pub unsafe fn new(base: NonNull<u8>, bytes: usize) -> Result<Self, RegionError> {
        if base.cast::<Line>().is_aligned() {
            Ok(Self { base, bytes, memory: PhantomData })
        } else {
            Err(RegionError::Misaligned)
        }
    }

    /// The memory is borrowed for as long as any value made of the region.
    pub(super) fn over(memory: &'m mut [Line]) -> Self {
        let bytes = size_of_val(memory);
        let base = NonNull::from(memory).cast();
        Self { base, bytes, memory: PhantomData }
    }

    /// Makes an empty mailbox. Positions count from `start`; its value does not matter, and tests
    /// begin shortly before the numbers wrap.
    ///
    /// # Errors
    /// [`RegionError::TooSmall`]; nothing was written.
    ///
    /// # Safety
    /// Nothing in this process is attached to a mailbox in this region, nor attaches during the
    /// call.
    pub unsafe fn format(self, geometry: MailboxGeometry, start: u32) -> Result<(), RegionError> {
        if self.bytes < geometry.bytes_needed() {
            return Err(RegionError::TooSmall);
        }
        let (slots, slot_size) = (geometry.slots(), geometry.slot_size());
        let header = Header {
            magic: AtomicU32::new(0),
            version: AtomicU32::new(VERSION),
            kind: AtomicU32::new(ONE_PRODUCER),
            slots: AtomicU32::new(slots),
            slot_size: AtomicU32::new(slot_size),
            check: AtomicU32::new(checked(ONE_PRODUCER, slots, slot_size)),
            words: Words { _reserved: Line::ZERO, consumed: Consumed::at(AtomicU32::new(start)) },
        };
        // SAFETY: aligned, large enough, and ours alone (contract).
        unsafe { self.base.cast::<Header>().write(header) };
        let ring = self.ring(geometry);
        // SAFETY: the slots are ours alone (contract).
        unsafe { ring.format(start) };
        // Release: pairs with the load in `check`; a reader that sees the magic sees everything
        // before it.
        self.header().magic.store(MAGIC, Ordering::Release);
        Ok(())
    }

    /// Whether there is a mailbox, and its geometry. Reads the header only, so it disturbs neither
    /// end.
    ///
    /// # Errors
    /// The error; [`RegionError::Magic`] if the region is not formatted yet.
    pub fn check(self) -> Result<MailboxGeometry, RegionError> {
        if self.bytes < HEADER_SIZE {
            return Err(RegionError::TooSmall);
        }
        let header = self.header();
        // Each word is read once. Acquire: pairs with the store in `format`.
        let magic = header.magic.load(Ordering::Acquire);
        if magic == MAGIC.swap_bytes() {
            return Err(RegionError::ByteOrder);
        }
        if magic != MAGIC {
            return Err(RegionError::Magic);
        }
        // Relaxed, all of them: ordered by the magic.
        if header.version.load(Ordering::Relaxed) != VERSION {
            return Err(RegionError::Version);
        }
        let found_kind = header.kind.load(Ordering::Relaxed);
        let slots = header.slots.load(Ordering::Relaxed);
        let slot_size = header.slot_size.load(Ordering::Relaxed);
        if header.check.load(Ordering::Relaxed) != checked(found_kind, slots, slot_size) {
            return Err(RegionError::Geometry);
        }
        if found_kind != ONE_PRODUCER {
            return Err(RegionError::Kind);
        }
        let geometry = MailboxGeometry::new(slots, slot_size).ok_or(RegionError::Geometry)?;
        if self.bytes < geometry.bytes_needed() {
            return Err(RegionError::TooSmall);
        }
        Ok(geometry)
    }

    /// Whether there is neither a mailbox nor the remains of one: the region was never formatted,
    /// or was [cleared](Self::clear). Reads one word.
    pub fn is_fresh(self) -> bool {
        // Acquire: pairs with the store in `clear`: all accesses of its end are over.
        self.bytes >= HEADER_SIZE && self.header().magic.load(Ordering::Acquire) == 0
    }

    /// Whether the first word is that of a formatted mailbox: neither cleared nor condemned. Reads
    /// one word.
    pub fn is_open(self) -> bool {
        // Acquire: pairs with the stores in `mark` and `format`.
        self.bytes >= HEADER_SIZE && self.header().magic.load(Ordering::Acquire) == MAGIC
    }

    /// Clears a mailbox, so that it can be formatted again: neither end attaches before that. For
    /// the producing end, which has nothing attached and finds the mailbox damaged. Without a whole
    /// header the call has no effect.
    pub fn clear(self) {
        self.mark(0);
    }

    /// Marks a mailbox with a valid header and damaged slots as damaged. For the consuming end,
    /// which has nothing attached. Without a whole header the call has no effect.
    pub fn condemn(self) {
        self.mark(!MAGIC);
    }

    fn mark(self, magic: u32) {
        if self.bytes >= HEADER_SIZE {
            // Release: pairs with the loads in `is_fresh` and `check`.
            self.header().magic.store(magic, Ordering::Release);
        }
    }

    /// The slots of a formatted mailbox.
    pub(super) fn open(self) -> Result<Ring<'m>, RegionError> {
        Ok(self.ring(self.check()?))
    }

    /// The shared positions of an [opened](Self::open) mailbox.
    pub(super) fn words(self) -> &'m Words {
        &self.header().words
    }

    fn header(self) -> &'m Header {
        // SAFETY: aligned (`new`), large enough and formatted, or at least initialised memory in
        // which any word is a valid atomic (the callers have checked the size).
        unsafe { self.base.cast::<Header>().as_ref() }
    }

    /// The slots, if the region is large enough for them, which the callers have checked.
    fn ring(self, geometry: MailboxGeometry) -> Ring<'m> {
        // SAFETY: the header lies within the region.
        let first = unsafe { self.base.add(HEADER_SIZE) };
        let (stride, slots) = (geometry.stride(), geometry.slots());
        // SAFETY: so do the slots; they are aligned as multiples of 64 bytes are. Unformatted slots
        // are initialised memory, in which any word is a valid atomic.
        unsafe { Ring::new(first, stride, slots, geometry.capacity()) }
    }
}

/// A check that detects accidental damage to the header.
const fn checked(kind: u32, slots: u32, slot_size: u32) -> u32 {
    MAGIC ^ VERSION ^ kind.rotate_left(24) ^ slots.rotate_left(3) ^ slot_size.rotate_left(13)
}
