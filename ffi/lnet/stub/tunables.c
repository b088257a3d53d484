// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The case ni.tunables: an LND's own tunables go out by netlink, and come back as they were. */
#include <net/netlink.h>

#include "stub.h"

#define STUB_KEYS 16

/* What lnd_nl_get() says of a tunable. False: it is too short for its type. */
static bool stub_tunable_value(const struct nlattr *attr, u16 type, s64 *value)
{
	const void *data = nla_data(attr);

	switch (type) {
	case NLA_U32:
	case NLA_S32:
		*value = type == NLA_U32 ? *(const u32 *)data : *(const s32 *)data;
		return nla_len(attr) == sizeof(u32);
	case NLA_U16:
	case NLA_S16:
		*value = type == NLA_U16 ? *(const u16 *)data : *(const s16 *)data;
		return nla_len(attr) == sizeof(u16);
	default:
		return false;
	}
}

/* All tunables of an NI, into values. False: lnd_nl_get() breaks a rule. */
static bool stub_tunables_get(struct stub_ni *ni, bool export, s64 *values, bool *said)
{
	const struct ln_key_list *keys = stub.lnd->lnd_keys;
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	const struct nlattr *attr;
	bool fine;
	int rest;

	if (!skb)
		return false;
	fine = !stub.lnd->lnd_nl_get(LNET_CMD_NETS, skb, LNET_NET_LOCAL_NI_ATTR_LND_TUNABLES,
				     &ni->ni, export);
	nla_for_each_attr(attr, (const struct nlattr *)skb->data, skb->len, rest) {
		int type = nla_type(attr);

		if (type < 1 || type > min_t(int, keys->lkl_maxattr, STUB_KEYS) || said[type] ||
		    !keys->lkl_list[type].lkp_value ||
		    !stub_tunable_value(attr, keys->lkl_list[type].lkp_data_type, &values[type])) {
			fine = false;
			break;
		}
		said[type] = true;
	}
	nlmsg_free(skb);
	return fine;
}

static int stub_tunable_set(int cmd, int type, s64 value, struct lnet_lnd_tunables *tunables)
{
	struct {
		struct nlattr attr;
		s64 value;
	} __packed one = {
		.attr = { NLA_HDRLEN + sizeof(s64), LN_SCALAR_ATTR_INT_VALUE }, .value = value,
	};

	return stub.lnd->lnd_nl_set(cmd, &one.attr, type, tunables);
}

/*
 * stub_tunables() - The case.
 *
 * Context: thread.
 * Return: why it does not apply, or NULL.
 */
const char *stub_tunables(void)
{
	s64 values[STUB_KEYS + 1] = { }, again[STUB_KEYS + 1] = { };
	bool said[STUB_KEYS + 1] = { }, exported[STUB_KEYS + 1] = { };
	struct lnet_lnd_tunables tunables = { };
	struct stub_ni *ni = stub.nis[0];
	unsigned int type;

	if (!stub.lnd->lnd_nl_get || !stub.lnd->lnd_nl_set || !stub.lnd->lnd_keys)
		return "the LND has no tunables of its own for netlink";
	if (stub.lnd->lnd_nl_get(LNET_CMD_NETS + 1, NULL, 0, &ni->ni, false) >= 0 ||
	    stub_tunable_set(LNET_CMD_NETS + 1, 1, 0, &tunables) >= 0)
		stub_violation(STUB_TUNABLES, "another command than LNET_CMD_NETS is taken");
	/* What goes out for a backup is what is set again. */
	if (!stub_tunables_get(ni, true, values, exported)) {
		stub_violation(STUB_TUNABLES, "lnd_nl_get() does not say what lnd_keys names");
		return NULL;
	}
	for (type = 1; type <= STUB_KEYS; type++)
		if (exported[type] && stub_tunable_set(LNET_CMD_NETS, type, values[type],
						       &tunables) < 0)
			stub_violation(STUB_TUNABLES, "%s %lld cannot be set again",
				       stub.lnd->lnd_keys->lkl_list[type].lkp_value, values[type]);
	ni->ni.ni_lnd_tunables = tunables;
	if (!stub_tunables_get(ni, true, again, said) || memcmp(values, again, sizeof(again)))
		stub_violation(STUB_TUNABLES, "what is set again is something else");
	for (type = 1; type <= STUB_KEYS; type++)
		if (exported[type] &&
		    stub_tunable_set(LNET_CMD_NETS, type, S64_MIN, &tunables) >= 0)
			stub_violation(STUB_TUNABLES, "%s takes any number",
				       stub.lnd->lnd_keys->lkl_list[type].lkp_value);
	return NULL;
}
