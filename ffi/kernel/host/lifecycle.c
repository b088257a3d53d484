// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A node's start, its leaving in good order, and its death; and its links' cables. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/random.h>

#include "lnd_host.h"
#include "upper.h"

/* Joins as the node, after its former incarnation has been wound up. */
static int lnd_host_join(struct lnd_host_node *node)
{
	struct lnd_soft_join_args args = {
		.size = sizeof(args),
		.node = node->number,
		.random = get_random_u32(),
		.flags = LND_SOFT_LEASES,
		.features = U32_MAX,
	};
	unsigned int tries = 2000;
	enum lnd_error error;

	node->soft_node_bytes = lnd_soft_node_size(node->fabric->region);
	node->soft_node_memory = lnd_host_alloc(node->soft_node_bytes, LND_HOST_MAY_WAIT,
						LND_HOST_AT_SOFT_NODE);
	if (!node->soft_node_memory)
		return -ENOMEM;
	error = lnd_host_fault(LND_HOST_AT_JOIN) ? LND_E_BUSY :
		lnd_soft_join(node->soft_node_memory, node->soft_node_bytes,
			      node->fabric->region, &args, &node->soft_node);
	if (error)
		return lnd_error_errno(error);
	error = lnd_host_fault(LND_HOST_AT_PREPARE) ? LND_E_RING :
		lnd_soft_prepare(node->soft_node);
	while (error == LND_E_WAIT && --tries) {
		usleep_range(1000, 2000);
		error = lnd_soft_prepare(node->soft_node);
	}
	return lnd_error_errno(error);
}

static int lnd_host_create(struct lnd_host_node *node)
{
	struct lnd_host_fabric *fabric = node->fabric;
	struct lnd_config config;
	enum lnd_error error;
	u32 i;
	int rc;

	error = lnd_host_fault(LND_HOST_AT_CONFIG) ? LND_E_CONFIG :
		lnd_config_init(&config, LND_ABI_VERSION, lnd_host_slots, fabric->nodes,
				fabric->links);
	if (error)
		return lnd_error_errno(error);
	config.nid = lnd_soft_nid(node->number);
	config.incarnation = lnd_soft_incarnation(node->soft_node);
	/* Mailboxes lose no frame, and a frame is copied into one. */
	config.flags |= LND_RELIABLE | LND_ENDS_AT_ONCE;
	config.drain_bound = lnd_host_drain_ms * (u64)NSEC_PER_MSEC;
	config.hello_timeout = 200 * NSEC_PER_MSEC;
	config.lists = lnd_host_slots;
	config.immediate_max = LND_HOST_INLINE;
	rc = lnd_upper_config(node, &config);
	if (rc)
		return rc;
	for (i = 0; i < fabric->links; i++) {
		struct lnd_soft_link link = { .size = sizeof(link) };

		error = lnd_host_fault(LND_HOST_AT_RINGS) ? LND_E_LINK :
			lnd_soft_link_get(fabric->region, node->number, i, &link);
		if (error)
			return lnd_error_errno(error);
		config.rings[i].base = link.base;
		config.rings[i].len = link.len;
	}
	node->ni_bytes = lnd_ni_size(&config);
	node->ni_memory = lnd_host_alloc(node->ni_bytes, LND_HOST_MAY_WAIT, LND_HOST_AT_NI_MEMORY);
	if (!node->ni_memory)
		return -ENOMEM;
	rc = lnd_host_observe_start(node);
	if (rc)
		return rc;
	error = lnd_host_fault(LND_HOST_AT_NI) ? LND_E_MEMORY :
		lnd_ni_create(node->ni_memory, node->ni_bytes, &config, &lnd_host_ops, node,
			      &node->ni);
	return lnd_error_errno(error);
}

