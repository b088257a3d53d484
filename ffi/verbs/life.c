// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A node's start, its leaving in good order, its death. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "lnd_verbs.h"
#include "upper.h"

#define CONNECTIONS	255	/* out of service at once, at most */
#define LIST_BYTES	(LND_VERBS_SEGMENTS * sizeof(struct lnd_verbs_segment))
#define DEPTH	32	/* requests of a peer without a decision; receives bound them, too */

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
	struct lnd_verbs_node *verbs = lnd_host_alloc(sizeof(*verbs), LND_HOST_MAY_WAIT,
						      LND_HOST_AT_NODE);

	if (!verbs)
		return NULL;
	init_waitqueue_head(&verbs->settled);
	xa_init(&verbs->peers);
	mutex_init(&verbs->adding);
	spin_lock_init(&verbs->arrivals_lock);
	INIT_DELAYED_WORK(&verbs->looker, lnd_verbs_look_again);
	verbs->nid = lnd_soft_nid(number);
	if (lnd_host_node_init(&verbs->host, fabric, number)) {
		lnd_host_free(verbs, sizeof(*verbs));
		return NULL;
	}
	return &verbs->host;
}

/* Context: thread. */
void lnd_host_node_free(struct lnd_host_node *node)
{
	lnd_upper_free(node);
	lnd_host_free(lnd_verbs_of(node), sizeof(struct lnd_verbs_node));
}

static int lnd_verbs_config(struct lnd_verbs_node *node, struct lnd_config *config)
{
	enum lnd_error error = lnd_config_init(config, LND_ABI_VERSION, lnd_host_slots,
					       node->host.fabric->nodes, 1);

	if (error)
		return lnd_error_errno(error);
	config->nid = node->nid;
	config->incarnation = node->incarnation;
	/*
	 * Not LND_RELIABLE: frames that were under way when a connection failed are lost, or are
	 * not known to have arrived. Nothing else is lost.
	 */
	config->flags |= LND_CANCEL_FIRST | LND_CONNECTION_CHANNEL;
	/* One more than there are places for would stop all of them. */
	config->connections = min_t(u32, node->host.fabric->nodes, CONNECTIONS);
	config->depth = DEPTH;
	config->drain_bound = lnd_host_drain_ms * (u64)NSEC_PER_MSEC;
	config->hello_timeout = lnd_verbs_connect_ms * (u64)NSEC_PER_MSEC;
	config->lists = lnd_host_slots;
	config->immediate_max = LND_HOST_INLINE;
	return lnd_upper_config(&node->host, config);
}

static int lnd_verbs_descs(struct lnd_verbs_node *node)
{
	size_t pieces = array_size(lnd_host_slots, LND_VERBS_PIECES);
	u32 i;

	node->desc = lnd_host_alloc(array_size(lnd_host_slots, sizeof(*node->desc)),
				    LND_HOST_MAY_WAIT, LND_HOST_AT_ENGINE);
	node->sg = lnd_host_alloc(array_size(pieces, sizeof(*node->sg)), LND_HOST_MAY_WAIT,
				  LND_HOST_AT_ENGINE);
	if (!node->desc || !node->sg)
		return -ENOMEM;
	for (i = 0; i < lnd_host_slots; i++) {
		node->desc[i].sg = &node->sg[i * LND_VERBS_PIECES];
		sg_init_table(node->desc[i].sg, LND_VERBS_PIECES);
		INIT_LIST_HEAD(&node->desc[i].pull);
		INIT_LIST_HEAD(&node->desc[i].regions);
		if (!lnd_host_fault(LND_HOST_AT_DESC_LIST))
			node->desc[i].list = kcalloc(LND_VERBS_SEGMENTS,
						     sizeof(*node->desc[i].list), GFP_KERNEL);
		if (!node->desc[i].list)
			return -ENOMEM;
		lnd_host_hold(LND_HOST_HELD_BYTES, LIST_BYTES);
	}
	return 0;
}

/*
 * Without WQ_MEM_RECLAIM: the end of an attempt waits for the queue in which rdma_cm resolves
 * addresses, which has no thread in reserve either, and the kernel warns of one that waits so.
 */
static int lnd_verbs_peers_init(struct lnd_verbs_node *node)
{
	node->workers = lnd_host_fault(LND_HOST_AT_WORKERS) ?
				NULL :
				alloc_workqueue("lnd_verbs/%u", WQ_UNBOUND, 0, node->host.number);
	return node->workers ? 0 : -ENOMEM;
}

