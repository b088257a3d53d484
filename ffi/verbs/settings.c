// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* This transport's parameters. */
#include <linux/module.h>

#include "lnd_verbs.h"

/* o2iblnd has 987. */
unsigned short lnd_verbs_port = 986;
module_param_named(port, lnd_verbs_port, ushort, 0444);
MODULE_PARM_DESC(port, "rdma_cm's port");

unsigned int lnd_verbs_connect_ms = 2000;
module_param_named(connect_ms, lnd_verbs_connect_ms, uint, 0444);
MODULE_PARM_DESC(connect_ms, "ms within which a connection must be made");

unsigned int lnd_verbs_probe_ms = 5000;
module_param_named(probe_ms, lnd_verbs_probe_ms, uint, 0444);
MODULE_PARM_DESC(probe_ms, "ms without a sign of the peer after which it is probed; 0: never");

unsigned int lnd_verbs_timeout = 14;
module_param_named(timeout, lnd_verbs_timeout, uint, 0444);
MODULE_PARM_DESC(timeout, "acknowledge timeout, 4.096 us * 2^timeout: 8 to 21");

unsigned int lnd_verbs_retries = 6;
module_param_named(retries, lnd_verbs_retries, uint, 0444);
MODULE_PARM_DESC(retries, "how often an unacknowledged packet is sent again: 0 to 6");

unsigned int lnd_verbs_chain = 2;
module_param_named(chain, lnd_verbs_chain, uint, 0444);
MODULE_PARM_DESC(chain, "registrations in front of frames: 0: no, 1: yes, 2: not on soft-RoCE");

unsigned int lnd_verbs_inv = 2;
module_param_named(inv, lnd_verbs_inv, uint, 0444);
MODULE_PARM_DESC(inv, "a transfer's end invalidates its key: 0: no, 1: yes, 2: not on soft-RoCE");

bool lnd_verbs_push = true;
module_param_named(push, lnd_verbs_push, bool, 0444);
MODULE_PARM_DESC(push, "peers that push, too, answer GETs by writing into this node's memory");

unsigned int lnd_verbs_watch_ms;
module_param_named(watch_ms, lnd_verbs_watch_ms, uint, 0444);
MODULE_PARM_DESC(watch_ms, "ms for which memory is watched after its report; 0: not at all");

#ifdef LND_HOST_SEEDS
static char *defect = "";
module_param(defect, charp, 0644);
MODULE_PARM_DESC(defect, "a seeded defect; tests/parts/verbs has their names");

bool lnd_verbs_defect(const char *name)
{
	return sysfs_streq(READ_ONCE(defect), name);
}
#endif

/**
 * lnd_verbs_settings_check() - Checks this transport's parameters.
 *
 * Context: thread.
 * Return: 0 or -EINVAL.
 */
int lnd_verbs_settings_check(void)
{
	if (!lnd_verbs_port || !lnd_verbs_connect_ms || lnd_verbs_timeout < 8 ||
	    lnd_verbs_timeout > 21 || lnd_verbs_retries > 6 || lnd_verbs_chain > 2 ||
	    lnd_verbs_inv > 2)
		return -EINVAL;
	return 0;
}
