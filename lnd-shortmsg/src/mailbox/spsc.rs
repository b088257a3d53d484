// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One producer, one consumer: no locked operation, and no shared word but the slot's and the
//! consumed word.

use super::cell;
use super::consumer::Consumer;
use super::error::RegionError;
use super::geometry::MailboxGeometry;
use super::header::Consumed;
use super::line::Line;
use super::region::MailboxRegion;
use super::ring::Ring;
use super::{Outlet, SendError};
use core::fmt;
use core::ptr::NonNull;
use crossbeam_utils::CachePadded;

/// The writing end of a mailbox. Context: one owner at a time; never waits.
///
/// A producer that stops in the middle of a message, even one that is killed, has sent nothing.
pub struct Producer<'m> {
    // Padded: both ends may lie side by side in one object and be used by two threads.
    state: CachePadded<State<'m>>,
}

#[derive(Clone, Copy)]
struct State<'m> {
    ring: Ring<'m>,
    consumed: &'m Consumed,
    /// Number of the next message.
    next: u32,
    /// Number of the first message without known room.
    room: u32,
}

impl<'m> State<'m> {
    fn recover(region: MailboxRegion<'m>) -> Result<Self, RegionError> {
        let ring = region.open()?;
        let consumed = &region.words().consumed;
        let next = ring.recover_producer(consumed.read())?;
        // No known room: the first message reads the consumed word.
        Ok(Self { ring, consumed, next, room: next })
    }
}

/// Both ends of a mailbox within one process.
///
/// # Errors
/// [`RegionError::TooSmall`]: `memory` is smaller than [`MailboxGeometry::bytes_needed`].
pub fn channel(
    memory: &mut [Line],
    geometry: MailboxGeometry,
) -> Result<(Producer<'_>, Consumer<'_>), RegionError> {
    let region = MailboxRegion::over(memory);
    // SAFETY: the memory is borrowed, so nothing else is attached.
    unsafe { region.format(geometry, 0)? };
    // SAFETY: the first and only producer, by the same reason.
    let producer = unsafe { Producer::attach(region)? };
    // SAFETY: the first and only consumer.
    let consumer = unsafe { Consumer::attach(region)? };
    Ok((producer, consumer))
}

impl<'m> Producer<'m> {
    /// Attaches to a formatted mailbox, and continues where the last producer stopped.
    ///
    /// # Errors
    /// The region holds no valid mailbox of this kind.
    ///
    /// # Safety
    /// This process has no other producer of this mailbox.
    #[inline]
    pub unsafe fn attach(region: MailboxRegion<'m>) -> Result<Self, RegionError> {
        Ok(Self { state: CachePadded::new(State::recover(region)?) })
    }

    /// Whether the next [`send`](Outlet::send) finds room. Only this producer uses up room, so the
    /// answer stays true.
    #[inline]
    pub fn has_room(&self) -> bool {
        let State { ring, consumed, next, room } = *self.state;
        // Fewer messages than slots, by the consumed word; an impossible word is no room.
        next != room || next.wrapping_sub(consumed.read()) < ring.slots()
    }

    /// Whether the consumed word is impossible: no further message is sent. A producer that
    /// attaches again may find the slots valid.
    pub fn is_broken(&self) -> bool {
        let State { ring, consumed, next, .. } = *self.state;
        next.wrapping_sub(consumed.read()) > ring.slots()
    }

    /// Reads the consumed word to find room.
    fn look_for_room(&mut self) -> Result<(), SendError> {
        let state = &mut *self.state;
        let consumed = state.consumed.read();
        let waiting = state.next.wrapping_sub(consumed);
        if waiting > state.ring.slots() {
            return Err(SendError::Broken);
        }
        if waiting == state.ring.slots() {
            return Err(SendError::Full);
        }
        state.room = consumed.wrapping_add(state.ring.slots());
        Ok(())
    }

    /// Sends a message of `length` bytes that `fill` writes in place, if `fill` returns `true`.
    /// Returns whether it was sent. The memory passed to `fill` holds remains of older messages;
    /// all of it is sent.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent and `fill` was not called.
    #[inline]
    pub fn send_if(
        &mut self,
        length: usize,
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<bool, SendError> {
        self.send_raw(length, |payload| {
            // SAFETY: the consumer has returned the slot; the length was checked.
            unsafe { cell::fill(payload, length, fill) }
        })
    }

    /// Sends what `write` puts into the payload, if `write` returns `true`. Returns whether it was
    /// sent.
    #[inline]
    fn send_raw(
        &mut self,
        length: usize,
        write: impl FnOnce(NonNull<u8>) -> bool,
    ) -> Result<bool, SendError> {
        let State { ring, next, room, .. } = *self.state;
        if length > ring.capacity() {
            return Err(SendError::TooLong);
        }
        if next == room {
            self.look_for_room()?;
        }
        let slot = ring.slot(next);
        // An unsent write stays in a slot that was not published: the next message overwrites it.
        if !write(slot.payload) {
            return Ok(false);
        }
        slot.publish(next, length);
        self.state.next = next.wrapping_add(1);
        Ok(true)
    }
}

impl Outlet for Producer<'_> {
    fn capacity(&self) -> usize {
        self.state.ring.capacity()
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), SendError> {
        self.send_raw(message.len(), |payload| {
            // SAFETY: the consumer has returned the slot; the length was checked.
            unsafe { cell::write(payload, message) };
            true
        })?;
        Ok(())
    }

    #[inline]
    fn send_with<F: FnOnce(&mut [u8])>(&mut self, length: usize, fill: F) -> Result<(), SendError> {
        self.send_raw(length, |payload| {
            // SAFETY: the consumer has returned the slot; the length was checked.
            unsafe { cell::fill(payload, length, fill) };
            true
        })?;
        Ok(())
    }
}

impl fmt::Debug for Producer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").field("next", &self.state.next).finish_non_exhaustive()
    }
}
