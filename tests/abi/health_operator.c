// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What an operator says to health and reads from it, and what a host knows of paths: drains, rules,
 * distances, bindings, answers that do not come, connections, the journal. What must hold is what
 * lnd.h says.
 */
#include "rails.h"

static const uint64_t now = SECOND;

static struct lnd_attempts opened(void)
{
	struct lnd_attempts attempts;

	MUST(lnd_health_open(health, peer, 60 * SECOND, 1, 7, &attempts));
	return attempts;
}

/* The path of a message's first try, which is given up again. */
static struct lnd_path path_of(const struct lnd_distance *distances, uint32_t count)
{
	struct lnd_attempts attempts = opened();
	struct lnd_path path = { .size = sizeof(path) };

	MUST(lnd_health_begin_near(health, attempts, distances, count, now, &path));
	MUST(lnd_health_give_up(health, attempts, NULL));
	return path;
}

static uint32_t value_of(struct lnd_health_ni ni)
{
	struct lnd_health_info info = { .size = sizeof(info) };

	MUST(lnd_health_get(health, ni, &info));
	return info.value;
}

/* What is drained takes nothing new, and what is on its way counts until it has ended. */
static void drains(void)
{
	struct lnd_path path = { .size = sizeof(path) }, none = { .size = sizeof(none) };
	struct lnd_attempts attempts;
	uint32_t left = 9, at;

	start(4, 4, LND_PROFILE_SEED);
	attempts = opened();
	MUST(lnd_health_begin(health, attempts, now, &path));
	MUST(lnd_health_drain_local(health, path.local, 1, now, &left));
	CHECK(left == 1);
	for (at = 0; at < 4; at++)
		CHECK(!same(path_of(NULL, 0).local, path.local));
	MUST(lnd_health_drain_peer(health, peer, 1, now, &left));
	CHECK(left == 1);
	MUST(lnd_health_give_up(health, attempts, NULL));
	MUST(lnd_health_drain_local(health, path.local, 1, now, &left));
	CHECK(left == 0);
	attempts = opened();
	FAILS(LND_E_NO_ROUTE, lnd_health_begin(health, attempts, now, &none));
	/* A message between two tries counts as on its way to its peer. */
	MUST(lnd_health_drain_peer(health, peer, 0, now, &left));
	CHECK(left == 1);
	MUST(lnd_health_begin(health, attempts, now, &none));
	CHECK(!same(none.local, path.local));
	MUST(lnd_health_give_up(health, attempts, NULL));
	MUST(lnd_health_drain_local(health, path.local, 0, now, NULL));
	CHECK(same(path_of(NULL, 0).local, path.local));
	FAILS(LND_E_WRONG_KIND, lnd_health_drain_local(health, peer_ni[0], 1, now, NULL));
	FAILS(LND_E_STALE, lnd_health_drain_peer(health, no_such_peer(), 1, now, NULL));
	FAILS(LND_E_ALIGN,
	      lnd_health_drain_peer(health, peer, 1, now, (void *)((char *)&left + 1)));
	stop();
	printf("health_operator: what is drained takes nothing new\n");
}

static struct lnd_rule rule(uint32_t kind, uint32_t priority, uint64_t nid, uint64_t peer_nid)
{
	struct lnd_rule made = { .size = sizeof(made), .kind = kind, .priority = priority,
				 .nid = nid, .peer_nid = peer_nid };

	return made;
}

