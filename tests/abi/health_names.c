// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Names, stamps and routes of health's ABI: what is gone names nothing, copies are told from
 * messages, doubt stays with a message. What must hold is what lnd.h says.
 */
#include "rails.h"

static uint32_t value_of(struct lnd_health_ni ni)
{
	struct lnd_health_info info = { .size = sizeof(info) };

	MUST(lnd_health_get(health, ni, &info));
	return info.value;
}

/* Begins a message's first try. */
static struct lnd_attempts begun(uint64_t deadline, uint32_t resend, struct lnd_path *path)
{
	struct lnd_attempts attempts;

	memset(path, 0, sizeof(*path));
	path->size = sizeof(*path);
	MUST(lnd_health_open(health, peer, deadline, resend, 7, &attempts));
	MUST(lnd_health_begin(health, attempts, SECOND, path));
	return attempts;
}

static uint64_t stale_names(void)
{
	const char *name;
	uint64_t value;
	uint32_t at;

	for (at = 0; (name = lnd_health_counter_name(at)); at++) {
		MUST(lnd_health_counter(health, at, &value));
		if (!strcmp(name, "stale_names"))
			return value;
	}
	CHECK(!"a counter of that name");
	return 0;
}

/* Names outlive what they name, and then name nothing (R14). */
static void names(void)
{
	struct lnd_health_ni old_local, old_ni, next;
	struct lnd_health_peer old, filler;
	struct lnd_health_info info = { .size = sizeof(info) };
	struct lnd_attempts attempts;
	uint64_t value;

	start(4, 4, LND_PROFILE_SEED);
	/* Its place is the next free one. */
	MUST(lnd_health_add_peer(health, 0, 1, &filler));
	old = peer;
	old_local = local[0];
	old_ni = peer_ni[1];
	MUST(lnd_health_remove_peer(health, peer));
	MUST(lnd_health_remove_local(health, local[0]));
	MUST(lnd_health_add_peer(health, 0, 1, &peer));
	MUST(lnd_health_add_peer_ni(health, peer, 30, &peer_ni[0]));
	MUST(lnd_health_add_peer_ni(health, peer, 31, &peer_ni[1]));
	MUST(lnd_health_add_local(health, 12, &local[0]));
	CHECK(peer.index == old.index && local[0].index == old_local.index);
	CHECK(peer_ni[0].index == old_ni.index || peer_ni[1].index == old_ni.index);
	value = stale_names();
	FAILS(LND_E_STALE, lnd_health_open(health, old, LND_NEVER, 1, 7, &attempts));
	FAILS(LND_E_STALE, lnd_health_add_peer_ni(health, old, 32, &next));
	FAILS(LND_E_STALE, lnd_health_get(health, old_ni, &info));
	FAILS(LND_E_STALE, lnd_health_set(health, old_local, 1, SECOND));
	FAILS(LND_E_STALE, lnd_health_received(health, old_ni, local[0], SECOND));
	FAILS(LND_E_STALE, lnd_health_received(health, peer_ni[0], old_local, SECOND));
	FAILS(LND_E_STALE, lnd_health_fatal(health, old_local, 1, SECOND));
	FAILS(LND_E_STALE, lnd_health_connection_lost(health, old_ni, SECOND));
	FAILS(LND_E_STALE, lnd_prober_watch(health, old_ni, 0, SECOND));
	FAILS(LND_E_STALE, lnd_prober_unwatch(health, old_ni));
	FAILS(LND_E_STALE, lnd_prober_state(health, old_ni, 1, 1, 1));
	FAILS(LND_E_WRONG_KIND, lnd_prober_unwatch(health, local[0]));
	FAILS(LND_E_WRONG_KIND, lnd_health_fatal(health, peer_ni[0], 1, SECOND));
	CHECK(stale_names() == value + 11);
	CHECK(value_of(local[0]) == 1000 && value_of(peer_ni[0]) == 1000);
	FAILS(LND_E_ARGUMENT, lnd_health_counter(health, 999, &value));
	FAILS(LND_E_NULL, lnd_health_counter(health, 0, NULL));
	CHECK(!lnd_health_counter_name(999));
	stop();
	printf("health_names: names of what is gone name nothing\n");
}

static uint32_t arrives(const struct lnd_stamp *stamp)
{
	uint32_t check = 0;

	MUST(lnd_health_arrived(health, peer, stamp, &check));
	return check;
}

