/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lnd.h - the inside of a Lustre Network Driver, as a C library.
 *
 * Generated from ffi/src; do not edit. docs/c-abi.md explains it, with an example.
 *
 * Contract of every call: a pointer is NULL or points to what its comment says, and stays valid
 * while the call runs; nobody else writes to what is read. A NULL where none may be, a struct of
 * another size, misaligned memory, a stale or foreign handle, a call in the wrong context or from
 * inside an operation is an error and changes nothing.
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

/* In lnd_config.flags: frames carry checksums, and such without are refused. */
#define LND_CHECKSUM 1U

/*
 * In lnd_config.flags: the channel is reliable. A frame that it called sent reaches the peer's
 * driver, however long that does not run, unless its incarnation ends. Without it a short
 * message that ended well is reported as LND_DELIVERY_SENT, not as delivered. lnd_config_init()
 * leaves it out. Frames of an incarnation that has ended, and frames for one, may stay in the
 * channel.
 */
#define LND_RELIABLE 2U

/*
 * In lnd_config.flags: what send() takes has ended when it returns, as in memory that the sender
 * writes itself; it never returns LND_SEND_PENDING. A short message may then end within
 * lnd_submit(). lnd_config_init() leaves it out.
 */
#define LND_ENDS_AT_ONCE 4U

/*
 * In lnd_config.flags: the engine, which is operations, cannot take staged memory back while the
 * peer may be reading it, as a queue pair cannot: the read would end well with a part of the
 * data. The peer is asked first (CANCEL), and engine_invalidate() is called for staged memory
 * once it does not read, or not any more. Without its answer within @drain_bound the connection
 * is stopped, or the link. All nodes say so, or none.
 */
#define LND_CANCEL_FIRST 8U

/* All flags that exist. */
#define LND_FLAGS (((LND_CHECKSUM | LND_RELIABLE) | LND_ENDS_AT_ONCE) | LND_CANCEL_FIRST)

/* Bytes of a stamp in a message's header. */
#define LND_STAMP_BYTES 24U

/* Most bytes of a key. */
#define LND_MAX_KEY 32U

/* LND_UNTIL_DEADLINE - As a limit of resends: none but the message's deadline. */
#define LND_UNTIL_DEADLINE 255U

/* LND_MAX_RULES - Most rules of lnd_health_set_rules(). */
#define LND_MAX_RULES 256U

/* LND_NO_SENSITIVITY - An interface has no sensitivity of its own. */
#define LND_NO_SENSITIVITY 0xffffffffU

/* What node_of() returns for a NID that has no number. */
#define LND_NO_NODE 0xffffffffU

/* Longest upper-layer header in bytes. */
#define LND_MAX_HEADER 96U

/* Most fragments of one transfer. */
#define LND_MAX_FRAGMENTS 256U

/* No particular link. */
#define LND_ANY_LINK 0xffffffffU

/* Later than every time: as a deadline, never. */
#define LND_NEVER 0xffffffffffffffffULL

/* No NID: who has sent a frame is not known, see lnd_frame_in(). No node may have this NID. */
#define LND_NID_UNKNOWN 0xffffffffffffffffULL

/* Alignment of an NI's memory and of ring memory. */
#define LND_ALIGN 64U

/* The version of this ABI; in lnd_config.abi_version. */
#define LND_ABI_VERSION 1U

/* The oldest ABI that callers may still have been compiled for. */
#define LND_ABI_OLDEST 1U

/* The library's version, first number. */
#define LND_VERSION_MAJOR 0U

/* The library's version, second number. */
#define LND_VERSION_MINOR 1U

/* The library's version, third number. */
#define LND_VERSION_PATCH 0U

/**
 * enum lnd_error - How a call ended.
 *
 * LND_OK, LND_DONE and LND_REQUEST are no errors. An error means that nothing was done, unless the call
 * says otherwise. Numbers are never used
 * again for another meaning; those up to 127 that are not listed are reserved for later versions.
 */
enum lnd_error {
	/** @LND_OK: Done. */
	LND_OK = 0,
	/** @LND_E_NULL: A pointer that must not be NULL is. */
	LND_E_NULL = 1,
	/** @LND_E_SIZE: A struct's size field is not the size of that struct in this version. */
	LND_E_SIZE = 2,
	/** @LND_E_ALIGN: A pointer is not aligned as its type needs. */
	LND_E_ALIGN = 3,
	/** @LND_E_VERSION: The library does not speak this version of the ABI. */
	LND_E_VERSION = 4,
	/** @LND_E_CONFIG: A value of the configuration is out of its range. */
	LND_E_CONFIG = 5,
	/** @LND_E_OPS: An operation that must be given is NULL. */
	LND_E_OPS = 6,
	/** @LND_E_MEMORY: The memory is too small. */
	LND_E_MEMORY = 7,
	/** @LND_E_NI: This is no NI: never created, or destroyed. */
	LND_E_NI = 8,
	/** @LND_E_CONTEXT: The call is for threads and was made in an interrupt. */
	LND_E_CONTEXT = 9,
	/**
	 * @LND_E_REENTRY: The call was made from within an operation or callback that may not
	 * make it.
	 */
	LND_E_REENTRY = 10,
	/**
	 * @LND_E_BUSY: Another context is inside: the lock does not exclude it, or does not
	 * have to.
	 */
	LND_E_BUSY = 11,
	/** @LND_E_FOREIGN: The handle belongs to another NI. */
	LND_E_FOREIGN = 12,
	/** @LND_E_STALE: The handle is of something that has ended. */
	LND_E_STALE = 13,
	/** @LND_E_ARGUMENT: A number is out of its range. */
	LND_E_ARGUMENT = 14,
	/** @LND_E_LINK: There is no such link. */
	LND_E_LINK = 15,
	/** @LND_E_NO_ROUTE: There is no way to this NID, or it is our own. */
	LND_E_NO_ROUTE = 16,
	/** @LND_E_PEER_DOWN: The peer is down. */
	LND_E_PEER_DOWN = 17,
	/** @LND_E_PEERS_FULL: No more peers, interfaces or routes can be taken up. */
	LND_E_PEERS_FULL = 18,
	/** @LND_E_NO_SLOTS: All transfer slots are in use: try again when something has ended. */
	LND_E_NO_SLOTS = 19,
	/** @LND_E_NO_LISTS: All fragment lists are in use: try again when something has ended. */
	LND_E_NO_LISTS = 20,
	/** @LND_E_SHUTTING_DOWN: The NI is shutting down. */
	LND_E_SHUTTING_DOWN = 21,
	/**
	 * @LND_E_FRAGMENTS: A fragment vector breaks a rule: too many, empty, too long, or past
	 * the address space.
	 */
	LND_E_FRAGMENTS = 22,
	/** @LND_E_ADDRESS: A fragment lies outside of what can be reached. */
	LND_E_ADDRESS = 23,
	/** @LND_E_HEADER: The upper-layer header is longer than LND_MAX_HEADER. */
	LND_E_HEADER = 24,
	/** @LND_E_TOO_LONG: More bytes than the fragments hold or the other side has room for. */
	LND_E_TOO_LONG = 25,
	/** @LND_E_DEADLINE: The deadline has passed already. */
	LND_E_DEADLINE = 26,
	/** @LND_E_WRONG_KIND: The call does not fit this kind of request, action or interface. */
	LND_E_WRONG_KIND = 27,
	/** @LND_E_GONE: The request has ended meanwhile: nothing will be reported. */
	LND_E_GONE = 28,
	/** @LND_E_WAIT: No room for the frame now: keep it and offer it again. */
	LND_E_WAIT = 29,
	/** @LND_E_FRAME: The frame makes no sense; it was dropped and counted. */
	LND_E_FRAME = 30,
	/**
	 * @LND_E_RUNNING: The NI still runs: it is not quiescent, or something is not reported
	 * yet; or the link does not wait for a proof.
	 */
	LND_E_RUNNING = 31,
	/** @LND_E_END: There is nothing (more) of that kind. */
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
	/**
	 * @LND_E_BOOKS: The NI's own books do not add up; nothing that a caller can do brings
	 * this about.
	 */
	LND_E_BOOKS = 37,
	/** @LND_E_KNOWN: It is known already. */
	LND_E_KNOWN = 38,
	/**
	 * @LND_DONE: Done, and ended: what was accepted has ended within the call, whose report
	 * says how. No finalize() comes.
	 */
	LND_DONE = 39,
	/**
	 * @LND_REQUEST: The frame is a peer's request, which stays in the channel until it is
	 * decided: see lnd_frame_in().
	 */
	LND_REQUEST = 40,
	/** @LND_E_WIDTH: Not an error: makes the enum 32 bits wide with every compiler. */
	LND_E_WIDTH = 2147483647,
};

/**
 * enum lnd_context - What context() returns.
 */
enum lnd_context {
	/** @LND_CONTEXT_THREAD: A thread, or whatever else may take the lock. */
	LND_CONTEXT_THREAD = 0,
	/** @LND_CONTEXT_INTERRUPT: An interrupt that may have interrupted the lock's holder. */
	LND_CONTEXT_INTERRUPT = 1,
};

/**
 * enum lnd_lane - Which queue of the channel a frame travels in.
 */
enum lnd_lane {
	/** @LND_LANE_REQUEST: Requests; one that finds no receiver's room waits. */
	LND_LANE_REQUEST = 0,
	/**
	 * @LND_LANE_CONTROL: Answers, greetings, credits; must never wait behind the other
	 * lane.
	 */
	LND_LANE_CONTROL = 1,
};

/**
 * enum lnd_send - What send() returns.
 */
enum lnd_send {
	/** @LND_SEND_DONE: Handed over and done. */
	LND_SEND_DONE = 0,
	/**
	 * @LND_SEND_PENDING: Handed over; lnd_sent() tells the end if the frame is tracked. Not
	 * with LND_ENDS_AT_ONCE.
	 */
	LND_SEND_PENDING = 1,
	/** @LND_SEND_FAILED: Handed over and failed: known not to be delivered. */
	LND_SEND_FAILED = 2,
	/** @LND_SEND_FULL: No room: not handed over. */
	LND_SEND_FULL = 3,
	/**
	 * @LND_SEND_TOO_LONG: Longer than the channel's frames: not handed over. The message
	 * ends as a local failure, and bug() is told: lnd_config.immediate_max is too large for
	 * this channel, see lnd_frame_size().
	 */
	LND_SEND_TOO_LONG = 4,
};

/**
 * enum lnd_motion - Which way a descriptor moves data.
 */
enum lnd_motion {
	/** @LND_MOTION_STAGE: Memory that the peer, and no other node, may read. */
	LND_MOTION_STAGE = 0,
	/** @LND_MOTION_PULL: Read what the peer has staged. */
	LND_MOTION_PULL = 1,
};

/**
 * enum lnd_post - What engine_post() returns.
 */
enum lnd_post {
	/** @LND_POST_DONE: Posted: it comes back by lnd_completed(), or by a stop. */
	LND_POST_DONE = 0,
	/**
	 * @LND_POST_INVALID: Not posted: the engine cannot do this. The transfer ends as a
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
	 * @LND_RETURNED_UNTOUCHED: With an error, and the engine vouches that not one byte was
	 * moved, or will be.
	 */
	LND_RETURNED_UNTOUCHED = 1,
	/** @LND_RETURNED_TOUCHED: With an error, and bytes may have been moved. */
	LND_RETURNED_TOUCHED = 2,
	/** @LND_RETURNED_UNKNOWN: Of engine_reclaim() alone: nothing is known of its end. */
	LND_RETURNED_UNKNOWN = 3,
};

/**
 * enum lnd_kind - The four kinds of message.
 */
enum lnd_kind {
	/** @LND_PUT: Payload for the peer. */
	LND_PUT = 1,
	/** @LND_ACK: The answer to a PUT that wants one. */
	LND_ACK = 2,
	/** @LND_GET: A wish for payload. */
	LND_GET = 3,
	/** @LND_REPLY: The answer to a GET that was not optimised. */
	LND_REPLY = 4,
};

/**
 * enum lnd_request_kind - What a peer asks for.
 */
enum lnd_request_kind {
	/**
	 * @LND_REQUEST_IMMEDIATE: A PUT, an ACK or a REPLY whose payload came along: lnd_recv()
	 * copies it. Or a GET that is not optimised, without payload: lnd_recv() of no bytes or
	 * lnd_nak() ends it, and the answer is an LND_REPLY of its own. Which of them it is, the
	 * upper layer's header says.
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
	/** @LND_NAK_NO_RESOURCES: A resource is missing; the same request may succeed later. */
	LND_NAK_NO_RESOURCES = 2,
	/** @LND_NAK_SHUTTING_DOWN: Shutting down. */
	LND_NAK_SHUTTING_DOWN = 3,
	/** @LND_NAK_BAD_REQUEST: The request makes no sense. */
	LND_NAK_BAD_REQUEST = 4,
	/** @LND_NAK_FAILED: Failed locally. */
	LND_NAK_FAILED = 5,
};