/* Rules decide before credits and turns, and the next rules replace them. */
static void rules(void)
{
	struct lnd_rule two[2];
	uint32_t at;

	start(4, 4, LND_PROFILE_SEED);
	for (at = 0; at < 4; at++) {
		/* The other ones of both sides are worse. */
		two[0] = rule(LND_RULE_NID, 1, 10 + !(at & 1), 0);
		two[1] = rule(LND_RULE_NID, 1, 20 + !(at & 2), 0);
		MUST(lnd_health_set_rules(health, two, 2));
		CHECK(same(path_of(NULL, 0).local, local[at & 1]));
		CHECK(same(path_of(NULL, 0).hop, peer_ni[at / 2]));
	}
	/* A later rule wins; a pair is preferred. */
	two[0] = rule(LND_RULE_NID, 1, 10, 0);
	two[1] = rule(LND_RULE_NID, 0, 10, 0);
	MUST(lnd_health_set_credits(health, local[0], 5));
	MUST(lnd_health_set_rules(health, two, 2));
	CHECK(same(path_of(NULL, 0).local, local[0]) && same(path_of(NULL, 0).local, local[0]));
	two[0] = rule(LND_RULE_PAIR, 0, 10, 21);
	two[1] = rule(LND_RULE_NETWORK, 7, 0, 0);
	MUST(lnd_health_set_rules(health, two, 2));
	CHECK(same(path_of(NULL, 0).hop, peer_ni[1]) && same(path_of(NULL, 0).hop, peer_ni[1]));
	/* None: it is each one's turn again. */
	MUST(lnd_health_set_rules(health, NULL, 0));
	CHECK(!same(path_of(NULL, 0).hop, path_of(NULL, 0).hop));

	/* An error changes nothing. */
	two[0] = rule(LND_RULE_NID, 1, 20, 0);
	two[1] = rule(5, 1, 21, 0);
	FAILS(LND_E_ARGUMENT, lnd_health_set_rules(health, two, 2));
	two[1] = rule(LND_RULE_NID, 65536, 21, 0);
	FAILS(LND_E_ARGUMENT, lnd_health_set_rules(health, two, 2));
	two[1] = rule(LND_RULE_PAIR, 0, 10, 0);
	FAILS(LND_E_ARGUMENT, lnd_health_set_rules(health, two, 2));
	two[1].size--;
	FAILS(LND_E_SIZE, lnd_health_set_rules(health, two, 2));
	FAILS(LND_E_NULL, lnd_health_set_rules(health, NULL, 1));
	FAILS(LND_E_ARGUMENT, lnd_health_set_rules(health, two, LND_MAX_RULES + 1));
	CHECK(!same(path_of(NULL, 0).hop, path_of(NULL, 0).hop));
	stop();
	printf("health_operator: rules go before credits and turns\n");
}

/* A gateway's rule ranks its routes, beside their own priority. */
static void gateways(void)
{
	const uint64_t far_network = 9, far = far_network << 32 | 1;
	struct lnd_health_peer router, behind = { 0 };
	struct lnd_health_route route[2];
	struct lnd_health_ni gateway[2], end;
	struct lnd_rule worse;
	uint32_t at;

	start(4, 4, LND_PROFILE_SEED);
	MUST(lnd_health_remove_peer(health, peer));
	MUST(lnd_health_add_peer(health, 1, 1, &router));
	for (at = 0; at < 2; at++) {
		MUST(lnd_health_add_peer_ni(health, router, 30 + at, &gateway[at]));
		MUST(lnd_health_add_route(health, far_network, gateway[at], &route[at]));
	}
	MUST(lnd_health_add_peer(health, 0, 1, &behind));
	MUST(lnd_health_add_peer_ni(health, behind, far, &end));
	peer = behind;
	for (at = 0; at < 4; at++) {
		worse = rule(LND_RULE_GATEWAY, 1, 30 + at % 2, 0);
		MUST(lnd_health_set_rules(health, &worse, 1));
		CHECK(same(path_of(NULL, 0).hop, gateway[!(at % 2)]) && path_of(NULL, 0).routed);
	}
	MUST(lnd_health_set_route(health, route[0], 2, 1, 1));
	MUST(lnd_health_set_rules(health, &worse, 1));
	CHECK(same(path_of(NULL, 0).hop, gateway[1]));
	MUST(lnd_health_set_route(health, route[0], 0, 1, 1));
	MUST(lnd_health_set_rules(health, NULL, 0));
	CHECK(!same(path_of(NULL, 0).hop, path_of(NULL, 0).hop));
	MUST(lnd_health_remove_route(health, route[0]));
	stop();
	printf("health_operator: a gateway's rule ranks its routes\n");
}

