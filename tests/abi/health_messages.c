// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Corners of health's ABI that no example comes by: refusals at the call, every cause of a try's
 * end, what may not be removed, numbers out of range. What must hold is what lnd.h says.
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

static void refusals(void)
{
	struct lnd_path path, second = { .size = sizeof(second) };
	struct lnd_attempts attempts, other;
	struct lnd_outcome end = { .size = sizeof(end) };

	start(1, 4, LND_PROFILE_SEED);
	FAILS(LND_E_STALE, lnd_health_open(health, no_such_peer(), LND_NEVER, 1, 7, &attempts));
	/* No route by our interface: that is no fault of it, and another one is tried. */
	attempts = begun(60 * SECOND, 1, &path);
	FAILS(LND_E_NO_SLOTS, lnd_health_open(health, peer, LND_NEVER, 1, 8, &other));
	FAILS(LND_E_NULL, lnd_health_refused(health, attempts, LND_E_NO_ROUTE, SECOND, NULL));
	other = attempts;
	other.ni++;
	FAILS(LND_E_FOREIGN, lnd_health_refused(health, other, LND_E_NO_ROUTE, SECOND, &end));
	other = attempts;
	other.kind++;
	FAILS(LND_E_STALE, lnd_health_refused(health, other, LND_E_NO_ROUTE, SECOND, &end));
	MUST(lnd_health_refused(health, attempts, LND_E_NO_ROUTE, SECOND, &end));
	CHECK(end.next == LND_NEXT_AGAIN && value_of(path.local) == 1000);
	CHECK(value_of(path.destination) == 1000);
	MUST(lnd_health_begin(health, attempts, SECOND, &second));
	CHECK(!same(second.local, path.local));
	/* The caller's own mistake: no interface is blamed, no other path would help. */
	MUST(lnd_health_refused(health, attempts, LND_E_ARGUMENT, SECOND, &end));
	CHECK(end.next == LND_NEXT_ENDED && value_of(second.local) == 1000);
	FAILS(LND_E_STALE, lnd_health_refused(health, attempts, LND_E_ARGUMENT, SECOND, &end));
	FAILS(LND_E_STALE, lnd_health_give_up(health, attempts, NULL));

	/* A peer that is down: its interface is blamed. */
	attempts = begun(60 * SECOND, 1, &path);
	MUST(lnd_health_refused(health, attempts, LND_E_PEER_DOWN, SECOND, &end));
	CHECK(end.next == LND_NEXT_AGAIN && value_of(path.destination) < 1000);

	/* What is on its way holds its peer and its interfaces. */
	MUST(lnd_health_begin(health, attempts, SECOND, &second));
	FAILS(LND_E_RUNNING, lnd_health_remove_peer(health, peer));
	FAILS(LND_E_RUNNING, lnd_health_remove_local(health, second.local));
	FAILS(LND_E_STALE, lnd_health_remove_peer(health, no_such_peer()));
	FAILS(LND_E_WRONG_KIND, lnd_health_remove_local(health, peer_ni[0]));
	MUST(lnd_health_give_up(health, attempts, NULL));
	MUST(lnd_health_remove_local(health, second.local));
	FAILS(LND_E_STALE, lnd_health_remove_local(health, second.local));
	MUST(lnd_health_remove_peer(health, peer));
	FAILS(LND_E_STALE, lnd_health_remove_peer(health, peer));
	stop();
	printf("health_messages: refusals at the call blame whom they name\n");
}

/* S4-19: when every path has failed a moment ago the message pauses, and goes on until its
 * deadline. */
