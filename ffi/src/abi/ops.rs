// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the platform does for the library: one table.

use super::engine::{lnd_bd, lnd_tag};
use super::events::{lnd_event, lnd_trace};
use super::handles::lnd_message;
use super::report::lnd_report;
use core::ffi::{c_char, c_void};

/// What node_of() returns for a NID that has no number.
pub const LND_NO_NODE: u32 = 0xffff_ffff;

/// enum lnd_context - What context() returns.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_context {
    /// A thread, or whatever else may take the lock.
    LND_CONTEXT_THREAD = 0,
    /// An interrupt that may have interrupted the lock's holder.
    LND_CONTEXT_INTERRUPT = 1,
}

/// enum lnd_lane - Which queue of the channel a frame travels in.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_lane {
    /// Requests; one that finds no receiver's room waits.
    LND_LANE_REQUEST = 0,
    /// Answers, greetings, credits; must never wait behind the other lane.
    LND_LANE_CONTROL = 1,
}

/// enum lnd_send - What send() returns.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_send {
    /// Handed over and done.
    LND_SEND_DONE = 0,
    /// Handed over; lnd_sent() tells the end if the frame is tracked. Not with LND_ENDS_AT_ONCE.
    LND_SEND_PENDING = 1,
    /// Handed over and failed: known not to be delivered.
    LND_SEND_FAILED = 2,
    /// No room: not handed over.
    LND_SEND_FULL = 3,
    /// Longer than the channel's frames: not handed over. The message ends as a local failure, and
    /// bug() is told: lnd_config.immediate_max is too large for this channel, see lnd_frame_size().
    LND_SEND_TOO_LONG = 4,
}

/// struct lnd_frame - A short message to be sent.
/// @size: sizeof(struct lnd_frame).
/// @link: the link.
/// @lane: enum lnd_lane.
/// @len: bytes.
/// @bytes: the frame; the library's again when send() returns.
/// @nid: to whom.
/// @tracked: 1: if send() returns LND_SEND_PENDING the end must be told by lnd_sent(), once.
/// @reserved: 0.
/// @message: names the message in lnd_sent(). A hello is not tracked and has a name: that it was not
///           delivered may be told, by send() or by lnd_sent(), and its peer is down at once.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_frame {
    /// Bytes of this struct.
    pub size: u32,
    /// Link.
    pub link: u32,
    /// Lane.
    pub lane: u32,
    /// Bytes of the frame.
    pub len: u32,
    /// The frame.
    pub bytes: *const c_void,
    /// To whom.
    pub nid: u64,
    /// Whether its end is awaited.
    pub tracked: u32,
    /// Zero.
    pub reserved: u32,
    /// Handle.
    pub message: lnd_message,
}

