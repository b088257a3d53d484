/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names over a network: an interface is a network device, and the address in its NID is its IPv4
 * address. A NID says by itself where its node is.
 */
#ifndef LND_LNET_NETWORK_H
#define LND_LNET_NETWORK_H

#include "lnd_verbs.h"

#define LND_LNET_DESCRIPTION "LNet's driver over verbs: InfiniBand, RoCE, soft-RoCE"

/* A fragment's address is a handle of mapped memory. */
#define LND_LNET_READS_IN_PLACE	false

static inline u32 lnd_lnet_own_address(struct lnd_host_node *node)
{
	return lnd_verbs_of(node)->nid;
}

/* The library's number of the node with an address; 0: there is none. */
static inline u64 lnd_lnet_number(const struct lnd_host_node *node, u32 address)
{
	return address;
}

static inline u32 lnd_lnet_address(u64 peer)
{
	return peer;
}

/* Makes room for a peer. Waits for memory, but for no file system. Context: thread. */
static inline bool lnd_lnet_reach(struct lnd_host_node *node, u64 peer)
{
	return lnd_verbs_peer_add(lnd_verbs_of(node), peer);
}

/*
 * Whether there is a way to a peer: 0, or -ENETDOWN while our own network device carries nothing.
 * Only a connection that fails shows what is at the other end. Context: any.
 */
static inline int lnd_lnet_way(struct lnd_host_node *node, u64 peer)
{
	return READ_ONCE(lnd_verbs_of(node)->unplugged) ? -ENETDOWN : 0;
}

#endif