/* Peers that are known from the start. */
static int lnd_verbs_know(struct lnd_verbs_node *node)
{
	u64 nid;
	u32 i;

	for (i = 0; (nid = lnd_verbs_listed(i)); i++) {
		if (nid != node->nid && !lnd_verbs_peer_add(node, nid))
			return -ENOMEM;
	}
	return 0;
}

static int lnd_verbs_create(struct lnd_verbs_node *verbs)
{
	struct lnd_host_node *node = &verbs->host;
	struct lnd_config config;
	enum lnd_error error;
	int rc = lnd_verbs_config(verbs, &config);

	if (rc)
		return rc;
	verbs->frame_bytes = lnd_frame_size(&config);
	rc = lnd_verbs_handles_init(verbs) ?: lnd_verbs_descs(verbs) ?:
	     lnd_verbs_frames_init(verbs) ?: lnd_verbs_peers_init(verbs) ?:
	     lnd_verbs_know(verbs);
	if (rc)
		return rc;
	node->ni_bytes = lnd_ni_size(&config);
	node->ni_memory = lnd_host_alloc(node->ni_bytes, LND_HOST_MAY_WAIT, LND_HOST_AT_NI_MEMORY);
	if (!node->ni_memory)
		return -ENOMEM;
	error = lnd_host_fault(LND_HOST_AT_NI) ?
			LND_E_MEMORY :
			lnd_ni_create(node->ni_memory, node->ni_bytes, &config, &lnd_verbs_ops,
				      node, &node->ni);
	if (error)
		pr_err("node %u: %s: %s\n", node->number, lnd_error_name(error),
		       lnd_config_fault(&config, &lnd_verbs_ops) ?: "");
	return lnd_error_errno(error);
}

/* Requests are taken when there is a thread that takes their frames. */
static int lnd_verbs_run(struct lnd_verbs_node *verbs)
{
	struct lnd_host_node *node = &verbs->host;
	struct task_struct *thread;
	int rc = lnd_verbs_port_init(verbs);

	if (rc)
		return rc;
	thread = lnd_host_thread(lnd_verbs_thread, node, "lnd_node", node->number, 0,
				 LND_HOST_AT_NODE_THREAD);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	node->thread = thread;
	lnd_host_thread_bind(thread, node->cpus);
	wake_up_process(thread);
	lnd_host_await_links(node);
	return lnd_verbs_listen(verbs);
}

/* No thread, no connection, no request of a peer's, no timer afterwards. */
static void lnd_verbs_halt(struct lnd_verbs_node *verbs)
{
	struct lnd_host_node *node = &verbs->host;
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	WRITE_ONCE(verbs->ending, true);
	if (verbs->listener)
		rdma_destroy_id(verbs->listener);
	verbs->listener = NULL;
	if (node->thread)
		lnd_host_thread_stop(node->thread);
	node->thread = NULL;
	lnd_upper_halt(node);
	xa_for_each(&verbs->peers, nid, peer)
		lnd_verbs_peer_close(peer);
	lnd_verbs_port_exit(verbs);
	if (verbs->workers)
		destroy_workqueue(verbs->workers);
	verbs->workers = NULL;
	xa_for_each(&verbs->peers, nid, peer) {
		xa_erase(&verbs->peers, nid);
		lnd_verbs_peer_free(peer);
	}
	verbs->known = 0;
}

/* Releases everything of a halted node. */
static void lnd_verbs_clear(struct lnd_verbs_node *verbs)
{
	struct lnd_host_node *node = &verbs->host;
	u32 i;

	node->alive = false;
	lnd_upper_drop(node);
	if (node->window.node)
		lnd_verbs_handles_exit(verbs);
	node->window.node = NULL;
	lnd_verbs_frames_exit(verbs);
	lnd_host_free(node->ni_memory, node->ni_bytes);
	for (i = 0; verbs->desc && i < lnd_host_slots; i++) {
		lnd_verbs_unbounce(&verbs->desc[i]);
		if (verbs->desc[i].list)
			lnd_host_hold(LND_HOST_HELD_BYTES, -(long)LIST_BYTES);
		kfree(verbs->desc[i].list);
	}
	lnd_host_free(verbs->sg, array_size(array_size(lnd_host_slots, LND_VERBS_PIECES),
					    sizeof(*verbs->sg)));
	lnd_host_free(verbs->desc, array_size(lnd_host_slots, sizeof(*verbs->desc)));
	node->ni_memory = NULL;
	node->ni = NULL;
	verbs->sg = NULL;
	verbs->desc = NULL;
}

