/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lnd.h - the inside of a Lustre Network Driver, as a C library.
 *
 * Generated from ffi/src; do not edit. docs/c-abi.md explains it, with an example.
 *
 * Contract of every call: a pointer is NULL or points to what the call's comment requires, and
 * stays valid during the call. Nothing else writes to what the call reads. A NULL that is not
 * allowed, a struct of another size, misaligned memory, a stale or foreign handle, a call in the
 * wrong context and a call from inside an operation are errors and have no effect.
 */

#ifndef LND_H
#define LND_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

/* Most links of one NI. */
#define LND_MAX_LINKS 8U

/*
 * In lnd_config.flags: frames carry checksums. A frame without one is refused, so all nodes have
 * this flag, or none. lnd_config_init() sets it; "flags = LND_RELIABLE" would drop it.
 */
#define LND_CHECKSUM 1U

/*
 * In lnd_config.flags: the channel is reliable. A frame that the channel reports as sent reaches
 * the peer's driver, however long that driver pauses, unless the peer's incarnation ends.
 * Without this flag a short message that ended well is reported as LND_DELIVERY_SENT, not as
 * delivered. lnd_config_init() does not set it: "flags |= LND_RELIABLE" adds it. Frames from or
 * for an ended incarnation may stay in the channel. A channel that damages a frame breaks this
 * promise: the receiver counts the frame, and the sender is not told.
 */
#define LND_RELIABLE 2U

/*
 * In lnd_config.flags: a frame that send() accepts has ended when send() returns, as in memory
 * that the sender writes itself. send() never returns LND_SEND_PENDING. A short message may then
 * end within lnd_submit(). lnd_config_init() does not set this flag.
 */
#define LND_ENDS_AT_ONCE 4U

/*
 * In lnd_config.flags, for an engine that is operations: the engine cannot invalidate staged
 * memory safely while the peer may read it. A queue pair is an example: the peer's read would
 * succeed with a part of the data. The library first sends CANCEL to the peer. It calls
 * engine_invalidate() for staged memory after the peer has answered that it does not read. If no
 * answer comes within @drain_bound, the connection or the link is stopped. A peer without this
 * flag is sent no CANCEL: memory that is given up waits for that stop.
 */
#define LND_CANCEL_FIRST 8U

/*
 * In lnd_config.flags, without LND_RELIABLE: the channel loses frames only with a connection or
 * a link that stops, as queue pairs do. A frame that send() accepted reaches the peer's driver
 * once, however long it waits there, unless its connection ends before it has arrived. What
 * waits at a slow peer, or behind a goodbye, is then received, and not taken for lost.
 * lnd_connection_down() or lnd_link_event() tells of each end.
 */
#define LND_CONNECTION_CHANNEL 16U

/* All flags that exist. */
#define LND_FLAGS ((((LND_CHECKSUM | LND_RELIABLE) | LND_ENDS_AT_ONCE) | LND_CANCEL_FIRST) | LND_CONNECTION_CHANNEL)

/* Bytes of a stamp in a message's header. */
#define LND_STAMP_BYTES 24U

/* Most bytes of a key. */
#define LND_MAX_KEY 32U

/*
 * In the capabilities of an engine: the engine of the pulled side reports the end of a pull
 * itself. Without it the puller sends PUT_DONE, and staged memory that comes back as
 * LND_RETURNED_OK does not count as read.
 */
#define LND_FEATURE_REMOTE_COMPLETION 1U

/*
 * In the capabilities of an engine: each descriptor that comes back before its first byte moved
 * is reported as untouched. The library goes by what each descriptor reports. A PUT that its
 * peer has refused, and whose memory comes back as LND_RETURNED_TOUCHED, ends as
 * LND_DELIVERY_UNKNOWN, unless lnd_config.flags has LND_CANCEL_FIRST.
 */
#define LND_FEATURE_KNOWS_UNTOUCHED 2U

/*
 * In the capabilities of an engine with registers: a remote read of an address that is not
 * published ends with an access error and leaves both ends usable. A host of another engine
 * tells lnd_prober_offer() which reads there are.
 */
#define LND_FEATURE_ILLEGAL_READ 4U

/*
 * In the capabilities of an engine with registers: a remote read of no bytes succeeds if the
 * other engine answers.
 */
#define LND_FEATURE_ZERO_READ 8U

/*
 * In the capabilities of an engine with registers: a remote read of the word that a peer has
 * published.
 */
#define LND_FEATURE_PUBLISHED_READ 16U

/*
 * In the capabilities of an engine with registers: its connections stop one by one. An engine
 * that is operations has lnd_ops.connection instead.
 */
#define LND_FEATURE_CONNECTIONS 32U

/*
 * In the capabilities of an engine that is operations and has engine_key(): it pushes, which
 * means that it takes LND_MOTION_EXPOSE and LND_MOTION_PUSH. The answer to a GET of a peer that
 * pushes, too, is written into the peer's memory. Nothing of it is staged.
 */
#define LND_FEATURE_PUSHES 64U

/* LND_UNTIL_DEADLINE - As a limit of resends: only the message's deadline limits them. */
#define LND_UNTIL_DEADLINE 255U

/* Bytes of a metric's name, its terminating zero included. */
#define LND_METRIC_NAME 32U

/* Bytes of a metric's unit, its terminating zero included. */
#define LND_METRIC_UNIT 16U

/* Bytes of a metric's help, its terminating zero included. */
#define LND_METRIC_HELP 200U

/* Points of enum lnd_point. */
#define LND_POINTS 7U

/* Waits of enum lnd_wait. */
#define LND_WAITS 7U

/* Buckets of struct lnd_histogram. The last one is always 0. */
#define LND_BUCKETS 42U

/* LND_MAX_RULES - Most rules of lnd_health_set_rules(). */
#define LND_MAX_RULES 256U

/* LND_NO_SENSITIVITY - The interface has no sensitivity of its own. */
#define LND_NO_SENSITIVITY 0xffffffffU

/* What node_of() returns for a NID that has no number. */
#define LND_NO_NODE 0xffffffffU

/* Longest upper-layer header in bytes. */
#define LND_MAX_HEADER 96U

/* Most fragments of one transfer. */
#define LND_MAX_FRAGMENTS 256U

/* Any link. */
#define LND_ANY_LINK 0xffffffffU

/* Later than every time. As a deadline: never. */
#define LND_NEVER 0xffffffffffffffffULL

/* No NID: the sender of the frame is not known, see lnd_frame_in(). No node may have this NID. */
#define LND_NID_UNKNOWN 0xffffffffffffffffULL

/* Bytes of an NI that do not depend on the sizes of its tables, at most. */
#define LND_NI_FIXED 10240U

/* Bytes of an NI for each transfer, at most. */
#define LND_NI_SLOT 256U

/* Bytes of an NI for each peer, at most. */
#define LND_NI_PEER 176U

/* Bytes of an NI for each link, at most. */
#define LND_NI_LINK 1024U

/* Bytes of an NI for each list of more than one fragment, at most. */
#define LND_NI_LIST 4160U

/* Bytes of an NI for each connection that fails at a time, at most. */
#define LND_NI_CONNECTION 80U

/* Bytes of a link's ring memory that do not depend on its tables, at most. */
#define LND_RING_FIXED 640U

/* Bytes of a link's ring memory for each transfer, at most. */
#define LND_RING_SLOT 106U

/* Bytes of a link's ring memory for each list of more than one fragment. */
#define LND_RING_LIST 4096U

/* Alignment of an NI's memory and of ring memory. */
#define LND_ALIGN 64U

/* All sizes. */
#define LND_ANY_SIZE 0xffffffffU

/* The version of this ABI; in lnd_config.abi_version. */
#define LND_ABI_VERSION 1U

/* The oldest ABI that the library supports. */
#define LND_ABI_OLDEST 1U

/* The library's version, first number. */
#define LND_VERSION_MAJOR 0U

/* The library's version, second number. */
#define LND_VERSION_MINOR 1U

/* The library's version, third number. */
#define LND_VERSION_PATCH 0U

/**
 * enum lnd_error - The result of a call.
 *
 * LND_OK, LND_DONE and LND_REQUEST are not errors. An error means that nothing was done, unless
 * the call says otherwise. A number is never reused for another meaning. Numbers up to 127 that
 * are not listed are reserved.
 */
enum lnd_error {
	/** @LND_OK: Done. */
	LND_OK = 0,
	/** @LND_E_NULL: A pointer that must not be NULL is NULL. */
	LND_E_NULL = 1,
	/**
	 * @LND_E_SIZE: The size field of a struct is not the size of that struct in this
	 * version.
	 */
	LND_E_SIZE = 2,
	/** @LND_E_ALIGN: A pointer is not aligned for its type. */
	LND_E_ALIGN = 3,
	/** @LND_E_VERSION: The library does not support this version of the ABI. */
	LND_E_VERSION = 4,
	/** @LND_E_CONFIG: A value of the configuration is out of its range. */
	LND_E_CONFIG = 5,
	/** @LND_E_OPS: A required operation is NULL. */
	LND_E_OPS = 6,
	/** @LND_E_MEMORY: The memory is too small. */
	LND_E_MEMORY = 7,
	/** @LND_E_NI: Not an NI: never created, or destroyed. */
	LND_E_NI = 8,
	/** @LND_E_CONTEXT: The call is for threads only and was made in an interrupt. */
	LND_E_CONTEXT = 9,
	/**
	 * @LND_E_REENTRY: The call was made from within an operation or callback that must not
	 * make it.
	 */
	LND_E_REENTRY = 10,
	/**
	 * @LND_E_BUSY: Another context is in a call. Either the lock does not exclude it, or
	 * there is no lock.
	 */
	LND_E_BUSY = 11,
	/** @LND_E_FOREIGN: The handle belongs to another NI. */
	LND_E_FOREIGN = 12,
	/** @LND_E_STALE: The object that the handle names has ended. */
	LND_E_STALE = 13,
	/** @LND_E_ARGUMENT: A number is out of its range. */
	LND_E_ARGUMENT = 14,
	/** @LND_E_LINK: There is no such link. */
	LND_E_LINK = 15,
	/** @LND_E_NO_ROUTE: There is no route to this NID, or it is our own. */
	LND_E_NO_ROUTE = 16,
	/** @LND_E_PEER_DOWN: The peer is down. */
	LND_E_PEER_DOWN = 17,
	/** @LND_E_PEERS_FULL: The table of peers, interfaces or routes is full. */
	LND_E_PEERS_FULL = 18,
	/** @LND_E_NO_SLOTS: All transfer slots are in use. Try again after a transfer has ended. */
	LND_E_NO_SLOTS = 19,
	/** @LND_E_NO_LISTS: All fragment lists are in use. Try again after a transfer has ended. */
	LND_E_NO_LISTS = 20,
	/** @LND_E_SHUTTING_DOWN: The NI is shutting down. */
	LND_E_SHUTTING_DOWN = 21,
	/**
	 * @LND_E_FRAGMENTS: A fragment vector breaks a rule: too many fragments, an empty or
	 * too long one, or one that passes the end of the address space.
	 */
	LND_E_FRAGMENTS = 22,
	/** @LND_E_ADDRESS: A fragment lies outside the reachable memory. */
	LND_E_ADDRESS = 23,
	/** @LND_E_HEADER: The upper-layer header is longer than LND_MAX_HEADER. */
	LND_E_HEADER = 24,
	/**
	 * @LND_E_TOO_LONG: More bytes than the fragments hold, or than the other side has room
	 * for.
	 */
	LND_E_TOO_LONG = 25,
	/** @LND_E_DEADLINE: The deadline has passed already. */
	LND_E_DEADLINE = 26,
	/**
	 * @LND_E_WRONG_KIND: The call does not apply to this kind of request, action or
	 * interface.
	 */
	LND_E_WRONG_KIND = 27,
	/** @LND_E_GONE: The request has already ended. No report follows. */
	LND_E_GONE = 28,
	/** @LND_E_WAIT: No room for the frame now. Keep it and offer it again. */
	LND_E_WAIT = 29,
	/** @LND_E_FRAME: The frame is malformed. It was dropped and counted. */
	LND_E_FRAME = 30,
	/**
	 * @LND_E_RUNNING: The NI is not quiescent, or a report is still due; or the link does
	 * not wait for a proof.
	 */
	LND_E_RUNNING = 31,
	/** @LND_E_END: There is no entry, or no further one. */
	LND_E_END = 32,
	/**
	 * @LND_E_RING: The ring memory is too small, not formatted, or formatted for other
	 * sizes.
	 */
	LND_E_RING = 33,
	/** @LND_E_ROOM: The caller's buffer is too small for even one line. */
	LND_E_ROOM = 34,
	/** @LND_E_NO_PEER: No such peer. */
	LND_E_NO_PEER = 35,
	/** @LND_E_UNSUPPORTED: This build of the library lacks the feature. */
	LND_E_UNSUPPORTED = 36,
	/** @LND_E_BOOKS: The NI's internal accounting is inconsistent. No caller can cause this. */
	LND_E_BOOKS = 37,
	/** @LND_E_KNOWN: The entry already exists. */
	LND_E_KNOWN = 38,
	/**
	 * @LND_DONE: Done and ended: the accepted transfer ended within the call, which returns
	 * its report. finalize() is not called for it.
	 */
	LND_DONE = 39,
	/**
	 * @LND_REQUEST: The frame is a peer's request. It stays in the channel until it is
	 * decided: see lnd_frame_in().
	 */
	LND_REQUEST = 40,
	/** @LND_E_LINK_DOWN: The link is down and its reset is over. Nothing of it is lent. */
	LND_E_LINK_DOWN = 41,
	/** @LND_E_WIDTH: Not an error. It makes the enum 32 bits wide with every compiler. */
	LND_E_WIDTH = 2147483647,
};

/**
 * enum lnd_context - What context() returns.
 */
enum lnd_context {
	/** @LND_CONTEXT_THREAD: A thread, or another context that may take the lock. */
	LND_CONTEXT_THREAD = 0,
	/** @LND_CONTEXT_INTERRUPT: An interrupt that may have interrupted the lock's holder. */
	LND_CONTEXT_INTERRUPT = 1,
};

/**
 * enum lnd_lane - The channel queue in which a frame travels.
 */
enum lnd_lane {
	/** @LND_LANE_REQUEST: Requests. A request waits if the receiver has no room. */
	LND_LANE_REQUEST = 0,
	/**
	 * @LND_LANE_CONTROL: Answers, handshake, credits. They must never wait behind the other
	 * lane.
	 */
	LND_LANE_CONTROL = 1,
};

/**
 * enum lnd_send - What send() returns.
 */
enum lnd_send {
	/** @LND_SEND_DONE: Handed over and ended well. */
	LND_SEND_DONE = 0,
	/**
	 * @LND_SEND_PENDING: Handed over. If the frame is tracked, lnd_sent() reports its end.
	 * Not with LND_ENDS_AT_ONCE.
	 */
	LND_SEND_PENDING = 1,
	/** @LND_SEND_FAILED: Handed over and failed: certainly not delivered. */
	LND_SEND_FAILED = 2,
	/** @LND_SEND_FULL: No room: not handed over. */
	LND_SEND_FULL = 3,
	/**
	 * @LND_SEND_TOO_LONG: Longer than the channel's frames: not handed over. The message
	 * ends as a local failure and the library calls bug(): lnd_config.immediate_max is too
	 * large for this channel, see lnd_frame_size().
	 */
	LND_SEND_TOO_LONG = 4,
};

/**
 * enum lnd_about - What lnd_frame_about() finds in a frame.
 */
enum lnd_about {
	/** @LND_ABOUT_NOTHING: No staged descriptor. */
	LND_ABOUT_NOTHING = 0,
	/**
	 * @LND_ABOUT_STAGED: It lets the peer pull what this node has staged under the tag, or
	 * push into what this node has exposed: lnd_bd.tag of a descriptor with LND_MOTION_STAGE
	 * or LND_MOTION_EXPOSE. Registration may be chained in front of it.
	 */
	LND_ABOUT_STAGED = 1,
	/**
	 * @LND_ABOUT_PULLED: It says that a pull or push of this node has ended well, and that
	 * this node touches no more of the peer's descriptor: the tag is lnd_bd.source of that
	 * pull or push. The frame may invalidate the key that was given with it, if it goes by
	 * the connection that the key is valid on, and if no frame before it has done so.
	 */
	LND_ABOUT_PULLED = 2,
};

/**
 * enum lnd_motion - The direction in which a descriptor moves data.
 */
enum lnd_motion {
	/**
	 * @LND_MOTION_STAGE: Memory that this peer may read, and no other node. LND_RETURNED_OK
	 * means that the peer has read all of it: an invalidation that went well is no such end.
	 * Without LND_FEATURE_REMOTE_COMPLETION an OK proves nothing: the message is good when
	 * the peer confirms it.
	 */
	LND_MOTION_STAGE = 0,
	/** @LND_MOTION_PULL: Reads what the peer has staged. */
	LND_MOTION_PULL = 1,
	/**
	 * @LND_MOTION_EXPOSE: Memory that this peer may write, and no other node. Only with
	 * LND_FEATURE_PUSHES. It comes back when it is invalidated, or by a stop, and never as
	 * LND_RETURNED_OK: only the peer knows when its push is whole. A GET whose memory comes
	 * back OK fails unless the peer confirms it.
	 */
	LND_MOTION_EXPOSE = 2,
	/**
	 * @LND_MOTION_PUSH: Writes into what the peer has exposed. Only with
	 * LND_FEATURE_PUSHES. LND_RETURNED_OK means that all bytes are in the peer's memory.
	 */
	LND_MOTION_PUSH = 3,
};

/**
 * enum lnd_post - What engine_post() returns.
 */
enum lnd_post {
	/**
	 * @LND_POST_DONE: Posted. The descriptor comes back through lnd_completed() or through
	 * a stop.
	 */
	LND_POST_DONE = 0,
	/**
	 * @LND_POST_INVALID: Not posted: the engine does not support it. The transfer ends as a
	 * local failure.
	 */
	LND_POST_INVALID = 1,
	/**
	 * @LND_POST_FULL: Not posted: the engine has no room. The transfer ends as a local
	 * failure.
	 */
	LND_POST_FULL = 2,
	/** @LND_POST_GONE: Not posted: the device does not work. The link fails. */
	LND_POST_GONE = 3,
};

/**
 * enum lnd_returned - How a descriptor came back.
 */
enum lnd_returned {
	/** @LND_RETURNED_OK: All bytes were moved. */
	LND_RETURNED_OK = 0,
	/**
	 * @LND_RETURNED_UNTOUCHED: With an error. The engine guarantees that it has moved no
	 * byte and will move none.
	 */
	LND_RETURNED_UNTOUCHED = 1,
	/**
	 * @LND_RETURNED_TOUCHED: Bytes may have been moved, and the engine does not know that
	 * all were. Also what staged memory comes back as that was invalidated after PUT_DONE.
	 */
	LND_RETURNED_TOUCHED = 2,
	/** @LND_RETURNED_UNKNOWN: Only from engine_reclaim(): the outcome is not known. */
	LND_RETURNED_UNKNOWN = 3,
};

/**
 * enum lnd_kind - The four kinds of message.
 */
enum lnd_kind {
	/** @LND_PUT: Payload for the peer. */
	LND_PUT = 1,
	/** @LND_ACK: The answer to a PUT that requests one. */
	LND_ACK = 2,
	/** @LND_GET: A request for payload. */
	LND_GET = 3,
	/** @LND_REPLY: The answer to a GET that was not optimised. */
	LND_REPLY = 4,
};

/**
 * enum lnd_request_kind - The kind of a peer's request.
 */
enum lnd_request_kind {
	/**
	 * @LND_REQUEST_IMMEDIATE: A PUT, an ACK or a REPLY with its payload: lnd_recv() copies
	 * it. Or a GET that is not optimised, without payload: lnd_recv() of no bytes or
	 * lnd_nak() ends it, and the answer is a separate LND_REPLY. The upper layer's header
	 * distinguishes them.
	 */
	LND_REQUEST_IMMEDIATE = 1,
	/** @LND_REQUEST_PUT: A PUT, an ACK or a REPLY: lnd_recv() pulls the payload. */
	LND_REQUEST_PUT = 2,
	/** @LND_REQUEST_GET: A GET: lnd_reply() stages the payload. */
	LND_REQUEST_GET = 3,
};

/**
 * enum lnd_nak_reason - Why a request is refused.
 */
enum lnd_nak_reason {
	/** @LND_NAK_NO_MATCH: Nothing matches. */
	LND_NAK_NO_MATCH = 1,
	/** @LND_NAK_NO_RESOURCES: A resource is missing. */
	LND_NAK_NO_RESOURCES = 2,
	/** @LND_NAK_SHUTTING_DOWN: Shutting down. */
	LND_NAK_SHUTTING_DOWN = 3,
	/** @LND_NAK_BAD_REQUEST: The request is malformed. */
	LND_NAK_BAD_REQUEST = 4,
	/** @LND_NAK_FAILED: Failed locally. */
	LND_NAK_FAILED = 5,
};

/**
 * enum lnd_role - The role of a reported transfer.
 */
enum lnd_role {
	/** @LND_ROLE_IMMEDIATE: Ours, whole inside a message. */
	LND_ROLE_IMMEDIATE = 0,
	/** @LND_ROLE_PUT_SOURCE: Our PUT, pulled by the peer. */
	LND_ROLE_PUT_SOURCE = 1,
	/** @LND_ROLE_GET_SINK: Our GET, before the peer was ready. */
	LND_ROLE_GET_SINK = 2,
	/** @LND_ROLE_GET_PULL: Our GET, pulled by us. */
	LND_ROLE_GET_PULL = 3,
	/** @LND_ROLE_INLINE_SINK: A peer's message, copied into our memory. */
	LND_ROLE_INLINE_SINK = 5,
	/** @LND_ROLE_PUT_SINK: A peer's PUT, pulled by us. */
	LND_ROLE_PUT_SINK = 6,
	/** @LND_ROLE_GET_SOURCE: A peer's GET, pulled by the peer. */
	LND_ROLE_GET_SOURCE = 7,
	/** @LND_ROLE_PUSH_SINK: Our GET: exposed, for the peer to push into. */
	LND_ROLE_PUSH_SINK = 11,
	/** @LND_ROLE_PUSH_SOURCE: A peer's GET: we push. */
	LND_ROLE_PUSH_SOURCE = 12,
};

/**
 * enum lnd_health_class - Health classes, by LNet's numbers.
 */
enum lnd_health_class {
	/** @LND_HEALTH_OK: Nothing is wrong. */
	LND_HEALTH_OK = 0,
	/** @LND_HEALTH_LOCAL_INTERRUPT: Interrupted locally. */
	LND_HEALTH_LOCAL_INTERRUPT = 1,
	/** @LND_HEALTH_LOCAL_DROPPED: Lost before it left this node. */
	LND_HEALTH_LOCAL_DROPPED = 2,
	/** @LND_HEALTH_LOCAL_ABORTED: Aborted locally. */
	LND_HEALTH_LOCAL_ABORTED = 3,
	/** @LND_HEALTH_LOCAL_NO_ROUTE: No path from this interface. */
	LND_HEALTH_LOCAL_NO_ROUTE = 4,
	/** @LND_HEALTH_LOCAL_ERROR: A local error. */
	LND_HEALTH_LOCAL_ERROR = 5,
	/** @LND_HEALTH_LOCAL_TIMEOUT: Timed out in a local queue. */
	LND_HEALTH_LOCAL_TIMEOUT = 6,
	/** @LND_HEALTH_REMOTE_ERROR: The peer received it and failed. */
	LND_HEALTH_REMOTE_ERROR = 7,
	/** @LND_HEALTH_REMOTE_DROPPED: The peer refused it, or the path was lost. */
	LND_HEALTH_REMOTE_DROPPED = 8,
	/** @LND_HEALTH_REMOTE_TIMEOUT: The peer received it and does not answer. */
	LND_HEALTH_REMOTE_TIMEOUT = 9,
	/** @LND_HEALTH_NETWORK_TIMEOUT: Timed out at an unknown place. */
	LND_HEALTH_NETWORK_TIMEOUT = 10,
};