static void pauses(void)
{
	struct lnd_path path = { .size = sizeof(path) };
	struct lnd_attempts attempts, wrong;
	uint64_t now = SECOND, time = 1, tries = 1, pause = 0;
	struct lnd_outcome end = { .size = sizeof(end) };

	start(1, 4, LND_PROFILE_SEED);
	attempts = begun(60 * SECOND, 1, &path);
	MUST(lnd_health_next_try(health, attempts, &time));
	CHECK(time <= now);
	FAILS(LND_E_NULL, lnd_health_next_try(health, attempts, NULL));
	wrong = attempts;
	wrong.generation++;
	FAILS(LND_E_STALE, lnd_health_next_try(health, wrong, &time));
	for (;;) {
		/* Back-pressure: it costs no health, and there is room again soon. */
		MUST(lnd_health_refused(health, attempts, LND_E_NO_SLOTS, now, &end));
		CHECK(value_of(path.local) == 1000 && value_of(path.destination) == 1000);
		CHECK(end.tries == tries && end.delivery == LND_NOT_DELIVERED);
		if (end.next == LND_NEXT_ENDED)
			break;
		if (end.next == LND_NEXT_LATER) {
			MUST(lnd_health_next_try(health, attempts, &time));
			CHECK(time == end.next_try && time > now && time < 60 * SECOND);
			FAILS(LND_E_WAIT, lnd_health_begin(health, attempts, now, &path));
			now = time;
			pause++;
		}
		MUST(lnd_health_begin(health, attempts, now, &path));
		tries++;
	}
	CHECK(end.why == LND_WHY_DEADLINE && !end.next_try);
	CHECK(pause > 10 && tries < 5000 && now > 59 * SECOND);
	FAILS(LND_E_STALE, lnd_health_next_try(health, attempts, &time));
	stop();
	printf("health_messages: tried until the deadline, with pauses\n");
}

/* How one try that ended so goes on, and whether our interface lost health by it. */
static uint32_t ended(uint32_t cause, uint32_t class, uint32_t delivery, uint32_t resend)
{
	struct lnd_report report;
	struct lnd_attempts attempts;
	struct lnd_path path;
	struct lnd_outcome end = { .size = sizeof(end) };

	start(1, 1, LND_PROFILE_SEED);
	attempts = begun(60 * SECOND, resend, &path);
	memset(&report, 0, sizeof(report));
	report.size = sizeof(report);
	report.health = class;
	report.delivery = delivery;
	report.cause = cause;
	report.error = -5;
	MUST(lnd_health_ended(health, attempts, &report, SECOND, &end));
	CHECK(end.next == LND_NEXT_ENDED || end.next == LND_NEXT_AGAIN);
	if (end.next == LND_NEXT_AGAIN)
		MUST(lnd_health_give_up(health, attempts, NULL));
	else
		FAILS(LND_E_STALE, lnd_health_give_up(health, attempts, NULL));
	stop();
	return end.next;
}

static void ends(void)
{
	static const uint32_t final[] = { LND_CAUSE_SHUTDOWN, LND_CAUSE_WITHDRAWN,
					  LND_CAUSE_REFUSED, LND_CAUSE_LOCAL, LND_CAUSE_PROTOCOL };
	static const uint32_t curable[] = { LND_CAUSE_PEER_DOWN, LND_CAUSE_PEER_RESTARTED,
					    LND_CAUSE_LINK_DOWN, LND_CAUSE_DEADLINE,
					    LND_CAUSE_CHANNEL, LND_CAUSE_DEVICE,
					    LND_CAUSE_CONNECTION_DOWN };
	const uint32_t dropped = LND_HEALTH_LOCAL_DROPPED;
	struct lnd_report report;
	struct lnd_attempts attempts;
	struct lnd_path path, none = { .size = sizeof(none) };
	struct lnd_outcome end = { .size = sizeof(end) };
	size_t at;

	/* What another path cures is tried again; what was meant, or would be the same, is not. */
	for (at = 0; at < sizeof(curable) / sizeof(*curable); at++) {
		CHECK(ended(curable[at], dropped, LND_NOT_DELIVERED, 1) == LND_NEXT_AGAIN);
		CHECK(ended(curable[at], dropped, LND_NOT_DELIVERED, 0) == LND_NEXT_ENDED);
	}
	for (at = 0; at < sizeof(final) / sizeof(*final); at++)
		CHECK(ended(final[at], dropped, LND_NOT_DELIVERED, 1) == LND_NEXT_ENDED);
	/* The peer recognises second copies: what may have arrived may be sent again. */
	CHECK(ended(LND_CAUSE_DEVICE, LND_HEALTH_NETWORK_TIMEOUT, LND_DELIVERY_UNKNOWN, 1) ==
	      LND_NEXT_AGAIN);
	CHECK(ended(LND_CAUSE_NONE, LND_HEALTH_OK, LND_DELIVERED, 1) == LND_NEXT_ENDED);

	start(1, 1, LND_PROFILE_LNET);
	attempts = begun(2 * SECOND, 1, &path);
	memset(&report, 0, sizeof(report));
	report.size = sizeof(report);
	report.health = dropped;
	report.cause = LND_CAUSE_DEVICE;
	/* Numbers that no report has. */
	report.delivery = 5;
	FAILS(LND_E_ARGUMENT, lnd_health_ended(health, attempts, &report, SECOND, &end));
	report.delivery = LND_NOT_DELIVERED;
	report.health = 11;
	FAILS(LND_E_ARGUMENT, lnd_health_ended(health, attempts, &report, SECOND, &end));
	report.health = dropped;
	FAILS(LND_E_NULL, lnd_health_ended(health, attempts, NULL, SECOND, &end));
	MUST(lnd_health_ended(health, attempts, &report, SECOND, &end));
	CHECK(end.next == LND_NEXT_AGAIN);
	/* No try begins after the deadline, nor on no interface. */
	FAILS(LND_E_DEADLINE, lnd_health_begin(health, attempts, 2 * SECOND, &none));
	MUST(lnd_health_remove_local(health, local[0]));
	MUST(lnd_health_remove_local(health, local[1]));
	FAILS(LND_E_NO_ROUTE, lnd_health_begin(health, attempts, SECOND, &none));
	MUST(lnd_health_give_up(health, attempts, NULL));
	stop();
	printf("health_messages: ends are final or not, as their cause has it\n");
}

