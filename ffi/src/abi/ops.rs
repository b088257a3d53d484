// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The platform's operations, in one table.

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
    /// A thread, or another context that may take the lock.
    LND_CONTEXT_THREAD = 0,
    /// An interrupt that may have interrupted the lock's holder.
    LND_CONTEXT_INTERRUPT = 1,
}

/// enum lnd_lane - The channel queue in which a frame travels.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_lane {
    /// Requests. A request waits if the receiver has no room.
    LND_LANE_REQUEST = 0,
    /// Answers, handshake, credits. They must never wait behind the other lane.
    LND_LANE_CONTROL = 1,
}

/// enum lnd_send - What send() returns.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_send {
    /// Handed over and ended well.
    LND_SEND_DONE = 0,
    /// Handed over. If the frame is tracked, lnd_sent() reports its end. Not with LND_ENDS_AT_ONCE.
    LND_SEND_PENDING = 1,
    /// Handed over and failed: certainly not delivered.
    LND_SEND_FAILED = 2,
    /// No room: not handed over.
    LND_SEND_FULL = 3,
    /// Longer than the channel's frames: not handed over. The message ends as a local failure and
    /// the library calls bug(): lnd_config.immediate_max is too large for this channel, see
    /// lnd_frame_size().
    LND_SEND_TOO_LONG = 4,
}

/// enum lnd_about - What lnd_frame_about() finds in a frame.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_about {
    /// No staged descriptor.
    LND_ABOUT_NOTHING = 0,
    /// It lets the peer pull what this node has staged under the tag, or push into what this node
    /// has exposed: lnd_bd.tag of a descriptor with LND_MOTION_STAGE or LND_MOTION_EXPOSE.
    /// Registration may be chained in front of it.
    LND_ABOUT_STAGED = 1,
    /// It says that a pull or push of this node has ended well, and that this node touches no more
    /// of the peer's descriptor: the tag is lnd_bd.source of that pull or push. The frame may
    /// invalidate the key that was given with it, if it goes by the connection that the key is
    /// valid on, and if no frame before it has done so.
    LND_ABOUT_PULLED = 2,
}

/// struct lnd_frame - A short message to send.
/// @size: sizeof(struct lnd_frame).
/// @link: the link.
/// @lane: enum lnd_lane.
/// @len: bytes.
/// @bytes: the frame. The library reuses the memory after send() returns.
/// @nid: the destination.
/// @tracked: 1: if send() returns LND_SEND_PENDING, lnd_sent() must report the end, once.
/// @reserved: 0.
/// @message: names the message in lnd_sent(). A HELLO is not tracked but has a handle: send() or
///           lnd_sent() may report that it was not delivered, and its peer is down at once.
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
    /// Destination.
    pub nid: u64,
    /// Whether its end must be reported.
    pub tracked: u32,
    /// Zero.
    pub reserved: u32,
    /// Handle.
    pub message: lnd_message,
}

