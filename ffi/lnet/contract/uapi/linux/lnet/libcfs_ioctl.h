/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What lnd_ctl() is called with. */
#ifndef LND_CONTRACT_LIBCFS_IOCTL_H
#define LND_CONTRACT_LIBCFS_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* One peer: of "lnetctl debug peer --nid", with its NID. */
#define IOC_LIBCFS_GET_PEER _IOWR('e', 76, long)

struct libcfs_ioctl_data {
	__u64 ioc_nid;
	__u32 ioc_count;
	__u32 ioc_net;
};

#endif
