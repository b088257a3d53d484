// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Network devices that go down and come up.
 *
 * A connection ends with a message of rdma_cm to the peer. Soft-RoCE of Linux 6.1 cannot send one
 * through a network device that is down, because there is no route: the queue pair of all of its
 * rdma_cm's messages fails. What repairs that queue pair makes it send again, and not receive:
 * until the RDMA device is removed every connect of this machine stays without an answer. So
 * connections end before their network device goes down. The peers are told, too.
 *
 * Without a network device that is up, has a carrier and our address, the library's link is down:
 * what waits for it ends, and LNet takes another interface.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "lnd_verbs.h"

/* How long a network device waits for its connections. What is left then may break the port. */
#define PATIENCE	(2 * HZ)

/*
 * Whether a connection is bound to the network device, or may still choose it. Context: any, with
 * its lock.
 */
static bool lnd_verbs_on(const struct lnd_verbs_peer *peer, int ifindex)
{
	int bound;

	/* A request is rejected by a message. */
	if (!peer->bound)
		return peer->incoming || READ_ONCE(peer->judging);
	/* It is being closed already. */
	if (!peer->id)
		return true;
	bound = peer->id->route.addr.dev_addr.bound_dev_if;
	return !bound || bound == ifindex;
}

/*
 * Whether no connection will send one of those messages that ends because of the network device.
 * One whose route is being looked for has none to send, and waits for the lock that is held here.
 */
static bool lnd_verbs_settled(struct lnd_verbs_node *node)
{
	struct lnd_verbs_peer *peer;
	bool settled = true;
	unsigned long nid;

	xa_for_each(&node->peers, nid, peer) {
		spin_lock_bh(&peer->lock);
		/* A request may have come since: its rejection is a message, too. */
		if (peer->incoming || READ_ONCE(peer->judging) ||
		    (peer->ends_first && peer->bound && peer->state != LND_VERBS_ROUTING))
			settled = false;
		spin_unlock_bh(&peer->lock);
	}
	return settled;
}

/* Nothing is begun until the device is down: there is no route then, and no message. */
static void lnd_verbs_going_down(struct lnd_verbs_node *node, int ifindex)
{
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	mutex_lock(&node->adding);
	node->sinking = true;
	xa_for_each(&node->peers, nid, peer) {
		spin_lock_bh(&peer->lock);
		peer->sinking = true;
		peer->ends_first = lnd_verbs_on(peer, ifindex);
		if (peer->ends_first && peer->bound)
			lnd_verbs_fail(peer, "the network device goes down");
		else if (peer->ends_first)
			lnd_verbs_kick(peer);
		spin_unlock_bh(&peer->lock);
	}
	mutex_unlock(&node->adding);
	wait_event_timeout(node->settled, lnd_verbs_settled(node), PATIENCE);
}

/* Connections may be begun; at once, if our device has come up. */
static void lnd_verbs_may_begin(struct lnd_verbs_node *node, bool at_once)
{
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	mutex_lock(&node->adding);
	node->sinking = false;
	xa_for_each(&node->peers, nid, peer) {
		spin_lock_bh(&peer->lock);
		peer->sinking = false;
		peer->ends_first = false;
		if (at_once) {
			peer->backoff = 0;
			peer->retry = jiffies;
		}
		spin_unlock_bh(&peer->lock);
		lnd_verbs_kick(peer);
	}
	mutex_unlock(&node->adding);
}

/* The network device with our address, or NULL. Context: under rcu_read_lock(). */
static struct net_device *lnd_verbs_ours(const struct lnd_verbs_node *node)
{
	struct sockaddr_in ours;

	if (!lnd_verbs_where(node->nid, &ours))
		return NULL;
	return __ip_dev_find(&init_net, ours.sin_addr.s_addr, false);
}

