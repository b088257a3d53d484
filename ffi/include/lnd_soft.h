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
 * In lnd_soft_join_args.flags: the node tells the memory oracle what it lends to engines, by
 * lnd_soft_lend(); without it nobody checks accesses to its window.
 */
#define LND_SOFT_LEASES 1U

/* No node's number. */
#define LND_SOFT_NO_NODE 0xffffffffU

/**
 * enum lnd_soft_state - Where a node stands.
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
 * struct lnd_soft_progress - What a step of an engine has done.
 * @size: sizeof(struct lnd_soft_progress).
 * @busy: 1: something is under way, step again soon; 0: a doorbell or a ring will be the next reason.
 * @bytes: bytes moved.
 * @completions: completions posted.
 * @interrupts: interrupt bits that are newly pending: if any, raise the link's interrupt.
 * @reserved: 0.
 * @violations: accesses so far that the memory oracle objected to.
 * @ring: nodes to be rung: their engines have got descriptors back.
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
 * struct lnd_soft_link - A link's memory: what lnd_config.rings wants.
 * @size: sizeof(struct lnd_soft_link).
 * @descriptors: descriptors in it.
 * @lists: indirect lists in it.
 * @reserved: 0.
 * @base: the first byte: the registers, the rings behind them.
 * @len: bytes.
 * @features: what the engine can do.
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
 * struct lnd_soft_arrival - A frame that has come.
 * @size: sizeof(struct lnd_soft_arrival).
 * @from: the node that has sent it, by its mailbox.
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
 * @random: a number that differs from life to life.
 * @flags: LND_SOFT_LEASES or 0.
 * @features: what its engines shall be able to do, see docs/registers.md; all ones: everything.
 * @start: where free-running indices begin; any number, usually 0.
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
 * struct lnd_soft_node_info - What the node table says of a node.
 * @size: sizeof(struct lnd_soft_node_info).
 * @node: its number.
 * @state: enum lnd_soft_state.
 * @flags: what it said of itself when it joined.
 * @life: its present or last life; 0: none, or it is changing right now.
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
 * lnd_soft_connection() - The number of the present connection with another node.
 * @node: our node, prepared.
 * @link: the link.
 * @peer: the number of the other node; lnd_soft_node_of() says it.
 *
 * All that is staged for that node and pulled from it by the link is of the connection. For lnd_ops.connection.
 *
 * Context: one at a time for a node, with the other lnd_soft_connection functions.
 * Return: the number, which no other connection of the link has had; 0: the node has none of its own, or is
 * none.
 */
uint32_t lnd_soft_connection(struct lnd_soft_node *node,
			     uint32_t link,
			     uint32_t peer);

/**
 * lnd_soft_connection_stop() - Asks for the stop of a connection.
 * @node: our node.
 * @link: the link.
 * @number: of the connection. Of one that is not there any more, nothing is asked.
 *
 * For lnd_ops.connection_stop.
 *
 * Context: as lnd_soft_connection().
 * Return: 1 if the link's engine must be stepped for it, else 0.
 */
uint32_t lnd_soft_connection_stop(struct lnd_soft_node *node, uint32_t link, uint32_t number);

/**
 * lnd_soft_connection_quiesced() - Whether a connection is proven stopped.
 * @node: our node.
 * @link: the link.
 * @number: of the connection.
 *
 * It waits for the other node's engine while that is in the middle of a copy and its node is alive. Step
 * our engine meanwhile. For lnd_ops.connection_quiesced.
 *
 * Context: as lnd_soft_connection().
 * Return: 1 if it is, or is not there any more; else 0.
 */
uint32_t lnd_soft_connection_quiesced(struct lnd_soft_node *node,
				      uint32_t link,
				      uint32_t number);

