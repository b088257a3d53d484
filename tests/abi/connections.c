// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Connections as stop domains (S0-10, INV-3, R13): three hosts of naive_host.h, whose engines have
 * a connection for each peer. One of them fails: what it was moving stays lent until it is proven
 * stopped, and the other peer of the same link is sent messages and long transfers meanwhile.
 * naive_book.h holds each message to its promises. The proof is that the other node is dead, after
 * which no engine of it moves anything.
 */
#include "naive_three.h"


/* A host's end of a connection. */
struct end {
	uint32_t number, asked, proven;
};

static struct end ends[NODES][NODES][LINKS];
static uint32_t numbers;	/* given so far */
static uint32_t places;	/* lnd_config.connections */
static uint32_t pushed;	/* proofs are told by lnd_connection_stopped() alone */
static uint32_t stops, resets, link_resets, link_quiesces, up_events, down_events;
static uint32_t closed;	/* node 0's channel to node 1 takes nothing */

static struct end *end_of(void *ctx, uint32_t link, uint64_t nid)
{
	struct host *host = ctx;
	struct end *end;

	CHECK(link < LINKS && lnd_soft_node_of(nid) < NODES);
	end = &ends[host->number][lnd_soft_node_of(nid)][link];
	if (!end->number)
		end->number = ++numbers;
	return end;
}

/* No thread's call may come from inside. */
static void try_calls(struct host *host)
{
	uint32_t state;

	errs = 1;
	FAILS(LND_E_REENTRY, lnd_connection_up(host->ni, 0, nid_of(1), now));
	FAILS(LND_E_REENTRY, lnd_connection_down(host->ni, 0, nid_of(1), 1, now));
	FAILS(LND_E_REENTRY, lnd_connection_stopped(host->ni, 0, nid_of(1), 1, now));
	FAILS(LND_E_REENTRY, lnd_connection_state_get(host->ni, 0, nid_of(1), &state));
	errs = 0;
}

static uint32_t op_connection(void *ctx, uint32_t link, uint64_t nid)
{
	return end_of(ctx, link, nid)->number;
}

static void op_connection_stop(void *ctx, uint32_t link, uint64_t nid, uint32_t number)
{
	struct end *end = end_of(ctx, link, nid);

	try_calls(ctx);
	CHECK(end->number == number && !end->asked);
	end->asked = 1;
	stops++;
}

static uint32_t op_connection_quiesced(void *ctx, uint32_t link, uint64_t nid, uint32_t number)
{
	struct end *end = end_of(ctx, link, nid);

	try_calls(ctx);
	CHECK(end->number == number && end->asked);
	return end->proven;
}

static void op_connection_reset(void *ctx, uint32_t link, uint64_t nid, uint32_t number)
{
	struct host *host = ctx;
	uint32_t peer, known = 0;

	try_calls(ctx);
	link_resets += !number;
	resets += !!number;
	for (peer = 0; peer < NODES; peer++) {
		struct end *end = &ends[host->number][peer][link];

		if (number ? nid == nid_of(peer) && end->number == number : end->asked) {
			CHECK(!number || end->proven);
			*end = (struct end){ .number = ++numbers };
			known = 1;
		}
	}
	CHECK(known || !number);
	CHECK(number || nid == LND_NID_UNKNOWN);
}

static uint32_t ready(void *ctx, uint32_t link, uint64_t nid, uint32_t lane)
{
	return ctx == a && nid == nid_of(1) && closed ? 0 : op_ready(ctx, link, nid, lane);
}

static void quiesce(void *ctx, uint32_t link)
{
	link_quiesces++;
	op_quiesce(ctx, link);
}

static void event(void *ctx, const struct lnd_event *event)
{
	if (event->kind == LND_EVENT_CONNECTION) {
		CHECK(ctx != a || (event->nid == nid_of(1) && event->link == 0));
		up_events += event->state == LND_LINK_UP;
		down_events += event->state == LND_LINK_STALLED;
	}
	op_event(ctx, event);
}

static void with_connections(struct host *host, struct lnd_config *config, struct lnd_ops *ops)
{
	(void)host;
	config->connections = places;
	config->drain_bound = SECOND;
	ops->connection = op_connection;
	ops->connection_stop = op_connection_stop;
	ops->connection_quiesced = pushed ? NULL : op_connection_quiesced;
	ops->connection_reset = op_connection_reset;
	ops->ready = ready;
	ops->quiesce = quiesce;
	ops->event = event;
}

static uint32_t state_of(uint32_t link, uint32_t peer)
{
	uint32_t state;

	MUST(lnd_connection_state_get(a->ni, link, nid_of(peer), &state));
	return state;
}

