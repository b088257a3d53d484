// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A region with its nodes, and the loop: a region of which all nodes are in this kernel. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "lnd_host.h"

static unsigned int nodes = 2;
module_param(nodes, uint, 0444);
MODULE_PARM_DESC(nodes, "loop: nodes, 2 to 16");

static unsigned int links = 2;
module_param(links, uint, 0444);
MODULE_PARM_DESC(links, "loop: links of each node, 1 to 4");

static unsigned int window_mib = 32;
module_param(window_mib, uint, 0444);
MODULE_PARM_DESC(window_mib, "loop: MiB of each node's payload window");

static struct lnd_host_fabric *lnd_host_loop;

/**
 * lnd_host_ring() - Tells nodes to look.
 * @fabric: the fabric.
 * @nodes: a set: bit n for node n.
 *
 * Context: any.
 */
void lnd_host_ring(struct lnd_host_fabric *fabric, u64 nodes)
{
	for (; nodes; nodes &= nodes - 1) {
		u32 node = __ffs64(nodes);

		if (node >= fabric->nodes)
			return;
		if (fabric->node[node])
			lnd_host_node_kick(fabric->node[node]);
		else if (fabric->ring_out)
			fabric->ring_out(fabric, node);
	}
}

/**
 * lnd_host_fabric_attach() - Attaches to a region, and makes room for our nodes.
 * @fabric: base, bytes, first and ours are filled in.
 *
 * Context: thread.
 * Return: 0 or a negative errno; lnd_host_fabric_detach() in both cases.
 */
int lnd_host_fabric_attach(struct lnd_host_fabric *fabric)
{
	struct lnd_soft_shape shape = { .size = sizeof(shape) };
	enum lnd_error error;
	u32 i;

	mutex_init(&fabric->control);
	fabric->memory = lnd_host_alloc(lnd_soft_fabric_size());
	if (!fabric->memory)
		return -ENOMEM;
	error = lnd_soft_attach(fabric->memory, lnd_soft_fabric_size(), fabric->base,
				fabric->bytes, &fabric->region);
	if (!error)
		error = lnd_soft_shape_get(fabric->region, &shape);
	if (error) {
		pr_err("%s: no fabric: %s\n", fabric->name, lnd_error_name(error));
		return lnd_error_errno(error);
	}
	fabric->nodes = shape.nodes;
	fabric->links = shape.links;
	if (shape.nodes > LND_HOST_NODES || shape.links > LND_HOST_LINKS ||
	    fabric->first + fabric->ours > shape.nodes || shape.descriptors < lnd_host_slots)
		return -EINVAL;
	for (i = fabric->first; i < fabric->first + fabric->ours; i++) {
		fabric->node[i] = lnd_host_node_alloc(fabric, i);
		if (!fabric->node[i])
			return -ENOMEM;
	}
	return 0;
}

/**
 * lnd_host_fabric_detach() - Ends an attachment. Nobody rings any more.
 * @fabric: the fabric.
 *
 * Context: thread.
 */
void lnd_host_fabric_detach(struct lnd_host_fabric *fabric)
{
	u32 i;

	for (i = 0; i < LND_HOST_NODES; i++) {
		if (fabric->node[i])
			lnd_host_node_free(fabric->node[i]);
		fabric->node[i] = NULL;
	}
	if (fabric->region)
		lnd_soft_detach(fabric->region);
	lnd_host_free(fabric->memory, lnd_soft_fabric_size());
	fabric->memory = NULL;
}

/**
 * lnd_host_fabric_start() - Starts our nodes.
 * @fabric: the fabric, attached.
 *
 * Context: thread.
 * Return: 0 or a negative errno, and then none is started.
 */
int lnd_host_fabric_start(struct lnd_host_fabric *fabric)
{
	int rc = 0;
	u32 i;

	mutex_lock(&fabric->control);
	for (i = fabric->first; i < fabric->first + fabric->ours && !rc; i++) {
		rc = lnd_host_node_start(fabric->node[i]);
		if (rc)
			pr_err("%s: node %u: error %d\n", fabric->name, i, rc);
	}
	mutex_unlock(&fabric->control);
	if (rc)
		lnd_host_fabric_stop(fabric);
	else
		lnd_host_debugfs_add(fabric);
	return rc;
}

/**
 * lnd_host_fabric_stop() - Ends the client's job and all of our nodes, in good order.
 * @fabric: the fabric.
 *
 * Context: thread.
 */
void lnd_host_fabric_stop(struct lnd_host_fabric *fabric)
{
	u32 i;

	lnd_host_debugfs_remove(fabric);
	lnd_host_client_stop(fabric);
	mutex_lock(&fabric->control);
	for (i = fabric->first; i < fabric->first + fabric->ours; i++)
		lnd_host_node_stop(fabric->node[i]);
	mutex_unlock(&fabric->control);
}

static int __init lnd_host_loop_format(struct lnd_host_fabric *fabric)
{
	struct lnd_soft_shape shape;
	enum lnd_error error;

	lnd_soft_shape_init(&shape, nodes, links, lnd_host_slots, (u64)window_mib << 20);
	fabric->bytes = lnd_soft_region_size(&shape);
	if (!fabric->bytes)
		return -EINVAL;
	fabric->base = lnd_host_alloc(fabric->bytes);
	if (!fabric->base)
		return -ENOMEM;
	error = lnd_soft_format(fabric->base, fabric->bytes, &shape);
	return lnd_error_errno(error);
}

static void lnd_host_loop_free(struct lnd_host_fabric *fabric)
{
	lnd_host_fabric_detach(fabric);
	lnd_host_free(fabric->base, fabric->bytes);
	lnd_host_free(fabric, sizeof(*fabric));
}

/**
 * lnd_host_loop_init() - Makes a fabric in this kernel's own memory, and all its nodes.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int __init lnd_host_loop_init(void)
{
	struct lnd_host_fabric *fabric = lnd_host_alloc(sizeof(*fabric));
	int rc;

	if (!fabric)
		return -ENOMEM;
	strscpy(fabric->name, "loop", sizeof(fabric->name));
	fabric->ours = nodes;
	rc = lnd_host_loop_format(fabric);
	if (!rc)
		rc = lnd_host_fabric_attach(fabric);
	if (!rc)
		rc = lnd_host_fabric_start(fabric);
	if (rc)
		lnd_host_loop_free(fabric);
	else
		lnd_host_loop = fabric;
	return rc;
}

/* Context: thread. */
void lnd_host_loop_exit(void)
{
	lnd_host_fabric_stop(lnd_host_loop);
	lnd_host_loop_free(lnd_host_loop);
}
