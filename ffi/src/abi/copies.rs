// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Duplicate messages, as C sees them.

/// Bytes of a stamp in a message's header.
pub const LND_STAMP_BYTES: usize = 24;

/// struct lnd_stamp - Identifies a message over all its tries, so that the receiver recognises a
/// duplicate. The upper layer's header carries it unchanged.
/// @from: the sender's incarnation.
/// @to: the receiver's incarnation; 0: any.
/// @number: the message's number; 0: the message has none, and the whole stamp is 0.
///
/// lnd_stamp_write() and lnd_stamp_read() convert it to and from the header's bytes, in one byte
/// order for all machines.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_stamp {
    /// Sender.
    pub from: u64,
    /// Receiver.
    pub to: u64,
    /// Number.
    pub number: u64,
}

/// enum lnd_window_check - The result of checking a received message for duplicates.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_window_check {
    /// The first copy. Deliver it, then call lnd_health_message_received() or
    /// lnd_health_message_not_received().
    LND_WINDOW_FIRST = 1,
    /// The first copy is still arriving. Keep this request and check it again after the first copy
    /// has ended. One without inline payload may be refused instead (LND_NAK_NO_RESOURCES).
    LND_WINDOW_COMING = 2,
    /// The message was already received. Drop this copy and acknowledge it (lnd_recv() of no
    /// bytes).
    LND_WINDOW_SECOND = 3,
    /// Too old to decide. Refuse it (LND_NAK_FAILED).
    LND_WINDOW_OUTSIDE = 4,
    /// From or for an incarnation that is not the current one. Refuse it (LND_NAK_FAILED).
    LND_WINDOW_STALE = 5,
}