/* Node 0 and node 2 send each other messages of each kind by link 0, and all of them end well. */
static void others_go_on(void)
{
	go_on_well(a, c);
	CHECK(a->peer_state[2] == LND_PEER_GOOD && c->peer_state[0] == LND_PEER_GOOD);
}

static void open_three(void)
{
	memset(ends, 0, sizeof(ends));
	stops = resets = link_resets = link_quiesces = up_events = down_events = closed = 0;
	adapt = with_connections;
	by_link = 0;
	open_three_hosts();
	others_go_on();
}

/* The node that stood still dies: that is the proof. */
static void prove(void)
{
	struct end *end = &ends[0][1][0];

	host_crash(1);
	go_on(MS); /* our own engine lets go of it */
	end->proven = 1;
	if (pushed) {
		FAILS(LND_E_STALE,
		      lnd_connection_stopped(a->ni, 0, nid_of(1), end->number + 1, now));
		FAILS(LND_E_RUNNING, lnd_connection_stopped(a->ni, 0, nid_of(2),
							    op_connection(a, 0, nid_of(2)), now));
		MUST(lnd_connection_stopped(a->ni, 0, nid_of(1), end->number, now));
		FAILS(LND_E_RUNNING, lnd_connection_stopped(a->ni, 0, nid_of(1), end->number, now));
	}
}

/* A connection is stopped; @how: the transport reports it, or the drain bound does. */
static void one_stops(int reported)
{
	uint32_t id, number, at, state;

	open_three();
	id = held_by_b();
	number = op_connection(a, 0, nid_of(1));
	if (reported) {
		FAILS(LND_E_STALE, lnd_connection_down(a->ni, 0, nid_of(1), number + 1, now));
		FAILS(LND_E_RUNNING, lnd_connection_stopped(a->ni, 0, nid_of(1), number, now));
		go_on(20 * MS);
		CHECK(state_of(0, 1) == LND_LINK_UP);
		MUST(lnd_connection_down(a->ni, 0, nid_of(1), number, now));
		MUST(lnd_connection_down(a->ni, 0, nid_of(1), number, now));
	} else {
		struct lnd_blocker blocker = { .size = sizeof(blocker) };
		uint32_t cursor = 0;

		do
			MUST(lnd_blocker_next(a->ni, &cursor, &blocker));
		while (blocker.kind != LND_BLOCKER_TRANSFER || blocker.nid != nid_of(1));
		MUST(lnd_withdraw(a->ni, blocker.transfer, now));
		go_on(1100 * MS); /* the drain bound */
	}
	go_on(20 * MS);

	/* It is not proven stopped, and its memory not given back; the other peer sees nothing of
	 * it. */
	for (at = 0; at < 4; at++) {
		others_go_on();
		CHECK(state_of(0, 1) == LND_LINK_STOPPING && state_of(0, 2) == LND_LINK_UP);
		CHECK(state_of(1, 1) == LND_LINK_UP && stops == 1 && !resets);
		CHECK(!messages[id].reports && kept() == 1);
		go_on(200 * MS);
	}
	MUST(lnd_link_state_get(a->ni, 0, &state));
	CHECK(state == LND_LINK_UP);

	prove();
	go_on(20 * MS);
	CHECK(messages[id].reports == 1 && messages[id].error && kept() == 0);
	CHECK(messages[id].cause == (reported ? LND_CAUSE_CONNECTION_DOWN : LND_CAUSE_WITHDRAWN));
	CHECK(state_of(0, 1) == LND_LINK_UP && resets == 1 && !link_resets && !link_quiesces);
	CHECK(up_events == 1 && down_events == 1);
	CHECK(counter(a, "connections_failed") == 1 && counter(a, "connections_reset") == 1);
	CHECK(counter(a, "links_failed") == 0);
	/* News of the connection that was reset are no news of the one that has taken its place. */
	CHECK(op_connection(a, 0, nid_of(1)) != number);
	FAILS(LND_E_STALE, lnd_connection_down(a->ni, 0, nid_of(1), number, now));
	FAILS(LND_E_STALE, lnd_connection_stopped(a->ni, 0, nid_of(1), number, now));
	others_go_on();
	CHECK(state_of(0, 1) == LND_LINK_UP && stops == 1);

	host_start(1);
	MUST(submit(b, 0, LND_PUT, 100, SECOND, 0));
	go_on(SECOND);
	at = message_count;
	MUST(submit(a, 1, LND_PUT, LONG - 1, SECOND, 0));
	go_on(SECOND);
	CHECK(!messages[at].error && messages[at].came);
	close_all();
	printf("connections: one stops, %s, proven by %s\n",
	       reported ? "reported" : "by the drain bound", pushed ? "a call" : "an operation");
}

