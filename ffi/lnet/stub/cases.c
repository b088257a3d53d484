// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Cases: what a transfer is, with nothing in its way. docs/conformance.md has a row for each. */
#include "stub.h"

#define FROM (stub.nis[0])
#define TO (stub.nis[1])

static struct stub_op *stub_start(bool get, unsigned int length, unsigned int offset,
				  unsigned int fragment)
{
	struct stub_op *op = stub_op_new(FROM, TO, get, length);

	if (op && stub_op_memory(op, offset, fragment))
		stub_op_start(op);
	return op;
}

static void stub_sizes(bool get)
{
	static const unsigned int sizes[] = { 0, 1, 7, 511, 1024, 4095, 4096, 4097, 65536, 65535 };
	struct stub_op *op;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		/* A GET asks for something. */
		op = stub_start(get, get ? max(sizes[i], 1U) : sizes[i], 0, 0);
		if (op && !stub_op_wait(op))
			return;
	}
	op = stub_start(get, LNET_MTU - PAGE_SIZE, 0, 0);
	if (op)
		stub_op_wait(op);
}

static void stub_fragments(bool get)
{
	static const struct {
		unsigned int length, offset, fragment;
	} shapes[] = {
		{ 100, 10, 0 }, { 5000, 0, 96 }, { 5000, 120, 96 }, { 9000, 4500, 1000 },
		{ 1, 4096, 8 }, { 20000, 8191, 4000 },
	};
	struct stub_op *op;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		/* The sink of a GET begins where its memory does. */
		op = stub_start(get, shapes[i].length, get ? 0 : shapes[i].offset,
				shapes[i].fragment);
		if (op && !stub_op_wait(op))
			return;
	}
}

static bool stub_one(bool get, unsigned int length, unsigned int taken, enum stub_decision decision,
		     bool may_fail)
{
	struct stub_op *op = stub_op_new(FROM, TO, get, length);

	if (!op)
		return false;
	op->taken = taken;
	op->decision = decision;
	op->may_fail = may_fail;
	stub_op_start(op);
	return stub_op_wait(op);
}

static const char *put_sizes(void)
{
	stub_sizes(false);
	return NULL;
}

static const char *put_fragments(void)
{
	stub_fragments(false);
	return NULL;
}

static const char *put_truncated(void)
{
	if (stub_one(false, 1000, 999, STUB_TAKE, false) &&
	    stub_one(false, 1000, 0, STUB_TAKE, false))
		stub_one(false, 20000, 5001, STUB_TAKE, false);
	return NULL;
}

/* One whose end is acknowledged, or whose next hop is a router. */
static const char *stub_marked(bool get, unsigned int length, bool ack, bool router)
{
	struct stub_op *op = stub_op_new(FROM, TO, get, length);

	if (!op)
		return NULL;
	op->ack = ack;
	op->router = router;
	stub_op_start(op);
	stub_op_wait(op);
	return NULL;
}

static const char *put_ack(void)
{
	return stub_marked(false, 300, true, false);
}

static const char *put_no_match(void)
{
	if (stub_one(false, 100, 0, STUB_NO_MATCH, false))
		stub_one(false, 100000, 0, STUB_NO_MATCH, false);
	return NULL;
}

static const char *put_refused(void)
{
	if (stub_one(false, 100, 0, STUB_REFUSE, true))
		stub_one(false, 100000, 0, STUB_REFUSE, true);
	return NULL;
}

static const char *put_routed(void)
{
	return stub_marked(false, 6000, false, true);
}

/* Beyond the router is a NID of 16 bytes, which only the header has. */
static const char *put_large_nid(void)
{
	struct stub_op *op = stub_op_new(FROM, TO, false, 6000);

	if (!op)
		return NULL;
	op->router = true;
	op->large_nid = true;
	stub_op_start(op);
	stub_op_wait(op);
	return NULL;
}

static const char *get_sizes(void)
{
	stub_sizes(true);
	return NULL;
}

static const char *get_fragments(void)
{
	stub_fragments(true);
	return NULL;
}

static const char *get_short(void)
{
	if (stub_one(true, 500, 1, STUB_TAKE, false))
		stub_one(true, 20000, 10001, STUB_TAKE, false);
	return NULL;
}

static const char *get_no_match(void)
{
	if (stub_one(true, 500, 0, STUB_NO_MATCH, true))
		stub_one(true, 50000, 0, STUB_NO_MATCH, true);
	return NULL;
}

static const char *get_refused(void)
{
	if (stub_one(true, 500, 0, STUB_REFUSE, true))
		stub_one(true, 50000, 0, STUB_REFUSE, true);
	return NULL;
}

static const char *get_router(void)
{
	return stub_marked(true, 50000, false, true);
}

/* Delayed and then received or discarded, from another thread than lnet_parse() was called in. */
static void stub_late(enum stub_decision decision)
{
	static const unsigned int lengths[] = { 0, 100, 70000 };
	struct stub_op *ops[ARRAY_SIZE(lengths)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		ops[i] = stub_op_new(FROM, TO, false, lengths[i]);
		if (!ops[i])
			return;
		ops[i]->decision = decision;
		ops[i]->hold = 1;
		stub_op_start(ops[i]);
		if (!stub_held(1) && !ops[i]->failed)
			stub_violation(STUB_LOST, "a PUT of %u bytes is not parsed", lengths[i]);
		stub_delayed_release(NULL, false);
		stub_op_wait(ops[i]);
	}
}

static const char *recv_delayed(void)
{
	stub_late(STUB_DELAY);
	return NULL;
}

static const char *recv_eager(void)
{
	if (!stub.lnd->lnd_eager_recv)
		return "the LND has no lnd_eager_recv()";
	stub_late(STUB_EAGER);
	return NULL;
}

static const char *recv_discarded(void)
{
	stub_late(STUB_DISCARD);
	return NULL;
}

static const char *own_nid(void)
{
	struct stub_op *put = stub_op_new(FROM, FROM, false, 5000);
	struct stub_op *get = stub_op_new(TO, TO, true, 5000);

	if (!put || !get)
		return NULL;
	stub_op_start(put);
	stub_op_start(get);
	stub_op_wait(put);
	stub_op_wait(get);
	return NULL;
}

const struct stub_case stub_cases[] = {
	{ "put.sizes", put_sizes },
	{ "put.fragments", put_fragments },
	{ "put.truncated", put_truncated },
	{ "put.ack", put_ack },
	{ "put.no_match", put_no_match },
	{ "put.refused", put_refused },
	{ "put.routed", put_routed },
	{ "put.large_nid", put_large_nid },
	{ "get.sizes", get_sizes },
	{ "get.fragments", get_fragments },
	{ "get.short", get_short },
	{ "get.no_match", get_no_match },
	{ "get.refused", get_refused },
	{ "get.router", get_router },
	{ "recv.delayed", recv_delayed },
	{ "recv.eager", recv_eager },
	{ "recv.discarded", recv_discarded },
	{ "own_nid", own_nid, .alone = true },
	{ }
};
