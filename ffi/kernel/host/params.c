// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Parameters of all transports. */
#include <linux/module.h>

#include "lnd_host.h"

unsigned int lnd_host_slots = 128;
module_param_named(slots, lnd_host_slots, uint, 0444);
MODULE_PARM_DESC(slots, "transfers at once of each node");

unsigned int lnd_host_drain_ms = 500;
module_param_named(drain_ms, lnd_host_drain_ms, uint, 0444);
MODULE_PARM_DESC(drain_ms, "ms within which an invalidated descriptor must come back");

unsigned int lnd_host_deadline_ms = 5000;
module_param_named(deadline_ms, lnd_host_deadline_ms, uint, 0444);
MODULE_PARM_DESC(deadline_ms, "ms that a message has, over all its waits");

unsigned int lnd_host_poll_ms;
module_param_named(poll_ms, lnd_host_poll_ms, uint, 0444);
MODULE_PARM_DESC(poll_ms, "ms between polls for messages, for peers that do not ring; 0: none");

static char *completion = "hard";
module_param(completion, charp, 0444);
MODULE_PARM_DESC(completion, "where completions are taken: hard (interrupt) or soft (tasklet)");

bool lnd_host_softirq;

/**
 * lnd_host_params_check() - Checks the parameters of all transports.
 *
 * Context: thread.
 * Return: 0 or -EINVAL.
 */
int __init lnd_host_params_check(void)
{
	if (lnd_host_slots < 8 || lnd_host_slots > 4096 || !lnd_host_drain_ms ||
	    !lnd_host_deadline_ms)
		return -EINVAL;
	if (strcmp(completion, "hard") && strcmp(completion, "soft"))
		return -EINVAL;
	lnd_host_softirq = !strcmp(completion, "soft");
	return 0;
}