/* Stamps in headers, and what becomes of messages at their receiver (R45). */
static void copies(void)
{
	const unsigned char raw[] = { 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0,
				      0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0 };
	struct lnd_stamp stamp = { .from = 0x0102030405060708, .number = 0x100000009 }, other;
	const struct lnd_stamp none = { 0 };
	unsigned char header[1 + LND_STAMP_BYTES];
	struct lnd_health_peer bare;
	uint32_t check = 9;

	MUST(lnd_stamp_write(&stamp, header + 1));
	CHECK(sizeof(raw) == LND_STAMP_BYTES && !memcmp(raw, header + 1, sizeof(raw)));
	memset(&other, 0xff, sizeof(other));
	MUST(lnd_stamp_read(header + 1, &other));
	CHECK(!memcmp(&stamp, &other, sizeof(stamp)));
	FAILS(LND_E_NULL, lnd_stamp_write(NULL, header));
	FAILS(LND_E_NULL, lnd_stamp_write(&stamp, NULL));
	FAILS(LND_E_NULL, lnd_stamp_read(NULL, &other));
	FAILS(LND_E_NULL, lnd_stamp_read(header, NULL));

	start(4, 4, LND_PROFILE_SEED);
	MUST(lnd_health_add_peer(health, 0, 1, &bare));
	FAILS(LND_E_ARGUMENT, lnd_health_peer_incarnation(health, bare, 1));
	FAILS(LND_E_ARGUMENT, lnd_health_peer_incarnation(health, peer, 0));
	FAILS(LND_E_STALE, lnd_health_peer_incarnation(health, no_such_peer(), 1));
	FAILS(LND_E_STALE, lnd_health_arrived(health, no_such_peer(), &stamp, &check));
	FAILS(LND_E_NULL, lnd_health_arrived(health, peer, NULL, &check));
	FAILS(LND_E_NULL, lnd_health_arrived(health, peer, &stamp, NULL));
	FAILS(LND_E_STALE, lnd_health_message_received(health, no_such_peer(), &stamp));
	FAILS(LND_E_NULL, lnd_health_message_not_received(health, peer, NULL));
	CHECK(check == 9);

	/* Before the first handshake nothing is known; without a number there is none. */
	CHECK(arrives(&stamp) == LND_WINDOW_STALE);
	CHECK(arrives(&none) == LND_WINDOW_FIRST && arrives(&none) == LND_WINDOW_FIRST);
	MUST(lnd_health_message_received(health, peer, &none));
	MUST(lnd_health_peer_incarnation(health, peer, stamp.from));
	CHECK(arrives(&stamp) == LND_WINDOW_FIRST && arrives(&stamp) == LND_WINDOW_COMING);
	MUST(lnd_health_message_not_received(health, peer, &stamp));
	CHECK(arrives(&stamp) == LND_WINDOW_FIRST);
	MUST(lnd_health_message_received(health, peer, &stamp));
	MUST(lnd_health_message_not_received(health, peer, &stamp));
	CHECK(arrives(&stamp) == LND_WINDOW_SECOND);
	other = stamp;
	other.number += 1000;
	CHECK(arrives(&other) == LND_WINDOW_FIRST && arrives(&stamp) == LND_WINDOW_OUTSIDE);
	/* What no node sends. */
	other.number = 9;
	CHECK(arrives(&other) == LND_WINDOW_STALE);
	other = stamp;
	other.from = 0;
	CHECK(arrives(&other) == LND_WINDOW_STALE);
	/* For another incarnation of ours, and of another one of the peer. */
	other = stamp;
	other.number += 1001;
	other.to = OWN + 1;
	CHECK(arrives(&other) == LND_WINDOW_STALE);
	other.to = OWN;
	CHECK(arrives(&other) == LND_WINDOW_FIRST);
	MUST(lnd_health_peer_incarnation(health, peer, 77));
	CHECK(arrives(&stamp) == LND_WINDOW_STALE);
	MUST(lnd_health_peer_incarnation(health, peer, stamp.from));
	CHECK(arrives(&stamp) == LND_WINDOW_STALE);
	stop();
	printf("health_names: copies are told from messages\n");
}

