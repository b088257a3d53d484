// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What LNet registers, and what the host calls of its upper layer. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "lnet.h"

static int __maybe_unused lnd_lnet_timeout(void)
{
	return lnet_get_lnd_timeout();
}

static const struct lnet_lnd lnd_lnet = {
	.lnd_type = LND_LNET_TYPE,
	.lnd_startup = lnd_lnet_startup,
	.lnd_shutdown = lnd_lnet_shutdown,
	.lnd_send = lnd_lnet_send,
	.lnd_recv = lnd_lnet_recv,
	.lnd_eager_recv = lnd_lnet_eager_recv,
	.lnd_ctl = lnd_lnet_ctl,
#ifdef LND_HAVE_TUN_DEFAULTS
	.lnd_tun_defaults = lnd_lnet_defaults,
#endif
#ifdef LND_HAVE_NL
	.lnd_nl_get = lnd_lnet_nl_get,
	.lnd_nl_set = lnd_lnet_nl_set,
	.lnd_keys = &lnd_lnet_keys,
#endif
#ifdef LND_HAVE_GET_TIMEOUT
	.lnd_get_timeout = lnd_lnet_timeout,
#endif
};

/* Context: thread. */
int lnd_upper_init(void)
{
	int rc = LND_LIBCFS_SETUP();

	if (!rc)
		lnet_register_lnd(&lnd_lnet);
	return rc;
}

/* Context: thread. */
void lnd_upper_exit(void)
{
	lnet_unregister_lnd(&lnd_lnet);
}

/* LNet starts the nodes. Context: thread. */
int lnd_upper_add(struct lnd_host_fabric *fabric)
{
	lnd_lnet_add(fabric);
	return 0;
}

/* Context: thread. */
void lnd_upper_remove(struct lnd_host_fabric *fabric)
{
	lnd_lnet_remove(fabric);
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
	INIT_LIST_HEAD(&upper->messages);
	INIT_LIST_HEAD(&upper->undecided);
	INIT_LIST_HEAD(&upper->waiting);
	INIT_LIST_HEAD(&upper->hungry);
	INIT_LIST_HEAD(&upper->looped);
	INIT_WORK(&upper->loop, lnd_lnet_loop_work);
	INIT_WORK(&upper->supply, lnd_lnet_supply);
	node->upper = upper;
	return 0;
}

/* Context: thread. */
void lnd_upper_free(struct lnd_host_node *node)
{
	lnd_host_free(node->upper, sizeof(*node->upper));
}

/* A node that LNet does not use has no interface to report to. Context: thread. */
int lnd_upper_config(struct lnd_host_node *node, struct lnd_config *config)
{
	if (!node->upper->ni || node->upper->removed)
		return -ENODEV;
	/* A lazy portal waits without bound, and LNet decides on everything in the end. */
	config->decision_bound = LND_NEVER;
	/*
	 * Frames go from memory to memory, or over a network that checks them. All nodes of a
	 * network do the same.
	 */
	config->flags &= ~LND_CHECKSUM;
	return 0;
}

/*
 * Until the node's start has ended nothing can be received: requests stay in their mailboxes.
 * Context: the node's thread.
 */
bool lnd_upper_ready(struct lnd_host_node *node)
{
	return READ_ONCE(node->alive) && lnd_lnet_ready(node->upper);
}

/* Context: the node's thread. */
bool lnd_upper_request(struct lnd_host_node *node, const struct lnd_arrival *arrival)
{
	return lnd_lnet_request(node, arrival);
}

/* Context: the node's thread. */
void lnd_upper_report(struct lnd_host_node *node, const struct lnd_report *report)
{
	struct lnd_lnet_message *message = (void *)(uintptr_t)report->user;

	/* A short request that this module has received by itself. */
	if (message)
		lnd_lnet_end(message, report->error, report->health, report->bytes);
}

/* Context: the node's thread. */
void lnd_upper_event(struct lnd_host_node *node, const struct lnd_event *event)
{
	struct lnd_host_upper *upper = node->upper;
	struct lnet_nid nid;

	/*
	 * All links are asked: events of others may have been lost. Of peers whose events are lost
	 * LNet learns by its own messages.
	 */
	if (event->kind == LND_EVENT_LINK || event->kind == LND_EVENT_OVERRUN)
		lnd_lnet_links(upper, lnd_host_links(node, LND_LINK_UP));
	if (event->kind != LND_EVENT_PEER)
		return;
	lnd_lnet_nid(upper, event->nid, &nid);
	/* LNet's own clock, which moves with the ticks: it ignores what is said of the future. */
	if (event->state == LND_PEER_GOOD || event->state == LND_PEER_DOWN)
		LND_NOTIFY(upper->ni, &nid, event->state == LND_PEER_GOOD, false,
			   div_u64(lnd_host_tick(), NSEC_PER_SEC));
}

/* Context: the node's thread. */
u64 lnd_upper_run(struct lnd_host_node *node, u64 now)
{
	return lnd_lnet_retry(node->upper, now);
}

/* The library accepts nothing any more. Context: the node's thread. */
void lnd_upper_quiescent(struct lnd_host_node *node)
{
	lnd_lnet_retry(node->upper, lnd_host_now());
}

/* Context: thread. */
void lnd_upper_halt(struct lnd_host_node *node)
{
	lnd_lnet_supply_stop(node->upper);
}

/* What waits for room was never accepted: a last one may have come. Context: thread. */
void lnd_upper_left(struct lnd_host_node *node)
{
	WARN_ON(!list_empty(&node->upper->messages));
}

/* What LNet has not decided stays: it calls lnd_recv() for each. Context: thread. */
void lnd_upper_drop(struct lnd_host_node *node)
{
	lnd_lnet_drop(&node->upper->messages);
	lnd_lnet_drop(&node->upper->waiting);
	lnd_lnet_drop(&node->upper->hungry);
}

MODULE_LICENSE("Dual MIT/GPL");
MODULE_AUTHOR("The LND project's authors");
/* Which network lnetctl has to name differs between versions of LNet: modinfo says which. */
MODULE_INFO(lnet_network, LND_LNET_NETWORK);
MODULE_DESCRIPTION(LND_LNET_DESCRIPTION);
