// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Cases: errors, and the life of NIs. */
#include <linux/delay.h>

#include "stub.h"

#define FROM (stub.nis[0])
#define TO (stub.nis[1])

static void stub_to_absent(const struct lnet_nid *target, bool get)
{
	struct stub_op *op = stub_op_new(FROM, FROM, get, 5000);

	if (!op)
		return;
	op->may_fail = true;
	op->target = *target;
	stub_op_start(op);
	stub_op_wait(op);
}

/* A NID of the network that no NI has. */
static struct lnet_nid stub_absent(void)
{
	struct lnet_nid absent = FROM->ni.ni_nid;

	absent.nid_addr[0] = cpu_to_be32(0x7ffffff0);
	return absent;
}

static const char *error_unreachable(void)
{
	struct lnet_nid absent = stub_absent();

	stub_to_absent(&absent, false);
	stub_to_absent(&absent, true);
	return NULL;
}

/* The other machine's NI goes: in the end a GET to it fails. */
static void stub_gone(void)
{
	unsigned long limit = jiffies + stub_limit();
	struct stub_op *op;

	do {
		msleep(20);
		op = stub_op_new(FROM, TO, true, 5000);
		if (!op)
			return;
		op->may_fail = true;
		stub_op_start(op);
		if (!stub_op_wait(op) || op->failed || op->refused)
			return;
	} while (time_before(jiffies, limit));
	stub_violation(STUB_STATUS_OK, "an NI that has gone still answers");
}

static const char *error_peer_gone(void)
{
	struct lnet_nid gone = TO->ni.ni_nid;
	struct stub_op *op = stub_op_new(FROM, TO, false, 100);

	if (!op)
		return NULL;
	op->leave = stub_between();
	stub_op_start(op);
	stub_op_wait(op);
	if (op->leave)
		stub_gone();
	stub_ni_stop(1);
	stub_to_absent(&gone, false);
	stub_to_absent(&gone, true);
	return NULL;
}

static const char *error_simulated(void)
{
	static const enum lnet_msg_hstatus health[] = {
		LNET_MSG_STATUS_LOCAL_DROPPED, LNET_MSG_STATUS_REMOTE_TIMEOUT,
		LNET_MSG_STATUS_NETWORK_TIMEOUT,
	};
	struct stub_op *op = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(health); i++) {
		op = stub_op_new(FROM, TO, i == 1, 5000);
		if (!op)
			return NULL;
		stub.simulate_as = health[i];
		op->simulate = true;
		op->may_fail = true;
		stub_op_start(op);
		if (!stub_op_wait(op))
			return NULL;
	}
	return op->simulated ? NULL : "the LND does not call lnet_send_error_simulation()";
}

static const char *ni_cycles(void)
{
	unsigned int cycle, i;

	for (cycle = 0; cycle < 10; cycle++) {
		struct stub_op *op;

		if (!stub_nis_start())
			return NULL;
		op = stub_op_new(FROM, TO, cycle % 2, 2000);
		if (!op)
			return NULL;
		stub_op_start(op);
		if (!stub_op_wait(op))
			return NULL;
		for (i = 0; i < STUB_NIS; i++)
			stub_ni_stop(i);
	}
	return NULL;
}

static const char *ni_bad(void)
{
	int rc;

	if (!stub_bad)
		return "no bad= names an interface that must be refused";
	rc = stub_ni_start(0, stub_bad);
	if (rc >= 0)
		stub_violation(STUB_NI_START, "lnd_startup() accepts the interface %s", stub_bad);
	return NULL;
}

/* Both NIs go in the middle of it. */
static const char *shutdown_busy(void)
{
	unsigned int i;

	for (i = 0; i < 40; i++) {
		struct stub_op *op = stub_either(i % 2, i % 4 < 2, 9000);

		if (!op)
			return NULL;
		op->may_fail = true;
		op->hold = STUB_HOLD_ALL;
		op->decision = !op->get && i % 8 > 4 ? STUB_DELAY : STUB_TAKE;
		stub_op_start(op);
	}
	stub_ni_stop(0);
	stub_ni_stop(1);
	return NULL;
}

/* The peer holds what it has got, so that nothing more gets through. */
static const char *shutdown_held(void)
{
	unsigned int i;

	for (i = 0; i < 2 * 64; i++) {
		struct stub_op *op = stub_op_new(FROM, TO, i % 4 == 3, 5000);

		if (!op)
			return NULL;
		op->may_fail = true;
		op->hold = STUB_HOLD_ALL;
		op->decision = op->get ? STUB_TAKE : STUB_DELAY;
		stub_op_start(op);
	}
	if (stub_between())
		msleep(100);
	stub_held(1);
	stub_ni_stop(0);
	return NULL;
}

/* More credits of a peer than there are: refused, or lowered. */
static const char *ni_credits(void)
{
	static const struct lnet_ioctl_config_lnd_cmn_tunables preset = {
		.lct_peer_timeout = -1, .lct_peer_tx_credits = 8, .lct_peer_rtr_credits = -1,
		.lct_max_tx_credits = 4,
	};
	struct lnet_ioctl_config_lnd_cmn_tunables *are;

	stub.preset = &preset;
	if (!stub_ni_start(0, stub_interfaces[0])) {
		are = &FROM->net.net_tunables;
		if (are->lct_peer_tx_credits > are->lct_max_tx_credits)
			stub_violation(STUB_NI_CREDITS, "%d of a peer, and %d of all",
				       are->lct_peer_tx_credits, are->lct_max_tx_credits);
	}
	stub.preset = NULL;
	return NULL;
}

static const char *callbacks(void)
{
	/* What is not set, an LND may leave so until its NI starts. */
	struct lnet_ioctl_config_lnd_cmn_tunables common = {
		.lct_peer_timeout = -1, .lct_peer_tx_credits = -1, .lct_peer_rtr_credits = -1,
		.lct_max_tx_credits = -1,
	};
	struct lnet_lnd_tunables tunables = { };
	struct lnet_nid absent = stub_absent();

	if (stub.lnd->lnd_notify_peer_down)
		stub.lnd->lnd_notify_peer_down(&absent);
	if (stub.lnd->lnd_get_timeout && stub.lnd->lnd_get_timeout() <= 0)
		stub_violation(STUB_NI_START, "lnd_get_timeout() is %d",
			       stub.lnd->lnd_get_timeout());
	if (stub.lnd->lnd_tun_defaults &&
	    (stub.lnd->lnd_tun_defaults(&tunables, &common) || !common.lct_peer_tx_credits ||
	     common.lct_peer_tx_credits < -1))
		stub_violation(STUB_NI_CREDITS, "lnd_tun_defaults() gives %d peer credits",
			       common.lct_peer_tx_credits);
	return NULL;
}

const struct stub_case stub_error_cases[] = {
	{ "error.unreachable", error_unreachable },
	{ "error.peer_gone", error_peer_gone },
	{ "error.simulated", error_simulated },
	{ "ni.cycles", ni_cycles, .starts_by_itself = true },
	{ "ni.bad", ni_bad, .starts_by_itself = true, .alone = true },
	{ "ni.credits", ni_credits, .starts_by_itself = true, .alone = true },
	{ "ni.tunables", stub_tunables, .alone = true },
	{ "shutdown.busy", shutdown_busy, .both = true },
	{ "shutdown.held", shutdown_held },
	{ "callbacks", callbacks, .alone = true },
	{ }
};
