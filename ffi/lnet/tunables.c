// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What an administrator sets for an interface: checked, shown, exported. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>
#include <net/netlink.h>

#include "lnet.h"

static unsigned int credits = 256;
module_param(credits, uint, 0444);
MODULE_PARM_DESC(credits, "messages under way");

static unsigned int peer_credits = 8;
module_param(peer_credits, uint, 0444);
MODULE_PARM_DESC(peer_credits, "messages under way to a peer");

static unsigned int peer_timeout = 180;
module_param(peer_timeout, uint, 0444);
MODULE_PARM_DESC(peer_timeout, "seconds until a router's silent peer is dead");

/* The driver's own tunables, in the place that LNet has for those of any driver. */
static struct lnd_lnet_tunables *lnd_lnet_own(struct lnet_lnd_tunables *tunables)
{
	BUILD_BUG_ON(sizeof(struct lnd_lnet_tunables) > sizeof(tunables->lnd_tun_u));
	return (void *)&tunables->lnd_tun_u;
}

/* Fills in what the administrator has not set. */
static void lnd_lnet_fill(struct lnet_ioctl_config_lnd_cmn_tunables *net)
{
	if (net->lct_peer_timeout == -1)
		net->lct_peer_timeout = peer_timeout;
	if (net->lct_max_tx_credits == -1)
		net->lct_max_tx_credits = credits;
	if (net->lct_peer_tx_credits == -1)
		net->lct_peer_tx_credits = min_t(int, peer_credits, net->lct_max_tx_credits);
	if (net->lct_peer_rtr_credits == -1)
		net->lct_peer_rtr_credits = net->lct_peer_tx_credits;
}

/**
 * lnd_lnet_tunables() - Fills in what the administrator has not set; refuses contradictions.
 * @ni: the interface.
 * @upper: gets the place of the driver's own.
 *
 * Context: thread.
 * Return: 0 or -EINVAL, with the reason in the kernel's log.
 */
int lnd_lnet_tunables(struct lnet_ni *ni, struct lnd_host_upper *upper)
{
	struct lnet_ioctl_config_lnd_cmn_tunables *net = &ni->ni_net->net_tunables;
	struct lnd_lnet_tunables *own = lnd_lnet_own(&ni->ni_lnd_tunables);
	int timeout = lnet_get_lnd_timeout();

	lnd_lnet_fill(net);
	if (!ni->ni_lnd_tunables_set)
		memset(own, 0, sizeof(*own));
	if (net->lct_max_tx_credits < 1 || net->lct_peer_tx_credits < 1 ||
	    net->lct_peer_rtr_credits < 0 || net->lct_peer_timeout < 0 ||
	    net->lct_peer_tx_credits > net->lct_max_tx_credits) {
		pr_notice("credits %d, of a peer %d: 1 at least, and of a peer not more than all\n",
			  net->lct_max_tx_credits, net->lct_peer_tx_credits);
		return -EINVAL;
	}
	if (own->timeout > timeout ||
	    (net->lct_peer_timeout && own->timeout > net->lct_peer_timeout)) {
		pr_notice("timeout %u s: not more than LNet's %d, and peer_timeout %d\n",
			  own->timeout, timeout, net->lct_peer_timeout);
		return -EINVAL;
	}
	upper->own = own;
	return 0;
}

#ifdef LND_HAVE_NL
/* Named for lnetctl; what follows is in the order of enum lnd_lnet_tunable. */
const struct ln_key_list lnd_lnet_keys = {
	.lkl_maxattr = LND_LNET_FAIL_FAST,
	.lkl_list = {
		[LND_LNET_TIMEOUT] = { .lkp_value = "timeout", .lkp_data_type = NLA_U32 },
		[LND_LNET_FAIL_FAST] = { .lkp_value = "fail_fast", .lkp_data_type = NLA_U32 },
	},
};

/**
 * lnd_lnet_nl_get() - lnd_nl_get of struct lnet_lnd: the driver's own tunables of an interface.
 * @LND_NL_GET_PARAMETERS: what is asked for, where it goes, and the interface (compat.h).
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_lnet_nl_get(LND_NL_GET_PARAMETERS)
{
	struct lnet_ni *ni = data;
	const u32 *own;
	int rc = 0, i;

	if (cmd != LNET_CMD_NETS || type != LNET_NET_LOCAL_NI_ATTR_LND_TUNABLES)
		return -EOPNOTSUPP;
	own = (const u32 *)lnd_lnet_own(&ni->ni_lnd_tunables);
	for (i = LND_LNET_TIMEOUT; i <= LND_LNET_FAIL_FAST && !rc; i++)
		rc = nla_put_u32(msg, i, own[i - 1]);
	return rc;
}

/**
 * lnd_lnet_nl_set() - lnd_nl_set of struct lnet_lnd: one of them, of an interface or before it is.
 * @cmd: LNET_CMD_NETS.
 * @attr: an s64.
 * @type: enum lnd_lnet_tunable.
 * @data: struct lnet_lnd_tunables.
 *
 * Context: thread; LNet may hold a lock.
 * Return: 0 or a negative errno.
 */
int lnd_lnet_nl_set(int cmd, struct nlattr *attr, int type, void *data)
{
	u32 *own = (u32 *)lnd_lnet_own(data);
	s64 value;

	if (cmd != LNET_CMD_NETS)
		return -EOPNOTSUPP;
	if (!attr || nla_type(attr) != LN_SCALAR_ATTR_INT_VALUE ||
	    nla_len(attr) < (int)sizeof(value) || type < LND_LNET_TIMEOUT ||
	    type > LND_LNET_FAIL_FAST)
		return -EINVAL;
	memcpy(&value, nla_data(attr), sizeof(value));
	if (value < 0 || value > (type == LND_LNET_TIMEOUT ? INT_MAX : 1))
		return -ERANGE;
	WRITE_ONCE(own[type - 1], value);
	return 0;
}
#endif

/**
 * lnd_lnet_defaults() - lnd_tun_defaults of struct lnet_lnd.
 * @tunables: the driver's own.
 * @net: the network's.
 *
 * The network's stay unset: what fits --peer-credits depends on --credits, and the start of the
 * interface knows both.
 *
 * Context: thread.
 * Return: 0.
 */
int lnd_lnet_defaults(struct lnet_lnd_tunables *tunables,
		      struct lnet_ioctl_config_lnd_cmn_tunables *net)
{
	memset(lnd_lnet_own(tunables), 0, sizeof(struct lnd_lnet_tunables));
	return 0;
}
