/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names over a region of memory: an interface is "loop0", "ivshmem2", and the address in its NID is
 * one more than its node's number.
 */
#ifndef LND_LNET_REGION_H
#define LND_LNET_REGION_H

#define LND_LNET_DESCRIPTION "LNet's driver over shared memory"

/* A fragment's address may be that of any memory of the kernel. */
#define LND_LNET_READS_IN_PLACE	true

static inline u32 lnd_lnet_own_address(const struct lnd_host_node *node)
{
	return node->number + 1;
}

/* The library's number of the node with an address; 0: there is none. */
static inline u64 lnd_lnet_number(const struct lnd_host_node *node, u32 address)
{
	return address && address <= node->fabric->nodes ? lnd_soft_nid(address - 1) : 0;
}

static inline u32 lnd_lnet_address(u64 peer)
{
	return lnd_soft_node_of(peer) + 1;
}

static inline bool lnd_lnet_reach(struct lnd_host_node *node, u64 peer)
{
	return true;
}

/*
 * Whether a link has its cable at both ends: 0, or -ENETDOWN where none has ours, or -EHOSTUNREACH.
 * Context: any.
 */
static inline int lnd_lnet_way(const struct lnd_host_node *node, u64 peer)
{
	if (!lnd_soft_way(node->fabric->region, node->number, lnd_soft_node_of(peer)))
		return 0;
	return lnd_soft_way(node->fabric->region, node->number, node->number) ? -ENETDOWN :
									       -EHOSTUNREACH;
}

#endif
