// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Interfaces over a network, and which nodes there are: each address is one. So no machine has a
 * list of the others. A peer is made when LNet sends to it, or when it asks for a connection.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "lnet.h"

#define MOST_PEERS	4096

static unsigned int max_peers = 64;
module_param(max_peers, uint, 0444);
MODULE_PARM_DESC(max_peers, "peers of an interface, as long as it is up");

/* Context: thread. */
int lnd_verbs_nodes_check(void)
{
	/* What is watched is overwritten first: here it is LNet's. */
	return max_peers && max_peers <= MOST_PEERS && !lnd_verbs_watch_ms ? 0 : -EINVAL;
}

/* Context: thread. */
void lnd_verbs_nodes(struct lnd_host_fabric *fabric)
{
	fabric->nodes = max_peers;
}

/* None is known before it is heard of, or sent to. Context: any. */
u64 lnd_verbs_listed(u32 index)
{
	return 0;
}

/* Context: any. */
bool lnd_verbs_where(u64 nid, struct sockaddr_in *address)
{
	*address = (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons(lnd_verbs_port),
		.sin_addr.s_addr = htonl(nid),
	};
	return nid && nid <= U32_MAX && !ipv4_is_multicast(address->sin_addr.s_addr) &&
	       !ipv4_is_lbcast(address->sin_addr.s_addr);
}

/* The first IPv4 address of a network device, or 0. */
static __be32 lnd_lnet_device_address(const char *interface)
{
	struct net_device *dev;
	struct in_ifaddr *ifa;
	__be32 address = 0;

	rtnl_lock();
	dev = __dev_get_by_name(&init_net, interface);
	ifa = dev && __in_dev_get_rtnl(dev) ? rtnl_dereference(__in_dev_get_rtnl(dev)->ifa_list) :
					      NULL;
	if (ifa)
		address = ifa->ifa_local;
	rtnl_unlock();
	return address;
}

/* Whether an RDMA device has an interface's address, and can do what is needed. */
static bool lnd_lnet_is_rdma(const char *interface, struct sockaddr_in *address)
{
	struct rdma_cm_id *id = lnd_verbs_bind(address);
	bool able;

	if (IS_ERR(id)) {
		pr_err("%s: no RDMA device has its address\n", interface);
		return false;
	}
	able = lnd_verbs_able(id->device, id->port_num);
	if (!able)
		pr_err("%s: %s is iWARP, or has no registrations by work requests\n", interface,
		       dev_name(&id->device->dev));
	rdma_destroy_id(id);
	return able;
}

/**
 * lnd_lnet_find() - The node of an interface; one that is free takes its address.
 * @fabrics: LND_LNET_FABRICS of them; NULL: none. They stay during the call.
 * @interface: a network device.
 *
 * Context: thread.
 * Return: the node, in use or not; NULL: there is no such device, or none for RDMA.
 */
struct lnd_host_node *lnd_lnet_find(struct lnd_host_fabric *const *fabrics, const char *interface)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct lnd_host_node *node;

	node = fabrics[0] ? fabrics[0]->node[fabrics[0]->first] : NULL;
	if (!node || node->upper->ni)
		return node;
	address.sin_addr.s_addr = lnd_lnet_device_address(interface);
	if (!address.sin_addr.s_addr) {
		pr_err("%s: no network device of this name has an IPv4 address\n", interface);
		return NULL;
	}
	if (!lnd_lnet_is_rdma(interface, &address))
		return NULL;
	lnd_verbs_of(node)->nid = ntohl(address.sin_addr.s_addr);
	return node;
}
