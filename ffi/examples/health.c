// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Two interfaces on each side: a message fails over one path and is resent over another; the failed
 * interface loses health, is pinged and recovers; an idle peer is probed and found dead.
 */
#include "world.h"

#include <string.h>

#define SECOND (1000 * MS)

static struct lnd_health *health;
static struct lnd_health_peer peer;
static struct lnd_health_ni local[2], peer_ni[2];

static int same(struct lnd_health_ni a, struct lnd_health_ni b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static uint32_t value_of(struct lnd_health_ni ni)
{
	struct lnd_health_info info = { .size = sizeof(info) };

	MUST(lnd_health_get(health, ni, &info));
	return info.value;
}

/* The end of a try, as finalize() would report it. */
static struct lnd_report report_of(uint32_t class, uint32_t delivery, int error)
{
	struct lnd_report report;

	memset(&report, 0, sizeof(report));
	report.size = sizeof(report);
	report.health = class;
	report.delivery = delivery;
	report.error = error;
	report.cause = error ? LND_CAUSE_DEVICE : LND_CAUSE_NONE;
	return report;
}

static void resend(void)
{
	struct lnd_report lost = report_of(LND_HEALTH_LOCAL_DROPPED, LND_NOT_DELIVERED, -100);
	struct lnd_report good = report_of(LND_HEALTH_OK, LND_DELIVERED, 0);
	struct lnd_path first = { .size = sizeof(first) }, second = { .size = sizeof(second) };
	struct lnd_attempts attempts, stale;
	struct lnd_outcome end = { .size = sizeof(end) };

	MUST(lnd_health_open(health, peer, 60 * SECOND, 1, 42, &attempts));
	stale = attempts;
	MUST(lnd_health_begin(health, attempts, SECOND, &first));
	FAILS(LND_E_RUNNING, lnd_health_begin(health, attempts, SECOND, &second));
	CHECK(first.hop_nid && first.slice > SECOND);
	MUST(lnd_health_ended(health, attempts, &lost, SECOND, &end));
	CHECK(end.next == LND_NEXT_AGAIN);
	CHECK(value_of(first.local) < 1000);

	MUST(lnd_health_begin(health, attempts, SECOND, &second));
	CHECK(!same(second.local, first.local));
	MUST(lnd_health_ended(health, attempts, &good, SECOND, &end));
	CHECK(end.next == LND_NEXT_ENDED);
	FAILS(LND_E_STALE, lnd_health_begin(health, stale, SECOND, &second));
	FAILS(LND_E_STALE, lnd_health_give_up(health, stale, NULL));
	stale.ni++;
	FAILS(LND_E_FOREIGN, lnd_health_give_up(health, stale, NULL));
	printf("health: resent from interface %u after %u had failed\n", second.local.index,
	       first.local.index);
}

static void recover(void)
{
	struct lnd_action action = { .size = sizeof(action) }, wrong;
	struct lnd_health_ni sick = value_of(local[0]) < 1000 ? local[0] : local[1];
	uint32_t was = value_of(sick), finding;
	uint64_t next;

	MUST(lnd_health_next_time(health, &next));
	CHECK(next != LND_NEVER);
	MUST(lnd_health_next_action(health, next, &action));
	CHECK(action.kind == LND_ACTION_PING && action.target.kind == LND_OBJECT_LOCAL);
	CHECK(same(action.target, sick));
	wrong = action;
	wrong.generation++;
	FAILS(LND_E_STALE, lnd_health_answered(health, &wrong, LND_HEALTH_OK, next));
	FAILS(LND_E_WRONG_KIND, lnd_prober_ended(health, &action, 0, next, &finding));
	FAILS(LND_E_ARGUMENT, lnd_health_answered(health, &action, 99, next));
	MUST(lnd_health_answered(health, &action, LND_HEALTH_OK, next));
	FAILS(LND_E_STALE, lnd_health_answered(health, &action, LND_HEALTH_OK, next));
	CHECK(value_of(sick) > was);
	MUST(lnd_health_set(health, sick, 1000, next));
	CHECK(value_of(sick) == 1000);
	FAILS(LND_E_ARGUMENT, lnd_health_set(health, sick, 1001, next));
	printf("health: a ping was answered, the interface has recovered\n");
}

static void probe(void)
{
	struct lnd_action action = { .size = sizeof(action) };
	uint32_t finding = LND_FINDING_NOTHING, probes = 0;
	uint64_t now = 100 * SECOND;

	MUST(lnd_prober_offer(health, 1u << LND_PROBE_ZERO_READ));
	FAILS(LND_E_ARGUMENT, lnd_prober_offer(health, 16));
	MUST(lnd_prober_watch(health, peer_ni[1], 0, now));
	FAILS(LND_E_WRONG_KIND, lnd_prober_watch(health, local[0], 0, now));
	MUST(lnd_prober_state(health, peer_ni[1], 0, 0, 1));
	while (finding != LND_FINDING_DOWN) {
		enum lnd_error error = lnd_health_next_action(health, now, &action);

		if (error == LND_E_END) {
			MUST(lnd_health_next_time(health, &now));
			CHECK(now != LND_NEVER && now < 1000 * SECOND);
			continue;
		}
		MUST(error);
		if (action.kind != LND_ACTION_PROBE) {
			MUST(lnd_health_answered(health, &action, LND_HEALTH_OK, now));
			continue;
		}
		CHECK(same(action.target, peer_ni[1]) && action.probe == LND_PROBE_ZERO_READ);
		MUST(lnd_prober_ended(health, &action, LND_PROBE_RETRY_EXCEEDED, now, &finding));
		CHECK(++probes < 100);
	}
	printf("health: down after %u probes\n", probes);
}

int main(void)
{
	struct lnd_health_config config, bad;
	struct lnd_health_peer other;
	struct lnd_health_ni name;
	uint32_t at, left = 1;
	size_t len;
	void *block;

	FAILS(LND_E_VERSION, lnd_health_config_init(&config, 0, 2, 4, 8));
	MUST(lnd_health_config_init(&config, LND_ABI_VERSION, 2, 4, 8));
	len = lnd_health_size(&config);
	CHECK(len > 0 && !lnd_health_size(NULL));
	block = memory(len);
	memset(block, 0, len);
	FAILS(LND_E_CONFIG, lnd_health_create(block, len, &config, 0, &health));
	config.incarnation = 1;
	CHECK(lnd_health_size(&config) == len);
	bad = config;
	bad.attempts = 0;
	FAILS(LND_E_CONFIG, lnd_health_create(block, len, &bad, 0, &health));
	FAILS(LND_E_MEMORY, lnd_health_create(block, len - 1, &config, 0, &health));
	FAILS(LND_E_ALIGN, lnd_health_create((char *)block + 8, len, &config, 0, &health));
	FAILS(LND_E_NULL, lnd_health_create(NULL, len, &config, 0, &health));
	MUST(lnd_health_create(block, len, &config, SECOND, &health));

	MUST(lnd_health_add_peer(health, 0, 1, &peer));
	for (at = 0; at < 2; at++) {
		MUST(lnd_health_add_local(health, 10 + at, &local[at]));
		MUST(lnd_health_add_peer_ni(health, peer, 20 + at, &peer_ni[at]));
	}
	FAILS(LND_E_KNOWN, lnd_health_add_local(health, 10, &name));
	FAILS(LND_E_PEERS_FULL, lnd_health_add_local(health, 12, &name));
	FAILS(LND_E_ARGUMENT, lnd_health_add_local(health, 0, &name));
	other = peer;
	other.generation++;
	FAILS(LND_E_STALE, lnd_health_add_peer_ni(health, other, 30, &name));
	other = peer;
	other.owner++;
	FAILS(LND_E_FOREIGN, lnd_health_add_peer_ni(health, other, 30, &name));
	MUST(lnd_health_received(health, peer_ni[0], local[0], SECOND));
	resend();
	recover();
	probe();
	MUST(lnd_health_fatal(health, local[0], 1, SECOND));
	MUST(lnd_health_shutdown(health, &left));
	CHECK(left == 0);
	MUST(lnd_health_remove_peer(health, peer));
	MUST(lnd_health_remove_local(health, local[1]));
	MUST(lnd_health_destroy(health));
	FAILS(LND_E_NI, lnd_health_destroy(health));
	FAILS(LND_E_NI, lnd_health_shutdown(health, NULL));
	free(block);
	return 0;
}
