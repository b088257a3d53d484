// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! News for the upper layer, and the trace.

/// enum lnd_peer_state - How far the greeting of a peer has come.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_peer_state {
    /// Not greeted.
    LND_PEER_UNKNOWN = 0,
    /// Our greeting is out.
    LND_PEER_HANDSHAKE = 1,
    /// It has answered: requests go out.
    LND_PEER_GOOD = 2,
    /// Down.
    LND_PEER_DOWN = 3,
}

/// enum lnd_link_state - Where a link stands, or a connection.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_link_state {
    /// In service.
    LND_LINK_UP = 1,
    /// Failed; a poster may still be inside.
    LND_LINK_STALLED = 2,
    /// The engine was asked to stop.
    LND_LINK_STOPPING = 3,
    /// The engine has stopped; its descriptors are taken back.
    LND_LINK_RECLAIMING = 4,
    /// The engine is reset; the link does not work yet.
    LND_LINK_DOWN = 5,
    /// The device does not identify itself, or says what no working device says. What it has stays
    /// lent until it is proven stopped: see lnd_assert_stopped().
    LND_LINK_FAILED = 6,
}

/// enum lnd_event_kind - What an event is about.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_event_kind {
    /// A peer has changed its state.
    LND_EVENT_PEER = 1,
    /// A link has changed its state.
    LND_EVENT_LINK = 2,
    /// Events were lost: look at all peers, links and connections.
    LND_EVENT_OVERRUN = 3,
    /// A connection that failed has changed its state; LND_LINK_UP: it has been reset. Of one that its
    /// link takes over, which fails meanwhile, the link's events tell the rest.
    LND_EVENT_CONNECTION = 4,
}

/// struct lnd_event - News of a peer, a link or a connection, as event() sees it.
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

/// enum lnd_trace_kind - What a trace record is about.
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
    /// A descriptor was asked back.
    LND_TRACE_INVALIDATED = 5,
    /// A stopped engine's descriptor was taken; @a: 1 if it held its real end.
    LND_TRACE_RECLAIMED = 6,
    /// A message was handed over; @a: lane, @b: number.
    LND_TRACE_SENT = 7,
    /// A message came in; @a: lane, @b: number, @c: 1 if it was acted upon.
    LND_TRACE_RECEIVED = 8,
    /// A peer's state; @a: enum lnd_peer_state.
    LND_TRACE_PEER = 9,
    /// A link's state; @a: enum lnd_link_state.
    LND_TRACE_LINK = 10,
    /// A transfer was reported; @a: negated errno, @b: health class.
    LND_TRACE_FINALIZED = 11,
    /// A message that took no transfer has ended; @nid: the other side, @a: negated errno, @b: health
    /// class, @c: its number, @d: its length.
    LND_TRACE_ENDED = 12,
    /// The state of a connection that failed; @nid: the peer, @a: enum lnd_link_state, @b: its number.
    LND_TRACE_CONNECTION = 13,
}

/// struct lnd_trace - One happening, as trace() sees it.
/// @size: sizeof(struct lnd_trace).
/// @kind: enum lnd_trace_kind.
/// @now: the time.
/// @nid: the peer, or 0.
/// @index: slot of the transfer.
/// @generation: use of the slot; both 0 if it is not about a transfer.
/// @link: the link, or LND_ANY_LINK.
/// @a: by kind.
/// @b: by kind.
/// @c: by kind.
/// @d: by kind.
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
    /// By kind.
    pub a: u32,
    /// By kind.
    pub b: u32,
    /// By kind.
    pub c: u32,
    /// By kind.
    pub d: u32,
    /// Zero.
    pub reserved: u32,
}
