// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The reading end.

use super::cell;
use super::error::RegionError;
use super::header::Consumed;
use super::region::MailboxRegion;
use super::ring::Ring;
use core::fmt;
use crossbeam_utils::CachePadded;

/// Why the mailbox holds an invalid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A message longer than a slot. It was discarded; the next call reads the one after it.
    Length,
    /// A sequence word that no producer writes: the mailbox is no longer usable.
    Sequence,
    /// The caller's buffer is too small for the message, which stays in the mailbox.
    NoRoom,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "impossible length in a slot",
            Self::Sequence => "impossible sequence number in a slot",
            Self::NoRoom => "buffer smaller than the message",
        })
    }
}

impl core::error::Error for Fault {}

/// The reading end of a mailbox. Context: one owner at a time; never waits.
pub struct Consumer<'m> {
    // Padded: both ends may lie side by side in one object and be used by two threads.
    state: CachePadded<State<'m>>,
}

#[derive(Clone, Copy)]
struct State<'m> {
    ring: Ring<'m>,
    consumed: &'m Consumed,
    /// Number of the next message.
    next: u32,
    /// The consumed position that was last reported to the producer.
    reported: u32,
    /// Messages after which the producer is notified.
    period: u32,
}

/// Most messages that are taken before the producer is notified. A notification costs the producer
/// the transfer of a cache line, and the consumer the wait for it.
const REPORT_EVERY: u32 = 16;

impl<'m> Consumer<'m> {
    /// Attaches to a formatted mailbox, and continues where the last consumer stopped.
    ///
    /// # Errors
    /// The region holds no valid mailbox of this kind.
    ///
    /// # Safety
    /// This process has no other consumer of this mailbox.
    pub unsafe fn attach(region: MailboxRegion<'m>) -> Result<Self, RegionError> {
        let ring = region.open()?;
        let consumed = &region.words().consumed;
        let next = ring.recover_consumer(consumed.read())?;
        // A small mailbox reports sooner: at most a quarter of it stays unreported.
        let period = REPORT_EVERY.min(ring.slots() / 4);
        let state = State { ring, consumed, next, reported: next, period };
        Ok(Self { state: CachePadded::new(state) })
    }

    /// Longest message in bytes: a buffer of this size is always large enough.
    pub fn capacity(&self) -> usize {
        self.state.ring.capacity()
    }

    /// Copies the oldest message into the caller's memory and leaves it in the mailbox until it is
    /// [released](Mail::release). So a message that cannot be handled now may stay: that is
    /// back-pressure. `None`: there is no message.
    ///
    /// Bytes of `into` after the message may be overwritten.
    ///
    /// # Errors
    /// [`Fault`].
    #[inline]
    pub fn peek<'c, 'b>(
        &'c mut self,
        into: &'b mut [u8],
    ) -> Result<Option<Mail<'c, 'm, 'b>>, Fault> {
        let State { ring, next, .. } = *self.state;
        let slot = ring.slot(next);
        let sequence = slot.sequence();
        if sequence != next.wrapping_add(1) {
            // There is nothing to do, so the report delays no message.
            self.report();
            return if sequence == ring.empty(next) { Ok(None) } else { Err(Fault::Sequence) };
        }
        let length = slot.length();
        if length > ring.capacity() {
            self.advance();
            return Err(Fault::Length);
        }
        // SAFETY: the sequence word shows that the slot is ours; the length fits the payload, whose
        // slots are whole lines.
        match unsafe { cell::copy_out(slot.payload, length, into) } {
            Some(bytes) => Ok(Some(Mail { consumer: self, bytes })),
            None => Err(Fault::NoRoom),
        }
    }

    /// Takes the oldest message: [`peek`](Self::peek) and release in one call.
    ///
    /// # Errors
    /// [`Fault`].
    #[inline]
    pub fn recv<'b>(&mut self, into: &'b mut [u8]) -> Result<Option<&'b [u8]>, Fault> {
        Ok(self.peek(into)?.map(Mail::release))
    }

    /// Takes the oldest message without reading it, such as one that was [peeked](Self::peek) and
    /// not released. Returns whether there was one.
    pub fn discard(&mut self) -> bool {
        let State { ring, next, .. } = *self.state;
        let there = ring.slot(next).sequence() == next.wrapping_add(1);
        if there {
            self.advance();
        }
        there
    }

    /// Releases the oldest message.
    #[inline]
    fn advance(&mut self) {
        let state = &mut *self.state;
        state.next = state.next.wrapping_add(1);
        let untold = state.next.wrapping_sub(state.reported);
        if untold >= state.period {
            self.report();
        }
    }

    /// Reports to the producer which slots are free.
    #[inline]
    fn report(&mut self) {
        let state = &mut *self.state;
        if state.reported != state.next {
            state.consumed.report(state.next);
            state.reported = state.next;
        }
    }
}

/// Reports every released message, so that it stays released.
impl Drop for Consumer<'_> {
    fn drop(&mut self) {
        self.report();
    }
}

impl fmt::Debug for Consumer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("next", &self.state.next).finish_non_exhaustive()
    }
}

/// A message that is still in the mailbox. A drop leaves it there.
#[must_use = "a message that is not released stays in the mailbox"]
#[derive(Debug)]
pub struct Mail<'c, 'm, 'b> {
    consumer: &'c mut Consumer<'m>,
    bytes: &'b [u8],
}

impl<'b> Mail<'_, '_, 'b> {
    /// The message, in the memory passed to [`peek`](Consumer::peek).
    pub const fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    /// Removes the message from the mailbox. Its slot is free when the producer is notified: after
    /// a few messages, or as soon as the consumer finds the mailbox empty.
    #[inline]
    pub fn release(self) -> &'b [u8] {
        self.consumer.advance();
        self.bytes
    }
}
