// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The configuration of an NI, fixed at its creation.

use core::ffi::c_void;

/// Most links of one NI.
pub const LND_MAX_LINKS: usize = 8;

/// In lnd_config.flags: frames carry checksums. A frame without one is refused, so all nodes have
/// this flag, or none. lnd_config_init() sets it; "flags = LND_RELIABLE" would drop it.
pub const LND_CHECKSUM: u32 = 1;

/// In lnd_config.flags: the channel is reliable. A frame that the channel reports as sent reaches
/// the peer's driver, however long that driver pauses, unless the peer's incarnation ends. Without
/// this flag a short message that ended well is reported as LND_DELIVERY_SENT, not as delivered.
/// lnd_config_init() does not set it: "flags |= LND_RELIABLE" adds it. Frames from or for an ended
/// incarnation may stay in the channel. A channel that damages a frame breaks this promise: the
/// receiver counts the frame, and the sender is not told.
pub const LND_RELIABLE: u32 = 2;

/// In lnd_config.flags: a frame that send() accepts has ended when send() returns, as in memory
/// that the sender writes itself. send() never returns LND_SEND_PENDING. A short message may then
/// end within lnd_submit(). lnd_config_init() does not set this flag.
pub const LND_ENDS_AT_ONCE: u32 = 4;

/// In lnd_config.flags, for an engine that is operations: the engine cannot invalidate staged
/// memory safely while the peer may read it. A queue pair is an example: the peer's read would
/// succeed with a part of the data. The library first sends CANCEL to the peer. It calls
/// engine_invalidate() for staged memory after the peer has answered that it does not read. If no
/// answer comes within @drain_bound, the connection or the link is stopped. A peer without this
/// flag is sent no CANCEL: memory that is given up waits for that stop.
pub const LND_CANCEL_FIRST: u32 = 8;

/// In lnd_config.flags, without LND_RELIABLE: the channel loses frames only with a connection or a
/// link that stops, as queue pairs do. A frame that send() accepted reaches the peer's driver once,
/// however long it waits there, unless its connection ends before it has arrived. What waits at a
/// slow peer, or behind a goodbye, is then received, and not taken for lost. lnd_connection_down()
/// or lnd_link_event() tells of each end.
pub const LND_CONNECTION_CHANNEL: u32 = 16;

/// All flags that exist.
pub const LND_FLAGS: u32 =
    LND_CHECKSUM | LND_RELIABLE | LND_ENDS_AT_ONCE | LND_CANCEL_FIRST | LND_CONNECTION_CHANNEL;

/// enum lnd_policy - Which table maps the end of a transfer to errno and health class.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_policy {
    /// By what is known of the transfer's delivery.
    LND_POLICY_SEED = 0,
    /// The codes that o2iblnd reports.
    LND_POLICY_O2IB = 1,
}

/// struct lnd_ring - Memory that a link's engine and its driver share.
/// @base: the first byte, aligned to 64; lnd_ring_format() has prepared it.
/// @len: bytes.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_ring {
    /// First byte.
    pub base: *mut c_void,
    /// Bytes.
    pub len: usize,
}

/// struct lnd_config - Sizes and times of one NI. All are fixed at creation.
/// @size: sizeof(struct lnd_config).
/// @abi_version: LND_ABI_VERSION.
/// @nid: our NID, not 0.
/// @incarnation: this node's incarnation, not 0. Two starts of a node never have the same number;
///               nothing depends on the order of the numbers. A calendar clock in ns is suitable if
///               it is not set back behind an earlier start. So is a stored count of starts, stored
///               before the first frame is sent, with a random number in the upper half.
/// @slots: transfers at once, 2 to 1,048,576.
/// @passive_slots: how many of them are kept for peers' requests, 1 to slots - 1. A quarter of the
///                 others, one at least, is kept for own transfers.
/// @peers: peers known at once, 1 to 1,048,576.
/// @links: links, 1 to LND_MAX_LINKS.
/// @lists: transfers at once of more than one fragment, 0 to 65,535, at most slots.
/// @immediate_max: largest payload in bytes that travels inside a message, 0 to 65,352. The channel
///                 must take frames of lnd_frame_size() bytes.
/// @depth: requests that each peer may have in flight towards us, 1 to 32.
/// @hello_tries: HELLO messages without an answer before a peer counts as down, 1 to 255. The peer
///               stays down for @hello_tries times @hello_timeout, unless a frame of it arrives
///               earlier.
/// @batch: most slots, queue entries or timers handled in one call, 1 to 1,048,576.
/// @policy: enum lnd_policy.
/// @flags: LND_CHECKSUM, LND_RELIABLE, LND_ENDS_AT_ONCE, LND_CANCEL_FIRST, LND_CONNECTION_CHANNEL,
///         or 0. A host whose channel loses no frame adds LND_RELIABLE.
/// @pulls: concurrent pulls from each peer, 1 to 65,535. Further pulls wait in order.
/// @connections: connections that may be out of service at once, 0 to 255. Only for engines with
///               connections: see lnd_ops.connection. 0: only whole links are stopped.
/// @reserved: 0.
/// @drain_bound: ns within which an invalidated descriptor must come back, at least 1 ms.
/// @hello_timeout: ns between two HELLO messages, at least 1 ms.
/// @credit_stall: ns without a credit before the library resynchronises with the peer, at least 1
///                ms. If the peer answers none of @hello_tries HELLO messages after that, it is
///                down. A host that pauses for that long counts as down too.
/// @link_poll: ns between two checks of a link that is out of service, or of room in the channel,
///             at least 1 us. If the host does not call lnd_run() for twice as long, it may have
///             paused; a peer's silence then ends later.
/// @decision_bound: ns within which a request must be decided, at least 1 ms.
/// @rings: the links' memory. The first @links entries are used.
///
/// lnd_config_init() fills in everything except @nid, @incarnation and @rings.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_config {
    /// Bytes of this struct.
    pub size: u32,
    /// The ABI the caller was compiled for.
    pub abi_version: u32,
    /// Our NID.
    pub nid: u64,
    /// Our incarnation.
    pub incarnation: u64,
    /// Transfer slots.
    pub slots: u32,
    /// Slots for peers' requests only.
    pub passive_slots: u32,
    /// Peers.
    pub peers: u32,
    /// Links.
    pub links: u32,
    /// Fragment lists.
    pub lists: u32,
    /// Largest inline payload.
    pub immediate_max: u32,
    /// Credits.
    pub depth: u32,
    /// HELLO messages.
    pub hello_tries: u32,
    /// Work per call.
    pub batch: u32,
    /// Policy.
    pub policy: u32,
    /// Flags.
    pub flags: u32,
    /// Pulls.
    pub pulls: u32,
    /// Connections out of service.
    pub connections: u32,
    /// Zero.
    pub reserved: u32,
    /// Drain bound, ns.
    pub drain_bound: u64,
    /// HELLO interval, ns.
    pub hello_timeout: u64,
    /// Credit stall, ns.
    pub credit_stall: u64,
    /// Link poll, ns.
    pub link_poll: u64,
    /// Decision bound, ns.
    pub decision_bound: u64,
    /// Ring memory.
    pub rings: [lnd_ring; LND_MAX_LINKS],
}
