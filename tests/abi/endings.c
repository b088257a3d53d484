// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Ends that no example comes by: refused, withdrawn, late, lost by the channel in each way, shut
 * down; and what reports, dumps, traces and blockers say of them. What must hold is what lnd.h
 * says.
 */
#include "slowly.h"

/* Both kinds of transfer, seen on their way; then refused. */
static void transfers(void)
{
	open_world(1000 * MS, &usual);
	MUST(node_put(a, 0, 0, 30000, NULL));
	MUST(node_get(a, 65536, 0, 30000, NULL));
	slowly(2, 1);
	CHECK(!a->failures);
	CHECK(has_said(" put_source ") && has_said(" get_sink ") && has_said(" waits:answer"));
	CHECK(has_said(" put_sink ") || has_said(" get_source "));
	CHECK(has_said(" live") && has_said(" waits:engine"));

	b->refuse = 1;
	MUST(node_put(a, 0, 0, 30000, NULL));
	MUST(node_put(a, 0, 0, 30000, NULL));
	slowly(4, 1);
	CHECK(a->failures == 2 && a->last.error < 0 && a->last.cause == LND_CAUSE_REFUSED);
	CHECK(a->last.delivery == LND_NOT_DELIVERED && !a->last.resend);
	MUST(node_get(a, 0, 0, 30000, NULL));
	slowly(5, 1);
	CHECK(a->failures == 3 && a->last.cause == LND_CAUSE_REFUSED);
	CHECK(has_said(" because:refused"));
	/* What came along with its request has arrived, whatever is decided on it. */
	MUST(node_put(a, 0, 0, 100, NULL));
	slowly(6, 1);
	CHECK(a->failures == 3 && !a->last.error);
	world_close(&world);
	printf("endings: refusals reach the one who asked\n");
}

/* Submits three PUTs whose messages end as send() says; the last one's report is left. */
static void three_sent(uint32_t how, uint32_t bytes)
{
	unsigned int before = a->reports, at;

	answer = how;
	for (at = 0; at < 3; at++)
		MUST(node_put(a, 0, 0, bytes, NULL));
	slowly(before + 3, 0);
	answer = AS_IT_IS;
}

static void channel(void)
{
	struct lnd_stats stats = { .size = sizeof(stats) };
	struct lnd_message old;
	unsigned int at;

	open_world(1000 * MS, &usual);
	three_sent(LND_SEND_FAILED, 100);
	CHECK(a->failures == 3 && a->last.cause == LND_CAUSE_CHANNEL && a->last.error < 0);
	CHECK(a->last.delivery == LND_NOT_DELIVERED && a->last.place == LND_PLACE_MESSAGE);
	CHECK(has_said(" because:channel") && has_said(" ended") && has_said(" immediate "));
	/* No enum lnd_send: told to bug(), and the worst is assumed. */
	CHECK(!a->bugs);
	three_sent(77, 100);
	CHECK(a->bugs == 3 && a->failures == 6 && a->last.cause == LND_CAUSE_CHANNEL);
	CHECK(a->last.delivery == LND_DELIVERY_UNKNOWN);

	/* That nothing came over keeps nothing from coming over now. */
	three_sent(LND_SEND_FAILED, 100);
	MUST(node_put(a, 0, 0, 100, NULL));
	slowly(10, 1);
	CHECK(a->failures == 9 && !a->last.error);

	/* Said to be on its way, until told otherwise; told once. */
	for (at = LND_SENT_OK; at <= LND_SENT_UNKNOWN; at++) {
		unsigned int before = a->reports;

		answer = LND_SEND_PENDING;
		MUST(node_put(a, 0, 0, 100, NULL));
		slow_step(a);
		look(a);
		CHECK(a->reports == before && has_said(" waits:message"));
		old = sent;
		FAILS(LND_E_ARGUMENT, lnd_sent(a->ni, old, LND_SENT_UNKNOWN + 1, world.now));
		MUST(lnd_sent(a->ni, old, at, world.now));
		slowly(before + 1, 0);
		CHECK(!a->last.error == (at == LND_SENT_OK));
		CHECK(a->last.delivery == (at == LND_SENT_OK	       ? LND_DELIVERED :
					   at == LND_SENT_NOT_DELIVERED ? LND_NOT_DELIVERED :
									  LND_DELIVERY_UNKNOWN));
		/* Once more: it names nothing any more, and only a counter moves. */
		before = traced[LND_TRACE_STALE];
		MUST(lnd_sent(a->ni, old, at, world.now));
		CHECK(traced[LND_TRACE_STALE] == before + 1);
	}
	answer = AS_IT_IS;
	MUST(lnd_stats_get(a->ni, &stats));
	CHECK(!stats.active);
	MUST(lnd_audit(a->ni));
	world_close(&world);
	printf("endings: messages end as send() or lnd_sent() says\n");
}

