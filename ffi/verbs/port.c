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
 * Without a network device that is up, has a carrier and our address, and without an RDMA device on
 * it, the library's link is down: what waits for it ends, and LNet takes another interface.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "lnd_verbs.h"

/* How long a network device waits for its connections. What is left then may break the port. */
#define PATIENCE	(2 * HZ)
/* How often an RDMA device with our address is looked for while there is none. */
#define LOOK_AGAIN	(HZ / 4)

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

/* Connections may be begun. */
static void lnd_verbs_may_begin(struct lnd_verbs_node *node)
{
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	mutex_lock(&node->adding);
	node->sinking = false;
	xa_for_each(&node->peers, nid, peer) {
		spin_lock_bh(&peer->lock);
		peer->sinking = false;
		peer->ends_first = false;
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

/* The next attempt waits for nothing: what failed before has a cause that is gone. */
static void lnd_verbs_hurry(struct lnd_verbs_node *node)
{
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	xa_for_each(&node->peers, nid, peer) {
		spin_lock_bh(&peer->lock);
		peer->backoff = 0;
		peer->retry = jiffies;
		spin_unlock_bh(&peer->lock);
		lnd_verbs_kick(peer);
	}
}

static int lnd_verbs_no_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

/**
 * lnd_verbs_bind() - Finds the RDMA device that has an address.
 * @address: the address.
 *
 * Context: thread.
 * Return: an id that is bound to it, for rdma_destroy_id(), or a negative errno as a pointer.
 */
struct rdma_cm_id *lnd_verbs_bind(struct sockaddr_in *address)
{
	struct rdma_cm_id *id = rdma_create_id(&init_net, lnd_verbs_no_event, NULL, RDMA_PS_TCP,
					       IB_QPT_RC);
	int rc;

	if (IS_ERR(id))
		return id;
	address->sin_port = 0;
	rc = rdma_bind_addr(id, (struct sockaddr *)address);
	if (!rc && id->device)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(rc ?: -ENODEV);
}

/* Whether an RDMA device has our address; one that is going has it no longer. Context: thread. */
static bool lnd_verbs_has_device(const struct lnd_verbs_node *node, const struct ib_device *going)
{
	struct sockaddr_in ours;
	struct rdma_cm_id *id;
	bool has;

	if (!lnd_verbs_where(node->nid, &ours))
		return false;
	id = lnd_verbs_bind(&ours);
	/* Want of memory is no news of a device. */
	if (IS_ERR(id))
		return PTR_ERR(id) != -ENODEV && PTR_ERR(id) != -EADDRNOTAVAIL;
	has = id->device != going;
	rdma_destroy_id(id);
	return has;
}

/*
 * Tells the library of a change. A device gets its addresses a while after network devices have
 * them, and without an event: what is missing is looked for again. Context: thread.
 */
static void lnd_verbs_look(struct lnd_verbs_node *node, const struct ib_device *going)
{
	bool carries, unplugged;

	mutex_lock(&node->adding);
	carries = lnd_verbs_carries(node);
	unplugged = !carries || !lnd_verbs_has_device(node, going);
	if (carries && unplugged)
		mod_delayed_work(node->workers, &node->looker, LOOK_AGAIN);
	if (unplugged != node->unplugged && !lnd_verbs_defect("blind")) {
		WRITE_ONCE(node->unplugged, unplugged);
		if (!unplugged)
			lnd_verbs_hurry(node);
		lnd_link_event(node->host.ni, LND_VERBS_LINK, !unplugged, lnd_host_now());
	}
	mutex_unlock(&node->adding);
}

/* Context: thread. */
void lnd_verbs_look_again(struct work_struct *work)
{
	struct lnd_verbs_node *node = container_of(work, struct lnd_verbs_node, looker.work);

	if (!READ_ONCE(node->ending))
		lnd_verbs_look(node, NULL);
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
		lnd_verbs_may_begin(node);
	if (event == NETDEV_DOWN || event == NETDEV_UP || event == NETDEV_CHANGE)
		lnd_verbs_look(node, NULL);
	return NOTIFY_DONE;
}

/* An address has come or gone. */
static int lnd_verbs_inetaddr(struct notifier_block *block, unsigned long event, void *info)
{
	struct lnd_verbs_node *node = container_of(block, struct lnd_verbs_node, inetaddr);

	if (!READ_ONCE(node->ending))
		lnd_verbs_look(node, NULL);
	return NOTIFY_DONE;
}

/* The module's node, while it watches: the kernel does not say whose client it calls. */
static struct lnd_verbs_node *lnd_verbs_watching;

static int lnd_verbs_device_comes(struct ib_device *device)
{
	if (!READ_ONCE(lnd_verbs_watching->ending))
		lnd_verbs_look(lnd_verbs_watching, NULL);
	return 0;
}

/* It still has its addresses: rdma_cm lets go of it after this. */
static void lnd_verbs_device_goes(struct ib_device *device, void *data)
{
	if (!READ_ONCE(lnd_verbs_watching->ending) && !lnd_verbs_defect("unseen"))
		lnd_verbs_look(lnd_verbs_watching, device);
}

static struct ib_client lnd_verbs_client = {
	.name = LND_HOST_NAME,
	.add = lnd_verbs_device_comes,
	.remove = lnd_verbs_device_goes,
};

/**
 * lnd_verbs_port_init() - Watches network devices, addresses and RDMA devices.
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
	lnd_verbs_watching = node;
	rc = lnd_host_fault(LND_HOST_AT_DEVICES) ? -ENOMEM : ib_register_client(&lnd_verbs_client);
	node->watches_devices = !rc;
	if (rc)
		return rc;
	/* Of network devices that are down already there is no event. */
	lnd_verbs_look(node, NULL);
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
	if (node->watches_devices)
		ib_unregister_client(&lnd_verbs_client);
	cancel_delayed_work_sync(&node->looker);
	node->watches_netdevs = false;
	node->watches_inetaddrs = false;
	node->watches_devices = false;
}
