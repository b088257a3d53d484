// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Three hosts whose software engines stop connections one by one (lnd_soft_connection*; INV-3,
 * R13). A node stands still in the midst of a copy: the connection with it is not proven stopped,
 * its memory stays lent, and the other peer of the same link sees nothing of it. The proof is the
 * engine's own: the puller lets go, or is dead.
 */
#include "naive_three.h"

static uint32_t stops, resets, link_resets;

static uint32_t op_connection(void *ctx, uint32_t link, uint64_t nid)
{
	struct host *host = ctx;

	return lnd_soft_connection(host->soft_node, link, lnd_soft_node_of(nid));
}

static void op_connection_stop(void *ctx, uint32_t link, uint64_t nid, uint32_t number)
{
	struct host *host = ctx;

	CHECK(op_connection(ctx, link, nid) == number);
	CHECK(lnd_soft_connection_stop(host->soft_node, link, number) == 1);
	CHECK(lnd_soft_connection_stop(host->soft_node, link, number) == 0);
	stops++;
}

static uint32_t op_connection_quiesced(void *ctx, uint32_t link, uint64_t nid, uint32_t number)
{
	struct host *host = ctx;

	CHECK(op_connection(ctx, link, nid) == number);
	return lnd_soft_connection_quiesced(host->soft_node, link, number);
}

static void op_connection_reset(void *ctx, uint32_t link, uint64_t nid, uint32_t number)
{
	struct host *host = ctx;
	uint32_t rung = lnd_soft_connection_reset(host->soft_node, link, number);

	/* The registers of the link's own reset are its driver's. */
	CHECK(rung == !!number && (number || nid == LND_NID_UNKNOWN));
	CHECK(!number || op_connection(ctx, link, nid) != number);
	CHECK(!number || lnd_soft_connection_quiesced(host->soft_node, link, number) == 1);
	resets += !!number;
	link_resets += !number;
}

static void with_connections(struct host *host, struct lnd_config *config, struct lnd_ops *ops)
{
	(void)host;
	config->connections = 4;
	config->drain_bound = SECOND;
	ops->connection = op_connection;
	ops->connection_stop = op_connection_stop;
	ops->connection_quiesced = op_connection_quiesced;
	ops->connection_reset = op_connection_reset;
}

static uint32_t state_of(uint32_t peer)
{
	uint32_t state;

	MUST(lnd_connection_state_get(a->ni, 0, nid_of(peer), &state));
	return state;
}

static void open_three(void)
{
	stops = resets = link_resets = 0;
	adapt = with_connections;
	by_link = 0;
	open_three_hosts();
	go_on_well(a, c);
}

static void one_stops(int dies)
{
	uint32_t id, at, number;

	open_three();
	id = held_by_b();
	number = op_connection(a, 0, nid_of(1));
	CHECK(lnd_soft_connection_quiesced(a->soft_node, 0, number) == 0);
	MUST(lnd_connection_down(a->ni, 0, nid_of(1), number, now));
	for (at = 0; at < 4; at++) {
		go_on(20 * MS);
		go_on_well(a, c);
		CHECK(state_of(1) == LND_LINK_STOPPING && state_of(2) == LND_LINK_UP && stops == 1);
		CHECK(!messages[id].reports && kept() == 1 && !resets);
	}
	if (dies)
		host_crash(1);
	else
		b->engines_pause = 0;
	go_on(20 * MS);
	CHECK(messages[id].reports == 1 && messages[id].cause == LND_CAUSE_CONNECTION_DOWN &&
	      kept() == 0);
	CHECK(state_of(1) == LND_LINK_UP && resets == 1 && !link_resets);
	CHECK(counter(a, "connections_reset") == 1 && counter(a, "links_failed") == 0);
	go_on_well(a, c);
	if (dies)
		host_start(1);
	b->paused = 0;
	MUST(submit(b, 0, LND_PUT, 100, SECOND, 0));
	go_on(SECOND);
	go_on_well(a, b);
	go_on_well(a, c);
	CHECK(stops == 1 && resets == 1);
	close_all();
	printf("soft_connections: one stops, its node %s\n", dies ? "dies" : "lets go");
}

/* A puller that neither lets go nor dies: the link's stop is asked for, which waits as long. */
static void link_takes_over(void)
{
	uint32_t id, number;

	open_three();
	id = held_by_b();
	number = op_connection(a, 0, nid_of(1));
	MUST(lnd_connection_down(a->ni, 0, nid_of(1), number, now));
	go_on(20 * MS);
	MUST(lnd_link_failed(a->ni, 0));
	go_on(20 * MS);
	CHECK(!messages[id].reports && !link_resets);
	b->paused = b->engines_pause = 0;
	go_on(SECOND);
	CHECK(messages[id].reports == 1 && link_resets == 1 && !resets);
	CHECK(op_connection(a, 0, nid_of(1)) != number && state_of(1) == LND_LINK_UP);
	go_on_well(a, c);
	go_on_well(a, b);
	close_all();
	printf("soft_connections: the link takes over\n");
}

/* What is no connection. */
static void wrong_names(void)
{
	uint32_t number;

	open_three();
	number = lnd_soft_connection(a->soft_node, 0, 1);
	CHECK(number && lnd_soft_connection(a->soft_node, 0, 1) == number);
	CHECK(lnd_soft_connection(a->soft_node, 0, 2) != number);
	CHECK(!lnd_soft_connection(NULL, 0, 1) && !lnd_soft_connection(a->soft_node, LINKS, 1));
	CHECK(!lnd_soft_connection(a->soft_node, 0, 64) &&
	      !lnd_soft_connection(a->soft_node, 0, LND_SOFT_NO_NODE));
	CHECK(!lnd_soft_connection_stop(NULL, 0, number) &&
	      !lnd_soft_connection_stop(a->soft_node, 0, 0));
	CHECK(!lnd_soft_connection_stop(a->soft_node, LINKS, number));
	CHECK(!lnd_soft_connection_stop(a->soft_node, 0, number + 1000));
	CHECK(!lnd_soft_connection_quiesced(NULL, 0, number));
	CHECK(!lnd_soft_connection_quiesced(a->soft_node, 0, 0));
	CHECK(!lnd_soft_connection_quiesced(a->soft_node, 0, number));
	CHECK(lnd_soft_connection_quiesced(a->soft_node, 0, number + 1000) == 1);
	CHECK(!lnd_soft_connection_reset(NULL, 0, number));
	CHECK(!lnd_soft_connection_reset(a->soft_node, 0, number + 1000));
	CHECK(lnd_soft_connection(a->soft_node, 0, 1) == number);
	go_on_well(a, b);
	close_all();
}

int main(void)
{
	wrong_names();
	one_stops(0);
	one_stops(1);
	link_takes_over();
	printf("soft_connections: %u delivered; %u not delivered, %u perhaps\n", delivered, denied,
	       unsure);
	return 0;
}
