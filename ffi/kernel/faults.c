// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Failures on request, for tests: built only with LND_CFLAGS=-DLND_HOST_SEEDS. Each call that may
 * fail asks here first. A test writes n to "fail", and the n-th call from then on fails; it goes on
 * with n + 1 until "fired" stays 0, and has then taken every exit path.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "lnd_host.h"

#ifdef LND_HOST_SEEDS

static atomic_t lnd_host_countdown;

static int lnd_host_set_fail(const char *value, const struct kernel_param *param);

static unsigned int fired;
module_param(fired, uint, 0644);
MODULE_PARM_DESC(fired, "tests: calls that have failed on request since fail was written");

static unsigned int fail;
static const struct kernel_param_ops lnd_host_fail_ops = {
	.set = lnd_host_set_fail,
	.get = param_get_uint,
};
module_param_cb(fail, &lnd_host_fail_ops, &fail, 0644);
MODULE_PARM_DESC(fail, "tests: the n-th call that may fail, from now on, fails; 0: none");

static bool fail_on;
module_param(fail_on, bool, 0644);
MODULE_PARM_DESC(fail_on, "tests: and all that follow it, until fail is written again");

static char fail_in[TASK_COMM_LEN];
module_param_string(fail_in, fail_in, sizeof(fail_in), 0644);
MODULE_PARM_DESC(fail_in, "tests: only calls of threads whose names begin so");

static bool starve;
module_param(starve, bool, 0644);
MODULE_PARM_DESC(starve, "tests: there is no memory for those that may not wait");

static char lose[8];
module_param_string(lose, lose, sizeof(lose), 0644);
MODULE_PARM_DESC(lose, "tests: a seeded defect of an exit path: free, stop, err");

static int lnd_host_set_fail(const char *value, const struct kernel_param *param)
{
	int rc = param_set_uint(value, param);

	if (!rc) {
		WRITE_ONCE(fired, 0);
		atomic_set(&lnd_host_countdown, fail);
	}
	return rc;
}

/**
 * lnd_host_fault() - Shall this call fail?
 * @what: the call.
 *
 * Context: thread.
 * Return: true if it shall.
 */
bool lnd_host_fault(const char *what)
{
	int left;

	if (!strstarts(current->comm, fail_in))
		return false;
	left = atomic_dec_if_positive(&lnd_host_countdown);
	if (left != 0 && !(left < 0 && fail_on && READ_ONCE(fired)))
		return false;
	WRITE_ONCE(fired, READ_ONCE(fired) + 1);
	if (left == 0)
		pr_info("on request: %s fails in %s\n", what, current->comm);
	return true;
}

/**
 * lnd_host_starves() - Shall this allocation fail?
 * @gfp: its flags.
 * @what: for what.
 *
 * Context: thread.
 * Return: true if it shall.
 */
bool lnd_host_starves(gfp_t gfp, const char *what)
{
	if (starve && !gfpflags_allow_blocking(gfp))
		return true;
	return lnd_host_fault(what);
}

/**
 * lnd_host_loses() - Is a seeded defect of an exit path at work?
 * @what: which.
 *
 * Context: thread.
 * Return: true if it is.
 */
bool lnd_host_loses(const char *what)
{
	return !strcmp(lose, what);
}

#endif
