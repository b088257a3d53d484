// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mailboxes: bounded queues of frames in memory that threads, processes or virtual machines share.
//!
//! A mailbox is a ring of slots. Each slot has a **sequence word** beside its message: one more
//! than the number of the message in it. The consumer waits for the number it expects, so a message
//! of up to [`FIRST_LINE`] bytes costs the transfer of one cache line only.
//!
//! The **consumed word** goes the other way: the number of messages that the consumer has finished.
//! The consumer writes it from time to time, and whenever it finds the mailbox empty. A producer
//! reads it only when it has no known room left. Only one side writes each word:
//!
//! | word | writer | holds (32 bits, free running, wraps) |
//! |---|---|---|
//! | sequence, in each slot | producer | number of the message + 1 |
//! | consumed | consumer | number of the next message it will read |
//!
//! A mailbox has one producer, and a message needs no locked operation. A node with several senders
//! has a mailbox for each. A producer that is killed in the middle of a message has sent nothing of
//! it, and a new one may [attach](spsc::Producer::attach) and continue. So may a new consumer. If
//! the former consumer was killed, the new one may read a few messages again; they are addressed to
//! a former incarnation.
//!
//! # Trust
//!
//! The other side of the memory may be hostile. It can only withhold messages or corrupt them: the
//! geometry is read once and checked; sequence words are only compared; a length is read once and
//! bounded; a message is copied into the reader's own memory before it is parsed. Within this
//! process the usual rules hold, and the `unsafe` constructors name them.
//!
//! No call waits. A full mailbox is reported, and so is an empty one.

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

    /// Sends a message from other memory.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent.
    fn send(&mut self, message: &[u8]) -> Result<(), SendError>;

    /// Sends a message of `length` bytes that `fill` writes in place. The memory passed to `fill`
    /// holds remains of older messages; all of it is sent.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent and `fill` was not called.
    fn send_with<F: FnOnce(&mut [u8])>(&mut self, length: usize, fill: F) -> Result<(), SendError>;
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendError {
    /// No slot is free. A later call may find one.
    Full,
    /// The message is longer than a slot. It will never fit.
    TooLong,
    /// The consumed word has a value that no consumer writes: the mailbox is no longer usable.
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
