// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Cases: credits, traffic, errors, the life of NIs. */
#include <linux/delay.h>

#include "stub.h"

#define FROM (stub.nis[0])
#define TO (stub.nis[1])

/* Each of some batches is as large as the credits are, and must end before the next one begins. */
#define STUB_BATCHES 4
#define STUB_BATCH_MOST 64

static void stub_credits(enum stub_decision decision)
{
	struct stub_op *ops[STUB_BATCH_MOST];
	unsigned int batch, i, size = min(FROM->credits, STUB_BATCH_MOST);

	stub.credits = true;
	for (batch = 0; batch < STUB_BATCHES; batch++) {
		for (i = 0; i < size; i++) {
			ops[i] = stub_op_new(FROM, TO, false, 200);
			if (!ops[i])
				return;
			ops[i]->decision = decision;
			ops[i]->may_fail = decision == STUB_REFUSE;
			stub_op_start(ops[i]);
		}
		if (decision >= STUB_DELAY)
			wait_event_timeout(stub.changed, stub_delayed_count() == size,
					   msecs_to_jiffies(stub_limit_ms / 2));
		stub_delayed_release(NULL, false);
		for (i = 0; i < size; i++)
			if (!stub_op_wait(ops[i]))
				return;
	}
}

static const char *credits_taken(void)
{
	stub_credits(STUB_TAKE);
	return NULL;
}

static const char *credits_dropped(void)
{
	stub_credits(STUB_NO_MATCH);
	return NULL;
}

static const char *credits_refused(void)
{
	stub_credits(STUB_REFUSE);
	return NULL;
}

static const char *credits_delayed(void)
{
	stub_credits(STUB_DELAY);
	return NULL;
}

static const char *credits_eager(void)
{
	if (!stub.lnd->lnd_eager_recv)
		return "the LND has no lnd_eager_recv()";
	stub_credits(STUB_EAGER);
	return NULL;
}

/* The target holds all it gets; lnd_send() returns all the same. */
static const char *send_prompt(void)
{
	struct stub_op *ops[STUB_BATCH_MOST];
	unsigned int i, size = min(2 * FROM->credits, STUB_BATCH_MOST);

	for (i = 0; i < size; i++) {
		ops[i] = stub_op_new(FROM, TO, false, 200);
		if (!ops[i])
			return NULL;
		ops[i]->decision = STUB_DELAY;
		stub_op_start(ops[i]);
	}
	for (i = 0; i < size; i++) {
		unsigned int naps = stub_limit_ms / 20;

		for (; naps && !stub_op_done(ops[i]); naps--) {
			stub_delayed_release(NULL, false);
			msleep(20);
		}
		if (!stub_op_wait(ops[i]))
			return NULL;
	}
	return NULL;
}

static atomic_t stub_chain;

/* Called by lnet_finalize(): sends the next one. */
static void stub_chain_on(struct stub_op *op)
{
	struct stub_op *next;

	if (op->sent_status || atomic_dec_return(&stub_chain) < 0)
		return;
	next = stub_op_new(op->to, op->from, false, 64);
	if (!next)
		return;
	next->then = stub_chain_on;
	stub_op_start(next);
}

static const char *reentry_finalize(void)
{
	struct stub_op *op = stub_op_new(FROM, TO, false, 64);

	atomic_set(&stub_chain, 100);
	if (!op)
		return NULL;
	op->then = stub_chain_on;
	stub_op_start(op);
	if (!wait_event_timeout(stub.changed, atomic_read(&stub_chain) < 0, stub_limit()))
		stub_violation(STUB_LOST, "%d of 100 messages are left", atomic_read(&stub_chain));
	stub_op_wait(op);
	return NULL;
}

static struct stub_op *stub_back[STUB_BATCH_MOST];
static unsigned int stub_backs;

/* Called by lnet_parse(): sends as much as there are credits, long enough to stay under way. */
static void stub_send_back(struct stub_op *op)
{
	while (stub_backs < min(op->to->credits, STUB_BATCH_MOST)) {
		struct stub_op *back = stub_op_new(op->to, op->from, false, 9000);

		if (!back)
			return;
		stub_back[stub_backs++] = back;
		stub_op_start(back);
	}
}

/* One message, in whose lnet_parse() others are sent; all of them end. */
static bool stub_parse_sends(enum stub_decision decision)
{
	struct stub_op *op = stub_op_new(FROM, TO, false, 200);
	unsigned int held = stub_delayed_count();

	if (!op)
		return false;
	op->decision = decision;
	op->may_fail = decision == STUB_REFUSE;
	op->on_parse = stub_send_back;
	stub_backs = 0;
	stub_op_start(op);
	if (decision == STUB_DELAY) {
		wait_event_timeout(stub.changed, stub_delayed_count() > held, stub_limit());
		stub_delayed_release(NULL, false);
	}
	if (!stub_op_wait(op))
		return false;
	while (stub_backs)
		if (!stub_op_wait(stub_back[--stub_backs]))
			return false;
	return true;
}

