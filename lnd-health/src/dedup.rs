// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Duplicates by (sender's incarnation, number) (R45): the sender numbers what it may resend; the
//! receiver stores which numbers of the sender's current incarnation are coming or received.
//!
//! The sender never has a number outstanding that is [`WIDTH`] or more behind the next one. So
//! between correct nodes no number leaves the receiver's window before it has ended. A number
//! outside the window is refused: a refusal is always safe, a second delivery never is.
//!
//! A sender that removes the receiver and adds it again does not have its former numbers. It
//! numbers from 0 in a new *epoch*; epochs of one incarnation only grow. The receiver opens a new
//! window for a later epoch and refuses messages of an earlier one: all of them had ended.

use core::num::NonZeroU64;
use lnd_core::id::Incarnation;

/// Numbers that one window covers: more than all rails' credits of one peer together.
pub const WIDTH: u32 = 512;
const WORDS: usize = WIDTH as usize / 32;

/// A message's number: epoch and count. Never zero as a raw number, so that zero means "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Number(NonZeroU64);

impl Number {
    /// Number `count` of an epoch; `None` for epoch 0.
    pub const fn new(epoch: u32, count: u32) -> Option<Self> {
        if epoch == 0 {
            return None;
        }
        Self::from_raw((epoch as u64) << 32 | count as u64)
    }

    /// The number of a raw form; `None` if no number has that form.
    pub const fn from_raw(raw: u64) -> Option<Self> {
        match NonZeroU64::new(raw) {
            Some(valid) if raw >> 32 != 0 => Some(Self(valid)),
            _ => None,
        }
    }

    /// The form that crosses the network and the C ABI, never zero.
    pub const fn raw(self) -> u64 {
        self.0.get()
    }

    /// Its epoch, never zero.
    pub const fn epoch(self) -> u32 {
        (self.0.get() >> 32) as u32
    }

    /// Its count in the epoch. Counts wrap.
    pub const fn count(self) -> u32 {
        self.0.get() as u32
    }
}

/// The stamp that travels with each try of a message: its header carries it unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The sender's incarnation.
    pub from: Incarnation,
    /// The receiver's incarnation; `None`: any. Set once a copy may have arrived: a later
    /// incarnation must not receive another one.
    pub to: Option<Incarnation>,
    /// The message's number.
    pub number: Number,
}

/// Bytes of a stamp in a header.
pub const STAMP_BYTES: usize = 24;

impl Stamp {
    /// The stamp in a header: three words, little-endian, 0 for "any".
    pub fn to_bytes(self) -> [u8; STAMP_BYTES] {
        let mut bytes = [0; STAMP_BYTES];
        let words = [self.from.raw(), self.to.map_or(0, Incarnation::raw), self.number.raw()];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads the stamp in a header; `None` if it has none, or an invalid one.
    pub fn from_bytes(bytes: &[u8; STAMP_BYTES]) -> Option<Self> {
        let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map(u64::from_le_bytes));
        let mut next = || words.next()?.ok();
        let (from, to, number) = (next()?, next()?, next()?);
        Some(Self {
            from: Incarnation::from_raw(from)?,
            to: Incarnation::from_raw(to),
            number: Number::from_raw(number)?,
        })
    }
}

/// One bit for each of the last [`WIDTH`] numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ring([u32; WORDS]);

impl Ring {
    const EMPTY: Self = Self([0; WORDS]);

    const fn place(count: u32) -> (usize, u32) {
        ((count / 32) as usize % WORDS, 1 << (count % 32))
    }

    fn get(&self, count: u32) -> bool {
        let (word, bit) = Self::place(count);
        self.0.get(word).is_some_and(|w| w & bit != 0)
    }

    fn set(&mut self, count: u32, on: bool) {
        let (word, bit) = Self::place(count);
        if let Some(w) = self.0.get_mut(word) {
            *w = if on { *w | bit } else { *w & !bit };
        }
    }
}

/// The result of checking a received number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowCheck {
    /// The first copy: it is *coming* from now on. Deliver it, then report that it was received, or
    /// that it was not.
    First,
    /// The first copy is still coming: refuse this one, and do not report it as arrived.
    Coming,
    /// The message was received: drop this copy, and acknowledge it to its sender.
    Second,
    /// Too old to decide: refuse it.
    Outside,
    /// From or for an incarnation that is not the current one, or from an unknown peer: refuse it.
    Stale,
}