/**
 * enum lnd_role - What a reported transfer was.
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
};

/**
 * enum lnd_health_class - Health classes, by LNet's numbers.
 */
enum lnd_health_class {
	/** @LND_HEALTH_OK: Nothing is wrong. */
	LND_HEALTH_OK = 0,
	/** @LND_HEALTH_LOCAL_INTERRUPT: Interrupted locally. */
	LND_HEALTH_LOCAL_INTERRUPT = 1,
	/** @LND_HEALTH_LOCAL_DROPPED: Never left this node. */
	LND_HEALTH_LOCAL_DROPPED = 2,
	/** @LND_HEALTH_LOCAL_ABORTED: Aborted locally. */
	LND_HEALTH_LOCAL_ABORTED = 3,
	/** @LND_HEALTH_LOCAL_NO_ROUTE: No path from this interface. */
	LND_HEALTH_LOCAL_NO_ROUTE = 4,
	/** @LND_HEALTH_LOCAL_ERROR: A local error. */
	LND_HEALTH_LOCAL_ERROR = 5,
	/** @LND_HEALTH_LOCAL_TIMEOUT: Timed out in a local queue. */
	LND_HEALTH_LOCAL_TIMEOUT = 6,
	/** @LND_HEALTH_REMOTE_ERROR: The peer had it and failed. */
	LND_HEALTH_REMOTE_ERROR = 7,
	/** @LND_HEALTH_REMOTE_DROPPED: The peer refused it or the way was lost. */
	LND_HEALTH_REMOTE_DROPPED = 8,
	/** @LND_HEALTH_REMOTE_TIMEOUT: The peer has it and does not answer. */
	LND_HEALTH_REMOTE_TIMEOUT = 9,
	/** @LND_HEALTH_NETWORK_TIMEOUT: Timed out, nobody knows where. */
	LND_HEALTH_NETWORK_TIMEOUT = 10,
};

/**
 * enum lnd_delivery - What is known of the payload's delivery.
 */
enum lnd_delivery {
	/**
	 * @LND_DELIVERED: It was delivered. Of a short message over a reliable channel: the
	 * peer's upper layer sees it, unless the peer's incarnation ends first. Nor does it if
	 * ours ends without lnd_shutdown() before the peer has taken the message, or if the next
	 * incarnation of this node shuts down before that.
	 */
	LND_DELIVERED = 1,
	/** @LND_NOT_DELIVERED: It was not, and will not be. */
	LND_NOT_DELIVERED = 2,
	/** @LND_DELIVERY_UNKNOWN: It may or may not have been. */
	LND_DELIVERY_UNKNOWN = 3,
	/**
	 * @LND_DELIVERY_SENT: It was handed to a channel that may lose it (no LND_RELIABLE);
	 * nothing more is known.
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
	/** @LND_CAUSE_PEER_RESTARTED: The peer came back as another life. */
	LND_CAUSE_PEER_RESTARTED = 2,
	/** @LND_CAUSE_LINK_DOWN: The link failed. */
	LND_CAUSE_LINK_DOWN = 3,
	/** @LND_CAUSE_DEADLINE: The deadline passed. */
	LND_CAUSE_DEADLINE = 4,
	/** @LND_CAUSE_SHUTDOWN: We are shutting down. */
	LND_CAUSE_SHUTDOWN = 5,
	/** @LND_CAUSE_WITHDRAWN: The upper layer withdrew it. */
	LND_CAUSE_WITHDRAWN = 6,
	/** @LND_CAUSE_REFUSED: The peer refused it. */
	LND_CAUSE_REFUSED = 7,
	/** @LND_CAUSE_CHANNEL: The channel failed. */
	LND_CAUSE_CHANNEL = 8,
	/** @LND_CAUSE_DEVICE: The engine failed. */
	LND_CAUSE_DEVICE = 9,
	/** @LND_CAUSE_LOCAL: Something local failed: posting, addresses. */
	LND_CAUSE_LOCAL = 10,
	/** @LND_CAUSE_PROTOCOL: The peer broke the protocol. */
	LND_CAUSE_PROTOCOL = 11,
	/** @LND_CAUSE_CONNECTION_DOWN: The connection with the peer failed or was stopped. */
	LND_CAUSE_CONNECTION_DOWN = 12,
};

/**
 * enum lnd_place - How far a lost transfer had come.
 */
enum lnd_place {
	/** @LND_PLACE_NONE: It was not lost. */
	LND_PLACE_NONE = 0,
	/** @LND_PLACE_QUEUE: In our queue. */
	LND_PLACE_QUEUE = 1,
	/** @LND_PLACE_MESSAGE: In a message that was not delivered. */
	LND_PLACE_MESSAGE = 2,
	/** @LND_PLACE_ANSWER: Its message was out. */
	LND_PLACE_ANSWER = 3,
	/** @LND_PLACE_STAGED: In the engine, not one byte moved. */
	LND_PLACE_STAGED = 4,
	/** @LND_PLACE_MOVING: In the engine, bytes may have moved. */
	LND_PLACE_MOVING = 5,
};

/**
 * enum lnd_peer_state - How far the greeting of a peer has come.
 */
enum lnd_peer_state {
	/** @LND_PEER_UNKNOWN: Not greeted. */
	LND_PEER_UNKNOWN = 0,
	/** @LND_PEER_HANDSHAKE: Our greeting is out. */
	LND_PEER_HANDSHAKE = 1,
	/** @LND_PEER_GOOD: It has answered: requests go out. */
	LND_PEER_GOOD = 2,
	/** @LND_PEER_DOWN: Down. */
	LND_PEER_DOWN = 3,
};

/**
 * enum lnd_link_state - Where a link stands, or a connection.
 */
enum lnd_link_state {
	/** @LND_LINK_UP: In service. */
	LND_LINK_UP = 1,
	/** @LND_LINK_STALLED: Failed; a poster may still be inside. */
	LND_LINK_STALLED = 2,
	/** @LND_LINK_STOPPING: The engine was asked to stop. */
	LND_LINK_STOPPING = 3,
	/** @LND_LINK_RECLAIMING: The engine has stopped; its descriptors are taken back. */
	LND_LINK_RECLAIMING = 4,
	/** @LND_LINK_DOWN: The engine is reset; the link does not work yet. */
	LND_LINK_DOWN = 5,
	/**
	 * @LND_LINK_FAILED: The device does not identify itself, or says what no working device
	 * says. What it has stays lent until it is proven stopped: see lnd_assert_stopped().
	 */
	LND_LINK_FAILED = 6,
};

/**
 * enum lnd_event_kind - What an event is about.
 */
enum lnd_event_kind {
	/** @LND_EVENT_PEER: A peer has changed its state. */
	LND_EVENT_PEER = 1,
	/** @LND_EVENT_LINK: A link has changed its state. */
	LND_EVENT_LINK = 2,
	/** @LND_EVENT_OVERRUN: Events were lost: look at all peers, links and connections. */
	LND_EVENT_OVERRUN = 3,
	/**
	 * @LND_EVENT_CONNECTION: A connection that failed has changed its state; LND_LINK_UP:
	 * it has been reset. Of one that its link takes over, which fails meanwhile, the link's
	 * events tell the rest.
	 */
	LND_EVENT_CONNECTION = 4,
};

/**
 * enum lnd_trace_kind - What a trace record is about.
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
	/** @LND_TRACE_INVALIDATED: A descriptor was asked back. */
	LND_TRACE_INVALIDATED = 5,
	/**
	 * @LND_TRACE_RECLAIMED: A stopped engine's descriptor was taken; @a: 1 if it held its
	 * real end.
	 */
	LND_TRACE_RECLAIMED = 6,
	/** @LND_TRACE_SENT: A message was handed over; @a: lane, @b: number. */
	LND_TRACE_SENT = 7,
	/**
	 * @LND_TRACE_RECEIVED: A message came in; @a: lane, @b: number, @c: 1 if it was acted
	 * upon.
	 */
	LND_TRACE_RECEIVED = 8,
	/** @LND_TRACE_PEER: A peer's state; @a: enum lnd_peer_state. */
	LND_TRACE_PEER = 9,
	/** @LND_TRACE_LINK: A link's state; @a: enum lnd_link_state. */
	LND_TRACE_LINK = 10,
	/** @LND_TRACE_FINALIZED: A transfer was reported; @a: negated errno, @b: health class. */
	LND_TRACE_FINALIZED = 11,
	/**
	 * @LND_TRACE_ENDED: A message that took no transfer has ended; @nid: the other side,
	 * @a: negated errno, @b: health class, @c: its number, @d: its length.
	 */
	LND_TRACE_ENDED = 12,
	/**
	 * @LND_TRACE_CONNECTION: The state of a connection that failed; @nid: the peer, @a:
	 * enum lnd_link_state, @b: its number.
	 */
	LND_TRACE_CONNECTION = 13,
};

/**
 * enum lnd_sent_how - How a short message ended.
 */
enum lnd_sent_how {
	/** @LND_SENT_OK: The channel has done its part. */
	LND_SENT_OK = 0,
	/** @LND_SENT_NOT_DELIVERED: Failed, and known not to be delivered. */
	LND_SENT_NOT_DELIVERED = 1,
	/** @LND_SENT_UNKNOWN: Failed, and nobody knows. */
	LND_SENT_UNKNOWN = 2,
};

/**
 * enum lnd_run_state - How far a shutdown has come.
 */
enum lnd_run_state {
	/** @LND_RUNNING: In service. */
	LND_RUNNING = 1,
	/** @LND_REFUSING: New work is refused. */
	LND_REFUSING = 2,
	/** @LND_DRAINING: What is left is cancelled. */
	LND_DRAINING = 3,
	/** @LND_CLOSING: Peers are told goodbye. */
	LND_CLOSING = 4,
	/** @LND_STOPPING: Engines are being stopped. */
	LND_STOPPING = 5,
	/** @LND_QUIESCENT: Nothing moves and nothing is owed: lnd_ni_destroy() may be called. */
	LND_QUIESCENT = 6,
};

/**
 * enum lnd_blocker_kind - What stands in the way of being idle.
 */
enum lnd_blocker_kind {
	/** @LND_BLOCKER_TRANSFER: A transfer that has not ended. */
	LND_BLOCKER_TRANSFER = 1,
	/**
	 * @LND_BLOCKER_UNREPORTED: A transfer that has ended and is not reported yet: call
	 * lnd_run().
	 */
	LND_BLOCKER_UNREPORTED = 2,
	/** @LND_BLOCKER_LINK: A link whose engine has not stopped. */
	LND_BLOCKER_LINK = 3,
};

/**
 * enum lnd_policy - Which table translates ends into errno and health class.
 */
enum lnd_policy {
	/** @LND_POLICY_SEED: By what is known of the transfer. */
	LND_POLICY_SEED = 0,
	/** @LND_POLICY_O2IB: As o2iblnd reports. */
	LND_POLICY_O2IB = 1,
};

/**
 * enum lnd_dump_what - Which part of the state lnd_dump() writes.
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
 * enum lnd_profile - Which behaviour health has.
 */
enum lnd_profile {
	/** @LND_PROFILE_SEED: All classes of failure are repaired by another path. */
	LND_PROFILE_SEED = 0,
	/** @LND_PROFILE_LNET: As public Lustre does. */
	LND_PROFILE_LNET = 1,
};

/**
 * enum lnd_next - What becomes of a message after a try.
 */
enum lnd_next {
	/** @LND_NEXT_ENDED: It has ended: the journey is stale. */
	LND_NEXT_ENDED = 0,
	/** @LND_NEXT_AGAIN: It is tried again: lnd_health_begin() finds its next path. */
	LND_NEXT_AGAIN = 1,
	/**
	 * @LND_NEXT_LATER: It is tried again, not before the time that lnd_health_next_try()
	 * tells.
	 */
	LND_NEXT_LATER = 2,
};

/**
 * enum lnd_object - What has health: the kind of a struct lnd_health_ni.
 */
enum lnd_object {
	/** @LND_OBJECT_LOCAL: An interface of ours. */
	LND_OBJECT_LOCAL = 1,
	/** @LND_OBJECT_PEER_NI: An interface of a peer. */
	LND_OBJECT_PEER_NI = 2,
};

/**
 * enum lnd_action_kind - What health asks its host to do.
 */
enum lnd_action_kind {
	/** @LND_ACTION_PING: Ping, and tell by lnd_health_answered(). */
	LND_ACTION_PING = 1,
	/** @LND_ACTION_PROBE: Probe, and tell by lnd_prober_ended(). */
	LND_ACTION_PROBE = 2,
	/** @LND_ACTION_CONNECT: Connect, and tell by lnd_health_connected(). */
	LND_ACTION_CONNECT = 3,
};

