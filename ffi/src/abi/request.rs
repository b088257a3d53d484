// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Requests: those of our upper layer, and those of a peer.

use super::handles::{lnd_peer, lnd_request};
use core::ffi::c_void;

/// Longest upper-layer header in bytes.
pub const LND_MAX_HEADER: usize = 96;
/// Most fragments of one transfer.
pub const LND_MAX_FRAGMENTS: usize = 256;
/// Any link.
pub const LND_ANY_LINK: u32 = 0xffff_ffff;
/// Later than every time. As a deadline: never.
pub const LND_NEVER: u64 = 0xffff_ffff_ffff_ffff;

/// No NID: the sender of the frame is not known, see lnd_frame_in(). No node may have this NID.
pub const LND_NID_UNKNOWN: u64 = 0xffff_ffff_ffff_ffff;

/// struct lnd_frag - A piece of memory by its bus address.
/// @addr: address of the first byte, in the address space of the engine, mem_read and mem_write.
/// @len: bytes, 1 to 1 MiB.
/// @reserved: 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct lnd_frag {
    /// Address.
    pub addr: u64,
    /// Bytes.
    pub len: u32,
    /// Zero.
    pub reserved: u32,
}

/// enum lnd_kind - The four kinds of message.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_kind {
    /// Payload for the peer.
    LND_PUT = 1,
    /// The answer to a PUT that requests one.
    LND_ACK = 2,
    /// A request for payload.
    LND_GET = 3,
    /// The answer to a GET that was not optimised.
    LND_REPLY = 4,
}

/// struct lnd_send_request - One message to send.
/// @size: sizeof(struct lnd_send_request).
/// @kind: enum lnd_kind.
/// @nid: the next hop, or 0 if @peer names it.
/// @link: the link to use, or LND_ANY_LINK. 0 is the first link and not any: while that link is
///        down, the message ends at once with LND_CAUSE_LINK_DOWN. The peer uses its link of the
///        same number. If that link is down, the peer refuses any request whose payload is not
///        inside the message.
/// @routed: not 0 if the message is routed. A routed GET is not optimised.
/// @header: the upper layer's header; copied. May be NULL if it has no bytes.
/// @header_len: its bytes, at most LND_MAX_HEADER.
/// @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
/// @frags: what to send, or for a GET where the reply goes, see lnd_submit(). The vector is copied.
///         The memory it names is lent until the report.
/// @deadline: when the transfer is cancelled, on the clock of every @now.
/// @user: the report returns it.
/// @peer: the next hop by its handle, which saves the lookup of its NID; all fields 0 if @nid names
///        it.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_send_request {
    /// Bytes of this struct.
    pub size: u32,
    /// Kind.
    pub kind: u32,
    /// Next hop.
    pub nid: u64,
    /// Link.
    pub link: u32,
    /// Routed.
    pub routed: u32,
    /// Header.
    pub header: *const c_void,
    /// Payload.
    pub frags: *const lnd_frag,
    /// Bytes of the header.
    pub header_len: u32,
    /// Number of fragments.
    pub nfrags: u32,
    /// Deadline.
    pub deadline: u64,
    /// The caller's own.
    pub user: u64,
    /// Next hop.
    pub peer: lnd_peer,
}

/// enum lnd_request_kind - The kind of a peer's request.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_request_kind {
    /// A PUT, an ACK or a REPLY with its payload: lnd_recv() copies it. Or a GET that is not
    /// optimised, without payload: lnd_recv() of no bytes or lnd_nak() ends it, and the answer is a
    /// separate LND_REPLY. The upper layer's header distinguishes them.
    LND_REQUEST_IMMEDIATE = 1,
    /// A PUT, an ACK or a REPLY: lnd_recv() pulls the payload.
    LND_REQUEST_PUT = 2,
    /// A GET: lnd_reply() stages the payload.
    LND_REQUEST_GET = 3,
}

/// struct lnd_arrival - A peer's request, from lnd_frame_in().
/// @size: sizeof(struct lnd_arrival).
/// @kind: enum lnd_request_kind.
/// @nid: the hop it came from.
/// @request: names it in lnd_recv(), lnd_reply(), lnd_nak() and lnd_keep().
/// @header: the upper layer's header, in the frame.
/// @payload: LND_REQUEST_IMMEDIATE: the payload, in the frame. Else NULL.
/// @header_len: bytes of the header.
/// @len: bytes offered (PUT) or wanted (GET). What a sender announces and sends is its own word:
///       only the frame bounds an inline payload, not our @immediate_max of struct lnd_config, and
///       nothing bounds the other two.
/// @now: the time of the frame.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_arrival {
    /// Bytes of this struct.
    pub size: u32,
    /// Kind.
    pub kind: u32,
    /// Sender.
    pub nid: u64,
    /// Handle.
    pub request: lnd_request,
    /// Header.
    pub header: *const c_void,
    /// Payload.
    pub payload: *const c_void,
    /// Bytes of the header.
    pub header_len: u32,
    /// Bytes offered or wanted.
    pub len: u32,
    /// Time.
    pub now: u64,
}

/// struct lnd_decision - The decision on a peer's request.
/// @size: sizeof(struct lnd_decision).
/// @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
/// @frags: where the payload goes (lnd_recv()) or lies (lnd_reply()). The vector is copied. The
///         memory it names is lent until the report.
/// @len: bytes wanted or replied: at most those of the request, and of the fragments.
/// @reserved: 0.
/// @deadline: when the transfer is cancelled. If a GET's requester has given up or is silent, no
///            frame reports that: the reply's memory stays lent until this time.
/// @user: the report returns it.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_decision {
    /// Bytes of this struct.
    pub size: u32,
    /// Number of fragments.
    pub nfrags: u32,
    /// Memory.
    pub frags: *const lnd_frag,
    /// Bytes.
    pub len: u32,
    /// Zero.
    pub reserved: u32,
    /// Deadline.
    pub deadline: u64,
    /// The caller's own.
    pub user: u64,
}

/// enum lnd_nak_reason - Why a request is refused.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_nak_reason {
    /// Nothing matches.
    LND_NAK_NO_MATCH = 1,
    /// A resource is missing.
    LND_NAK_NO_RESOURCES = 2,
    /// Shutting down.
    LND_NAK_SHUTTING_DOWN = 3,
    /// The request is malformed.
    LND_NAK_BAD_REQUEST = 4,
    /// Failed locally.
    LND_NAK_FAILED = 5,
}
