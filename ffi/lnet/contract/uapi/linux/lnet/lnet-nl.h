/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* An LND's own tunables for netlink: their names, and the values' types by attribute numbers. */
#ifndef LND_CONTRACT_LNET_NL_H
#define LND_CONTRACT_LNET_NL_H

#include <linux/types.h>

/* The commands and attributes that an LND is called for. */
enum lnet_commands {
	LNET_CMD_NETS = 2,
};

enum lnet_net_local_ni_attrs {
	LNET_NET_LOCAL_NI_ATTR_LND_TUNABLES = 1,
};

enum lnet_nl_scalar_attrs {
	LN_SCALAR_ATTR_VALUE = 5,
	LN_SCALAR_ATTR_INT_VALUE = 6,	/* an s64: what lnd_nl_set() gets */
};

struct ln_key_props {
	char *lkp_value;
	__u16 lkp_key_format;
	__u16 lkp_data_type;	/* NLA_U32 and the like: what lnd_nl_get() puts */
};

/* By attribute number, from 1 to lkl_maxattr. */
struct ln_key_list {
	__u16 lkl_maxattr;
	struct ln_key_props lkl_list[];
};

#endif
