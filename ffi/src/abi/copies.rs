// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Second copies of messages, as C sees them.

/// Bytes of a stamp in a message's header.
pub const LND_STAMP_BYTES: usize = 24;

/// struct lnd_stamp - What goes with a try of a message, so that its receiver recognises a second
/// copy: the upper layer's header carries it as it is.
/// @from: the sender's incarnation.
/// @to: the receiver's incarnation that it is for; 0: whichever there is.
/// @number: the message's number; 0: it has none, and the whole stamp is 0.
///
/// lnd_stamp_write() and lnd_stamp_read() bring it into the header and out of it, in the same order
/// of bytes on every machine.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_stamp {
    /// From whom.
    pub from: u64,
    /// For whom.
    pub to: u64,
    /// Number.
    pub number: u64,
}

/// enum lnd_window_check - What a message that has arrived turned out to be.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_window_check {
    /// The first copy: deliver it, then lnd_health_message_received() or
    /// lnd_health_message_not_received().
    LND_WINDOW_FIRST = 1,
    /// The first copy is still coming: keep this request and ask again once that has ended, or refuse
    /// it (LND_NAK_NO_RESOURCES).
    LND_WINDOW_COMING = 2,
    /// The message was received: drop this copy and answer that it has arrived (lnd_recv() of no
    /// bytes).
    LND_WINDOW_SECOND = 3,
    /// Too old to know: refuse it (LND_NAK_FAILED).
    LND_WINDOW_OUTSIDE = 4,
    /// Of or for an incarnation that is not the present one: refuse it (LND_NAK_FAILED).
    LND_WINDOW_STALE = 5,
}