static int lnd_host_run(struct lnd_host_node *node)
{
	struct task_struct *thread;
	enum lnd_error error;
	u64 ring = 0;
	u32 i;
	int rc;

	for (i = 0; i < node->fabric->links; i++) {
		if (node->pulled & BIT(i))
			lnd_soft_link_set(node->fabric->region, node->number, i, 0, NULL);
		rc = lnd_host_link_start(&node->link[i]);
		if (rc)
			return rc;
	}
	thread = lnd_host_thread(lnd_host_node_thread, node, "lnd_node", node->number, 0,
				 LND_HOST_AT_NODE_THREAD);
	if (IS_ERR(thread) && !lnd_host_loses("err"))
		return PTR_ERR(thread);
	node->thread = thread;
	lnd_host_thread_bind(thread, node->cpus);
	wake_up_process(thread);
	lnd_host_await_links(node);
	error = lnd_host_fault(LND_HOST_AT_ANNOUNCE) ? LND_E_BUSY :
		lnd_soft_announce(node->soft_node, &ring);
	lnd_host_ring(node->fabric, ring);
	return lnd_error_errno(error);
}

/* No thread, no work, no engine, no interrupt, no timer afterwards. */
static void lnd_host_halt(struct lnd_host_node *node)
{
	u32 i;

	if (node->thread)
		lnd_host_thread_stop(node->thread);
	node->thread = NULL;
	lnd_upper_halt(node);
	for (i = 0; i < node->fabric->links; i++)
		lnd_host_link_stop(&node->link[i]);
}

/* The node is no member any more. Returns the doorbells to ring. */
static u64 lnd_host_leave(struct lnd_host_node *node)
{
	u64 ring = 0;

	WARN_ON(lnd_soft_leave(node->soft_node, &ring) != LND_OK);
	return ring;
}

/* Releases everything of a halted node. */
static void lnd_host_clear(struct lnd_host_node *node)
{
	node->alive = false;
	lnd_upper_drop(node);
	lnd_host_window_exit(&node->window);
	if (!lnd_host_loses("free"))
		lnd_host_free(node->frame, node->frame_bytes);
	lnd_host_free(node->ni_memory, node->ni_bytes);
	lnd_host_observe_stop(node);
	lnd_host_free(node->soft_node_memory, node->soft_node_bytes);
	node->frame = NULL;
	node->ni_memory = NULL;
	node->soft_node_memory = NULL;
	node->ni = NULL;
	node->soft_node = NULL;
}

static long lnd_host_bring_up(void *data)
{
	struct lnd_host_node *node = data;
	struct lnd_host_fabric *fabric = node->fabric;
	int rc;

	rc = lnd_host_join(node);
	if (rc)
		return rc;
	rc = lnd_host_window_init(&node->window, node);
	if (rc)
		return rc;
	node->frame_bytes = lnd_soft_frame_max(fabric->region);
	node->frame = lnd_host_alloc(node->frame_bytes, LND_HOST_MAY_WAIT, LND_HOST_AT_FRAME);
	if (!node->frame)
		return -ENOMEM;
	rc = lnd_host_create(node);
	if (rc)
		return rc;
	return lnd_host_run(node);
}

/* Memory is near the processor on which it is allocated: the node's own, if it has some. */
static int lnd_host_bring_up_near(struct lnd_host_node *node)
{
	unsigned int cpu = nr_cpu_ids;

	if (node->fabric->aim)
		node->fabric->aim(node);
	if (node->cpus)
		cpu = cpumask_first_and(node->cpus, cpu_online_mask);
	/* If that one goes offline now, the node does not start. */
	return cpu < nr_cpu_ids ? work_on_cpu_safe(cpu, lnd_host_bring_up, node) :
				  lnd_host_bring_up(node);
}

/**
 * lnd_host_node_start() - Joins, creates the NI, and starts all threads and engines.
 * @node: a node that is not alive.
 *
 * Context: thread, with fabric->control.
 * Return: 0 or a negative errno.
 */
int lnd_host_node_start(struct lnd_host_node *node)
{
	u64 ring = 0;
	int rc;

	if (node->alive)
		return -EBUSY;
	reinit_completion(&node->quiescent);
	node->flags = 0;
	down_write(&node->incarnation);
	rc = lnd_host_bring_up_near(node);
	if (rc) {
		lnd_host_halt(node);
		if (node->soft_node)
			ring = lnd_host_leave(node);
		lnd_host_clear(node);
	}
	up_write(&node->incarnation);
	/* Last: the thread passes requests from here on, and their receivers take the lock. */
	WRITE_ONCE(node->alive, !rc);
	lnd_host_ring(node->fabric, ring);
	/* Requests may have come before it was alive. */
	lnd_host_node_wake(node);
	return rc;
}

