// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Interfaces of LNet: nodes of the host, started and stopped by LNet. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "lnet.h"

static DEFINE_MUTEX(lnd_lnet_lock);	/* protects the list, and who uses a node */
static DECLARE_WAIT_QUEUE_HEAD(lnd_lnet_unused);
static struct lnd_host_fabric *lnd_lnet_fabrics[LND_LNET_FABRICS];

/**
 * lnd_lnet_links() - Notes whether a link is up: an interface without a link is not chosen by LNet.
 * @upper: the node's.
 * @up: whether any is.
 *
 * Context: thread.
 */
void lnd_lnet_links(struct lnd_host_upper *upper, bool up)
{
	struct lnet_ni *ni = upper->ni;
	bool fatal;

	lnet_ni_lock(ni);
	fatal = READ_ONCE(upper->removed) || !up;
	/* LNet copies the mark into what its peers read, and before 2.18 never back. */
	if (atomic_xchg(&ni->ni_fatal_error_on, fatal) && !fatal && ni->ni_status)
		LND_STATUS(ni) = LNET_NI_STATUS_UP;
	lnet_ni_unlock(ni);
	LND_TELL_PEERS();
}

/* An interface takes a node that is free. */
static int lnd_lnet_use(struct lnet_ni *ni, struct lnd_host_node *node)
{
	int rc = lnd_lnet_tunables(ni, node->upper);

	if (rc)
		return rc;
	lnet_nid4_to_nid(LNET_MKNID(LNET_NID_NET(&ni->ni_nid), lnd_lnet_own_address(node)),
			 &ni->ni_nid);
	ni->ni_data = node;
	ni->ni_dev_cpt = CFS_CPT_ANY;
	node->cpus = NULL;
	/*
	 * One thread cannot be near to several partitions. The copying engines are the device, and
	 * they run where that thread runs.
	 */
	if (ni->ni_cpts) {
		ni->ni_dev_cpt = ni->ni_cpts[0];
		node->cpus = *cfs_cpt_cpumask(lnet_cpt_table(), ni->ni_dev_cpt);
	}
	node->upper->ni = ni;
	/* Events say which links come up; a cable may be pulled. */
	atomic_set(&ni->ni_fatal_error_on, 1);
	mutex_lock(&node->fabric->control);
	rc = lnd_host_node_start(node);
	mutex_unlock(&node->fabric->control);
	if (rc) {
		node->upper->ni = NULL;
		ni->ni_data = NULL;
	}
	return rc;
}

/**
 * lnd_lnet_startup() - lnd_startup of struct lnet_lnd.
 * @ni: the interface.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_lnet_startup(struct lnet_ni *ni)
{
	struct lnd_host_node *node;
	int rc;

	/* An interface keeps its module: rmmod fails instead of waiting for LNet. */
	if (!try_module_get(THIS_MODULE))
		return -ESHUTDOWN;
	mutex_lock(&lnd_lnet_lock);
	node = lnd_lnet_find(lnd_lnet_fabrics, ni->ni_interface ?: "");
	if (!node) {
		/* "(null)": none was named */
		pr_notice("%s: no such interface here\n", ni->ni_interface);
		rc = -ENODEV;
	} else if (node->upper->ni) {
		rc = -EBUSY;
	} else {
		rc = lnd_lnet_use(ni, node);
	}
	mutex_unlock(&lnd_lnet_lock);
	if (rc)
		module_put(THIS_MODULE);
	return rc;
}

/**
 * lnd_lnet_shutdown() - lnd_shutdown of struct lnet_lnd.
 * @ni: the interface.
 *
 * Nothing of it is under way afterwards: no message, no thread, no engine. Every peer may be gone,
 * for a device that returns no descriptor is stopped within the drain bound.
 *
 * Context: thread.
 */
