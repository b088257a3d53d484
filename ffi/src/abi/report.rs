// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a transfer ended.

use super::handles::lnd_transfer;

/// enum lnd_role - The role of a reported transfer.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_role {
    /// Ours, whole inside a message.
    LND_ROLE_IMMEDIATE = 0,
    /// Our PUT, pulled by the peer.
    LND_ROLE_PUT_SOURCE = 1,
    /// Our GET, before the peer was ready.
    LND_ROLE_GET_SINK = 2,
    /// Our GET, pulled by us.
    LND_ROLE_GET_PULL = 3,
    /// A peer's message, copied into our memory.
    LND_ROLE_INLINE_SINK = 5,
    /// A peer's PUT, pulled by us.
    LND_ROLE_PUT_SINK = 6,
    /// A peer's GET, pulled by the peer.
    LND_ROLE_GET_SOURCE = 7,
    /// Our GET: exposed, for the peer to push into.
    LND_ROLE_PUSH_SINK = 11,
    /// A peer's GET: we push.
    LND_ROLE_PUSH_SOURCE = 12,
}

/// enum lnd_health_class - Health classes, by LNet's numbers.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_health_class {
    /// Nothing is wrong.
    LND_HEALTH_OK = 0,
    /// Interrupted locally.
    LND_HEALTH_LOCAL_INTERRUPT = 1,
    /// Lost before it left this node.
    LND_HEALTH_LOCAL_DROPPED = 2,
    /// Aborted locally.
    LND_HEALTH_LOCAL_ABORTED = 3,
    /// No path from this interface.
    LND_HEALTH_LOCAL_NO_ROUTE = 4,
    /// A local error.
    LND_HEALTH_LOCAL_ERROR = 5,
    /// Timed out in a local queue.
    LND_HEALTH_LOCAL_TIMEOUT = 6,
    /// The peer received it and failed.
    LND_HEALTH_REMOTE_ERROR = 7,
    /// The peer refused it, or the path was lost.
    LND_HEALTH_REMOTE_DROPPED = 8,
    /// The peer received it and does not answer.
    LND_HEALTH_REMOTE_TIMEOUT = 9,
    /// Timed out at an unknown place.
    LND_HEALTH_NETWORK_TIMEOUT = 10,
}

/// enum lnd_delivery - What is known of the payload's delivery.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_delivery {
    /// Delivered. For a short message over a reliable channel: the peer's upper layer receives it,
    /// unless the peer's incarnation ends first. It does not receive it either if our incarnation
    /// ends without lnd_shutdown() before the peer has taken the message, or if the next
    /// incarnation of this node shuts down before that.
    LND_DELIVERED = 1,
    /// Not delivered; it will not be delivered.
    LND_NOT_DELIVERED = 2,
    /// It may have been delivered.
    LND_DELIVERY_UNKNOWN = 3,
    /// Handed to a channel that may lose it (no LND_RELIABLE). Nothing more is known.
    LND_DELIVERY_SENT = 4,
}

/// enum lnd_cause - Why a transfer was lost.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_cause {
    /// It was not lost.
    LND_CAUSE_NONE = 0,
    /// The peer was declared down.
    LND_CAUSE_PEER_DOWN = 1,
    /// The peer restarted: it has another incarnation.
    LND_CAUSE_PEER_RESTARTED = 2,
    /// The link failed.
    LND_CAUSE_LINK_DOWN = 3,
    /// The deadline passed.
    LND_CAUSE_DEADLINE = 4,
    /// This NI is shutting down.
    LND_CAUSE_SHUTDOWN = 5,
    /// The upper layer withdrew it.
    LND_CAUSE_WITHDRAWN = 6,
    /// The peer refused it, or took it and could not complete its pull.
    LND_CAUSE_REFUSED = 7,
    /// The channel failed.
    LND_CAUSE_CHANNEL = 8,
    /// The engine failed.
    LND_CAUSE_DEVICE = 9,
    /// A local step failed: posting, addresses.
    LND_CAUSE_LOCAL = 10,
    /// The peer broke the protocol.
    LND_CAUSE_PROTOCOL = 11,
    /// The connection with the peer failed or was stopped.
    LND_CAUSE_CONNECTION_DOWN = 12,
}

/// enum lnd_place - Where a transfer was when it was lost.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_place {
    /// It was not lost.
    LND_PLACE_NONE = 0,
    /// In the local queue.
    LND_PLACE_QUEUE = 1,
    /// In a message that was not delivered.
    LND_PLACE_MESSAGE = 2,
    /// Its message was sent.
    LND_PLACE_ANSWER = 3,
    /// In the engine. No byte was moved.
    LND_PLACE_STAGED = 4,
    /// In the engine. Bytes may have been moved.
    LND_PLACE_MOVING = 5,
}

/// struct lnd_report - The one end of an accepted transfer, for finalize().
/// @size: sizeof(struct lnd_report).
/// @role: enum lnd_role.
/// @transfer: the transfer's handle; stale from now on.
/// @user: the caller's value from the submission.
/// @nid: the other side, or 0 if its entry was removed.
/// @error: 0, or a negative errno.
/// @health: enum lnd_health_class; LND_HEALTH_OK if and only if @error is 0.
/// @delivery: enum lnd_delivery.
/// @resend: 1 if it may be sent again, which cannot deliver it twice.
/// @cause: enum lnd_cause.
/// @place: enum lnd_place.
/// @bytes: bytes moved if it ended well, else 0. 0 for a GET that was sent as a header alone (see
///         lnd_submit()).
/// @reply: 1: this is the end of a GET and of its reply. 0 for a GET that was sent as a header
///         alone: its reply is an LND_REPLY from the peer.
/// @lost_race: 1 if it was cancelled and still ended well.
/// @reserved: 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_report {
    /// Bytes of this struct.
    pub size: u32,
    /// Role.
    pub role: u32,
    /// Handle.
    pub transfer: lnd_transfer,
    /// The caller's own.
    pub user: u64,
    /// Other side.
    pub nid: u64,
    /// Errno.
    pub error: i32,
    /// Health class.
    pub health: u32,
    /// Delivery.
    pub delivery: u32,
    /// May be resent.
    pub resend: u32,
    /// Cause.
    pub cause: u32,
    /// Place.
    pub place: u32,
    /// Bytes moved.
    pub bytes: u32,
    /// A GET's.
    pub reply: u32,
    /// Ended well although cancelled.
    pub lost_race: u32,
    /// Zero.
    pub reserved: u32,
}
