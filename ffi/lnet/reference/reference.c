// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A reference LND: NIs of one machine, and a work item that copies from one to another.
 *
 * It is the shortest driver that keeps the whole contract. A message waits in one list until the
 * target has a receive credit; its payload is copied once then, and it ends. An optimised GET waits
 * for what the target's lnd_recv() brings. With seed= it breaks a rule (seeds.h).
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "reference.h"

static char *seed;
module_param(seed, charp, 0444);
MODULE_PARM_DESC(seed, "a violation of the contract, by its name");

static int ref_get_timeout(void)
{
	return REF_TIMEOUT;
}

static int ref_tun_defaults(struct lnet_lnd_tunables *tunables,
			    struct lnet_ioctl_config_lnd_cmn_tunables *common)
{
	common->lct_peer_timeout = 180;
	common->lct_peer_tx_credits = REF_CREDITS;
	common->lct_peer_rtr_credits = 0;
	common->lct_max_tx_credits = 4 * REF_CREDITS;
	return 0;
}

/* Interfaces are called ref and a number, which becomes the address. */
static int ref_startup(struct lnet_ni *ni)
{
	struct lnet_ioctl_config_lnd_cmn_tunables *tunables = &ni->ni_net->net_tunables, defaults;
	unsigned int address = 1;
	struct ref_ni *ref;

	if (sscanf(ni->ni_interface ?: "", "ref%u", &address) != 1 && !REF_SEEDED(any_name))
		return -EINVAL;
	ref = kzalloc(sizeof(*ref), GFP_KERNEL);
	if (!ref)
		return -ENOMEM;
	ref_tun_defaults(NULL, &defaults);
	if (tunables->lct_peer_timeout < 0)
		tunables->lct_peer_timeout = defaults.lct_peer_timeout;
	if (tunables->lct_peer_tx_credits < 0 && !REF_SEEDED(no_credits))
		tunables->lct_peer_tx_credits = defaults.lct_peer_tx_credits;
	if (tunables->lct_peer_rtr_credits < 0)
		tunables->lct_peer_rtr_credits = defaults.lct_peer_rtr_credits;
	if (tunables->lct_max_tx_credits < 0)
		tunables->lct_max_tx_credits = defaults.lct_max_tx_credits;
	if (!REF_SEEDED(any_credits) &&
	    tunables->lct_peer_tx_credits > tunables->lct_max_tx_credits) {
		kfree(ref);
		return -EINVAL;
	}
	ni->ni_nid.nid_addr[0] = cpu_to_be32(REF_SEEDED(nid) ? 1 : address);
	ni->ni_dev_cpt = CFS_CPT_ANY;
	ni->ni_data = ref;
	ref->ni = ni;
	ref->credits = REF_CREDITS;
	INIT_LIST_HEAD(&ref->gets);
	__module_get(THIS_MODULE);
	spin_lock(&ref_lock);
	list_add_tail(&ref->link, &ref_nis);
	spin_unlock(&ref_lock);
	return 0;
}

static bool ref_idle(struct ref_ni *ref)
{
	bool idle;

	spin_lock(&ref_lock);
	idle = !ref->held;
	spin_unlock(&ref_lock);
	return idle;
}

static void ref_shutdown(struct lnet_ni *ni)
{
	struct ref_ni *ref = ni->ni_data;
	struct ref_tx *tx, *next;
	LIST_HEAD(mine);

	/* This seed is about what lnet_parse() has refused: all of it is to be seen. */
	if (REF_SEEDED(parse_refused))
		flush_work(&ref_work);
	spin_lock(&ref_lock);
	list_del(&ref->link);
	list_for_each_entry_safe(tx, next, &ref_pending, link)
		if (tx->from == ref)
			list_move_tail(&tx->link, &mine);
	spin_unlock(&ref_lock);
	/* The work item puts down what it has in hand; after that, it takes nothing of ref's. */
	flush_work(&ref_work);
	spin_lock(&ref_lock);
	list_splice_tail_init(&ref->gets, &mine);
	spin_unlock(&ref_lock);
	list_for_each_entry_safe(tx, next, &mine, link) {
		if ((REF_SEEDED(late) && !tx->reply) || REF_SEEDED(left)) {
			if (REF_SEEDED(late))
				ref_seed_late(tx->msg);
			ref_seed = REF_SEED_none;
			continue;
		}
		ref_end(tx, -ESHUTDOWN, LNET_MSG_STATUS_LOCAL_ERROR);
	}
	wait_event(ref_changed, ref_idle(ref));
	/* What was to go to it will find that it is gone. */
	schedule_work(&ref_work);
	flush_work(&ref_work);
	if (!REF_SEEDED(residue))
		ni->ni_data = NULL;
	kfree(ref);
	module_put(THIS_MODULE);
}

#ifdef LND_HAVE_NL
/* One of its own, which nothing depends on: conns_per_peer. */
static const struct ln_key_list ref_keys = {
	.lkl_maxattr = 1,
	.lkl_list = { [1] = { .lkp_value = "conns_per_peer", .lkp_data_type = NLA_U16 } },
};

static int ref_nl_get(LND_NL_GET_PARAMETERS)
{
	struct lnet_ni *ni = data;

	if (cmd != LNET_CMD_NETS || type != LNET_NET_LOCAL_NI_ATTR_LND_TUNABLES)
		return -EOPNOTSUPP;
	return nla_put_u16(msg, 1, ni->ni_lnd_tunables.lnd_tun_u.lnd_sock.lnd_conns_per_peer);
}

static int ref_nl_set(int cmd, struct nlattr *attr, int type, void *data)
{
	struct lnet_lnd_tunables *tunables = data;
	s64 value;

	if (cmd != LNET_CMD_NETS)
		return -EOPNOTSUPP;
	if (!attr || nla_type(attr) != LN_SCALAR_ATTR_INT_VALUE || type != 1)
		return -EINVAL;
	value = nla_get_s64(attr);
	if ((value < 0 || value > U16_MAX) && !REF_SEEDED(any_number))
		return -ERANGE;
	tunables->lnd_tun_u.lnd_sock.lnd_conns_per_peer = value + REF_SEEDED(tunable);
	return 0;
}
#endif

static const struct lnet_lnd ref_lnd = {
	.lnd_type = BXI3LND,
	.lnd_startup = ref_startup,
	.lnd_shutdown = ref_shutdown,
	.lnd_send = ref_send,
	.lnd_recv = ref_recv,
	.lnd_eager_recv = ref_eager_recv,
#ifdef LND_HAVE_NL
	.lnd_nl_get = ref_nl_get,
	.lnd_nl_set = ref_nl_set,
	.lnd_keys = &ref_keys,
#endif
#ifdef LND_HAVE_GET_TIMEOUT
	.lnd_get_timeout = ref_get_timeout,
#endif
#ifdef LND_HAVE_TUN_DEFAULTS
	.lnd_tun_defaults = ref_tun_defaults,
#endif
};

static int __init ref_init(void)
{
	int rc = LND_LIBCFS_SETUP();

	if (rc)
		return rc;
	ref_seeds_init(seed);
	lnet_register_lnd(&ref_lnd);
	return 0;
}
module_init(ref_init);

static void __exit ref_exit(void)
{
	lnet_unregister_lnd(&ref_lnd);
	cancel_work_sync(&ref_work);
	ref_seeds_exit();
}
module_exit(ref_exit);

MODULE_DESCRIPTION("Reference LND: NIs of one machine");
MODULE_LICENSE("Dual MIT/GPL");
