// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Corners of what health does of its own accord, as its ABI has it: connections, each kind of
 * probe, every end of one. What must hold is what lnd.h says.
 */
#include "rails.h"

/* The next action and its time, which is not before @now. It exists. */
static uint64_t due(uint64_t now, struct lnd_action *action)
{
	uint64_t next = 0;

	memset(action, 0, sizeof(*action));
	action->size = sizeof(*action);
	MUST(lnd_health_next_time(health, &next));
	CHECK(next != LND_NEVER);
	if (next < now)
		next = now;
	MUST(lnd_health_next_action(health, next, action));
	CHECK(action->size == sizeof(*action));
	return next;
}

static void nothing_due(uint64_t now)
{
	struct lnd_action action = { .size = sizeof(action) };

	FAILS(LND_E_END, lnd_health_next_action(health, now, &action));
}

static uint64_t due_connect(uint64_t now, struct lnd_action *action)
{
	now = due(now, action);
	CHECK(action->kind == LND_ACTION_CONNECT);
	CHECK(same(action->target, peer_ni[0]) && action->nid == 20 && !action->local.kind);
	return now;
}

static void connections(void)
{
	struct lnd_action action, second = { .size = sizeof(second) }, wrong;
	struct lnd_health_info info = { .size = sizeof(info) };
	uint64_t now = 2 * SECOND, first, again, refused, next;
	uint32_t finding;

	start(4, 4, LND_PROFILE_SEED);
	/* No peer's connection: nothing is made again. */
	FAILS(LND_E_STALE, lnd_health_connection_lost(health, no_such_ni(), now));
	MUST(lnd_health_next_time(health, &next));
	CHECK(next == LND_NEVER);

	/* Lost twice is lost once: one attempt. */
	MUST(lnd_health_connection_lost(health, peer_ni[0], now));
	MUST(lnd_health_connection_lost(health, peer_ni[0], now));
	first = due_connect(now, &action);
	MUST(lnd_health_connection_lost(health, peer_ni[0], first));
	nothing_due(first + SECOND);

	/* Only its own kind of end is an attempt's end, and it is told once. */
	FAILS(LND_E_WRONG_KIND, lnd_health_answered(health, &action, LND_HEALTH_OK, first));
	FAILS(LND_E_WRONG_KIND,
	      lnd_prober_ended(health, &action, LND_PROBE_SUCCESS, first, &finding));
	FAILS(LND_E_ARGUMENT, lnd_health_connected(health, &action, 3, first));
	FAILS(LND_E_NULL, lnd_health_connected(health, NULL, LND_CONNECTED, first));
	wrong = action;
	wrong.owner++;
	FAILS(LND_E_FOREIGN, lnd_health_connected(health, &wrong, LND_CONNECTED, first));
	wrong = action;
	wrong.generation++;
	FAILS(LND_E_STALE, lnd_health_connected(health, &wrong, LND_CONNECTED, first));
	wrong = action;
	wrong.size = 4;
	FAILS(LND_E_SIZE, lnd_health_connected(health, &wrong, LND_CONNECTED, first));
	wrong = action;
	wrong.kind = LND_ACTION_PING;
	FAILS(LND_E_STALE, lnd_health_answered(health, &wrong, LND_HEALTH_OK, first));
	MUST(lnd_health_connected(health, &action, LND_CONNECT_FAILED, first));
	FAILS(LND_E_STALE, lnd_health_connected(health, &action, LND_CONNECTED, first));

	/* After a failure it is tried again, later; where no peer listens, later too. */
	nothing_due(first);
	again = due_connect(first, &action);
	CHECK(again > first);
	MUST(lnd_health_connected(health, &action, LND_CONNECT_REFUSED, again));
	nothing_due(again);
	refused = due_connect(again, &action);
	CHECK(refused > again);

	/* Connected: the interface was heard of, and there is nothing to do any more. */
	MUST(lnd_health_connected(health, &action, LND_CONNECTED, refused));
	MUST(lnd_health_get(health, peer_ni[0], &info));
	CHECK(info.heard == refused && info.nid == 20 && info.up && !info.in_flight);
	MUST(lnd_health_next_time(health, &next));
	CHECK(next == LND_NEVER);

	/* Every action takes a place until its end is told. */
	stop();
	start(4, 1, LND_PROFILE_SEED);
	MUST(lnd_health_connection_lost(health, peer_ni[0], now));
	now = due_connect(now, &action);
	MUST(lnd_health_connection_lost(health, peer_ni[1], now));
	FAILS(LND_E_NO_SLOTS, lnd_health_next_action(health, now + 10 * SECOND, &second));
	MUST(lnd_health_connected(health, &action, LND_CONNECTED, now));
	MUST(lnd_health_next_action(health, now + 10 * SECOND, &second));
	CHECK(second.kind == LND_ACTION_CONNECT && same(second.target, peer_ni[1]));
	/* One of which nothing is ever told: it is over at its bound, and its place is free. */
	MUST(lnd_health_connection_lost(health, peer_ni[0], now));
	MUST(lnd_health_next_time(health, &next));
	CHECK(next > now + 30 * SECOND && next <= now + 41 * SECOND);
	FAILS(LND_E_NO_SLOTS, lnd_health_next_action(health, next - 1, &action));
	MUST(lnd_health_next_action(health, next, &action));
	CHECK(action.kind == LND_ACTION_CONNECT);
	FAILS(LND_E_STALE, lnd_health_connected(health, &second, LND_CONNECT_FAILED, next));
	/* At the end nothing is tried any more. */
	MUST(lnd_health_connected(health, &action, LND_CONNECT_FAILED, next));
	MUST(lnd_health_shutdown(health, NULL));
	MUST(lnd_health_next_time(health, &next));
	CHECK(next == LND_NEVER);
	nothing_due(now + 1000 * SECOND);
	stop();
	printf("health_actions: connections are made again, once at a time\n");
}