/**
 * enum lnd_delivery - What is known of the payload's delivery.
 */
enum lnd_delivery {
	/**
	 * @LND_DELIVERED: Delivered. For a short message over a reliable channel: the peer's
	 * upper layer receives it, unless the peer's incarnation ends first. It does not receive
	 * it either if our incarnation ends without lnd_shutdown() before the peer has taken the
	 * message, or if the next incarnation of this node shuts down before that.
	 */
	LND_DELIVERED = 1,
	/** @LND_NOT_DELIVERED: Not delivered; it will not be delivered. */
	LND_NOT_DELIVERED = 2,
	/** @LND_DELIVERY_UNKNOWN: It may have been delivered. */
	LND_DELIVERY_UNKNOWN = 3,
	/**
	 * @LND_DELIVERY_SENT: Handed to a channel that may lose it (no LND_RELIABLE). Nothing
	 * more is known.
	 */
	LND_DELIVERY_SENT = 4,
};

/**
 * enum lnd_cause - Why a transfer was lost.
 */
enum lnd_cause {
	/** @LND_CAUSE_NONE: It was not lost. */
	LND_CAUSE_NONE = 0,
	/** @LND_CAUSE_PEER_DOWN: The peer was declared down. */
	LND_CAUSE_PEER_DOWN = 1,
	/** @LND_CAUSE_PEER_RESTARTED: The peer restarted: it has another incarnation. */
	LND_CAUSE_PEER_RESTARTED = 2,
	/** @LND_CAUSE_LINK_DOWN: The link failed. */
	LND_CAUSE_LINK_DOWN = 3,
	/** @LND_CAUSE_DEADLINE: The deadline passed. */
	LND_CAUSE_DEADLINE = 4,
	/** @LND_CAUSE_SHUTDOWN: This NI is shutting down. */
	LND_CAUSE_SHUTDOWN = 5,
	/** @LND_CAUSE_WITHDRAWN: The upper layer withdrew it. */
	LND_CAUSE_WITHDRAWN = 6,
	/** @LND_CAUSE_REFUSED: The peer refused it, or took it and could not complete its pull. */
	LND_CAUSE_REFUSED = 7,
	/** @LND_CAUSE_CHANNEL: The channel failed. */
	LND_CAUSE_CHANNEL = 8,
	/** @LND_CAUSE_DEVICE: The engine failed. */
	LND_CAUSE_DEVICE = 9,
	/** @LND_CAUSE_LOCAL: A local step failed: posting, addresses. */
	LND_CAUSE_LOCAL = 10,
	/** @LND_CAUSE_PROTOCOL: The peer broke the protocol. */
	LND_CAUSE_PROTOCOL = 11,
	/** @LND_CAUSE_CONNECTION_DOWN: The connection with the peer failed or was stopped. */
	LND_CAUSE_CONNECTION_DOWN = 12,
};

/**
 * enum lnd_place - Where a transfer was when it was lost.
 */
enum lnd_place {
	/** @LND_PLACE_NONE: It was not lost. */
	LND_PLACE_NONE = 0,
	/** @LND_PLACE_QUEUE: In the local queue. */
	LND_PLACE_QUEUE = 1,
	/** @LND_PLACE_MESSAGE: In a message that was not delivered. */
	LND_PLACE_MESSAGE = 2,
	/** @LND_PLACE_ANSWER: Its message was sent. */
	LND_PLACE_ANSWER = 3,
	/** @LND_PLACE_STAGED: In the engine. No byte was moved. */
	LND_PLACE_STAGED = 4,
	/** @LND_PLACE_MOVING: In the engine. Bytes may have been moved. */
	LND_PLACE_MOVING = 5,
};

/**
 * enum lnd_peer_state - The state of the handshake with a peer.
 */
enum lnd_peer_state {
	/** @LND_PEER_UNKNOWN: No handshake yet. */
	LND_PEER_UNKNOWN = 0,
	/** @LND_PEER_HANDSHAKE: Our HELLO is sent. */
	LND_PEER_HANDSHAKE = 1,
	/** @LND_PEER_GOOD: The peer has answered. Requests are sent. */
	LND_PEER_GOOD = 2,
	/** @LND_PEER_DOWN: Down. */
	LND_PEER_DOWN = 3,
};

/**
 * enum lnd_link_state - The state of a link or a connection.
 */
enum lnd_link_state {
	/** @LND_LINK_UP: In service. */
	LND_LINK_UP = 1,
	/** @LND_LINK_STALLED: Failed. A thread may still be posting. */
	LND_LINK_STALLED = 2,
	/** @LND_LINK_STOPPING: The engine was requested to stop. */
	LND_LINK_STOPPING = 3,
	/** @LND_LINK_RECLAIMING: The engine has stopped. Its descriptors are being reclaimed. */
	LND_LINK_RECLAIMING = 4,
	/** @LND_LINK_DOWN: The engine is reset. The link does not work yet. */
	LND_LINK_DOWN = 5,
	/**
	 * @LND_LINK_FAILED: The device does not identify itself, or its registers hold what no
	 * working device reports. Its memory stays lent until the device is proven stopped: see
	 * lnd_assert_stopped().
	 */
	LND_LINK_FAILED = 6,
};

/**
 * enum lnd_event_kind - The kind of an event.
 */
enum lnd_event_kind {
	/** @LND_EVENT_PEER: A peer changed its state. */
	LND_EVENT_PEER = 1,
	/** @LND_EVENT_LINK: A link changed its state. */
	LND_EVENT_LINK = 2,
	/**
	 * @LND_EVENT_OVERRUN: Events were lost. Read the state of all peers, links and
	 * connections.
	 */
	LND_EVENT_OVERRUN = 3,
	/**
	 * @LND_EVENT_CONNECTION: A failed connection changed its state. LND_LINK_UP: it has
	 * been reset. If its link fails meanwhile, the link takes the connection over, and the
	 * link's events report the rest.
	 */
	LND_EVENT_CONNECTION = 4,
};

/**
 * enum lnd_trace_kind - The kind of a trace record.
 */
enum lnd_trace_kind {
	/** @LND_TRACE_ACCEPTED: A transfer was accepted; @a: bytes. */
	LND_TRACE_ACCEPTED = 1,
	/**
	 * @LND_TRACE_STEP: A transfer's word changed; @a: before, @b: after, @c: event, @d:
	 * effect.
	 */
	LND_TRACE_STEP = 2,
	/** @LND_TRACE_STALE: A tag matched nothing. */
	LND_TRACE_STALE = 3,
	/** @LND_TRACE_POSTED: A descriptor was posted. */
	LND_TRACE_POSTED = 4,
	/** @LND_TRACE_INVALIDATED: A descriptor was invalidated. */
	LND_TRACE_INVALIDATED = 5,
	/**
	 * @LND_TRACE_RECLAIMED: A stopped engine's descriptor was reclaimed; @a: 1 if it held
	 * its real outcome.
	 */
	LND_TRACE_RECLAIMED = 6,
	/** @LND_TRACE_SENT: A message was handed to the channel; @a: lane, @b: number. */
	LND_TRACE_SENT = 7,
	/**
	 * @LND_TRACE_RECEIVED: A message was received; @a: lane, @b: number, @c: 1 if it had an
	 * effect.
	 */
	LND_TRACE_RECEIVED = 8,
	/** @LND_TRACE_PEER: A peer's state; @a: enum lnd_peer_state. */
	LND_TRACE_PEER = 9,
	/** @LND_TRACE_LINK: A link's state; @a: enum lnd_link_state. */
	LND_TRACE_LINK = 10,
	/** @LND_TRACE_FINALIZED: A transfer was reported; @a: negated errno, @b: health class. */
	LND_TRACE_FINALIZED = 11,
	/**
	 * @LND_TRACE_ENDED: A message that took no transfer slot ended; @nid: the other side,
	 * @a: negated errno, @b: health class, @c: its number, @d: its length.
	 */
	LND_TRACE_ENDED = 12,
	/**
	 * @LND_TRACE_CONNECTION: The state of a failed connection; @nid: the peer, @a: enum
	 * lnd_link_state, @b: its number.
	 */
	LND_TRACE_CONNECTION = 13,
};

/**
 * enum lnd_sent_how - How a short message ended.
 */
enum lnd_sent_how {
	/** @LND_SENT_OK: The channel has completed it. */
	LND_SENT_OK = 0,
	/** @LND_SENT_NOT_DELIVERED: Failed, and certainly not delivered. */
	LND_SENT_NOT_DELIVERED = 1,
	/** @LND_SENT_UNKNOWN: Failed; the delivery is unknown. */
	LND_SENT_UNKNOWN = 2,
};

/**
 * enum lnd_run_state - The progress of a shutdown.
 */
enum lnd_run_state {
	/** @LND_RUNNING: In service. */
	LND_RUNNING = 1,
	/** @LND_REFUSING: New work is refused. */
	LND_REFUSING = 2,
	/** @LND_DRAINING: The remaining work is cancelled. */
	LND_DRAINING = 3,
	/** @LND_CLOSING: Peers are sent CLOSE. */
	LND_CLOSING = 4,
	/** @LND_STOPPING: Engines are being stopped. */
	LND_STOPPING = 5,
	/** @LND_QUIESCENT: Nothing moves and no report is due: lnd_ni_destroy() may be called. */
	LND_QUIESCENT = 6,
};

/**
 * enum lnd_blocker_kind - What keeps the NI from being idle.
 */
enum lnd_blocker_kind {
	/** @LND_BLOCKER_TRANSFER: A transfer that has not ended. */
	LND_BLOCKER_TRANSFER = 1,
	/**
	 * @LND_BLOCKER_UNREPORTED: A transfer that has ended and is not yet reported: call
	 * lnd_run().
	 */
	LND_BLOCKER_UNREPORTED = 2,
	/** @LND_BLOCKER_LINK: A link whose engine has not stopped. */
	LND_BLOCKER_LINK = 3,
};

/**
 * enum lnd_policy - Which table maps the end of a transfer to errno and health class.
 */
enum lnd_policy {
	/** @LND_POLICY_SEED: By what is known of the transfer's delivery. */
	LND_POLICY_SEED = 0,
	/** @LND_POLICY_O2IB: The codes that o2iblnd reports. */
	LND_POLICY_O2IB = 1,
};

/**
 * enum lnd_dump_what - The part of the state that lnd_dump() writes.
 */
enum lnd_dump_what {
	/** @LND_DUMP_LINKS: One line a link. */
	LND_DUMP_LINKS = 1,
	/** @LND_DUMP_PEERS: One line a peer. */
	LND_DUMP_PEERS = 2,
	/** @LND_DUMP_TRANSFERS: One line a transfer: what it waits for. */
	LND_DUMP_TRANSFERS = 3,
	/** @LND_DUMP_COUNTERS: One line a counter. */
	LND_DUMP_COUNTERS = 4,
};

/**
 * enum lnd_profile - The behaviour of health.
 */
enum lnd_profile {
	/** @LND_PROFILE_SEED: A failure of any class is repaired through another path. */
	LND_PROFILE_SEED = 0,
	/** @LND_PROFILE_LNET: The behaviour of public Lustre. */
	LND_PROFILE_LNET = 1,
};

/**
 * enum lnd_next - How a message continues after a try.
 */
enum lnd_next {
	/** @LND_NEXT_ENDED: It has ended. Its handle is stale. */
	LND_NEXT_ENDED = 0,
	/** @LND_NEXT_AGAIN: It is tried again. lnd_health_begin() selects its next path. */
	LND_NEXT_AGAIN = 1,
	/**
	 * @LND_NEXT_LATER: It is tried again, not before the time that lnd_health_next_try()
	 * returns.
	 */
	LND_NEXT_LATER = 2,
};

/**
 * enum lnd_object - The kind of a struct lnd_health_ni.
 */
enum lnd_object {
	/** @LND_OBJECT_LOCAL: A local interface. */
	LND_OBJECT_LOCAL = 1,
	/** @LND_OBJECT_PEER_NI: An interface of a peer. */
	LND_OBJECT_PEER_NI = 2,
};

/**
 * enum lnd_action_kind - What the host does for health.
 */
enum lnd_action_kind {
	/** @LND_ACTION_PING: Ping, and report through lnd_health_answered(). */
	LND_ACTION_PING = 1,
	/** @LND_ACTION_PROBE: Probe, and report through lnd_prober_ended(). */
	LND_ACTION_PROBE = 2,
	/** @LND_ACTION_CONNECT: Connect, and report through lnd_health_connected(). */
	LND_ACTION_CONNECT = 3,
};

/**
 * enum lnd_probe_kind - The operation that probes a peer. None uses a receive buffer.
 */
enum lnd_probe_kind {
	/** @LND_PROBE_ZERO_READ: A read of no bytes. */
	LND_PROBE_ZERO_READ = 0,
	/** @LND_PROBE_ILLEGAL_READ: A read of an illegal address. */
	LND_PROBE_ILLEGAL_READ = 1,
	/** @LND_PROBE_PUBLISHED_WORD: A read of a word that the peer has published. */
	LND_PROBE_PUBLISHED_WORD = 2,
	/** @LND_PROBE_NOOP: An empty message of the control lane. */
	LND_PROBE_NOOP = 3,
};

/**
 * enum lnd_probe_end - How a probe ended.
 */
enum lnd_probe_end {
	/** @LND_PROBE_SUCCESS: It succeeded. */
	LND_PROBE_SUCCESS = 0,
	/** @LND_PROBE_ACCESS_ERROR: The peer refused access: the peer is up. */
	LND_PROBE_ACCESS_ERROR = 1,
	/** @LND_PROBE_RETRY_EXCEEDED: The transport's retries are exhausted. */
	LND_PROBE_RETRY_EXCEEDED = 2,
	/** @LND_PROBE_OTHER: Any other end. It proves nothing. */
	LND_PROBE_OTHER = 3,
};

/**
 * enum lnd_finding - The prober's result.
 */
enum lnd_finding {
	/** @LND_FINDING_NOTHING: No change. */
	LND_FINDING_NOTHING = 0,
	/** @LND_FINDING_ALIVE: The peer is up. */
	LND_FINDING_ALIVE = 1,
	/** @LND_FINDING_DOWN: The peer is down. Report it to its NI through lnd_peer_event(). */
	LND_FINDING_DOWN = 2,
	/**
	 * @LND_FINDING_CLEAN_UP: The peer is down and this node only receives from it. Clean it
	 * up, even while it is in use.
	 */
	LND_FINDING_CLEAN_UP = 3,
};

/**
 * enum lnd_connected - How an attempt to connect ended.
 */
enum lnd_connected {
	/** @LND_CONNECTED: Connected. */
	LND_CONNECTED = 0,
	/** @LND_CONNECT_FAILED: Failed: try again. */
	LND_CONNECT_FAILED = 1,
	/** @LND_CONNECT_REFUSED: The node is up and refuses connections. */
	LND_CONNECT_REFUSED = 2,
};

/**
 * enum lnd_window_check - The result of checking a received message for duplicates.
 */
enum lnd_window_check {
	/**
	 * @LND_WINDOW_FIRST: The first copy. Deliver it, then call
	 * lnd_health_message_received() or lnd_health_message_not_received().
	 */
	LND_WINDOW_FIRST = 1,
	/**
	 * @LND_WINDOW_COMING: The first copy is still arriving. Keep this request and check it
	 * again after the first copy has ended. One without inline payload may be refused
	 * instead (LND_NAK_NO_RESOURCES).
	 */
	LND_WINDOW_COMING = 2,
	/**
	 * @LND_WINDOW_SECOND: The message was already received. Drop this copy and acknowledge
	 * it (lnd_recv() of no bytes).
	 */
	LND_WINDOW_SECOND = 3,
	/** @LND_WINDOW_OUTSIDE: Too old to decide. Refuse it (LND_NAK_FAILED). */
	LND_WINDOW_OUTSIDE = 4,
	/**
	 * @LND_WINDOW_STALE: From or for an incarnation that is not the current one. Refuse it
	 * (LND_NAK_FAILED).
	 */
	LND_WINDOW_STALE = 5,
};

/**
 * enum lnd_why_ended - Why a message has ended.
 */
enum lnd_why_ended {
	/** @LND_WHY_NOT_ENDED: It has not ended. */
	LND_WHY_NOT_ENDED = 0,
	/** @LND_WHY_DELIVERED: It was delivered. */
	LND_WHY_DELIVERED = 1,
	/**
	 * @LND_WHY_NOT_RESENDABLE: Its class or its owner does not allow a resend, or another
	 * path would not help.
	 */
	LND_WHY_NOT_RESENDABLE = 2,
	/**
	 * @LND_WHY_MAY_HAVE_ARRIVED: It may have arrived, and the receiver would not recognise
	 * a duplicate.
	 */
	LND_WHY_MAY_HAVE_ARRIVED = 3,
	/** @LND_WHY_TRIES: The limit of tries is reached. */
	LND_WHY_TRIES = 4,
	/** @LND_WHY_DEADLINE: Its deadline has passed. */
	LND_WHY_DEADLINE = 5,
	/** @LND_WHY_NO_PATH: There is no other path. */
	LND_WHY_NO_PATH = 6,
};

/**
 * enum lnd_rule_kind - What a rule applies to.
 */
enum lnd_rule_kind {
	/** @LND_RULE_NETWORK: The priority applies to a network. */
	LND_RULE_NETWORK = 1,
	/** @LND_RULE_NID: The priority applies to an interface, a local one or a peer's. */
	LND_RULE_NID = 2,
	/** @LND_RULE_PAIR: One of a peer's interfaces is preferred from one local interface. */
	LND_RULE_PAIR = 3,
	/** @LND_RULE_GATEWAY: The priority applies to all routes through a gateway's interface. */
	LND_RULE_GATEWAY = 4,
};

/**
 * enum lnd_evidence - The evidence on which an interface's health changed.
 */
enum lnd_evidence {
	/** @LND_EVIDENCE_MESSAGE: The end of a message's try. */
	LND_EVIDENCE_MESSAGE = 0,
	/** @LND_EVIDENCE_REFUSAL: A try that the call refused. */
	LND_EVIDENCE_REFUSAL = 1,
	/** @LND_EVIDENCE_PING: The end of a recovery ping. */
	LND_EVIDENCE_PING = 2,
	/** @LND_EVIDENCE_HEARD: A received message. */
	LND_EVIDENCE_HEARD = 3,
	/** @LND_EVIDENCE_NO_RESPONSE: An answer that did not arrive in time. */
	LND_EVIDENCE_NO_RESPONSE = 4,
	/** @LND_EVIDENCE_PROBE: The liveness prober's result. */
	LND_EVIDENCE_PROBE = 5,
	/** @LND_EVIDENCE_FABRIC: The fabric's report. */
	LND_EVIDENCE_FABRIC = 6,
	/** @LND_EVIDENCE_OPERATOR: An operator. */
	LND_EVIDENCE_OPERATOR = 7,
};

/**
 * enum lnd_tracker_state - The state of the wait for an answer.
 */
enum lnd_tracker_state {
	/** @LND_TRACKER_OFF: Nothing was sent yet. */
	LND_TRACKER_OFF = 0,
	/** @LND_TRACKER_WAITING: The answer is awaited. */
	LND_TRACKER_WAITING = 1,
	/** @LND_TRACKER_ENDED: The wait is over. */
	LND_TRACKER_ENDED = 2,
};

/**
 * enum lnd_connection - The state of the connection to a peer's interface.
 */
enum lnd_connection {
	/** @LND_CONNECTION_UP: Nothing blocks sending. */
	LND_CONNECTION_UP = 0,
	/** @LND_CONNECTION_TRYING: A connection is being made. Messages wait for it. */
	LND_CONNECTION_TRYING = 1,
	/** @LND_CONNECTION_REFUSED: The node refuses connections. Messages are refused at once. */
	LND_CONNECTION_REFUSED = 2,
};

/**
 * enum lnd_metric_kind - How a metric changes.
 */
enum lnd_metric_kind {
	/** @LND_METRIC_COUNTER: It only grows, and wraps. */
	LND_METRIC_COUNTER = 1,
	/** @LND_METRIC_GAUGE: It rises and falls. */
	LND_METRIC_GAUGE = 2,
};

/**
 * enum lnd_metric_format - What lnd_metrics_write() writes.
 */
enum lnd_metric_format {
	/** @LND_METRIC_TEXT: A line each: name and value. */
	LND_METRIC_TEXT = 1,
	/** @LND_METRIC_JSON: An array of objects: name, kind, unit, value, help. */
	LND_METRIC_JSON = 2,
	/**
	 * @LND_METRIC_PROMETHEUS: The text format of Prometheus. Names begin with "lnd_"; those
	 * of counters end with "_total".
	 */
	LND_METRIC_PROMETHEUS = 3,
};

/**
 * enum lnd_point - A point on the way of a transfer, with the same meaning on every transport.
 */
enum lnd_point {
	/** @LND_POINT_QUEUED: It was accepted. */
	LND_POINT_QUEUED = 0,
	/** @LND_POINT_POSTED: The engine accepted its descriptor. */
	LND_POINT_POSTED = 1,
	/** @LND_POINT_SENT: Its message was handed to the channel. */
	LND_POINT_SENT = 2,
	/** @LND_POINT_LEFT: The channel has done its part. */
	LND_POINT_LEFT = 3,
	/** @LND_POINT_ANSWERED: The peer's first answer arrived. */
	LND_POINT_ANSWERED = 4,
	/**
	 * @LND_POINT_COMPLETED: Its last debt was settled: no device reads or writes its memory
	 * any more.
	 */
	LND_POINT_COMPLETED = 5,
	/** @LND_POINT_REPORTED: It was reported. */
	LND_POINT_REPORTED = 6,
};

/**
 * enum lnd_wait - What a transfer waits for. The times of all waits add up to its whole time.
 */
enum lnd_wait {
	/** @LND_WAIT_QUEUE: In a queue: for a handshake, a credit, a link, or its turn to pull. */
	LND_WAIT_QUEUE = 0,
	/** @LND_WAIT_POST: For the thread that posts it. */
	LND_WAIT_POST = 1,
	/** @LND_WAIT_SEND: For the channel, which has its message. */
	LND_WAIT_SEND = 2,
	/** @LND_WAIT_ANSWER: For the peer's answer. */
	LND_WAIT_ANSWER = 3,
	/** @LND_WAIT_ENGINE: For the engine: its own pull, or the peer's. */
	LND_WAIT_ENGINE = 4,
	/** @LND_WAIT_DRAIN: It is being given up: for what still has it. */
	LND_WAIT_DRAIN = 5,
	/** @LND_WAIT_REPORT: For its report. */
	LND_WAIT_REPORT = 6,
	/** @LND_WAIT_WHOLE: In place of a wait: from acceptance to report. */
	LND_WAIT_WHOLE = 7,
	/**
	 * @LND_WAIT_LATE: In place of a wait: from the deadline to the report, of those that
	 * were late.
	 */
	LND_WAIT_LATE = 8,
};

/**
 * enum lnd_bound_origin - Where a bound comes from.
 */
enum lnd_bound_origin {
	/** @LND_BOUND_DEFAULT: The configuration has the value of lnd_config_init(). */
	LND_BOUND_DEFAULT = 1,
	/** @LND_BOUND_GIVEN: The configuration has another value. */
	LND_BOUND_GIVEN = 2,
	/** @LND_BOUND_DERIVED: It follows from other values. */
	LND_BOUND_DERIVED = 3,
};

/**
 * struct lnd_health - The health of a node. Opaque.
 */
struct lnd_health;

/**
 * struct lnd_ni - One network interface: one shard with its links and peers. Opaque.
 */
struct lnd_ni;

/**
 * struct lnd_observer - Where the transfers of one NI spend their time. Opaque.
 */
struct lnd_observer;

/**
 * struct lnd_ring - Memory that a link's engine and its driver share.
 * @base: the first byte, aligned to 64; lnd_ring_format() has prepared it.
 * @len: bytes.
 */
struct lnd_ring {
	void *base;
	size_t len;
};