/**
 * enum lnd_probe_kind - By which operation a peer is probed. None uses a receive buffer.
 */
enum lnd_probe_kind {
	/** @LND_PROBE_ZERO_READ: A read of no bytes. */
	LND_PROBE_ZERO_READ = 0,
	/** @LND_PROBE_ILLEGAL_READ: A read of an address that is surely illegal. */
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
	/** @LND_PROBE_ACCESS_ERROR: The far end refused access: somebody is there. */
	LND_PROBE_ACCESS_ERROR = 1,
	/** @LND_PROBE_RETRY_EXCEEDED: The transport's retries are spent. */
	LND_PROBE_RETRY_EXCEEDED = 2,
	/** @LND_PROBE_OTHER: Anything else: nothing is known. */
	LND_PROBE_OTHER = 3,
};

/**
 * enum lnd_finding - What the prober concludes.
 */
enum lnd_finding {
	/** @LND_FINDING_NOTHING: Nothing new. */
	LND_FINDING_NOTHING = 0,
	/** @LND_FINDING_ALIVE: It lives. */
	LND_FINDING_ALIVE = 1,
	/** @LND_FINDING_DOWN: It is down: tell its NI by lnd_peer_event(). */
	LND_FINDING_DOWN = 2,
	/**
	 * @LND_FINDING_CLEAN_UP: It is down and only sends to us: clean it up, also while it is
	 * in use.
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
	/** @LND_CONNECT_REFUSED: The node is there and nobody listens. */
	LND_CONNECT_REFUSED = 2,
};

/**
 * enum lnd_window_check - What a message that has arrived turned out to be.
 */
enum lnd_window_check {
	/**
	 * @LND_WINDOW_FIRST: The first copy: deliver it, then lnd_health_message_received() or
	 * lnd_health_message_not_received().
	 */
	LND_WINDOW_FIRST = 1,
	/**
	 * @LND_WINDOW_COMING: The first copy is still coming: keep this request and ask again
	 * once that has ended, or refuse it (LND_NAK_NO_RESOURCES).
	 */
	LND_WINDOW_COMING = 2,
	/**
	 * @LND_WINDOW_SECOND: The message was received: drop this copy and answer that it has
	 * arrived (lnd_recv() of no bytes).
	 */
	LND_WINDOW_SECOND = 3,
	/** @LND_WINDOW_OUTSIDE: Too old to know: refuse it (LND_NAK_FAILED). */
	LND_WINDOW_OUTSIDE = 4,
	/**
	 * @LND_WINDOW_STALE: Of or for an incarnation that is not the present one: refuse it
	 * (LND_NAK_FAILED).
	 */
	LND_WINDOW_STALE = 5,
};

/**
 * enum lnd_why_ended - Why a message is not tried again.
 */
enum lnd_why_ended {
	/** @LND_WHY_NOT_ENDED: It is tried again. */
	LND_WHY_NOT_ENDED = 0,
	/** @LND_WHY_DELIVERED: It was delivered. */
	LND_WHY_DELIVERED = 1,
	/**
	 * @LND_WHY_NOT_RESENDABLE: Its class or its owner does not allow it, or another path
	 * could not help.
	 */
	LND_WHY_NOT_RESENDABLE = 2,
	/**
	 * @LND_WHY_MAY_HAVE_ARRIVED: It may have arrived, and the receiver could not recognise
	 * a second copy.
	 */
	LND_WHY_MAY_HAVE_ARRIVED = 3,
	/** @LND_WHY_TRIES: As many tries as may be were made. */
	LND_WHY_TRIES = 4,
	/** @LND_WHY_DEADLINE: Its deadline has passed. */
	LND_WHY_DEADLINE = 5,
	/** @LND_WHY_NO_PATH: There is no other path. */
	LND_WHY_NO_PATH = 6,
};

/**
 * enum lnd_rule_kind - What a rule is about.
 */
enum lnd_rule_kind {
	/** @LND_RULE_NETWORK: A network has the priority. */
	LND_RULE_NETWORK = 1,
	/** @LND_RULE_NID: An interface, ours or a peer's, has the priority. */
	LND_RULE_NID = 2,
	/** @LND_RULE_PAIR: An interface of a peer is preferred from one of ours. */
	LND_RULE_PAIR = 3,
	/** @LND_RULE_GATEWAY: All routes through an interface of a gateway have the priority. */
	LND_RULE_GATEWAY = 4,
};

/**
 * enum lnd_evidence - On which evidence an interface's health changed.
 */
enum lnd_evidence {
	/** @LND_EVIDENCE_MESSAGE: How a try of a message ended. */
	LND_EVIDENCE_MESSAGE = 0,
	/** @LND_EVIDENCE_REFUSAL: A try was refused at the call. */
	LND_EVIDENCE_REFUSAL = 1,
	/** @LND_EVIDENCE_PING: How a recovery ping ended. */
	LND_EVIDENCE_PING = 2,
	/** @LND_EVIDENCE_HEARD: Something was received. */
	LND_EVIDENCE_HEARD = 3,
	/** @LND_EVIDENCE_NO_RESPONSE: An answer did not come in time. */
	LND_EVIDENCE_NO_RESPONSE = 4,
	/** @LND_EVIDENCE_PROBE: What the liveness prober found. */
	LND_EVIDENCE_PROBE = 5,
	/** @LND_EVIDENCE_FABRIC: The fabric's report. */
	LND_EVIDENCE_FABRIC = 6,
	/** @LND_EVIDENCE_OPERATOR: An operator. */
	LND_EVIDENCE_OPERATOR = 7,
};

/**
 * enum lnd_tracker_state - How the wait for an answer stands.
 */
enum lnd_tracker_state {
	/** @LND_TRACKER_OFF: Nothing was sent yet. */
	LND_TRACKER_OFF = 0,
	/** @LND_TRACKER_WAITING: An answer is waited for. */
	LND_TRACKER_WAITING = 1,
	/** @LND_TRACKER_ENDED: The wait is over. */
	LND_TRACKER_ENDED = 2,
};

/**
 * enum lnd_connection - What stands in the way of sending to a peer's interface.
 */
