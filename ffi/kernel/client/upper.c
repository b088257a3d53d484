// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the host calls of this upper layer; the decisions on requests are in target.c. */
#include <linux/module.h>

#include "client.h"

/* Context: thread. */
int lnd_upper_init(void)
{
	return lnd_host_deadline_ms ? 0 : -EINVAL;
}

/* Context: thread. */
void lnd_upper_exit(void)
{
}

/* Nodes run from the start. Context: thread. */
int lnd_upper_add(struct lnd_host_fabric *fabric)
{
	return lnd_host_fabric_start(fabric);
}

/* Context: thread. */
void lnd_upper_remove(struct lnd_host_fabric *fabric)
{
	lnd_host_debugfs_remove(fabric);
	lnd_host_client_stop(fabric);
	lnd_host_fabric_stop(fabric);
}

/* Context: thread. */
int lnd_upper_alloc(struct lnd_host_node *node)
{
	struct lnd_host_upper *upper = lnd_host_alloc(sizeof(*upper), LND_HOST_MAY_WAIT,
						      LND_HOST_AT_UPPER);

	if (!upper)
		return -ENOMEM;
	upper->node = node;
	spin_lock_init(&upper->lock);
	INIT_LIST_HEAD(&upper->ops);
	lnd_host_supply_init(upper, lnd_host_supply_work);
	upper->expiry = LND_NEVER;
	node->upper = upper;
	return 0;
}

/* Context: thread. */
void lnd_upper_free(struct lnd_host_node *node)
{
	lnd_host_free(node->upper, sizeof(*node->upper));
}

/* Context: thread. */
int lnd_upper_config(struct lnd_host_node *node, struct lnd_config *config)
{
	node->upper->expiry = LND_NEVER;
	return 0;
}

/* Context: the node's thread. */
bool lnd_upper_ready(struct lnd_host_node *node)
{
	return lnd_host_spare_ready(node);
}

/* Context: the node's thread. */
void lnd_upper_report(struct lnd_host_node *node, const struct lnd_report *report)
{
	lnd_host_finalize(node, report);
}

/* Context: the node's thread. */
void lnd_upper_event(struct lnd_host_node *node, const struct lnd_event *event)
{
	if (event->kind == LND_EVENT_PEER &&
	    (event->state == LND_PEER_DOWN || event->state == LND_PEER_UNKNOWN))
		lnd_host_expire(node, event->nid, -EHOSTDOWN);
}

/* Context: the node's thread. */
u64 lnd_upper_run(struct lnd_host_node *node, u64 now)
{
	if (now >= node->upper->expiry)
		lnd_host_expire(node, 0, -ETIMEDOUT);
	return node->upper->expiry;
}

/* Context: the node's thread. */
void lnd_upper_quiescent(struct lnd_host_node *node)
{
	lnd_host_expire(node, U64_MAX, -ESHUTDOWN);
}

/* Context: thread. */
void lnd_upper_halt(struct lnd_host_node *node)
{
	lnd_host_supply_stop(node);
}

/* Whether all remaining messages are requests that wait for memory. */
static bool lnd_host_only_hungry(const struct lnd_host_upper *upper)
{
	const struct lnd_host_op *op;

	list_for_each_entry(op, &upper->ops, list) {
		if (list_empty(&op->later))
			return false;
	}
	return true;
}

/* Context: thread. */
void lnd_upper_left(struct lnd_host_node *node)
{
	struct lnd_host_upper *upper = node->upper;

	WARN_ON(!lnd_host_only_hungry(upper));
	lnd_host_taken(list_empty(&upper->ops) ? LND_HOST_AT_STOP_IDLE : LND_HOST_AT_STOP_HUNGRY);
}

/* Context: thread. */
void lnd_upper_drop(struct lnd_host_node *node)
{
	struct lnd_host_op *op, *next;

	list_for_each_entry_safe(op, next, &node->upper->ops, list) {
		if (op->worker)
			lnd_host_client_crashed(op);
		lnd_host_op_end(op);
	}
}

MODULE_LICENSE("Dual MIT/GPL");
MODULE_AUTHOR("The LND project's authors");
MODULE_DESCRIPTION("LND over software hardware: loop and ivshmem");
