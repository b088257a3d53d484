/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lnd_soft.h - hardware in software for lnd.h: a fabric in shared memory with its short-message
 * channel and its engines.
 *
 * Generated from ffi/soft; do not edit. For archives with the feature "soft".
 *
 * The contract of every call is that of lnd.h. @ring is a set of nodes, bit n for node n: the nodes
 * that now have work. The caller wakes them.
 */

#ifndef LND_SOFT_H
#define LND_SOFT_H

#include "lnd.h"

struct lnd_soft_fabric;
struct lnd_soft_node;
struct lnd_soft_engine;

/*
 * In lnd_soft_join_args.flags: the node reports to the memory oracle what it lends to engines,
 * through lnd_soft_lend(). Without this flag accesses to its window are not checked.
 */
#define LND_SOFT_LEASES 1U

/* No node's number. */
#define LND_SOFT_NO_NODE 0xffffffffU

/**
 * enum lnd_soft_state - The state of a node.
 */
enum lnd_soft_state {
	/** @LND_SOFT_ABSENT: Never joined, or left in good order. */
	LND_SOFT_ABSENT = 0,
	/** @LND_SOFT_JOINING: Preparing its memory. */
	LND_SOFT_JOINING = 1,
	/** @LND_SOFT_ALIVE: At work. */
	LND_SOFT_ALIVE = 2,
	/** @LND_SOFT_DEAD: Proven dead. */
	LND_SOFT_DEAD = 3,
};

/**
 * struct lnd_soft_progress - The result of an engine's step.
 * @size: sizeof(struct lnd_soft_progress).
 * @busy: 1: work is under way, step again soon; 0: step again after a doorbell or a ring.
 * @bytes: bytes moved.
 * @completions: completions posted.
 * @interrupts: interrupt bits that are newly pending: if any, raise the link's interrupt.
 * @reserved: 0.
 * @violations: accesses so far that the memory oracle rejected.
 * @ring: nodes to ring: their engines have descriptors back.
 */
struct lnd_soft_progress {
	uint32_t size;
	uint32_t busy;
	uint32_t bytes;
	uint32_t completions;
	uint32_t interrupts;
	uint32_t reserved;
	uint64_t violations;
	uint64_t ring;
};

/**
 * struct lnd_soft_shape - The numbers of a fabric.
 * @size: sizeof(struct lnd_soft_shape).
 * @nodes: nodes, 2 to 64.
 * @links: links of each node, 1 to 8.
 * @descriptors: descriptors of each link, 1 to 65,536: at least the slots of every NI.
 * @lists: indirect lists of each link, 0 to 65,536.
 * @request_slots: slots of a request mailbox, a power of two.
 * @request_bytes: their size, a multiple of 64.
 * @control_slots: slots of a control mailbox, a power of two.
 * @control_bytes: their size, a multiple of 64.
 * @reserved: 0.
 * @window: bytes of each node's payload window, a multiple of 4096.
 */
struct lnd_soft_shape {
	uint32_t size;
	uint32_t nodes;
	uint32_t links;
	uint32_t descriptors;
	uint32_t lists;
	uint32_t request_slots;
	uint32_t request_bytes;
	uint32_t control_slots;
	uint32_t control_bytes;
	uint32_t reserved;
	uint64_t window;
};

/**
 * struct lnd_soft_link - A link's memory, for lnd_config.rings.
 * @size: sizeof(struct lnd_soft_link).
 * @descriptors: descriptors in it.
 * @lists: indirect lists in it.
 * @reserved: 0.
 * @base: the first byte: the registers, then the rings.
 * @len: bytes.
 * @features: the engine's capabilities.
 * @node: the node.
 */
struct lnd_soft_link {
	uint32_t size;
	uint32_t descriptors;
	uint32_t lists;
	uint32_t reserved;
	void *base;
	size_t len;
	uint32_t features;
	uint32_t node;
};

/**
 * struct lnd_soft_arrival - A received frame.
 * @size: sizeof(struct lnd_soft_arrival).
 * @from: the sending node, known by its mailbox.
 * @link: the link.
 * @lane: enum lnd_lane.
 * @len: bytes.
 * @reserved: 0.
 */
struct lnd_soft_arrival {
	uint32_t size;
	uint32_t from;
	uint32_t link;
	uint32_t lane;
	uint32_t len;
	uint32_t reserved;
};