/**
 * struct lnd_config - Sizes and times of one NI. All are fixed at creation.
 * @size: sizeof(struct lnd_config).
 * @abi_version: LND_ABI_VERSION.
 * @nid: our NID, not 0.
 * @incarnation: this node's incarnation, not 0. Two starts of a node never have the same number;
 *               nothing depends on the order of the numbers. A calendar clock in ns is suitable if
 *               it is not set back behind an earlier start. So is a stored count of starts, stored
 *               before the first frame is sent, with a random number in the upper half.
 * @slots: transfers at once, 2 to 1,048,576.
 * @passive_slots: how many of them are kept for peers' requests, 1 to slots - 1. A quarter of the
 *                 others, one at least, is kept for own transfers.
 * @peers: peers known at once, 1 to 1,048,576.
 * @links: links, 1 to LND_MAX_LINKS.
 * @lists: transfers at once of more than one fragment, 0 to 65,535, at most slots.
 * @immediate_max: largest payload in bytes that travels inside a message, 0 to 65,352. The channel
 *                 must take frames of lnd_frame_size() bytes.
 * @depth: requests that each peer may have in flight towards us, 1 to 32.
 * @hello_tries: HELLO messages without an answer before a peer counts as down, 1 to 255. The peer
 *               stays down for @hello_tries times @hello_timeout, unless a frame of it arrives
 *               earlier.
 * @batch: most slots, queue entries or timers handled in one call, 1 to 1,048,576.
 * @policy: enum lnd_policy.
 * @flags: LND_CHECKSUM, LND_RELIABLE, LND_ENDS_AT_ONCE, LND_CANCEL_FIRST, LND_CONNECTION_CHANNEL,
 *         or 0. A host whose channel loses no frame adds LND_RELIABLE.
 * @pulls: concurrent pulls from each peer, 1 to 65,535. Further pulls wait in order.
 * @connections: connections that may be out of service at once, 0 to 255. Only for engines with
 *               connections: see lnd_ops.connection. 0: only whole links are stopped.
 * @reserved: 0.
 * @drain_bound: ns within which an invalidated descriptor must come back, at least 1 ms.
 * @hello_timeout: ns between two HELLO messages, at least 1 ms.
 * @credit_stall: ns without a credit before the library resynchronises with the peer, at least 1
 *                ms. If the peer answers none of @hello_tries HELLO messages after that, it is
 *                down. A host that pauses for that long counts as down too.
 * @link_poll: ns between two checks of a link that is out of service, or of room in the channel,
 *             at least 1 us. If the host does not call lnd_run() for twice as long, it may have
 *             paused; a peer's silence then ends later.
 * @decision_bound: ns within which a request must be decided, at least 1 ms.
 * @rings: the links' memory. The first @links entries are used.
 *
 * lnd_config_init() fills in everything except @nid, @incarnation and @rings.
 */
struct lnd_config {
	uint32_t size;
	uint32_t abi_version;
	uint64_t nid;
	uint64_t incarnation;
	uint32_t slots;
	uint32_t passive_slots;
	uint32_t peers;
	uint32_t links;
	uint32_t lists;
	uint32_t immediate_max;
	uint32_t depth;
	uint32_t hello_tries;
	uint32_t batch;
	uint32_t policy;
	uint32_t flags;
	uint32_t pulls;
	uint32_t connections;
	uint32_t reserved;
	uint64_t drain_bound;
	uint64_t hello_timeout;
	uint64_t credit_stall;
	uint64_t link_poll;
	uint64_t decision_bound;
	struct lnd_ring rings[LND_MAX_LINKS];
};

/**
 * struct lnd_tag - Identifies one use of a descriptor.
 * @index: the descriptor, below lnd_config.slots. An engine may use it as an index into its
 *         tables.
 * @generation: the number of this use.
 */
struct lnd_tag {
	uint32_t index;
	uint32_t generation;
};

/**
 * struct lnd_frag - A piece of memory by its bus address.
 * @addr: address of the first byte, in the address space of the engine, mem_read and mem_write.
 * @len: bytes, 1 to 1 MiB.
 * @reserved: 0.
 */
struct lnd_frag {
	uint64_t addr;
	uint32_t len;
	uint32_t reserved;
};

/**
 * struct lnd_bd - A buffer descriptor to post.
 * @size: sizeof(struct lnd_bd).
 * @link: the link.
 * @tag: identifies it, here and in lnd_completed(). While it is out, no other descriptor of this
 *       index is posted on any link.
 * @source: for a pull or push, the peer's descriptor; else 0.
 * @nid: the peer.
 * @motion: enum lnd_motion.
 * @length: bytes to move. @frags hold at least as many.
 * @frags: the memory, in order. The library reuses the vector after engine_post() returns.
 * @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
 * @key_len: bytes of @key.
 * @key: for a pull or push, the key that engine_key() of the peer's engine returned for @source.
 *       The bytes come from the peer: any content, and no bytes if its engine has no keys. The
 *       library reuses them after engine_post() returns.
 */
struct lnd_bd {
	uint32_t size;
	uint32_t link;
	struct lnd_tag tag;
	struct lnd_tag source;
	uint64_t nid;
	uint32_t motion;
	uint32_t length;
	const struct lnd_frag *frags;
	uint32_t nfrags;
	uint32_t key_len;
	const void *key;
};

/**
 * struct lnd_message - Names a short message whose end the channel has not yet reported.
 * @index: slot.
 * @generation: use of the slot.
 * @ni: the NI's own number.
 * @kind: kind of handle.
 */
struct lnd_message {
	uint32_t index;
	uint32_t generation;
	uint32_t ni;
	uint32_t kind;
};

/**
 * struct lnd_frame - A short message to send.
 * @size: sizeof(struct lnd_frame).
 * @link: the link.
 * @lane: enum lnd_lane.
 * @len: bytes.
 * @bytes: the frame. The library reuses the memory after send() returns.
 * @nid: the destination.
 * @tracked: 1: if send() returns LND_SEND_PENDING, lnd_sent() must report the end, once.
 * @reserved: 0.
 * @message: names the message in lnd_sent(). A HELLO is not tracked but has a handle: send() or
 *           lnd_sent() may report that it was not delivered, and its peer is down at once.
 */
struct lnd_frame {
	uint32_t size;
	uint32_t link;
	uint32_t lane;
	uint32_t len;
	const void *bytes;
	uint64_t nid;
	uint32_t tracked;
	uint32_t reserved;
	struct lnd_message message;
};

/**
 * struct lnd_transfer - Names a transfer from its acceptance to its report.
 * @index: slot.
 * @generation: use of the slot.
 * @ni: the NI's own number.
 * @kind: kind of handle.
 *
 * All handles are values without pointers. They may be kept, copied and compared. A handle whose
 * fields are all 0 names nothing.
 */
struct lnd_transfer {
	uint32_t index;
	uint32_t generation;
	uint32_t ni;
	uint32_t kind;
};

/**
 * struct lnd_report - The one end of an accepted transfer, for finalize().
 * @size: sizeof(struct lnd_report).
 * @role: enum lnd_role.
 * @transfer: the transfer's handle; stale from now on.
 * @user: the caller's value from the submission.
 * @nid: the other side, or 0 if its entry was removed.
 * @error: 0, or a negative errno.
 * @health: enum lnd_health_class; LND_HEALTH_OK if and only if @error is 0.
 * @delivery: enum lnd_delivery.
 * @resend: 1 if it may be sent again, which cannot deliver it twice.
 * @cause: enum lnd_cause.
 * @place: enum lnd_place.
 * @bytes: bytes moved if it ended well, else 0. 0 for a GET that was sent as a header alone (see
 *         lnd_submit()).
 * @reply: 1: this is the end of a GET and of its reply. 0 for a GET that was sent as a header
 *         alone: its reply is an LND_REPLY from the peer.
 * @lost_race: 1 if it was cancelled and still ended well.
 * @reserved: 0.
 */
struct lnd_report {
	uint32_t size;
	uint32_t role;
	struct lnd_transfer transfer;
	uint64_t user;
	uint64_t nid;
	int32_t error;
	uint32_t health;
	uint32_t delivery;
	uint32_t resend;
	uint32_t cause;
	uint32_t place;
	uint32_t bytes;
	uint32_t reply;
	uint32_t lost_race;
	uint32_t reserved;
};

/**
 * struct lnd_event - A state change of a peer, a link or a connection, for event().
 * @size: sizeof(struct lnd_event).
 * @kind: enum lnd_event_kind.
 * @nid: the peer, or 0.
 * @link: the link, or LND_ANY_LINK.
 * @state: enum lnd_peer_state or enum lnd_link_state.
 */
struct lnd_event {
	uint32_t size;
	uint32_t kind;
	uint64_t nid;
	uint32_t link;
	uint32_t state;
};

/**
 * struct lnd_trace - One trace record, for trace().
 * @size: sizeof(struct lnd_trace).
 * @kind: enum lnd_trace_kind.
 * @now: the time.
 * @nid: the peer, or 0.
 * @index: slot of the transfer.
 * @generation: use of the slot. @index and @generation are 0 if the record concerns no transfer.
 * @link: the link, or LND_ANY_LINK.
 * @a: depends on @kind.
 * @b: depends on @kind.
 * @c: depends on @kind.
 * @d: depends on @kind.
 * @reserved: 0.
 */
struct lnd_trace {
	uint32_t size;
	uint32_t kind;
	uint64_t now;
	uint64_t nid;
	uint32_t index;
	uint32_t generation;
	uint32_t link;
	uint32_t a;
	uint32_t b;
	uint32_t c;
	uint32_t d;
	uint32_t reserved;
};

/**
 * struct lnd_ops - The platform's operations; copied at creation.
 *
 * Operations fall into three groups by context. *Inside* operations are called with the lock held.
 * They must not sleep. They may make the library calls that are for any context: lnd_sent(),
 * lnd_link_failed(), lnd_interrupt(), lnd_completed(). Calls for threads return LND_E_REENTRY
 * there. A call for threads on another NI takes that NI's lock while this one's is held: two NIs
 * that do so in opposite directions deadlock, so leave such calls to a thread. *Outside* callbacks
 * are called with nothing held. They may make any call except the one that called them. *Any*
 * operations may also be called in interrupts and must make no call. An optional operation may be
 * NULL. No operation may unwind or longjmp.
 */
struct lnd_ops {
	/** @size: sizeof(struct lnd_ops). */
	uint32_t size;
	/** @reserved: 0. */
	uint32_t reserved;
	/**
	 * @lock: Takes the NI's lock. Optional, with unlock. Without lock and with self_id, the
	 * library uses its own spin lock: for threads in user space, not for a kernel, and not
	 * where a thread of higher priority may interrupt the holder. Without lock and without
	 * self_id, one thread makes all calls that are for threads. Context: thread, not called
	 * while the lock is held.
	 */
	void (*lock)(void *ctx);
	/** @unlock: Releases it. Context: thread. */
	void (*unlock)(void *ctx);
	/**
	 * @self_id: A number, not 0, that identifies the current context and differs from that
	 * of every concurrent caller. In Linux: in_task() ? current->pid : 0x40000000 |
	 * smp_processor_id(). Required with lock, optional without. Context: any.
	 */
	uint32_t (*self_id)(void *ctx);
	/**
	 * @context: enum lnd_context of the caller. Optional: without it, calls in a wrong
	 * context are not detected. Context: any.
	 */
	uint32_t (*context)(void *ctx);
	/**
	 * @reg_read32: Reads a register of a link's engine. What the device wrote before is
	 * visible afterwards. Offsets: docs/registers.md. Optional, with reg_write32: without
	 * them, the registers are the first 256 bytes of the link's ring memory. Context:
	 * inside, and lnd_interrupt().
	 */
	uint32_t (*reg_read32)(void *ctx, uint32_t link, uint32_t offset);
	/** @reg_write32: Writes a register. Context: inside, and lnd_interrupt(). */
	void (*reg_write32)(void *ctx, uint32_t link, uint32_t offset, uint32_t value);
	/**
	 * @dma_barrier: The doorbell barrier, called before each reg_write32. It makes earlier
	 * writes to memory visible to the device first. Optional: without it, the processor's
	 * full fence is used. Context: inside, and lnd_interrupt().
	 */
	void (*dma_barrier)(void *ctx);
	/**
	 * @node_of: The fabric's number of a node, 0 to 255, or LND_NO_NODE. Optional: without
	 * it, the number is the lower half of the NID less one. Context: inside.
	 */
	uint32_t (*node_of)(void *ctx, uint64_t nid);
	/**
	 * @engine_post: Posts a descriptor; returns enum lnd_post. The engine must not begin
	 * before engine_doorbell() is called. Optional, with engine_doorbell, engine_invalidate,
	 * engine_stop and engine_reset. With these operations there are no registers, no ring
	 * memory and no node_of, and lnd_completed() reports returned descriptors. Context:
	 * inside.
	 */
	uint32_t (*engine_post)(void *ctx, const struct lnd_bd *bd);
	/**
	 * @engine_key: Writes what the peer's engine needs beside the tag to pull the staged
	 * memory, such as a remote key or an address. Writes at most LND_MAX_KEY bytes and
	 * returns their number, or 0 only if the descriptor has already come back. Called once
	 * for each use, after engine_doorbell(). The key is valid until the descriptor comes
	 * back, and for no other use. Optional: without it, engines pull by tags alone. All
	 * nodes have it, or none: where one side alone has it, that side refuses to pull without
	 * a key, and the other side's engine pulls by the tag alone. Payload inside frames still
	 * travels. Context: inside.
	 */
	uint32_t (*engine_key)(void *ctx, uint32_t link, struct lnd_tag tag, void *key);
	/**
	 * @engine_doorbell: The engine may begin everything posted on the link. Context:
	 * inside.
	 */
	void (*engine_doorbell)(void *ctx, uint32_t link);
	/**
	 * @engine_invalidate: Requests that a descriptor come back. Never waits. The descriptor
	 * comes back through lnd_completed() with any outcome. If it does not within
	 * lnd_config.drain_bound, its link or its connection is stopped. The peer may be reading
	 * staged memory: its read then fails, or lnd_config.flags has LND_CANCEL_FIRST. A
	 * descriptor that is not out is no error. Context: inside.
	 */
	void (*engine_invalidate)(void *ctx, uint32_t link, struct lnd_tag tag);
	/**
	 * @engine_stop: Requests a stop of the whole link. Never waits: if stopping sleeps, it
	 * is left to a worker. Context: inside.
	 */
	void (*engine_stop)(void *ctx, uint32_t link);
	/**
	 * @engine_quiesced: 1 from the proof that the link has stopped until its reset; else 0.
	 * 1 guarantees that no engine reads or writes this node's memory through this link, with
	 * any key, and that lnd_completed() is not called for its descriptors. Optional: without
	 * it, lnd_assert_stopped() gives the proof. Context: inside.
	 */
	uint32_t (*engine_quiesced)(void *ctx, uint32_t link);
	/**
	 * @engine_reclaim: Returns what is known of a descriptor's outcome after the stop of
	 * the link, or of the connection with the peer, is proven; enum lnd_returned. The
	 * descriptor leaves the engine. Called for every descriptor that is out, before
	 * engine_reset() or connection_reset(). Optional: without it, no outcome is known.
	 * Context: inside.
	 */
	uint32_t (*engine_reclaim)(void *ctx, uint32_t link, struct lnd_tag tag);
	/**
	 * @engine_reset: Lets the stopped link work again, without descriptors. Context:
	 * inside.
	 */
	void (*engine_reset)(void *ctx, uint32_t link);
	/**
	 * @engine_link_up: 1 if the engine itself finds the link working. Optional: without it,
	 * the link counts as working, also one that lnd_link_event() reported down, once it is
	 * reset. Context: inside.
	 */
	uint32_t (*engine_link_up)(void *ctx, uint32_t link);
	/**
	 * @engine_features: The engine's capabilities: LND_FEATURE_REMOTE_COMPLETION and so on;
	 * constant. Optional: without it, 0. Context: inside, and lnd_ni_create().
	 */
	uint32_t (*engine_features)(void *ctx, uint32_t link);
	/**
	 * @connection: The number of the current connection with a peer on a link, not 0, if
	 * the engine can stop each connection separately (a queue pair, an endpoint). 0: only
	 * the whole link can be stopped; for each peer and link that never changes. Two
	 * connections with a peer on a link never have the same number. The number changes to
	 * that of the next connection at connection_reset() and at no other time. Optional, with
	 * connection_stop and connection_reset; required if lnd_config.connections is not 0.
	 * Context: inside.
	 */
	uint32_t (*connection)(void *ctx, uint32_t link, uint64_t nid);
	/**
	 * @connection_stop: Requests a stop of one connection. Never waits: if stopping sleeps,
	 * it is left to a worker. Context: inside.
	 */
	void (*connection_stop)(void *ctx, uint32_t link, uint64_t nid, uint32_t number);
	/**
	 * @connection_quiesced: 1 from the proof that the connection has stopped until its
	 * reset; else 0. 1 guarantees, for the transfers with this peer on this link: neither
	 * engine reads or writes this node's memory, over any connection; no key made for them
	 * is valid; no descriptor of them is processed, neither from the post ring nor for an
	 * invalidation; and lnd_sent() reports no message handed over on the connection. Drained
	 * queues alone are not a proof. A connection that was never made, or is gone, has
	 * stopped. Optional: without it, lnd_connection_stopped() gives the proof. Context:
	 * inside.
	 */
	uint32_t (*connection_quiesced)(void *ctx, uint32_t link, uint64_t nid, uint32_t number);
	/**
	 * @connection_reset: Discards the stopped connection of this number. Its descriptors
	 * have been reclaimed; it may be made anew, under another number. Number 0, with
	 * LND_NID_UNKNOWN: the link's engine is about to be reset. Make anew every connection of
	 * the link that was requested to stop or has failed, whether the NI knows of it or not.
	 * Context: inside.
	 */
	void (*connection_reset)(void *ctx, uint32_t link, uint64_t nid, uint32_t number);
	/**
	 * @reaches: 1 if there is a route to this NID. Optional: without it, every NID has a
	 * route. Context: inside.
	 */
	uint32_t (*reaches)(void *ctx, uint64_t nid);
	/**
	 * @ready: 1 if the channel has room for one more frame to this NID on this link and
	 * lane. 1 guarantees room for the next send(). After 0, lnd_run() checks again and
	 * returns a time for that. Optional: without it, there always is room. Context: inside.
	 */
	uint32_t (*ready)(void *ctx, uint32_t link, uint64_t nid, uint32_t lane);
	/**
	 * @send: Sends a frame of at most lnd_frame_size() bytes; returns enum lnd_send. Never
	 * waits. Context: inside.
	 */
	uint32_t (*send)(void *ctx, const struct lnd_frame *frame);
	/**
	 * @quiesce: The engine of the whole link has stopped: lnd_sent() must no longer report
	 * a message handed over on it before. Optional if send() never returns LND_SEND_PENDING.
	 * Context: inside.
	 */
	void (*quiesce)(void *ctx, uint32_t link);
	/**
	 * @mem_read: Copies from payload memory. Returns 0, or not 0 if the memory cannot be
	 * reached. Optional, with mem_write, if immediate_max is 0. Context: inside.
	 */
	uint32_t (*mem_read)(void *ctx, uint64_t addr, void *to, uint32_t len);
	/**
	 * @mem_write: Copies into payload memory. Returns 0, or not 0 if nothing was written.
	 * Context: inside.
	 */
	uint32_t (*mem_write)(void *ctx, uint64_t addr, const void *from, uint32_t len);
	/**
	 * @mem_valid: 1 if the engine can reach all of a fragment. Optional: without it, the
	 * engine can. Context: inside.
	 */
	uint32_t (*mem_valid)(void *ctx, uint64_t addr, uint32_t len);
	/**
	 * @finalize: A transfer has ended for which no call returned LND_DONE. Its memory is
	 * the caller's again. Context: outside, in lnd_run(); may call everything but that.
	 */
	void (*finalize)(void *ctx, const struct lnd_report *report);
	/**
	 * @event: The state of a peer, a link or a connection changed. Optional. Context:
	 * outside, in lnd_run(); may call everything but that.
	 */
	void (*event)(void *ctx, const struct lnd_event *event);
	/**
	 * @wake: Requests a call of lnd_run() soon. Frames that were answered with LND_E_WAIT
	 * must be offered again before that call. Called once between two runs. Optional:
	 * without it, lnd_run() must be called after every batch of other calls, and waiting
	 * frames must be offered after every lnd_run(). Context: any; must make no call.
	 */
	void (*wake)(void *ctx);
	/** @trace: One trace record. Optional. Context: any, also inside; must make no call. */
	void (*trace)(void *ctx, const struct lnd_trace *trace);
	/**
	 * @bug: The platform has broken a rule, or the library's internal accounting is
	 * inconsistent. The library continues. Optional. Context: any, also inside; must make no
	 * call.
	 */
	void (*bug)(void *ctx, const char *what);
	/**
	 * @tracing: Where the platform says whether trace records are read: 0 while they are
	 * not, and trace() is not called. The platform may change it at any time; it stays where
	 * it is until lnd_ni_destroy(). NULL: they are read. Context: any.
	 */
	const uint32_t *tracing;
};

/**
 * struct lnd_request - Names a peer's request that waits for a decision.
 * @index: the link on which it arrived; after lnd_keep(), the slot.
 * @generation: use of that link or slot.
 * @ni: the NI's own number.
 * @kind: kind of handle.
 */
struct lnd_request {
	uint32_t index;
	uint32_t generation;
	uint32_t ni;
	uint32_t kind;
};

/**
 * struct lnd_decision - The decision on a peer's request.
 * @size: sizeof(struct lnd_decision).
 * @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
 * @frags: where the payload goes (lnd_recv()) or lies (lnd_reply()). The vector is copied. The
 *         memory it names is lent until the report.
 * @len: bytes wanted or replied: at most those of the request, and of the fragments.
 * @reserved: 0.
 * @deadline: when the transfer is cancelled. If a GET's requester has given up or is silent, no
 *            frame reports that: the reply's memory stays lent until this time.
 * @user: the report returns it.
 */
struct lnd_decision {
	uint32_t size;
	uint32_t nfrags;
	const struct lnd_frag *frags;
	uint32_t len;
	uint32_t reserved;
	uint64_t deadline;
	uint64_t user;
};

/**
 * struct lnd_bound - A bound in effect.
 * @size: sizeof(struct lnd_bound).
 * @origin: enum lnd_bound_origin: where it comes from.
 * @ns: its length in nanoseconds.
 * @name: lower case, underscores. Names do not change between versions; numbers may.
 * @help: what it bounds; of a derived one, also from what it follows.
 */
struct lnd_bound {
	uint32_t size;
	uint32_t origin;
	uint64_t ns;
	uint8_t name[LND_METRIC_NAME];
	uint8_t help[LND_METRIC_HELP];
};

/**
 * struct lnd_health_ni - Names an interface in a health object: a local one or a peer's.
 * @index: its place in the table. Local interfaces count from 0 in the order in which they were
 *         added.
 * @generation: use of the place.
 * @owner: the health object's own number.
 * @kind: enum lnd_object.
 *
 * The handle is stale once the interface or its peer is removed. A handle whose fields are all 0
 * names nothing.
 */
struct lnd_health_ni {
	uint32_t index;
	uint32_t generation;
	uint32_t owner;
	uint32_t kind;
};

/**
 * struct lnd_action - An action that the host performs for health.
 * @size: sizeof(struct lnd_action).
 * @kind: enum lnd_action_kind.
 * @index: place. @index and @generation name the action.
 * @generation: use of the place.
 * @owner: the health object's own number.
 * @probe: a probe's enum lnd_probe_kind.
 * @target: the target interface.
 * @local: for a ping, the local interface; all 0 if a local interface pings itself.
 * @nid: the target interface's NID.
 */
struct lnd_action {
	uint32_t size;
	uint32_t kind;
	uint32_t index;
	uint32_t generation;
	uint32_t owner;
	uint32_t probe;
	struct lnd_health_ni target;
	struct lnd_health_ni local;
	uint64_t nid;
};

/**
 * struct lnd_stamp - Identifies a message over all its tries, so that the receiver recognises a
 * duplicate. The upper layer's header carries it unchanged.
 * @from: the sender's incarnation.
 * @to: the receiver's incarnation; 0: any.
 * @number: the message's number; 0: the message has none, and the whole stamp is 0.
 *
 * lnd_stamp_write() and lnd_stamp_read() convert it to and from the header's bytes, in one byte
 * order for all machines.
 */