/**
 * lnd_soft_connection_reset() - Puts the next connection in the place of a stopped one.
 * @node: our node.
 * @link: the link.
 * @number: of the connection; 0: all of the link, whose engine is about to be reset.
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
 * lnd_soft_engine_create() - Makes the engine of one of our links.
 * @mem: memory for the object, until lnd_soft_engine_destroy().
 * @len: its bytes, at least lnd_soft_engine_size().
 * @node: our node, prepared and not yet left; each of its links has one engine in each life.
 * @link: the link.
 * @chunk: most bytes moved for a descriptor in one step: how long a recall waits; 0: 256 KiB.
 * @retry: ns for which a pull tries to reach a source that does not answer; 0: a second.
 * @engine: where the object's pointer is written.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_MEMORY, LND_E_BUSY, LND_E_LINK, LND_E_GONE
 * (the node is not prepared), LND_E_RING.
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
 * @budget: most recalls, returns and new pulls each; of every active pull (8 at most) one chunk moves.
 * @progress: its size is set; filled.
 *
 * Call it when the driver has written a register for which lnd_soft_reg_write32() says so (or now
 * and then, if the driver writes them in memory), when the node is rung, and while it is busy.
 *
 * Context: any; one at a time for an engine.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY (another context steps it).
 */
enum lnd_error lnd_soft_engine_step(struct lnd_soft_engine *engine,
			       uint64_t now,
			       uint32_t budget,
			       struct lnd_soft_progress *progress);

/**
 * lnd_soft_engine_destroy() - Ends an engine; its memory is the caller's again.
 * @engine: the engine. It has stopped, or the node dies without good order.
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
 * lnd_soft_region_size() - Bytes that a fabric takes.
 * @shape: its numbers.
 *
 * Context: any.
 * Return: the bytes, or 0 if there can be no such fabric.
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
 * lnd_soft_attach() - Attaches to a fabric that somebody has formatted.
 * @mem: memory for the object, until lnd_soft_detach().
 * @len: its bytes, at least lnd_soft_fabric_size().
 * @base: the region, aligned to 64; it must stay until everything made of it has been destroyed.
 * @bytes: its bytes.
 * @fabric: where the object's pointer is written.
 *
 * What the region says is read once and checked: nothing in it is trusted afterwards. Several
 * attachments to one region, and several nodes of ours in it, are fine.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_MEMORY (object or region too small), LND_E_RING (no
 * fabric, or a damaged one), LND_E_VERSION, LND_E_CONFIG.
 */
enum lnd_error lnd_soft_attach(void *mem,
			  size_t len,
			  void *base,
			  size_t bytes,
			  struct lnd_soft_fabric **fabric);

/**
 * lnd_soft_detach() - Ends a fabric's object; its memory is the caller's again.
 * @fabric: the fabric. Nodes and engines made of it do not need it any more.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI.
 */
enum lnd_error lnd_soft_detach(struct lnd_soft_fabric *fabric);

/**
 * lnd_soft_shape_get() - The numbers of a fabric.
 * @fabric: the fabric.
 * @shape: its size is set; filled.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_SIZE.
 */
enum lnd_error lnd_soft_shape_get(const struct lnd_soft_fabric *fabric, struct lnd_soft_shape *shape);

/**
 * lnd_soft_frame_max() - Bytes of buffer that every short message fits in.
 * @fabric: the fabric.
 *
 * Context: any.
 * Return: the bytes, or 0 if this is no fabric.
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
 * lnd_soft_node_of() - The node's number of a NID.
 * @nid: any number.
 *
 * Context: any.
 * Return: the number, or LND_SOFT_NO_NODE if no fabric has such a node.
 */
uint32_t lnd_soft_node_of(uint64_t nid);

/**
 * lnd_soft_link_get() - A link's memory.
 * @fabric: the fabric.
 * @node: a node that has been prepared, in this life or a former one.
 * @link: the link.
 * @into: its size is set; filled.
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
 * lnd_soft_link_set() - Pulls a link's cable, or puts it back: its clock stops with everything in
 * flight, or goes on.
 * @fabric: the fabric.
 * @node: any node that has been prepared.
 * @link: the link.
 * @up: 0 or 1.
 * @ring: whom to ring, or NULL: the node itself.
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
 * lnd_soft_reg_read32() - Reads a register of a software engine: for lnd_ops.reg_read32.
 * @fabric: the fabric.
 * @node: our node, prepared.
 * @link: the link.
 * @offset: the register's offset, see docs/registers.md.
 *
 * Context: any.
 * Return: the value; all ones if there is no such register, as a bus would say.
 */
uint32_t lnd_soft_reg_read32(const struct lnd_soft_fabric *fabric,
			     uint32_t node,
			     uint32_t link,
			     uint32_t offset);