/* Doubt stays with a message over all its tries, and is told (S0-18). */
static void doubt(void)
{
	struct lnd_outcome end = { .size = sizeof(end) }, wrong = { .size = 4 };
	struct lnd_path path, second = { .size = sizeof(second) };
	struct lnd_attempts attempts;
	struct lnd_report report;

	start(4, 4, LND_PROFILE_SEED);
	MUST(lnd_health_peer_incarnation(health, peer, 77));
	attempts = begun(60 * SECOND, 1, &path);
	CHECK(path.stamp.number && path.stamp.from == OWN && !path.stamp.to);
	memset(&report, 0, sizeof(report));
	report.size = sizeof(report);
	report.health = LND_HEALTH_NETWORK_TIMEOUT;
	report.delivery = LND_DELIVERY_UNKNOWN;
	report.cause = LND_CAUSE_DEADLINE;
	report.error = -110;
	FAILS(LND_E_SIZE, lnd_health_ended(health, attempts, &report, SECOND, &wrong));
	MUST(lnd_health_ended(health, attempts, &report, SECOND, &end));
	CHECK(end.next == LND_NEXT_AGAIN && end.delivery == LND_DELIVERY_UNKNOWN);
	CHECK(end.tries == 1 && end.cookie == 7 && end.why == LND_WHY_NOT_ENDED);
	CHECK(end.health == LND_HEALTH_NETWORK_TIMEOUT);
	/* From now on it is for that incarnation alone, under the same number. */
	MUST(lnd_health_begin(health, attempts, SECOND, &second));
	CHECK(second.stamp.number == path.stamp.number && second.stamp.to == 77);
	report.health = LND_HEALTH_REMOTE_ERROR;
	report.delivery = LND_NOT_DELIVERED;
	report.cause = LND_CAUSE_REFUSED;
	MUST(lnd_health_ended(health, attempts, &report, SECOND, &end));
	CHECK(end.next == LND_NEXT_ENDED && end.delivery == LND_DELIVERY_UNKNOWN);
	CHECK(end.tries == 2 && end.why == LND_WHY_NOT_RESENDABLE);

	/* Given up while a try is under way: nothing is known of that try. */
	attempts = begun(60 * SECOND, 1, &path);
	FAILS(LND_E_SIZE, lnd_health_give_up(health, attempts, &wrong));
	MUST(lnd_health_give_up(health, attempts, &end));
	CHECK(end.next == LND_NEXT_ENDED && end.delivery == LND_DELIVERY_UNKNOWN && end.tries == 1);
	MUST(lnd_health_open(health, peer, 60 * SECOND, 1, 8, &attempts));
	MUST(lnd_health_give_up(health, attempts, &end));
	CHECK(end.delivery == LND_NOT_DELIVERED && end.tries == 0 && end.cookie == 8);
	stop();
	printf("health_names: what may have arrived stays in doubt\n");
}

/* S3-15: a peer behind a router: routed is 1, and 0 without one. */
static void routes(void)
{
	struct lnd_health_peer behind, router;
	struct lnd_health_ni gateway, far, none = { 0 };
	struct lnd_health_route route, other;
	struct lnd_attempts attempts;
	struct lnd_path path;
	const uint64_t net = 7;

	start(4, 4, LND_PROFILE_SEED);
	attempts = begun(60 * SECOND, 1, &path);
	CHECK(path.routed == 0 && same(path.hop, path.destination));
	MUST(lnd_health_give_up(health, attempts, NULL));
	MUST(lnd_health_remove_peer(health, peer));

	MUST(lnd_health_add_peer(health, 1, 0, &router));
	MUST(lnd_health_add_peer_ni(health, router, 40, &gateway));
	MUST(lnd_health_add_peer(health, 0, 0, &behind));
	MUST(lnd_health_add_peer_ni(health, behind, net << 32 | 9, &far));
	peer = behind;
	memset(&path, 0, sizeof(path));
	path.size = sizeof(path);
	MUST(lnd_health_open(health, behind, 60 * SECOND, 1, 7, &attempts));
	FAILS(LND_E_NO_ROUTE, lnd_health_begin(health, attempts, SECOND, &path));
	FAILS(LND_E_STALE, lnd_health_add_route(health, 7, none, &route));
	FAILS(LND_E_WRONG_KIND, lnd_health_add_route(health, 7, local[0], &route));
	FAILS(LND_E_NULL, lnd_health_add_route(health, 7, gateway, NULL));
	MUST(lnd_health_add_route(health, 7, gateway, &route));
	FAILS(LND_E_RUNNING, lnd_health_remove_peer(health, router));
	MUST(lnd_health_begin(health, attempts, SECOND, &path));
	CHECK(path.routed == 1 && path.hop_nid == 40);
	CHECK(same(path.hop, gateway) && same(path.destination, far));
	MUST(lnd_health_give_up(health, attempts, NULL));

	/* A route that is not alive is none. */
	FAILS(LND_E_ARGUMENT, lnd_health_set_route(health, route, 65536, 1, 0));
	FAILS(LND_E_ARGUMENT, lnd_health_set_route(health, route, 0, 256, 0));
	MUST(lnd_health_set_route(health, route, 3, 2, 0));
	MUST(lnd_health_open(health, behind, 60 * SECOND, 1, 7, &attempts));
	FAILS(LND_E_NO_ROUTE, lnd_health_begin(health, attempts, SECOND, &path));
	MUST(lnd_health_set_route(health, route, 3, 2, 1));
	MUST(lnd_health_begin(health, attempts, SECOND, &path));
	MUST(lnd_health_give_up(health, attempts, NULL));
	MUST(lnd_health_remove_route(health, route));
	MUST(lnd_health_add_route(health, 7, gateway, &other));
	CHECK(other.index == route.index);
	FAILS(LND_E_STALE, lnd_health_remove_route(health, route));
	FAILS(LND_E_STALE, lnd_health_set_route(health, route, 0, 1, 0));
	route = other;
	route.owner++;
	FAILS(LND_E_FOREIGN, lnd_health_remove_route(health, route));
	MUST(lnd_health_remove_route(health, other));
	stop();
	printf("health_names: a path through a router says so\n");
}

int main(void)
{
	names();
	copies();
	doubt();
	routes();
	return 0;
}