/* The link fails while a connection is being stopped: its stop is that of the connection. */
static void link_takes_over(void)
{
	uint32_t id, state;

	open_three();
	id = held_by_b();
	MUST(lnd_connection_down(a->ni, 0, nid_of(1), op_connection(a, 0, nid_of(1)), now));
	go_on(20 * MS);
	CHECK(state_of(0, 1) == LND_LINK_STOPPING && stops == 1);
	MUST(lnd_link_failed(a->ni, 0));
	go_on(20 * MS);
	CHECK(state_of(0, 1) == LND_LINK_UP && !resets && !messages[id].reports);
	MUST(lnd_link_state_get(a->ni, 0, &state));
	CHECK(state == LND_LINK_STOPPING);
	/* The device of the other node goes on, and lets go. */
	b->paused = b->engines_pause = 0;
	go_on(SECOND);
	CHECK(messages[id].reports == 1 && !resets && link_resets == 1 && link_quiesces == 1);
	CHECK(!ends[0][1][0].asked && stops == 1);
	MUST(lnd_link_state_get(a->ni, 0, &state));
	CHECK(state == LND_LINK_UP);
	others_go_on();
	close_all();
	printf("connections: the link takes over\n");
}

/*
 * A connection fails while its link is out of service. Until the link's reset, that makes the
 * connection anew; later it is the host's, and the call says so.
 */
static void link_is_down(void)
{
	uint32_t state;

	open_three();
	link_set(0, 0, 0);
	MUST(lnd_link_failed(a->ni, 0));
	MUST(lnd_run(a->ni, now, 64, &a->next));
	MUST(lnd_link_state_get(a->ni, 0, &state));
	CHECK(state != LND_LINK_UP && state != LND_LINK_DOWN);
	MUST(lnd_connection_down(a->ni, 0, nid_of(1), op_connection(a, 0, nid_of(1)), now));
	go_on(SECOND);
	MUST(lnd_link_state_get(a->ni, 0, &state));
	CHECK(state == LND_LINK_DOWN && link_resets == 1);
	FAILS(LND_E_LINK_DOWN, lnd_connection_down(a->ni, 0, nid_of(1),
						   op_connection(a, 0, nid_of(1)), now));
	go_on(SECOND);
	CHECK(!stops && !resets && link_resets == 1 && state_of(0, 1) == LND_LINK_UP);
	link_set(0, 0, 1);
	go_on(SECOND);
	MUST(lnd_link_state_get(a->ni, 0, &state));
	CHECK(state == LND_LINK_UP);
	others_go_on();
	MUST(lnd_connection_down(a->ni, 0, nid_of(1), op_connection(a, 0, nid_of(1)), now));
	ends[0][1][0].proven = 1;
	go_on(SECOND);
	CHECK(stops == 1 && resets == 1);
	close_all();
	printf("connections: one fails while the link is down\n");
}

/* What waits for room goes out as soon as the connection is up. */
static void comes_up(void)
{
	uint32_t id;

	open_three();
	closed = 1;
	id = message_count;
	MUST(submit(a, 1, LND_PUT, 100, SECOND, 0));
	go_on(20 * MS);
	MUST(lnd_run(a->ni, now, 64, &a->next));
	CHECK(a->next > now && !messages[id].receiver && !a->woken);
	closed = 0;
	MUST(lnd_connection_up(a->ni, 0, nid_of(1), now));
	CHECK(a->woken);
	MUST(lnd_run(a->ni, now, 64, &a->next));
	CHECK(messages[id].receiver);
	go_on(20 * MS);
	CHECK(messages[id].reports == 1 && !messages[id].error);
	close_all();
	printf("connections: one comes up\n");
}

