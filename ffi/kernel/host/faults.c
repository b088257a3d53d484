// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Failures on request, for tests: built only with LND_CFLAGS=-DLND_HOST_SEEDS. Each call that may
 * fail asks lnd_host_fault() first. A test writes n to "fail", and the n-th call from then on
 * fails. "fail_in" and "fail_at" select the calls that count. They are written only while "fail" is
 * 0 and "fail_on" is off.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "lnd_host.h"

#ifdef LND_HOST_SEEDS

static atomic_t lnd_host_countdown;

static int lnd_host_set_fail(const char *value, const struct kernel_param *param);

static unsigned int fired;

/* A test reads it while calls fail. */
static int lnd_host_get_fired(char *buffer, const struct kernel_param *param)
{
	return scnprintf(buffer, PAGE_SIZE, "%u\n", READ_ONCE(fired));
}

static const struct kernel_param_ops lnd_host_fired_ops = { .get = lnd_host_get_fired };
module_param_cb(fired, &lnd_host_fired_ops, NULL, 0444);
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
MODULE_PARM_DESC(fail_in, "tests: only calls of threads whose names begin with this");

static bool starve;
module_param(starve, bool, 0644);
MODULE_PARM_DESC(starve, "tests: there is no memory for callers that must not wait");

static char fail_at[24];
module_param_string(fail_at, fail_at, sizeof(fail_at), 0644);
MODULE_PARM_DESC(fail_at, "tests: only calls whose names begin with this");

static char lose[8];
module_param_string(lose, lose, sizeof(lose), 0644);
MODULE_PARM_DESC(lose,
		 "tests: a seeded defect: free, stop, err of an exit path; mute: of the test");

static const struct {
	const char *name;
	const char *where;
} lnd_host_points[] = {
#define LND_HOST_POINT(id, name, where) { name, where },
	LND_HOST_POINTS(LND_HOST_POINT)
#undef LND_HOST_POINT
};

static int lnd_host_get_points(char *buffer, const struct kernel_param *param)
{
	unsigned int i;
	int at = 0;

	for (i = 0; i < ARRAY_SIZE(lnd_host_points); i++)
		at += scnprintf(buffer + at, PAGE_SIZE - at, "%s %s\n", lnd_host_points[i].name,
				lnd_host_points[i].where);
	return at;
}

static const struct kernel_param_ops lnd_host_points_ops = { .get = lnd_host_get_points };
module_param_cb(points, &lnd_host_points_ops, NULL, 0444);
MODULE_PARM_DESC(points, "tests: every exit path and its circumstances (faults.h)");

static int lnd_host_set_fail(const char *value, const struct kernel_param *param)
{
	int rc = param_set_uint(value, param);

	if (!rc) {
		WRITE_ONCE(fired, 0);
		/* Release: the words that select the calls come first. */
		atomic_set_release(&lnd_host_countdown, fail);
	}
	return rc;
}

/**
 * lnd_host_fault() - Whether this call must fail.
 * @point: the call.
 *
 * Context: thread.
 * Return: true if it must.
 */
bool lnd_host_fault(enum lnd_host_point point)
{
	const char *name = lnd_host_points[point].name;
	int left;

	/* Acquire: partner is lnd_host_set_fail(). */
	if (atomic_read_acquire(&lnd_host_countdown) <= 0 &&
	    !(READ_ONCE(fail_on) && READ_ONCE(fired)))
		return false;
	if (!strstarts(current->comm, fail_in) || !strstarts(name, fail_at))
		return false;
	if (point == LND_HOST_AT_FRAME && lnd_host_loses("mute"))
		return false;
	left = atomic_dec_if_positive(&lnd_host_countdown);
	if (left != 0 && !(left < 0 && READ_ONCE(fail_on) && READ_ONCE(fired)))
		return false;
	WRITE_ONCE(fired, READ_ONCE(fired) + 1);
	if (left == 0)
		pr_info("on request: %s fails in %s\n", name, current->comm);
	return true;
}

/**
 * lnd_host_starves() - Whether this allocation must fail.
 * @gfp: its flags.
 * @point: the purpose.
 *
 * Context: thread.
 * Return: true if it must.
 */
bool lnd_host_starves(gfp_t gfp, enum lnd_host_point point)
{
	if (READ_ONCE(starve) && !gfpflags_allow_blocking(gfp))
		return true;
	return lnd_host_fault(point);
}

/**
 * lnd_host_taken() - Records an exit path that no failing call leads to.
 * @point: the exit path.
 *
 * Context: thread.
 */
void lnd_host_taken(enum lnd_host_point point)
{
	pr_info("taken: %s in %s\n", lnd_host_points[point].name, current->comm);
}

/**
 * lnd_host_loses() - Whether a seeded defect of an exit path is active.
 * @what: the defect.
 *
 * Context: thread.
 * Return: true if it is.
 */
bool lnd_host_loses(const char *what)
{
	return !strcmp(lose, what);
}

#endif
