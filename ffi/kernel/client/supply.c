// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Memory for peers' requests (LU-19797). Only a node's thread reports. If it waited for memory,
 * reclaim could wait for a report of the same thread. So the thread takes only memory that is free:
 *
 * - A spare message, with the pages of the longest payload that comes with its request, exists
 *   before a request is offered to the library. Without one the request stays in its mailbox.
 * - A request that needs more pages than are free is answered later, by the work below.
 *
 * The work may wait for memory, because only peers wait for the work.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "client.h"

#define SPARE_PAGES	DIV_ROUND_UP(PAGE_SIZE - 1 + LND_HOST_INLINE, PAGE_SIZE)
#define AGAIN	(HZ / 50)	/* until the next attempt */

static void lnd_host_spare_drop(struct lnd_host_op *op)
{
	lnd_host_map_free(&op->map);
	lnd_host_payload_put(op);
	lnd_host_op_free(op);
}

/* Makes a spare unless there is one. Context: thread. Returns whether there is one. */
static bool lnd_host_spare_make(struct lnd_host_node *node, gfp_t gfp)
{
	struct lnd_host_op *op;

	if (READ_ONCE(node->upper->spare))
		return true;
	op = lnd_host_op_alloc(gfp);
	if (!op)
		return false;
	if (lnd_host_payload_room(op, SPARE_PAGES, gfp) ||
	    lnd_host_map_room(&op->map, SPARE_PAGES, gfp)) {
		lnd_host_spare_drop(op);
		return false;
	}
	/* The node's thread and the work may both have made one. */
	if (cmpxchg(&node->upper->spare, NULL, op))
		lnd_host_spare_drop(op);
	return true;
}

/**
 * lnd_host_spare_ready() - Whether there is memory for the next request.
 * @node: the node.
 *
 * If not, the node is woken when there is.
 *
 * Context: the node's thread. Does not wait.
 * Return: true if there is.
 */
bool lnd_host_spare_ready(struct lnd_host_node *node)
{
	if (lnd_host_spare_make(node, LND_HOST_NO_WAIT))
		return true;
	queue_delayed_work(system_unbound_wq, &node->upper->supply, 0);
	return false;
}

/**
 * lnd_host_spare_take() - Takes the message for a request.
 * @node: the node.
 *
 * Context: the node's thread. Does not wait.
 * Return: the message, or NULL if a request came where none is expected.
 */
struct lnd_host_op *lnd_host_spare_take(struct lnd_host_node *node)
{
	return lnd_host_fault(LND_HOST_AT_SPARE) ? NULL : xchg(&node->upper->spare, NULL);
}

/**
 * lnd_host_later() - Queues a request until there is memory.
 * @op: the request.
 *
 * Context: the node's thread. Does not wait.
 */
void lnd_host_later(struct lnd_host_op *op)
{
	struct lnd_host_node *node = op->node;

	spin_lock(&node->upper->lock);
	list_add_tail(&op->later, &node->upper->hungry);
	spin_unlock(&node->upper->lock);
	queue_delayed_work(system_unbound_wq, &node->upper->supply, 0);
}

/**
 * lnd_host_next_hungry() - The request that has waited longest for memory.
 * @node: the node.
 *
 * Context: thread.
 * Return: the request, removed from the queue, or NULL.
 */
struct lnd_host_op *lnd_host_next_hungry(struct lnd_host_node *node)
{
	struct lnd_host_op *op;

	spin_lock(&node->upper->lock);
	op = list_first_entry_or_null(&node->upper->hungry, struct lnd_host_op, later);
	if (op)
		list_del_init(&op->later);
	spin_unlock(&node->upper->lock);
	return op;
}

/**
 * lnd_host_supply() - Allocates memory for the next request, or schedules another attempt.
 * @node: the node.
 *
 * Context: the node's work, which may wait for memory.
 * Return: false if no memory was allocated this time.
 */
bool lnd_host_supply(struct lnd_host_node *node)
{
	bool late = lnd_host_fault(LND_HOST_AT_SUPPLY_LATE);

	if (!late && lnd_host_spare_make(node, LND_HOST_MAY_WAIT))
		lnd_host_node_wake(node);
	else
		queue_delayed_work(system_unbound_wq, &node->upper->supply, AGAIN);
	return !late;
}

/**
 * lnd_host_supply_init() - Initialises an empty queue.
 * @upper: a node's.
 * @work: calls lnd_host_supply(), and answers the waiting requests.
 *
 * Context: thread.
 */
void lnd_host_supply_init(struct lnd_host_upper *upper, work_func_t work)
{
	INIT_LIST_HEAD(&upper->hungry);
	INIT_DELAYED_WORK(&upper->supply, work);
}

/**
 * lnd_host_supply_stop() - Stops the supply. Waiting requests stay in the node's list.
 * @node: the node, whose thread does not run.
 *
 * Context: thread.
 */
void lnd_host_supply_stop(struct lnd_host_node *node)
{
	struct lnd_host_op *op;

	cancel_delayed_work_sync(&node->upper->supply);
	op = xchg(&node->upper->spare, NULL);
	if (op)
		lnd_host_spare_drop(op);
}
