// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* NIs: started and shut down as LNet does it. */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "stub.h"

/* After lnd_shutdown(): how long to look out for what comes late. */
#define STUB_GRACE_MS 100

void lnet_register_lnd(const struct lnet_lnd *lnd)
{
	if (stub.lnd)
		pr_notice("CONFORMANCE another LND is registered: type %u\n", stub.lnd->lnd_type);
	else
		stub.lnd = lnd;
}
EXPORT_SYMBOL(lnet_register_lnd);

void lnet_unregister_lnd(const struct lnet_lnd *lnd)
{
	if (stub.lnd == lnd)
		stub.lnd = NULL;
}
EXPORT_SYMBOL(lnet_unregister_lnd);

static struct stub_ni *stub_ni_new(const char *interface)
{
	struct stub_ni *ni = kzalloc(sizeof(*ni), GFP_KERNEL);

	if (!ni)
		return NULL;
	spin_lock_init(&ni->ni.ni_lock);
	INIT_LIST_HEAD(&ni->queue);
	ni->net.net_id = LNET_MKNET(stub.lnd->lnd_type, 0);
	ni->net.net_lnd = stub.lnd;
	ni->net.net_tunables.lct_peer_timeout = -1;
	ni->net.net_tunables.lct_peer_tx_credits = -1;
	ni->net.net_tunables.lct_peer_rtr_credits = -1;
	ni->net.net_tunables.lct_max_tx_credits = -1;
	if (stub.preset)
		ni->net.net_tunables = *stub.preset;
	ni->ni.ni_net = &ni->net;
	ni->ni.ni_net_ns = &init_net;
	ni->ni.ni_ncpts = 1;
	ni->ni.ni_dev_cpt = CFS_CPT_ANY;
	ni->ni.ni_nid.nid_type = stub.lnd->lnd_type;
	ni->ni.ni_interface = kstrdup(interface, GFP_KERNEL);
	list_add(&ni->all, &stub.all_nis);
	return ni;
}

static void stub_ni_check(struct stub_ni *ni)
{
	struct lnet_ioctl_config_lnd_cmn_tunables *tunables = &ni->net.net_tunables;
	int i;

	if (tunables->lct_peer_tx_credits < 1 || tunables->lct_max_tx_credits < 1) {
		stub_violation(STUB_NI_CREDITS, "credits %d, peer credits %d",
			       tunables->lct_max_tx_credits, tunables->lct_peer_tx_credits);
		tunables->lct_peer_tx_credits = 1;
		tunables->lct_max_tx_credits = 1;
	}
	ni->credits = min(tunables->lct_peer_tx_credits, tunables->lct_max_tx_credits);
	if (LNET_NID_NET(&ni->ni.ni_nid) != ni->net.net_id)
		stub_violation(STUB_NI_NID, "%s is not on net %#x", libcfs_nidstr(&ni->ni.ni_nid),
			       ni->net.net_id);
	for (i = 0; i < STUB_NIS; i++)
		if (stub.nis[i] && stub.nis[i] != ni &&
		    nid_same(&stub.nis[i]->ni.ni_nid, &ni->ni.ni_nid))
			stub_violation(STUB_NI_NID, "%s belongs to two NIs",
				       libcfs_nidstr(&ni->ni.ni_nid));
}

/*
 * stub_ni_list() - Writes an interface into the list that peers read, as LNet does from time to
 * time: a mark that is on becomes a status, which the mark's end does not undo.
 *
 * Context: thread.
 * Return: whether peers read that it is up.
 */
bool stub_ni_list(struct stub_ni *ni)
{
	bool up;

	spin_lock(&ni->ni.ni_lock);
	if (!ni->ni.ni_status)
		ni->status = LNET_NI_STATUS_UP;
	if (atomic_read(&ni->ni.ni_fatal_error_on))
		ni->status = LNET_NI_STATUS_DOWN;
	ni->ni.ni_status = &ni->status;
	up = ni->status == LNET_NI_STATUS_UP;
	spin_unlock(&ni->ni.ni_lock);
	return up;
}

/*
 * stub_ni_start() - Brings an interface up.
 *
 * Context: thread.
 * Return: what lnd_startup() returns.
 */
