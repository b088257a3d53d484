// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Which nodes there are: a list, the same on each of them. A NID is a place in it. */
#include <linux/inet.h>
#include <linux/module.h>

#include "lnd_verbs.h"

static unsigned int number;
module_param(number, uint, 0444);
MODULE_PARM_DESC(number, "this machine's place in peers, from 0");

static char *peers[LND_HOST_NODES];
static unsigned int listed;
module_param_array(peers, charp, &listed, 0444);
MODULE_PARM_DESC(peers, "the IPv4 addresses of all nodes, the same list on each of them");

static struct sockaddr_in lnd_verbs_address[LND_HOST_NODES];

/**
 * lnd_verbs_nodes_check() - Checks the parameters that say which nodes there are.
 *
 * Context: thread.
 * Return: 0 or -EINVAL.
 */
int lnd_verbs_nodes_check(void)
{
	unsigned int i;

	if (listed < 2 || number >= listed)
		return -EINVAL;
	for (i = 0; i < listed; i++) {
		struct sockaddr_in *address = &lnd_verbs_address[i];

		address->sin_family = AF_INET;
		address->sin_port = htons(lnd_verbs_port);
		if (!in4_pton(peers[i], -1, (u8 *)&address->sin_addr, -1, NULL))
			return -EINVAL;
	}
	return 0;
}

/**
 * lnd_verbs_nodes() - Sets how many nodes there are at most, and which is this machine's.
 * @fabric: of zeros.
 *
 * Context: thread.
 */
void lnd_verbs_nodes(struct lnd_host_fabric *fabric)
{
	fabric->nodes = listed;
	fabric->first = number;
}

/**
 * lnd_verbs_listed() - A node that is known before it is heard of.
 * @index: its place, from 0; this machine's own may be among them.
 *
 * Context: any.
 * Return: its NID; 0: there are no more.
 */
u64 lnd_verbs_listed(u32 index)
{
	return index < listed ? lnd_soft_nid(index) : 0;
}

/**
 * lnd_verbs_where() - The address of a node.
 * @nid: a NID, or any number.
 * @address: filled in.
 *
 * Context: any.
 * Return: false if no node has this NID.
 */
bool lnd_verbs_where(u64 nid, struct sockaddr_in *address)
{
	u32 at = lnd_soft_node_of(nid);

	if (at >= listed)
		return false;
	*address = lnd_verbs_address[at];
	return true;
}