/* What is no connection. */
static void wrong_names(void)
{
	uint32_t number, state;

	open_three();
	number = op_connection(a, 0, nid_of(1));
	FAILS(LND_E_NULL, lnd_connection_up(NULL, 0, nid_of(1), now));
	FAILS(LND_E_NULL, lnd_connection_down(NULL, 0, nid_of(1), number, now));
	FAILS(LND_E_NULL, lnd_connection_stopped(NULL, 0, nid_of(1), number, now));
	FAILS(LND_E_NULL, lnd_connection_state_get(NULL, 0, nid_of(1), &state));
	FAILS(LND_E_NULL, lnd_connection_state_get(a->ni, 0, nid_of(1), NULL));
	FAILS(LND_E_LINK, lnd_connection_up(a->ni, LINKS, nid_of(1), now));
	FAILS(LND_E_LINK, lnd_connection_down(a->ni, LINKS, nid_of(1), number, now));
	FAILS(LND_E_LINK, lnd_connection_stopped(a->ni, ~0u, nid_of(1), number, now));
	FAILS(LND_E_LINK, lnd_connection_state_get(a->ni, LND_MAX_LINKS, nid_of(1), &state));
	FAILS(LND_E_NO_PEER, lnd_connection_up(a->ni, 0, nid_of(0), now));
	FAILS(LND_E_NO_PEER, lnd_connection_down(a->ni, 0, 0, number, now));
	FAILS(LND_E_NO_PEER, lnd_connection_stopped(a->ni, 0, 1234, number, now));
	FAILS(LND_E_NO_PEER, lnd_connection_state_get(a->ni, 0, 1234, &state));
	/* The number of another link's connection, of another peer's, and of none. */
	FAILS(LND_E_STALE, lnd_connection_down(a->ni, 1, nid_of(1), number, now));
	FAILS(LND_E_STALE, lnd_connection_down(a->ni, 0, nid_of(2), number, now));
	FAILS(LND_E_STALE, lnd_connection_down(a->ni, 0, nid_of(1), 0, now));
	others_go_on();
	CHECK(!stops && counter(a, "connections_failed") == 0);
	MUST(lnd_connection_down(a->ni, 0, nid_of(1), number, now));
	ends[0][1][0].proven = 1;
	go_on(SECOND);
	CHECK(stops == 1 && resets == 1);
	close_all();
}

/* A host that says no number of places has links, and nothing smaller. */
static void without_places(void)
{
	uint32_t state;

	places = 0;
	open_three();
	FAILS(LND_E_UNSUPPORTED, lnd_connection_up(a->ni, 0, nid_of(1), now));
	FAILS(LND_E_UNSUPPORTED, lnd_connection_down(a->ni, 0, nid_of(1), 1, now));
	FAILS(LND_E_UNSUPPORTED, lnd_connection_stopped(a->ni, 0, nid_of(1), 1, now));
	FAILS(LND_E_UNSUPPORTED, lnd_connection_state_get(a->ni, 0, nid_of(1), &state));
	CHECK(!numbers);
	close_all();
}

/* Operations that are not whole, and numbers out of range. */
static void configuration(void)
{
	struct lnd_ops good = host_ops(), ops;
	struct lnd_config config;
	static unsigned char ring[1 << 16] __attribute__((aligned(64)));
	struct lnd_ni *ni = NULL;
	void *block;
	size_t bytes;

	MUST(lnd_config_init(&config, LND_ABI_VERSION, 8, 2, 1));
	CHECK(config.connections == 0 && config.reserved == 0);
	config.nid = config.incarnation = 1;
	config.connections = 255;
	CHECK(lnd_ring_size(&config) && lnd_ring_size(&config) <= sizeof(ring));
	MUST(lnd_ring_format(&config, ring, sizeof(ring), 0, 0));
	config.rings[0].base = ring;
	config.rings[0].len = sizeof(ring);
	bytes = lnd_ni_size(&config);
	block = memory(bytes);
	with_connections(NULL, &config, &good);
#define BAD_OPS(error, change)                                                            \
	do {                                                                              \
		ops = good;                                                               \
		change;                                                                   \
		FAILS(error, lnd_ni_create(block, bytes, &config, &ops, NULL, &ni));      \
		CHECK(!ni);                                                               \
	} while (0)
	config.connections = 1;
	BAD_OPS(LND_E_OPS, ops.connection = NULL);
	BAD_OPS(LND_E_OPS, ops.connection_stop = NULL);
	BAD_OPS(LND_E_OPS, ops.connection_reset = NULL);
	config.connections = 0;
	BAD_OPS(LND_E_OPS, ops.connection = NULL);
	BAD_OPS(LND_E_OPS, ops = host_ops(); ops.connection_quiesced = op_connection_quiesced);
	config.connections = 1;
	BAD_OPS(LND_E_OPS, ops = host_ops());
	config.connections = 256;
	CHECK(lnd_ni_size(&config) == 0);
	BAD_OPS(LND_E_CONFIG, (void)0);
	config.connections = 1;
	config.reserved = 1;
	BAD_OPS(LND_E_CONFIG, (void)0);
	free(block);
}

int main(void)
{
	uint32_t how;

	without_places();
	places = 4;
	configuration();
	wrong_names();
	for (how = 0; how < 4; how++) {
		pushed = how & 1;
		one_stops(how & 2);
	}
	pushed = 0;
	link_takes_over();
	link_is_down();
	comes_up();
	printf("connections: %u delivered; %u not delivered, %u perhaps\n", delivered, denied,
	       unsure);
	return 0;
}