/* Whether that carries anything. Context: thread. */
static bool lnd_verbs_carries(const struct lnd_verbs_node *node)
{
	struct net_device *dev;
	bool carries;

	rcu_read_lock();
	dev = lnd_verbs_ours(node);
	carries = dev && netif_running(dev) && netif_carrier_ok(dev);
	rcu_read_unlock();
	return carries;
}

/* Whether it is this one. Context: thread. */
static bool lnd_verbs_is_ours(const struct lnd_verbs_node *node, const struct net_device *dev)
{
	bool ours;

	rcu_read_lock();
	ours = lnd_verbs_ours(node) == dev;
	rcu_read_unlock();
	return ours;
}

/* Tells the library of a change. Context: thread, with the lock of all network devices. */
static void lnd_verbs_look(struct lnd_verbs_node *node)
{
	bool unplugged = !lnd_verbs_carries(node);

	if (unplugged == node->unplugged || lnd_verbs_defect("blind"))
		return;
	WRITE_ONCE(node->unplugged, unplugged);
	lnd_link_event(node->host.ni, LND_VERBS_LINK, !unplugged, lnd_host_now());
}

static int lnd_verbs_netdev(struct notifier_block *block, unsigned long event, void *info)
{
	struct lnd_verbs_node *node = container_of(block, struct lnd_verbs_node, netdev);
	struct net_device *dev = netdev_notifier_info_to_dev(info);

	/* Connections are of the first network namespace, and so are the devices' numbers. */
	if (READ_ONCE(node->ending) || !net_eq(dev_net(dev), &init_net))
		return NOTIFY_DONE;
	if (event == NETDEV_GOING_DOWN && !lnd_verbs_defect("mute"))
		lnd_verbs_going_down(node, dev->ifindex);
	else if (event == NETDEV_DOWN || event == NETDEV_UP)
		/* Attempts at a dead peer are counted, whatever other devices come up meanwhile. */
		lnd_verbs_may_begin(node, event == NETDEV_UP && lnd_verbs_is_ours(node, dev));
	if (event == NETDEV_DOWN || event == NETDEV_UP || event == NETDEV_CHANGE)
		lnd_verbs_look(node);
	return NOTIFY_DONE;
}

/* An address has come or gone. */
static int lnd_verbs_inetaddr(struct notifier_block *block, unsigned long event, void *info)
{
	struct lnd_verbs_node *node = container_of(block, struct lnd_verbs_node, inetaddr);

	if (!READ_ONCE(node->ending))
		lnd_verbs_look(node);
	return NOTIFY_DONE;
}

/**
 * lnd_verbs_port_init() - Watches network devices and addresses.
 * @node: the node, whose NI is there.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_verbs_port_init(struct lnd_verbs_node *node)
{
	int rc;

	node->unplugged = false;
	node->netdev.notifier_call = lnd_verbs_netdev;
	node->inetaddr.notifier_call = lnd_verbs_inetaddr;
	rc = lnd_host_fault(LND_HOST_AT_NETDEVS) ? -ENOMEM :
						   register_netdevice_notifier(&node->netdev);
	node->watches_netdevs = !rc;
	if (rc)
		return rc;
	rc = lnd_host_fault(LND_HOST_AT_ADDRESSES) ? -ENOMEM :
						     register_inetaddr_notifier(&node->inetaddr);
	node->watches_inetaddrs = !rc;
	if (rc)
		return rc;
	/* Of devices that are down already there is no event. */
	rtnl_lock();
	lnd_verbs_look(node);
	rtnl_unlock();
	return 0;
}

/**
 * lnd_verbs_port_exit() - Ends that.
 * @node: the node, whose connections are closed; its peers exist.
 *
 * Context: thread.
 */
void lnd_verbs_port_exit(struct lnd_verbs_node *node)
{
	if (node->watches_netdevs)
		unregister_netdevice_notifier(&node->netdev);
	if (node->watches_inetaddrs)
		unregister_inetaddr_notifier(&node->inetaddr);
	node->watches_netdevs = false;
	node->watches_inetaddrs = false;
}
