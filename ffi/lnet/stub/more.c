// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Cases: credits, sending from within LNet's calls, traffic. */
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
			ops[i]->hold = size;
			ops[i]->may_fail = decision == STUB_REFUSE;
			stub_op_start(ops[i]);
		}
		if (decision >= STUB_DELAY)
			stub_held(size);
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

/* Receives what was delayed until all have ended. */
static void wait_for_all(struct stub_op **ops, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		unsigned int naps = stub_limit_ms / 20;

		for (; naps && !stub_op_done(ops[i]); naps--) {
			stub_delayed_release(NULL, false);
			msleep(20);
		}
		if (!stub_op_wait(ops[i]))
			return;
	}
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
		ops[i]->hold = size / 2;
		stub_op_start(ops[i]);
	}
	wait_for_all(ops, size);
	return NULL;
}

static atomic_t stub_chain;

/* Called by lnet_finalize(): sends the next one. */
static void stub_chain_on(struct stub_op *op)
{
	struct stub_op *next;

	if (op->sent_status || atomic_dec_return(&stub_chain) < 0)
		return;
	/* Back to where it came from; from another machine nothing is sent here. */
	next = stub_between() ? stub_op_new(op->from, op->to, false, 64) :
				stub_op_new(op->to, op->from, false, 64);
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

/* Called by lnet_parse(). */
static void stub_send_back(struct stub_op *op)
{
	stub_backs = stub_op_back(op, stub_back);
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
	op->back = min(FROM->credits, STUB_BATCH_MOST);
	op->hold = 1;
	stub_backs = 0;
	stub_op_start(op);
	if (decision == STUB_DELAY) {
		stub_held(held + 1);
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
		held[i]->hold = STUB_HOLD_ALL;
		stub_op_start(held[i]);
	}
	stub_held(size / 2);
	for (i = 0; i < 2 * size; i++)
		if (!stub_parse_sends(decisions[i % ARRAY_SIZE(decisions)]))
			return NULL;
	if (!stub_parse_sends(STUB_DELAY))
		return NULL;
	for (i = 0; i < size / 2; i++)
		stub_op_wait(held[i]);
	return NULL;
}

/* Both ways; with two machines each has its own way. Context: thread. */
struct stub_op *stub_either(bool there, bool get, unsigned int length)
{
	there = there || stub_between();
	return stub_op_new(there ? FROM : TO, there ? TO : FROM, get, length);
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
		ops[i] = stub_either(i % 2, i % 3 == 0, lengths[i % ARRAY_SIZE(lengths)]);
		if (!ops[i])
			return NULL;
		ops[i]->hold = 1;
		if (!ops[i]->get) {
			ops[i]->decision = decisions[i % ARRAY_SIZE(decisions)];
			ops[i]->ack = ops[i]->decision == STUB_TAKE && i % 4 == 0;
		}
		stub_op_start(ops[i]);
		if (i % 16 == 15)
			stub_delayed_release(NULL, false);
	}
	wait_for_all(ops, ARRAY_SIZE(ops));
	return NULL;
}

/*
 * More bytes both ways than an LND can have under way, and all are to be received when no more can
 * be sent. What waits to be received must leave room to receive: else two NIs wait for each other
 * until their deadlines (INV-11).
 */
static const char *traffic_bulk(void)
{
	struct stub_op *ops[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		ops[i] = stub_either(i % 2, false, 0x7f000);
		if (!ops[i] || !stub_op_memory(ops[i], 0, 0))
			return NULL;
		ops[i]->decision = STUB_DELAY;
		ops[i]->hold = 1;
	}
	/* Each has the time that LNet gives it: so much takes a slow machine longer. */
	stub_limit_ms *= 4;
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		stub_op_start(ops[i]);
	wait_for_all(ops, ARRAY_SIZE(ops));
	stub_limit_ms /= 4;
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
	{ "traffic.mixed", traffic_mixed, .both = true },
	{ "traffic.bulk", traffic_bulk, .both = true },
	{ }
};
