// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The ring of slots as both sides see it.

use super::error::RegionError;
use crate::mailbox::cell;
use core::marker::PhantomData;
use core::mem::size_of;
use core::ptr::NonNull;
use lnd_core::defect::ordered;
use lnd_core::sync::{AtomicU32, Ordering};

/// The words at the beginning of a slot; the payload follows.
#[repr(C, align(8))]
pub(super) struct SlotHead {
    /// One more than the number of the message in the slot. Written by the producer.
    sequence: AtomicU32,
    /// Bytes of the message. Written by the producer, before the sequence word.
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

// SAFETY: a ring is an address and numbers. Behind the address are atomics, and payload that the
// sequence words pass from thread to thread (see `Slot`).
unsafe impl Send for Ring<'_> {}
// SAFETY: a shared ring allows nothing that a copied one does not.
unsafe impl Sync for Ring<'_> {}

impl<'m> Ring<'m> {
    /// # Safety
    /// `first` is valid for `'m` for reads and writes of `slots` slots `stride` bytes apart. Each
    /// begins, aligned, with the head and `capacity` bytes of payload that [`Slot::format`] makes;
    /// before that call, no other call is allowed. `slots` is a power of two.
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

    /// Makes every slot empty; the first message has the number `start`.
    ///
    /// # Safety
    /// Nothing else uses the slots.
    pub(super) unsafe fn format(&self, start: u32) {
        for ahead in 0..self.slots() {
            let position = start.wrapping_add(ahead);
            // SAFETY: ours alone, as is the whole ring.
            unsafe { self.slot(position).format(self.empty(position)) };
        }
    }

    /// The sequence word of a slot that does not yet hold message number `position`: that of the
    /// message one lap earlier.
    #[inline]
    pub(super) const fn empty(&self, position: u32) -> u32 {
        position.wrapping_sub(self.mask)
    }

    /// The number of the next message to send, from the sequence words alone. They do not change
    /// while there is no producer, and the slots then hold exactly the last lap.
    pub(super) fn recover_producer(&self, consumed: u32) -> Result<u32, RegionError> {
        let next = (1..self.slots()).fold(self.slot(0).word(), |newest, index| {
            let word = self.slot(index).word();
            // Words of a valid mailbox lie within one lap: the difference has a sign.
            if (word.wrapping_sub(newest) as i32) > 0 {
                word
            } else {
                newest
            }
        });
        let sound = (0..self.slots()).all(|ahead| {
            let position = next.wrapping_add(ahead);
            self.slot(position).word() == self.empty(position)
        });
        if sound && next.wrapping_sub(consumed) <= self.slots() {
            Ok(next)
        } else {
            Err(RegionError::Positions)
        }
    }

    /// Whether the sequence words are possible for a consumer that continues at `consumed`,
    /// whatever the producer does concurrently.
    pub(super) fn recover_consumer(&self, consumed: u32) -> Result<u32, RegionError> {
        let sound = (0..self.slots()).all(|ahead| {
            let position = consumed.wrapping_add(ahead);
            let word = self.slot(position).word();
            word == self.empty(position) || word == position.wrapping_add(1)
        });
        if sound {
            Ok(consumed)
        } else {
            Err(RegionError::Positions)
        }
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
        // valid atomic, and shared memory only ever holds words there.
        unsafe { self.head.as_ref() }
    }

    /// One more than the number of the message in the slot.
    #[inline]
    pub(super) fn sequence(&self) -> u32 {
        // Acquire: pairs with `publish`, so that the consumer sees the message.
        self.head().sequence.load(Ordering::Acquire)
    }

    /// The length that the producer states. Read it once; it may have any value.
    #[inline]
    pub(super) fn length(&self) -> usize {
        // Relaxed: ordered by `sequence`, which the caller has read before.
        self.head().length.load(Ordering::Relaxed) as usize
    }

    /// Passes message number `position`, which was written to the slot, to the consumer.
    #[inline]
    pub(super) fn publish(&self, position: u32, length: usize) {
        // Relaxed: published by the next store. At most the capacity, so the cast loses nothing.
        self.head().length.store(length as u32, Ordering::Relaxed);
        // Release: pairs with `sequence`.
        let order = ordered("mail-publish-relaxed", Ordering::Release);
        self.head().sequence.store(position.wrapping_add(1), order);
    }

    /// The sequence word for comparison only; no message is read by it.
    fn word(&self) -> u32 {
        // Relaxed: attaching compares numbers. Before the consumer reads a message, it reads the
        // word again through `sequence`.
        self.head().sequence.load(Ordering::Relaxed)
    }

    /// # Safety
    /// Nothing else uses the slot.
    unsafe fn format(&self, sequence: u32) {
        let head = SlotHead { sequence: AtomicU32::new(sequence), length: AtomicU32::new(0) };
        // SAFETY: aligned, valid, and ours alone (contract).
        unsafe { self.head.write(head) };
        // SAFETY: the payload of a slot, ours alone.
        unsafe { cell::init(self.payload) };
    }
}
