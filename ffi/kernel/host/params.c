// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Parameters of all transports. */
#include <linux/module.h>

#include "lnd_host.h"

unsigned int lnd_host_slots = 128;
module_param_named(slots, lnd_host_slots, uint, 0444);
MODULE_PARM_DESC(slots, "transfers at once");

unsigned int lnd_host_drain_ms = 500;
module_param_named(drain_ms, lnd_host_drain_ms, uint, 0444);
MODULE_PARM_DESC(drain_ms, "ms for an invalidated descriptor to come back");

unsigned int lnd_host_poll_ms;
module_param_named(poll_ms, lnd_host_poll_ms, uint, 0444);
MODULE_PARM_DESC(poll_ms, "ms between polls for peers that do not ring");

unsigned int lnd_host_busy_poll_us;
module_param_named(busy_poll_us, lnd_host_busy_poll_us, uint, 0644);
MODULE_PARM_DESC(busy_poll_us, "us a thread looks for work before it sleeps");

#ifdef LND_HOST_SOFTIRQ
static char *completion = "hard";
module_param(completion, charp, 0444);
MODULE_PARM_DESC(completion, "completions are taken in: hard (interrupt), soft (tasklet)");

bool lnd_host_softirq;
#endif

/* Reading the clock takes long, as that of a device does: ticks are exact enough. */
static bool lnd_host_ticks;

static bool lnd_host_clock_is_slow(void)
{
	u64 best = U64_MAX;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		u64 begun = ktime_get_ns();

		best = min(best, ktime_get_ns() - begun);
	}
	return best > NSEC_PER_USEC / 2;
}

/* The time of the last tick, ns. Context: any. */
u64 lnd_host_tick(void)
{
	return ktime_get_coarse_ns();
}

/**
 * lnd_host_now() - The time, for the library.
 *
 * Context: any.
 * Return: ns.
 */
u64 lnd_host_now(void)
{
	return lnd_host_ticks ? lnd_host_tick() : ktime_get_ns();
}

/**
 * lnd_host_after() - When lnd_host_now() is certain to have reached a time.
 * @due: the time.
 *
 * Context: any.
 * Return: ns, for a timer.
 */
u64 lnd_host_after(u64 due)
{
	return due + (lnd_host_ticks ? TICK_NSEC : 0);
}

/**
 * lnd_host_params_check() - Checks the parameters of all transports.
 *
 * Context: thread.
 * Return: 0 or -EINVAL.
 */
int __init lnd_host_params_check(void)
{
	if (lnd_host_slots < 8 || lnd_host_slots > 4096 || !lnd_host_drain_ms)
		return -EINVAL;
#ifdef LND_HOST_SOFTIRQ
	if (strcmp(completion, "hard") && strcmp(completion, "soft"))
		return -EINVAL;
	lnd_host_softirq = !strcmp(completion, "soft");
#endif
	lnd_host_ticks = lnd_host_clock_is_slow();
	return 0;
}