struct lnd_stamp {
	uint64_t from;
	uint64_t to;
	uint64_t number;
};

/**
 * struct lnd_health_peer - Names a peer in a health object.
 * @index: its place in the table.
 * @generation: use of the place.
 * @owner: the health object's own number.
 * @kind: kind of handle.
 *
 * The handle is stale once the peer is removed.
 */
struct lnd_health_peer {
	uint32_t index;
	uint32_t generation;
	uint32_t owner;
	uint32_t kind;
};

/**
 * struct lnd_health_config - Sizes and knobs of a node's health.
 * @size: sizeof(struct lnd_health_config).
 * @abi_version: LND_ABI_VERSION.
 * @locals: local interfaces, 1 to 32.
 * @peers: peers, 1 to 16,384.
 * @peer_nis: interfaces of all peers together, @peers to 262,144.
 * @journal: entries of the journal, 0 to 65,536.
 * @attempts: messages under way at once, 1 to 65,536.
 * @actions: pings, probes and connections under way at once, 1 to 65,536.
 * @profile: enum lnd_profile.
 * @sensitivity: by how much a failure decrements health, 0 to 1000; 0: health is off.
 * @retries: limit of a message's resends, 0 to 254. LND_UNTIL_DEADLINE: the profile's own limit,
 *           which is none for LND_PROFILE_SEED and 2 for LND_PROFILE_LNET.
 * @seed: seed of the jitter. Each node uses a different one.
 * @recovery_first: ns to the first recovery ping.
 * @recovery_cap: longest interval between two recovery pings, in ns.
 * @resend_first: ns of a message's first pause after all its paths were tried.
 * @resend_cap: longest such pause, in ns.
 * @recovery_limit: ns after which recovery of an interface stops, 0: never.
 * @probe_idle: ns without traffic after which a peer is probed.
 * @probe_again: ns between two probes of a peer that does not answer.
 * @probe_hold_off: ns for which a path must be dead before the peer is down.
 * @action_bound: ns after which a ping, probe or connection without a reported end is over.
 * @action_every: ns for each ping, probe or connection: their rate, at least 1 us.
 * @action_burst: most pings, probes and connections in one burst, at least 1.
 * @probe_results: consecutive dead results before the peer is down.
 * @routes: routes, 0 to 4,096.
 * @routing: 1 if this node is a router.
 * @numa_range: NUMA distances below this one count as equal, 0 to 65,535.
 * @connects_at_once: connections being made at once, over all peers, 1 to 65,535.
 * @incarnation: this node's incarnation, the same as in all its NIs; not 0.
 */
struct lnd_health_config {
	uint32_t size;
	uint32_t abi_version;
	uint32_t locals;
	uint32_t peers;
	uint32_t peer_nis;
	uint32_t journal;
	uint32_t attempts;
	uint32_t actions;
	uint32_t profile;
	uint32_t sensitivity;
	uint32_t retries;
	uint32_t seed;
	uint64_t recovery_first;
	uint64_t recovery_cap;
	uint64_t recovery_limit;
	uint64_t resend_first;
	uint64_t resend_cap;
	uint64_t probe_idle;
	uint64_t probe_again;
	uint64_t probe_hold_off;
	uint64_t action_bound;
	uint64_t action_every;
	uint32_t action_burst;
	uint32_t probe_results;
	uint32_t routes;
	uint32_t routing;
	uint32_t numa_range;
	uint32_t connects_at_once;
	uint64_t incarnation;
};

/**
 * struct lnd_attempts - Names a message over all its tries.
 * @index: place.
 * @generation: use of the place.
 * @ni: the health object's own number.
 * @kind: kind of handle.
 */
struct lnd_attempts {
	uint32_t index;
	uint32_t generation;
	uint32_t ni;
	uint32_t kind;
};

/**
 * struct lnd_outcome - The state of a message after a try.
 * @size: sizeof(struct lnd_outcome).
 * @next: enum lnd_next.
 * @delivery: enum lnd_delivery over all tries. Report it to the upper layer.
 * @health: enum lnd_health_class of the last try.
 * @tries: tries made.
 * @why: enum lnd_why_ended.
 * @cookie: the caller's value for the message.
 * @next_try: with LND_NEXT_LATER: when its next try may begin; else 0. lnd_health_next_try()
 *            returns an earlier time if there is one.
 */
struct lnd_outcome {
	uint32_t size;
	uint32_t next;
	uint32_t delivery;
	uint32_t health;
	uint32_t tries;
	uint32_t why;
	uint64_t cookie;
	uint64_t next_try;
};

/**
 * struct lnd_rule - A user-defined selection policy.
 * @size: sizeof(struct lnd_rule).
 * @kind: enum lnd_rule_kind.
 * @priority: 0 to 65,535; 0 is the best. LND_RULE_PAIR has none.
 * @network: for LND_RULE_NETWORK: its number, the upper half of the NIDs on it.
 * @nid: for LND_RULE_NID and LND_RULE_GATEWAY: the interface; for LND_RULE_PAIR: the local one.
 * @peer_nid: for LND_RULE_PAIR: the peer's interface.
 */
struct lnd_rule {
	uint32_t size;
	uint32_t kind;
	uint32_t priority;
	uint32_t network;
	uint64_t nid;
	uint64_t peer_nid;
};

/**
 * struct lnd_health_change - An entry of health's journal.
 * @size: sizeof(struct lnd_health_change).
 * @evidence: enum lnd_evidence.
 * @number: number of the change, from 0.
 * @at: when.
 * @cookie: the caller's value for the message that was the evidence; 0: none.
 * @ni: the interface.
 * @nid: its NID; 0: it was removed.
 * @from: health before, 0 to 1000.
 * @to: health after.
 * @up: 1 if it counts as up after the change.
 * @health_class: enum lnd_health_class of the message, refusal or ping that was the evidence; else
 *                0.
 */
struct lnd_health_change {
	uint32_t size;
	uint32_t evidence;
	uint64_t number;
	uint64_t at;
	uint64_t cookie;
	struct lnd_health_ni ni;
	uint64_t nid;
	uint32_t from;
	uint32_t to;
	uint32_t up;
	uint32_t health_class;
};

/**
 * struct lnd_path - The path of a message's next try.
 * @size: sizeof(struct lnd_path).
 * @routed: 1 if the hop is a router. Pass it in struct lnd_send_request unchanged.
 * @local: our interface.
 * @hop: the next hop's interface.
 * @destination: the peer's interface.
 * @stamp: the stamp in the header of this try.
 * @hop_nid: the next hop's NID.
 * @slice: time by which this try should have ended.
 */
struct lnd_path {
	uint32_t size;
	uint32_t routed;
	struct lnd_health_ni local;
	struct lnd_health_ni hop;
	struct lnd_health_ni destination;
	struct lnd_stamp stamp;
	uint64_t hop_nid;
	uint64_t slice;
};

/**
 * struct lnd_distance - The distance of a local interface from a message's memory and CPUs.
 * @device: distance from the device that has the memory, 0 to 255; 0 is the nearest.
 * @numa: distance from the CPUs in the machine's NUMA table, 0 to 4,095.
 */
struct lnd_distance {
	uint32_t device;
	uint32_t numa;
};

/**
 * struct lnd_health_route - Names a route in a health object.
 * @index: its place in the table.
 * @generation: use of the place.
 * @owner: the health object's own number.
 * @kind: kind of handle.
 *
 * The handle is stale once the route is removed.
 */
struct lnd_health_route {
	uint32_t index;
	uint32_t generation;
	uint32_t owner;
	uint32_t kind;
};

/**
 * struct lnd_health_info - The health of an interface.
 * @size: sizeof(struct lnd_health_info).
 * @value: health, 0 to 1000.
 * @nid: its NID.
 * @heard: when its last message arrived.
 * @in_flight: messages under way through it.
 * @up: 1 if it counts as up.
 * @fatal: 1 if the fabric has reported a fatal error of it.
 * @draining: 1 if no new message is sent through it.
 */
struct lnd_health_info {
	uint32_t size;
	uint32_t value;
	uint64_t nid;
	uint64_t heard;
	uint32_t in_flight;
	uint32_t up;
	uint32_t fatal;
	uint32_t draining;
};

/**
 * struct lnd_tracker - The wait for a message's answer (an ACK, a REPLY). It lies in the caller's
 * request. Before the first try it is zero except for @size.
 * @size: sizeof(struct lnd_tracker).
 * @state: enum lnd_tracker_state.
 * @deadline: when the answer is due.
 * @local: our interface of the last try.
 * @hop: the next hop's interface of the last try. A missing answer is evidence against this one
 *       only.
 */
struct lnd_tracker {
	uint32_t size;
	uint32_t state;
	uint64_t deadline;
	struct lnd_health_ni local;
	struct lnd_health_ni hop;
};

/**
 * struct lnd_arrival - A peer's request, from lnd_frame_in().
 * @size: sizeof(struct lnd_arrival).
 * @kind: enum lnd_request_kind.
 * @nid: the hop it came from.
 * @request: names it in lnd_recv(), lnd_reply(), lnd_nak() and lnd_keep().
 * @header: the upper layer's header, in the frame.
 * @payload: LND_REQUEST_IMMEDIATE: the payload, in the frame. Else NULL.
 * @header_len: bytes of the header.
 * @len: bytes offered (PUT) or wanted (GET). What a sender announces and sends is its own word:
 *       only the frame bounds an inline payload, not our @immediate_max of struct lnd_config, and
 *       nothing bounds the other two.
 * @now: the time of the frame.
 */
struct lnd_arrival {
	uint32_t size;
	uint32_t kind;
	uint64_t nid;
	struct lnd_request request;
	const void *header;
	const void *payload;
	uint32_t header_len;
	uint32_t len;
	uint64_t now;
};

/**
 * struct lnd_metric_info - What a metric is.
 * @size: sizeof(struct lnd_metric_info).
 * @kind: enum lnd_metric_kind.
 * @name: lower case, underscores. Names do not change between versions; numbers may.
 * @unit: what it counts, such as "transfers".
 * @help: what it means, in a sentence.
 */
struct lnd_metric_info {
	uint32_t size;
	uint32_t kind;
	uint8_t name[LND_METRIC_NAME];
	uint8_t unit[LND_METRIC_UNIT];
	uint8_t help[LND_METRIC_HELP];
};

/**
 * struct lnd_account - Where a transfer spent its time, who gave it up, and on what evidence.
 * @size: sizeof(struct lnd_account).
 * @wait: enum lnd_wait: what it waits for. LND_WAIT_REPORT if @ended.
 * @nid: the other side.
 * @points: when it passed each point of enum lnd_point. LND_NEVER: not yet, or not on its way.
 * @waits: ns that it spent in each wait of enum lnd_wait, until its last event.
 * @since: when its present wait began, or when it was reported.
 * @given_up: when it was cancelled or first lost something, or LND_NEVER.
 * @deadline: when its deadline passed, if it was late, or LND_NEVER.
 * @given_up_in: enum lnd_wait: what it waited for when it was given up.
 * @len: bytes.
 * @steps: its transitions.
 * @ended: 1 if it was reported.
 * @error: the negated errno of its report, or 0.
 * @health_class: enum lnd_health_class of its report.
 * @cause: enum lnd_cause: why it was lost, or 0.
 * @place: enum lnd_place: how far it had come, or 0.
 */
struct lnd_account {
	uint32_t size;
	uint32_t wait;
	uint64_t nid;
	uint64_t points[LND_POINTS];
	uint64_t waits[LND_WAITS];
	uint64_t since;
	uint64_t given_up;
	uint64_t deadline;
	uint32_t given_up_in;
	uint32_t len;
	uint32_t steps;
	uint32_t ended;
	uint32_t error;
	uint32_t health_class;
	uint32_t cause;
	uint32_t place;
};

/**
 * struct lnd_histogram - Times by powers of two.
 * @size: sizeof(struct lnd_histogram).
 * @reserved: 0.
 * @count: how many times.
 * @sum: their sum in ns. It wraps.
 * @min: the shortest, 0 if there is none.
 * @max: the longest, 0 if there is none.
 * @buckets: bucket 0 counts 0 ns, bucket n counts times from 2^(n-1) to 2^n - 1; bucket 40 also
 * all longer ones. They wrap at 32 bits.
 */
struct lnd_histogram {
	uint32_t size;
	uint32_t reserved;
	uint64_t count;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint32_t buckets[LND_BUCKETS];
};

/**
 * struct lnd_peer - Names a peer in the table of one NI.
 * @nid: its NID.
 * @index: its place in the table.
 * @generation: use of the place.
 * @ni: the NI's own number.
 * @kind: kind of handle.
 *
 * The handle is stale once the NI has removed the peer, even if the peer is added again with the
 * same NID. A host that often sends to one peer passes this handle in struct lnd_send_request.
 */
struct lnd_peer {
	uint64_t nid;
	uint32_t index;
	uint32_t generation;
	uint32_t ni;
	uint32_t kind;
};

/**
 * struct lnd_peer_info - The state of a peer.
 * @size: sizeof(struct lnd_peer_info).
 * @state: enum lnd_peer_state.
 * @peer: its handle.
 * @incarnation: its incarnation as known to this NI, or 0.
 * @last_heard: time of its last valid message, to some 17 ms.
 * @transfers: transfers with it.
 * @credits: requests that this NI may still send.
 * @in_flight: requests of this NI that the peer has not consumed yet.
 * @session: the session that this NI has opened.
 * @pulls: pulls from it that are under way.
 * @pulls_waiting: pulls from it that wait for a free one.
 */
struct lnd_peer_info {
	uint32_t size;
	uint32_t state;
	struct lnd_peer peer;
	uint64_t incarnation;
	uint64_t last_heard;
	uint32_t transfers;
	uint32_t credits;
	uint32_t in_flight;
	uint32_t session;
	uint32_t pulls;
	uint32_t pulls_waiting;
};

/**
 * struct lnd_blocker - What a drain or a shutdown waits for.
 * @size: sizeof(struct lnd_blocker).
 * @kind: enum lnd_blocker_kind.
 * @transfer: the transfer, if @kind is a transfer's.
 * @nid: its other side, or 0.
 * @until: the time that bounds the wait, or LND_NEVER.
 * @link: its link, or LND_ANY_LINK.
 * @word: the transfer's word, as lnd_dump() prints it.
 * @link_state: enum lnd_link_state, if @kind is LND_BLOCKER_LINK.
 * @reserved: 0.
 */
struct lnd_blocker {
	uint32_t size;
	uint32_t kind;
	struct lnd_transfer transfer;
	uint64_t nid;
	uint64_t until;
	uint32_t link;
	uint32_t word;
	uint32_t link_state;
	uint32_t reserved;
};

/**
 * struct lnd_stats - Gauges of one NI; counters have names, see lnd_counter_name().
 * @size: sizeof(struct lnd_stats).
 * @run_state: enum lnd_run_state.
 * @active: transfers that this NI has submitted.
 * @passive: transfers that peers have requested.
 * @peers: peers in the table.
 * @counters: number of counters, see lnd_counter().
 * @frames_control: frames of the control layer.
 * @frames_lnd: other frames.
 * @frames_bad: dropped frames, of all causes.
 * @frames_forged: of these, frames that name another sender than their channel does.
 * @completions: completions taken in interrupts.
 * @interrupts: calls of lnd_interrupt().
 * @misuses: calls refused as misuse: re-entry, wrong context, overlapping.
 */
struct lnd_stats {
	uint32_t size;
	uint32_t run_state;
	uint32_t active;
	uint32_t passive;
	uint32_t peers;
	uint32_t counters;
	uint64_t frames_control;
	uint64_t frames_lnd;
	uint64_t frames_bad;
	uint64_t frames_forged;
	uint64_t completions;
	uint64_t interrupts;
	uint64_t misuses;
};

/**
 * struct lnd_send_request - One message to send.
 * @size: sizeof(struct lnd_send_request).
 * @kind: enum lnd_kind.
 * @nid: the next hop, or 0 if @peer names it.
 * @link: the link to use, or LND_ANY_LINK. 0 is the first link and not any: while that link is
 *        down, the message ends at once with LND_CAUSE_LINK_DOWN. The peer uses its link of the
 *        same number. If that link is down, the peer refuses any request whose payload is not
 *        inside the message.
 * @routed: not 0 if the message is routed. A routed GET is not optimised.
 * @header: the upper layer's header; copied. May be NULL if it has no bytes.
 * @header_len: its bytes, at most LND_MAX_HEADER.
 * @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
 * @frags: what to send, or for a GET where the reply goes, see lnd_submit(). The vector is copied.
 *         The memory it names is lent until the report.
 * @deadline: when the transfer is cancelled, on the clock of every @now.
 * @user: the report returns it.
 * @peer: the next hop by its handle, which saves the lookup of its NID; all fields 0 if @nid names
 *        it.
 */
