/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The part of libcfs that an LND calls. */
#ifndef LND_CONTRACT_LIBCFS_H
#define LND_CONTRACT_LIBCFS_H

#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/types.h>

/* Called once in an LND's module_init. */
int libcfs_setup(void);

static inline unsigned long cfs_time_seconds(time64_t seconds)
{
	return nsecs_to_jiffies64(seconds * NSEC_PER_SEC);
}

#endif