static void causes(void)
{
	struct lnd_transfer transfer[3];
	unsigned int at;

	/* Withdrawn while they wait for their answer. */
	open_world(200 * MS, &usual);
	for (at = 0; at < 3; at++)
		MUST(node_get(a, 32768 * at, 0, 30000, &transfer[at]));
	for (at = 0; at < 3; at++)
		MUST(lnd_withdraw(a->ni, transfer[at], world.now));
	slowly(3, 0);
	CHECK(a->failures == 3 && a->last.cause == LND_CAUSE_WITHDRAWN);
	CHECK(has_said(" because:withdrawn"));

	/* No peer answers in time. */
	for (at = 0; at < 3; at++)
		MUST(node_put(a, 0, 0, 30000, NULL));
	slowly(6, 0);
	CHECK(a->failures == 6 && a->last.cause == LND_CAUSE_DEADLINE);
	CHECK(has_said(" because:deadline") && has_said(" lost:answer"));

	/* The peer is dead. */
	for (at = 0; at < 3; at++)
		MUST(node_put(a, 0, 0, 30000, NULL));
	b->dead = 1;
	MUST(lnd_soft_declare_dead(world.fabric, b->number, 0, NULL));
	MUST(lnd_peer_event(a->ni, lnd_soft_nid(1), 0, world.now));
	slowly(9, 0);
	CHECK(a->failures == 9 && a->last.cause == LND_CAUSE_PEER_DOWN);
	CHECK(has_said(" because:peer_down"));
	world_close(&world);
	printf("endings: dumps name the cause\n");
}

/* A shutdown step by step: its states in order, and who stands in its way. */
static void ending(void)
{
	struct lnd_blocker blocker = { .size = sizeof(blocker) };
	struct lnd_transfer transfer;
	uint32_t state = LND_RUNNING, was, cursor, kinds = 0, states = 1u << LND_RUNNING;
	unsigned int rounds = 0;

	open_world(1000 * MS, &usual);
	/* No peer answers these. */
	MUST(node_get(a, 0, 0, 30000, &transfer));
	MUST(node_get(a, 32768, 0, 30000, NULL));
	slow_step(a);
	MUST(lnd_shutdown(a->ni, world.now, world.now + 2 * MS));
	FAILS(LND_E_SHUTTING_DOWN, node_put(a, 0, 0, 100, NULL));
	while (state != LND_QUIESCENT) {
		enum lnd_error error;

		FAILS(LND_E_RUNNING, lnd_ni_destroy(a->ni));
		for (cursor = 0;;) {
			error = lnd_blocker_next(a->ni, &cursor, &blocker);
			if (error == LND_E_END)
				break;
			MUST(error);
			CHECK(blocker.size == sizeof(blocker));
			kinds |= 1u << blocker.kind;
			if (blocker.kind == LND_BLOCKER_LINK)
				CHECK(blocker.link < LINKS && blocker.link_state != LND_LINK_DOWN);
			else
				CHECK(blocker.transfer.ni == transfer.ni &&
				      blocker.transfer.kind == transfer.kind);
			if (blocker.kind == LND_BLOCKER_TRANSFER)
				CHECK(blocker.nid == lnd_soft_nid(1) && blocker.word);
		}
		slow_step(a);
		if (state >= LND_DRAINING)
			slow_step(b);
		was = state;
		MUST(lnd_run_state_get(a->ni, &state));
		CHECK(state >= was);
		states |= 1u << state;
		world.now += MS / 10;
		CHECK(rounds++ < 100000);
	}
	CHECK(a->reports == 2 && a->failures == 2 && a->last.cause == LND_CAUSE_SHUTDOWN);
	CHECK(has_said(" because:shutdown"));
	CHECK(states & 1u << LND_REFUSING && states & 1u << LND_STOPPING);
	CHECK(kinds & 1u << LND_BLOCKER_TRANSFER && kinds & 1u << LND_BLOCKER_UNREPORTED);
	CHECK(kinds & 1u << LND_BLOCKER_LINK);
	cursor = 0;
	FAILS(LND_E_END, lnd_blocker_next(a->ni, &cursor, &blocker));
	world_close(&world);
	printf("endings: a shutdown says how far it is and what it waits for\n");
}

int main(void)
{
	usual = world_ops();
	transfers();
	channel();
	causes();
	ending();
	CHECK(traced[LND_TRACE_ACCEPTED] >= traced[LND_TRACE_FINALIZED]);
	CHECK(traced[LND_TRACE_STEP] > traced[LND_TRACE_FINALIZED]);
	CHECK(traced[LND_TRACE_INVALIDATED] && traced[LND_TRACE_STALE] &&
	      traced[LND_TRACE_RECEIVED]);
	return 0;
}