/* A message goes out by what is near to it, or by what it is bound to. */
static void nearness(void)
{
	struct lnd_distance far[2] = { { .device = 1 }, { .device = 0 } };
	struct lnd_path path = { .size = sizeof(path) };
	const struct lnd_health_ni any = { 0 };
	struct lnd_attempts attempts;
	struct lnd_health_peer other;
	struct lnd_health_ni its;
	uint32_t at;

	start(4, 4, LND_PROFILE_SEED);
	for (at = 0; at < 3; at++)
		CHECK(same(path_of(far, 2).local, local[1]));
	/* One that is missing is near. */
	CHECK(same(path_of(far, 1).local, local[1]));
	far[0].device = 0;
	far[1].numa = 20;
	CHECK(same(path_of(far, 2).local, local[0]) && same(path_of(far, 2).local, local[0]));
	/* Health goes before distances. */
	MUST(lnd_health_set(health, local[0], 900, now));
	CHECK(same(path_of(far, 2).local, local[1]));
	MUST(lnd_health_set(health, local[0], 1000, now));
	attempts = opened();
	far[1].numa = 4096;
	FAILS(LND_E_ARGUMENT, lnd_health_begin_near(health, attempts, far, 2, now, &path));
	far[1] = (struct lnd_distance){ .device = 256 };
	FAILS(LND_E_ARGUMENT, lnd_health_begin_near(health, attempts, far, 2, now, &path));
	FAILS(LND_E_ARGUMENT, lnd_health_begin_near(health, attempts, far, 33, now, &path));
	FAILS(LND_E_NULL, lnd_health_begin_near(health, attempts, NULL, 2, now, &path));

	/* Bound to one end, to the other, to none; not once it is on its way. */
	for (at = 0; at < 4; at++) {
		MUST(lnd_health_bind(health, attempts, local[at & 1], peer_ni[at / 2]));
		MUST(lnd_health_begin(health, attempts, now, &path));
		CHECK(same(path.local, local[at & 1]) && same(path.hop, peer_ni[at / 2]));
		FAILS(LND_E_RUNNING, lnd_health_bind(health, attempts, any, any));
		MUST(lnd_health_give_up(health, attempts, NULL));
		attempts = opened();
	}
	MUST(lnd_health_add_peer(health, 0, 1, &other));
	MUST(lnd_health_add_peer_ni(health, other, 40, &its));
	FAILS(LND_E_ARGUMENT, lnd_health_bind(health, attempts, any, its));
	FAILS(LND_E_WRONG_KIND, lnd_health_bind(health, attempts, its, any));
	FAILS(LND_E_WRONG_KIND, lnd_health_bind(health, attempts, any, local[0]));
	FAILS(LND_E_STALE, lnd_health_bind(health, attempts, any, no_such_ni()));
	MUST(lnd_health_bind(health, attempts, any, any));
	MUST(lnd_health_give_up(health, attempts, NULL));
	FAILS(LND_E_STALE, lnd_health_bind(health, attempts, any, any));
	stop();
	printf("health_operator: messages go out near their memory, or as they are bound\n");
}

/* R54: the first end of a wait is its end; a missing answer costs the last hop health, and no
 * other. */
static void answers(void)
{
	struct lnd_tracker tracker = { .size = sizeof(tracker) }, wait;
	struct lnd_path path, other;

	start(4, 4, LND_PROFILE_SEED);
	path = path_of(NULL, 0);
	other = path_of(NULL, 0);
	CHECK(!same(path.hop, other.hop));
	FAILS(LND_E_STALE, lnd_tracker_end(&tracker));
	FAILS(LND_E_STALE, lnd_tracker_expire(health, &tracker, 7, now));
	MUST(lnd_tracker_sent(&tracker, &path, now, SECOND));
	CHECK(tracker.state == LND_TRACKER_WAITING && tracker.deadline == now + SECOND);

	/* It comes. */
	wait = tracker;
	MUST(lnd_tracker_end(&wait));
	CHECK(wait.state == LND_TRACKER_ENDED);
	FAILS(LND_E_STALE, lnd_tracker_end(&wait));
	FAILS(LND_E_STALE, lnd_tracker_expire(health, &wait, 7, now + 2 * SECOND));
	FAILS(LND_E_STALE, lnd_tracker_sent(&wait, &path, now, SECOND));
	CHECK(value_of(path.hop) == 1000);

	/* It does not, nor after a resend, which does not make the wait longer. */
	MUST(lnd_tracker_sent(&tracker, &other, now + SECOND / 2, SECOND));
	FAILS(LND_E_WAIT, lnd_tracker_expire(health, &tracker, 7, now + SECOND - 1));
	MUST(lnd_tracker_expire(health, &tracker, 7, now + SECOND));
	CHECK(value_of(other.hop) == 900 && value_of(path.hop) == 1000);
	CHECK(value_of(other.local) == 1000 && value_of(path.local) == 1000);
	FAILS(LND_E_STALE, lnd_tracker_expire(health, &tracker, 7, now + 2 * SECOND));
	FAILS(LND_E_STALE, lnd_tracker_end(&tracker));

	/* An interface that is gone; one of another object. */
	tracker = (struct lnd_tracker){ .size = sizeof(tracker) };
	MUST(lnd_tracker_sent(&tracker, &path, now, 0));
	wait = tracker;
	wait.hop.owner++;
	FAILS(LND_E_FOREIGN, lnd_tracker_expire(health, &wait, 7, now));
	CHECK(wait.state == LND_TRACKER_WAITING);
	MUST(lnd_health_remove_peer(health, peer));
	MUST(lnd_tracker_expire(health, &tracker, 7, now));
	CHECK(tracker.state == LND_TRACKER_ENDED);
	tracker.state = 3;
	FAILS(LND_E_ARGUMENT, lnd_tracker_sent(&tracker, &path, now, 0));
	FAILS(LND_E_NULL, lnd_tracker_sent(&tracker, NULL, now, 0));
	FAILS(LND_E_NULL, lnd_tracker_end(NULL));
	tracker.size--;
	FAILS(LND_E_SIZE, lnd_tracker_end(&tracker));
	stop();
	printf("health_operator: answers that do not come\n");
}