struct lnd_send_request {
	uint32_t size;
	uint32_t kind;
	uint64_t nid;
	uint32_t link;
	uint32_t routed;
	const void *header;
	const struct lnd_frag *frags;
	uint32_t header_len;
	uint32_t nfrags;
	uint64_t deadline;
	uint64_t user;
	struct lnd_peer peer;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * lnd_config_fault() - Finds the error in a configuration and its operations.
 * @config: the configuration; @nid, @incarnation and @rings are not checked.
 * @ops: the platform's operations, or NULL: then only the configuration is checked.
 *
 * Names the first field of struct lnd_config for which lnd_ni_create() returns LND_E_CONFIG,
 * LND_E_VERSION, LND_E_SIZE or LND_E_UNSUPPORTED. If there is none, names the first operation of
 * struct lnd_ops for which it returns LND_E_OPS: one that is missing, or that others exclude.
 *
 * Context: any.
 * Return: its name, such as "passive_slots" or "connection_stop"; "size" also for a misaligned
 * pointer, and for @config NULL; NULL: no error.
 */
const char *lnd_config_fault(const struct lnd_config *config, const struct lnd_ops *ops);

/**
 * lnd_config_init() - Fills in a configuration with the usual times.
 * @config: the configuration; every byte of it is written.
 * @abi_version: LND_ABI_VERSION.
 * @slots: transfers at once.
 * @peers: peers in the table.
 * @links: links.
 *
 * Writes 0 to @nid, @incarnation and @rings: the caller fills them in afterwards.
 * lnd_config_fault() checks the numbers; this call does not. The other fields become:
 *
 *   passive_slots   @slots / 4, at least 1
 *   lists           @slots, at most 1,024
 *   immediate_max   4,096 bytes
 *   depth           8
 *   pulls           8
 *   hello_tries     5
 *   batch           256
 *   connections     0
 *   policy          LND_POLICY_SEED
 *   flags           LND_CHECKSUM
 *   drain_bound     5 s
 *   hello_timeout   1 s
 *   credit_stall    2 s
 *   link_poll       1 ms
 *   decision_bound  50 s
 *
 * Add a flag with |=. A plain assignment of another flag drops LND_CHECKSUM: the node's frames
 * then have no checksum, and a node that has LND_CHECKSUM refuses them.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_VERSION.
 */
enum lnd_error lnd_config_init(struct lnd_config *config,
			       uint32_t abi_version,
			       uint32_t slots,
			       uint32_t peers,
			       uint32_t links);

/**
 * lnd_frame_size() - Bytes of the longest frame that an NI of this configuration sends.
 * @config: the configuration; @nid, @incarnation and @rings do not matter.
 *
 * lnd_ops.send must take frames of that many bytes. If the channel takes less, lower
 * @immediate_max: each byte of it is a byte of the frame, down to 224 bytes. lnd_soft_frame_max()
 * returns the limit of lnd_soft.
 *
 * Context: any.
 * Return: the bytes, or 0 if the configuration is not valid.
 */
size_t lnd_frame_size(const struct lnd_config *config);

/**
 * lnd_ring_size() - Bytes of ring memory that each link of this configuration needs.
 * @config: the configuration; @nid, @incarnation and @rings do not matter.
 *
 * Context: any.
 * Return: the bytes, or 0 if the configuration is not valid.
 */
size_t lnd_ring_size(const struct lnd_config *config);

/**
 * lnd_ring_format() - Prepares a link's ring memory before its engine is started.
 * @config: the configuration.
 * @base: the memory, aligned to LND_ALIGN; every byte in use is written.
 * @len: its bytes, at least lnd_ring_size().
 * @node: this node's number in the fabric, 0 to 255.
 * @features: the engine's capabilities: LND_FEATURE_REMOTE_COMPLETION and so on.
 *
 * Not for memory that a fabric has formatted, nor for a device that is running.
 *
 * Context: any, alone with the memory.
 * Return: LND_OK, LND_E_NULL, LND_E_SIZE, LND_E_ALIGN, LND_E_CONFIG, LND_E_VERSION, LND_E_ARGUMENT
 * (@node), LND_E_RING, LND_E_UNSUPPORTED (@connections, where the library has none).
 */
enum lnd_error lnd_ring_format(const struct lnd_config *config,
			       void *base,
			       size_t len,
			       uint32_t node,
			       uint32_t features);

/**
 * lnd_connection_up() - A connection can take frames.
 * @ni: the NI.
 * @link: the link.
 * @nid: the peer.
 * @now: the time.
 *
 * Frames that wait for room are tried at once, and not at the next @link_poll of struct
 * lnd_config. The call has no other effect: ready() and connection() of struct lnd_ops give a
 * connection's state.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_NO_PEER, LND_E_UNSUPPORTED (@connections of struct lnd_config is 0).
 */
enum lnd_error lnd_connection_up(struct lnd_ni *ni, uint32_t link, uint64_t nid, uint64_t now);

/**
 * lnd_connection_down() - A connection has failed.
 * @ni: the NI.
 * @link: the link.
 * @nid: the peer.
 * @number: the connection's number, from lnd_ops.connection. A report about a connection that has
 *          been reset since is stale. It does not fail the connection that replaced it.
 * @now: the time.
 *
 * Its transfers end with LND_CAUSE_CONNECTION_DOWN after it is proven stopped; their memory is
 * lent until then. Transfers with other peers continue. Messages for the peer wait, or use another
 * link: a connection that is down is not a peer that is down, see lnd_peer_event(). If
 * @connections of struct lnd_config are already out of service, the link is stopped instead. A
 * connection without a proof of its stop within two @drain_bound is stopped with its link.
 *
 * lnd_run() calls connection_stop() of struct lnd_ops, and later connection_reset(). A second
 * report of the same failure has no effect. A report while the link is being stopped has none
 * either: the link's reset resets the connection, possibly without a connection_stop() before.
 * On LND_E_NO_PEER and LND_E_LINK_DOWN no memory is lent to the peer on this link, and no call
 * follows: the host makes the connection anew by itself.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_NO_PEER, LND_E_LINK_DOWN (the link's reset is over), LND_E_STALE (@number is
 * not the current connection's), LND_E_UNSUPPORTED (@connections of struct lnd_config is 0, or
 * this peer has no connection of its own).
 */
enum lnd_error lnd_connection_down(struct lnd_ni *ni,
				   uint32_t link,
				   uint64_t nid,
				   uint32_t number,
				   uint64_t now);

/**
 * lnd_connection_stopped() - A connection is proven stopped.
 * @ni: the NI.
 * @link: the link.
 * @nid: the peer.
 * @number: the connection's number, from connection_stop() of struct lnd_ops.
 * @now: the time.
 *
 * The caller guarantees the same as connection_quiesced() of struct lnd_ops; a platform may use
 * both. If the guarantee is wrong, memory in use elsewhere is overwritten.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_NO_PEER, LND_E_STALE (@number is not the current connection's), LND_E_RUNNING
 * (the connection waits for no proof: no stop was requested, or the proof has already been given),
 * LND_E_UNSUPPORTED (as lnd_connection_down()).
 */
enum lnd_error lnd_connection_stopped(struct lnd_ni *ni,
				      uint32_t link,
				      uint64_t nid,
				      uint32_t number,
				      uint64_t now);

/**
 * lnd_connection_state_get() - The state of a connection.
 * @ni: the NI.
 * @link: the link.
 * @nid: the peer.
 * @state: where enum lnd_link_state is written; LND_LINK_UP: the connection is in service, or its
 *         whole link is out of service.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_NO_PEER, LND_E_UNSUPPORTED (@connections of struct lnd_config is 0).
 */
enum lnd_error lnd_connection_state_get(const struct lnd_ni *ni,
					uint32_t link,
					uint64_t nid,
					uint32_t *state);

/**
 * lnd_ni_size() - Bytes of memory that an NI of this configuration needs.
 * @config: the configuration; @nid, @incarnation and @rings do not matter.
 *
 * Context: any.
 * Return: the bytes, or 0 if the configuration is not valid.
 */
size_t lnd_ni_size(const struct lnd_config *config);

/**
 * lnd_ni_create() - Creates an NI in the caller's memory.
 * @mem: the memory, aligned to LND_ALIGN; the NI's until lnd_ni_destroy().
 * @len: its bytes, at least lnd_ni_size().
 * @config: sizes, times, identity and ring memory; copied.
 * @ops: the platform's operations; copied.
 * @ctx: passed to every operation.
 * @ni: where the NI's pointer is written.
 *
 * All links begin down; lnd_run() opens those that work. Of the operations, this call uses those
 * of registers and engine_features() only.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_SIZE, LND_E_ALIGN, LND_E_VERSION, LND_E_CONFIG, LND_E_OPS,
 * LND_E_MEMORY, LND_E_RING, LND_E_UNSUPPORTED (@connections, in a library without them).
 */
enum lnd_error lnd_ni_create(void *mem,
			     size_t len,
			     const struct lnd_config *config,
			     const struct lnd_ops *ops,
			     void *ctx,
			     struct lnd_ni **ni);

/**
 * lnd_ni_destroy() - Ends an NI. Its memory and its ring memory are the caller's again.
 * @ni: the NI.
 *
 * The NI must be LND_QUIESCENT with no report due: see lnd_shutdown(). No interrupt and no other
 * call may be under way or follow.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY (a
 * call is under way), LND_E_RUNNING (see lnd_blocker_next()).
 */
enum lnd_error lnd_ni_destroy(struct lnd_ni *ni);

/**
 * lnd_recv() - Takes a peer's PUT, all of it or its first bytes.
 * @ni: the NI.
 * @request: the request, of kind LND_REQUEST_IMMEDIATE or LND_REQUEST_PUT.
 * @decision: where to, and how much; a length of 0 receives nothing and still ends the request
 *            well.
 * @now: the time.
 * @transfer: where the transfer's handle is written; after LND_DONE it names none; may be NULL.
 * @report: filled in on LND_DONE; the caller sets its size. NULL: finalize() reports every end.
 *
 * On LND_OK exactly one finalize() follows, and the memory is lent until then. On LND_DONE the
 * transfer has ended, @report is its only report, and nothing is lent: this is the end of an
 * LND_REQUEST_IMMEDIATE whose frame is still in the channel. On LND_E_GONE the request has ended,
 * and so has a kept request on LND_E_STALE: its slot is in use again. On LND_E_WAIT the request
 * waits for its next offer, see lnd_frame_in(), or for another decision. On any other error it
 * still waits for its decision.
 *
 * The payload of an LND_REQUEST_IMMEDIATE can be received only while its frame is in the channel.
 * After lnd_keep(), lnd_recv() of more than 0 bytes returns LND_E_TOO_LONG. A host that needs more
 * time copies the payload first and later ends the request with lnd_nak(), which sends nothing to
 * the peer.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_DONE, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT,
 * LND_E_REENTRY, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE, LND_E_ARGUMENT, LND_E_GONE, LND_E_WAIT,
 * LND_E_WRONG_KIND, LND_E_FRAGMENTS, LND_E_ADDRESS, LND_E_TOO_LONG, LND_E_NO_LISTS.
 */
enum lnd_error lnd_recv(struct lnd_ni *ni,
			struct lnd_request request,
			const struct lnd_decision *decision,
			uint64_t now,
			struct lnd_transfer *transfer,
			struct lnd_report *report);

/**
 * lnd_reply() - Answers a peer's GET with local memory.
 * @ni: the NI.
 * @request: the request, of kind LND_REQUEST_GET.
 * @decision: where from, and how much.
 * @now: the time.
 * @transfer: where the transfer's handle is written; may be NULL.
 *
 * As lnd_recv(), in the other direction. It never ends at once.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: as lnd_recv(), without LND_DONE.
 */
enum lnd_error lnd_reply(struct lnd_ni *ni,
			 struct lnd_request request,
			 const struct lnd_decision *decision,
			 uint64_t now,
			 struct lnd_transfer *transfer);

/**
 * lnd_keep() - Keeps a peer's request for a later decision.
 * @ni: the NI.
 * @request: the request, from lnd_frame_in().
 * @now: the time.
 * @kept: where its handle from now on is written.
 *
 * On LND_OK the frame may be released: copy header and payload before the call. The request then
 * holds a slot and the peer's credit until lnd_recv(), lnd_reply() or lnd_nak(). It ends by itself
 * after @decision_bound of struct lnd_config, or, with LND_CANCEL_FIRST, when its sender cancels
 * it.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_FOREIGN, LND_E_STALE (also if it was kept before), LND_E_GONE, LND_E_WAIT (see
 * lnd_frame_in()).
 */
enum lnd_error lnd_keep(struct lnd_ni *ni,
			struct lnd_request request,
			uint64_t now,
			struct lnd_request *kept);

/**
 * lnd_nak() - Refuses a peer's request. No report follows.
 * @ni: the NI.
 * @request: the request.
 * @refusal: enum lnd_nak_reason. A NAK is sent to the peer, unless the payload was in the message.
 * @now: the time.
 *
 * An LND_REQUEST_IMMEDIATE whose frame is still in the channel needs no slot for this, and is over
 * whatever has happened since its offer. So a host may copy or pass on its payload first, and end
 * it by this call.
 *
 * For a request that has already ended this returns LND_OK, where lnd_recv() and lnd_reply()
 * return LND_E_GONE. A kept request whose slot is in use again has ended, too: LND_E_STALE.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_FOREIGN, LND_E_STALE, LND_E_ARGUMENT, LND_E_WAIT (see lnd_frame_in()).
 */
enum lnd_error lnd_nak(struct lnd_ni *ni,
		       struct lnd_request request,
		       uint32_t refusal,
		       uint64_t now);

/**
 * lnd_dump() - Writes a part of the state as text.
 * @ni: the NI.
 * @what: enum lnd_dump_what.
 * @cursor: 0 at first, then unchanged from the call before: where to continue.
 * @buf: where to write; no zero is appended.
 * @len: its bytes; 256 are enough for every line.
 * @written: where the number of bytes written is stored: whole lines only.
 *
 * Call it until it returns LND_E_END. The last lines come with that call: use @written then, too.
 * A change between two calls may appear twice or not at all.
 *
 * Context: thread. Takes the lock. Its work is bounded by the lines that fit @len bytes, and by
 * 1,024 free slots.
 * Return: LND_OK, LND_E_END (all has been written), LND_E_NULL, LND_E_ALIGN, LND_E_NI,
 * LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY, LND_E_ARGUMENT, LND_E_ROOM (no line fits).
 */
enum lnd_error lnd_dump(const struct lnd_ni *ni,
			uint32_t what,
			uint32_t *cursor,
			char *buf,
			size_t len,
			size_t *written);

/**
 * lnd_bound_count() - Number of bounds that an NI has.
 *
 * Context: any.
 * Return: the number.
 */
uint32_t lnd_bound_count(void);

/**
 * lnd_bound_get() - A bound in effect, and where it comes from.
 * @ni: the NI.
 * @bound: its number, from 0.
 * @info: filled in; the caller sets its size.
 *
 * The deadline of a message is none of them: it comes with the message.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY, LND_E_ARGUMENT (no such bound).
 */
enum lnd_error lnd_bound_get(const struct lnd_ni *ni, uint32_t bound, struct lnd_bound *info);

/**
 * lnd_error_errno() - The errno that is nearest to an error.
 * @error: enum lnd_error, or any number.
 *
 * Context: any.
 * Return: 0 for LND_OK, LND_DONE and LND_REQUEST, else a negative Linux errno; -EINVAL for a
 * number that is no error.
 */
int32_t lnd_error_errno(uint32_t error);

/**
 * lnd_error_health() - The health class of an error of a call that was to begin a transfer.
 * @error: enum lnd_error, or any number.
 *
 * An upper layer that has accepted a message already ends it with this class. Nothing was
 * delivered.
 *
 * Context: any.
 * Return: enum lnd_health_class: LND_HEALTH_OK for LND_OK, LND_DONE and LND_REQUEST;
 * LND_HEALTH_REMOTE_DROPPED for LND_E_GONE: the peer's request has ended with its peer, or by its
 * peer; LND_HEALTH_LOCAL_ERROR for what is the caller's, and for a number that is no error.
 */
uint32_t lnd_error_health(uint32_t error);

/**
 * lnd_error_name() - The name of an error, as in the header.
 * @error: enum lnd_error, or any number.
 *
 * Context: any.
 * Return: text such as "LND_E_NULL"; never NULL.
 */
const char *lnd_error_name(uint32_t error);

/**
 * lnd_health_next_action() - The next action that is due.
 * @health: the object.
 * @now: the time.
 * @action: filled in; the caller sets its size.
 *
 * The end of every action must be reported by the call that its kind names. The action takes a
 * place until then. After @action_bound it has failed, is counted ("untold"), and its handle is
 * stale.
 *
 * Context: the owner's. Bounded work.
 * Return: LND_OK, LND_E_END (no action is due, or the budget is spent), LND_E_NO_SLOTS (too many
 * are under way), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_health_next_action(struct lnd_health *health,
				      uint64_t now,
				      struct lnd_action *action);

/**
 * lnd_health_next_time() - When lnd_health_next_action() next has an action.
 * @health: the object.
 * @next: where the time is written; LND_NEVER: not before another call.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_health_next_time(const struct lnd_health *health, uint64_t *next);

/**
 * lnd_health_answered() - Reports the end of a ping.
 * @health: the object.
 * @action: the ping.
 * @health_class: enum lnd_health_class of its end; LND_HEALTH_OK: it was answered.
 * @now: the time.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
 * LND_E_STALE, LND_E_WRONG_KIND, LND_E_ARGUMENT.
 */
enum lnd_error lnd_health_answered(struct lnd_health *health,
				   const struct lnd_action *action,
				   uint32_t health_class,
				   uint64_t now);

/**
 * lnd_health_connected() - Reports the end of an attempt to connect.
 * @health: the object.
 * @action: the attempt.
 * @how: enum lnd_connected.
 * @now: the time.
 *
 * Context: the owner's.
 * Return: as lnd_health_answered().
 */
enum lnd_error lnd_health_connected(struct lnd_health *health,
				    const struct lnd_action *action,
				    uint32_t how,
				    uint64_t now);

/**
 * lnd_health_connection_lost() - The connection to a peer's interface is lost: connect again.
 * @health: the object.
 * @peer_ni: the interface.
 * @now: the time.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a local interface).
 */
enum lnd_error lnd_health_connection_lost(struct lnd_health *health,
					  struct lnd_health_ni peer_ni,
					  uint64_t now);

/**
 * lnd_health_connection_settled() - A peer's interface is connected, or needs no connection.
 * @health: the object.
 * @peer_ni: the interface.
 *
 * An attempt under way is over, and its handle is stale.
 *
 * Context: the owner's.
 * Return: as lnd_health_connection_lost().
 */
enum lnd_error lnd_health_connection_settled(struct lnd_health *health,
					     struct lnd_health_ni peer_ni);

/**
 * lnd_health_connection_get() - The state of the connection to a peer's interface.
 * @health: the object.
 * @peer_ni: the interface.
 * @state: where enum lnd_connection is written.
 * @until: where the time is written until which messages are refused, else 0; may be NULL.
 *
 * Context: the owner's.
 * Return: as lnd_health_connection_lost().
 */
enum lnd_error lnd_health_connection_get(const struct lnd_health *health,
					 struct lnd_health_ni peer_ni,
					 uint32_t *state,
					 uint64_t *until);

/**
 * lnd_health_shutdown() - Ends pings, probes, connections and resends.
 * @health: the object.
 * @remaining: where the number of messages under way is written; may be NULL. Call until it is 0.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_health_shutdown(struct lnd_health *health, uint32_t *remaining);

/**
 * lnd_stamp_write() - Writes a stamp into a message's header.
 * @stamp: the stamp.
 * @header: where its LND_STAMP_BYTES bytes are written; any alignment.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN.
 */
enum lnd_error lnd_stamp_write(const struct lnd_stamp *stamp, uint8_t *header);

/**
 * lnd_stamp_read() - Reads the stamp in a message's header.
 * @header: its LND_STAMP_BYTES bytes; any alignment.
 * @stamp: where the stamp is written.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN.
 */
enum lnd_error lnd_stamp_read(const uint8_t *header, struct lnd_stamp *stamp);

/**
 * lnd_health_peer_incarnation() - Reports the incarnation that a handshake with a peer has shown.
 * @health: the object.
 * @peer: the peer, which already has an interface.
 * @incarnation: its incarnation: @incarnation of struct lnd_peer_info when LND_EVENT_PEER reports
 *               the peer as good.
 *
 * Call it for each such event of each NI, before any other call about that incarnation,
 * lnd_health_arrived() included. The same incarnation again has no effect, nor has an earlier one
 * from a delayed handshake. After a new one, a message that may have reached an earlier one is not
 * resent.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_ARGUMENT (0, or the peer has no interface).
 */
enum lnd_error lnd_health_peer_incarnation(struct lnd_health *health,
					   struct lnd_health_peer peer,
					   uint64_t incarnation);

/**
 * lnd_health_arrived() - Checks whether a peer's request is a duplicate.
 * @health: the object.
 * @peer: the sender of the message.
 * @stamp: the stamp in its header.
 * @check: where enum lnd_window_check is written: how to handle it.
 *
 * Call it for a request of lnd_frame_in(), before the upper layer receives it. After
 * LND_WINDOW_FIRST the message is *coming*, until lnd_health_message_received() or
 * lnd_health_message_not_received(), one of which must follow. A message without a number is
 * always LND_WINDOW_FIRST.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_arrived(struct lnd_health *health,
				  struct lnd_health_peer peer,
				  const struct lnd_stamp *stamp,
				  uint32_t *check);

/**
 * lnd_health_message_received() - Reports that a first copy was received.
 * @health: the object.
 * @peer: the sender of the message.
 * @stamp: its stamp.
 *
 * Call it when the finalize() of its lnd_recv() reports no error. Later copies are
 * LND_WINDOW_SECOND. The call has no effect on a message that is not coming.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_message_received(struct lnd_health *health,
					   struct lnd_health_peer peer,
					   const struct lnd_stamp *stamp);

/**
 * lnd_health_message_not_received() - Reports that a first copy was not received.
 * @health: the object.
 * @peer: the sender of the message.
 * @stamp: its stamp.
 *
 * Call it when the finalize() of its lnd_recv() reports an error, when lnd_recv() itself fails,
 * and when the request is refused. The next copy is LND_WINDOW_FIRST again. The call has no effect
 * on a message that is not coming.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_message_not_received(struct lnd_health *health,
					       struct lnd_health_peer peer,
					       const struct lnd_stamp *stamp);

/**
 * lnd_health_config_init() - Fills in a configuration with the usual numbers.
 * @config: the configuration; every byte of it is written.
 * @abi_version: LND_ABI_VERSION.
 * @locals: local interfaces.
 * @peers: peers.
 * @peer_nis: interfaces of all peers together.
 *
 * @incarnation stays 0 and is left for the caller to fill in.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_VERSION.
 */
enum lnd_error lnd_health_config_init(struct lnd_health_config *config,
				      uint32_t abi_version,
				      uint32_t locals,
				      uint32_t peers,
				      uint32_t peer_nis);

/**
 * lnd_health_size() - Bytes of memory for a health object of this configuration.
 * @config: the configuration; its @incarnation does not matter.
 *
 * Context: any.
 * Return: the bytes, or 0 if the configuration is not valid.
 */
size_t lnd_health_size(const struct lnd_health_config *config);

/**
 * lnd_health_create() - Creates a node's health in the caller's memory.
 * @mem: the memory, aligned to LND_ALIGN; the object's until lnd_health_destroy(). Initialised:
 *       zero it before the first object, and leave it unchanged between two objects.
 * @len: its bytes, at least lnd_health_size().
 * @config: sizes and knobs; copied.
 * @now: the time.
 * @health: where the object's pointer is written.
 *
 * Create one object for each incarnation of the node: its numbers start again with it.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_SIZE, LND_E_ALIGN, LND_E_VERSION, LND_E_CONFIG, LND_E_MEMORY.
 */
enum lnd_error lnd_health_create(void *mem,
				 size_t len,
				 const struct lnd_health_config *config,
				 uint64_t now,
				 struct lnd_health **health);

/**
 * lnd_health_destroy() - Ends a health object; its memory is the caller's again.
 * @health: the object.
 *
 * Messages and actions under way are discarded.
 *
 * Context: any; no other call is under way or follows.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_health_destroy(struct lnd_health *health);

/**
 * lnd_health_ended() - Reports the end of a try, from finalize().
 * @health: the object.
 * @attempts: the message.
 * @report: the report.
 * @now: the time.
 * @result: filled in; the caller sets its size.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
 * LND_E_STALE, LND_E_ARGUMENT.
 */
enum lnd_error lnd_health_ended(struct lnd_health *health,
				struct lnd_attempts attempts,
				const struct lnd_report *report,
				uint64_t now,
				struct lnd_outcome *result);

/**
 * lnd_health_refused() - Reports that lnd_submit() has refused a try.
 * @health: the object.
 * @attempts: the message.
 * @error: what lnd_submit() returned.
 * @now: the time.
 * @result: filled in; the caller sets its size.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
 * LND_E_STALE.
 */
enum lnd_error lnd_health_refused(struct lnd_health *health,
				  struct lnd_attempts attempts,
				  uint32_t error,
				  uint64_t now,
				  struct lnd_outcome *result);

/**
 * lnd_health_give_up() - Ends a message, with or without a try under way.
 * @health: the object.
 * @attempts: the message.
 * @result: filled in, with what is known of delivery; the caller sets its size. May be NULL.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_NULL (the object).
 */
enum lnd_error lnd_health_give_up(struct lnd_health *health,
				  struct lnd_attempts attempts,
				  struct lnd_outcome *result);

/**
 * lnd_health_drain_local() - Takes a local interface out of use for maintenance, or back into use.
 * @health: the object.
 * @local: the interface.
 * @drain: 1: no new message is sent through it; 0: it is used again.
 * @now: the time.
 * @remaining: where the number of messages under way through it is written; may be NULL. Call
 *             until it is 0.
 *
 * Messages under way end as usual. The interface's health does not change.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a peer's interface).
 */
enum lnd_error lnd_health_drain_local(struct lnd_health *health,
				      struct lnd_health_ni local,
				      uint32_t drain,
				      uint64_t now,
				      uint32_t *remaining);

/**
 * lnd_health_drain_peer() - Does the same for all current interfaces of a peer.
 * @health: the object.
 * @peer: the peer.
 * @drain: 1: no new message is sent to it; 0: it is used again.
 * @now: the time.
 * @remaining: where the number of messages under way to it is written, including those between two
 *             tries; may be NULL.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_drain_peer(struct lnd_health *health,
				     struct lnd_health_peer peer,
				     uint32_t drain,
				     uint64_t now,
				     uint32_t *remaining);

/**
 * lnd_health_set_credits() - Sets an interface's remaining send credits, for selection.
 * @health: the object.
 * @ni: the interface, local or a peer's.
 * @credits: credits left, less the messages that wait for one.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_set_credits(struct lnd_health *health,
				      struct lnd_health_ni ni,
				      int32_t credits);

/**
 * lnd_health_set_sensitivity() - Sets by how much a failure decrements an interface's health.
 * @health: the object.
 * @ni: the interface, local or a peer's.
 * @sensitivity: 0 to 1000; LND_NO_SENSITIVITY: as in the configuration.
 *
 * With 0 the health stays as it is: answered pings do not raise it either. An interface that is
 * down is first set up with lnd_health_set().
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_FOREIGN,
 * LND_E_STALE.
 */
enum lnd_error lnd_health_set_sensitivity(struct lnd_health *health,
					  struct lnd_health_ni ni,
					  uint32_t sensitivity);

/**
 * lnd_health_set_rules() - Replaces the user-defined selection policies.
 * @health: the object.
 * @rules: the rules; a later one overrides an earlier one; may be NULL if there are none.
 * @count: how many, 0 to LND_MAX_RULES.
 *
 * The rules apply to what exists now: call again after an interface, a peer or a route was added.
 * What matches no rule has priority 0 and no preference. A route's own priority, from
 * lnd_health_set_route(), is added to that of its gateway's rule.
 *
 * Context: the owner's. Visits all tables for each rule.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
 */
enum lnd_error lnd_health_set_rules(struct lnd_health *health,
				    const struct lnd_rule *rules,
				    uint32_t count);

/**
 * lnd_health_journal_next() - Reads the next entry of health's journal.
 * @health: the object.
 * @next: the number of the change to read, 0 at first; the number after it is written there.
 * @change: filled in; the caller sets its size.
 *
 * An entry states which interface changed, when, and on which evidence.
 *
 * The journal keeps the number of changes in the configuration. A slow reader misses the oldest
 * changes, and detects it by the @number of the change.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_END (no such change yet), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI,
 * LND_E_BUSY.
 */
enum lnd_error lnd_health_journal_next(struct lnd_health *health,
				       uint64_t *next,
				       struct lnd_health_change *change);

/**
 * lnd_health_open() - Opens a message to a peer.
 * @health: the object.
 * @peer: the peer.
 * @deadline: the one deadline, over all tries.
 * @resend: 1 if it may be resent.
 * @cookie: the caller's value for it, in the journal.
 * @attempts: where the handle is written.
 *
 * lnd_health_ended(), lnd_health_refused() or lnd_health_give_up() ends it.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (the
 * peer was removed), LND_E_NO_SLOTS.
 */
enum lnd_error lnd_health_open(struct lnd_health *health,
			       struct lnd_health_peer peer,
			       uint64_t deadline,
			       uint32_t resend,
			       uint64_t cookie,
			       struct lnd_attempts *attempts);

/**
 * lnd_health_bind() - Binds a message to a local interface, to its peer's, or to both.
 * @health: the object.
 * @attempts: the message, before its first lnd_health_begin().
 * @local: the local interface; all 0: any.
 * @peer_ni: the peer's interface; all 0: any.
 *
 * A response that is bound takes the path of its request.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND, LND_E_ARGUMENT (an interface of another peer), LND_E_RUNNING (a try has
 * begun).
 */
enum lnd_error lnd_health_bind(struct lnd_health *health,
			       struct lnd_attempts attempts,
			       struct lnd_health_ni local,
			       struct lnd_health_ni peer_ni);

/**
 * lnd_health_begin() - Selects the path of a message's next try and begins the try.
 * @health: the object.
 * @attempts: the message.
 * @now: the time.
 * @path: filled in; the caller sets its size.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
 * LND_E_STALE, LND_E_NO_ROUTE (no allowed path; call lnd_health_give_up() next), LND_E_DEADLINE
 * (no further try may begin; the same), LND_E_RUNNING (a try is under way), LND_E_WAIT (not before
 * lnd_health_next_try(); no effect).
 */
enum lnd_error lnd_health_begin(struct lnd_health *health,
				struct lnd_attempts attempts,
				uint64_t now,
				struct lnd_path *path);

/**
 * lnd_health_begin_near() - As lnd_health_begin(), and prefers near interfaces.
 * @health: the object.
 * @attempts: the message.
 * @distances: the distance of each local interface, by its @index.
 * @count: how many, 0 to 32; interfaces without an entry are near.
 * @now: the time.
 * @path: filled in; the caller sets its size.
 *
 * Near interfaces are those near the message's memory and CPUs.
 *
 * Health, an operator's rules and earlier tries take precedence over distances.
 *
 * Context: the owner's.
 * Return: as lnd_health_begin(), LND_E_ARGUMENT.
 */
enum lnd_error lnd_health_begin_near(struct lnd_health *health,
				     struct lnd_attempts attempts,
				     const struct lnd_distance *distances,
				     uint32_t count,
				     uint64_t now,
				     struct lnd_path *path);

/**
 * lnd_health_next_try() - The earliest time of a message's next try.
 * @health: the object.
 * @attempts: the message.
 * @time: where the time is written; 0: now.
 *
 * After LND_NEXT_LATER the message pauses, because every path has just failed: call
 * lnd_health_begin() at this time. The time becomes earlier when an interface has recovered.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_next_try(const struct lnd_health *health,
				   struct lnd_attempts attempts,
				   uint64_t *time);

/**
 * lnd_prober_offer() - Sets the kinds of probe that the transport offers.
 * @health: the object.
 * @kinds: a bit for each enum lnd_probe_kind.
 *
 * The illegal read stays off until lnd_prober_tried().
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
 */
enum lnd_error lnd_prober_offer(struct lnd_health *health, uint32_t kinds);

/**
 * lnd_prober_tried() - Reports a successful trial of the illegal read.
 * @health: the object.
 *
 * The trial ran over an endpoint made for it. It ended with an access error and left both ends
 * usable.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_prober_tried(struct lnd_health *health);

/**
 * lnd_prober_watch() - Probes a peer's interface from now on, when it is idle.
 * @health: the object.
 * @peer_ni: the interface.
 * @one_way: 1 if this node only receives from it.
 * @now: the time.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a local interface).
 */
enum lnd_error lnd_prober_watch(struct lnd_health *health,
				struct lnd_health_ni peer_ni,
				uint32_t one_way,
				uint64_t now);

/**
 * lnd_prober_unwatch() - Stops probing a peer's interface.
 * @health: the object.
 * @peer_ni: the interface.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a local interface).
 */
enum lnd_error lnd_prober_unwatch(struct lnd_health *health, struct lnd_health_ni peer_ni);

/**
 * lnd_prober_turn_on() - Turns on the NOOP, which is offered and off by default.
 * @health: the object.
 * @kind: enum lnd_probe_kind.
 *
 * The NOOP needs the peer's cooperation and one of its receive buffers.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_UNSUPPORTED
 * (it is not offered, or was not tried).
 */
enum lnd_error lnd_prober_turn_on(struct lnd_health *health, uint32_t kind);

/**
 * lnd_prober_user() - Counts the users of a peer's interface on this node.
 * @health: the object.
 * @peer_ni: the interface.
 * @enters: 1: one more; 0: one less.
 * @users: where their number is written; may be NULL. After LND_FINDING_CLEAN_UP this many must be
 *         notified.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_WRONG_KIND,
 * LND_E_STALE.
 */
enum lnd_error lnd_prober_user(struct lnd_health *health,
			       struct lnd_health_ni peer_ni,
			       uint32_t enters,
			       uint32_t *users);

/**
 * lnd_prober_state() - Reports the state of a peer's interface to the prober.
 * @health: the object.
 * @peer_ni: the interface.
 * @active: 1: its traffic shows that it is up.
 * @published: 1: its peer has published a word for probing.
 * @urgent: 1: work waits for the result, probe it first.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a local interface).
 */
enum lnd_error lnd_prober_state(struct lnd_health *health,
				struct lnd_health_ni peer_ni,
				uint32_t active,
				uint32_t published,
				uint32_t urgent);

/**
 * lnd_prober_migrating() - Reports that a peer's interface moves to another path, or has moved.
 * @health: the object.
 * @peer_ni: the interface.
 * @migrating: 1: the move has begun, and the interface is not probed during it; 0: the move is
 *             over.
 *
 * Earlier dead results no longer count.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a local interface).
 */
enum lnd_error lnd_prober_migrating(struct lnd_health *health,
				    struct lnd_health_ni peer_ni,
				    uint32_t migrating);

/**
 * lnd_prober_ended() - Reports the end of a probe.
 * @health: the object.
 * @action: the probe.
 * @end: enum lnd_probe_end.
 * @now: the time.
 * @finding: where enum lnd_finding is written.
 *
 * Context: the owner's.
 * Return: as lnd_health_answered().
 */
enum lnd_error lnd_prober_ended(struct lnd_health *health,
				const struct lnd_action *action,
				uint32_t end,
				uint64_t now,
				uint32_t *finding);

/**
 * lnd_health_add_route() - Adds a route: a network that is reached through a gateway.
 * @health: the object.
 * @network: the far network's number, the upper half of the NIDs on it.
 * @gateway: the gateway's interface on one of this node's networks: the next hop.
 * @route: where its name is written.
 *
 * The route is alive, has one hop and the best priority until lnd_health_set_route() changes that.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a local interface), LND_E_PEERS_FULL, LND_E_NO_ROUTE (too many networks).
 */
enum lnd_error lnd_health_add_route(struct lnd_health *health,
				    uint32_t network,
				    struct lnd_health_ni gateway,
				    struct lnd_health_route *route);

/**
 * lnd_health_set_route() - Sets the state of a route.
 * @health: the object.
 * @route: the route.
 * @priority: 0 to 65,535; 0 is the best.
 * @hops: gateways on the path, 0 to 255.
 * @alive: 1 if the gateway is up and its interfaces on both sides are up.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_FOREIGN,
 * LND_E_STALE.
 */
enum lnd_error lnd_health_set_route(struct lnd_health *health,
				    struct lnd_health_route route,
				    uint32_t priority,
				    uint32_t hops,
				    uint32_t alive);

/**
 * lnd_health_remove_route() - Removes a route.
 * @health: the object.
 * @route: the route.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_remove_route(struct lnd_health *health, struct lnd_health_route route);

/**
 * lnd_health_add_local() - Adds a local interface, at full health.
 * @health: the object.
 * @nid: its NID.
 * @local: where its name is written.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_KNOWN,
 * LND_E_ARGUMENT, LND_E_PEERS_FULL, LND_E_NO_ROUTE (too many networks).
 */
enum lnd_error lnd_health_add_local(struct lnd_health *health,
				    uint64_t nid,
				    struct lnd_health_ni *local);

/**
 * lnd_health_remove_local() - Removes a local interface.
 * @health: the object.
 * @local: the interface.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a peer's interface), LND_E_RUNNING (messages are under way).
 */
enum lnd_error lnd_health_remove_local(struct lnd_health *health, struct lnd_health_ni local);

/**
 * lnd_health_add_peer() - Adds a peer, without interfaces.
 * @health: the object.
 * @router: 1 if it routes.
 * @suppresses: 1 if it recognises duplicates by their number.
 * @peer: where its name is written.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_PEERS_FULL.
 */
enum lnd_error lnd_health_add_peer(struct lnd_health *health,
				   uint32_t router,
				   uint32_t suppresses,
				   struct lnd_health_peer *peer);

/**
 * lnd_health_add_peer_ni() - Adds an interface of a peer, at full health.
 * @health: the object.
 * @peer: the peer.
 * @nid: the interface's NID.
 * @peer_ni: where its name is written.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_KNOWN,
 * LND_E_ARGUMENT, LND_E_FOREIGN, LND_E_STALE (the peer was removed), LND_E_PEERS_FULL,
 * LND_E_NO_ROUTE (too many networks).
 */
enum lnd_error lnd_health_add_peer_ni(struct lnd_health *health,
				      struct lnd_health_peer peer,
				      uint64_t nid,
				      struct lnd_health_ni *peer_ni);

/**
 * lnd_health_remove_peer() - Removes a peer with its interfaces.
 * @health: the object.
 * @peer: the peer.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_RUNNING (messages are under way, or a route uses it as its gateway).
 */
enum lnd_error lnd_health_remove_peer(struct lnd_health *health, struct lnd_health_peer peer);

/**
 * lnd_health_get() - The health of an interface.
 * @health: the object.
 * @ni: the interface, local or a peer's.
 * @info: filled in; the caller sets its size.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
 * LND_E_STALE.
 */
enum lnd_error lnd_health_get(const struct lnd_health *health,
			      struct lnd_health_ni ni,
			      struct lnd_health_info *info);

/**
 * lnd_health_set() - Sets an interface's health, for an operator.
 * @health: the object.
 * @ni: the interface, local or a peer's.
 * @value: 0 to 1000.
 * @now: the time.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_FOREIGN,
 * LND_E_STALE.
 */
enum lnd_error lnd_health_set(struct lnd_health *health,
			      struct lnd_health_ni ni,
			      uint32_t value,
			      uint64_t now);

/**
 * lnd_health_received() - Reports that a message came from a peer's interface.
 * @health: the object.
 * @peer_ni: the peer's interface.
 * @local: the local interface; all 0 if it is not known.
 * @now: the time.
 *
 * The interface is then up.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND.
 */
enum lnd_error lnd_health_received(struct lnd_health *health,
				   struct lnd_health_ni peer_ni,
				   struct lnd_health_ni local,
				   uint64_t now);

/**
 * lnd_health_fatal() - The fabric reports a fatal error of a local interface, or its end.
 * @health: the object.
 * @local: the interface.
 * @fatal: 1 or 0.
 * @now: the time.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND.
 */
enum lnd_error lnd_health_fatal(struct lnd_health *health,
				struct lnd_health_ni local,
				uint32_t fatal,
				uint64_t now);

/**
 * lnd_health_counter_name() - The name of a counter of a health object.
 * @counter: its number, from 0.
 *
 * Context: any.
 * Return: text such as "stale_names", or NULL: there is no such counter.
 */
const char *lnd_health_counter_name(uint32_t counter);

/**
 * lnd_health_counter() - The value of a counter.
 * @health: the object.
 * @counter: its number.
 * @value: where the value is written.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
 */
enum lnd_error lnd_health_counter(const struct lnd_health *health,
				  uint32_t counter,
				  uint64_t *value);

/**
 * lnd_tracker_sent() - Reports a try of a message that wants an answer.
 * @tracker: the wait. Before the first try @size is set, and the rest is 0.
 * @path: the path of this try.
 * @now: the time.
 * @timeout: ns from the first try within which the answer is due.
 *
 * The wait begins with the first try.
 *
 * A later try changes the path, but not the time.
 *
 * Context: any; the tracker is the caller's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_STALE (the wait is over),
 * LND_E_ARGUMENT (not a state of a tracker).
 */
enum lnd_error lnd_tracker_sent(struct lnd_tracker *tracker,
				const struct lnd_path *path,
				uint64_t now,
				uint64_t timeout);

/**
 * lnd_tracker_end() - Ends the wait: the answer arrived, or is not awaited any more.
 * @tracker: the wait.
 *
 * Call it also if the message could not be sent.
 *
 * Only the first end counts. A late answer gets LND_E_STALE; count it and drop it.
 *
 * Context: any; the tracker is the caller's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_STALE (no wait is open).
 */
enum lnd_error lnd_tracker_end(struct lnd_tracker *tracker);

/**
 * lnd_tracker_expire() - Ends the wait if the answer is overdue.
 * @health: the object that @path of lnd_tracker_sent() came from.
 * @tracker: the wait.
 * @cookie: the caller's value for the message, in the journal.
 * @now: the time.
 *
 * Only the next hop loses health: there is no evidence about the path beyond it. No message is
 * resent. An interface that was removed since loses none.
 *
 * Context: the owner's.
 * Return: LND_OK (it was overdue), LND_E_WAIT (it is not overdue; call again at @deadline),
 * LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (no wait
 * is open).
 */
enum lnd_error lnd_tracker_expire(struct lnd_health *health,
				  struct lnd_tracker *tracker,
				  uint64_t cookie,
				  uint64_t now);

/**
 * lnd_interrupt() - A link's engine has raised an interrupt.
 * @ni: the NI.
 * @link: the link.
 * @budget: most completions to take, at least 1.
 * @now: the time.
 * @more: 1 is written if the budget ran out, else 0; may be NULL.
 *
 * Acknowledges the engine's interrupt, takes completions, decides transfers, and wakes the thread
 * if a report is due. Call it again if @more is 1; a call without need is harmless. An interrupt
 * status that no working device shows is counted. No completion is taken then, and the link fails
 * until the device is proven stopped: see lnd_assert_stopped().
 *
 * Context: any; one call at a time for each link, links concurrently. Takes no lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_ARGUMENT, LND_E_BUSY (a
 * call for this link is under way; nothing was done), LND_E_UNSUPPORTED (the engine is operations,
 * see lnd_completed()).
 */
enum lnd_error lnd_interrupt(struct lnd_ni *ni,
			     uint32_t link,
			     uint32_t budget,
			     uint64_t now,
			     uint32_t *more);

/**
 * lnd_completed() - A descriptor came back from an engine that is operations.
 * @ni: the NI.
 * @link: the link on which it was posted.
 * @tag: its tag.
 * @returned: enum lnd_returned, except LND_RETURNED_UNKNOWN.
 * @now: the time.
 *
 * The engine no longer reads or writes the descriptor's memory, and no key of it is valid; for a
 * staged descriptor this holds for every node's engine. Decides the transfer, and wakes the thread
 * if a report is due. A tag that is not out, on this link and of this generation, is counted and
 * has no effect.
 *
 * Context: any, also inside, concurrently. Takes no lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_ARGUMENT (@returned),
 * LND_E_UNSUPPORTED (the engine has registers, see lnd_interrupt()).
 */
enum lnd_error lnd_completed(struct lnd_ni *ni,
			     uint32_t link,
			     struct lnd_tag tag,
			     uint32_t returned,
			     uint64_t now);

/**
 * lnd_link_failed() - The platform reports that a link has failed.
 * @ni: the NI.
 * @link: the link.
 *
 * Closes the link's gate at once and wakes the thread, which does the rest.
 *
 * Context: any. Takes no lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK.
 */
enum lnd_error lnd_link_failed(struct lnd_ni *ni, uint32_t link);

/**
 * lnd_frame_in() - A short message has arrived.
 * @ni: the NI.
 * @link: the link on which it arrived.
 * @sender: the NID of the node that has sent it, as the channel knows it: the writer of the
 *          mailbox, the other end of the connection. LND_NID_UNKNOWN if the channel does not know
 *          it.
 * @frame: its bytes. Except after LND_REQUEST they may be reused when the call returns.
 * @len: their number.
 * @now: the time.
 * @arrival: filled in on LND_REQUEST; the caller sets its size.
 *
 * Pass frames of one peer, link and lane in their order. The library handles the control layer's
 * frames and answers itself. A frame that is malformed, or whose sender is not valid, is dropped
 * and counted.
 *
 * On LND_REQUEST the frame is a peer's request, which the host decides: lnd_recv() (PUT),
 * lnd_reply() (GET), lnd_nak(), or lnd_keep() to decide later. Until then nothing of it has an
 * effect, and the frame must stay unchanged: @header and @payload of @arrival point into it. Its
 * place in the channel is free once one of these calls has returned LND_OK, LND_DONE or
 * LND_E_GONE. All other calls are allowed before. A request that is not decided stays in the
 * channel and is offered again, as after LND_E_WAIT. The next frame on the same link makes its
 * handle stale.
 *
 * A frame that names another sender than @sender is dropped and counted (lnd_stats.frames_forged).
 * With LND_NID_UNKNOWN the sender in the frame is trusted: each node that reaches the channel can
 * then send in the name of every other node, open and end its sessions, return its credits and
 * fail its requests. Use it only where every node that reaches the channel is trusted.
 *
 * The effects of a waiting frame may be due earlier than the time that the last lnd_run() gave:
 * wake() is called then.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK (handled or dropped), LND_REQUEST, LND_E_WAIT (no slot, no free entry in the
 * table of peers, the sender has not answered our HELLO, or has reached its limit of undecided
 * requests: keep the frame, and offer it again after wake(), after a control frame, and when an
 * earlier frame of its sender was taken), LND_E_FRAME (malformed or forged; dropped),
 * LND_E_ARGUMENT (@sender is 0), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT,
 * LND_E_REENTRY, LND_E_BUSY, LND_E_LINK.
 */
enum lnd_error lnd_frame_in(struct lnd_ni *ni,
			    uint32_t link,
			    uint64_t sender,
			    const void *frame,
			    size_t len,
			    uint64_t now,
			    struct lnd_arrival *arrival);

/**
 * lnd_sent() - A short message has ended.
 * @ni: the NI.
 * @message: from struct lnd_frame; once for each tracked frame after LND_SEND_PENDING.
 * @how: enum lnd_sent_how.
 * @now: the time.
 *
 * A second end of the same message is counted and has no effect.
 *
 * Context: any, also in send(). Takes no lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_FOREIGN, LND_E_STALE (no handle of a
 * message), LND_E_ARGUMENT.
 */
enum lnd_error lnd_sent(struct lnd_ni *ni, struct lnd_message message, uint32_t how, uint64_t now);

/**
 * lnd_frame_about() - The staged descriptor that a frame is about.
 * @frame: the frame, as lnd_ops.send() was given it.
 * @tag: receives the descriptor's tag, or 0.
 *
 * For engines that are operations and chain their own work to frames: a registration in front of
 * the frame that carries its key, an invalidation of the peer's key behind a pull or push. A frame
 * that ends one and had to wait for its way is LND_ABOUT_NOTHING: the peer may have been told
 * otherwise meanwhile, and has taken its memory back by itself.
 *
 * Context: any, while lnd_ops.send() has the frame. Takes no lock.
 * Return: enum lnd_about; LND_ABOUT_NOTHING also for a pointer that is wrong, and in a library
 * without engines that are operations.
 */
uint32_t lnd_frame_about(const struct lnd_frame *frame, struct lnd_tag *tag);

/**
 * lnd_metric_count() - Number of metrics of an NI: its counters and gauges.
 *
 * Context: any.
 * Return: the number. The first lnd_counter_count() of them are those of lnd_counter().
 */
uint32_t lnd_metric_count(void);

/**
 * lnd_metric_info_get() - What a metric is: name, unit, kind, help.
 * @metric: its number, from 0.
 * @info: filled in; the caller sets its size.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_ARGUMENT (no such metric).
 */
enum lnd_error lnd_metric_info_get(uint32_t metric, struct lnd_metric_info *info);

/**
 * lnd_metrics_read() - The values of metrics, all of one moment.
 * @ni: the NI.
 * @values: where they are written, in the order of their numbers.
 * @count: how many: at most lnd_metric_count().
 *
 * Two calls give a difference: counters wrap at 64 bits. Visits all peers, and all slots of links
 * that have failed.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_ARGUMENT (there are not so many).
 */
enum lnd_error lnd_metrics_read(const struct lnd_ni *ni, uint64_t *values, uint32_t count);

/**
 * lnd_metrics_write() - Writes all metrics as text, for people or for programs.
 * @ni: the NI.
 * @format: enum lnd_metric_format.
 * @cursor: 0 at first, then unchanged from the call before: where to continue.
 * @buf: where to write; no zero is appended.
 * @len: its bytes; 512 are enough for every metric.
 * @written: where the number of bytes written is stored: whole metrics only.
 *
 * Call it until it returns LND_E_END. The last metrics come with that call: use @written then,
 * too. What one call writes is of one moment.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_END (all has been written), LND_E_NULL, LND_E_ALIGN, LND_E_NI,
 * LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY, LND_E_ARGUMENT, LND_E_ROOM (no metric fits).
 */
enum lnd_error lnd_metrics_write(const struct lnd_ni *ni,
				 uint32_t format,
				 uint32_t *cursor,
				 char *buf,
				 size_t len,
				 size_t *written);

/**
 * lnd_about_name() - The name of a constant of enum lnd_about.
 * @value: enum lnd_about, or any number.
 *
 * Context: any.
 * Return: text such as "LND_ABOUT_STAGED", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_about_name(uint32_t value);

/**
 * lnd_motion_name() - The name of a constant of enum lnd_motion.
 * @value: enum lnd_motion, or any number.
 *
 * Context: any.
 * Return: text such as "LND_MOTION_STAGE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_motion_name(uint32_t value);

/**
 * lnd_post_name() - The name of a constant of enum lnd_post.
 * @value: enum lnd_post, or any number.
 *
 * Context: any.
 * Return: text such as "LND_POST_DONE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_post_name(uint32_t value);

/**
 * lnd_returned_name() - The name of a constant of enum lnd_returned.
 * @value: enum lnd_returned, or any number.
 *
 * Context: any.
 * Return: text such as "LND_RETURNED_OK", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_returned_name(uint32_t value);

/**
 * lnd_send_name() - The name of a constant of enum lnd_send.
 * @value: enum lnd_send, or any number.
 *
 * Context: any.
 * Return: text such as "LND_SEND_DONE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_send_name(uint32_t value);

/**
 * lnd_profile_name() - The name of a constant of enum lnd_profile.
 * @value: enum lnd_profile, or any number.
 *
 * Context: any.
 * Return: text such as "LND_PROFILE_SEED", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_profile_name(uint32_t value);

/**
 * lnd_next_name() - The name of a constant of enum lnd_next.
 * @value: enum lnd_next, or any number.
 *
 * Context: any.
 * Return: text such as "LND_NEXT_ENDED", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_next_name(uint32_t value);

/**
 * lnd_why_ended_name() - The name of a constant of enum lnd_why_ended.
 * @value: enum lnd_why_ended, or any number.
 *
 * Context: any.
 * Return: text such as "LND_WHY_NOT_ENDED", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_why_ended_name(uint32_t value);

/**
 * lnd_object_name() - The name of a constant of enum lnd_object.
 * @value: enum lnd_object, or any number.
 *
 * Context: any.
 * Return: text such as "LND_OBJECT_LOCAL", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_object_name(uint32_t value);

/**
 * lnd_action_kind_name() - The name of a constant of enum lnd_action_kind.
 * @value: enum lnd_action_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_ACTION_PING", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_action_kind_name(uint32_t value);

/**
 * lnd_connected_name() - The name of a constant of enum lnd_connected.
 * @value: enum lnd_connected, or any number.
 *
 * Context: any.
 * Return: text such as "LND_CONNECTED", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_connected_name(uint32_t value);

/**
 * lnd_connection_name() - The name of a constant of enum lnd_connection.
 * @value: enum lnd_connection, or any number.
 *
 * Context: any.
 * Return: text such as "LND_CONNECTION_UP", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_connection_name(uint32_t value);

/**
 * lnd_window_check_name() - The name of a constant of enum lnd_window_check.
 * @value: enum lnd_window_check, or any number.
 *
 * Context: any.
 * Return: text such as "LND_WINDOW_FIRST", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_window_check_name(uint32_t value);

/**
 * lnd_rule_kind_name() - The name of a constant of enum lnd_rule_kind.
 * @value: enum lnd_rule_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_RULE_NETWORK", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_rule_kind_name(uint32_t value);

/**
 * lnd_evidence_name() - The name of a constant of enum lnd_evidence.
 * @value: enum lnd_evidence, or any number.
 *
 * Context: any.
 * Return: text such as "LND_EVIDENCE_MESSAGE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_evidence_name(uint32_t value);

/**
 * lnd_probe_kind_name() - The name of a constant of enum lnd_probe_kind.
 * @value: enum lnd_probe_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_PROBE_ZERO_READ", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_probe_kind_name(uint32_t value);

/**
 * lnd_probe_end_name() - The name of a constant of enum lnd_probe_end.
 * @value: enum lnd_probe_end, or any number.
 *
 * Context: any.
 * Return: text such as "LND_PROBE_SUCCESS", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_probe_end_name(uint32_t value);

/**
 * lnd_finding_name() - The name of a constant of enum lnd_finding.
 * @value: enum lnd_finding, or any number.
 *
 * Context: any.
 * Return: text such as "LND_FINDING_NOTHING", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_finding_name(uint32_t value);

/**
 * lnd_tracker_state_name() - The name of a constant of enum lnd_tracker_state.
 * @value: enum lnd_tracker_state, or any number.
 *
 * Context: any.
 * Return: text such as "LND_TRACKER_OFF", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_tracker_state_name(uint32_t value);

/**
 * lnd_peer_state_name() - The name of a constant of enum lnd_peer_state.
 * @value: enum lnd_peer_state, or any number.
 *
 * Context: any.
 * Return: text such as "LND_PEER_UNKNOWN", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_peer_state_name(uint32_t value);

/**
 * lnd_link_state_name() - The name of a constant of enum lnd_link_state.
 * @value: enum lnd_link_state, or any number.
 *
 * Context: any.
 * Return: text such as "LND_LINK_UP", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_link_state_name(uint32_t value);

/**
 * lnd_event_kind_name() - The name of a constant of enum lnd_event_kind.
 * @value: enum lnd_event_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_EVENT_PEER", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_event_kind_name(uint32_t value);

/**
 * lnd_trace_kind_name() - The name of a constant of enum lnd_trace_kind.
 * @value: enum lnd_trace_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_TRACE_ACCEPTED", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_trace_kind_name(uint32_t value);

/**
 * lnd_run_state_name() - The name of a constant of enum lnd_run_state.
 * @value: enum lnd_run_state, or any number.
 *
 * Context: any.
 * Return: text such as "LND_RUNNING", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_run_state_name(uint32_t value);

/**
 * lnd_blocker_kind_name() - The name of a constant of enum lnd_blocker_kind.
 * @value: enum lnd_blocker_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_BLOCKER_TRANSFER", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_blocker_kind_name(uint32_t value);

/**
 * lnd_dump_what_name() - The name of a constant of enum lnd_dump_what.
 * @value: enum lnd_dump_what, or any number.
 *
 * Context: any.
 * Return: text such as "LND_DUMP_LINKS", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_dump_what_name(uint32_t value);

/**
 * lnd_metric_kind_name() - The name of a constant of enum lnd_metric_kind.
 * @value: enum lnd_metric_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_METRIC_GAUGE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_metric_kind_name(uint32_t value);

/**
 * lnd_metric_format_name() - The name of a constant of enum lnd_metric_format.
 * @value: enum lnd_metric_format, or any number.
 *
 * Context: any.
 * Return: text such as "LND_METRIC_JSON", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_metric_format_name(uint32_t value);

/**
 * lnd_bound_origin_name() - The name of a constant of enum lnd_bound_origin.
 * @value: enum lnd_bound_origin, or any number.
 *
 * Context: any.
 * Return: text such as "LND_BOUND_GIVEN", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_bound_origin_name(uint32_t value);

/**
 * lnd_point_name() - The name of a constant of enum lnd_point.
 * @value: enum lnd_point, or any number.
 *
 * Context: any.
 * Return: text such as "LND_POINT_SENT", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_point_name(uint32_t value);

/**
 * lnd_wait_name() - The name of a constant of enum lnd_wait.
 * @value: enum lnd_wait, or any number.
 *
 * Context: any.
 * Return: text such as "LND_WAIT_ANSWER", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_wait_name(uint32_t value);

/**
 * lnd_context_name() - The name of a constant of enum lnd_context.
 * @value: enum lnd_context, or any number.
 *
 * Context: any.
 * Return: text such as "LND_CONTEXT_THREAD", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_context_name(uint32_t value);

/**
 * lnd_lane_name() - The name of a constant of enum lnd_lane.
 * @value: enum lnd_lane, or any number.
 *
 * Context: any.
 * Return: text such as "LND_LANE_REQUEST", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_lane_name(uint32_t value);

/**
 * lnd_role_name() - The name of a constant of enum lnd_role.
 * @value: enum lnd_role, or any number.
 *
 * Context: any.
 * Return: text such as "LND_ROLE_IMMEDIATE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_role_name(uint32_t value);

/**
 * lnd_health_class_name() - The name of a constant of enum lnd_health_class.
 * @value: enum lnd_health_class, or any number.
 *
 * Context: any.
 * Return: text such as "LND_HEALTH_OK", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_health_class_name(uint32_t value);

/**
 * lnd_delivery_name() - The name of a constant of enum lnd_delivery.
 * @value: enum lnd_delivery, or any number.
 *
 * Context: any.
 * Return: text such as "LND_DELIVERED", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_delivery_name(uint32_t value);

/**
 * lnd_cause_name() - The name of a constant of enum lnd_cause.
 * @value: enum lnd_cause, or any number.
 *
 * Context: any.
 * Return: text such as "LND_CAUSE_NONE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_cause_name(uint32_t value);

/**
 * lnd_place_name() - The name of a constant of enum lnd_place.
 * @value: enum lnd_place, or any number.
 *
 * Context: any.
 * Return: text such as "LND_PLACE_NONE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_place_name(uint32_t value);

/**
 * lnd_kind_name() - The name of a constant of enum lnd_kind.
 * @value: enum lnd_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_PUT", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_kind_name(uint32_t value);

/**
 * lnd_request_kind_name() - The name of a constant of enum lnd_request_kind.
 * @value: enum lnd_request_kind, or any number.
 *
 * Context: any.
 * Return: text such as "LND_REQUEST_IMMEDIATE", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_request_kind_name(uint32_t value);

/**
 * lnd_nak_reason_name() - The name of a constant of enum lnd_nak_reason.
 * @value: enum lnd_nak_reason, or any number.
 *
 * Context: any.
 * Return: text such as "LND_NAK_NO_MATCH", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_nak_reason_name(uint32_t value);

/**
 * lnd_sent_how_name() - The name of a constant of enum lnd_sent_how.
 * @value: enum lnd_sent_how, or any number.
 *
 * Context: any.
 * Return: text such as "LND_SENT_OK", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_sent_how_name(uint32_t value);

/**
 * lnd_policy_name() - The name of a constant of enum lnd_policy.
 * @value: enum lnd_policy, or any number.
 *
 * Context: any.
 * Return: text such as "LND_POLICY_SEED", "LND_?" for a number that has no name; never NULL.
 */
const char *lnd_policy_name(uint32_t value);

/**
 * lnd_observer_write() - Writes all that an observer has measured, for people or for programs.
 * @observer: the object.
 * @format: LND_METRIC_TEXT or LND_METRIC_JSON.
 * @cursor: 0 at first, then unchanged from the call before: where to continue.
 * @buf: where to write; no zero is appended.
 * @len: its bytes; 512 are enough for every line.
 * @written: where the number of bytes written is stored: whole lines only.
 *
 * A line for each combination of labels. Times are in ns: how many, their sum, the least, the
 * most, and bounds that 50 % (half) and 99 % (most) do not exceed. Call it until it returns
 * LND_E_END. The last lines come with that call: use @written then, too.
 *
 * Context: one at a time.
 * Return: LND_OK, LND_E_END (all has been written), LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY,
 * LND_E_ARGUMENT, LND_E_ROOM (no line fits).
 */
enum lnd_error lnd_observer_write(struct lnd_observer *observer,
				  uint32_t format,
				  uint32_t *cursor,
				  char *buf,
				  size_t len,
				  size_t *written);

/**
 * lnd_observer_size() - Bytes of memory for an observer.
 * @slots: those of the NI, 1 to 1,048,576.
 * @journal: transfers that have ended and stay known, at most 1,048,576.
 * @peers: peers whose last transitions are kept, at most 1,048,576.
 *
 * Context: any.
 * Return: the bytes, or 0 if a number is out of range.
 */
size_t lnd_observer_size(uint32_t slots, uint32_t journal, uint32_t peers);

/**
 * lnd_observer_create() - Creates an observer in the caller's memory.
 * @mem: the memory, aligned to LND_ALIGN; the object's until lnd_observer_destroy().
 * @len: its bytes, at least lnd_observer_size().
 * @slots: those of the NI.
 * @journal: transfers that have ended and stay known.
 * @peers: peers whose last transitions are kept.
 * @observer: where the object's pointer is written.
 *
 * Create it before the NI, and feed it from trace(). It takes no call of the NI, and the NI knows
 * nothing of it.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_CONFIG, LND_E_MEMORY.
 */
enum lnd_error lnd_observer_create(void *mem,
				   size_t len,
				   uint32_t slots,
				   uint32_t journal,
				   uint32_t peers,
				   struct lnd_observer **observer);

/**
 * lnd_observer_destroy() - Ends an observer; its memory is the caller's again.
 * @observer: the object.
 *
 * Context: any; no other call is under way or follows.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_observer_destroy(struct lnd_observer *observer);

/**
 * lnd_observer_record() - Takes a record of the NI's trace().
 * @observer: the object.
 * @trace: the record.
 *
 * Constant work. All records of an NI go to one observer, in their order, by one context at a
 * time: a host whose interrupts trace, too, takes a lock of its own, or queues the records and
 * feeds them later. Of messages without a slot the trace has no cause: those that fail are counted
 * as failures of the channel.
 *
 * Context: any, also inside trace().
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT (no
 * such record).
 */
enum lnd_error lnd_observer_record(struct lnd_observer *observer, const struct lnd_trace *trace);

/**
 * lnd_observer_account_get() - Where a transfer spent its time, who gave it up, on what evidence.
 * @observer: the object.
 * @transfer: the transfer, also one that has ended, while the journal has it.
 * @account: filled in; the caller sets its size.
 *
 * Visits the journal at most.
 *
 * Context: one at a time.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_STALE (it is
 * not known, or not any more).
 */
enum lnd_error lnd_observer_account_get(struct lnd_observer *observer,
					struct lnd_transfer transfer,
					struct lnd_account *account);

/**
 * lnd_observer_histogram_get() - How long transfers took, or waited.
 * @observer: the object.
 * @wait: enum lnd_wait.
 * @bytes: of transfers of this size class; LND_ANY_SIZE: of all sizes.
 * @histogram: filled in; the caller sets its size.
 *
 * Size classes end at 0, 64, 512, 4,096, 32,768, 262,144 and 1,048,576 bytes. LND_WAIT_LATE is of
 * all sizes. Two readings are subtracted, field by field, except @min and @max.
 *
 * Context: one at a time.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
 */
enum lnd_error lnd_observer_histogram_get(struct lnd_observer *observer,
					  uint32_t wait,
					  uint32_t bytes,
					  struct lnd_histogram *histogram);

/**
 * lnd_peer_event() - The platform reports that a peer is down, or up.
 * @ni: the NI.
 * @nid: the peer.
 * @up: 0: down, and everything for the peer is cancelled; else a handshake may begin at once.
 * @now: the time.
 *
 * A report about a NID that is not in the table has no effect. A peer stays down for @hello_tries
 * times @hello_timeout of struct lnd_config, and lnd_submit() refuses messages for it. If a frame
 * from it arrives earlier, the report was wrong: the handshake begins at once, and event() reports
 * it. The peer's requests wait in a reliable channel meanwhile.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_NO_PEER.
 */
enum lnd_error lnd_peer_event(struct lnd_ni *ni, uint64_t nid, uint32_t up, uint64_t now);

/**
 * lnd_peer_ask() - Asks a peer whether it still runs.
 * @ni: the NI.
 * @nid: the peer.
 * @now: the time.
 *
 * For a transport that has heard nothing of the peer and does not know whether the peer is down:
 * its retries are exhausted, or a probe has failed. The hello to the peer is repeated. An answer
 * changes nothing, and nothing in flight is cancelled meanwhile. Without one the peer is down
 * after @hello_tries times @hello_timeout of struct lnd_config, and event() reports it. A peer
 * that is being asked already keeps its time; one that is down, or was never met, is not asked.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: as lnd_peer_event().
 */
enum lnd_error lnd_peer_ask(struct lnd_ni *ni, uint64_t nid, uint64_t now);

/**
 * lnd_link_event() - The platform reports that a link is down, or up.
 * @ni: the NI.
 * @link: the link.
 * @up: 0: down; else up.
 * @now: the time.
 *
 * Not needed for engines whose registers report it. A link that is reported down is stopped and
 * reset, and works again once the engine finds it working: a host that reports links has
 * engine_link_up, or registers. See lnd_link_failed() for interrupts.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK.
 */
enum lnd_error lnd_link_event(struct lnd_ni *ni, uint32_t link, uint32_t up, uint64_t now);

/**
 * lnd_assert_stopped() - The platform guarantees that a link's device has stopped.
 * @ni: the NI.
 * @link: the link.
 * @now: the time.
 *
 * For a device that does not answer (LND_LINK_FAILED), or does not stop (LND_LINK_STOPPING). Its
 * descriptors are then reclaimed, as after a stop that the device has confirmed.
 *
 * The platform must know, by other means than the link's registers, two facts: the device no
 * longer reads or writes memory of this node, and no other node's device does so through this
 * link, until its reset. A slot without power and a device cut off from memory are such means. A
 * register that reads all ones is not. If the guarantee is wrong, memory in use elsewhere is
 * overwritten.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_RUNNING (the link waits for no proof: no effect).
 */
enum lnd_error lnd_assert_stopped(struct lnd_ni *ni, uint32_t link, uint64_t now);

/**
 * lnd_quarantine_get() - How many transfers a failed link, or its failed connections, hold.
 * @ni: the NI.
 * @link: the link.
 * @transfers: where the number of transfers is written whose memory the device still holds and
 *             only its stop, or a connection's, can return. 0 while the link is up and none of its
 *             connections has failed.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK.
 */
enum lnd_error lnd_quarantine_get(const struct lnd_ni *ni, uint32_t link, uint32_t *transfers);

/**
 * lnd_link_state_get() - The state of a link.
 * @ni: the NI.
 * @link: the link.
 * @state: where enum lnd_link_state is written.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK.
 */
enum lnd_error lnd_link_state_get(const struct lnd_ni *ni, uint32_t link, uint32_t *state);

/**
 * lnd_peer_find() - The handle of a peer.
 * @ni: the NI.
 * @nid: its NID.
 * @peer: where the handle is written.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_NO_PEER.
 */
enum lnd_error lnd_peer_find(const struct lnd_ni *ni, uint64_t nid, struct lnd_peer *peer);

/**
 * lnd_peer_info_get() - The state of a peer.
 * @ni: the NI.
 * @peer: its handle.
 * @info: filled in; the caller sets its size.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (the NI has removed the peer).
 */
enum lnd_error lnd_peer_info_get(const struct lnd_ni *ni,
				 struct lnd_peer peer,
				 struct lnd_peer_info *info);

/**
 * lnd_run() - Does the work that is due, and reports what has ended.
 * @ni: the NI.
 * @now: the time.
 * @budget: most callbacks to make, at least 1.
 * @next: when to call again, on the clock of @now: @now itself if work is left, LND_NEVER if only
 *        wake() matters; may be NULL.
 *
 * Call it at that time and after wake(); more calls are harmless. Calls finalize() and event()
 * with nothing held. It calls wake() if a frame was answered with LND_E_WAIT and since then a slot
 * has become free, the state of a peer has changed, or a decision has made room for a peer's next
 * request. Waiting frames must then be offered again.
 *
 * Context: thread; not in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY
 * (another thread runs it), LND_E_ARGUMENT.
 */
enum lnd_error lnd_run(struct lnd_ni *ni, uint64_t now, uint32_t budget, uint64_t *next);

/**
 * lnd_shutdown() - Begins to end an NI.
 * @ni: the NI.
 * @now: the time.
 * @grace: time until which transfers may end by themselves; @now: cancel them at once.
 *
 * New work is refused from now on. lnd_run() does the rest, until lnd_run_state_get() returns
 * LND_QUIESCENT. The call may be repeated with an earlier @grace. At @grace the remaining
 * transfers are cancelled. They come back within @drain_bound of struct lnd_config, or their link
 * is stopped. With connections, their connection is stopped first, and the link if there is no
 * proof of that within two more @drain_bound. A link does not stop while another node's device
 * reads from it: a stalled device delays the end until it continues, or its node is proven dead.
 * lnd_blocker_next() returns what the shutdown waits for.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
 */
enum lnd_error lnd_shutdown(struct lnd_ni *ni, uint64_t now, uint64_t grace);

/**
 * lnd_run_state_get() - The progress of a shutdown.
 * @ni: the NI.
 * @state: where enum lnd_run_state is written.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
 */
enum lnd_error lnd_run_state_get(const struct lnd_ni *ni, uint32_t *state);

/**
 * lnd_blocker_next() - What a drain or a shutdown waits for.
 * @ni: the NI.
 * @cursor: 0 for the first, then unchanged from the call before: where to continue.
 * @blocker: filled in; the caller sets its size.
 *
 * Visits the whole table at most.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_END (no further one), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI,
 * LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
 */
enum lnd_error lnd_blocker_next(const struct lnd_ni *ni,
				uint32_t *cursor,
				struct lnd_blocker *blocker);

/**
 * lnd_stats_get() - The gauges of an NI.
 * @ni: the NI.
 * @stats: filled in; the caller sets its size.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY.
 */
enum lnd_error lnd_stats_get(const struct lnd_ni *ni, struct lnd_stats *stats);

/**
 * lnd_audit() - Checks the NI's internal accounting as a whole, for tests and debug builds.
 * @ni: the NI.
 *
 * Takes time linear in slots and peers. An error is also reported to bug().
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_BOOKS, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY.
 */
enum lnd_error lnd_audit(const struct lnd_ni *ni);

/**
 * lnd_counter_count() - Number of counters that have a name.
 *
 * Context: any.
 * Return: the number; counters are numbered from 0. Later versions append.
 */
uint32_t lnd_counter_count(void);

/**
 * lnd_counter_name() - A counter's name: lower case, underscores.
 * @counter: its number.
 *
 * Context: any.
 * Return: the name, or NULL if there is no such counter.
 */
const char *lnd_counter_name(uint32_t counter);

/**
 * lnd_counter() - The value of a counter.
 * @ni: the NI.
 * @counter: its number.
 * @value: where the value is written.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_ARGUMENT, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY.
 */
enum lnd_error lnd_counter(const struct lnd_ni *ni, uint32_t counter, uint64_t *value);

/**
 * lnd_submit() - Accepts a message for sending.
 * @ni: the NI.
 * @request: what to send; header and fragment vector are copied.
 * @now: the time.
 * @transfer: where the transfer's handle is written; after LND_DONE it names none; may be NULL.
 * @report: filled in on LND_DONE; the caller sets its size. NULL: finalize() reports every end.
 *
 * On LND_OK exactly one finalize() follows, and the payload's memory is lent until then. On
 * LND_DONE the message has ended, @report is its only report, and nothing is lent. A short message
 * ends so if its peer has answered, no message waits before it, and the channel has
 * LND_ENDS_AT_ONCE. @error of that report may be other than 0. On an error nothing was kept.
 *
 * A handle in @peer of @request is stale (LND_E_STALE) once the NI has removed that peer: send by
 * @nid then, and call lnd_peer_find() again.
 *
 * The reply to an LND_GET goes into its memory if @routed is 0 and that memory is longer than
 * @immediate_max of struct lnd_config: ours, or the peer's if that is less and the peer has
 * answered a HELLO. Any other GET is sent as a header alone, and the peer receives it as an
 * LND_REQUEST_IMMEDIATE. Its report covers that message only: @bytes and @reply are 0, and its
 * memory is not touched. The answer is an LND_REPLY that arrives as a request.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_DONE, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT,
 * LND_E_REENTRY, LND_E_BUSY, LND_E_ARGUMENT (@kind, @reserved of a fragment, or @nid differs from
 * that of @peer), LND_E_HEADER, LND_E_FRAGMENTS, LND_E_ADDRESS, LND_E_TOO_LONG, LND_E_DEADLINE,
 * LND_E_LINK, LND_E_NO_ROUTE, LND_E_FOREIGN, LND_E_STALE, LND_E_PEER_DOWN, LND_E_PEERS_FULL,
 * LND_E_NO_SLOTS, LND_E_NO_LISTS, LND_E_SHUTTING_DOWN.
 */
enum lnd_error lnd_submit(struct lnd_ni *ni,
			  const struct lnd_send_request *request,
			  uint64_t now,
			  struct lnd_transfer *transfer,
			  struct lnd_report *report);

/**
 * lnd_withdraw() - Cancels a transfer.
 * @ni: the NI.
 * @transfer: its handle.
 * @now: the time.
 *
 * finalize() follows as usual, once the memory is safe. Its cause is LND_CAUSE_WITHDRAWN, unless
 * the transfer ended before. A second call has no further effect.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_FOREIGN, LND_E_STALE (it has been reported, or is no transfer of this side's).
 */
enum lnd_error lnd_withdraw(struct lnd_ni *ni, struct lnd_transfer transfer, uint64_t now);

/**
 * lnd_abi_version() - The version of the ABI that the library was built with.
 *
 * Context: any.
 * Return: LND_ABI_VERSION of the library's own header.
 */
uint32_t lnd_abi_version(void);

/**
 * lnd_version() - The library's version.
 *
 * Context: any.
 * Return: text such as "1.2.3"; never NULL.
 */
const char *lnd_version(void);

#ifdef __cplusplus
}
#endif