/**
 * struct lnd_soft_join_args - How a node joins.
 * @size: sizeof(struct lnd_soft_join_args).
 * @node: its number.
 * @random: a number that differs for each incarnation.
 * @flags: LND_SOFT_LEASES or 0.
 * @features: the capabilities of its engines, see docs/registers.md; all ones: all of them.
 * @start: first value of free-running indices; any number, usually 0.
 */
struct lnd_soft_join_args {
	uint32_t size;
	uint32_t node;
	uint32_t random;
	uint32_t flags;
	uint32_t features;
	uint32_t start;
};

/**
 * struct lnd_soft_node_info - The node table's entry of a node.
 * @size: sizeof(struct lnd_soft_node_info).
 * @node: its number.
 * @state: enum lnd_soft_state.
 * @flags: the flags of its last join.
 * @incarnation: its current or last incarnation; 0: none, or it is changing now.
 */
struct lnd_soft_node_info {
	uint32_t size;
	uint32_t node;
	uint32_t state;
	uint32_t flags;
	uint64_t incarnation;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * lnd_soft_connection() - The number of the current connection with another node.
 * @node: this host's node, prepared.
 * @link: the link.
 * @peer: the number of the other node, from lnd_soft_node_of().
 *
 * The connection covers all memory staged for that node and all pulls from it on the link. For
 * lnd_ops.connection.
 *
 * Context: one at a time for a node, with the other lnd_soft_connection functions.
 * Return: the number, unique among the link's connections; 0: the node has no connections of its
 * own, or does not exist.
 */
uint32_t lnd_soft_connection(struct lnd_soft_node *node, uint32_t link, uint32_t peer);

/**
 * lnd_soft_connection_stop() - Requests a stop of a connection.
 * @node: this host's node.
 * @link: the link.
 * @number: the connection. A number of a former connection has no effect.
 *
 * For lnd_ops.connection_stop.
 *
 * Context: as lnd_soft_connection().
 * Return: 1 if the link's engine must be stepped for it, else 0.
 */
uint32_t lnd_soft_connection_stop(struct lnd_soft_node *node, uint32_t link, uint32_t number);

/**
 * lnd_soft_connection_quiesced() - Whether a connection is proven stopped.
 * @node: this host's node.
 * @link: the link.
 * @number: the connection.
 *
 * The stop waits for the other node's engine while that engine is in the middle of a copy and its
 * node is alive. Step this node's engine meanwhile. For lnd_ops.connection_quiesced.
 *
 * Context: as lnd_soft_connection().
 * Return: 1 if it is, or no longer exists; else 0.
 */
uint32_t lnd_soft_connection_quiesced(struct lnd_soft_node *node, uint32_t link, uint32_t number);

/**
 * lnd_soft_connection_reset() - Replaces a stopped connection by the next one.
 * @node: this host's node.
 * @link: the link.
 * @number: the connection; 0: all of the link, whose engine is about to be reset.
 *
 * For lnd_ops.connection_reset.
 *
 * Context: as lnd_soft_connection().
 * Return: 1 if the link's engine must be stepped for it, else 0.
 */
uint32_t lnd_soft_connection_reset(struct lnd_soft_node *node, uint32_t link, uint32_t number);

/**
 * lnd_soft_engine_size() - Bytes of memory for an engine's object.
 *
 * Context: any.
 * Return: the bytes.
 */
size_t lnd_soft_engine_size(void);

/**
 * lnd_soft_engine_create() - Makes the engine of one of the node's links.
 * @mem: memory for the object, until lnd_soft_engine_destroy().
 * @len: its bytes, at least lnd_soft_engine_size().
 * @node: this host's node, prepared and not yet left; each of its links has one engine in each
 *        incarnation.
 * @link: the link.
 * @chunk: most bytes moved for a descriptor in one step; it bounds how long an invalidation waits;
 *         0: 256 KiB.
 * @retry: ns for which a pull retries a source that does not answer; 0: a second.
 * @engine: where the object's pointer is written.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_MEMORY, LND_E_BUSY, LND_E_LINK,
 * LND_E_GONE (the node is not prepared), LND_E_RING.
 */
enum lnd_error lnd_soft_engine_create(void *mem,
				 size_t len,
				 struct lnd_soft_node *node,
				 uint32_t link,
				 uint32_t chunk,
				 uint64_t retry,
				 struct lnd_soft_engine **engine);

/**
 * lnd_soft_engine_step() - Does a bounded piece of an engine's work.
 * @engine: the engine.
 * @now: ns on the clock that all calls of this host use.
 * @budget: most invalidations, returns and new pulls each; every active pull (8 at most) moves one
 *          chunk.
 * @progress: the caller sets its size; filled.
 *
 * Call it when the driver has written a register for which lnd_soft_reg_write32() returned 1, when
 * the node is rung, and while it is busy. If the driver writes the registers in memory, call it
 * periodically.
 *
 * Context: any; one at a time for an engine.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY (another context steps
 * it).
 */
enum lnd_error lnd_soft_engine_step(struct lnd_soft_engine *engine,
			       uint64_t now,
			       uint32_t budget,
			       struct lnd_soft_progress *progress);

/**
 * lnd_soft_engine_destroy() - Ends an engine; its memory is the caller's again.
 * @engine: the engine. It has stopped, or the node ends without leaving.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY (a step is under way).
 */
enum lnd_error lnd_soft_engine_destroy(struct lnd_soft_engine *engine);

/**
 * lnd_soft_shape_init() - The numbers of a fabric, with mailboxes of usual sizes.
 * @shape: every byte of it is written.
 * @nodes: nodes.
 * @links: links of each.
 * @descriptors: descriptors of each link.
 * @window: bytes of each node's payload window.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN.
 */
enum lnd_error lnd_soft_shape_init(struct lnd_soft_shape *shape,
			      uint32_t nodes,
			      uint32_t links,
			      uint32_t descriptors,
			      uint64_t window);

/**
 * lnd_soft_region_size() - Bytes that a fabric needs.
 * @shape: its numbers.
 *
 * Context: any.
 * Return: the bytes, or 0 if the numbers are not valid.
 */
size_t lnd_soft_region_size(const struct lnd_soft_shape *shape);

/**
 * lnd_soft_format() - Makes a fabric in fresh memory.
 * @base: the memory, all zero, aligned to 64.
 * @len: its bytes, at least lnd_soft_region_size().
 * @shape: the fabric's numbers.
 *
 * Context: any, alone with the memory.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_CONFIG, LND_E_MEMORY.
 */
enum lnd_error lnd_soft_format(void *base, size_t len, const struct lnd_soft_shape *shape);

/**
 * lnd_soft_fabric_size() - Bytes of memory for a fabric's object.
 *
 * Context: any.
 * Return: the bytes.
 */
size_t lnd_soft_fabric_size(void);

/**
 * lnd_soft_attach() - Attaches to a formatted fabric.
 * @mem: memory for the object, until lnd_soft_detach().
 * @len: its bytes, at least lnd_soft_fabric_size().
 * @base: the region, aligned to 64; it must stay until everything made of it has been destroyed.
 * @bytes: its bytes.
 * @fabric: where the object's pointer is written.
 *
 * The header is read once and checked: nothing in the region is trusted afterwards. A host may
 * attach to one region several times, and have several nodes in it.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_MEMORY (object or region too small), LND_E_RING
 * (not a fabric, or damaged), LND_E_VERSION, LND_E_CONFIG.
 */
enum lnd_error lnd_soft_attach(void *mem,
			  size_t len,
			  void *base,
			  size_t bytes,
			  struct lnd_soft_fabric **fabric);

/**
 * lnd_soft_detach() - Ends a fabric's object; its memory is the caller's again.
 * @fabric: the fabric. Nodes and engines made of it no longer need it.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI.
 */
enum lnd_error lnd_soft_detach(struct lnd_soft_fabric *fabric);

/**
 * lnd_soft_shape_get() - The numbers of a fabric.
 * @fabric: the fabric.
 * @shape: the caller sets its size; filled.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_SIZE.
 */
enum lnd_error lnd_soft_shape_get(const struct lnd_soft_fabric *fabric, struct lnd_soft_shape *shape);

/**
 * lnd_soft_frame_max() - Bytes of a buffer that holds every short message.
 * @fabric: the fabric.
 *
 * Context: any.
 * Return: the bytes, or 0 if @fabric is not a fabric.
 */
size_t lnd_soft_frame_max(const struct lnd_soft_fabric *fabric);

/**
 * lnd_soft_nid() - The NID of a node's number.
 * @node: the number.
 *
 * Context: any.
 * Return: the NID, never 0.
 */
uint64_t lnd_soft_nid(uint32_t node);

/**
 * lnd_soft_node_of() - The number of the node with a NID.
 * @nid: any number.
 *
 * Context: any.
 * Return: the number, or LND_SOFT_NO_NODE if no fabric has such a node.
 */
uint32_t lnd_soft_node_of(uint64_t nid);

/**
 * lnd_soft_link_get() - A link's memory.
 * @fabric: the fabric.
 * @node: a node that was prepared, in this or a former incarnation.
 * @link: the link.
 * @into: the caller sets its size; filled.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_ARGUMENT (no such node),
 * LND_E_LINK, LND_E_RING (never prepared, or damaged).
 */
enum lnd_error lnd_soft_link_get(const struct lnd_soft_fabric *fabric,
			    uint32_t node,
			    uint32_t link,
			    struct lnd_soft_link *into);

/**
 * lnd_soft_link_set() - Pulls a link's cable, or puts it back.
 * @fabric: the fabric.
 * @node: any node that was prepared.
 * @link: the link.
 * @up: 0 or 1.
 * @ring: where the set of nodes to ring is written (the node itself), or NULL.
 *
 * Without the cable the link's clock stops, with everything in flight.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT, LND_E_LINK, LND_E_RING.
 */
enum lnd_error lnd_soft_link_set(const struct lnd_soft_fabric *fabric,
			    uint32_t node,
			    uint32_t link,
			    uint32_t up,
			    uint64_t *ring);

/**
 * lnd_soft_way() - Whether any link has its cable at both of two nodes.
 * @fabric: the fabric.
 * @node: a node.
 * @other: another one.
 *
 * What a request asks for moves by a link that has both its cables. Where no link has, requests
 * between the two nodes wait until their deadlines, or fail at the other node.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK (none has).
 */
enum lnd_error lnd_soft_way(const struct lnd_soft_fabric *fabric, uint32_t node, uint32_t other);

/**
 * lnd_soft_reg_read32() - Reads a register of a software engine: for lnd_ops.reg_read32.
 * @fabric: the fabric.
 * @node: this host's node, prepared.
 * @link: the link.
 * @offset: the register's offset, see docs/registers.md.
 *
 * Context: any.
 * Return: the value; all ones if there is no such register, as on a bus.
 */
uint32_t lnd_soft_reg_read32(const struct lnd_soft_fabric *fabric,
			     uint32_t node,
			     uint32_t link,
			     uint32_t offset);

/**
 * lnd_soft_reg_write32() - Writes a register of a software engine: for lnd_ops.reg_write32.
 * @fabric: the fabric.
 * @node: this host's node, prepared.
 * @link: the link.
 * @offset: the register's offset, see docs/registers.md.
 * @value: the value. A write to a register that the driver must not write is dropped.
 *
 * Context: any.
 * Return: 1 if the link's engine must be stepped for it, else 0.
 */
uint32_t lnd_soft_reg_write32(const struct lnd_soft_fabric *fabric,
			      uint32_t node,
			      uint32_t link,
			      uint32_t offset,
			      uint32_t value);

/**
 * lnd_soft_send() - Puts a frame into a node's mailbox.
 * @node: this host's node, prepared.
 * @link: the link.
 * @lane: enum lnd_lane.
 * @to: the receiving node's number. Ring that node afterwards.
 * @frame: the frame.
 * @len: its bytes.
 * @sent: if not NULL: where the enum lnd_send is written that lnd_ops.send must return. Written
 *        also with an error: LND_SEND_FULL for LND_E_WAIT and LND_E_BUSY, LND_SEND_TOO_LONG for
 *        LND_E_TOO_LONG, else LND_SEND_FAILED.
 *
 * Context: any; one at a time for a node.
 * Return: LND_OK; LND_E_WAIT (no room, or the receiver has never joined); LND_E_LINK (no such
 * link, or this end of it has no clock); LND_E_NO_ROUTE; LND_E_TOO_LONG; LND_E_NULL, LND_E_ALIGN,
 * LND_E_NI, LND_E_ARGUMENT, LND_E_BUSY (another context sends), LND_E_GONE (not prepared, or
 * left), LND_E_RING (the mailbox is damaged).
 */
enum lnd_error lnd_soft_send(struct lnd_soft_node *node,
			uint32_t link,
			uint32_t lane,
			uint32_t to,
			const void *frame,
			size_t len,
			uint32_t *sent);

/**
 * lnd_soft_ready() - Whether the next frame into a mailbox finds room, and a request has its way:
 * for lnd_ops.ready.
 * @node: this host's node, prepared.
 * @link: the link.
 * @lane: enum lnd_lane.
 * @to: the receiving node's number.
 *
 * A request does not go by a link without a cable at the other end, if another link has both.
 *
 * Context: any; one at a time for a node, and not concurrently with lnd_soft_send().
 * Return: 1 or 0.
 */
uint32_t lnd_soft_ready(struct lnd_soft_node *node, uint32_t link, uint32_t lane, uint32_t to);

/**
 * lnd_soft_receive() - Copies the next frame from this node's mailboxes.
 * @node: this host's node, prepared.
 * @budget: most frames from one mailbox in one pass, at least 1.
 * @into: room for the frame, initialised.
 * @room: its bytes, at least lnd_soft_frame_max().
 * @arrival: the caller sets its size; filled.
 *
 * Visits the mailboxes in passes, control lanes first. LND_E_END ends a pass, and the next call
 * begins another. The frame stays in its mailbox until lnd_soft_release(). If the next receive
 * comes before, the frame and all those behind it wait for the next pass: do so when
 * lnd_frame_in() returns LND_E_WAIT. A pass that returned a frame may have left others.
 *
 * Context: any; one at a time for a node.
 * Return: LND_OK, LND_E_END, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_ROOM, LND_E_BUSY
 * (another context receives), LND_E_GONE (not prepared, or left).
 */
enum lnd_error lnd_soft_receive(struct lnd_soft_node *node,
			   uint32_t budget,
			   void *into,
			   size_t room,
			   struct lnd_soft_arrival *arrival);

/**
 * lnd_soft_release() - Removes the last received frame from its mailbox.
 * @node: this host's node. Without such a frame the call has no effect.
 *
 * Context: as lnd_soft_receive().
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_GONE.
 */
enum lnd_error lnd_soft_release(struct lnd_soft_node *node);

/**
 * lnd_soft_node_size() - Bytes of memory for a node's object.
 * @fabric: the fabric.
 *
 * Context: any.
 * Return: the bytes, or 0 if this is no fabric.
 */
size_t lnd_soft_node_size(const struct lnd_soft_fabric *fabric);

/**
 * lnd_soft_join() - Begins to join a fabric.
 * @mem: memory for the object, until lnd_soft_leave().
 * @len: its bytes, at least lnd_soft_node_size().
 * @fabric: the fabric.
 * @args: the node and how it joins.
 * @node: where the object's pointer is written.
 *
 * Releases what a former incarnation of the node held of other nodes, and stops its links. Takes
 * time linear in the fabric's descriptors. Continue with lnd_soft_prepare().
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_MEMORY, LND_E_ARGUMENT (no
 * such node or flag), LND_E_BUSY (another member has the node, or its death was not declared),
 * LND_E_STALE (declared dead in the meantime).
 */
enum lnd_error lnd_soft_join(void *mem,
			size_t len,
			const struct lnd_soft_fabric *fabric,
			const struct lnd_soft_join_args *args,
			struct lnd_soft_node **node);

/**
 * lnd_soft_prepare() - Formats the node's link memories and mailboxes.
 * @node: the node.
 *
 * No peer's engine may read the memory of its former incarnation any more.
 *
 * Context: thread.
 * Return: LND_OK; LND_E_WAIT (not yet: call again a millisecond later); LND_E_NULL, LND_E_ALIGN,
 * LND_E_NI, LND_E_BUSY (another context calls it), LND_E_STALE (declared dead in the meantime),
 * LND_E_RING (the link memories do not fit). A failed call may be repeated until the node can send
 * and receive.
 */
enum lnd_error lnd_soft_prepare(struct lnd_soft_node *node);

/**
 * lnd_soft_announce() - Makes the node alive: its engines are ready.
 * @node: the node, prepared.
 * @ring: where the set of nodes to ring is written, or NULL.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_GONE (not prepared, or
 * left), LND_E_STALE (declared dead in the meantime).
 */
enum lnd_error lnd_soft_announce(struct lnd_soft_node *node, uint64_t *ring);

/**
 * lnd_soft_is_alive() - Whether the node was not declared dead; also valid while it joins.
 * @node: the node.
 *
 * A node that has been declared dead although it runs must stop at once: no peer waits for it.
 *
 * Context: any.
 * Return: 1 or 0.
 */
uint32_t lnd_soft_is_alive(struct lnd_soft_node *node);

/**
 * lnd_soft_leave() - Leaves in good order, or gives up joining.
 * @node: the node. Its NI is destroyed, its engines are stopped and no longer stepped, and no
 *        other call of it is under way or follows.
 * @ring: where the set of nodes to ring is written, or NULL.
 *
 * The object's memory is the caller's again.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY (a call is under way).
 */
enum lnd_error lnd_soft_leave(struct lnd_soft_node *node, uint64_t *ring);

/**
 * lnd_soft_incarnation() - The node's incarnation, for lnd_config.incarnation.
 * @node: the node.
 *
 * Context: any.
 * Return: the incarnation, or 0 if the node is not prepared, or is not a node.
 */
uint64_t lnd_soft_incarnation(struct lnd_soft_node *node);

/**
 * lnd_soft_node_get() - The node table's entry of a node.
 * @fabric: the fabric.
 * @node: the node's number.
 * @info: the caller sets its size; filled.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_ARGUMENT (no such node).
 */
enum lnd_error lnd_soft_node_get(const struct lnd_soft_fabric *fabric,
			    uint32_t node,
			    struct lnd_soft_node_info *info);

/**
 * lnd_soft_watch() - The next node whose state has changed since its last report to this node.
 * @node: the node; its own changes are not reported.
 * @info: the caller sets its size; filled with the other node's current state.
 *
 * Call it when rung, and periodically, until LND_E_END. A node found dead or absent, or with
 * another incarnation, is down: call lnd_peer_event().
 *
 * Context: any.
 * Return: LND_OK, LND_E_END (no change), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI,
 * LND_E_BUSY.
 */
enum lnd_error lnd_soft_watch(struct lnd_soft_node *node, struct lnd_soft_node_info *info);

/**
 * lnd_soft_declare_dead() - Declares a node dead.
 * @fabric: the fabric.
 * @node: the node's number.
 * @incarnation: the incarnation that has ended; 0: any.
 * @ring: where the set of nodes to ring is written, or NULL.
 *
 * The caller has the proof that none of the node's engines accesses memory any more: its machine
 * is gone. A node that is already dead is no error.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT (no such node), LND_E_GONE (no
 * member has this node), LND_E_STALE (it has another incarnation).
 */
enum lnd_error lnd_soft_declare_dead(const struct lnd_soft_fabric *fabric,
				uint32_t node,
				uint64_t incarnation,
				uint64_t *ring);

/**
 * lnd_soft_window() - The place of a node's payload window.
 * @fabric: the fabric.
 * @node: the node's number.
 * @base: where the address of its first byte is written.
 * @len: where its length in bytes is written.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT (no such node).
 */
enum lnd_error lnd_soft_window(const struct lnd_soft_fabric *fabric, uint32_t node, void **base, uint64_t *len);

/**
 * lnd_soft_read() - Copies from a node's window: for lnd_ops.mem_read.
 * @fabric: the fabric.
 * @node: the node's number.
 * @addr: offset in its window.
 * @into: where to, initialised.
 * @len: bytes.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ADDRESS.
 */
enum lnd_error lnd_soft_read(const struct lnd_soft_fabric *fabric,
			uint32_t node,
			uint64_t addr,
			void *into,
			uint32_t len);

/**
 * lnd_soft_write() - Copies into a node's window: for lnd_ops.mem_write.
 * @fabric: the fabric.
 * @node: the node's number.
 * @addr: offset in its window.
 * @from: where from.
 * @len: bytes.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ADDRESS.
 */
enum lnd_error lnd_soft_write(const struct lnd_soft_fabric *fabric,
			 uint32_t node,
			 uint64_t addr,
			 const void *from,
			 uint32_t len);

/**
 * lnd_soft_valid() - Whether bytes lie in a node's window: for lnd_ops.mem_valid.
 * @fabric: the fabric.
 * @node: the node's number.
 * @addr: offset in its window.
 * @len: bytes.
 *
 * Context: any.
 * Return: 1 or 0.
 */
uint32_t lnd_soft_valid(const struct lnd_soft_fabric *fabric, uint32_t node, uint64_t addr, uint32_t len);

/**
 * lnd_soft_lend() - Reports to the memory oracle that engines may access bytes of a node's window.
 * @fabric: the fabric.
 * @node: this host's node, joined with LND_SOFT_LEASES.
 * @addr: offset in its window.
 * @len: bytes.
 * @written: 0: engines may read them; 1: engines may write them.
 *
 * Call it before the transfer is submitted, and lnd_soft_take_back() when it is finalized.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT, LND_E_ADDRESS.
 */
enum lnd_error lnd_soft_lend(const struct lnd_soft_fabric *fabric,
			uint32_t node,
			uint64_t addr,
			uint32_t len,
			uint32_t written);

/**
 * lnd_soft_take_back() - Reports to the memory oracle that engines may no longer access bytes.
 * @fabric: the fabric.
 * @node: this host's node.
 * @addr: as it was lent.
 * @len: as it was lent.
 * @written: as it was lent.
 *
 * Context: any.
 * Return: as lnd_soft_lend().
 */
enum lnd_error lnd_soft_take_back(const struct lnd_soft_fabric *fabric,
			     uint32_t node,
			     uint64_t addr,
			     uint32_t len,
			     uint32_t written);

/**
 * lnd_soft_publish() - Lets other nodes read a word of this node.
 * @node: this host's node, prepared.
 * @link: the link.
 * @key: the word's key; 0: no word is published any more.
 * @word: the word.
 *
 * For the published words of the prober (LND_PROBE_PUBLISHED_WORD).
 *
 * Context: one at a time for a node, with the other calls about remote reads.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_RING (not prepared),
 * LND_E_BUSY (another context is in such a call).
 */
enum lnd_error lnd_soft_publish(struct lnd_soft_node *node, uint32_t link, uint32_t key, uint32_t word);

/**
 * lnd_soft_read_begin() - Begins a remote read, which shows whether a peer is up.
 * @node: this host's node, prepared.
 * @link: the link. Each link has one remote read at a time.
 * @peer: the number of the other node, from lnd_soft_node_of().
 * @kind: enum lnd_probe_kind, as in lnd_action.probe.
 * @key: for LND_PROBE_PUBLISHED_WORD the word's key, which is not 0; else 0.
 * @ring: where the set of nodes to ring is written (the node itself), or NULL.
 *
 * The read needs no receive buffer, no descriptor and no processor of the other side. The engine
 * answers at the latest after its retry bound, unless its own link has no clock: the caller sets a
 * bound of its own and then calls lnd_soft_read_give_up().
 *
 * Context: as lnd_soft_publish().
 * Return: LND_OK; LND_E_WAIT (the link's last read has not ended); LND_E_UNSUPPORTED (the engine
 * has no reads of this kind); LND_E_ARGUMENT (no such node, kind or key); LND_E_NULL, LND_E_ALIGN,
 * LND_E_NI, LND_E_LINK, LND_E_RING (not prepared), LND_E_BUSY.
 */
enum lnd_error lnd_soft_read_begin(struct lnd_soft_node *node,
			      uint32_t link,
			      uint32_t peer,
			      uint32_t kind,
			      uint32_t key,
			      uint64_t *ring);

/**
 * lnd_soft_read_ended() - The end of a link's remote read, once.
 * @node: this host's node.
 * @link: the link.
 * @end: where the end is written: enum lnd_probe_end, for lnd_prober_ended().
 * @word: where the word that was read is written, 0 if none was, or NULL.
 *
 * Context: as lnd_soft_publish().
 * Return: LND_OK; LND_E_WAIT (it has not ended); LND_E_END (none is under way); LND_E_NULL,
 * LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_RING, LND_E_BUSY.
 */
enum lnd_error lnd_soft_read_ended(struct lnd_soft_node *node, uint32_t link, uint32_t *end, uint32_t *word);

/**
 * lnd_soft_read_give_up() - Stops waiting for a link's remote read.
 * @node: this host's node.
 * @link: the link.
 *
 * The next read can begin after the engine has answered this one.
 *
 * Context: as lnd_soft_publish().
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_RING, LND_E_BUSY.
 */
enum lnd_error lnd_soft_read_give_up(struct lnd_soft_node *node, uint32_t link);

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
LND_ASSERT_SIZE(lnd_soft_progress, 40);
LND_ASSERT_FIELD(lnd_soft_progress, size, 0);
LND_ASSERT_FIELD(lnd_soft_progress, busy, 4);
LND_ASSERT_FIELD(lnd_soft_progress, bytes, 8);
LND_ASSERT_FIELD(lnd_soft_progress, completions, 12);
LND_ASSERT_FIELD(lnd_soft_progress, interrupts, 16);
LND_ASSERT_FIELD(lnd_soft_progress, reserved, 20);
LND_ASSERT_FIELD(lnd_soft_progress, violations, 24);
LND_ASSERT_FIELD(lnd_soft_progress, ring, 32);
LND_ASSERT_SIZE(lnd_soft_shape, 48);
LND_ASSERT_FIELD(lnd_soft_shape, size, 0);
LND_ASSERT_FIELD(lnd_soft_shape, nodes, 4);
LND_ASSERT_FIELD(lnd_soft_shape, links, 8);
LND_ASSERT_FIELD(lnd_soft_shape, descriptors, 12);
LND_ASSERT_FIELD(lnd_soft_shape, lists, 16);
LND_ASSERT_FIELD(lnd_soft_shape, request_slots, 20);
LND_ASSERT_FIELD(lnd_soft_shape, request_bytes, 24);
LND_ASSERT_FIELD(lnd_soft_shape, control_slots, 28);
LND_ASSERT_FIELD(lnd_soft_shape, control_bytes, 32);
LND_ASSERT_FIELD(lnd_soft_shape, reserved, 36);
LND_ASSERT_FIELD(lnd_soft_shape, window, 40);
LND_ASSERT_SIZE(lnd_soft_link, 40);
LND_ASSERT_FIELD(lnd_soft_link, size, 0);
LND_ASSERT_FIELD(lnd_soft_link, descriptors, 4);
LND_ASSERT_FIELD(lnd_soft_link, lists, 8);
LND_ASSERT_FIELD(lnd_soft_link, reserved, 12);
LND_ASSERT_FIELD(lnd_soft_link, base, 16);
LND_ASSERT_FIELD(lnd_soft_link, len, 24);
LND_ASSERT_FIELD(lnd_soft_link, features, 32);
LND_ASSERT_FIELD(lnd_soft_link, node, 36);
LND_ASSERT_SIZE(lnd_soft_arrival, 24);
LND_ASSERT_FIELD(lnd_soft_arrival, size, 0);
LND_ASSERT_FIELD(lnd_soft_arrival, from, 4);
LND_ASSERT_FIELD(lnd_soft_arrival, link, 8);
LND_ASSERT_FIELD(lnd_soft_arrival, lane, 12);
LND_ASSERT_FIELD(lnd_soft_arrival, len, 16);
LND_ASSERT_FIELD(lnd_soft_arrival, reserved, 20);
LND_ASSERT_SIZE(lnd_soft_join_args, 24);
LND_ASSERT_FIELD(lnd_soft_join_args, size, 0);
LND_ASSERT_FIELD(lnd_soft_join_args, node, 4);
LND_ASSERT_FIELD(lnd_soft_join_args, random, 8);
LND_ASSERT_FIELD(lnd_soft_join_args, flags, 12);
LND_ASSERT_FIELD(lnd_soft_join_args, features, 16);
LND_ASSERT_FIELD(lnd_soft_join_args, start, 20);
LND_ASSERT_SIZE(lnd_soft_node_info, 24);
LND_ASSERT_FIELD(lnd_soft_node_info, size, 0);
LND_ASSERT_FIELD(lnd_soft_node_info, node, 4);
LND_ASSERT_FIELD(lnd_soft_node_info, state, 8);
LND_ASSERT_FIELD(lnd_soft_node_info, flags, 12);
LND_ASSERT_FIELD(lnd_soft_node_info, incarnation, 16);
#undef LND_ASSERT_FIELD
#undef LND_ASSERT_SIZE
#undef LND_ASSERT
#endif

#endif /* LND_SOFT_H */