static void watch(uint32_t kinds, uint32_t one_way, uint32_t users, uint32_t published)
{
	start(1, 4, LND_PROFILE_SEED);
	MUST(lnd_prober_offer(health, kinds));
	MUST(lnd_prober_watch(health, peer_ni[0], one_way, SECOND));
	MUST(lnd_prober_state(health, peer_ni[0], 0, published, 0));
	while (users--)
		MUST(lnd_prober_user(health, peer_ni[0], 1, NULL));
}

/* The next probe's time. */
static uint64_t due_probe(uint64_t now, uint32_t kind, struct lnd_action *action)
{
	now = due(now, action);
	CHECK(action->kind == LND_ACTION_PROBE);
	CHECK(same(action->target, peer_ni[0]) && action->nid == 20 && action->probe == kind);
	return now;
}

static void probe_kinds(void)
{
	struct lnd_action action;
	uint64_t now, next;

	/* The illegal read is off until its trial has gone well; then it is preferred to less. */
	watch(1u << LND_PROBE_ILLEGAL_READ | 1u << LND_PROBE_NOOP, 0, 1, 0);
	FAILS(LND_E_UNSUPPORTED, lnd_prober_turn_on(health, LND_PROBE_ILLEGAL_READ));
	MUST(lnd_prober_turn_on(health, LND_PROBE_NOOP));
	now = due_probe(SECOND, LND_PROBE_NOOP, &action);
	MUST(lnd_prober_tried(health));
	due_probe(now, LND_PROBE_ILLEGAL_READ, &action);
	stop();
	/* What is not offered is not turned on by a trial. */
	watch(1u << LND_PROBE_NOOP, 0, 1, 0);
	MUST(lnd_prober_tried(health));
	/* The NOOP has two sides: offered is not turned on. */
	MUST(lnd_health_next_time(health, &next));
	nothing_due(next);
	FAILS(LND_E_UNSUPPORTED, lnd_prober_turn_on(health, LND_PROBE_ZERO_READ));
	FAILS(LND_E_ARGUMENT, lnd_prober_turn_on(health, 4));
	MUST(lnd_prober_turn_on(health, LND_PROBE_NOOP));
	due_probe(SECOND, LND_PROBE_NOOP, &action);
	stop();
	/* A published word can be read only of a peer that has published one. */
	watch(1u << LND_PROBE_PUBLISHED_WORD, 0, 1, 0);
	MUST(lnd_health_next_time(health, &next));
	nothing_due(next);
	MUST(lnd_prober_state(health, peer_ni[0], 0, 1, 0));
	due_probe(next, LND_PROBE_PUBLISHED_WORD, &action);
	stop();
	printf("health_actions: kinds of probe are used once they can be\n");
}

