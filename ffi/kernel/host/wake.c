// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Wakes engines, nodes, and nodes of other machines when they have work. */
#include "lnd_host.h"

/**
 * lnd_host_link_kick() - Makes the engine check its registers and the fabric.
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
 * lnd_host_node_wake() - Wakes a node's thread.
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
 * lnd_host_node_kick() - Wakes a node after an event, to look at its engines, too.
 * @node: the node.
 *
 * Most events concern no engine, and waking threads costs more than a look.
 *
 * Context: any.
 */
void lnd_host_node_kick(struct lnd_host_node *node)
{
	u32 i;

	for (i = 0; i < node->fabric->links; i++)
		set_bit(LND_HOST_RUNG, &node->link[i].flags);
	lnd_host_node_wake(node);
}

/**
 * lnd_host_ring() - Wakes a set of nodes.
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