/// struct lnd_ops - The platform's operations; copied at creation.
///
/// Three groups by context. *Inside* operations are called with the lock held. They may not sleep. Of
/// the library they may call what is for any context, as lnd_sent(), lnd_link_failed(),
/// lnd_interrupt() and lnd_completed(); calls for threads return LND_E_REENTRY. *Outside* callbacks are called with
/// nothing held and may call everything but what called them. *Any* may be called in interrupts
/// too, and call nothing. An operation that is marked optional may be NULL. None may unwind or longjmp.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_ops {
    /// @size: sizeof(struct lnd_ops).
    pub size: u32,
    /// @reserved: 0.
    pub reserved: u32,

    /// @lock: Takes the NI's lock. Optional, with unlock. Without it and with self_id the library
    /// takes a spin lock of its own: for threads in user space, not for a kernel, and not where a
    /// thread of higher priority may interrupt the one that holds it. Without it and without self_id
    /// one thread makes all calls that are for threads. Context: thread, not called while the lock
    /// is held.
    pub lock: Option<unsafe extern "C" fn(ctx: *mut c_void)>,
    /// @unlock: Releases it. Context: thread.
    pub unlock: Option<unsafe extern "C" fn(ctx: *mut c_void)>,
    /// @self_id: A number, not 0, of whoever runs now, different from all who may call at the same
    /// time: in Linux, in_task() ? current->pid : 0x40000000 | smp_processor_id(). Must be given
    /// with lock, optional without. Context: any.
    pub self_id: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,
    /// @context: enum lnd_context of the caller. Optional: then calls in a wrong context are not
    /// found out. Context: any.
    pub context: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,

    /// @reg_read32: Reads a register of a link's engine; what the device wrote before is visible
    /// afterwards. Offsets: docs/registers.md. Optional, with reg_write32: then the registers are
    /// the first 256 bytes of the link's ring memory. Context: inside, and lnd_interrupt().
    pub reg_read32: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, offset: u32) -> u32>,
    /// @reg_write32: Writes a register. Context: inside, and lnd_interrupt().
    pub reg_write32:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, offset: u32, value: u32)>,
    /// @dma_barrier: The doorbell barrier, called before each reg_write32: what was written to
    /// memory before is visible to the device first. Optional: then the processor's own full fence
    /// is used. Context: inside, and lnd_interrupt().
    pub dma_barrier: Option<unsafe extern "C" fn(ctx: *mut c_void)>,
    /// @node_of: The fabric's number of a node, 0 to 255, or LND_NO_NODE. Optional: then it is the
    /// lower half of the NID less one. Context: inside.
    pub node_of: Option<unsafe extern "C" fn(ctx: *mut c_void, nid: u64) -> u32>,

    /// @engine_post: Posts a descriptor; enum lnd_post. The engine may begin once engine_doorbell() has been
    /// called, and not before. Optional, with engine_doorbell, engine_invalidate, engine_stop and
    /// engine_reset: then there are no registers, no ring memory and no node_of, and lnd_completed() tells
    /// what came back. Context: inside.
    pub engine_post: Option<unsafe extern "C" fn(ctx: *mut c_void, bd: *const lnd_bd) -> u32>,
    /// @engine_key: What the peer's engine needs beside the tag to pull what is staged under it: a remote key,
    /// an address. Writes at most LND_MAX_KEY bytes; returns their number, and 0 only for one that has come
    /// back meanwhile. Called once for each use, behind engine_doorbell(). The key is valid until the descriptor comes back, and of no other use.
    /// Optional: then engines pull by tags alone. Given by all nodes, or by none. Context: inside.
    pub engine_key: Option<
        unsafe extern "C" fn(ctx: *mut c_void, link: u32, tag: lnd_tag, key: *mut c_void) -> u32,
    >,
    /// @engine_doorbell: Everything posted on a link since the last call may begin. Context: inside.
    pub engine_doorbell: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32)>,
    /// @engine_invalidate: Asks for a descriptor back. Never waits: it comes back by lnd_completed() with
    /// any outcome, or not at all; then its link, or its connection, is stopped after
    /// lnd_config.drain_bound. Of staged memory the peer may be reading: it learns that it did not get
    /// all, or lnd_config.flags has LND_CANCEL_FIRST. One that is not out is no error. Context: inside.
    pub engine_invalidate: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, tag: lnd_tag)>,
    /// @engine_stop: Asks for a stop of the whole link. Never waits: if stopping sleeps, a worker is told.
    /// Context: inside.
    pub engine_stop: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32)>,
    /// @engine_quiesced: 1 once the link is proven stopped, until it is reset; else 0. That is a promise: no
    /// engine reads or writes this node's memory by this link, by whatever key, and lnd_completed() is
    /// told of none of its descriptors any more. Optional: then lnd_assert_stopped() tells. Context: inside.
    pub engine_quiesced: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32) -> u32>,
    /// @engine_reclaim: After the proof of the link, or of the connection with the peer: what is known of a
    /// descriptor's end; enum lnd_returned. It is taken away from the engine. Called for every one that is
    /// out, before engine_reset() or connection_reset(). Optional: then nothing is known. Context: inside.
    pub engine_reclaim:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, tag: lnd_tag) -> u32>,
    /// @engine_reset: The stopped link may work again; it has no descriptors. Context: inside.
    pub engine_reset: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32)>,
    /// @engine_link_up: 1 if the link works, by what the engine itself knows. Optional: then it does.
    /// Context: inside.
    pub engine_link_up: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32) -> u32>,
    /// @engine_features: What the engine can do, in the bits of FEATURES in docs/registers.md; constant.
    /// Optional: then 0. Context: inside, and lnd_ni_create().
    pub engine_features: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32) -> u32>,

    /// @connection: The number of the present connection with a peer by a link, not 0, if the engine can
    /// stop each of its connections by itself: a queue pair, an endpoint. 0: only the whole link can be
    /// stopped; for each peer and link that never changes. No two connections with a peer by a link have
    /// the same number, and the number is that of the next connection from connection_reset() on and at
    /// no other time. Optional, with connection_stop and connection_reset, and needed if
    /// lnd_config.connections is not 0. Context: inside.
    pub connection: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64) -> u32>,
    /// @connection_stop: Asks for a stop of one connection. Never waits: if stopping sleeps, a worker is
    /// told. Context: inside.
    pub connection_stop:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64, number: u32)>,
    /// @connection_quiesced: 1 once the connection is proven stopped, until it is reset; else 0. That is a
    /// promise: for the transfers with this peer by this link neither engine reads or writes this node's
    /// memory, by whatever connection; no key made for them is valid; no descriptor of them is worked on,
    /// from the post ring or for a recall; and no message handed over on the connection is reported by
    /// lnd_sent(). Drained queues alone are no proof. One that was never made, or is gone, has stopped.
    /// Optional: then lnd_connection_stopped() tells. Context: inside.
    pub connection_quiesced:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64, number: u32) -> u32>,
    /// @connection_reset: The stopped connection of this number is done with: what it had has been taken
    /// back, and it may be made anew, under another number. Number 0, with LND_NID_UNKNOWN: the engine of
    /// the link is about to be reset, and with it every connection of the link that was asked to stop or
    /// has failed: make those anew, whether the NI has heard of it or not. Context: inside.
    pub connection_reset:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64, number: u32)>,

    /// @reaches: 1 if there is a way to this NID at all. Optional: then there is to every one.
    /// Context: inside.
    pub reaches: Option<unsafe extern "C" fn(ctx: *mut c_void, nid: u64) -> u32>,
    /// @ready: 1 if the channel has room for one more frame to this NID by this link and lane; that
    /// is a promise to the next send(). If not, lnd_run() asks again, and gives a time for it.
    /// Optional: then there always is. Context: inside.
    pub ready:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64, lane: u32) -> u32>,
    /// @send: Sends a frame, of lnd_frame_size() bytes at most; enum lnd_send. Never waits. Context:
    /// inside.
    pub send: Option<unsafe extern "C" fn(ctx: *mut c_void, frame: *const lnd_frame) -> u32>,
    /// @quiesce: The engine of the whole link has stopped: no message handed over on it before may be
    /// reported by lnd_sent() any more. Optional if send() never returns LND_SEND_PENDING. Context:
    /// inside.
    pub quiesce: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32)>,

    /// @mem_read: Copies out of payload memory; 0, or not 0 if it cannot be reached. Optional, with
    /// mem_write, if immediate_max is 0. Context: inside.
    pub mem_read:
        Option<unsafe extern "C" fn(ctx: *mut c_void, addr: u64, to: *mut c_void, len: u32) -> u32>,
    /// @mem_write: Copies into payload memory; 0, or not 0 and nothing was written. Context: inside.
    pub mem_write: Option<
        unsafe extern "C" fn(ctx: *mut c_void, addr: u64, from: *const c_void, len: u32) -> u32,
    >,
    /// @mem_valid: 1 if the engine can reach all of a fragment. Optional: then it can. Context:
    /// inside.
    pub mem_valid: Option<unsafe extern "C" fn(ctx: *mut c_void, addr: u64, len: u32) -> u32>,

    /// @finalize: A transfer has ended that no call has said LND_DONE of: its memory is the caller's again.
    /// Context: outside, in
    /// lnd_run(); may call everything but that.
    pub finalize: Option<unsafe extern "C" fn(ctx: *mut c_void, report: *const lnd_report)>,
    /// @event: News of a peer, a link or a connection. Optional. Context: outside, in lnd_run(); may call
    /// everything but that.
    pub event: Option<unsafe extern "C" fn(ctx: *mut c_void, event: *const lnd_event)>,
    /// @wake: lnd_run() shall be called soon; frames that were told LND_E_WAIT are to be offered again
    /// before. Called once between two runs. Optional: then lnd_run() must be called after every batch
    /// of other calls, and waiting frames offered after every lnd_run().
    /// Context: any; may call nothing.
    pub wake: Option<unsafe extern "C" fn(ctx: *mut c_void)>,

    /// @trace: One happening. Optional. Context: any, also inside; may call nothing.
    pub trace: Option<unsafe extern "C" fn(ctx: *mut c_void, trace: *const lnd_trace)>,
    /// @bug: The platform has broken a rule, or the library's own books do not add up; the library
    /// goes on. Optional. Context: any, also inside; may call nothing.
    pub bug: Option<unsafe extern "C" fn(ctx: *mut c_void, what: *const c_char)>,
}
