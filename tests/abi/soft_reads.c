// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The prober of lnd.h over the remote reads of lnd_soft.h (S2-4 to S2-11, R56): its actions begin
 * reads, and their ends are its evidence. A peer that stands still is up, since its device answers.
 * A peer that has crashed is found down, and one behind a pulled cable is, too.
 */
#include "naive_three.h"

#define WATCHED 1u	/* the node that is probed */
#define WORD_KEY 7u

static struct lnd_health *health;
static void *block;
static struct lnd_health_peer watched;
static struct lnd_health_ni own_ni, watched_ni;

static void prober_open(uint32_t kinds)
{
	struct lnd_health_config config;
	size_t len;

	MUST(lnd_health_config_init(&config, LND_ABI_VERSION, 1, 1, 1));
	config.incarnation = a->incarnation;
	len = lnd_health_size(&config);
	CHECK(len > 0);
	block = memory(len);
	memset(block, 0, len);
	MUST(lnd_health_create(block, len, &config, now, &health));
	MUST(lnd_health_add_local(health, nid_of(0), &own_ni));
	MUST(lnd_health_add_peer(health, 0, 1, &watched));
	MUST(lnd_health_add_peer_ni(health, watched, nid_of(WATCHED), &watched_ni));
	MUST(lnd_health_peer_incarnation(health, watched, hosts[WATCHED].incarnation));
	MUST(lnd_prober_offer(health, kinds));
	MUST(lnd_prober_watch(health, watched_ni, 0, now));
	MUST(lnd_prober_state(health, watched_ni, 0, 1, 0));
	MUST(lnd_prober_user(health, watched_ni, 1, NULL));
}

static void prober_close(void)
{
	uint32_t left = 1;

	MUST(lnd_health_shutdown(health, &left));
	CHECK(left == 0);
	MUST(lnd_health_destroy(health));
	free(block);
}

/* Waits for the end of the read on link 0, and for the word that it may have read. */
static uint32_t read_end(uint32_t *word)
{
	uint32_t end = 99, steps = 0;

	while (lnd_soft_read_ended(a->soft_node, 0, &end, word) == LND_E_WAIT) {
		CHECK(steps++ < 3000);
		go_on(MS);
	}
	return end;
}

/* One probe, from the prober's action to its finding. */
static uint32_t probe(uint32_t kind, uint32_t must_end)
{
	struct lnd_action action = { .size = sizeof(action) };
	uint32_t end = 99, word = 99, finding = 99;
	uint64_t due, ring = 0;

	MUST(lnd_health_next_time(health, &due));
	CHECK(due != LND_NEVER);
	if (due > now)
		go_on(due - now);
	MUST(lnd_health_next_action(health, now, &action));
	CHECK(action.kind == LND_ACTION_PROBE && action.probe == kind);
	MUST(lnd_soft_read_begin(a->soft_node, 0, lnd_soft_node_of(action.nid), action.probe,
				 kind == LND_PROBE_PUBLISHED_WORD ? WORD_KEY : 0, &ring));
	CHECK(ring == 1);
	FAILS(LND_E_WAIT, lnd_soft_read_begin(a->soft_node, 0, 2, LND_PROBE_ZERO_READ, 0, NULL));
	FAILS(LND_E_WAIT, lnd_soft_read_ended(a->soft_node, 0, &end, &word));
	end = read_end(&word);
	CHECK(end == must_end);
	CHECK(word == (end == LND_PROBE_SUCCESS && kind == LND_PROBE_PUBLISHED_WORD ? 4711u : 0));
	FAILS(LND_E_END, lnd_soft_read_ended(a->soft_node, 0, &end, NULL));
	MUST(lnd_prober_ended(health, &action, must_end, now, &finding));
	return finding;
}

/* Probes until the prober is sure. Returns how many probes that took. */
static uint32_t probes_until_down(uint32_t kind)
{
	uint32_t probes = 1;

	while (probe(kind, LND_PROBE_RETRY_EXCEEDED) != LND_FINDING_DOWN)
		CHECK(probes++ < 100);
	return probes;
}

