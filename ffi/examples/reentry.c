// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Calls from contexts that must not make them: inside the platform's own operations, in an
 * interrupt, in the callback that they would call, past a lock that does not exclude; and decisions
 * that do not match their request.
 */
#include "world.h"

#include <string.h>

static struct world world;
static struct lnd_ops usual;
static unsigned int tried, in_interrupt, another, held;
static enum lnd_error wanted = LND_E_REENTRY;

/* Every kind of call that takes the lock; all must be refused. */
static void try_calls(struct node *node)
{
	struct lnd_arrival arrival = { .size = sizeof(arrival) };
	struct lnd_stats stats = { .size = sizeof(stats) };
	uint64_t next;
	uint32_t state;

	/* During creation there is no NI yet. */
	if (!node->ni)
		return;
	tried++;
	FAILS(wanted, node_put(node, 0, 0, 10, NULL));
	FAILS(wanted, lnd_run(node->ni, world.now, 1, &next));
	FAILS(wanted, lnd_peer_event(node->ni, lnd_soft_nid(0), 0, world.now));
	FAILS(wanted, lnd_peer_ask(node->ni, lnd_soft_nid(0), world.now));
	FAILS(wanted, lnd_connection_up(node->ni, 0, lnd_soft_nid(0), world.now));
	FAILS(wanted, lnd_connection_down(node->ni, 0, lnd_soft_nid(0), 1, world.now));
	FAILS(wanted, lnd_connection_stopped(node->ni, 0, lnd_soft_nid(0), 1, world.now));
	FAILS(wanted, lnd_stats_get(node->ni, &stats));
	FAILS(wanted, lnd_run_state_get(node->ni, &state));
	FAILS(wanted, lnd_shutdown(node->ni, world.now, world.now));
	FAILS(wanted, lnd_ni_destroy(node->ni));
	FAILS(wanted, lnd_frame_in(node->ni, 0, LND_NID_UNKNOWN, "", 0, world.now, &arrival));
}

static uint32_t reg_read32(void *ctx, uint32_t link, uint32_t offset)
{
	try_calls(ctx);
	return usual.reg_read32(ctx, link, offset);
}

static void reg_write32(void *ctx, uint32_t link, uint32_t offset, uint32_t value)
{
	try_calls(ctx);
	usual.reg_write32(ctx, link, offset, value);
}

static uint32_t reaches(void *ctx, uint64_t nid)
{
	try_calls(ctx);
	return usual.reaches(ctx, nid);
}

static uint32_t ready(void *ctx, uint32_t link, uint64_t nid, uint32_t lane)
{
	try_calls(ctx);
	return usual.ready(ctx, link, nid, lane);
}

static uint32_t op_send(void *ctx, const struct lnd_frame *frame)
{
	struct lnd_message second = frame->message;
	struct node *node = ctx;
	uint32_t sent;

	try_calls(ctx);
	sent = usual.send(ctx, frame);
	/* The end of another node's message is refused; our own may be reported from here. */
	if (frame->tracked && sent == LND_SEND_DONE) {
		FAILS(LND_E_FOREIGN, lnd_sent(world.node[1 - node->number].ni, second, LND_SENT_OK,
					      world.now));
		MUST(lnd_sent(node->ni, second, LND_SENT_OK, world.now));
		sent = LND_SEND_PENDING;
	}
	return sent;
}

static uint32_t mem_valid(void *ctx, uint64_t addr, uint32_t len)
{
	struct lnd_stats stats = { .size = sizeof(stats) };
	struct node *node = ctx;
	unsigned int before = held;

	try_calls(ctx);
	/* Another context enters although the lock is held: it does not exclude. */
	another = 1;
	FAILS(LND_E_BUSY, lnd_stats_get(node->ni, &stats));
	another = 0;
	CHECK(held == before);
	return usual.mem_valid(ctx, addr, len);
}

static void trace(void *ctx, const struct lnd_trace *record)
{
	CHECK(record->size == sizeof(*record) && record->kind >= LND_TRACE_ACCEPTED);
	try_calls(ctx);
}

static uint32_t context(void *ctx)
{
	(void)ctx;
	return in_interrupt ? LND_CONTEXT_INTERRUPT : LND_CONTEXT_THREAD;
}

/* A lock that never blocks, and an id that can be changed: in effect a second thread. */
static void lock(void *ctx)
{
	(void)ctx;
	held++;
}

static void unlock(void *ctx)
{
	(void)ctx;
	CHECK(held);
	held--;
}