/**
 * lnd_soft_reg_write32() - Writes a register of a software engine: for lnd_ops.reg_write32.
 * @fabric: the fabric.
 * @node: our node, prepared.
 * @link: the link.
 * @offset: the register's offset, see docs/registers.md.
 * @value: the value. One for a register that is not the driver's to write is dropped.
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
 * @node: our node, prepared.
 * @link: the link.
 * @lane: enum lnd_lane.
 * @to: the receiving node's number. Ring it afterwards.
 * @frame: the frame.
 * @len: its bytes.
 * @sent: if not NULL: enum lnd_send, what lnd_ops.send has to return. Written also with an error:
 *        LND_SEND_FULL for LND_E_WAIT and LND_E_BUSY, LND_SEND_TOO_LONG for LND_E_TOO_LONG, else
 *        LND_SEND_FAILED.
 *
 * Context: any; one at a time for a node.
 * Return: LND_OK; LND_E_WAIT (no room, or the receiver has never been there); LND_E_LINK (no such
 * link, or our end of it has no clock); LND_E_NO_ROUTE; LND_E_TOO_LONG; LND_E_NULL, LND_E_ALIGN,
 * LND_E_NI, LND_E_ARGUMENT, LND_E_BUSY (another context sends), LND_E_GONE (not prepared, or left),
 * LND_E_RING (the mailbox is damaged).
 */
enum lnd_error lnd_soft_send(struct lnd_soft_node *node,
			uint32_t link,
			uint32_t lane,
			uint32_t to,
			const void *frame,
			size_t len,
			uint32_t *sent);

/**
 * lnd_soft_ready() - Whether the next frame into a mailbox finds room: for lnd_ops.ready.
 * @node: our node, prepared.
 * @link: the link.
 * @lane: enum lnd_lane.
 * @to: the receiving node's number.
 *
 * Context: any; one at a time for a node, not beside lnd_soft_send().
 * Return: 1 or 0.
 */
uint32_t lnd_soft_ready(struct lnd_soft_node *node, uint32_t link, uint32_t lane, uint32_t to);

/**
 * lnd_soft_receive() - Copies the next frame out of this node's mailboxes.
 * @node: our node, prepared.
 * @budget: most frames out of one mailbox in one pass, at least 1.
 * @into: room for the frame, initialised.
 * @room: its bytes, at least lnd_soft_frame_max().
 * @arrival: its size is set; filled.
 *
 * Goes through the mailboxes in passes, control lanes first; LND_E_END ends a pass, and the next call
 * begins another. The frame stays in its mailbox until lnd_soft_release(); if the next receive comes
 * before, it waits there for the next pass, with all that is behind it: what to do when
 * lnd_frame_in() says LND_E_WAIT. A pass that has had a frame may have left others.
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
 * lnd_soft_release() - Takes the frame that was received last out of its mailbox.
 * @node: our node. Without such a frame nothing happens.
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
 * lnd_soft_join() - Begins to be a node of a fabric.
 * @mem: memory for the object, until lnd_soft_leave().
 * @len: its bytes, at least lnd_soft_node_size().
 * @fabric: the fabric.
 * @args: who and how.
 * @node: where the object's pointer is written.
 *
 * What a former life of the node held of others goes back, and its links stop. Takes time linear in
 * the fabric's descriptors. Continue with lnd_soft_prepare().
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_MEMORY, LND_E_ARGUMENT (no
 * such node or flag), LND_E_BUSY (the node is taken, or its death was not declared), LND_E_STALE
 * (declared dead meanwhile).
 */
enum lnd_error lnd_soft_join(void *mem,
			size_t len,
			const struct lnd_soft_fabric *fabric,
			const struct lnd_soft_join_args *args,
			struct lnd_soft_node **node);

/**
 * lnd_soft_prepare() - Formats the node's link memories and mailboxes, once no peer's engine reads
 * what its former life has left.
 * @node: the node.
 *
 * Context: thread.
 * Return: LND_OK; LND_E_WAIT (not yet: again, a millisecond later); LND_E_NULL, LND_E_ALIGN,
 * LND_E_NI, LND_E_BUSY (another context does it), LND_E_STALE (declared dead meanwhile), LND_E_RING
 * (the link memories do not fit). What has failed, fails again, until the node can send and receive.
 */
