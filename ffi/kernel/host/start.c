// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Starts and stops all of this host's nodes on a fabric, in good order. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/kernel.h>

#include "lnd_host.h"

/**
 * lnd_host_fabric_start() - Starts this host's nodes.
 * @fabric: the fabric, attached.
 *
 * Context: thread.
 * Return: 0 or a negative errno; after an error none is started.
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
 * lnd_host_fabric_stop() - Ends all of this host's nodes, in good order.
 * @fabric: the fabric.
 *
 * Context: thread.
 */
void lnd_host_fabric_stop(struct lnd_host_fabric *fabric)
{
	u32 i;

	mutex_lock(&fabric->control);
	for (i = fabric->first; i < fabric->first + fabric->ours; i++)
		lnd_host_node_stop(fabric->node[i]);
	mutex_unlock(&fabric->control);
}