static uint32_t self_id(void *ctx)
{
	(void)ctx;
	return another ? 2 : 1;
}

/* Nothing is held between a frame and its decision. */
static enum lnd_error decide(struct node *node, const struct lnd_arrival *arrival)
{
	struct lnd_frag frag = { .addr = 0, .len = 100 };
	struct lnd_decision decision = { .size = sizeof(decision), .frags = &frag, .nfrags = 1 };
	struct lnd_request forged = arrival->request;
	enum lnd_error error;
	uint32_t state;

	tried++;
	CHECK(!held);
	decision.deadline = LND_NEVER;
	MUST(lnd_run_state_get(node->ni, &state));
	FAILS(LND_E_RUNNING, lnd_ni_destroy(node->ni));
	/* Decisions that do not match leave the request unchanged. */
	FAILS(LND_E_FOREIGN, lnd_recv(world.node[1 - node->number].ni, arrival->request, &decision,
				      world.now, NULL, NULL));
	forged.generation++;
	FAILS(LND_E_STALE, lnd_recv(node->ni, forged, &decision, world.now, NULL, NULL));
	decision.len = arrival->len + 1;
	if (arrival->kind == LND_REQUEST_GET) {
		FAILS(LND_E_WRONG_KIND,
		      lnd_recv(node->ni, arrival->request, &decision, world.now, NULL, NULL));
		FAILS(LND_E_TOO_LONG,
		      lnd_reply(node->ni, arrival->request, &decision, world.now, NULL));
	} else {
		FAILS(LND_E_TOO_LONG,
		      lnd_recv(node->ni, arrival->request, &decision, world.now, NULL, NULL));
		FAILS(LND_E_WRONG_KIND,
		      lnd_reply(node->ni, arrival->request, &decision, world.now, NULL));
	}
	decision.nfrags = LND_MAX_FRAGMENTS + 1;
	FAILS(LND_E_FRAGMENTS,
	      lnd_recv(node->ni, arrival->request, &decision, world.now, NULL, NULL));
	error = node_decide(node, arrival);
	FAILS(LND_E_STALE, lnd_nak(node->ni, arrival->request, LND_NAK_FAILED, world.now));
	return error;
}

static void finalize(void *ctx, const struct lnd_report *report)
{
	struct node *node = ctx;
	uint64_t next;

	tried++;
	usual.finalize(ctx, report);
	FAILS(LND_E_REENTRY, lnd_run(node->ni, world.now, 1, &next));
	FAILS(LND_E_STALE, lnd_withdraw(node->ni, report->transfer, world.now));
	FAILS(LND_E_BUSY, lnd_ni_destroy(node->ni));
	/* Submitting from here is normal for an upper layer. */
	if (node->reports == 1)
		MUST(node_put(node, 0, 0, 5000, NULL));
}

int main(void)
{
	struct lnd_ops ops;
	struct lnd_stats stats = { .size = sizeof(stats) };
	struct node *a = &world.node[0], *b = &world.node[1];
	uint64_t next;

	usual = world_ops();
	ops = usual;
	ops.lock = lock;
	ops.unlock = unlock;
	ops.self_id = self_id;
	ops.context = context;
	ops.reg_read32 = reg_read32;
	ops.reg_write32 = reg_write32;
	ops.reaches = reaches;
	ops.ready = ready;
	ops.send = op_send;
	ops.mem_valid = mem_valid;
	ops.trace = trace;
	world.decide = decide;
	ops.finalize = finalize;
	world_open(&world, &ops);

	MUST(node_put(a, 0, 0, 100, NULL));
	MUST(node_put(a, 0, 4096, 30000, NULL));
	MUST(node_get(a, 65536, 0, 30000, NULL));
	CHECK(world_run(&world, 2000 * MS, &a->reports, 4));
	world_run(&world, 10 * MS, NULL, 0);
	CHECK(tried > 100 && !a->failures && !b->failures);
	MUST(lnd_stats_get(a->ni, &stats));
	CHECK(stats.misuses >= a->bugs && a->bugs > 100);
	printf("reentry: %u places tried\n", tried);

	/* In an interrupt. */
	in_interrupt = 1;
	wanted = LND_E_CONTEXT;
	try_calls(a);
	in_interrupt = 0;
	wanted = LND_E_REENTRY;
	MUST(lnd_interrupt(a->ni, 0, 8, world.now, NULL));
	MUST(lnd_audit(a->ni));
	CHECK(!held);
	printf("reentry: interrupts refused\n");

	MUST(lnd_run(a->ni, world.now, 8, &next));
	world_close(&world);
	return 0;
}