static void tables(void)
{
	struct lnd_health_config config, bad;
	struct lnd_health_info info = { .size = sizeof(info) };
	unsigned char raw[64] __attribute__((aligned(64))) = { 0 };
	struct lnd_health_ni name, zero = { 0 };

	start(1, 1, LND_PROFILE_SEED);
	FAILS(LND_E_ALIGN, lnd_health_shutdown((void *)((char *)health + 1), NULL));
	FAILS(LND_E_NULL, lnd_health_shutdown(NULL, NULL));
	FAILS(LND_E_NI, lnd_health_shutdown((void *)raw, NULL));
	FAILS(LND_E_STALE, lnd_health_get(health, zero, &info));
	FAILS(LND_E_STALE, lnd_health_get(health, no_such_ni(), &info));
	FAILS(LND_E_STALE, lnd_health_set(health, no_such_ni(), 0, SECOND));
	name = local[0];
	name.kind = 3;
	FAILS(LND_E_STALE, lnd_health_get(health, name, &info));
	name = local[0];
	name.owner++;
	FAILS(LND_E_FOREIGN, lnd_health_get(health, name, &info));
	name = local[0];
	name.index = 32;
	FAILS(LND_E_STALE, lnd_health_get(health, name, &info));
	FAILS(LND_E_KNOWN, lnd_health_add_local(health, 10, &name));
	FAILS(LND_E_KNOWN, lnd_health_add_peer_ni(health, peer, 20, &name));
	FAILS(LND_E_ARGUMENT, lnd_health_add_peer_ni(health, peer, 0, &name));
	stop();

	MUST(lnd_health_config_init(&config, LND_ABI_VERSION, 2, 2, 4));
	config.incarnation = OWN;
#define SPOIL(field, value)                                \
	do {                                               \
		bad = config;                              \
		bad.field = (value);                       \
		CHECK(lnd_health_size(&bad) == 0);         \
	} while (0)
	SPOIL(abi_version, LND_ABI_VERSION + 1);
	SPOIL(profile, 2);
	SPOIL(locals, 0);
	SPOIL(locals, 33);
	SPOIL(locals, 256 + 2);
	SPOIL(peer_nis, 1);
	SPOIL(sensitivity, 1001);
	SPOIL(sensitivity, 65536);
	SPOIL(retries, 256);
	SPOIL(resend_first, 0);
	SPOIL(resend_cap, 0);
	SPOIL(probe_results, 256);
	SPOIL(action_every, 999);
	SPOIL(routes, 4097);
	SPOIL(routes, 65536);
	SPOIL(numa_range, 65536);
	SPOIL(connects_at_once, 0);
	SPOIL(connects_at_once, 65536);
	CHECK(lnd_health_size(&config) > 0);
	printf("health_messages: what is unknown or out of range is refused\n");
}

int main(void)
{
	refusals();
	pauses();
	ends();
	tables();
	return 0;
}