/* Rounds a size up to a multiple of LND_ALIGN. */
#define LND_ROUND_UP(bytes) (((bytes) + LND_ALIGN - 1) / LND_ALIGN * LND_ALIGN)

/*
 * LND_NI_BYTES() - Upper bound of lnd_ni_size(), for memory reserved when a program is compiled.
 * @slots, @peers, @links, @lists, @immediate_max, @connections: as in struct lnd_config.
 *
 * A constant expression where its arguments are, and a multiple of LND_ALIGN. It holds on 32-bit
 * and 64-bit machines.
 */
#define LND_NI_BYTES(slots, peers, links, lists, immediate_max, connections) \
	LND_ROUND_UP((size_t)LND_NI_FIXED + (size_t)LND_NI_SLOT * (slots) + \
		     (size_t)LND_NI_PEER * (peers) + (size_t)LND_NI_LINK * (links) + \
		     (size_t)LND_NI_LIST * (lists) + (size_t)2 * (immediate_max) + \
		     (size_t)LND_NI_CONNECTION * (connections))

/*
 * LND_RING_BYTES() - Upper bound of lnd_ring_size(), as LND_NI_BYTES().
 * @slots, @lists: as in struct lnd_config.
 */
#define LND_RING_BYTES(slots, lists) \
	LND_ROUND_UP((size_t)LND_RING_FIXED + (size_t)LND_RING_SLOT * (slots) + \
		     (size_t)LND_RING_LIST * (lists))