enum lnd_error lnd_soft_prepare(struct lnd_soft_node *node);

/**
 * lnd_soft_announce() - From now on the node counts as alive: its engines are there.
 * @node: the node, prepared.
 * @ring: whom to ring, or NULL.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_GONE (not prepared, or left),
 * LND_E_STALE (declared dead meanwhile).
 */
enum lnd_error lnd_soft_announce(struct lnd_soft_node *node,
			    uint64_t *ring);

/**
 * lnd_soft_is_alive() - Whether the node is still ours: it was not declared dead, also while it joins.
 * @node: the node.
 *
 * One that has been declared dead although it lives must stop at once: nobody waits for it.
 *
 * Context: any.
 * Return: 1 or 0.
 */
uint32_t lnd_soft_is_alive(struct lnd_soft_node *node);

/**
 * lnd_soft_leave() - Leaves in good order, or gives up joining; the object's memory is the caller's
 * again.
 * @node: the node. Its NI is destroyed, its engines are stopped and not stepped any more, and no
 *        call of it is under way or comes later.
 * @ring: whom to ring, or NULL.
 *
 * Context: thread.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY (a call is under way).
 */
enum lnd_error lnd_soft_leave(struct lnd_soft_node *node, uint64_t *ring);

/**
 * lnd_soft_incarnation() - The node's life: what lnd_config.life wants.
 * @node: the node.
 *
 * Context: any.
 * Return: the life, or 0 if the node is not prepared, or no node.
 */
uint64_t lnd_soft_incarnation(struct lnd_soft_node *node);

/**
 * lnd_soft_node_get() - What the node table says of a node.
 * @fabric: the fabric.
 * @node: the node's number.
 * @info: its size is set; filled.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_ARGUMENT (no such node).
 */
enum lnd_error lnd_soft_node_get(const struct lnd_soft_fabric *fabric,
			    uint32_t node,
			    struct lnd_soft_node_info *info);

/**
 * lnd_soft_watch() - A node that stands elsewhere than when this node was told last.
 * @node: the node; it is not told of itself.
 * @info: its size is set; filled with where the other node stands now.
 *
 * Call it when rung, and now and then, until LND_E_END. A node found dead or absent, or in another
 * life, is down: lnd_peer_event() wants to know.
 *
 * Context: any.
 * Return: LND_OK, LND_E_END (nothing new), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY.
 */
enum lnd_error lnd_soft_watch(struct lnd_soft_node *node,
			 struct lnd_soft_node_info *info);

/**
 * lnd_soft_declare_dead() - Declares a node dead.
 * @fabric: the fabric.
 * @node: the node's number.
 * @life: the life that has ended; 0: whichever it is.
 * @ring: whom to ring, or NULL.
 *
 * The caller has the proof that none of the node's engines touches memory any more: its machine is
 * gone. A node that is dead already is no error.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT (no such node), LND_E_GONE (nobody
 * is this node), LND_E_STALE (it lives another life).
 */
enum lnd_error lnd_soft_declare_dead(const struct lnd_soft_fabric *fabric,
				uint32_t node,
				uint64_t incarnation,
				uint64_t *ring);

/**
 * lnd_soft_window() - Where a node's payload window lies.
 * @fabric: the fabric.
 * @node: the node's number.
 * @base: where the address of its first byte is written.
 * @len: where its bytes are written.
 *
 * Context: any.
 * Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_ARGUMENT (no such node).
 */
enum lnd_error lnd_soft_window(const struct lnd_soft_fabric *fabric, uint32_t node, void **base, uint64_t *len);

/**
 * lnd_soft_read() - Copies out of a node's window: for lnd_ops.mem_read.
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
 * lnd_soft_lend() - Tells the memory oracle that engines may access bytes of our window.
 * @fabric: the fabric.
 * @node: our node, joined with LND_SOFT_LEASES.
 * @addr: offset in its window.
 * @len: bytes.
 * @written: 0: engines may read them; 1: engines may write them.
 *
 * Before the transfer is submitted. Its counterpart is lnd_soft_take_back(), when it is finalized.
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
 * lnd_soft_take_back() - Tells the memory oracle that engines may no longer access bytes.
 * @fabric: the fabric.
 * @node: our node.
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