int stub_ni_start(unsigned int index, const char *interface)
{
	struct stub_ni *ni = stub_ni_new(interface);
	int rc;

	if (!ni)
		return -ENOMEM;
	ni->up = true;
	stub.stopping = false;
	rc = stub.lnd->lnd_startup(&ni->ni);
	if (rc) {
		ni->up = false;
		return rc;
	}
	stub_ni_check(ni);
	stub.nis[index] = ni;
	return 0;
}

/* The other machine's, of which only the NID is here. */
static int stub_ni_remote(unsigned int index)
{
	struct stub_ni *ni = stub_ni_new("peer");

	if (!ni)
		return -ENOMEM;
	ni->remote = true;
	ni->ni.ni_nid = stub.peer;
	ni->credits = stub.nis[0]->credits;
	stub.nis[index] = ni;
	return 0;
}

/*
 * stub_nis_start() - Brings both NIs up, or the one that this machine has.
 *
 * Context: thread.
 * Return: false: one of them does not start, which is a violation.
 */
bool stub_nis_start(void)
{
	int i, rc;

	for (i = 0; i < STUB_NIS; i++) {
		if (i < stub_interface_count)
			rc = stub_ni_start(i, stub_interfaces[i]);
		else
			rc = stub_between() ? stub_ni_remote(i) : 0;
		if (rc) {
			stub_violation(STUB_NI_START, "%s: %d", stub_interfaces[i], rc);
			return false;
		}
	}
	return true;
}

static int stub_ni_left(struct stub_ni *ni)
{
	struct stub_msg *msg;
	int left = 0;

	spin_lock_irq(&stub.lock);
	list_for_each_entry(msg, &stub.all_msgs, all)
		left += msg->ni == ni && !msg->reported &&
			(msg->state == STUB_GIVEN || msg->state == STUB_ACCEPTED);
	spin_unlock_irq(&stub.lock);
	return left;
}

static bool stub_ni_quiet(struct stub_ni *ni)
{
	return !READ_ONCE(ni->sending);
}

/* What waits for a credit will not get one. */
static void stub_ni_unqueue(struct stub_ni *ni)
{
	struct stub_msg *msg;

	for (;;) {
		spin_lock_irq(&stub.lock);
		msg = list_first_entry_or_null(&ni->queue, struct stub_msg, msg.msg_list);
		if (msg)
			list_del_init(&msg->msg.msg_list);
		spin_unlock_irq(&stub.lock);
		if (!msg)
			return;
		msg->op->failed = true;
		stub_msg_gone(msg);
	}
}

/*
 * stub_ni_stop() - Shuts an NI down, with whatever is under way.
 *
 * LNet waits for the NI's messages before it calls lnd_shutdown(); an LND may not rely on that.
 *
 * Context: thread.
 */
void stub_ni_stop(unsigned int index)
{
	struct stub_ni *ni = stub.nis[index];
	int left;

	if (!ni)
		return;
	if (ni->remote) {
		stub.nis[index] = NULL;
		return;
	}
	spin_lock_irq(&stub.lock);
	ni->closing = true;
	stub.stopping = true;
	spin_unlock_irq(&stub.lock);
	if (!wait_event_timeout(stub.changed, stub_ni_quiet(ni), stub_limit()))
		stub_violation(STUB_SEND_BLOCKS, "lnd_send() has not returned");
	stub_ni_unqueue(ni);
	stub_delayed_release(ni, true);
	stub.lnd->lnd_shutdown(&ni->ni);
	spin_lock_irq(&stub.lock);
	ni->up = false;
	spin_unlock_irq(&stub.lock);
	left = stub_ni_left(ni);
	msleep(STUB_GRACE_MS);
	if (left && stub_ni_left(ni))
		stub_violation(STUB_SHUTDOWN_LEFT, "%d messages", left);
	if (ni->ni.ni_data)
		stub_violation(STUB_NI_RESIDUE, "ni_data is still set after lnd_shutdown()");
	stub.nis[index] = NULL;
}

/* Context: thread; no LND is left. */
void stub_nis_forget(void)
{
	struct stub_ni *ni, *next;

	list_for_each_entry_safe(ni, next, &stub.all_nis, all) {
		kfree(ni->ni.ni_interface);
		kfree(ni);
	}
	INIT_LIST_HEAD(&stub.all_nis);
}
