// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mailboxes: bounded queues of frames in memory that threads, processes or virtual machines share.
//!
//! A mailbox is a ring of slots. Each slot has a **sequence word** beside its message: one more than
//! the number of the message in it. The consumer waits for the number it expects; so a message of
//! up to [`FIRST_LINE`] bytes costs the transfer of one cache line, and of no other.
//!
//! The way back is the **consumed word**: how many messages the consumer is done with. It is told
//! now and then, and whenever the mailbox is found empty; a producer looks at it only when it knows
//! of no more room. Every word is written by one side only:
//!
//! | word | writer | holds (32 bits, free running, wraps) |
//! |---|---|---|
//! | sequence, in each slot | producer | number of the message + 1 |
//! | consumed | consumer | number of the next message it will read |
//!
//! A mailbox has one producer, and a message takes no locked operation. A node that is sent to by
//! several has a mailbox for each. A producer killed in the middle of a message leaves nothing behind,
//! and a new one may [attach](spsc::Producer::attach) and go on. So may a new consumer; if the former
//! one was killed, it may see a few messages again, which are addressed to an incarnation that is over.
//!
//! # Trust
//!
//! The other side of the memory may be hostile. It can withhold messages, or make them garbage, and
//! no more: the geometry is read once and checked; sequence words are only compared; a length is
//! read once and bounded; a message is copied into the reader's own memory before anybody looks at
//! it. Within this process the usual rules hold, and the `unsafe` constructors name them.
//!
//! Nothing waits in here. A full mailbox is reported, an empty one as well.

mod cell;
mod consumer;
mod error;
mod geometry;
mod header;
mod line;
mod region;
mod ring;
pub mod spsc;

pub use consumer::{Consumer, Fault, Mail};
pub use error::RegionError;
pub use geometry::{MailboxGeometry, MAX_SLOTS, MAX_SLOT_SIZE};
pub use line::{Line, FIRST_LINE};
pub use region::MailboxRegion;

use core::fmt;

/// The producing end of a mailbox. Context: any; never waits.
pub trait Outlet {
    /// Longest message in bytes.
    fn capacity(&self) -> usize;

    /// Sends a message that lies elsewhere.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent.
    fn send(&mut self, message: &[u8]) -> Result<(), SendError>;

    /// Sends a message of `length` bytes that `fill` writes in place. What `fill` is given holds
    /// remains of older messages; all of it is sent.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent and `fill` was not called.
    fn send_with<F: FnOnce(&mut [u8])>(&mut self, length: usize, fill: F) -> Result<(), SendError>;
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendError {
    /// No slot is free. One may be later.
    Full,
    /// The message is longer than a slot. It will never fit.
    TooLong,
    /// The slot holds what no consumer writes: the mailbox can no longer be used.
    Broken,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "mailbox full",
            Self::TooLong => "message longer than a slot",
            Self::Broken => "mailbox corrupted",
        })
    }
}

impl core::error::Error for SendError {}