void lnd_lnet_shutdown(struct lnet_ni *ni)
{
	struct lnd_host_node *node = ni->ni_data;

	if (!node)
		return;
	flush_work(&node->upper->loop);
	mutex_lock(&lnd_lnet_lock);
	/* In one with the stop: a node without an interface is not revived. */
	mutex_lock(&node->fabric->control);
	lnd_host_node_stop(node);
	/* One that was stopped before may still be held by a sender, which gets out now. */
	down_write(&node->incarnation);
	up_write(&node->incarnation);
	WRITE_ONCE(node->upper->ni, NULL);
	mutex_unlock(&node->fabric->control);
	ni->ni_data = NULL;
	mutex_unlock(&lnd_lnet_lock);
	wake_up(&lnd_lnet_unused);
	module_put(THIS_MODULE);
}

/* Whether no interface of LNet is on a region. Takes no lock: its caller asks while it waits. */
static bool lnd_lnet_is_unused(struct lnd_host_fabric *fabric)
{
	bool used = false;
	u32 i;

	for (i = 0; i < LND_HOST_NODES; i++)
		used |= fabric->node[i] && READ_ONCE(fabric->node[i]->upper->ni);
	return !used;
}

/* A region is here: its nodes can be interfaces. Context: thread. */
void lnd_lnet_add(struct lnd_host_fabric *fabric)
{
	unsigned int i;

	lnd_host_debugfs_add(fabric);
	mutex_lock(&lnd_lnet_lock);
	for (i = 0; i < ARRAY_SIZE(lnd_lnet_fabrics); i++) {
		if (!lnd_lnet_fabrics[i]) {
			lnd_lnet_fabrics[i] = fabric;
			break;
		}
	}
	mutex_unlock(&lnd_lnet_lock);
}

/*
 * A region goes: its nodes are dead for their peers at once, and LNet gets the end of every
 * message. The region's memory stays until LNet has shut its interfaces down. Context: thread.
 */
void lnd_lnet_remove(struct lnd_host_fabric *fabric)
{
	unsigned int i;

	mutex_lock(&lnd_lnet_lock);
	for (i = 0; i < ARRAY_SIZE(lnd_lnet_fabrics); i++) {
		if (lnd_lnet_fabrics[i] == fabric)
			lnd_lnet_fabrics[i] = NULL;
	}
	for (i = 0; i < LND_HOST_NODES; i++) {
		struct lnd_host_upper *upper = fabric->node[i] ? fabric->node[i]->upper : NULL;

		if (!upper || !upper->ni)
			continue;
		/* No event of a link clears this mark any more. */
		WRITE_ONCE(upper->removed, true);
		lnd_lnet_links(upper, false);
	}
	mutex_unlock(&lnd_lnet_lock);
	lnd_host_fabric_stop(fabric);
	wait_event(lnd_lnet_unused, lnd_lnet_is_unused(fabric));
	/* The last lnd_shutdown() may still hold the region's lock. */
	mutex_lock(&lnd_lnet_lock);
	mutex_unlock(&lnd_lnet_lock);
	lnd_host_debugfs_remove(fabric);
}

/**
 * lnd_lnet_peer() - The library's number of a node.
 * @node: one of this host's.
 * @nid: the NID.
 *
 * Context: any.
 * Return: the number, or 0 if the NID names no node of this fabric and network.
 */
u64 lnd_lnet_peer(const struct lnd_host_node *node, const struct lnet_nid *nid)
{
	const struct lnet_ni *ni = node->upper->ni;

	if (!nid_is_nid4(nid) || LNET_NID_NET(nid) != LNET_NID_NET(&ni->ni_nid))
		return 0;
	return lnd_lnet_number(node, be32_to_cpu(nid->nid_addr[0]));
}

/* The NID of a node. Context: any. */
void lnd_lnet_nid(const struct lnd_host_upper *upper, u64 peer, struct lnet_nid *nid)
{
	lnet_nid4_to_nid(LNET_MKNID(LNET_NID_NET(&upper->ni->ni_nid), lnd_lnet_address(peer)), nid);
}