/* Half of the credits is held, and what an LND has of slots or buffers goes to what is sent. */
static const char *reentry_parse(void)
{
	static const enum stub_decision decisions[] = { STUB_TAKE, STUB_NO_MATCH, STUB_REFUSE };
	unsigned int i, size = min(FROM->credits, STUB_BATCH_MOST);
	struct stub_op *held[STUB_BATCH_MOST];

	stub.credits = true;
	for (i = 0; i < size / 2; i++) {
		held[i] = stub_op_new(FROM, TO, false, 200);
		if (!held[i])
			return NULL;
		held[i]->decision = STUB_DELAY;
		stub_op_start(held[i]);
	}
	wait_event_timeout(stub.changed, stub_delayed_count() == size / 2, stub_limit());
	for (i = 0; i < 2 * size; i++)
		if (!stub_parse_sends(decisions[i % ARRAY_SIZE(decisions)]))
			return NULL;
	if (!stub_parse_sends(STUB_DELAY))
		return NULL;
	for (i = 0; i < size / 2; i++)
		stub_op_wait(held[i]);
	return NULL;
}

static const char *traffic_mixed(void)
{
	static const unsigned int lengths[] = { 1, 300, 4096, 9000, 33000 };
	static const enum stub_decision decisions[] = {
		STUB_TAKE, STUB_TAKE, STUB_NO_MATCH, STUB_DELAY, STUB_TAKE, STUB_TAKE, STUB_EAGER,
	};
	struct stub_op *ops[140];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		ops[i] = stub_op_new(i % 2 ? FROM : TO, i % 2 ? TO : FROM, i % 3 == 0,
				     lengths[i % ARRAY_SIZE(lengths)]);
		if (!ops[i])
			return NULL;
		if (!ops[i]->get) {
			ops[i]->decision = decisions[i % ARRAY_SIZE(decisions)];
			ops[i]->ack = ops[i]->decision == STUB_TAKE && i % 4 == 0;
		}
		stub_op_start(ops[i]);
		if (i % 16 == 15)
			stub_delayed_release(NULL, false);
	}
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		unsigned int naps = stub_limit_ms / 20;

		for (; naps && !stub_op_done(ops[i]); naps--) {
			stub_delayed_release(NULL, false);
			msleep(20);
		}
		if (!stub_op_wait(ops[i]))
			return NULL;
	}
	return NULL;
}

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

static const char *error_peer_gone(void)
{
	struct lnet_nid gone = TO->ni.ni_nid;
	struct stub_op *op = stub_op_new(FROM, TO, false, 100);

	if (!op)
		return NULL;
	stub_op_start(op);
	stub_op_wait(op);
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

static bool stub_start_both(void)
{
	unsigned int i;

	for (i = 0; i < STUB_NIS; i++) {
		int rc = stub_ni_start(i, stub_interfaces[i]);

		if (rc) {
			stub_violation(STUB_NI_START, "%s: %d", stub_interfaces[i], rc);
			return false;
		}
	}
	return true;
}

static const char *ni_cycles(void)
{
	unsigned int cycle, i;

	for (cycle = 0; cycle < 10; cycle++) {
		struct stub_op *op;

		if (!stub_start_both())
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
		struct stub_op *op = stub_op_new(i % 2 ? FROM : TO, i % 2 ? TO : FROM, i % 4 < 2,
						 9000);

		if (!op)
			return NULL;
		op->may_fail = true;
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

	for (i = 0; i < 2 * STUB_BATCH_MOST; i++) {
		struct stub_op *op = stub_op_new(FROM, TO, i % 4 == 3, 5000);

		if (!op)
			return NULL;
		op->may_fail = true;
		op->decision = op->get ? STUB_TAKE : STUB_DELAY;
		stub_op_start(op);
	}
	wait_event_timeout(stub.changed, stub_delayed_count(), stub_limit());
	stub_ni_stop(0);
	return NULL;
}

static const char *callbacks(void)
{
	struct lnet_ioctl_config_lnd_cmn_tunables common = { 0 };
	struct lnet_lnd_tunables tunables = { };
	struct lnet_nid absent = stub_absent();

	if (stub.lnd->lnd_notify_peer_down)
		stub.lnd->lnd_notify_peer_down(&absent);
	if (stub.lnd->lnd_get_timeout && stub.lnd->lnd_get_timeout() <= 0)
		stub_violation(STUB_NI_START, "lnd_get_timeout() is %d",
			       stub.lnd->lnd_get_timeout());
	if (stub.lnd->lnd_tun_defaults &&
	    (stub.lnd->lnd_tun_defaults(&tunables, &common) || common.lct_peer_tx_credits < 1))
		stub_violation(STUB_NI_CREDITS, "lnd_tun_defaults() gives %d peer credits",
			       common.lct_peer_tx_credits);
	return NULL;
}

const struct stub_case stub_more_cases[] = {
	{ "credits.taken", credits_taken },
	{ "credits.dropped", credits_dropped },
	{ "credits.refused", credits_refused },
	{ "credits.delayed", credits_delayed },
	{ "credits.eager", credits_eager },
	{ "send.prompt", send_prompt },
	{ "reentry.finalize", reentry_finalize },
	{ "reentry.parse", reentry_parse },
	{ "traffic.mixed", traffic_mixed },
	{ "error.unreachable", error_unreachable },
	{ "error.peer_gone", error_peer_gone },
	{ "error.simulated", error_simulated },
	{ "ni.cycles", ni_cycles, true },
	{ "ni.bad", ni_bad, true },
	{ "shutdown.busy", shutdown_busy },
	{ "shutdown.held", shutdown_held },
	{ "callbacks", callbacks },
	{ }
};