/* What stands in the way of sending, until it does not. */
static void connections(void)
{
	struct lnd_action action = { .size = sizeof(action) };
	uint64_t until = 9, at;
	uint32_t state = 9;

	start(4, 4, LND_PROFILE_SEED);
	MUST(lnd_health_connection_get(health, peer_ni[0], &state, &until));
	CHECK(state == LND_CONNECTION_UP && until == 0);
	MUST(lnd_health_connection_lost(health, peer_ni[0], now));
	MUST(lnd_health_connection_get(health, peer_ni[0], &state, NULL));
	CHECK(state == LND_CONNECTION_TRYING);
	MUST(lnd_health_next_time(health, &at));
	MUST(lnd_health_next_action(health, at, &action));
	MUST(lnd_health_connected(health, &action, LND_CONNECT_REFUSED, at));
	MUST(lnd_health_connection_get(health, peer_ni[0], &state, &until));
	CHECK(state == LND_CONNECTION_REFUSED && until > at);
	MUST(lnd_health_next_time(health, &at));
	CHECK(at == until);
	/* The peer has connected to us meanwhile: there is nothing to do any more. */
	MUST(lnd_health_next_action(health, at, &action));
	MUST(lnd_health_connection_settled(health, peer_ni[0]));
	MUST(lnd_health_connected(health, &action, LND_CONNECT_FAILED, at));
	MUST(lnd_health_connection_get(health, peer_ni[0], &state, &until));
	CHECK(state == LND_CONNECTION_UP && until == 0);
	MUST(lnd_health_next_time(health, &at));
	CHECK(at == LND_NEVER);
	FAILS(LND_E_STALE, lnd_health_connection_settled(health, no_such_ni()));
	FAILS(LND_E_WRONG_KIND, lnd_health_connection_get(health, local[0], &state, NULL));
	FAILS(LND_E_NULL, lnd_health_connection_get(health, peer_ni[0], NULL, NULL));
	stop();
	printf("health_operator: what stands in the way of sending\n");
}

/* S2-8: a path that is being moved is not probed, and what was found before counts no more. */
static void migration(void)
{
	struct lnd_action action = { .size = sizeof(action) };
	uint32_t finding, at;
	uint64_t time;

	start(4, 4, LND_PROFILE_SEED);
	MUST(lnd_prober_offer(health, 1 << LND_PROBE_ZERO_READ));
	MUST(lnd_prober_watch(health, peer_ni[0], 0, now));
	/* The third finding of dead would be one too many. */
	for (at = 0; at < 2; at++) {
		MUST(lnd_health_next_time(health, &time));
		MUST(lnd_health_next_action(health, time, &action));
		MUST(lnd_prober_ended(health, &action, LND_PROBE_RETRY_EXCEEDED, time, &finding));
		CHECK(finding == LND_FINDING_NOTHING);
	}
	MUST(lnd_prober_migrating(health, peer_ni[0], 1));
	MUST(lnd_health_next_time(health, &time));
	time += 20 * SECOND;
	FAILS(LND_E_END, lnd_health_next_action(health, time, &action));
	MUST(lnd_prober_migrating(health, peer_ni[0], 0));
	MUST(lnd_health_next_time(health, &time));
	time += 20 * SECOND;
	MUST(lnd_health_next_action(health, time, &action));
	CHECK(action.kind == LND_ACTION_PROBE);
	MUST(lnd_prober_ended(health, &action, LND_PROBE_RETRY_EXCEEDED, time, &finding));
	CHECK(finding == LND_FINDING_NOTHING);
	FAILS(LND_E_STALE, lnd_prober_migrating(health, no_such_ni(), 1));
	stop();
	printf("health_operator: a path that is being moved is not probed\n");
}