/* Logs what a node waits for when that takes long. */
static void lnd_host_complain(struct lnd_host_node *node)
{
	struct lnd_blocker blocker = { .size = sizeof(blocker) };
	u32 cursor = 0;

	if (!lnd_blocker_next(node->ni, &cursor, &blocker))
		pr_info("node %u: waiting for %s %u\n", node->number,
			blocker.kind == LND_BLOCKER_LINK ? "link" : "transfer",
			blocker.kind == LND_BLOCKER_LINK ? blocker.link : blocker.transfer.index);
}

/**
 * lnd_host_node_kill() - Kills the node: nothing of it moves any more, and it notifies no peer.
 * @node: the node.
 *
 * The host proves the death, so it declares it.
 *
 * Context: thread, with fabric->control.
 * Return: 0 or -ESHUTDOWN if it is not alive.
 */
int lnd_host_node_kill(struct lnd_host_node *node)
{
	u64 ring = 0;

	if (!node->alive)
		return -ESHUTDOWN;
	down_write(&node->incarnation);
	lnd_host_halt(node);
	lnd_soft_declare_dead(node->fabric->region, node->number, 0, &ring);
	lnd_host_clear(node);
	up_write(&node->incarnation);
	lnd_host_ring(node->fabric, ring);
	return 0;
}

/**
 * lnd_host_node_stop() - Leaves in good order.
 * @node: the node; may be not alive.
 *
 * Transfers are cancelled, and end within the drain bound: a device that does not return a
 * descriptor is stopped. If a device does not answer (LND_LINK_FAILED), the node is killed instead:
 * engines reach only its window, which stays. So this ends, whatever peers and devices do.
 *
 * Context: thread, with fabric->control.
 */
void lnd_host_node_stop(struct lnd_host_node *node)
{
	u64 now = lnd_host_now(), ring;

	if (!node->alive) {
		lnd_host_taken(LND_HOST_AT_STOP_DOWN);
		return;
	}
	lnd_shutdown(node->ni, now, now);
	while (!wait_for_completion_timeout(&node->quiescent, 2 * HZ)) {
		lnd_host_complain(node);
		if (lnd_host_links(node, LND_LINK_FAILED)) {
			lnd_host_taken(LND_HOST_AT_STOP_FAILED);
			lnd_host_node_kill(node);
			return;
		}
	}
	down_write(&node->incarnation);
	lnd_host_halt(node);
	WARN_ON(lnd_ni_destroy(node->ni) != LND_OK);
	lnd_upper_left(node);
	ring = lnd_host_leave(node);
	lnd_host_clear(node);
	up_write(&node->incarnation);
	lnd_host_ring(node->fabric, ring);
}

/**
 * lnd_host_node_link() - Pulls a link's cable, or puts it back.
 * @node: the node.
 * @link: the link.
 * @up: whether it must work.
 *
 * Context: thread, with fabric->control.
 * Return: 0 or a negative errno.
 */
int lnd_host_node_link(struct lnd_host_node *node, u32 link, bool up)
{
	enum lnd_error error;
	u64 ring = 0;

	if (!node->alive)
		return -ESHUTDOWN;
	node->pulled = (node->pulled & ~BIT(link)) | (up ? 0 : BIT(link));
	error = lnd_soft_link_set(node->fabric->region, node->number, link, up, &ring);
	lnd_host_ring(node->fabric, ring);
	return lnd_error_errno(error);
}

/**
 * lnd_host_node_bus() - Makes a link's registers unreachable, or reachable; its engine continues.
 * @node: the node.
 * @link: the link.
 * @gone: whether they read all ones.
 *
 * Context: thread, with fabric->control.
 * Return: 0 or -ESHUTDOWN if the node is not alive.
 */
int lnd_host_node_bus(struct lnd_host_node *node, u32 link, bool gone)
{
	if (!node->alive)
		return -ESHUTDOWN;
	WRITE_ONCE(node->link[link].gone, gone);
	lnd_host_node_kick(node);
	return 0;
}