static void probe_ends(void)
{
	struct lnd_action action, wrong;
	struct lnd_health_info info = { .size = sizeof(info) };
	uint64_t now, next, soon;
	uint32_t finding = 9, probes = 0;

	watch(1u << LND_PROBE_ZERO_READ, 0, 1, 0);
	now = due_probe(SECOND, LND_PROBE_ZERO_READ, &action);
	FAILS(LND_E_ARGUMENT, lnd_prober_ended(health, &action, 4, now, &finding));
	FAILS(LND_E_NULL, lnd_prober_ended(health, &action, LND_PROBE_SUCCESS, now, NULL));
	FAILS(LND_E_WRONG_KIND, lnd_health_connected(health, &action, LND_CONNECTED, now));
	wrong = action;
	wrong.index = ~0u;
	FAILS(LND_E_STALE, lnd_prober_ended(health, &wrong, LND_PROBE_SUCCESS, now, &finding));
	CHECK(finding == 9);
	MUST(lnd_prober_ended(health, &action, LND_PROBE_SUCCESS, now, &finding));
	CHECK(finding == LND_FINDING_ALIVE);
	MUST(lnd_health_get(health, peer_ni[0], &info));
	CHECK(info.heard == now);
	/* Refused access: a peer is there to refuse. */
	now = due_probe(now, LND_PROBE_ZERO_READ, &action);
	MUST(lnd_prober_ended(health, &action, LND_PROBE_ACCESS_ERROR, now, &finding));
	CHECK(finding == LND_FINDING_ALIVE);
	/* Anything else says nothing. */
	now = due_probe(now, LND_PROBE_ZERO_READ, &action);
	MUST(lnd_prober_ended(health, &action, LND_PROBE_OTHER, now, &finding));
	CHECK(finding == LND_FINDING_NOTHING);
	/* Traffic while a probe is under way: its end says nothing. */
	now = due_probe(now, LND_PROBE_ZERO_READ, &action);
	MUST(lnd_prober_state(health, peer_ni[0], 1, 0, 0));
	MUST(lnd_prober_ended(health, &action, LND_PROBE_RETRY_EXCEEDED, now, &finding));
	CHECK(finding == LND_FINDING_NOTHING);
	/* After traffic it is left alone for a while, unless something waits for news of it. */
	MUST(lnd_health_next_time(health, &soon));
	nothing_due(soon);
	MUST(lnd_health_next_time(health, &next));
	CHECK(next > soon);
	MUST(lnd_prober_state(health, peer_ni[0], 0, 0, 1));
	now = due_probe(soon, LND_PROBE_ZERO_READ, &action);
	CHECK(now < next);
	FAILS(LND_E_STALE, lnd_prober_state(health, no_such_ni(), 0, 0, 0));

	/* No longer watched: no more probes, and the end of the last one says nothing. */
	MUST(lnd_prober_unwatch(health, peer_ni[0]));
	FAILS(LND_E_STALE, lnd_prober_unwatch(health, no_such_ni()));
	MUST(lnd_prober_ended(health, &action, LND_PROBE_RETRY_EXCEEDED, now, &finding));
	CHECK(finding == LND_FINDING_NOTHING);
	MUST(lnd_health_next_time(health, &next));
	CHECK(next == LND_NEVER);
	stop();

	/* One that only sends to us: its connection is broken, so it is cleaned up, also while in
	 * use. */
	watch(1u << LND_PROBE_ZERO_READ, 1, 2, 0);
	for (now = SECOND; finding != LND_FINDING_CLEAN_UP; probes++) {
		now = due_probe(now, LND_PROBE_ZERO_READ, &action);
		MUST(lnd_prober_ended(health, &action, LND_PROBE_RETRY_EXCEEDED, now, &finding));
		CHECK(finding == LND_FINDING_NOTHING || finding == LND_FINDING_CLEAN_UP);
		CHECK(probes < 100);
	}
	CHECK(probes > 1);
	MUST(lnd_prober_user(health, peer_ni[0], 0, &probes));
	CHECK(probes == 1);
	FAILS(LND_E_STALE, lnd_prober_user(health, no_such_ni(), 1, &probes));
	stop();
	printf("health_actions: a probe's end says what it can\n");
}

int main(void)
{
	connections();
	probe_kinds();
	probe_ends();
	return 0;
}
