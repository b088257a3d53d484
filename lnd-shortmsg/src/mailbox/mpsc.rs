// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Many producers, one consumer. A message costs its producer one compare-and-swap.

use super::cell;
use super::consumer::Consumer;
use super::geometry::{Geometry, Line};
use super::region::{Kind, Region, RegionError, Words};
use super::ring::{Ring, Slot};
use super::{Outlet, SendError};
use core::fmt;
use core::ptr::NonNull;
use crossbeam_utils::Backoff;
use lnd_core::defect::seeded;
use lnd_core::sync::Ordering;

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
    words: &'m Words,
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
        Ok(Self { ring: region.open(Kind::Mpsc)?, words: region.words() })
    }

    /// Claims the next slot for this producer.
    #[inline]
    fn claim(&self, length: usize) -> Result<Claimed<'m>, SendError> {
        if length > self.ring.capacity() {
            return Err(SendError::TooLong);
        }
        let backoff = Backoff::new();
        // Relaxed: a guess, which the exchange confirms.
        let mut position = self.words.claim.load(Ordering::Relaxed);
        for _ in 0..TRIES {
            self.check_room(position)?;
            let next = position.wrapping_add(1);
            if seeded("mail-claim-stored") {
                self.words.claim.store(next, Ordering::Relaxed);
                return Ok(Claimed { slot: self.ring.slot(position), position, length });
            }
            // Relaxed: orders nothing. That the slot may be written, `check_room` has established;
            // the exchange only says by which producer. (A position comes back after 2^32 messages;
            // a producer would have to sleep that long right here to be fooled.)
            match self.words.claim.compare_exchange_weak(
                position,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(Claimed { slot: self.ring.slot(position), position, length }),
                Err(current) => position = current,
            }
            backoff.spin();
        }
        Err(SendError::Full)
    }

    /// Whether the consumer is done with what was in the slot of a position one lap before.
    #[inline]
    fn check_room(&self, position: u32) -> Result<(), SendError> {
        // Acquire: pairs with the store below. The producer that stored this has seen the consumer
        // give the slots back, and so have we.
        let room = self.words.room.load(Ordering::Acquire);
        // Far ahead is fine: then the position is an old one, and will not be claimed.
        if (room.wrapping_sub(position) as i32) > 0 {
            return Ok(());
        }
        let consumed = self.words.consumed.read();
        let room = consumed.wrapping_add(self.ring.slots());
        if room.wrapping_sub(position) as i32 <= 0 {
            return Err(SendError::Full);
        }
        // Release: pairs with the load above. A slow producer may put back what was true earlier;
        // then somebody looks again.
        self.words.room.store(room, Ordering::Release);
        Ok(())
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
