// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The ring of slots as both sides see it, and the only place with the orderings of its words.

use super::region::RegionError;
use crate::mailbox::cell;
use core::marker::PhantomData;
use core::mem::size_of;
use core::ptr::NonNull;
use lnd_core::sync::{AtomicU32, Ordering};

/// The words at the beginning of a slot; the payload follows.
#[repr(C, align(8))]
pub(super) struct SlotHead {
    sequence: AtomicU32,
    /// Bytes of the message; belongs to whoever the sequence word gives the slot to.
    length: AtomicU32,
}

/// A checked view of a mailbox's slots.
#[derive(Clone, Copy)]
pub(super) struct Ring<'m> {
    first: NonNull<u8>,
    stride: usize,
    mask: u32,
    capacity: usize,
    memory: PhantomData<&'m AtomicU32>,
}

// SAFETY: a ring is an address and numbers. What is behind the address is atomics, and payload that
// the sequence words hand from thread to thread (see `Slot`).
unsafe impl Send for Ring<'_> {}
// SAFETY: as above; a shared ring allows nothing that a copied one does not.
unsafe impl Sync for Ring<'_> {}

/// Which end of a mailbox.
#[derive(Clone, Copy)]
pub(super) enum End {
    Producer,
    Consumer,
}

impl<'m> Ring<'m> {
    /// # Safety
    /// `first` is valid for `'m` for reads and writes of `slots` slots `stride` bytes apart, each
    /// beginning, aligned, with the head and `capacity` bytes of payload that [`Slot::format`]
    /// makes (before it is called, the only thing allowed is to call it). `slots` is a power of two.
    pub(super) const unsafe fn new(
        first: NonNull<u8>,
        stride: usize,
        slots: u32,
        capacity: usize,
    ) -> Self {
        Self { first, stride, mask: slots.wrapping_sub(1), capacity, memory: PhantomData }
    }

    pub(super) const fn slots(&self) -> u32 {
        self.mask.wrapping_add(1)
    }

    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    /// The slot of a position.
    #[inline]
    pub(super) fn slot(&self, position: u32) -> Slot<'m> {
        let offset = (position & self.mask) as usize * self.stride;
        // SAFETY: a slot of the ring by its index, which the mask bounds.
        let at = unsafe { self.first.add(offset) };
        // SAFETY: within the slot.
        let payload = unsafe { at.add(size_of::<SlotHead>()) };
        Slot { head: at.cast(), payload, memory: PhantomData }
    }

    /// Makes every slot free, for positions from `start` on.
    ///
    /// # Safety
    /// Nobody else uses the slots.
    pub(super) unsafe fn format(&self, start: u32) {
        for ahead in 0..self.slots() {
            let position = start.wrapping_add(ahead);
            // SAFETY: ours alone, as is the whole ring.
            unsafe { self.slot(position).format(position) };
        }
    }

    /// The position at which an end goes on, from the sequence words alone.
    ///
    /// Every slot's word tells the position that it is at in the lap of either end. While one end is
    /// absent, these positions of *its* lap stand still, whatever the other end does: they are the
    /// next `slots` positions, and the lowest of them is where the end goes on.
    pub(super) fn recover(&self, end: End) -> Result<u32, RegionError> {
        let origin = self.slot(0).position(0, end, self.mask)?;
        let mut lowest = origin;
        for index in 1..self.slots() {
            let position = self.slot(index).position(index, end, self.mask)?;
            // Words of a sound mailbox lie within two laps: the difference has a sign.
            if (position.wrapping_sub(lowest) as i32) < 0 {
                lowest = position;
            }
        }
        for index in 0..self.slots() {
            let expected = lowest.wrapping_add(index.wrapping_sub(lowest) & self.mask);
            if self.slot(index).position(index, end, self.mask)? != expected {
                return Err(RegionError::Positions);
            }
        }
        Ok(lowest)
    }
}

/// One slot.
pub(super) struct Slot<'m> {
    head: NonNull<SlotHead>,
    pub(super) payload: NonNull<u8>,
    memory: PhantomData<&'m AtomicU32>,
}

impl<'m> Slot<'m> {
    #[inline]
    fn head(&self) -> &'m SlotHead {
        // SAFETY: aligned, valid for `'m` and formatted (contract of `Ring::new`); every word is a
        // valid atomic and shared memory never holds anything but words there.
        unsafe { self.head.as_ref() }
    }

    /// Whose turn it is.
    #[inline]
    pub(super) fn sequence(&self) -> u32 {
        // Acquire: pairs with `publish` when the consumer asks, so that it sees the message; and
        // with `release` when a producer asks, so that it writes after the consumer has read.
        self.head().sequence.load(Ordering::Acquire)
    }

    /// The length that the producer states. Read it once; it may be anything.
    #[inline]
    pub(super) fn length(&self) -> usize {
        // Relaxed: ordered by `sequence`, which the caller has read before.
        self.head().length.load(Ordering::Relaxed) as usize
    }

    /// Gives the slot, with message number `position` in it, to the consumer.
    #[inline]
    pub(super) fn publish(&self, position: u32, length: usize) {
        // Relaxed: published by the next store. At most the capacity, so nothing is cut off.
        self.head().length.store(length as u32, Ordering::Relaxed);
        // Release: pairs with the consumer's `sequence`.
        self.head().sequence.store(position.wrapping_add(1), Ordering::Release);
    }

    /// Gives the slot of message number `position`, which was read, back to the producers.
    #[inline]
    pub(super) fn release(&self, position: u32, slots: u32) {
        // Release: pairs with a producer's `sequence`; all our reads are done before.
        self.head().sequence.store(position.wrapping_add(slots), Ordering::Release);
    }

    /// # Safety
    /// Nobody else uses the slot.
    unsafe fn format(&self, position: u32) {
        let head = SlotHead { sequence: AtomicU32::new(position), length: AtomicU32::new(0) };
        // SAFETY: aligned, valid, and ours alone (contract).
        unsafe { self.head.write(head) };
        // SAFETY: the payload of a slot, ours alone.
        unsafe { cell::init(self.payload) };
    }

    /// The position of the slot at `index` in the lap of an end.
    fn position(&self, index: u32, end: End, mask: u32) -> Result<u32, RegionError> {
        // Relaxed: only numbers are compared here; before it touches a payload, the end will read
        // the word again by `sequence`.
        let word = self.head().sequence.load(Ordering::Relaxed);
        match (word.wrapping_sub(index) & mask, end) {
            (0, _) => Ok(word),
            (1, End::Consumer) => Ok(word.wrapping_sub(1)),
            // Full: the producer's turn comes one lap later.
            (1, End::Producer) => Ok(word.wrapping_add(mask)),
            _ => Err(RegionError::Positions),
        }
    }
}
