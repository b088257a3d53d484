// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Events for the upper layer, and the trace.

/// enum lnd_peer_state - The state of the handshake with a peer.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_peer_state {
    /// No handshake yet.
    LND_PEER_UNKNOWN = 0,
    /// Our HELLO is sent.
    LND_PEER_HANDSHAKE = 1,
    /// The peer has answered. Requests are sent.
    LND_PEER_GOOD = 2,
    /// Down.
    LND_PEER_DOWN = 3,
}

/// enum lnd_link_state - The state of a link or a connection.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_link_state {
    /// In service.
    LND_LINK_UP = 1,
    /// Failed. A thread may still be posting.
    LND_LINK_STALLED = 2,
    /// The engine was requested to stop.
    LND_LINK_STOPPING = 3,
    /// The engine has stopped. Its descriptors are being reclaimed.
    LND_LINK_RECLAIMING = 4,
    /// The engine is reset. The link does not work yet.
    LND_LINK_DOWN = 5,
    /// The device does not identify itself, or its registers hold what no working device reports.
    /// Its memory stays lent until the device is proven stopped: see lnd_assert_stopped().
    LND_LINK_FAILED = 6,
}

/// enum lnd_event_kind - The kind of an event.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_event_kind {
    /// A peer changed its state.
    LND_EVENT_PEER = 1,
    /// A link changed its state.
    LND_EVENT_LINK = 2,
    /// Events were lost. Read the state of all peers, links and connections.
    LND_EVENT_OVERRUN = 3,
    /// A failed connection changed its state. LND_LINK_UP: it has been reset. If its link fails
    /// meanwhile, the link takes the connection over, and the link's events report the rest.
    LND_EVENT_CONNECTION = 4,
}

/// struct lnd_event - A state change of a peer, a link or a connection, for event().
/// @size: sizeof(struct lnd_event).
/// @kind: enum lnd_event_kind.
/// @nid: the peer, or 0.
/// @link: the link, or LND_ANY_LINK.
/// @state: enum lnd_peer_state or enum lnd_link_state.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_event {
    /// Bytes of this struct.
    pub size: u32,
    /// Kind.
    pub kind: u32,
    /// Peer.
    pub nid: u64,
    /// Link.
    pub link: u32,
    /// State.
    pub state: u32,
}

/// enum lnd_trace_kind - The kind of a trace record.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_trace_kind {
    /// A transfer was accepted; @a: bytes.
    LND_TRACE_ACCEPTED = 1,
    /// A transfer's word changed; @a: before, @b: after, @c: event, @d: effect.
    LND_TRACE_STEP = 2,
    /// A tag matched nothing.
    LND_TRACE_STALE = 3,
    /// A descriptor was posted.
    LND_TRACE_POSTED = 4,
    /// A descriptor was invalidated.
    LND_TRACE_INVALIDATED = 5,
    /// A stopped engine's descriptor was reclaimed; @a: 1 if it held its real outcome.
    LND_TRACE_RECLAIMED = 6,
    /// A message was handed to the channel; @a: lane, @b: number.
    LND_TRACE_SENT = 7,
    /// A message was received; @a: lane, @b: number, @c: 1 if it had an effect.
    LND_TRACE_RECEIVED = 8,
    /// A peer's state; @a: enum lnd_peer_state.
    LND_TRACE_PEER = 9,
    /// A link's state; @a: enum lnd_link_state.
    LND_TRACE_LINK = 10,
    /// A transfer was reported; @a: negated errno, @b: health class.
    LND_TRACE_FINALIZED = 11,
    /// A message that took no transfer slot ended; @nid: the other side, @a: negated errno, @b:
    /// health class, @c: its number, @d: its length.
    LND_TRACE_ENDED = 12,
    /// The state of a failed connection; @nid: the peer, @a: enum lnd_link_state, @b: its number.
    LND_TRACE_CONNECTION = 13,
}

/// struct lnd_trace - One trace record, for trace().
/// @size: sizeof(struct lnd_trace).
/// @kind: enum lnd_trace_kind.
/// @now: the time.
/// @nid: the peer, or 0.
/// @index: slot of the transfer.
/// @generation: use of the slot. @index and @generation are 0 if the record concerns no transfer.
/// @link: the link, or LND_ANY_LINK.
/// @a: depends on @kind.
/// @b: depends on @kind.
/// @c: depends on @kind.
/// @d: depends on @kind.
/// @reserved: 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_trace {
    /// Bytes of this struct.
    pub size: u32,
    /// Kind.
    pub kind: u32,
    /// Time.
    pub now: u64,
    /// Peer.
    pub nid: u64,
    /// Slot.
    pub index: u32,
    /// Use.
    pub generation: u32,
    /// Link.
    pub link: u32,
    /// Depends on the kind.
    pub a: u32,
    /// Depends on the kind.
    pub b: u32,
    /// Depends on the kind.
    pub c: u32,
    /// Depends on the kind.
    pub d: u32,
    /// Zero.
    pub reserved: u32,
}
