// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The loop: a region whose nodes are all in this kernel. */
#include <linux/module.h>

#include "lnd_host.h"
#include "upper.h"

static unsigned int nodes = 2;
module_param(nodes, uint, 0444);
MODULE_PARM_DESC(nodes, "loop: nodes, 2 to 16");

static unsigned int links = 2;
module_param(links, uint, 0444);
MODULE_PARM_DESC(links, "loop: links of each node, 1 to 4");

static unsigned int window_mib = 32;
module_param(window_mib, uint, 0444);
MODULE_PARM_DESC(window_mib, "loop: MiB of a node's window");

static struct lnd_host_fabric *lnd_host_loop;

static int __init lnd_host_loop_format(struct lnd_host_fabric *fabric)
{
	struct lnd_soft_shape shape;
	enum lnd_error error;

	if (nodes < 2 || nodes > LND_HOST_NODES || !links || links > LND_HOST_LINKS)
		return -EINVAL;
	error = lnd_host_fault(LND_HOST_AT_LOOP_SHAPE) ? LND_E_ARGUMENT :
		lnd_soft_shape_init(&shape, nodes, links, lnd_host_slots, (u64)window_mib << 20);
	if (error)
		return lnd_error_errno(error);
	fabric->bytes = lnd_host_fault(LND_HOST_AT_LOOP_SIZE) ? 0 : lnd_soft_region_size(&shape);
	if (!fabric->bytes)
		return -EINVAL;
	fabric->base = lnd_host_alloc(fabric->bytes, LND_HOST_MAY_WAIT, LND_HOST_AT_LOOP_REGION);
	if (!fabric->base)
		return -ENOMEM;
	error = lnd_host_fault(LND_HOST_AT_LOOP_FORMAT) ? LND_E_RING :
		lnd_soft_format(fabric->base, fabric->bytes, &shape);
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
	struct lnd_host_fabric *fabric;
	int rc;

	fabric = lnd_host_alloc(sizeof(*fabric), LND_HOST_MAY_WAIT, LND_HOST_AT_LOOP_FABRIC);
	if (!fabric)
		return -ENOMEM;
	memcpy(fabric->name, "loop", sizeof("loop"));
	fabric->ours = nodes;
	rc = lnd_host_loop_format(fabric);
	if (!rc)
		rc = lnd_host_fabric_attach(fabric);
	if (!rc)
		rc = lnd_upper_add(fabric);
	if (rc)
		lnd_host_loop_free(fabric);
	else
		lnd_host_loop = fabric;
	return rc;
}

/* Context: thread. */
void lnd_host_loop_exit(void)
{
	lnd_upper_remove(lnd_host_loop);
	lnd_host_loop_free(lnd_host_loop);
}