/// The receiver's side for one incarnation of one peer.
///
/// ```
/// use lnd_health::dedup::{DedupWindow, Number, WindowCheck};
///
/// let mut window = DedupWindow::new();
/// let number = Number::new(1, 7).unwrap();
/// assert_eq!(window.arrive(number), WindowCheck::First);
/// // A copy over another rail, while the first is still coming.
/// assert_eq!(window.arrive(number), WindowCheck::Coming);
/// assert!(window.received(number));
/// assert_eq!(window.arrive(number), WindowCheck::Second);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DedupWindow {
    /// The epoch of the fields below; 0: no number has arrived yet.
    epoch: u32,
    /// One more than the highest count that has arrived.
    next: u32,
    /// Arrived numbers: coming or received.
    seen: Ring,
    /// Coming numbers.
    coming: Ring,
}

impl DedupWindow {
    /// The window at the start of the peer's incarnation: nothing has arrived.
    pub const fn new() -> Self {
        Self { epoch: 0, next: 0, seen: Ring::EMPTY, coming: Ring::EMPTY }
    }

    /// Checks a received number. A first copy is marked as coming.
    pub fn arrive(&mut self, number: Number) -> WindowCheck {
        let (epoch, count) = (number.epoch(), number.count());
        if epoch < self.epoch {
            return WindowCheck::Outside;
        }
        if epoch > self.epoch {
            // The first number need not be 0: the sender continues its count when this node
            // restarts. Numbers just before it may still arrive.
            *self = Self { epoch, next: count, ..Self::new() };
        }
        let ahead = count.wrapping_sub(self.next);
        if ahead < 1 << 31 {
            // Skipped numbers may still arrive. At most `WIDTH` bits are cleared, and over time one
            // for each number.
            for passed in 0..ahead.min(WIDTH) {
                let passed = self.next.wrapping_add(passed);
                self.seen.set(passed, false);
                self.coming.set(passed, false);
            }
            self.next = count.wrapping_add(1);
        } else {
            if self.next.wrapping_sub(count) > WIDTH {
                return WindowCheck::Outside;
            }
            if self.seen.get(count) {
                return if self.coming.get(count) {
                    WindowCheck::Coming
                } else {
                    WindowCheck::Second
                };
            }
        }
        self.seen.set(count, true);
        self.coming.set(count, true);
        WindowCheck::First
    }

    /// Marks a coming number as received: later copies are duplicates. Returns whether it was
    /// coming.
    pub fn received(&mut self, number: Number) -> bool {
        let was = self.is_coming(number);
        if was {
            self.coming.set(number.count(), false);
        }
        was
    }

    /// Marks a coming number as not received: a later copy is the first. Returns whether it was
    /// coming.
    pub fn not_received(&mut self, number: Number) -> bool {
        let was = self.is_coming(number);
        if was {
            self.coming.set(number.count(), false);
            self.seen.set(number.count(), false);
        }
        was
    }

    fn is_coming(&self, number: Number) -> bool {
        let age = self.next.wrapping_sub(number.count());
        number.epoch() == self.epoch
            && (1..=WIDTH).contains(&age)
            && self.coming.get(number.count())
    }
}

impl Default for DedupWindow {
    fn default() -> Self {
        Self::new()
    }
}

/// The sender's side for one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Numbers {
    epoch: u32,
    next: u32,
    outstanding: Ring,
}

impl Numbers {
    /// Nothing outstanding, in a new epoch. Epoch 0 assigns no numbers.
    pub const fn new(epoch: u32) -> Self {
        Self { epoch, next: 0, outstanding: Ring::EMPTY }
    }

    /// The next number, or `None` while the one [`WIDTH`] before it has not ended.
    pub(crate) fn give(&mut self) -> Option<Number> {
        let count = self.next;
        // Its place in the ring is that of the number `WIDTH` earlier.
        if self.outstanding.get(count) {
            return None;
        }
        let number = Number::new(self.epoch, count)?;
        self.outstanding.set(count, true);
        self.next = count.wrapping_add(1);
        Some(number)
    }

    /// The message with this number has ended: it is not resent.
    pub(crate) fn end(&mut self, number: Number) {
        let age = self.next.wrapping_sub(number.count());
        if number.epoch() == self.epoch && (1..=WIDTH).contains(&age) {
            self.outstanding.set(number.count(), false);
        }
    }
}

#[cfg(test)]
#[path = "dedup_tests.rs"]
mod tests;