/// struct lnd_ops - The platform's operations; copied at creation.
///
/// Operations fall into three groups by context. *Inside* operations are called with the lock held.
/// They must not sleep. They may make the library calls that are for any context: lnd_sent(),
/// lnd_link_failed(), lnd_interrupt(), lnd_completed(). Calls for threads return LND_E_REENTRY
/// there. A call for threads on another NI takes that NI's lock while this one's is held: two NIs
/// that do so in opposite directions deadlock, so leave such calls to a thread. *Outside* callbacks
/// are called with nothing held. They may make any call except the one that called them. *Any*
/// operations may also be called in interrupts and must make no call. An optional operation may be
/// NULL. No operation may unwind or longjmp.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_ops {
    /// @size: sizeof(struct lnd_ops).
    pub size: u32,
    /// @reserved: 0.
    pub reserved: u32,

    /// @lock: Takes the NI's lock. Optional, with unlock. Without lock and with self_id, the
    /// library uses its own spin lock: for threads in user space, not for a kernel, and not where a
    /// thread of higher priority may interrupt the holder. Without lock and without self_id, one
    /// thread makes all calls that are for threads. Context: thread, not called while the lock is
    /// held.
    pub lock: Option<unsafe extern "C" fn(ctx: *mut c_void)>,
    /// @unlock: Releases it. Context: thread.
    pub unlock: Option<unsafe extern "C" fn(ctx: *mut c_void)>,
    /// @self_id: A number, not 0, that identifies the current context and differs from that of
    /// every concurrent caller. In Linux: in_task() ? current->pid : 0x40000000 |
    /// smp_processor_id(). Required with lock, optional without. Context: any.
    pub self_id: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,
    /// @context: enum lnd_context of the caller. Optional: without it, calls in a wrong context are
    /// not detected. Context: any.
    pub context: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,

    /// @reg_read32: Reads a register of a link's engine. What the device wrote before is visible
    /// afterwards. Offsets: docs/registers.md. Optional, with reg_write32: without them, the
    /// registers are the first 256 bytes of the link's ring memory. Context: inside, and
    /// lnd_interrupt().
    pub reg_read32: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, offset: u32) -> u32>,
    /// @reg_write32: Writes a register. Context: inside, and lnd_interrupt().
    pub reg_write32:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, offset: u32, value: u32)>,
    /// @dma_barrier: The doorbell barrier, called before each reg_write32. It makes earlier writes
    /// to memory visible to the device first. Optional: without it, the processor's full fence is
    /// used. Context: inside, and lnd_interrupt().
    pub dma_barrier: Option<unsafe extern "C" fn(ctx: *mut c_void)>,
    /// @node_of: The fabric's number of a node, 0 to 255, or LND_NO_NODE. Optional: without it, the
    /// number is the lower half of the NID less one. Context: inside.
    pub node_of: Option<unsafe extern "C" fn(ctx: *mut c_void, nid: u64) -> u32>,

    /// @engine_post: Posts a descriptor; returns enum lnd_post. The engine must not begin before
    /// engine_doorbell() is called. Optional, with engine_doorbell, engine_invalidate, engine_stop
    /// and engine_reset. With these operations there are no registers, no ring memory and no
    /// node_of, and lnd_completed() reports returned descriptors. Context: inside.
    pub engine_post: Option<unsafe extern "C" fn(ctx: *mut c_void, bd: *const lnd_bd) -> u32>,
    /// @engine_key: Writes what the peer's engine needs beside the tag to pull the staged memory,
    /// such as a remote key or an address. Writes at most LND_MAX_KEY bytes and returns their
    /// number, or 0 only if the descriptor has already come back. Called once for each use, after
    /// engine_doorbell(). The key is valid until the descriptor comes back, and for no other use.
    /// Optional: without it, engines pull by tags alone. All nodes have it, or none: where one side
    /// alone has it, that side refuses to pull without a key, and the other side's engine pulls by
    /// the tag alone. Payload inside frames still travels. Context: inside.
    pub engine_key: Option<
        unsafe extern "C" fn(ctx: *mut c_void, link: u32, tag: lnd_tag, key: *mut c_void) -> u32,
    >,
    /// @engine_doorbell: The engine may begin everything posted on the link. Context: inside.
    pub engine_doorbell: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32)>,
    /// @engine_invalidate: Requests that a descriptor come back. Never waits. The descriptor comes
    /// back through lnd_completed() with any outcome. If it does not within lnd_config.drain_bound,
    /// its link or its connection is stopped. The peer may be reading staged memory: its read then
    /// fails, or lnd_config.flags has LND_CANCEL_FIRST. A descriptor that is not out is no error.
    /// Context: inside.
    pub engine_invalidate: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, tag: lnd_tag)>,
    /// @engine_stop: Requests a stop of the whole link. Never waits: if stopping sleeps, it is left
    /// to a worker. Context: inside.
    pub engine_stop: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32)>,
    /// @engine_quiesced: 1 from the proof that the link has stopped until its reset; else 0. 1
    /// guarantees that no engine reads or writes this node's memory through this link, with any
    /// key, and that lnd_completed() is not called for its descriptors. Optional: without it,
    /// lnd_assert_stopped() gives the proof. Context: inside.
    pub engine_quiesced: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32) -> u32>,
    /// @engine_reclaim: Returns what is known of a descriptor's outcome after the stop of the link,
    /// or of the connection with the peer, is proven; enum lnd_returned. The descriptor leaves the
    /// engine. Called for every descriptor that is out, before engine_reset() or
    /// connection_reset(). Optional: without it, no outcome is known. Context: inside.
    pub engine_reclaim:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, tag: lnd_tag) -> u32>,
    /// @engine_reset: Lets the stopped link work again, without descriptors. Context: inside.
    pub engine_reset: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32)>,
    /// @engine_link_up: 1 if the engine itself finds the link working. Optional: without it, the
    /// link counts as working, also one that lnd_link_event() reported down, once it is reset.
    /// Context: inside.
    pub engine_link_up: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32) -> u32>,
    /// @engine_features: The engine's capabilities: LND_FEATURE_REMOTE_COMPLETION and so on;
    /// constant. Optional: without it, 0. Context: inside, and lnd_ni_create().
    pub engine_features: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32) -> u32>,

    /// @connection: The number of the current connection with a peer on a link, not 0, if the
    /// engine can stop each connection separately (a queue pair, an endpoint). 0: only the whole
    /// link can be stopped; for each peer and link that never changes. Two connections with a peer
    /// on a link never have the same number. The number changes to that of the next connection at
    /// connection_reset() and at no other time. Optional, with connection_stop and
    /// connection_reset; required if lnd_config.connections is not 0. Context: inside.
    pub connection: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64) -> u32>,
    /// @connection_stop: Requests a stop of one connection. Never waits: if stopping sleeps, it is
    /// left to a worker. Context: inside.
    pub connection_stop:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64, number: u32)>,
    /// @connection_quiesced: 1 from the proof that the connection has stopped until its reset; else
    /// 0. 1 guarantees, for the transfers with this peer on this link: neither engine reads or
    /// writes this node's memory, over any connection; no key made for them is valid; no descriptor
    /// of them is processed, neither from the post ring nor for an invalidation; and lnd_sent()
    /// reports no message handed over on the connection. Drained queues alone are not a proof. A
    /// connection that was never made, or is gone, has stopped. Optional: without it,
    /// lnd_connection_stopped() gives the proof. Context: inside.
    pub connection_quiesced:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64, number: u32) -> u32>,
    /// @connection_reset: Discards the stopped connection of this number. Its descriptors have been
    /// reclaimed; it may be made anew, under another number. Number 0, with LND_NID_UNKNOWN: the
    /// link's engine is about to be reset. Make anew every connection of the link that was
    /// requested to stop or has failed, whether the NI knows of it or not. Context: inside.
    pub connection_reset:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64, number: u32)>,

    /// @reaches: 1 if there is a route to this NID. Optional: without it, every NID has a route.
    /// Context: inside.
    pub reaches: Option<unsafe extern "C" fn(ctx: *mut c_void, nid: u64) -> u32>,
    /// @ready: 1 if the channel has room for one more frame to this NID on this link and lane. 1
    /// guarantees room for the next send(). After 0, lnd_run() checks again and returns a time for
    /// that. Optional: without it, there always is room. Context: inside.
    pub ready:
        Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32, nid: u64, lane: u32) -> u32>,
    /// @send: Sends a frame of at most lnd_frame_size() bytes; returns enum lnd_send. Never waits.
    /// Context: inside.
    pub send: Option<unsafe extern "C" fn(ctx: *mut c_void, frame: *const lnd_frame) -> u32>,
    /// @quiesce: The engine of the whole link has stopped: lnd_sent() must no longer report a
    /// message handed over on it before. Optional if send() never returns LND_SEND_PENDING.
    /// Context: inside.
    pub quiesce: Option<unsafe extern "C" fn(ctx: *mut c_void, link: u32)>,

    /// @mem_read: Copies from payload memory. Returns 0, or not 0 if the memory cannot be reached.
    /// Optional, with mem_write, if immediate_max is 0. Context: inside.
    pub mem_read:
        Option<unsafe extern "C" fn(ctx: *mut c_void, addr: u64, to: *mut c_void, len: u32) -> u32>,
    /// @mem_write: Copies into payload memory. Returns 0, or not 0 if nothing was written. Context:
    /// inside.
    pub mem_write: Option<
        unsafe extern "C" fn(ctx: *mut c_void, addr: u64, from: *const c_void, len: u32) -> u32,
    >,
    /// @mem_valid: 1 if the engine can reach all of a fragment. Optional: without it, the engine
    /// can. Context: inside.
    pub mem_valid: Option<unsafe extern "C" fn(ctx: *mut c_void, addr: u64, len: u32) -> u32>,

    /// @finalize: A transfer has ended for which no call returned LND_DONE. Its memory is the
    /// caller's again. Context: outside, in lnd_run(); may call everything but that.
    pub finalize: Option<unsafe extern "C" fn(ctx: *mut c_void, report: *const lnd_report)>,
    /// @event: The state of a peer, a link or a connection changed. Optional. Context: outside, in
    /// lnd_run(); may call everything but that.
    pub event: Option<unsafe extern "C" fn(ctx: *mut c_void, event: *const lnd_event)>,
    /// @wake: Requests a call of lnd_run() soon. Frames that were answered with LND_E_WAIT must be
    /// offered again before that call. Called once between two runs. Optional: without it,
    /// lnd_run() must be called after every batch of other calls, and waiting frames must be
    /// offered after every lnd_run(). Context: any; must make no call.
    pub wake: Option<unsafe extern "C" fn(ctx: *mut c_void)>,

    /// @trace: One trace record. Optional. Context: any, also inside; must make no call.
    pub trace: Option<unsafe extern "C" fn(ctx: *mut c_void, trace: *const lnd_trace)>,
    /// @bug: The platform has broken a rule, or the library's internal accounting is inconsistent.
    /// The library continues. Optional. Context: any, also inside; must make no call.
    pub bug: Option<unsafe extern "C" fn(ctx: *mut c_void, what: *const c_char)>,

    /// @tracing: Where the platform says whether trace records are read: 0 while they are not, and
    /// trace() is not called. The platform may change it at any time; it stays where it is until
    /// lnd_ni_destroy(). NULL: they are read. Context: any.
    pub tracing: *const u32,
}