enum lnd_connection {
	/** @LND_CONNECTION_UP: Nothing. */
	LND_CONNECTION_UP = 0,
	/** @LND_CONNECTION_TRYING: A connection is being made: what is sent waits for it. */
	LND_CONNECTION_TRYING = 1,
	/**
	 * @LND_CONNECTION_REFUSED: The node refuses connections: what is sent is refused at
	 * once.
	 */
	LND_CONNECTION_REFUSED = 2,
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
 * struct lnd_ring - Memory that a link's engine and its driver share.
 * @base: the first byte, aligned to 64; lnd_ring_format() has prepared it.
 * @len: bytes.
 */
struct lnd_ring {
	void *base;
	size_t len;
};

/**
 * struct lnd_config - Sizes and times of one NI; all are fixed at creation.
 * @size: sizeof(struct lnd_config).
 * @abi_version: LND_ABI_VERSION.
 * @nid: our NID, not 0.
 * @life: this life of ours, not 0: another number after every start (boot time, random).
 * @slots: transfers at once, 2 to 1,048,576.
 * @passive_slots: how many of them are kept for peers' requests, 1 to slots - 1.
 * @peers: peers known at once, 1 to 1,048,576.
 * @links: links, 1 to LND_MAX_LINKS.
 * @lists: transfers at once of more than one fragment, 0 to 65,535, at most slots.
 * @immediate_max: largest payload in bytes that travels inside a message, 0 to 65,352. The channel must
 *                 take frames of lnd_frame_size() bytes.
 * @depth: requests that each peer may have in flight towards us, 1 to 32.
 * @hello_tries: greetings before a peer counts as down, 1 to 255. It stays down for
 *               @hello_tries times @hello_timeout, unless a frame of it comes before.
 * @batch: most slots, queue entries or timers handled in one call, 1 to 1,048,576.
 * @policy: enum lnd_policy.
 * @flags: LND_CHECKSUM, LND_RELIABLE, LND_ENDS_AT_ONCE, LND_CANCEL_FIRST, or 0. A host whose channel loses
 *         nothing adds LND_RELIABLE.
 * @pulls: pulls under way from each peer at once, 1 to 65,535; what exceeds them waits in order.
 * @connections: connections that may be out of service at once, 0 to 255, for engines that have some:
 *               see lnd_ops.connection. 0: only whole links are stopped.
 * @reserved: 0.
 * @drain_bound: ns within which a recalled descriptor must be back, at least 1 ms.
 * @hello_timeout: ns between two greetings, at least 1 ms.
 * @credit_stall: ns without a credit before the peer's count is asked for, at least 1 ms. The peer
 *                is down if it answers none of @hello_tries greetings after that, as one whose
 *                host does not run for so long.
 * @link_poll: ns between two looks at a link that is out of service or at room in the channel, at least 1 us.
 *        A host that did not call lnd_run() for twice as long may have paused: a silence then ends later.
 * @decision_bound: ns within which a request must have its verdict, at least 1 ms.
 * @rings: the links' memory; the first @links are used.
 *
 * lnd_config_init() fills in everything but @nid, @life and @rings.
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
 * struct lnd_tag - Names one use of a descriptor.
 * @index: the descriptor, below lnd_config.slots: an index into tables of the engine's own.
 * @generation: which of its uses.
 */
struct lnd_tag {
	uint32_t index;
	uint32_t generation;
};

/**
 * struct lnd_frag - A piece of memory by its bus address.
 * @addr: address of the first byte, as the engine and mem_read and mem_write understand it.
 * @len: bytes, 1 to 1 MiB.
 * @reserved: 0.
 */
struct lnd_frag {
	uint64_t addr;
	uint32_t len;
	uint32_t reserved;
};

/**
 * struct lnd_bd - A buffer descriptor that is posted.
 * @size: sizeof(struct lnd_bd).
 * @link: the link.
 * @tag: names it, here and in lnd_completed(). No other descriptor of this index is posted on any link
 *       until this one has come back.
 * @source: a pull: the peer's descriptor; else 0.
 * @nid: the peer.
 * @motion: enum lnd_motion.
 * @length: bytes to move; @frags hold as many at least.
 * @frags: the memory, in order; the vector is the library's again when engine_post() returns.
 * @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
 * @key_len: bytes of @key.
 * @key: a pull: what engine_key() of the peer's engine has said of @source, as the peer has sent it: any
 *       bytes, and none if its engine has no keys. The library's again when engine_post() returns.
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
 * struct lnd_message - Names a short message whose end the channel still has to tell.
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
 * struct lnd_frame - A short message to be sent.
 * @size: sizeof(struct lnd_frame).
 * @link: the link.
 * @lane: enum lnd_lane.
 * @len: bytes.
 * @bytes: the frame; the library's again when send() returns.
 * @nid: to whom.
 * @tracked: 1: if send() returns LND_SEND_PENDING the end must be told by lnd_sent(), once.
 * @reserved: 0.
 * @message: names the message in lnd_sent(). A hello is not tracked and has a name: that it was not
 *           delivered may be told, by send() or by lnd_sent(), and its peer is down at once.
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
 * All handles are values without pointers: keep, copy and compare them as you like. The one with
 * all fields 0 names nothing.
 */
struct lnd_transfer {
	uint32_t index;
	uint32_t generation;
	uint32_t ni;
	uint32_t kind;
};

/**
 * struct lnd_report - The one end of an accepted transfer, as finalize() sees it.
 * @size: sizeof(struct lnd_report).
 * @role: enum lnd_role.
 * @transfer: the handle that the transfer had; stale from now on.
 * @user: what the caller gave with it.
 * @nid: the other side, or 0 if it has been forgotten.
 * @error: 0, or a negative errno.
 * @health: enum lnd_health_class; LND_HEALTH_OK if and only if @error is 0.
 * @delivery: enum lnd_delivery.
 * @resend: 1 if sending it again cannot deliver it twice.
 * @cause: enum lnd_cause.
 * @place: enum lnd_place.
 * @bytes: bytes moved if it ended well, else 0. Of a GET that went as a mere header (see
 *         lnd_submit()): 0.
 * @reply: 1: this is the end of a GET and of its reply. 0 for a GET that went as a mere header: its
 *         reply is an LND_REPLY of the peer's.
 * @lost_race: 1 if it had been cancelled and came back good all the same.
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
 * struct lnd_event - News of a peer, a link or a connection, as event() sees it.
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
 * struct lnd_trace - One happening, as trace() sees it.
 * @size: sizeof(struct lnd_trace).
 * @kind: enum lnd_trace_kind.
 * @now: the time.
 * @nid: the peer, or 0.
 * @index: slot of the transfer.
 * @generation: use of the slot; both 0 if it is not about a transfer.
 * @link: the link, or LND_ANY_LINK.
 * @a: by kind.
 * @b: by kind.
 * @c: by kind.
 * @d: by kind.
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
 * Three groups by context. *Inside* operations are called with the lock held. They may not sleep. Of
 * the library they may call what is for any context, as lnd_sent(), lnd_link_failed(),
 * lnd_interrupt() and lnd_completed(); calls for threads return LND_E_REENTRY. *Outside* callbacks are called with
 * nothing held and may call everything but what called them. *Any* may be called in interrupts
 * too, and call nothing. An operation that is marked optional may be NULL. None may unwind or longjmp.
 */
struct lnd_ops {
	/** @size: sizeof(struct lnd_ops). */
	uint32_t size;
	/** @reserved: 0. */
	uint32_t reserved;
	/**
	 * @lock: Takes the NI's lock. Optional, with unlock. Without it and with self_id the
	 * library takes a spin lock of its own: for threads in user space, not for a kernel, and
	 * not where a thread of higher priority may interrupt the one that holds it. Without it
	 * and without self_id one thread makes all calls that are for threads. Context: thread,
	 * not called while the lock is held.
	 */
	void (*lock)(void *ctx);
	/** @unlock: Releases it. Context: thread. */
	void (*unlock)(void *ctx);
	/**
	 * @self_id: A number, not 0, of whoever runs now, different from all who may call at
	 * the same time: in Linux, in_task() ? current->pid : 0x40000000 | smp_processor_id().
	 * Must be given with lock, optional without. Context: any.
	 */
	uint32_t (*self_id)(void *ctx);
	/**
	 * @context: enum lnd_context of the caller. Optional: then calls in a wrong context are
	 * not found out. Context: any.
	 */
	uint32_t (*context)(void *ctx);
	/**
	 * @reg_read32: Reads a register of a link's engine; what the device wrote before is
	 * visible afterwards. Offsets: docs/registers.md. Optional, with reg_write32: then the
	 * registers are the first 256 bytes of the link's ring memory. Context: inside, and
	 * lnd_interrupt().
	 */
	uint32_t (*reg_read32)(void *ctx, uint32_t link, uint32_t offset);
	/** @reg_write32: Writes a register. Context: inside, and lnd_interrupt(). */
	void (*reg_write32)(void *ctx, uint32_t link, uint32_t offset, uint32_t value);
	/**
	 * @dma_barrier: The doorbell barrier, called before each reg_write32: what was written
	 * to memory before is visible to the device first. Optional: then the processor's own
	 * full fence is used. Context: inside, and lnd_interrupt().
	 */
	void (*dma_barrier)(void *ctx);
	/**
	 * @node_of: The fabric's number of a node, 0 to 255, or LND_NO_NODE. Optional: then it
	 * is the lower half of the NID less one. Context: inside.
	 */
	uint32_t (*node_of)(void *ctx, uint64_t nid);
	/**
	 * @engine_post: Posts a descriptor; enum lnd_post. The engine may begin once
	 * engine_doorbell() has been called, and not before. Optional, with engine_doorbell,
	 * engine_invalidate, engine_stop and engine_reset: then there are no registers, no ring
	 * memory and no node_of, and lnd_completed() tells what came back. Context: inside.
	 */
	uint32_t (*engine_post)(void *ctx, const struct lnd_bd *bd);
	/**
	 * @engine_key: What the peer's engine needs beside the tag to pull what is staged under
	 * it: a remote key, an address. Writes at most LND_MAX_KEY bytes; returns their number,
	 * and 0 only for one that has come back meanwhile. Called once for each use, behind
	 * engine_doorbell(). The key is valid until the descriptor comes back, and of no other
	 * use. Optional: then engines pull by tags alone. Given by all nodes, or by none.
	 * Context: inside.
	 */
	uint32_t (*engine_key)(void *ctx, uint32_t link, struct lnd_tag tag, void *key);
	/**
	 * @engine_doorbell: Everything posted on a link since the last call may begin. Context:
	 * inside.
	 */
	void (*engine_doorbell)(void *ctx, uint32_t link);
	/**
	 * @engine_invalidate: Asks for a descriptor back. Never waits: it comes back by
	 * lnd_completed() with any outcome, or not at all; then its link, or its connection, is
	 * stopped after lnd_config.drain_bound. Of staged memory the peer may be reading: it
	 * learns that it did not get all, or lnd_config.flags has LND_CANCEL_FIRST. One that is
	 * not out is no error. Context: inside.
	 */
	void (*engine_invalidate)(void *ctx, uint32_t link, struct lnd_tag tag);
	/**
	 * @engine_stop: Asks for a stop of the whole link. Never waits: if stopping sleeps, a
	 * worker is told. Context: inside.
	 */
	void (*engine_stop)(void *ctx, uint32_t link);
	/**
	 * @engine_quiesced: 1 once the link is proven stopped, until it is reset; else 0. That
	 * is a promise: no engine reads or writes this node's memory by this link, by whatever
	 * key, and lnd_completed() is told of none of its descriptors any more. Optional: then
	 * lnd_assert_stopped() tells. Context: inside.
	 */
	uint32_t (*engine_quiesced)(void *ctx, uint32_t link);
	/**
	 * @engine_reclaim: After the proof of the link, or of the connection with the peer:
	 * what is known of a descriptor's end; enum lnd_returned. It is taken away from the
	 * engine. Called for every one that is out, before engine_reset() or connection_reset().
	 * Optional: then nothing is known. Context: inside.
	 */
	uint32_t (*engine_reclaim)(void *ctx, uint32_t link, struct lnd_tag tag);
	/**
	 * @engine_reset: The stopped link may work again; it has no descriptors. Context:
	 * inside.
	 */
	void (*engine_reset)(void *ctx, uint32_t link);
	/**
	 * @engine_link_up: 1 if the link works, by what the engine itself knows. Optional: then
	 * it does. Context: inside.
	 */
	uint32_t (*engine_link_up)(void *ctx, uint32_t link);
	/**
	 * @engine_features: What the engine can do, in the bits of FEATURES in
	 * docs/registers.md; constant. Optional: then 0. Context: inside, and lnd_ni_create().
	 */
	uint32_t (*engine_features)(void *ctx, uint32_t link);
	/**
	 * @connection: The number of the present connection with a peer by a link, not 0, if
	 * the engine can stop each of its connections by itself: a queue pair, an endpoint. 0:
	 * only the whole link can be stopped; for each peer and link that never changes. No two
	 * connections with a peer by a link have the same number, and the number is that of the
	 * next connection from connection_reset() on and at no other time. Optional, with
	 * connection_stop and connection_reset, and needed if lnd_config.connections is not 0.
	 * Context: inside.
	 */
	uint32_t (*connection)(void *ctx, uint32_t link, uint64_t nid);
	/**
	 * @connection_stop: Asks for a stop of one connection. Never waits: if stopping sleeps,
	 * a worker is told. Context: inside.
	 */
	void (*connection_stop)(void *ctx, uint32_t link, uint64_t nid, uint32_t number);
	/**
	 * @connection_quiesced: 1 once the connection is proven stopped, until it is reset;
	 * else 0. That is a promise: for the transfers with this peer by this link neither
	 * engine reads or writes this node's memory, by whatever connection; no key made for
	 * them is valid; no descriptor of them is worked on, from the post ring or for a recall;
	 * and no message handed over on the connection is reported by lnd_sent(). Drained queues
	 * alone are no proof. One that was never made, or is gone, has stopped. Optional: then
	 * lnd_connection_stopped() tells. Context: inside.
	 */
	uint32_t (*connection_quiesced)(void *ctx, uint32_t link, uint64_t nid, uint32_t number);
	/**
	 * @connection_reset: The stopped connection of this number is done with: what it had
	 * has been taken back, and it may be made anew, under another number. Number 0, with
	 * LND_NID_UNKNOWN: the engine of the link is about to be reset, and with it every
	 * connection of the link that was asked to stop or has failed: make those anew, whether
	 * the NI has heard of it or not. Context: inside.
	 */
	void (*connection_reset)(void *ctx, uint32_t link, uint64_t nid, uint32_t number);
	/**
	 * @reaches: 1 if there is a way to this NID at all. Optional: then there is to every
	 * one. Context: inside.
	 */
	uint32_t (*reaches)(void *ctx, uint64_t nid);
	/**
	 * @ready: 1 if the channel has room for one more frame to this NID by this link and
	 * lane; that is a promise to the next send(). If not, lnd_run() asks again, and gives a
	 * time for it. Optional: then there always is. Context: inside.
	 */
	uint32_t (*ready)(void *ctx, uint32_t link, uint64_t nid, uint32_t lane);
	/**
	 * @send: Sends a frame, of lnd_frame_size() bytes at most; enum lnd_send. Never waits.
	 * Context: inside.
	 */
	uint32_t (*send)(void *ctx, const struct lnd_frame *frame);
	/**
	 * @quiesce: The engine of the whole link has stopped: no message handed over on it
	 * before may be reported by lnd_sent() any more. Optional if send() never returns
	 * LND_SEND_PENDING. Context: inside.
	 */
	void (*quiesce)(void *ctx, uint32_t link);
	/**
	 * @mem_read: Copies out of payload memory; 0, or not 0 if it cannot be reached.
	 * Optional, with mem_write, if immediate_max is 0. Context: inside.
	 */
	uint32_t (*mem_read)(void *ctx, uint64_t addr, void *to, uint32_t len);
	/**
	 * @mem_write: Copies into payload memory; 0, or not 0 and nothing was written. Context:
	 * inside.
	 */
	uint32_t (*mem_write)(void *ctx, uint64_t addr, const void *from, uint32_t len);
	/**
	 * @mem_valid: 1 if the engine can reach all of a fragment. Optional: then it can.
	 * Context: inside.
	 */
	uint32_t (*mem_valid)(void *ctx, uint64_t addr, uint32_t len);
	/**
	 * @finalize: A transfer has ended that no call has said LND_DONE of: its memory is the
	 * caller's again. Context: outside, in lnd_run(); may call everything but that.
	 */
	void (*finalize)(void *ctx, const struct lnd_report *report);
	/**
	 * @event: News of a peer, a link or a connection. Optional. Context: outside, in
	 * lnd_run(); may call everything but that.
	 */
	void (*event)(void *ctx, const struct lnd_event *event);
	/**
	 * @wake: lnd_run() shall be called soon; frames that were told LND_E_WAIT are to be
	 * offered again before. Called once between two runs. Optional: then lnd_run() must be
	 * called after every batch of other calls, and waiting frames offered after every
	 * lnd_run(). Context: any; may call nothing.
	 */
	void (*wake)(void *ctx);
	/** @trace: One happening. Optional. Context: any, also inside; may call nothing. */
	void (*trace)(void *ctx, const struct lnd_trace *trace);
	/**
	 * @bug: The platform has broken a rule, or the library's own books do not add up; the
	 * library goes on. Optional. Context: any, also inside; may call nothing.
	 */
	void (*bug)(void *ctx, const char *what);
};

/**
 * struct lnd_request - Names a peer's request that waits for its decision.
 * @index: the link by which it came; slot, of one that lnd_keep() has kept.
 * @generation: use of that place.
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
 * struct lnd_decision - What becomes of a peer's request.
 * @size: sizeof(struct lnd_decision).
 * @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
 * @frags: where the payload goes (lnd_recv()) or lies (lnd_reply()); the vector is copied, the
 *         memory it names is lent until the report.
 * @len: bytes wanted or given: at most those of the request, and of the fragments.
 * @reserved: 0.
 * @deadline: when to give up. What is given to a GET stays lent until then if its requester has
 *            given up or is silent: no frame reports that.
 * @user: comes back in the report.
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
 * struct lnd_health_ni - Names an interface in a health object: one of ours, or a peer's.
 * @index: its place in the table; of ours: 0 for the first one that was added, and so on.
 * @generation: use of the place.
 * @owner: the health object's own number.
 * @kind: enum lnd_object.
 *
 * Stale once the interface, or its peer, was removed. The one with all fields 0 names nothing.
 */
struct lnd_health_ni {
	uint32_t index;
	uint32_t generation;
	uint32_t owner;
	uint32_t kind;
};

/**
 * struct lnd_action - What health asks its host to do.
 * @size: sizeof(struct lnd_action).
 * @kind: enum lnd_action_kind.
 * @index: place; with @generation the action's name.
 * @generation: use of the place.
 * @owner: the health object's own number.
 * @probe: a probe's enum lnd_probe_kind.
 * @target: the interface that is meant.
 * @local: a ping's interface of ours; all 0 if an interface of ours pings itself.
 * @nid: the interface's NID.
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
 * struct lnd_stamp - What goes with a try of a message, so that its receiver recognises a second
 * copy: the upper layer's header carries it as it is.
 * @from: the sender's incarnation.
 * @to: the receiver's incarnation that it is for; 0: whichever there is.
 * @number: the message's number; 0: it has none, and the whole stamp is 0.
 *
 * lnd_stamp_write() and lnd_stamp_read() bring it into the header and out of it, in the same order
 * of bytes on every machine.
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
 * Stale once the peer was removed.
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
 * @locals: interfaces of ours, 1 to 32.
 * @peers: peers, 1 to 16,384.
 * @peer_nis: interfaces of all peers together, @peers to 262,144.
 * @journal: entries of the journal, 0 to 65,536.
 * @journeys: messages on their way at once, 1 to 65,536.
 * @actions: pings, probes and connections under way at once, 1 to 65,536.
 * @profile: enum lnd_profile.
 * @sensitivity: what a failure costs, 0 to 1000; 0: health is off.
 * @retries: an operator's limit of a message's resends, 0 to 254; LND_UNTIL_DEADLINE: the profile's
 *           own, which is none for LND_PROFILE_SEED and 2 for LND_PROFILE_LNET.
 * @seed: of the jitter; another one on each node.
 * @recovery_first: ns to the first recovery ping.
 * @recovery_cap: most ns between two.
 * @resend_first: ns of the first pause of a message whose paths have all been tried.
 * @resend_cap: most ns of such a pause.
 * @recovery_limit: ns after which an interface is given up, 0: never.
 * @probe_idle: ns without traffic after which a peer is probed.
 * @probe_again: ns between two probes of one that does not answer.
 * @probe_hold_off: ns for which a dead path must last before the peer is down.
 * @action_bound: ns after which a ping, probe or connection whose end was not told is over.
 * @action_every: ns for each ping, probe or connection: their budget, at least 1 us.
 * @action_burst: most of them at once, at least 1.
 * @probe_results: dead verdicts before the peer is down.
 * @routes: routes, 0 to 4,096.
 * @routing: 1 if this node is a router.
 * @numa_range: NUMA distances below this count as equal, 0 to 65,535.
 * @connects_at_once: most attempts to connect under way, over all peers, 1 to 65,535.
 * @incarnation: this node's incarnation, the @life of all its NIs; not 0.
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
 * struct lnd_attempts - Names a message on its way over several tries.
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
 * struct lnd_outcome - What becomes of a message after a try.
 * @size: sizeof(struct lnd_outcome).
 * @next: enum lnd_next.
 * @delivery: enum lnd_delivery, of what is known over all tries: what the upper layer is to hear.
 * @health: enum lnd_health_class of the last try.
 * @tries: tries made.
 * @why: enum lnd_why_ended.
 * @cookie: the caller's name for it.
 * @next_try: with LND_NEXT_LATER: when its next try may begin; else 0. lnd_health_next_try() says if
 *            that has become sooner.
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
 * struct lnd_rule - A user-defined policy of selection.
 * @size: sizeof(struct lnd_rule).
 * @kind: enum lnd_rule_kind.
 * @priority: 0 to 65,535; 0 is the best. A pair has none.
 * @network: of LND_RULE_NETWORK: its number, the upper half of the NIDs on it.
 * @nid: of LND_RULE_NID and LND_RULE_GATEWAY: the interface; of LND_RULE_PAIR: ours.
 * @peer_nid: of LND_RULE_PAIR: the peer's interface.
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
 * @number: which change, from 0.
 * @at: when.
 * @cookie: the caller's name for the message that was the evidence; 0: none.
 * @ni: the interface.
 * @nid: its NID; 0: it is gone.
 * @from: health before, 0 to 1000.
 * @to: health after.
 * @up: 1 if it counts as up since.
 * @health_class: enum lnd_health_class that was the evidence, of a message, a refusal or a ping; else 0.
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
 * struct lnd_path - Where the next try of a message goes.
 * @size: sizeof(struct lnd_path).
 * @routed: 1 if the hop is a router: it goes into struct lnd_send_request as it is.
 * @local: our interface.
 * @hop: the next hop's interface.
 * @destination: the peer's interface.
 * @stamp: what the header of this try carries.
 * @hop_nid: the next hop's NID.
 * @slice: until when this try should have ended.
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
 * struct lnd_distance - How far an interface of ours is from the memory and the CPUs of a message.
 * @device: from the device that has the memory, 0 to 255; 0 is the nearest.
 * @numa: from the CPUs, as the machine's NUMA table has it, 0 to 4,095.
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
 * Stale once the route was removed.
 */
struct lnd_health_route {
	uint32_t index;
	uint32_t generation;
	uint32_t owner;
	uint32_t kind;
};

/**
 * struct lnd_health_info - How an interface stands.
 * @size: sizeof(struct lnd_health_info).
 * @value: health, 0 to 1000.
 * @nid: its NID.
 * @heard: when it was last heard of.
 * @in_flight: messages on their way by it.
 * @up: 1 if it counts as up.
 * @fatal: 1 if the fabric has condemned it.
 * @draining: 1 if nothing new is sent by it.
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
 * request, zeroed but for its size before the first try.
 * @size: sizeof(struct lnd_tracker).
 * @state: enum lnd_tracker_state.
 * @deadline: when the answer is due.
 * @local: our interface of the last try.
 * @hop: the next hop's interface of the last try: the only one of which a missing answer says anything.
 */
struct lnd_tracker {
	uint32_t size;
	uint32_t state;
	uint64_t deadline;
	struct lnd_health_ni local;
	struct lnd_health_ni hop;
};

/**
 * struct lnd_arrival - A peer's request, as lnd_frame_in() finds it.
 * @size: sizeof(struct lnd_arrival).
 * @kind: enum lnd_request_kind.
 * @nid: the hop it came from.
 * @request: names it in lnd_recv(), lnd_reply(), lnd_nak() and lnd_keep().
 * @header: the upper layer's header, in the frame.
 * @payload: LND_REQUEST_IMMEDIATE: the payload, in the frame. Else NULL.
 * @header_len: bytes of the header.
 * @len: bytes offered (PUT) or wanted (GET).
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
 * struct lnd_peer - Names a peer in the table of one NI.
 * @nid: its NID.
 * @index: its place in the table.
 * @generation: use of the place.
 * @ni: the NI's own number.
 * @kind: kind of handle.
 *
 * Stale once the NI has forgotten the peer, also if it knows one of the same NID again. A host that sends to
 * one peer often names it so in struct lnd_send_request.
 */
struct lnd_peer {
	uint64_t nid;
	uint32_t index;
	uint32_t generation;
	uint32_t ni;
	uint32_t kind;
};

/**
 * struct lnd_peer_info - How a peer stands.
 * @size: sizeof(struct lnd_peer_info).
 * @state: enum lnd_peer_state.
 * @peer: its handle.
 * @life: its life as we know it, or 0.
 * @last_heard: time of its last message that counted.
 * @transfers: transfers with it.
 * @credits: requests that we may still send.
 * @in_flight: requests of ours that it has not consumed yet.
 * @session: the session that we have opened.
 * @pulls: pulls from it that are under way.
 * @pulls_waiting: pulls from it that wait for those.
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
 * @transfer: the transfer, if it is one.
 * @nid: its other side, or 0.
 * @until: when its wait is bounded by, or LND_NEVER.
 * @link: its link, or LND_ANY_LINK.
 * @word: the transfer's word, as the dump prints it.
 * @link_state: enum lnd_link_state, if it is a link.
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
 * @active: transfers of ours.
 * @passive: transfers that peers have asked for.
 * @peers: peers in the table.
 * @counters: number of counters, see lnd_counter().
 * @frames_control: frames of the control layer.
 * @frames_lnd: other frames.
 * @frames_bad: frames that were dropped, of all causes.
 * @frames_forged: of these, frames that named another sender than their channel did.
 * @completions: completions that interrupts have taken.
 * @interrupts: calls of lnd_interrupt().
 * @misuses: calls that were refused as misuse: re-entry, wrong context, overlapping.
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
 * @link: the link to use, or LND_ANY_LINK. The peer's part goes by its link of the same number; if
 *        that is down, it refuses what is not whole inside a message.
 * @routed: not 0 if the message is routed: a GET is then not optimised.
 * @header: the upper layer's header; copied. May be NULL if it has no bytes.
 * @header_len: its bytes, at most LND_MAX_HEADER.
 * @nfrags: fragments in @frags, at most LND_MAX_FRAGMENTS.
 * @frags: what to send, or for a GET where the reply goes, see lnd_submit(); the vector is copied, the memory it
 *         names is lent until the report.
 * @deadline: when to give up, on the clock of every @now.
 * @user: comes back in the report.
 * @peer: the next hop by its handle, which saves looking its NID up; all fields 0 if @nid names it.
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
 * lnd_config_fault() - What is wrong with a configuration and its operations.
 * @config: the configuration; @nid, @life and @rings are not looked at.
 * @ops: the platform's operations, or NULL: then the configuration alone is looked at.
 *
 * Names the first field of struct lnd_config for which lnd_ni_create() returns LND_E_CONFIG,
 * LND_E_VERSION, LND_E_SIZE or LND_E_UNSUPPORTED, or else the first operation of struct lnd_ops for which
 * it returns LND_E_OPS: one that is missing, or that others exclude.
 *
 * Context: any.
 * Return: its name, such as "passive_slots" or "connection_stop"; "size" also for a pointer that is misaligned, and
 * for @config NULL; NULL: there is none.
 */
const char *lnd_config_fault(const struct lnd_config *config,
			     const struct lnd_ops *ops);

/**
 * lnd_config_init() - Fills in a configuration with the field's usual times.
 * @config: the configuration; every byte of it is written.
 * @abi_version: LND_ABI_VERSION.
 * @slots: transfers at once.
 * @peers: peers known at once.
 * @links: links.
 *
 * @nid, @life and @rings are left for the caller to fill in.
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
 * @config: the configuration; @nid, @life and @rings do not matter.
 *
 * lnd_ops.send must take frames of that many bytes. If the channel takes less, @immediate_max is to be
 * lowered: a byte of it is a byte of the frame, down to 224 bytes. What lnd_soft takes is
 * lnd_soft_frame_max().
 *
 * Context: any.
 * Return: the bytes, or 0 if there can be no such NI.
 */
size_t lnd_frame_size(const struct lnd_config *config);

/**
 * lnd_ring_size() - Bytes of ring memory that each link of this configuration needs.
 * @config: the configuration; @nid, @life and @rings do not matter.
 *
 * Context: any.
 * Return: the bytes, or 0 if there can be no such NI.
 */
size_t lnd_ring_size(const struct lnd_config *config);

/**
 * lnd_ring_format() - Prepares a link's ring memory, before its engine is started.
 * @config: the configuration.
 * @base: the memory, aligned to LND_ALIGN; every byte that counts is written.
 * @len: its bytes, at least lnd_ring_size().
 * @node: our number in the fabric, 0 to 255.
 * @features: what the engine can do: see docs/registers.md.
 *
 * Not for memory that somebody else has formatted (a fabric), nor for a device that is running.
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
 * What waits for room is tried at once, and not at the next @link_poll of struct lnd_config. It makes no
 * difference besides: ready() and connection() of struct lnd_ops say how a connection stands.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_NO_PEER, LND_E_UNSUPPORTED (@connections of struct lnd_config is 0).
 */
enum lnd_error lnd_connection_up(struct lnd_ni *ni,
				 uint32_t link,
				 uint64_t nid,
				 uint64_t now);

/**
 * lnd_connection_down() - A connection has failed.
 * @ni: the NI.
 * @link: the link.
 * @nid: the peer.
 * @number: which of the connections with it: as lnd_ops.connection has said. News of one that has been
 *          reset since are stale, and do not fail the one that has taken its place.
 * @now: the time.
 *
 * What it was moving ends with LND_CAUSE_CONNECTION_DOWN once it is proven stopped, and is lent until
 * then; transfers with other peers go on. What waits for the peer waits, or goes by another link: a
 * connection that is down is not a peer that is down, see lnd_peer_event(). If as many as @connections
 * of struct lnd_config are out of service already, the link is stopped instead. One that is not proven
 * stopped within two @drain_bound is stopped with its link.
 *
 * lnd_run() calls connection_stop() of struct lnd_ops, and connection_reset() at the end. A second report of
 * the same failure changes nothing, nor does one while the link is out of service: its reset is the
 * connection's, and connection_stop() need not have come before.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_NO_PEER (nothing is lent to it), LND_E_STALE (@number is not that of the present
 * connection), LND_E_UNSUPPORTED (@connections of struct lnd_config is 0, or this peer has no connection
 * of its own).
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
 * @number: which of the connections with it: as connection_stop() of struct lnd_ops was told.
 * @now: the time.
 *
 * The promise is that of connection_quiesced() of struct lnd_ops, and the two may be used together. If it
 * is wrong, memory is overwritten that is in use elsewhere.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_NO_PEER, LND_E_STALE (@number is not that of the present connection),
 * LND_E_RUNNING (it waits for no proof: it was not asked to stop, or the proof was there already),
 * LND_E_UNSUPPORTED (as lnd_connection_down()).
 */
enum lnd_error lnd_connection_stopped(struct lnd_ni *ni,
				      uint32_t link,
				      uint64_t nid,
				      uint32_t number,
				      uint64_t now);

/**
 * lnd_connection_state_get() - How a connection stands.
 * @ni: the NI.
 * @link: the link.
 * @nid: the peer.
 * @state: where enum lnd_link_state is written; LND_LINK_UP: it is in service, or its link is out with all
 *         connections.
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
 * @config: the configuration; @nid, @life and @rings do not matter.
 *
 * Context: any.
 * Return: the bytes, or 0 if there can be no such NI.
 */
size_t lnd_ni_size(const struct lnd_config *config);

/**
 * lnd_ni_create() - Creates an NI in the caller's memory.
 * @mem: the memory, aligned to LND_ALIGN; the NI's until lnd_ni_destroy().
 * @len: its bytes, at least lnd_ni_size().
 * @config: sizes, times, names and ring memory; copied.
 * @ops: the platform's operations; copied.
 * @ctx: given to every operation.
 * @ni: where the NI's pointer is written.
 *
 * All links begin down; lnd_run() opens those that work. Calls register operations and no others.
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
 * lnd_ni_destroy() - Ends an NI; its memory and its ring memory are the caller's again.
 * @ni: the NI.
 *
 * Only of an NI that is LND_QUIESCENT and has nothing to report: see lnd_shutdown(). No interrupt
 * and no other call may come after it, or be under way.
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
 * @verdict: where to, and how much; a length of 0 takes nothing and still ends it well.
 * @now: the time.
 * @transfer: where the transfer's handle is written, of what LND_DONE names none; may be NULL.
 * @report: filled in on LND_DONE; its size is set. NULL: every end is told by finalize().
 *
 * On LND_OK there will be exactly one finalize() for it, and the memory is lent until then. On LND_DONE it
 * has ended, @report is its only report, and nothing is lent: so ends an LND_REQUEST_IMMEDIATE whose frame is
 * still there. On LND_E_GONE the request has ended. On any other error it still waits for its decision, but
 * on LND_E_WAIT for its next offer: see lnd_frame_in().
 *
 * The payload of an LND_REQUEST_IMMEDIATE can be received only while its frame is there; after lnd_keep()
 * lnd_recv() of more than no bytes is LND_E_TOO_LONG. A host that needs longer copies the payload before
 * and ends the request later by lnd_nak(), of which the sender does not hear.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_DONE, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE, LND_E_ARGUMENT, LND_E_GONE, LND_E_WAIT, LND_E_WRONG_KIND,
 * LND_E_FRAGMENTS, LND_E_ADDRESS, LND_E_TOO_LONG, LND_E_NO_LISTS.
 */
enum lnd_error lnd_recv(struct lnd_ni *ni,
			struct lnd_request request,
			const struct lnd_decision *decision,
			uint64_t now,
			struct lnd_transfer *transfer,
			struct lnd_report *report);

/**
 * lnd_reply() - Answers a peer's GET with memory of ours.
 * @ni: the NI.
 * @request: the request, of kind LND_REQUEST_GET.
 * @verdict: where from, and how much.
 * @now: the time.
 * @transfer: where the transfer's handle is written; may be NULL.
 *
 * As lnd_recv(), the other way round; it never ends at once.
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
 * lnd_keep() - Keeps a peer's request, to be decided later.
 * @ni: the NI.
 * @request: the request, from lnd_frame_in().
 * @now: the time.
 * @kept: where its handle from now on is written.
 *
 * On LND_OK its frame is not needed any more: header and payload must have been copied before. The request
 * then holds a slot and the peer's credit until lnd_recv(), lnd_reply() or lnd_nak(); it ends by itself
 * after @decision_bound of struct lnd_config, or, with LND_CANCEL_FIRST, when its sender takes it back.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_FOREIGN, LND_E_STALE (also if it was kept before), LND_E_GONE, LND_E_WAIT (see lnd_frame_in()).
 */
enum lnd_error lnd_keep(struct lnd_ni *ni,
			struct lnd_request request,
			uint64_t now,
			struct lnd_request *kept);

/**
 * lnd_nak() - Refuses a peer's request. Nothing will be reported.
 * @ni: the NI.
 * @request: the request.
 * @refusal: enum lnd_nak_reason; the peer is told, unless the payload came along.
 * @now: the time.
 *
 * Of a request that has ended meanwhile nothing is left to refuse: LND_OK, where lnd_recv() and
 * lnd_reply() return LND_E_GONE.
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
 * @cursor: 0 at first, then as it was left: where to go on.
 * @buf: where to write; no zero is appended.
 * @len: its bytes; 256 are enough for every line.
 * @written: where the number of bytes is written: whole lines only.
 *
 * To be called until LND_E_END, with which the last lines come: look at @written then, too. What
 * changes between two calls may be seen twice or not at all.
 *
 * Context: thread. Takes the lock, and looks at @len bytes' worth of lines and 1,024 free slots at
 * most.
 * Return: LND_OK, LND_E_END (all has been written), LND_E_NULL, LND_E_ALIGN, LND_E_NI,
 * LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY, LND_E_ARGUMENT, LND_E_ROOM (not even one line fits).
 */
enum lnd_error lnd_dump(const struct lnd_ni *ni,
			uint32_t what,
			uint32_t *cursor,
			char *buf,
			size_t len,
			size_t *written);

/**
 * lnd_error_errno() - The errno that says best what an error says.
 * @error: enum lnd_error, or any number.
 *
 * Context: any.
 * Return: 0 for LND_OK, LND_DONE and LND_REQUEST, else a negative Linux errno; -EINVAL for a number that is no error.
 */
int32_t lnd_error_errno(uint32_t error);

/**
 * lnd_error_name() - An error's name, as the header spells it.
 * @error: enum lnd_error, or any number.
 *
 * Context: any.
 * Return: text such as "LND_E_NULL"; never NULL.
 */
const char *lnd_error_name(uint32_t error);

/**
 * lnd_health_next_action() - The next thing to do.
 * @health: the object.
 * @now: the time.
 * @action: filled in; its size is set.
 *
 * Every action is to be told about, by the call that its kind names; it takes a place until then, or
 * until @action_bound has passed: then it has failed, is counted ("untold") and its handle is stale.
 *
 * Context: the owner's. Bounded work.
 * Return: LND_OK, LND_E_END (nothing is due, or the budget is spent), LND_E_NO_SLOTS (too many are
 * under way), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_health_next_action(struct lnd_health *health,
				      uint64_t now,
				      struct lnd_action *action);

/**
 * lnd_health_next_time() - When lnd_health_next_action() has something to give next.
 * @health: the object.
 * @next: where the time is written; LND_NEVER: not before another call.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_health_next_time(const struct lnd_health *health, uint64_t *next);

/**
 * lnd_health_answered() - How a ping ended.
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
 * lnd_health_connected() - How an attempt to connect ended.
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
 * lnd_health_connection_lost() - The connection to a peer's interface is gone: it is made again.
 * @health: the object.
 * @peer_ni: the interface.
 * @now: the time.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (an interface of ours).
 */
enum lnd_error lnd_health_connection_lost(struct lnd_health *health,
					  struct lnd_health_ni peer_ni,
					  uint64_t now);

/**
 * lnd_health_connection_settled() - There is a connection to a peer's interface, or none is wanted any
 * longer.
 * @health: the object.
 * @peer_ni: the interface.
 *
 * An attempt under way is over, and its end stale.
 *
 * Context: the owner's.
 * Return: as lnd_health_connection_lost().
 */
enum lnd_error lnd_health_connection_settled(struct lnd_health *health,
					     struct lnd_health_ni peer_ni);

/**
 * lnd_health_connection_get() - What stands in the way of sending to a peer's interface.
 * @health: the object.
 * @peer_ni: the interface.
 * @state: where enum lnd_connection is written.
 * @until: where the time is written until which sends are refused, else 0; may be NULL.
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
 * @remaining: where the number of messages on their way is written; may be NULL. To be called until
 *             it is 0.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_health_shutdown(struct lnd_health *health, uint32_t *remaining);

/**
 * lnd_stamp_write() - Brings a stamp into a message's header.
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
 * lnd_health_peer_incarnation() - A handshake with a peer has shown its incarnation.
 * @health: the object.
 * @peer: the peer; it has an interface already.
 * @incarnation: its incarnation: the @life of struct lnd_peer_info when LND_EVENT_PEER says that
 *               the peer is good.
 *
 * To be called for each such event of each NI, before anything that belongs to that incarnation: so
 * before lnd_health_arrived(). The same incarnation again, and a former one whose handshake was
 * late, change nothing. After a new one, what may have reached a former one is not sent again.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_ARGUMENT (0, or the peer has no interface).
 */
enum lnd_error lnd_health_peer_incarnation(struct lnd_health *health,
					   struct lnd_health_peer peer,
					   uint64_t incarnation);

/**
 * lnd_health_arrived() - A request of a peer has arrived: is it a second copy?
 * @health: the object.
 * @peer: the peer that the message is from.
 * @stamp: the stamp in its header.
 * @check: where enum lnd_window_check is written: what to do with it.
 *
 * To be called for a request of lnd_frame_in(), before the upper layer hears of it. After LND_WINDOW_FIRST the
 * message is *coming*, until lnd_health_message_received() or lnd_health_message_not_received(),
 * one of which must follow. A message without a number is always LND_WINDOW_FIRST.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_arrived(struct lnd_health *health,
				  struct lnd_health_peer peer,
				  const struct lnd_stamp *stamp,
				  uint32_t *check);

/**
 * lnd_health_message_received() - What had arrived as the first copy was received.
 * @health: the object.
 * @peer: the peer that the message is from.
 * @stamp: its stamp.
 *
 * To be called when the finalize() of its lnd_recv() reports no error. Copies that arrive from now
 * on are LND_WINDOW_SECOND. A message that is not coming is left as it is.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_message_received(struct lnd_health *health,
					   struct lnd_health_peer peer,
					   const struct lnd_stamp *stamp);

/**
 * lnd_health_message_not_received() - What had arrived as the first copy was not received.
 * @health: the object.
 * @peer: the peer that the message is from.
 * @stamp: its stamp.
 *
 * To be called when the finalize() of its lnd_recv() reports an error, when lnd_recv() itself
 * fails, and when the request is refused. A copy that arrives from now on is LND_WINDOW_FIRST. A
 * message that is not coming is left as it is.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_message_not_received(struct lnd_health *health,
					       struct lnd_health_peer peer,
					       const struct lnd_stamp *stamp);

/**
 * lnd_health_config_init() - Fills in a configuration with the field's usual numbers.
 * @config: the configuration; every byte of it is written.
 * @abi_version: LND_ABI_VERSION.
 * @locals: interfaces of ours.
 * @peers: peers.
 * @peer_nis: interfaces of all peers together.
 *
 * @incarnation stays 0 and is the caller's to fill in.
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
 * @config: the configuration.
 *
 * Context: any.
 * Return: the bytes, or 0 if there can be no such object.
 */
size_t lnd_health_size(const struct lnd_health_config *config);

/**
 * lnd_health_create() - Creates a node's health in the caller's memory.
 * @mem: the memory, aligned to LND_ALIGN; the object's until lnd_health_destroy(). Initialised: zeroed
 *       before the first object that is made there, and left as it is between two.
 * @len: its bytes, at least lnd_health_size().
 * @config: sizes and knobs; copied.
 * @now: the time.
 * @health: where the object's pointer is written.
 *
 * One object for each incarnation of the node: its numbers begin anew with it.
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
 * Messages on their way and actions under way are forgotten.
 *
 * Context: any; no other call is under way or comes later.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_health_destroy(struct lnd_health *health);

/**
 * lnd_health_ended() - A try has ended, as finalize() reports it.
 * @health: the object.
 * @journey: the message.
 * @report: the report.
 * @now: the time.
 * @result: filled in; its size is set.
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
 * lnd_health_refused() - lnd_submit() has refused a try.
 * @health: the object.
 * @journey: the message.
 * @error: what lnd_submit() returned.
 * @now: the time.
 * @result: filled in; its size is set.
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
 * lnd_health_give_up() - Ends a message's way, with or without a try under way.
 * @health: the object.
 * @journey: the message.
 * @result: filled in, with what is known of delivery; its size is set. May be NULL.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_NULL (the object).
 */
enum lnd_error lnd_health_give_up(struct lnd_health *health,
				  struct lnd_attempts attempts,
				  struct lnd_outcome *result);

/**
 * lnd_health_drain_local() - Takes an interface of ours out of use for maintenance, or back into it.
 * @health: the object.
 * @local: the interface.
 * @drain: 1: nothing new is sent by it; 0: it is used again.
 * @now: the time.
 * @remaining: where the number of messages on their way by it is written; may be NULL. To be called
 *             until it is 0.
 *
 * What is on its way ends as usual. Its health is not touched.
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
 * lnd_health_drain_peer() - The same for all interfaces that a peer has now.
 * @health: the object.
 * @peer: the peer.
 * @drain: 1: nothing new is sent to it; 0: it is used again.
 * @now: the time.
 * @remaining: where the number of messages on their way to it is written, with those between two tries;
 *             may be NULL.
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
 * lnd_health_set_credits() - How many credits an interface has left for sending, for selection.
 * @health: the object.
 * @ni: the interface, of ours or of a peer.
 * @credits: credits left, less what waits for one.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_set_credits(struct lnd_health *health,
				      struct lnd_health_ni ni,
				      int32_t credits);

/**
 * lnd_health_set_sensitivity() - What a failure costs an interface, instead of what the configuration says.
 * @health: the object.
 * @ni: the interface, of ours or of a peer.
 * @sensitivity: 0 to 1000; LND_NO_SENSITIVITY: as the configuration says.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_FOREIGN,
 * LND_E_STALE.
 */
enum lnd_error lnd_health_set_sensitivity(struct lnd_health *health,
					  struct lnd_health_ni ni,
					  uint32_t sensitivity);

/**
 * lnd_health_set_rules() - Replaces the user-defined policies of selection.
 * @health: the object.
 * @rules: the rules, a later one wins; may be NULL if there are none.
 * @count: how many, 0 to LND_MAX_RULES.
 *
 * They bind what there is now: call it again when an interface, a peer or a route was added. What matches
 * no rule has priority 0 and no preference. A route's own priority, of lnd_health_set_route(), is added
 * to that of its gateway's rule.
 *
 * Context: the owner's. Looks at all tables for each rule.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
 */
enum lnd_error lnd_health_set_rules(struct lnd_health *health,
				    const struct lnd_rule *rules,
				    uint32_t count);

/**
 * lnd_health_journal_next() - Reads health's journal: who changed, when, on which evidence.
 * @health: the object.
 * @next: the number of the change wanted, 0 at first; the number after the one read is written there.
 * @change: filled in; its size is set.
 *
 * The journal keeps as many changes as its configuration says. A reader that is late misses the oldest
 * ones, and sees it by the @number of the change.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_END (no such change yet), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI,
 * LND_E_BUSY.
 */
enum lnd_error lnd_health_journal_next(struct lnd_health *health,
				       uint64_t *next,
				       struct lnd_health_change *change);

/**
 * lnd_health_open() - A message begins its way to a peer.
 * @health: the object.
 * @peer: the peer.
 * @deadline: the one deadline, over all tries.
 * @resend: 1 if it may be sent again.
 * @cookie: the caller's name for it, in the journal.
 * @journey: where the handle is written.
 *
 * Ended by lnd_health_ended(), lnd_health_refused() or lnd_health_give_up().
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (no
 * such peer any more), LND_E_NO_SLOTS.
 */
enum lnd_error lnd_health_open(struct lnd_health *health,
			       struct lnd_health_peer peer,
			       uint64_t deadline,
			       uint32_t resend,
			       uint64_t cookie,
			       struct lnd_attempts *attempts);

/**
 * lnd_health_bind() - Binds a message to an interface of ours, of its peer, or to both: a response goes
 * where its request came from.
 * @health: the object.
 * @journey: the message, before its first lnd_health_begin().
 * @local: ours; all 0: any.
 * @peer_ni: its peer's; all 0: any.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND, LND_E_ARGUMENT (an interface of another peer), LND_E_RUNNING (a try has begun).
 */
enum lnd_error lnd_health_bind(struct lnd_health *health,
			       struct lnd_attempts attempts,
			       struct lnd_health_ni local,
			       struct lnd_health_ni peer_ni);

/**
 * lnd_health_begin() - Finds the path of a message's next try, and begins it.
 * @health: the object.
 * @journey: the message.
 * @now: the time.
 * @path: filled in; its size is set.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
 * LND_E_STALE, LND_E_NO_ROUTE (no path that is allowed; lnd_health_give_up() is next),
 * LND_E_DEADLINE (no try may begin any more; the same), LND_E_RUNNING (a try is under way),
 * LND_E_WAIT (not before lnd_health_next_try(); nothing has changed).
 */
enum lnd_error lnd_health_begin(struct lnd_health *health,
				struct lnd_attempts attempts,
				uint64_t now,
				struct lnd_path *path);

/**
 * lnd_health_begin_near() - As lnd_health_begin(), by an interface near to the message's memory and CPUs.
 * @health: the object.
 * @journey: the message.
 * @distances: of each interface of ours, by its @index.
 * @count: how many, 0 to 32; those that are missing are near.
 * @now: the time.
 * @path: filled in; its size is set.
 *
 * Health, an operator's rules and what was tried go before distances.
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
 * lnd_health_next_try() - From when on a message's next try may begin.
 * @health: the object.
 * @journey: the message.
 * @time: where the time is written; 0: now.
 *
 * After LND_NEXT_LATER the message pauses, since every path has failed a moment ago: call
 * lnd_health_begin() at this time. It becomes sooner when an interface has recovered.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_next_try(const struct lnd_health *health,
				   struct lnd_attempts attempts,
				   uint64_t *time);

/**
 * lnd_prober_offer() - Which kinds of probe the transport offers.
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
 * lnd_prober_tried() - The trial of the illegal read, over an endpoint made for it, has gone well:
 * it ended with an access error and left both ends usable.
 * @health: the object.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_prober_tried(struct lnd_health *health);

/**
 * lnd_prober_watch() - Probes a peer's interface from now on, whenever it is idle.
 * @health: the object.
 * @peer_ni: the interface.
 * @one_way: 1 if it only sends to us.
 * @now: the time.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (an interface of ours).
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
 * LND_E_WRONG_KIND (an interface of ours).
 */
enum lnd_error lnd_prober_unwatch(struct lnd_health *health, struct lnd_health_ni peer_ni);

/**
 * lnd_prober_turn_on() - Turns on a kind that is offered and off at the operator's word: the NOOP, which
 * takes a receive buffer of the peer and its part in it.
 * @health: the object.
 * @kind: enum lnd_probe_kind.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_UNSUPPORTED (it
 * is not offered, or has not stood its trial).
 */
enum lnd_error lnd_prober_turn_on(struct lnd_health *health,
				  uint32_t kind);

/**
 * lnd_prober_user() - One more on this node uses a peer's interface, or one does so no longer.
 * @health: the object.
 * @peer_ni: the interface.
 * @enters: 1: one more; 0: one less.
 * @users: where their number is written; may be NULL. After LND_FINDING_CLEAN_UP it says how many are
 *         to be told.
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
 * lnd_prober_state() - What the prober is to know of a peer's interface.
 * @health: the object.
 * @peer_ni: the interface.
 * @active: 1: there was traffic that shows it alive.
 * @published: 1: its peer has published a word for probing.
 * @urgent: 1: something waits for news of it, probe it first.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (an interface of ours).
 */
enum lnd_error lnd_prober_state(struct lnd_health *health,
				struct lnd_health_ni peer_ni,
				uint32_t active,
				uint32_t published,
				uint32_t urgent);

/**
 * lnd_prober_migrating() - The transport moves a peer's interface to another path, or has done so.
 * @health: the object.
 * @peer_ni: the interface.
 * @migrating: 1: it is being moved, and not probed meanwhile; 0: the move is over.
 *
 * What was found dead before does not count any more.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (an interface of ours).
 */
enum lnd_error lnd_prober_migrating(struct lnd_health *health,
				    struct lnd_health_ni peer_ni,
				    uint32_t migrating);

/**
 * lnd_prober_ended() - How a probe ended.
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
 * @gateway: the gateway's interface on one of our own networks: the next hop.
 * @route: where its name is written.
 *
 * It is alive, has one hop and the best priority until lnd_health_set_route() says otherwise.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (an interface of ours), LND_E_PEERS_FULL, LND_E_NO_ROUTE (too many networks).
 */
enum lnd_error lnd_health_add_route(struct lnd_health *health,
				    uint32_t network,
				    struct lnd_health_ni gateway,
				    struct lnd_health_route *route);

/**
 * lnd_health_set_route() - What is known of a route.
 * @health: the object.
 * @route: the route.
 * @priority: 0 to 65,535; 0 is the best.
 * @hops: gateways on the way, 0 to 255.
 * @alive: 1 if the gateway lives and its interfaces on both sides are up.
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
 * lnd_health_remove_route() - Forgets a route.
 * @health: the object.
 * @route: the route.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
 */
enum lnd_error lnd_health_remove_route(struct lnd_health *health, struct lnd_health_route route);

/**
 * lnd_health_add_local() - Takes up an interface of ours, in full health.
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
 * lnd_health_remove_local() - Forgets an interface of ours.
 * @health: the object.
 * @local: the interface.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_WRONG_KIND (a peer's interface), LND_E_RUNNING (messages are on their way).
 */
enum lnd_error lnd_health_remove_local(struct lnd_health *health, struct lnd_health_ni local);

/**
 * lnd_health_add_peer() - Takes up a peer, without interfaces yet.
 * @health: the object.
 * @router: 1 if it routes.
 * @suppresses: 1 if it recognises second copies by number.
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
 * lnd_health_add_peer_ni() - Takes up an interface of a peer, in full health.
 * @health: the object.
 * @peer: the peer.
 * @nid: the interface's NID.
 * @peer_ni: where its name is written.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_KNOWN,
 * LND_E_ARGUMENT, LND_E_FOREIGN, LND_E_STALE (no such peer any more), LND_E_PEERS_FULL,
 * LND_E_NO_ROUTE (too many networks).
 */
enum lnd_error lnd_health_add_peer_ni(struct lnd_health *health,
				      struct lnd_health_peer peer,
				      uint64_t nid,
				      struct lnd_health_ni *peer_ni);

/**
 * lnd_health_remove_peer() - Forgets a peer with its interfaces.
 * @health: the object.
 * @peer: the peer.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_RUNNING (messages are on their way, or a route leads through it).
 */
enum lnd_error lnd_health_remove_peer(struct lnd_health *health, struct lnd_health_peer peer);

/**
 * lnd_health_get() - How an interface stands.
 * @health: the object.
 * @ni: the interface, of ours or of a peer.
 * @info: filled in; its size is set.
 *
 * Context: the owner's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
 * LND_E_STALE.
 */
enum lnd_error lnd_health_get(const struct lnd_health *health,
			      struct lnd_health_ni ni,
			      struct lnd_health_info *info);

/**
 * lnd_health_set() - Sets an interface's health, as an operator may.
 * @health: the object.
 * @ni: the interface, of ours or of a peer.
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
 * lnd_health_received() - Something came from a peer's interface: it lives.
 * @health: the object.
 * @peer_ni: the peer's interface.
 * @local: ours; all 0 if it is not known which.
 * @now: the time.
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
 * lnd_health_fatal() - The fabric condemns an interface of ours, or no longer does.
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
 * lnd_tracker_sent() - A message that wants an answer goes out: the wait begins with its first try.
 * @tracker: the wait; @size is set, the rest 0 before the first try.
 * @path: of this try.
 * @now: the time.
 * @timeout: ns within which the answer is due, from the first try.
 *
 * A later try changes the path, and not the time.
 *
 * Context: any; the tracker is the caller's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_STALE (the wait is over), LND_E_ARGUMENT (no
 * state of a tracker).
 */
enum lnd_error lnd_tracker_sent(struct lnd_tracker *tracker,
				const struct lnd_path *path,
				uint64_t now,
				uint64_t timeout);

/**
 * lnd_tracker_end() - The wait is over: the answer came, the message could not be sent, or nothing waits any
 * longer.
 * @tracker: the wait.
 *
 * The first end is the end: a late answer finds LND_E_STALE, and is to be counted and dropped.
 *
 * Context: any; the tracker is the caller's.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_STALE (nothing is waited for).
 */
enum lnd_error lnd_tracker_end(struct lnd_tracker *tracker);

/**
 * lnd_tracker_expire() - Ends the wait if the answer is overdue.
 * @health: the object that @path of lnd_tracker_sent() came from.
 * @tracker: the wait.
 * @cookie: the caller's name for the message, in the journal.
 * @now: the time.
 *
 * Only the next hop loses health: of what lies beyond it there is no evidence. Nothing is sent again. An
 * interface that is gone meanwhile loses none.
 *
 * Context: the owner's.
 * Return: LND_OK (it was overdue), LND_E_WAIT (it is not; call again at @deadline), LND_E_NULL, LND_E_ALIGN,
 * LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (nothing is waited for).
 */
enum lnd_error lnd_tracker_expire(struct lnd_health *health,
				  struct lnd_tracker *tracker,
				  uint64_t cookie,
				  uint64_t now);

/**
 * lnd_interrupt() - A link's engine has something to tell.
 * @ni: the NI.
 * @link: the link.
 * @budget: most completions to take, at least 1.
 * @now: the time.
 * @more: 1 is written if the budget ran out, else 0; may be NULL.
 *
 * Acknowledges the engine's interrupt, takes completions, decides, and wakes the thread if there
 * is something to report. To be called again if there is more; calling without need is harmless. An
 * interrupt status that no working device shows is counted; no completion is taken then, and the link
 * fails until the device is proven stopped: see lnd_assert_stopped().
 *
 * Context: any, one call a link at a time; on different links at once. Takes no lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_ARGUMENT, LND_E_BUSY (a call
 * for this link is under way; nothing was done), LND_E_UNSUPPORTED (the engine is operations, see
 * lnd_completed()).
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
 * @tag: its name.
 * @returned: enum lnd_returned, but LND_RETURNED_UNKNOWN.
 * @now: the time.
 *
 * The engine reads and writes the descriptor's memory no more, and no key of it is valid; for a staged one
 * that is so of every node. Decides, and wakes the thread if there is something to report. One that is not
 * out, on this link and of this generation, is counted and changes nothing.
 *
 * Context: any, also inside, and any number at once. Takes no lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_ARGUMENT (@returned),
 * LND_E_UNSUPPORTED (the engine has registers, see lnd_interrupt()).
 */
enum lnd_error lnd_completed(struct lnd_ni *ni,
			     uint32_t link,
			     struct lnd_tag tag,
			     uint32_t returned,
			     uint64_t now);

/**
 * lnd_link_failed() - The platform knows that a link has failed.
 * @ni: the NI.
 * @link: the link.
 *
 * Closes the link's gate at once; the thread, which is woken, does the rest.
 *
 * Context: any. Takes no lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK.
 */
enum lnd_error lnd_link_failed(struct lnd_ni *ni, uint32_t link);

/**
 * lnd_frame_in() - A short message has arrived.
 * @ni: the NI.
 * @link: the link by which it came.
 * @sender: the NID of the node that has sent it, as the channel knows it: the writer of the mailbox,
 *          the other end of the connection. LND_NID_UNKNOWN if the channel cannot tell.
 * @frame: its bytes; not needed any more when the call returns, but after LND_REQUEST.
 * @len: their number.
 * @now: the time.
 * @arrival: filled in on LND_REQUEST; its size is set.
 *
 * Frames of one peer, link and lane are given in their order. The control layer's frames and answers are
 * dealt with here. A frame that makes no sense, or whose sender does not count, is dropped and
 * counted.
 *
 * On LND_REQUEST the frame is a peer's request, which the host decides: lnd_recv() (PUT), lnd_reply()
 * (GET), lnd_nak(), or lnd_keep() to decide later. Until then nothing of it is taken, and the frame
 * stays as it is, where @header and @payload of @arrival point. Its place in the channel is free once one
 * of these calls has returned LND_OK, LND_DONE or LND_E_GONE. Anything else may be called before. One that
 * is not decided stays in the channel and is offered again, as after LND_E_WAIT; the next frame by the same
 * link makes its handle stale.
 *
 * A frame that names another sender than @sender is dropped and counted (lnd_stats.frames_forged).
 * With LND_NID_UNKNOWN the name in the frame is trusted: each node that reaches the channel can
 * send in the name of every other node, open and end its sessions, return its credits and fail its
 * requests. Take it only where every node that reaches the channel is trusted.
 *
 * What a frame that waits leads to may be due before the time that the last lnd_run() gave: wake() comes.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK (dealt with or dropped), LND_REQUEST, LND_E_WAIT (no slot, no place for its sender among
 * the peers, its sender has not answered our hello, or has as many requests without a decision as it may:
 * keep it, and offer it again after wake(), after a control frame, and when an earlier frame of its
 * sender was taken), LND_E_FRAME (no frame at all, or forged; dropped), LND_E_ARGUMENT (@sender is 0),
 * LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY, LND_E_LINK.
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
 * @message: from struct lnd_frame; once for each tracked frame that is LND_SEND_PENDING.
 * @how: enum lnd_sent_how.
 * @now: the time.
 *
 * A second end of the same message is counted and changes nothing.
 *
 * Context: any, also in send(). Takes no lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_FOREIGN, LND_E_STALE (no handle of a
 * message), LND_E_ARGUMENT.
 */
enum lnd_error lnd_sent(struct lnd_ni *ni, struct lnd_message message, uint32_t how, uint64_t now);

/**
 * lnd_peer_event() - The platform knows that a peer is down, or up.
 * @ni: the NI.
 * @nid: the peer.
 * @up: 0: down, everything for it is cancelled; else it may be greeted again at once.
 * @now: the time.
 *
 * News of a NID that is not in the table change nothing. A peer stays down for @hello_tries times
 * @hello_timeout of struct lnd_config, and lnd_submit() refuses messages for it. If a frame of it
 * comes before, the news was wrong: the handshake begins at once, and event() reports it. Its
 * requests wait in a reliable channel meanwhile.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_NO_PEER.
 */
enum lnd_error lnd_peer_event(struct lnd_ni *ni, uint64_t nid, uint32_t up, uint64_t now);

/**
 * lnd_link_event() - The platform knows that a link is down, or up.
 * @ni: the NI.
 * @link: the link.
 * @up: 0: down; else up.
 * @now: the time.
 *
 * Engines whose registers tell need not be told of. See lnd_link_failed() for interrupts.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK.
 */
enum lnd_error lnd_link_event(struct lnd_ni *ni, uint32_t link, uint32_t up, uint64_t now);

/**
 * lnd_assert_stopped() - The platform knows that a link's device has stopped.
 * @ni: the NI.
 * @link: the link.
 * @now: the time.
 *
 * For a device that does not answer (LND_LINK_FAILED), or does not stop (LND_LINK_STOPPING). What it
 * has is given back then, as after a stop that it has answered.
 *
 * The platform must know, by other means than the link's registers, that the device reads and writes no
 * memory of this node any more, and that no other node's device does so through this link, until it
 * is reset: its slot has no power, or it is cut off from memory. A register that reads all ones is not
 * such a means. If it is wrong, memory is overwritten that is in use elsewhere.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK, LND_E_RUNNING (the link waits for no proof: nothing has changed).
 */
enum lnd_error lnd_assert_stopped(struct lnd_ni *ni,
				  uint32_t link,
				  uint64_t now);

/**
 * lnd_quarantine_get() - How much a link that has failed keeps.
 * @ni: the NI.
 * @link: the link.
 * @transfers: where the number of transfers is written whose memory the device still has, and that
 *             only its stop can bring back. 0 while the link is up.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_LINK.
 */
enum lnd_error lnd_quarantine_get(const struct lnd_ni *ni, uint32_t link, uint32_t *transfers);

/**
 * lnd_link_state_get() - How a link stands.
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
 * lnd_peer_info_get() - How a peer stands.
 * @ni: the NI.
 * @peer: its handle.
 * @info: filled in; its size is set.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (the NI has forgotten the peer).
 */
enum lnd_error lnd_peer_info_get(const struct lnd_ni *ni,
				 struct lnd_peer peer,
				 struct lnd_peer_info *info);

/**
 * lnd_run() - Does what is due, and reports what has ended.
 * @ni: the NI.
 * @now: the time.
 * @budget: most callbacks to make, at least 1.
 * @next: when to call again, on the clock of @now: @now itself if work is left over, LND_NEVER if
 *        only wake() needs to be heeded; may be NULL.
 *
 * To be called at that time, and after wake(); as often besides as one likes. Calls finalize() and
 * event() with nothing held. If a frame was told LND_E_WAIT, and since then a slot has become free, the
 * state of a peer has changed or a decision has made room for a peer's next request, it calls wake():
 * waiting frames are to be offered again.
 *
 * Context: thread; not in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY
 * (another thread runs it), LND_E_ARGUMENT.
 */
enum lnd_error lnd_run(struct lnd_ni *ni,
		       uint64_t now,
		       uint32_t budget,
		       uint64_t *next);

/**
 * lnd_shutdown() - Begins to end an NI.
 * @ni: the NI.
 * @now: the time.
 * @grace: until when what is under way may end by itself; @now: cancel it at once.
 *
 * New work is refused from now on. lnd_run() does the rest, until lnd_run_state_get() says
 * LND_QUIESCENT. May be called again with an earlier @grace. What is left at @grace is cancelled,
 * and is back within @drain_bound of struct lnd_config, or its link is stopped. A link does not stop
 * while another node's device reads from it: a device that stands still delays the end until it goes
 * on or its node is proven dead. lnd_blocker_next() says what the shutdown waits for.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
 */
enum lnd_error lnd_shutdown(struct lnd_ni *ni,
			    uint64_t now,
			    uint64_t grace);

/**
 * lnd_run_state_get() - How far a shutdown has come.
 * @ni: the NI.
 * @state: where enum lnd_run_state is written.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
 */
enum lnd_error lnd_run_state_get(const struct lnd_ni *ni, uint32_t *state);

/**
 * lnd_blocker_next() - What stands in the way of being idle: of a drain, or of a shutdown.
 * @ni: the NI.
 * @cursor: 0 for the first, then as it was left: where to look on.
 * @blocker: filled in; its size is set.
 *
 * Looks at the whole table at most.
 *
 * Context: thread. Takes the lock.
 * Return: LND_OK, LND_E_END (nothing more), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI,
 * LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
 */
enum lnd_error lnd_blocker_next(const struct lnd_ni *ni,
				uint32_t *cursor,
				struct lnd_blocker *blocker);

/**
 * lnd_stats_get() - How the NI stands.
 * @ni: the NI.
 * @stats: filled in; its size is set.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY.
 */
enum lnd_error lnd_stats_get(const struct lnd_ni *ni, struct lnd_stats *stats);

/**
 * lnd_audit() - Checks the NI's own books, as a whole: for tests and debug builds.
 * @ni: the NI.
 *
 * Takes time linear in slots and peers. A mistake is told to bug() too.
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
 * @transfer: where the transfer's handle is written, of what LND_DONE names none; may be NULL.
 * @report: filled in on LND_DONE; its size is set. NULL: every end is told by finalize().
 *
 * On LND_OK there will be exactly one finalize() for it, and the payload's memory is lent until
 * then. On LND_DONE it has ended, @report is its only report, and nothing is lent: a short message to a
 * peer that has answered, before which none waits, over a channel with LND_ENDS_AT_ONCE. Its @error may
 * be another than 0. On an error nothing was kept.
 *
 * A handle in @peer of @request is stale (LND_E_STALE) once the NI has forgotten that peer: send by @nid
 * then, and ask lnd_peer_find() again.
 *
 * An LND_GET is answered into its memory if @routed is 0 and that memory is longer than
 * @immediate_max of struct lnd_config: ours, or the peer's if that is less and the peer has answered
 * a hello. Any other one goes as a mere header, which the peer gets as an
 * LND_REQUEST_IMMEDIATE. Its report tells the end of that message and no more: @bytes and @reply are
 * 0, and its memory is not touched. The answer is an LND_REPLY that comes in as a request.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_DONE, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
 * LND_E_BUSY, LND_E_ARGUMENT (kind, reserved, @nid is not that of @peer), LND_E_HEADER, LND_E_FRAGMENTS,
 * LND_E_ADDRESS, LND_E_TOO_LONG, LND_E_DEADLINE, LND_E_LINK, LND_E_NO_ROUTE, LND_E_FOREIGN, LND_E_STALE,
 * LND_E_PEER_DOWN, LND_E_PEERS_FULL, LND_E_NO_SLOTS, LND_E_NO_LISTS, LND_E_SHUTTING_DOWN.
 */
enum lnd_error lnd_submit(struct lnd_ni *ni,
			  const struct lnd_send_request *request,
			  uint64_t now,
			  struct lnd_transfer *transfer,
			  struct lnd_report *report);

/**
 * lnd_withdraw() - Gives up a transfer.
 * @ni: the NI.
 * @transfer: its handle.
 * @now: the time.
 *
 * Its finalize() comes as always, once it is safe; with LND_CAUSE_WITHDRAWN unless the transfer
 * has ended before. Withdrawing twice is the same as once.
 *
 * Context: thread; also in finalize() and event(). Takes the lock.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
 * LND_E_FOREIGN, LND_E_STALE (it has been reported).
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
LND_ASSERT_SIZE(lnd_ops, 280);
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