/* R51: who changed what, when, on which evidence. */
static void journal(void)
{
	struct lnd_health_change change = { .size = sizeof(change) };
	struct lnd_outcome end = { .size = sizeof(end) };
	struct lnd_path path = { .size = sizeof(path) };
	struct lnd_attempts attempts;
	struct lnd_report report;
	uint64_t next = 0, at;

	start(4, 4, LND_PROFILE_SEED);
	FAILS(LND_E_END, lnd_health_journal_next(health, &next, &change));
	CHECK(next == 0);
	attempts = opened();
	MUST(lnd_health_begin(health, attempts, now, &path));
	memset(&report, 0, sizeof(report));
	report.size = sizeof(report);
	report.health = LND_HEALTH_LOCAL_DROPPED;
	report.delivery = LND_NOT_DELIVERED;
	report.error = -5;
	MUST(lnd_health_ended(health, attempts, &report, now + 5, &end));
	MUST(lnd_health_give_up(health, attempts, NULL));
	MUST(lnd_health_journal_next(health, &next, &change));
	CHECK(next == 1 && change.number == 0 && change.at == now + 5 && change.cookie == 7);
	CHECK(same(change.ni, path.local) && change.nid == 10 + path.local.index);
	CHECK(change.from == 1000 && change.to == 900 && change.up);
	CHECK(change.evidence == LND_EVIDENCE_MESSAGE &&
	      change.health_class == LND_HEALTH_LOCAL_DROPPED);
	FAILS(LND_E_END, lnd_health_journal_next(health, &next, &change));

	/* An operator's word, by a sensitivity of its own; what is gone has no NID. */
	MUST(lnd_health_set(health, peer_ni[1], 0, now + 6));
	MUST(lnd_health_set_sensitivity(health, peer_ni[1], 250));
	MUST(lnd_health_received(health, peer_ni[1], local[!path.local.index], now + 7));
	MUST(lnd_health_remove_peer(health, peer));
	MUST(lnd_health_journal_next(health, &next, &change));
	CHECK(change.evidence == LND_EVIDENCE_OPERATOR && !change.to && !change.up &&
	      !change.cookie);
	CHECK(same(change.ni, peer_ni[1]) && change.nid == 0 && change.health_class == 0);
	MUST(lnd_health_journal_next(health, &next, &change));
	CHECK(change.evidence == LND_EVIDENCE_HEARD && change.to == 250 && !change.up);
	FAILS(LND_E_STALE, lnd_health_set_sensitivity(health, peer_ni[1], 1));
	FAILS(LND_E_ARGUMENT, lnd_health_set_sensitivity(health, local[0], 1001));
	MUST(lnd_health_set_sensitivity(health, local[0], LND_NO_SENSITIVITY));

	/* A reader that is late sees by the number what it has missed: 256 changes are kept. */
	for (at = 0; at < 300; at++)
		MUST(lnd_health_set(health, local[0], 400 + at, now + 10 + at));
	MUST(lnd_health_journal_next(health, &next, &change));
	CHECK(change.number == 3 + 300 - 256 && change.to == 400 + change.number - 3);
	for (at = change.number + 1; at < 303; at++) {
		MUST(lnd_health_journal_next(health, &next, &change));
		CHECK(change.number == at && next == at + 1);
	}
	FAILS(LND_E_END, lnd_health_journal_next(health, &next, &change));
	FAILS(LND_E_NULL, lnd_health_journal_next(health, NULL, &change));
	FAILS(LND_E_NULL, lnd_health_journal_next(health, &next, NULL));
	stop();
	printf("health_operator: the journal says who changed what\n");
}

int main(void)
{
	drains();
	rules();
	gateways();
	nearness();
	answers();
	connections();
	migration();
	journal();
	return 0;
}
