/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What an administrator tunes. */
#ifndef LND_CONTRACT_LNET_DLC_H
#define LND_CONTRACT_LNET_DLC_H

#include <linux/types.h>

/* -1: not set, the LND fills in its default. */
struct lnet_ioctl_config_lnd_cmn_tunables {
	__u32 lct_version;
	__s32 lct_peer_timeout;
	__s32 lct_peer_tx_credits;
	__s32 lct_peer_rtr_credits;
	__s32 lct_max_tx_credits;
};

struct lnet_ioctl_config_kfilnd_tunables {
	__u32 lnd_version;
	__u32 lnd_timeout;
};

struct lnet_ioctl_config_socklnd_tunables {
	__u32 lnd_version;
	__u16 lnd_conns_per_peer;
	__u32 lnd_timeout;
};

/* The kinds of LNDs share one space; LNet's has more of them. */
struct lnet_lnd_tunables {
	union {
		struct lnet_ioctl_config_kfilnd_tunables lnd_kfi;
		struct lnet_ioctl_config_socklnd_tunables lnd_sock;
	} lnd_tun_u;
};

#endif
