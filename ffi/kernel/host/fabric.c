// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A region with its nodes. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/kernel.h>

#include "lnd_host.h"

/**
 * lnd_host_fabric_attach() - Attaches to a region, and allocates this host's nodes.
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
	fabric->memory = lnd_host_alloc(lnd_soft_fabric_size(), LND_HOST_MAY_WAIT,
					LND_HOST_AT_FABRIC);
	if (!fabric->memory)
		return -ENOMEM;
	error = LND_E_RING;
	if (!lnd_host_fault(LND_HOST_AT_ATTACH))
		error = lnd_soft_attach(fabric->memory, lnd_soft_fabric_size(), fabric->base,
					fabric->bytes, &fabric->region);
	if (!error)
		error = lnd_host_fault(LND_HOST_AT_SHAPE) ? LND_E_RING :
			lnd_soft_shape_get(fabric->region, &shape);
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
 * lnd_host_fabric_detach() - Ends an attachment. Nothing rings any more.
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
	fabric->region = NULL;
	fabric->memory = NULL;
}
