// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a caller decides at creation.

use core::ffi::c_void;

/// Most links of one NI.
pub const LND_MAX_LINKS: usize = 8;

/// In lnd_config.flags: frames carry checksums, and such without are refused.
pub const LND_CHECKSUM: u32 = 1;

/// In lnd_config.flags: the channel is reliable. A frame that it called sent reaches the peer's
/// driver, however long that does not run, unless its incarnation ends. Without it a short message
/// that ended well is reported as LND_DELIVERY_SENT, not as delivered. lnd_config_init() leaves it
/// out. Frames of an incarnation that has ended, and frames for one, may stay in the channel.
pub const LND_RELIABLE: u32 = 2;

/// In lnd_config.flags: what send() takes has ended when it returns, as in memory that the sender writes
/// itself; it never returns LND_SEND_PENDING. A short message may then end within lnd_submit().
/// lnd_config_init() leaves it out.
pub const LND_ENDS_AT_ONCE: u32 = 4;

/// In lnd_config.flags: the engine, which is operations, cannot take staged memory back while the peer may be
/// reading it, as a queue pair cannot: the read would end well with a part of the data. The peer is asked first
/// (CANCEL), and engine_invalidate() is called for staged memory once it does not read, or not any more. Without
/// its answer within @drain_bound the connection is stopped, or the link. All nodes say so, or none.
pub const LND_CANCEL_FIRST: u32 = 8;

/// All flags that exist.
pub const LND_FLAGS: u32 = LND_CHECKSUM | LND_RELIABLE | LND_ENDS_AT_ONCE | LND_CANCEL_FIRST;

/// enum lnd_policy - Which table translates ends into errno and health class.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_policy {
    /// By what is known of the transfer.
    LND_POLICY_SEED = 0,
    /// As o2iblnd reports.
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

/// struct lnd_config - Sizes and times of one NI; all are fixed at creation.
/// @size: sizeof(struct lnd_config).
/// @abi_version: LND_ABI_VERSION.
/// @nid: our NID, not 0.
/// @life: this life of ours, not 0: another number after every start (boot time, random).
/// @slots: transfers at once, 2 to 1,048,576.
/// @passive_slots: how many of them are kept for peers' requests, 1 to slots - 1.
/// @peers: peers known at once, 1 to 1,048,576.
/// @links: links, 1 to LND_MAX_LINKS.
/// @lists: transfers at once of more than one fragment, 0 to 65,535, at most slots.
/// @immediate_max: largest payload in bytes that travels inside a message, 0 to 65,352. The channel must
///                 take frames of lnd_frame_size() bytes.
/// @depth: requests that each peer may have in flight towards us, 1 to 32.
/// @hello_tries: greetings before a peer counts as down, 1 to 255. It stays down for
///               @hello_tries times @hello_timeout, unless a frame of it comes before.
/// @batch: most slots, queue entries or timers handled in one call, 1 to 1,048,576.
/// @policy: enum lnd_policy.
/// @flags: LND_CHECKSUM, LND_RELIABLE, LND_ENDS_AT_ONCE, LND_CANCEL_FIRST, or 0. A host whose channel loses
///         nothing adds LND_RELIABLE.
/// @pulls: pulls under way from each peer at once, 1 to 65,535; what exceeds them waits in order.
/// @connections: connections that may be out of service at once, 0 to 255, for engines that have some:
///               see lnd_ops.connection. 0: only whole links are stopped.
/// @reserved: 0.
/// @drain_bound: ns within which a recalled descriptor must be back, at least 1 ms.
/// @hello_timeout: ns between two greetings, at least 1 ms.
/// @credit_stall: ns without a credit before the peer's count is asked for, at least 1 ms. The peer
///                is down if it answers none of @hello_tries greetings after that, as one whose
///                host does not run for so long.
/// @link_poll: ns between two looks at a link that is out of service or at room in the channel, at least 1 us.
///        A host that did not call lnd_run() for twice as long may have paused: a silence then ends later.
/// @decision_bound: ns within which a request must have its verdict, at least 1 ms.
/// @rings: the links' memory; the first @links are used.
///
/// lnd_config_init() fills in everything but @nid, @life and @rings.
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
    /// Our life.
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
    /// Greetings.
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
    /// Greeting's time, ns.
    pub hello_timeout: u64,
    /// Credit stall, ns.
    pub credit_stall: u64,
    /// Link poll, ns.
    pub link_poll: u64,
    /// Verdict bound, ns.
    pub decision_bound: u64,
    /// Ring memory.
    pub rings: [lnd_ring; LND_MAX_LINKS],
}
