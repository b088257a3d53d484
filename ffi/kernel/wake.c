// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Wakes what has something to look at: engines, nodes, and nodes of other machines. */
#include "lnd_host.h"

/**
 * lnd_host_link_kick() - Has the engine look at its registers and at the fabric.
 * @link: the link.
 *
 * Context: any.
 */
void lnd_host_link_kick(struct lnd_host_link *link)
{
	set_bit(LND_HOST_WORK, &link->flags);
	wake_up(&link->wait);
}

/**
 * lnd_host_node_wake() - A node's thread shall look.
 * @node: the node.
 *
 * Context: any.
 */
void lnd_host_node_wake(struct lnd_host_node *node)
{
	set_bit(LND_HOST_WORK, &node->flags);
	wake_up(&node->wait);
}

/**
 * lnd_host_node_kick() - Something has come for a node: it and its engines shall look.
 * @node: the node.
 *
 * Context: any.
 */
void lnd_host_node_kick(struct lnd_host_node *node)
{
	u32 i;

	lnd_host_node_wake(node);
	for (i = 0; i < node->fabric->links; i++)
		lnd_host_link_kick(&node->link[i]);
}

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
