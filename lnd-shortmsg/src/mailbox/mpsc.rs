// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Many producers, one consumer. A message costs its producer one compare-and-swap.

use super::cell;
use super::consumer::Consumer;
use super::geometry::{Geometry, Line};
use super::region::{Kind, Region, RegionError};
use super::ring::{Ring, Slot};
use super::{Outlet, SendError};
use core::fmt;
use core::ptr::NonNull;
use crossbeam_utils::Backoff;
use lnd_core::sync::{AtomicU32, Ordering};

/// How often a producer tries to claim a slot that others take from under its nose. Work per call
/// is bounded (INV-13); whoever loses that often is told that the mailbox is full.
/// The models need few tries to see all that can happen.
const TRIES: u32 = if cfg!(loom) { 2 } else { 64 };

/// A writing end of a mailbox; its clones are others. Context: any; never waits.
///
/// A producer must not be killed between claim and publication: all later messages would wait
/// behind the claimed slot for ever. Hence all producers belong in one process.
#[derive(Clone)]
pub struct Producer<'m> {
    ring: Ring<'m>,
    /// Next position to be claimed.
    claim: &'m AtomicU32,
}

/// A producer and the consumer of a mailbox within one process.
///
/// # Errors
/// [`RegionError::TooSmall`]: `memory` is smaller than [`Geometry::bytes_needed`].
pub fn channel(
    memory: &mut [Line],
    geometry: Geometry,
) -> Result<(Producer<'_>, Consumer<'_>), RegionError> {
    let region = Region::over(memory);
    // SAFETY: the memory is borrowed, so nobody else is attached.
    unsafe { region.format(Kind::Mpsc, geometry, 0)? };
    // SAFETY: so there is no other consumer either.
    let consumer = unsafe { Consumer::attach(region, Kind::Mpsc)? };
    Ok((Producer::attach(region)?, consumer))
}

impl<'m> Producer<'m> {
    /// Attaches to a mailbox that was formatted.
    ///
    /// # Errors
    /// The region holds no sound mailbox of this kind.
    pub fn attach(region: Region<'m>) -> Result<Self, RegionError> {
        Ok(Self { ring: region.open(Kind::Mpsc)?, claim: region.claim() })
    }

    /// Claims the next slot for this producer.
    #[inline]
    fn claim(&self, length: usize) -> Result<Claimed<'m>, SendError> {
        if length > self.ring.capacity() {
            return Err(SendError::TooLong);
        }
        let backoff = Backoff::new();
        // Relaxed: a guess, which the exchange below confirms.
        let mut position = self.claim.load(Ordering::Relaxed);
        for _ in 0..TRIES {
            let slot = self.ring.slot(position);
            let ahead = slot.sequence().wrapping_sub(position) as i32;
            if ahead < 0 {
                // Not read yet since the last lap, or not even written.
                return Err(SendError::Full);
            }
            if ahead > 0 {
                // Taken since we looked.
                position = self.claim.load(Ordering::Relaxed);
                continue;
            }
            // Relaxed: orders nothing. The slot's word, which no one changes but who claims this
            // position, has told us that the consumer is done with it; the claim only says which
            // producer may write. (A position comes back after 2^32 messages; a producer would
            // have to sleep that long right here to be fooled.)
            let next = position.wrapping_add(1);
            match self.claim.compare_exchange_weak(
                position,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(Claimed { slot, position, length }),
                Err(current) => position = current,
            }
            backoff.spin();
        }
        Err(SendError::Full)
    }
}

/// A claimed slot. It is published whatever happens, since the mailbox waits for it: should a
/// filler unwind, then the receiver gets garbage and drops it.
struct Claimed<'m> {
    slot: Slot<'m>,
    position: u32,
    length: usize,
}

impl Claimed<'_> {
    fn payload(&self) -> NonNull<u8> {
        self.slot.payload
    }
}

impl Drop for Claimed<'_> {
    #[inline]
    fn drop(&mut self) {
        self.slot.publish(self.position, self.length);
    }
}

impl Outlet for Producer<'_> {
    fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), SendError> {
        let claimed = self.claim(message.len())?;
        // SAFETY: the slot is claimed, so ours; the length was checked.
        unsafe { cell::write(claimed.payload(), message) };
        Ok(())
    }

    #[inline]
    fn send_with<F: FnOnce(&mut [u8])>(&mut self, length: usize, fill: F) -> Result<(), SendError> {
        let claimed = self.claim(length)?;
        // SAFETY: the slot is claimed, so ours; the length was checked.
        unsafe { cell::fill(claimed.payload(), length, fill) };
        Ok(())
    }
}

impl fmt::Debug for Producer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").finish_non_exhaustive()
    }
}
