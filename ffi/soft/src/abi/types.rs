// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The structs and numbers of the C ABI.

use core::ffi::c_void;

use crate::nodes::NodeFlags;

/// In lnd_soft_join_args.flags: the node reports to the memory oracle what it lends to engines,
/// through lnd_soft_lend(). Without this flag accesses to its window are not checked.
pub const LND_SOFT_LEASES: u32 = 1;
/// No node's number.
pub const LND_SOFT_NO_NODE: u32 = u32::MAX;

const _: () = assert!(LND_SOFT_LEASES == NodeFlags::LEASES.bits() as u32);

/// enum lnd_soft_state - The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_soft_state {
    /// Never joined, or left in good order.
    LND_SOFT_ABSENT = 0,
    /// Preparing its memory.
    LND_SOFT_JOINING = 1,
    /// At work.
    LND_SOFT_ALIVE = 2,
    /// Proven dead.
    LND_SOFT_DEAD = 3,
}

/// struct lnd_soft_shape - The numbers of a fabric.
/// @size: sizeof(struct lnd_soft_shape).
/// @nodes: nodes, 2 to 64.
/// @links: links of each node, 1 to 8.
/// @descriptors: descriptors of each link, 1 to 65,536: at least the slots of every NI.
/// @lists: indirect lists of each link, 0 to 65,536.
/// @request_slots: slots of a request mailbox, a power of two.
/// @request_bytes: their size, a multiple of 64.
/// @control_slots: slots of a control mailbox, a power of two.
/// @control_bytes: their size, a multiple of 64.
/// @reserved: 0.
/// @window: bytes of each node's payload window, a multiple of 4096.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_soft_shape {
    /// Bytes of this struct.
    pub size: u32,
    /// Nodes.
    pub nodes: u32,
    /// Links.
    pub links: u32,
    /// Descriptors.
    pub descriptors: u32,
    /// Lists.
    pub lists: u32,
    /// Slots for requests.
    pub request_slots: u32,
    /// Bytes of each.
    pub request_bytes: u32,
    /// Slots for control messages.
    pub control_slots: u32,
    /// Bytes of each.
    pub control_bytes: u32,
    /// Zero.
    pub reserved: u32,
    /// Bytes of a window.
    pub window: u64,
}

/// struct lnd_soft_join_args - How a node joins.
/// @size: sizeof(struct lnd_soft_join_args).
/// @node: its number.
/// @random: a number that differs for each incarnation.
/// @flags: LND_SOFT_LEASES or 0.
/// @features: the capabilities of its engines, see docs/registers.md; all ones: all of them.
/// @start: first value of free-running indices; any number, usually 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_soft_join_args {
    /// Bytes of this struct.
    pub size: u32,
    /// Node.
    pub node: u32,
    /// Random word.
    pub random: u32,
    /// Flags.
    pub flags: u32,
    /// Features.
    pub features: u32,
    /// First index.
    pub start: u32,
}

/// struct lnd_soft_node_info - The node table's entry of a node.
/// @size: sizeof(struct lnd_soft_node_info).
/// @node: its number.
/// @state: enum lnd_soft_state.
/// @flags: the flags of its last join.
/// @incarnation: its current or last incarnation; 0: none, or it is changing now.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_soft_node_info {
    /// Bytes of this struct.
    pub size: u32,
    /// Node.
    pub node: u32,
    /// State.
    pub state: u32,
    /// Flags.
    pub flags: u32,
    /// Incarnation.
    pub incarnation: u64,
}

/// struct lnd_soft_link - A link's memory, for lnd_config.rings.
/// @size: sizeof(struct lnd_soft_link).
/// @descriptors: descriptors in it.
/// @lists: indirect lists in it.
/// @reserved: 0.
/// @base: the first byte: the registers, then the rings.
/// @len: bytes.
/// @features: the engine's capabilities.
/// @node: the node.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_soft_link {
    /// Bytes of this struct.
    pub size: u32,
    /// Descriptors.
    pub descriptors: u32,
    /// Lists.
    pub lists: u32,
    /// Zero.
    pub reserved: u32,
    /// First byte.
    pub base: *mut c_void,
    /// Bytes.
    pub len: usize,
    /// Features.
    pub features: u32,
    /// Node.
    pub node: u32,
}

/// struct lnd_soft_arrival - A received frame.
/// @size: sizeof(struct lnd_soft_arrival).
/// @from: the sending node, known by its mailbox.
/// @link: the link.
/// @lane: enum lnd_lane.
/// @len: bytes.
/// @reserved: 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_soft_arrival {
    /// Bytes of this struct.
    pub size: u32,
    /// Sender.
    pub from: u32,
    /// Link.
    pub link: u32,
    /// Lane.
    pub lane: u32,
    /// Bytes of the frame.
    pub len: u32,
    /// Zero.
    pub reserved: u32,
}

/// struct lnd_soft_progress - The result of an engine's step.
/// @size: sizeof(struct lnd_soft_progress).
/// @busy: 1: work is under way, step again soon; 0: step again after a doorbell or a ring.
/// @bytes: bytes moved.
/// @completions: completions posted.
/// @interrupts: interrupt bits that are newly pending: if any, raise the link's interrupt.
/// @reserved: 0.
/// @violations: accesses so far that the memory oracle rejected.
/// @ring: nodes to ring: their engines have descriptors back.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_soft_progress {
    /// Bytes of this struct.
    pub size: u32,
    /// More to do.
    pub busy: u32,
    /// Bytes moved.
    pub bytes: u32,
    /// Completions.
    pub completions: u32,
    /// Interrupts.
    pub interrupts: u32,
    /// Zero.
    pub reserved: u32,
    /// Violations.
    pub violations: u64,
    /// Nodes to ring.
    pub ring: u64,
}