/*
 * The layout that the library was built with, on machines with 64-bit pointers. The library's own
 * build asserts the same.
 */
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 8
#ifdef __cplusplus
#define LND_ASSERT static_assert
#else
#define LND_ASSERT _Static_assert
#endif
#define LND_ASSERT_SIZE(type, bytes) \
	LND_ASSERT(sizeof(struct type) == (bytes), "size of struct " #type)
#define LND_ASSERT_FIELD(type, field, bytes) \
	LND_ASSERT(offsetof(struct type, field) == (bytes), "offset of " #type "." #field)
LND_ASSERT_SIZE(lnd_ring, 16);
LND_ASSERT_FIELD(lnd_ring, base, 0);
LND_ASSERT_FIELD(lnd_ring, len, 8);
LND_ASSERT_SIZE(lnd_config, 248);
LND_ASSERT_FIELD(lnd_config, size, 0);
LND_ASSERT_FIELD(lnd_config, abi_version, 4);
LND_ASSERT_FIELD(lnd_config, nid, 8);
LND_ASSERT_FIELD(lnd_config, incarnation, 16);
LND_ASSERT_FIELD(lnd_config, slots, 24);
LND_ASSERT_FIELD(lnd_config, passive_slots, 28);
LND_ASSERT_FIELD(lnd_config, peers, 32);
LND_ASSERT_FIELD(lnd_config, links, 36);
LND_ASSERT_FIELD(lnd_config, lists, 40);
LND_ASSERT_FIELD(lnd_config, immediate_max, 44);
LND_ASSERT_FIELD(lnd_config, depth, 48);
LND_ASSERT_FIELD(lnd_config, hello_tries, 52);
LND_ASSERT_FIELD(lnd_config, batch, 56);
LND_ASSERT_FIELD(lnd_config, policy, 60);
LND_ASSERT_FIELD(lnd_config, flags, 64);
LND_ASSERT_FIELD(lnd_config, pulls, 68);
LND_ASSERT_FIELD(lnd_config, connections, 72);
LND_ASSERT_FIELD(lnd_config, reserved, 76);
LND_ASSERT_FIELD(lnd_config, drain_bound, 80);
LND_ASSERT_FIELD(lnd_config, hello_timeout, 88);
LND_ASSERT_FIELD(lnd_config, credit_stall, 96);
LND_ASSERT_FIELD(lnd_config, link_poll, 104);
LND_ASSERT_FIELD(lnd_config, decision_bound, 112);
LND_ASSERT_FIELD(lnd_config, rings, 120);
LND_ASSERT_SIZE(lnd_tag, 8);
LND_ASSERT_FIELD(lnd_tag, index, 0);
LND_ASSERT_FIELD(lnd_tag, generation, 4);
LND_ASSERT_SIZE(lnd_frag, 16);
LND_ASSERT_FIELD(lnd_frag, addr, 0);
LND_ASSERT_FIELD(lnd_frag, len, 8);
LND_ASSERT_FIELD(lnd_frag, reserved, 12);
LND_ASSERT_SIZE(lnd_bd, 64);
LND_ASSERT_FIELD(lnd_bd, size, 0);
LND_ASSERT_FIELD(lnd_bd, link, 4);
LND_ASSERT_FIELD(lnd_bd, tag, 8);
LND_ASSERT_FIELD(lnd_bd, source, 16);
LND_ASSERT_FIELD(lnd_bd, nid, 24);
LND_ASSERT_FIELD(lnd_bd, motion, 32);
LND_ASSERT_FIELD(lnd_bd, length, 36);
LND_ASSERT_FIELD(lnd_bd, frags, 40);
LND_ASSERT_FIELD(lnd_bd, nfrags, 48);
LND_ASSERT_FIELD(lnd_bd, key_len, 52);
LND_ASSERT_FIELD(lnd_bd, key, 56);
LND_ASSERT_SIZE(lnd_message, 16);
LND_ASSERT_FIELD(lnd_message, index, 0);
LND_ASSERT_FIELD(lnd_message, generation, 4);
LND_ASSERT_FIELD(lnd_message, ni, 8);
LND_ASSERT_FIELD(lnd_message, kind, 12);
LND_ASSERT_SIZE(lnd_frame, 56);
LND_ASSERT_FIELD(lnd_frame, size, 0);
LND_ASSERT_FIELD(lnd_frame, link, 4);
LND_ASSERT_FIELD(lnd_frame, lane, 8);
LND_ASSERT_FIELD(lnd_frame, len, 12);
LND_ASSERT_FIELD(lnd_frame, bytes, 16);
LND_ASSERT_FIELD(lnd_frame, nid, 24);
LND_ASSERT_FIELD(lnd_frame, tracked, 32);
LND_ASSERT_FIELD(lnd_frame, reserved, 36);
LND_ASSERT_FIELD(lnd_frame, message, 40);
LND_ASSERT_SIZE(lnd_transfer, 16);
LND_ASSERT_FIELD(lnd_transfer, index, 0);
LND_ASSERT_FIELD(lnd_transfer, generation, 4);
LND_ASSERT_FIELD(lnd_transfer, ni, 8);
LND_ASSERT_FIELD(lnd_transfer, kind, 12);
LND_ASSERT_SIZE(lnd_report, 80);
LND_ASSERT_FIELD(lnd_report, size, 0);
LND_ASSERT_FIELD(lnd_report, role, 4);
LND_ASSERT_FIELD(lnd_report, transfer, 8);
LND_ASSERT_FIELD(lnd_report, user, 24);
LND_ASSERT_FIELD(lnd_report, nid, 32);
LND_ASSERT_FIELD(lnd_report, error, 40);
LND_ASSERT_FIELD(lnd_report, health, 44);
LND_ASSERT_FIELD(lnd_report, delivery, 48);
LND_ASSERT_FIELD(lnd_report, resend, 52);
LND_ASSERT_FIELD(lnd_report, cause, 56);
LND_ASSERT_FIELD(lnd_report, place, 60);
LND_ASSERT_FIELD(lnd_report, bytes, 64);
LND_ASSERT_FIELD(lnd_report, reply, 68);
LND_ASSERT_FIELD(lnd_report, lost_race, 72);
LND_ASSERT_FIELD(lnd_report, reserved, 76);
LND_ASSERT_SIZE(lnd_event, 24);
LND_ASSERT_FIELD(lnd_event, size, 0);
LND_ASSERT_FIELD(lnd_event, kind, 4);
LND_ASSERT_FIELD(lnd_event, nid, 8);
LND_ASSERT_FIELD(lnd_event, link, 16);
LND_ASSERT_FIELD(lnd_event, state, 20);
LND_ASSERT_SIZE(lnd_trace, 56);
LND_ASSERT_FIELD(lnd_trace, size, 0);
LND_ASSERT_FIELD(lnd_trace, kind, 4);
LND_ASSERT_FIELD(lnd_trace, now, 8);
LND_ASSERT_FIELD(lnd_trace, nid, 16);
LND_ASSERT_FIELD(lnd_trace, index, 24);
LND_ASSERT_FIELD(lnd_trace, generation, 28);
LND_ASSERT_FIELD(lnd_trace, link, 32);
LND_ASSERT_FIELD(lnd_trace, a, 36);
LND_ASSERT_FIELD(lnd_trace, b, 40);
LND_ASSERT_FIELD(lnd_trace, c, 44);
LND_ASSERT_FIELD(lnd_trace, d, 48);
LND_ASSERT_FIELD(lnd_trace, reserved, 52);
LND_ASSERT_SIZE(lnd_ops, 288);
LND_ASSERT_FIELD(lnd_ops, size, 0);
LND_ASSERT_FIELD(lnd_ops, reserved, 4);
LND_ASSERT_FIELD(lnd_ops, lock, 8);
LND_ASSERT_FIELD(lnd_ops, unlock, 16);
LND_ASSERT_FIELD(lnd_ops, self_id, 24);
LND_ASSERT_FIELD(lnd_ops, context, 32);
LND_ASSERT_FIELD(lnd_ops, reg_read32, 40);
LND_ASSERT_FIELD(lnd_ops, reg_write32, 48);
LND_ASSERT_FIELD(lnd_ops, dma_barrier, 56);
LND_ASSERT_FIELD(lnd_ops, node_of, 64);
LND_ASSERT_FIELD(lnd_ops, engine_post, 72);
LND_ASSERT_FIELD(lnd_ops, engine_key, 80);
LND_ASSERT_FIELD(lnd_ops, engine_doorbell, 88);
LND_ASSERT_FIELD(lnd_ops, engine_invalidate, 96);
LND_ASSERT_FIELD(lnd_ops, engine_stop, 104);
LND_ASSERT_FIELD(lnd_ops, engine_quiesced, 112);
LND_ASSERT_FIELD(lnd_ops, engine_reclaim, 120);
LND_ASSERT_FIELD(lnd_ops, engine_reset, 128);
LND_ASSERT_FIELD(lnd_ops, engine_link_up, 136);
LND_ASSERT_FIELD(lnd_ops, engine_features, 144);
LND_ASSERT_FIELD(lnd_ops, connection, 152);
LND_ASSERT_FIELD(lnd_ops, connection_stop, 160);
LND_ASSERT_FIELD(lnd_ops, connection_quiesced, 168);
LND_ASSERT_FIELD(lnd_ops, connection_reset, 176);
LND_ASSERT_FIELD(lnd_ops, reaches, 184);
LND_ASSERT_FIELD(lnd_ops, ready, 192);
LND_ASSERT_FIELD(lnd_ops, send, 200);
LND_ASSERT_FIELD(lnd_ops, quiesce, 208);
LND_ASSERT_FIELD(lnd_ops, mem_read, 216);
LND_ASSERT_FIELD(lnd_ops, mem_write, 224);
LND_ASSERT_FIELD(lnd_ops, mem_valid, 232);
LND_ASSERT_FIELD(lnd_ops, finalize, 240);
LND_ASSERT_FIELD(lnd_ops, event, 248);
LND_ASSERT_FIELD(lnd_ops, wake, 256);
LND_ASSERT_FIELD(lnd_ops, trace, 264);
LND_ASSERT_FIELD(lnd_ops, bug, 272);
LND_ASSERT_FIELD(lnd_ops, tracing, 280);
LND_ASSERT_SIZE(lnd_request, 16);
LND_ASSERT_FIELD(lnd_request, index, 0);
LND_ASSERT_FIELD(lnd_request, generation, 4);
LND_ASSERT_FIELD(lnd_request, ni, 8);
LND_ASSERT_FIELD(lnd_request, kind, 12);
LND_ASSERT_SIZE(lnd_decision, 40);
LND_ASSERT_FIELD(lnd_decision, size, 0);
LND_ASSERT_FIELD(lnd_decision, nfrags, 4);
LND_ASSERT_FIELD(lnd_decision, frags, 8);
LND_ASSERT_FIELD(lnd_decision, len, 16);
LND_ASSERT_FIELD(lnd_decision, reserved, 20);
LND_ASSERT_FIELD(lnd_decision, deadline, 24);
LND_ASSERT_FIELD(lnd_decision, user, 32);
LND_ASSERT_SIZE(lnd_bound, 248);
LND_ASSERT_FIELD(lnd_bound, size, 0);
LND_ASSERT_FIELD(lnd_bound, origin, 4);
LND_ASSERT_FIELD(lnd_bound, ns, 8);
LND_ASSERT_FIELD(lnd_bound, name, 16);
LND_ASSERT_FIELD(lnd_bound, help, 48);
LND_ASSERT_SIZE(lnd_health_ni, 16);
LND_ASSERT_FIELD(lnd_health_ni, index, 0);
LND_ASSERT_FIELD(lnd_health_ni, generation, 4);
LND_ASSERT_FIELD(lnd_health_ni, owner, 8);
LND_ASSERT_FIELD(lnd_health_ni, kind, 12);
LND_ASSERT_SIZE(lnd_action, 64);
LND_ASSERT_FIELD(lnd_action, size, 0);
LND_ASSERT_FIELD(lnd_action, kind, 4);
LND_ASSERT_FIELD(lnd_action, index, 8);
LND_ASSERT_FIELD(lnd_action, generation, 12);
LND_ASSERT_FIELD(lnd_action, owner, 16);
LND_ASSERT_FIELD(lnd_action, probe, 20);
LND_ASSERT_FIELD(lnd_action, target, 24);
LND_ASSERT_FIELD(lnd_action, local, 40);
LND_ASSERT_FIELD(lnd_action, nid, 56);
LND_ASSERT_SIZE(lnd_stamp, 24);
LND_ASSERT_FIELD(lnd_stamp, from, 0);
LND_ASSERT_FIELD(lnd_stamp, to, 8);
LND_ASSERT_FIELD(lnd_stamp, number, 16);
LND_ASSERT_SIZE(lnd_health_peer, 16);
LND_ASSERT_FIELD(lnd_health_peer, index, 0);
LND_ASSERT_FIELD(lnd_health_peer, generation, 4);
LND_ASSERT_FIELD(lnd_health_peer, owner, 8);
LND_ASSERT_FIELD(lnd_health_peer, kind, 12);
LND_ASSERT_SIZE(lnd_health_config, 160);
LND_ASSERT_FIELD(lnd_health_config, size, 0);
LND_ASSERT_FIELD(lnd_health_config, abi_version, 4);
LND_ASSERT_FIELD(lnd_health_config, locals, 8);
LND_ASSERT_FIELD(lnd_health_config, peers, 12);
LND_ASSERT_FIELD(lnd_health_config, peer_nis, 16);
LND_ASSERT_FIELD(lnd_health_config, journal, 20);
LND_ASSERT_FIELD(lnd_health_config, attempts, 24);
LND_ASSERT_FIELD(lnd_health_config, actions, 28);
LND_ASSERT_FIELD(lnd_health_config, profile, 32);
LND_ASSERT_FIELD(lnd_health_config, sensitivity, 36);
LND_ASSERT_FIELD(lnd_health_config, retries, 40);
LND_ASSERT_FIELD(lnd_health_config, seed, 44);
LND_ASSERT_FIELD(lnd_health_config, recovery_first, 48);
LND_ASSERT_FIELD(lnd_health_config, recovery_cap, 56);
LND_ASSERT_FIELD(lnd_health_config, recovery_limit, 64);
LND_ASSERT_FIELD(lnd_health_config, resend_first, 72);
LND_ASSERT_FIELD(lnd_health_config, resend_cap, 80);
LND_ASSERT_FIELD(lnd_health_config, probe_idle, 88);
LND_ASSERT_FIELD(lnd_health_config, probe_again, 96);
LND_ASSERT_FIELD(lnd_health_config, probe_hold_off, 104);
LND_ASSERT_FIELD(lnd_health_config, action_bound, 112);
LND_ASSERT_FIELD(lnd_health_config, action_every, 120);
LND_ASSERT_FIELD(lnd_health_config, action_burst, 128);
LND_ASSERT_FIELD(lnd_health_config, probe_results, 132);
LND_ASSERT_FIELD(lnd_health_config, routes, 136);
LND_ASSERT_FIELD(lnd_health_config, routing, 140);
LND_ASSERT_FIELD(lnd_health_config, numa_range, 144);
LND_ASSERT_FIELD(lnd_health_config, connects_at_once, 148);
LND_ASSERT_FIELD(lnd_health_config, incarnation, 152);
LND_ASSERT_SIZE(lnd_attempts, 16);
LND_ASSERT_FIELD(lnd_attempts, index, 0);
LND_ASSERT_FIELD(lnd_attempts, generation, 4);
LND_ASSERT_FIELD(lnd_attempts, ni, 8);
LND_ASSERT_FIELD(lnd_attempts, kind, 12);
LND_ASSERT_SIZE(lnd_outcome, 40);
LND_ASSERT_FIELD(lnd_outcome, size, 0);
LND_ASSERT_FIELD(lnd_outcome, next, 4);
LND_ASSERT_FIELD(lnd_outcome, delivery, 8);
LND_ASSERT_FIELD(lnd_outcome, health, 12);
LND_ASSERT_FIELD(lnd_outcome, tries, 16);
LND_ASSERT_FIELD(lnd_outcome, why, 20);
LND_ASSERT_FIELD(lnd_outcome, cookie, 24);
LND_ASSERT_FIELD(lnd_outcome, next_try, 32);
LND_ASSERT_SIZE(lnd_rule, 32);
LND_ASSERT_FIELD(lnd_rule, size, 0);
LND_ASSERT_FIELD(lnd_rule, kind, 4);
LND_ASSERT_FIELD(lnd_rule, priority, 8);
LND_ASSERT_FIELD(lnd_rule, network, 12);
LND_ASSERT_FIELD(lnd_rule, nid, 16);
LND_ASSERT_FIELD(lnd_rule, peer_nid, 24);
LND_ASSERT_SIZE(lnd_health_change, 72);
LND_ASSERT_FIELD(lnd_health_change, size, 0);
LND_ASSERT_FIELD(lnd_health_change, evidence, 4);
LND_ASSERT_FIELD(lnd_health_change, number, 8);
LND_ASSERT_FIELD(lnd_health_change, at, 16);
LND_ASSERT_FIELD(lnd_health_change, cookie, 24);
LND_ASSERT_FIELD(lnd_health_change, ni, 32);
LND_ASSERT_FIELD(lnd_health_change, nid, 48);
LND_ASSERT_FIELD(lnd_health_change, from, 56);
LND_ASSERT_FIELD(lnd_health_change, to, 60);
LND_ASSERT_FIELD(lnd_health_change, up, 64);
LND_ASSERT_FIELD(lnd_health_change, health_class, 68);
LND_ASSERT_SIZE(lnd_path, 96);
LND_ASSERT_FIELD(lnd_path, size, 0);
LND_ASSERT_FIELD(lnd_path, routed, 4);
LND_ASSERT_FIELD(lnd_path, local, 8);
LND_ASSERT_FIELD(lnd_path, hop, 24);
LND_ASSERT_FIELD(lnd_path, destination, 40);
LND_ASSERT_FIELD(lnd_path, stamp, 56);
LND_ASSERT_FIELD(lnd_path, hop_nid, 80);
LND_ASSERT_FIELD(lnd_path, slice, 88);
LND_ASSERT_SIZE(lnd_distance, 8);
LND_ASSERT_FIELD(lnd_distance, device, 0);
LND_ASSERT_FIELD(lnd_distance, numa, 4);
LND_ASSERT_SIZE(lnd_health_route, 16);
LND_ASSERT_FIELD(lnd_health_route, index, 0);
LND_ASSERT_FIELD(lnd_health_route, generation, 4);
LND_ASSERT_FIELD(lnd_health_route, owner, 8);
LND_ASSERT_FIELD(lnd_health_route, kind, 12);
LND_ASSERT_SIZE(lnd_health_info, 40);
LND_ASSERT_FIELD(lnd_health_info, size, 0);
LND_ASSERT_FIELD(lnd_health_info, value, 4);
LND_ASSERT_FIELD(lnd_health_info, nid, 8);
LND_ASSERT_FIELD(lnd_health_info, heard, 16);
LND_ASSERT_FIELD(lnd_health_info, in_flight, 24);
LND_ASSERT_FIELD(lnd_health_info, up, 28);
LND_ASSERT_FIELD(lnd_health_info, fatal, 32);
LND_ASSERT_FIELD(lnd_health_info, draining, 36);
LND_ASSERT_SIZE(lnd_tracker, 48);
LND_ASSERT_FIELD(lnd_tracker, size, 0);
LND_ASSERT_FIELD(lnd_tracker, state, 4);
LND_ASSERT_FIELD(lnd_tracker, deadline, 8);
LND_ASSERT_FIELD(lnd_tracker, local, 16);
LND_ASSERT_FIELD(lnd_tracker, hop, 32);
LND_ASSERT_SIZE(lnd_arrival, 64);
LND_ASSERT_FIELD(lnd_arrival, size, 0);
LND_ASSERT_FIELD(lnd_arrival, kind, 4);
LND_ASSERT_FIELD(lnd_arrival, nid, 8);
LND_ASSERT_FIELD(lnd_arrival, request, 16);
LND_ASSERT_FIELD(lnd_arrival, header, 32);
LND_ASSERT_FIELD(lnd_arrival, payload, 40);
LND_ASSERT_FIELD(lnd_arrival, header_len, 48);
LND_ASSERT_FIELD(lnd_arrival, len, 52);
LND_ASSERT_FIELD(lnd_arrival, now, 56);
LND_ASSERT_SIZE(lnd_metric_info, 256);
LND_ASSERT_FIELD(lnd_metric_info, size, 0);
LND_ASSERT_FIELD(lnd_metric_info, kind, 4);
LND_ASSERT_FIELD(lnd_metric_info, name, 8);
LND_ASSERT_FIELD(lnd_metric_info, unit, 40);
LND_ASSERT_FIELD(lnd_metric_info, help, 56);
LND_ASSERT_SIZE(lnd_account, 184);
LND_ASSERT_FIELD(lnd_account, size, 0);
LND_ASSERT_FIELD(lnd_account, wait, 4);
LND_ASSERT_FIELD(lnd_account, nid, 8);
LND_ASSERT_FIELD(lnd_account, points, 16);
LND_ASSERT_FIELD(lnd_account, waits, 72);
LND_ASSERT_FIELD(lnd_account, since, 128);
LND_ASSERT_FIELD(lnd_account, given_up, 136);
LND_ASSERT_FIELD(lnd_account, deadline, 144);
LND_ASSERT_FIELD(lnd_account, given_up_in, 152);
LND_ASSERT_FIELD(lnd_account, len, 156);
LND_ASSERT_FIELD(lnd_account, steps, 160);
LND_ASSERT_FIELD(lnd_account, ended, 164);
LND_ASSERT_FIELD(lnd_account, error, 168);
LND_ASSERT_FIELD(lnd_account, health_class, 172);
LND_ASSERT_FIELD(lnd_account, cause, 176);
LND_ASSERT_FIELD(lnd_account, place, 180);
LND_ASSERT_SIZE(lnd_histogram, 208);
LND_ASSERT_FIELD(lnd_histogram, size, 0);
LND_ASSERT_FIELD(lnd_histogram, reserved, 4);
LND_ASSERT_FIELD(lnd_histogram, count, 8);
LND_ASSERT_FIELD(lnd_histogram, sum, 16);
LND_ASSERT_FIELD(lnd_histogram, min, 24);
LND_ASSERT_FIELD(lnd_histogram, max, 32);
LND_ASSERT_FIELD(lnd_histogram, buckets, 40);
LND_ASSERT_SIZE(lnd_peer, 24);
LND_ASSERT_FIELD(lnd_peer, nid, 0);
LND_ASSERT_FIELD(lnd_peer, index, 8);
LND_ASSERT_FIELD(lnd_peer, generation, 12);
LND_ASSERT_FIELD(lnd_peer, ni, 16);
LND_ASSERT_FIELD(lnd_peer, kind, 20);
LND_ASSERT_SIZE(lnd_peer_info, 72);
LND_ASSERT_FIELD(lnd_peer_info, size, 0);
LND_ASSERT_FIELD(lnd_peer_info, state, 4);
LND_ASSERT_FIELD(lnd_peer_info, peer, 8);
LND_ASSERT_FIELD(lnd_peer_info, incarnation, 32);
LND_ASSERT_FIELD(lnd_peer_info, last_heard, 40);
LND_ASSERT_FIELD(lnd_peer_info, transfers, 48);
LND_ASSERT_FIELD(lnd_peer_info, credits, 52);
LND_ASSERT_FIELD(lnd_peer_info, in_flight, 56);
LND_ASSERT_FIELD(lnd_peer_info, session, 60);
LND_ASSERT_FIELD(lnd_peer_info, pulls, 64);
LND_ASSERT_FIELD(lnd_peer_info, pulls_waiting, 68);
LND_ASSERT_SIZE(lnd_blocker, 56);
LND_ASSERT_FIELD(lnd_blocker, size, 0);
LND_ASSERT_FIELD(lnd_blocker, kind, 4);
LND_ASSERT_FIELD(lnd_blocker, transfer, 8);
LND_ASSERT_FIELD(lnd_blocker, nid, 24);
LND_ASSERT_FIELD(lnd_blocker, until, 32);
LND_ASSERT_FIELD(lnd_blocker, link, 40);
LND_ASSERT_FIELD(lnd_blocker, word, 44);
LND_ASSERT_FIELD(lnd_blocker, link_state, 48);
LND_ASSERT_FIELD(lnd_blocker, reserved, 52);
LND_ASSERT_SIZE(lnd_stats, 80);
LND_ASSERT_FIELD(lnd_stats, size, 0);
LND_ASSERT_FIELD(lnd_stats, run_state, 4);
LND_ASSERT_FIELD(lnd_stats, active, 8);
LND_ASSERT_FIELD(lnd_stats, passive, 12);
LND_ASSERT_FIELD(lnd_stats, peers, 16);
LND_ASSERT_FIELD(lnd_stats, counters, 20);
LND_ASSERT_FIELD(lnd_stats, frames_control, 24);
LND_ASSERT_FIELD(lnd_stats, frames_lnd, 32);
LND_ASSERT_FIELD(lnd_stats, frames_bad, 40);
LND_ASSERT_FIELD(lnd_stats, frames_forged, 48);
LND_ASSERT_FIELD(lnd_stats, completions, 56);
LND_ASSERT_FIELD(lnd_stats, interrupts, 64);
LND_ASSERT_FIELD(lnd_stats, misuses, 72);
LND_ASSERT_SIZE(lnd_send_request, 88);
LND_ASSERT_FIELD(lnd_send_request, size, 0);
LND_ASSERT_FIELD(lnd_send_request, kind, 4);
LND_ASSERT_FIELD(lnd_send_request, nid, 8);
LND_ASSERT_FIELD(lnd_send_request, link, 16);
LND_ASSERT_FIELD(lnd_send_request, routed, 20);
LND_ASSERT_FIELD(lnd_send_request, header, 24);
LND_ASSERT_FIELD(lnd_send_request, frags, 32);
LND_ASSERT_FIELD(lnd_send_request, header_len, 40);
LND_ASSERT_FIELD(lnd_send_request, nfrags, 44);
LND_ASSERT_FIELD(lnd_send_request, deadline, 48);
LND_ASSERT_FIELD(lnd_send_request, user, 56);
LND_ASSERT_FIELD(lnd_send_request, peer, 64);
#undef LND_ASSERT_FIELD
#undef LND_ASSERT_SIZE
#undef LND_ASSERT
#endif

#endif /* LND_H */