static void found_up(void)
{
	open_three_hosts();
	MUST(lnd_soft_publish(b->soft_node, 0, WORD_KEY, 4711));
	prober_open(1u << LND_PROBE_ZERO_READ);
	CHECK(probe(LND_PROBE_ZERO_READ, LND_PROBE_SUCCESS) == LND_FINDING_ALIVE);
	/* Its host stands still; its device does not. */
	b->paused = 1;
	CHECK(probe(LND_PROBE_ZERO_READ, LND_PROBE_SUCCESS) == LND_FINDING_ALIVE);
	b->paused = 0;
	prober_close();

	prober_open(1u << LND_PROBE_PUBLISHED_WORD);
	CHECK(probe(LND_PROBE_PUBLISHED_WORD, LND_PROBE_SUCCESS) == LND_FINDING_ALIVE);
	/* Withdrawn: access is refused, by a peer that is up. */
	MUST(lnd_soft_publish(b->soft_node, 0, 0, 0));
	CHECK(probe(LND_PROBE_PUBLISHED_WORD, LND_PROBE_ACCESS_ERROR) == LND_FINDING_ALIVE);
	prober_close();

	prober_open(1u << LND_PROBE_ILLEGAL_READ);
	MUST(lnd_prober_tried(health));
	CHECK(probe(LND_PROBE_ILLEGAL_READ, LND_PROBE_ACCESS_ERROR) == LND_FINDING_ALIVE);
	prober_close();
	/* Reads have touched no message. */
	go_on_well(a, b);
	go_on_well(a, c);
	close_all();
	printf("soft_reads: a peer that is up is found up, by each kind of read\n");
}

static void found_down(int crashes)
{
	uint32_t probes;

	open_three_hosts();
	prober_open(1u << LND_PROBE_ZERO_READ);
	if (crashes)
		host_crash(WATCHED);
	else
		link_set(WATCHED, 0, 0);
	probes = probes_until_down(LND_PROBE_ZERO_READ);
	/* One lost answer is no proof. */
	CHECK(probes > 1);
	prober_close();
	go_on_well(a, c);
	if (crashes)
		host_start(WATCHED);
	else
		link_set(WATCHED, 0, 1);
	close_all();
	printf("soft_reads: a peer %s is down after %u probes\n",
	       crashes ? "that has crashed" : "without a cable", probes);
}

static void refused(void)
{
	struct lnd_soft_node *node;
	uint32_t end = 99, steps = 0;

	open_three_hosts();
	node = a->soft_node;
	FAILS(LND_E_UNSUPPORTED, lnd_soft_read_begin(node, 0, 1, LND_PROBE_NOOP, 0, NULL));
	FAILS(LND_E_ARGUMENT, lnd_soft_read_begin(node, 0, 1, 4, 0, NULL));
	FAILS(LND_E_ARGUMENT, lnd_soft_read_begin(node, 0, 1, LND_PROBE_PUBLISHED_WORD, 0, NULL));
	FAILS(LND_E_ARGUMENT, lnd_soft_read_begin(node, 0, 1, LND_PROBE_ZERO_READ, 1, NULL));
	FAILS(LND_E_ARGUMENT, lnd_soft_read_begin(node, 0, NODES, LND_PROBE_ZERO_READ, 0, NULL));
	FAILS(LND_E_LINK, lnd_soft_read_begin(node, LINKS, 1, LND_PROBE_ZERO_READ, 0, NULL));
	FAILS(LND_E_NULL, lnd_soft_read_begin(NULL, 0, 1, LND_PROBE_ZERO_READ, 0, NULL));
	FAILS(LND_E_NULL, lnd_soft_read_ended(node, 0, NULL, NULL));
	FAILS(LND_E_LINK, lnd_soft_publish(node, LINKS, 1, 1));
	FAILS(LND_E_END, lnd_soft_read_ended(node, 0, &end, NULL));

	/* A read that the caller gives up still occupies the link until the engine has answered. */
	host_crash(1);
	MUST(lnd_soft_read_begin(node, 0, 1, LND_PROBE_ZERO_READ, 0, NULL));
	go_on(100 * MS);
	FAILS(LND_E_WAIT, lnd_soft_read_ended(node, 0, &end, NULL));
	MUST(lnd_soft_read_give_up(node, 0));
	FAILS(LND_E_END, lnd_soft_read_ended(node, 0, &end, NULL));
	FAILS(LND_E_WAIT, lnd_soft_read_begin(node, 0, 2, LND_PROBE_ZERO_READ, 0, NULL));
	while (lnd_soft_read_begin(node, 0, 2, LND_PROBE_ZERO_READ, 0, NULL) == LND_E_WAIT) {
		CHECK(steps++ < 3000);
		go_on(MS);
	}
	CHECK(read_end(NULL) == LND_PROBE_SUCCESS);

	/* Our own link fails: its engine is stopped, and the read proves nothing (S2-13). */
	MUST(lnd_soft_read_begin(node, 0, 1, LND_PROBE_ZERO_READ, 0, NULL));
	link_set(0, 0, 0);
	CHECK(read_end(NULL) == LND_PROBE_OTHER);
	host_start(1);
	close_all();
	printf("soft_reads: what is no read is refused, and a read is given up\n");
}

int main(void)
{
	found_up();
	found_down(1);
	found_down(0);
	refused();
	return 0;
}
