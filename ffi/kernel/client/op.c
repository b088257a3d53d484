// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * One message of this host or of a peer, from its entry in its node's list to its end.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "client.h"

unsigned int lnd_host_deadline_ms = 5000;
module_param_named(deadline_ms, lnd_host_deadline_ms, uint, 0444);
MODULE_PARM_DESC(deadline_ms, "ms that a message has, over all its waits");

/**
 * lnd_host_op_alloc() - A zeroed message of the upper layer.
 * @gfp: as in lnd_host_alloc().
 *
 * Context: thread.
 * Return: the message or NULL.
 */
struct lnd_host_op *lnd_host_op_alloc(gfp_t gfp)
{
	struct lnd_host_op *op = NULL;

	if (!lnd_host_starves(gfp, LND_HOST_AT_MESSAGE))
		op = kzalloc(sizeof(*op), gfp);
	if (!op)
		return NULL;
	INIT_LIST_HEAD(&op->list);
	INIT_LIST_HEAD(&op->later);
	lnd_host_hold(LND_HOST_HELD_OPS, 1);
	return op;
}

/**
 * lnd_host_op_free() - Frees a message.
 * @op: from lnd_host_op_alloc().
 *
 * Context: thread.
 */
void lnd_host_op_free(struct lnd_host_op *op)
{
	lnd_host_hold(LND_HOST_HELD_OPS, -1);
	kfree(op);
}

/*
 * Enters a message into its node's list. The node's thread, and readers of files, read the list:
 * the message's owner and kind are filled in before.
 * Context: thread.
 */
void lnd_host_op_begin(struct lnd_host_op *op, struct lnd_host_node *node, u32 kind, u64 seed)
{
	op->node = node;
	op->kind = kind;
	op->seed = seed;
	op->begun = lnd_host_now();
	spin_lock(&node->upper->lock);
	list_add_tail(&op->list, &node->upper->ops);
	spin_unlock(&node->upper->lock);
}

/* Makes a worker's message with its pages; NULL: no memory. Context: thread; waits for memory. */
struct lnd_host_op *lnd_host_op_new(struct lnd_host_node *node, struct lnd_host_worker *worker,
				    u32 kind, u32 length, u64 peer)
{
	struct lnd_host_op *op = lnd_host_op_alloc(LND_HOST_MAY_WAIT);
	u64 seed = get_random_u64();

	if (!op)
		return NULL;
	op->worker = worker;
	op->peer = peer;
	if (lnd_host_payload_get(op, length, seed, LND_HOST_MAY_WAIT)) {
		lnd_host_payload_put(op);
		lnd_host_op_free(op);
		return NULL;
	}
	lnd_host_op_begin(op, node, kind, seed);
	return op;
}

/* Frees a message that only the upper layer holds. Context: thread. */
void lnd_host_op_end(struct lnd_host_op *op)
{
	spin_lock(&op->node->upper->lock);
	list_del(&op->list);
	list_del(&op->later);
	spin_unlock(&op->node->upper->lock);
	lnd_host_unmap(&op->node->window, &op->map, &op->payload, false);
	lnd_host_map_free(&op->map);
	lnd_host_payload_put(op);
	lnd_host_op_free(op);
}

/**
 * lnd_host_submit() - Submits a message to the library.
 * @op: the message, with its payload mapped; the report owns it if this returns LND_OK.
 * @kind: enum lnd_kind.
 * @nid: the destination.
 *
 * Context: thread.
 * Return: enum lnd_error.
 */
enum lnd_error lnd_host_submit(struct lnd_host_op *op, u32 kind, u64 nid)
{
	struct lnd_host_header header = {
		.magic = cpu_to_le32(LND_HOST_MAGIC),
		.kind = cpu_to_le32(kind),
		.length = cpu_to_le32(op->payload.length),
		.seed = cpu_to_le64(op->seed),
	};
	u64 now = lnd_host_now();
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = kind,
		.nid = nid,
		.link = LND_ANY_LINK,
		.header = &header,
		.header_len = sizeof(header),
		.frags = op->map.frags,
		.nfrags = op->map.nfrags,
		.deadline = now + lnd_host_deadline_ms * (u64)NSEC_PER_MSEC,
		.user = (uintptr_t)op,
	};

	/* A worker must not end a message: the node's thread ends all of them. */
	return lnd_submit(op->node->ni, &request, now, NULL, NULL);
}