/**
 * lnd_host_node_start() - Creates the NI, starts the thread, and takes requests.
 * @node: a node that is not alive.
 *
 * Context: thread, with fabric->control.
 * Return: 0 or a negative errno.
 */
int lnd_host_node_start(struct lnd_host_node *node)
{
	struct lnd_verbs_node *verbs = lnd_verbs_of(node);
	int rc;

	if (node->alive)
		return -EBUSY;
	reinit_completion(&node->quiescent);
	node->flags = 0;
	down_write(&node->incarnation);
	verbs->ending = false;
	verbs->leaving = false;
	verbs->link_stopped = false;
	verbs->sinking = false;
	INIT_LIST_HEAD(&verbs->arrivals);
	INIT_LIST_HEAD(&verbs->posted);
	verbs->incarnation = get_random_u64() | 1;
	rc = lnd_verbs_create(verbs) ?: lnd_verbs_run(verbs);
	if (rc) {
		if (lnd_verbs_defect("leaky"))
			node->ni_memory = NULL;
		lnd_verbs_halt(verbs);
		lnd_verbs_clear(verbs);
	}
	up_write(&node->incarnation);
	/* Last: the thread passes requests from here on, and their receivers take the lock. */
	WRITE_ONCE(node->alive, !rc);
	/* Requests may have come before it was alive. */
	lnd_host_node_wake(node);
	return rc;
}

/**
 * lnd_host_node_kill() - Ends the node without a goodbye.
 * @node: the node.
 *
 * Context: thread, with fabric->control.
 * Return: 0 or -ESHUTDOWN if it is not alive.
 */
int lnd_host_node_kill(struct lnd_host_node *node)
{
	if (!node->alive)
		return -ESHUTDOWN;
	down_write(&node->incarnation);
	lnd_verbs_halt(lnd_verbs_of(node));
	lnd_verbs_clear(lnd_verbs_of(node));
	up_write(&node->incarnation);
	return 0;
}

/**
 * lnd_host_node_stop() - Leaves in good order.
 * @node: the node; may be not alive.
 *
 * Transfers are cancelled and end within the drain bounds: a connection can always be stopped.
 *
 * Context: thread, with fabric->control.
 */
void lnd_host_node_stop(struct lnd_host_node *node)
{
	u64 now = lnd_host_now();

	if (!node->alive)
		return;
	WRITE_ONCE(lnd_verbs_of(node)->leaving, true);
	lnd_shutdown(node->ni, now, now);
	while (!wait_for_completion_timeout(&node->quiescent, 2 * HZ)) {
		struct lnd_blocker blocker = { .size = sizeof(blocker) };
		u32 cursor = 0;

		if (!lnd_blocker_next(node->ni, &cursor, &blocker))
			pr_info("node %u: waiting for a thing of kind %u\n", node->number,
				blocker.kind);
	}
	down_write(&node->incarnation);
	lnd_verbs_halt(lnd_verbs_of(node));
	WARN_ON(lnd_ni_destroy(node->ni) != LND_OK);
	lnd_upper_left(node);
	lnd_verbs_clear(lnd_verbs_of(node));
	up_write(&node->incarnation);
}

/**
 * lnd_host_node_link() - Fails all connections of the link, as a cable that is pulled and put back.
 * @node: the node.
 * @link: the link.
 * @up: nothing is done for it: connections are made when frames wait.
 *
 * Context: thread, with fabric->control.
 * Return: 0 or a negative errno.
 */
int lnd_host_node_link(struct lnd_host_node *node, u32 link, bool up)
{
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	if (!node->alive)
		return -ESHUTDOWN;
	if (up)
		return 0;
	xa_for_each(&lnd_verbs_of(node)->peers, nid, peer) {
		spin_lock_bh(&peer->lock);
		if (peer->open)
			lnd_verbs_fail(peer, "ended on request");
		spin_unlock_bh(&peer->lock);
	}
	return 0;
}

/* There is no bus here. Context: thread. */
int lnd_host_node_bus(struct lnd_host_node *node, u32 link, bool gone)
{
	return -EOPNOTSUPP;
}
