// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * One node of this host: its lock, its thread and its timer.
 *
 * The thread is the shard's: it receives messages, handles timeouts, and reports. Interrupts,
 * engines, submitters and the timer only wake it.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_host.h"
#include "upper.h"

#define FRAMES	64	/* messages received between two calls of lnd_run() */

/*
 * Receives messages. Returns whether there may be more to receive now. A message that stays in its
 * mailbox is not counted, because a node with many mailboxes would poll all the time.
 */
static bool lnd_host_receive(struct lnd_host_node *node)
{
	unsigned int taken = 0;

	while (taken < FRAMES) {
		struct lnd_soft_arrival arrival = { .size = sizeof(arrival) };
		struct lnd_arrival request = { .size = sizeof(request) };
		enum lnd_error error;

		if (lnd_soft_receive(node->soft_node, FRAMES, node->frame, node->frame_bytes,
				     &arrival))
			return false;
		/*
		 * Without memory for it, a request stays in its mailbox. Answers and credits need
		 * none and continue (INV-11).
		 */
		if (arrival.lane == LND_LANE_REQUEST && !lnd_upper_ready(node))
			continue;
		/* A mailbox has one writer. */
		error = lnd_frame_in(node->ni, arrival.link, lnd_soft_nid(arrival.from),
				     node->frame, arrival.len, lnd_host_now(), &request);
		if (error == LND_REQUEST && !lnd_upper_request(node, &request))
			continue;
		/*
		 * A frame without room stays in its mailbox, with those behind it: lnd_run() calls
		 * wake() when there is room.
		 */
		if (error == LND_E_WAIT || error == LND_E_BUSY)
			continue;
		lnd_soft_release(node->soft_node);
		taken++;
	}
	return true;
}

/* Handles nodes that have joined or gone. The declaration of a death needs no further proof. */
static void lnd_host_watch(struct lnd_host_node *node)
{
	struct lnd_soft_node_info info = { .size = sizeof(info) };

	while (!lnd_soft_watch(node->soft_node, &info)) {
		u64 nid = lnd_soft_nid(info.node);

		if (info.state == LND_SOFT_DEAD || info.state == LND_SOFT_ABSENT ||
		    info.state == LND_SOFT_ALIVE)
			lnd_peer_event(node->ni, nid, info.state == LND_SOFT_ALIVE,
				       lnd_host_now());
	}
}

/* Steps the engines that were rung; one that has much to do goes on in its own thread. */
static void lnd_host_node_engines(struct lnd_host_node *node)
{
	u32 i;

	for (i = 0; i < node->fabric->links; i++) {
		struct lnd_host_link *link = &node->link[i];

		if (test_and_clear_bit(LND_HOST_RUNG, &link->flags) && lnd_host_link_step(link))
			lnd_host_link_kick(link);
	}
}

/**
 * lnd_host_node_thread() - The function of a node's thread.
 * @data: the node.
 *
 * Context: its thread.
 * Return: 0.
 */
int lnd_host_node_thread(void *data)
{
	struct lnd_host_node *node = data;

	while (!kthread_should_stop()) {
		u64 next, now;
		bool more;

		lnd_host_watch(node);
		more = lnd_host_receive(node);
		now = lnd_host_now();
		next = lnd_host_node_run(node, now);
		lnd_host_node_engines(node);
		if (!more && next > now)
			lnd_host_node_rest(node, now, next);
		else
			cond_resched();
	}
	hrtimer_cancel(&node->timer);
	lnd_host_changes_log(node, LND_NEVER);
	return 0;
}

/**
 * lnd_host_node_alloc() - Allocates a node that is not alive yet.
 * @fabric: its fabric.
 * @number: its number.
 *
 * Context: thread.
 * Return: the node or NULL.
 */
struct lnd_host_node *lnd_host_node_alloc(struct lnd_host_fabric *fabric, u32 number)
{
	struct lnd_host_node *node;

	node = lnd_host_alloc(sizeof(*node), LND_HOST_MAY_WAIT, LND_HOST_AT_NODE);
	if (!node)
		return NULL;
	if (lnd_host_node_init(node, fabric, number)) {
		lnd_host_free(node, sizeof(*node));
		return NULL;
	}
	return node;
}

/* Context: thread. */
void lnd_host_node_free(struct lnd_host_node *node)
{
	lnd_upper_free(node);
	lnd_host_free(node, sizeof(*node));
}
