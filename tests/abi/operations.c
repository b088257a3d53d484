// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Engines that are operations (naive_engine.h), in worlds that chance does not make: what they
 * cannot post, what they say wrongly, proofs that are told, and a connection that is stopped alone
 * (S0-6, S0-10, INV-2, INV-3). naive_runs.c has them in any order of events.
 */
#include "naive_three.h"


static uint32_t post_says;	/* what node 0's engine_post() returns, of itself */
static uint32_t notified;		/* a stopped link is told by lnd_assert_stopped() alone */
static uint32_t keeps;		/* node 0's engine does not give back what it is asked for */
static uint32_t number = 1;	/* node 0's connection with node 1 by link 0; else 99 */
static uint32_t cut, cuts, resets;
static uint32_t key_is_long;	/* what node 0's engine_key() says */

static uint32_t post(void *ctx, const struct lnd_bd *bd)
{
	uint32_t posted = ctx == a ? post_says : LND_POST_DONE;

	return posted == LND_POST_DONE || posted == 77 ? op_engine_post(ctx, bd) + posted : posted;
}

static uint32_t key(void *ctx, uint32_t link, struct lnd_tag tag, void *into)
{
	return ctx == a && key_is_long ? LND_MAX_KEY + 1 : op_engine_key(ctx, link, tag, into);
}

static void invalidate(void *ctx, uint32_t link, struct lnd_tag tag)
{
	if (ctx != a || !keeps)
		op_engine_invalidate(ctx, link, tag);
}

static uint32_t quiesced(void *ctx, uint32_t link)
{
	return notified ? 0 : op_engine_quiesced(ctx, link);
}

static uint32_t connection(void *ctx, uint32_t link, uint64_t nid)
{
	return ctx == a && link == 0 && nid == nid_of(1) ? number : 99;
}

static void connection_stop(void *ctx, uint32_t link, uint64_t nid, uint32_t which)
{
	CHECK(ctx == a && link == 0 && nid == nid_of(1) && which == number);
	cuts++;
}

static uint32_t connection_quiesced(void *ctx, uint32_t link, uint64_t nid, uint32_t which)
{
	CHECK(ctx == a && link == 0 && nid == nid_of(1) && which == number);
	return cut;
}

static void connection_reset(void *ctx, uint32_t link, uint64_t nid, uint32_t which)
{
	uint32_t at;

	(void)ctx;
	if (!which)
		return;
	CHECK(cut && link == 0 && nid == nid_of(1) && which == number++);
	for (at = 0; at < SLOTS; at++)
		CHECK(!op_engines[0][0].posted[at].state || op_engines[0][0].posted[at].nid != nid);
	resets++;
}

/* As op_engine_reclaim(), of a link that works. */
static uint32_t reclaim(void *ctx, uint32_t link, struct lnd_tag tag)
{
	struct op_engine *engine = op_engine_of(ctx, link);
	struct posted *posted = &engine->posted[tag.index];

	if (engine->stopped)
		return op_engine_reclaim(ctx, link, tag);
	CHECK(ctx == a && link == 0 && cut && posted->nid == nid_of(1));
	posted->state = 0;
	return LND_RETURNED_UNKNOWN;
}

static void otherwise(struct host *host, struct lnd_config *config, struct lnd_ops *ops)
{
	(void)host;
	config->drain_bound = SECOND;
	config->connections = 4;
	ops->engine_post = post;
	ops->engine_invalidate = invalidate;
	ops->engine_key = op_keys ? key : NULL;
	ops->engine_quiesced = quiesced;
	ops->engine_reclaim = reclaim;
	ops->connection = connection;
	ops->connection_stop = connection_stop;
	ops->connection_quiesced = connection_quiesced;
	ops->connection_reset = connection_reset;
}

static void open_three(void)
{
	post_says = keeps = cut = cuts = resets = 0;
	adapt = otherwise;
	by_operations = 1;
	by_link = 0;
	open_three_hosts();
}

/* Long messages of both kinds and ways between two nodes, and all of them end well. */
static void all_goes_well(struct host *one, struct host *other)
{
	uint32_t first = message_count, at;

	for (at = 0; at < 2; at++) {
		MUST(submit(one, other->number, LND_PUT, LONG - at, SECOND, 0));
		MUST(submit(other, one->number, LND_PUT, LONG - at, SECOND, 0));
		MUST(submit(one, other->number, LND_GET, LONG - at, SECOND, 0));
	}
	go_on(50 * MS);
	for (at = first; at < message_count; at++)
		CHECK(messages[at].reports == 1 && !messages[at].error && messages[at].came);
}

/* The engine cannot post: a local failure, and nothing has left. If the device is gone, its link
 * fails too. */
static void cannot_post(void)
{
	static const uint32_t says[] = { LND_POST_INVALID, LND_POST_FULL, LND_POST_GONE };
	uint32_t at, id;

	open_three();
	for (at = 0; at < 3; at++) {
		post_says = says[at];
		id = message_count;
		MUST(submit(a, 1, LND_PUT, LONG, SECOND, 0));
		go_on(MS);
		post_says = LND_POST_DONE;
		go_on(SECOND);
		CHECK(messages[id].reports == 1 && messages[id].error && !messages[id].receiver);
		CHECK(messages[id].delivery == LND_NOT_DELIVERED);
		CHECK(counter(a, "links_failed") == (says[at] == LND_POST_GONE));
		all_goes_well(a, b);
	}
	close_all();
}

/* An answer that says nothing: the descriptor may be out, so its memory is lent until the link has
 * stopped. */
static void says_nothing(void)
{
	uint32_t id, misuses;

	notified = 1;
	open_three();
	id = message_count;
	post_says = 77;
	errs = 1;
	misuses = a->misuses;
	MUST(submit(a, 1, LND_PUT, LONG, SECOND, 0));
	go_on(20 * MS);
	post_says = LND_POST_DONE;
	errs = 0;
	CHECK(a->misuses == misuses + 1);
	a->misuses = misuses;
	go_on(2 * SECOND);
	CHECK(!messages[id].reports && op_engines[0][0].stopped);
	MUST(lnd_assert_stopped(a->ni, 0, now));
	go_on(SECOND);
	CHECK(messages[id].reports == 1 && messages[id].error);
	CHECK(!op_engines[0][0].stopping && counter(a, "links_failed") == 1);
	all_goes_well(a, b);
	notified = 0;
	close_all();
}

/* Completions of what is not out, or elsewhere: they change nothing. */
static void wrong_completions(void)
{
	struct lnd_tag tag = { .index = SLOTS, .generation = 1 };
	uint32_t id = 0, at, link;

	open_three();
	FAILS(LND_E_UNSUPPORTED, lnd_interrupt(a->ni, 0, 1, now, NULL));
	FAILS(LND_E_NULL, lnd_completed(NULL, 0, tag, LND_RETURNED_OK, now));
	FAILS(LND_E_LINK, lnd_completed(a->ni, LINKS, tag, LND_RETURNED_OK, now));
	FAILS(LND_E_ARGUMENT, lnd_completed(a->ni, 0, tag, LND_RETURNED_UNKNOWN, now));
	FAILS(LND_E_ARGUMENT, lnd_completed(a->ni, 0, tag, ~0u, now));
	CHECK(counter(a, "foreign_completion") == 0);
	MUST(lnd_completed(a->ni, 0, tag, LND_RETURNED_OK, now));
	CHECK(counter(a, "foreign_completion") == 1);

	/* One that is out, and stays out: another use of it, and the same use on another link. */
	b->paused = b->engines_pause = 1;
	id = message_count;
	MUST(submit(a, 1, LND_PUT, LONG, 30 * SECOND, 0));
	go_on(MS);
	for (at = 0; at < SLOTS && op_engines[0][0].posted[at].state != 2; at++)
		;
	CHECK(at < SLOTS);
	tag = op_engines[0][0].posted[at].tag;
	for (link = 0; link < LINKS; link++) {
		struct lnd_tag other = { .index = tag.index, .generation = tag.generation + !link };

		MUST(lnd_completed(a->ni, link, other, LND_RETURNED_OK, now));
	}
	go_on(MS);
	CHECK(!messages[id].reports && op_engines[0][0].posted[at].state == 2);
	CHECK(counter(a, "foreign_completion") == 2 && counter(a, "stale_completion") == 1);
	b->paused = b->engines_pause = 0;
	go_on(SECOND);
	CHECK(messages[id].reports == 1 && !messages[id].error && messages[id].came);
	close_all();
}

/* A key that is too long is none: the peer cannot pull, and says so. */
static void long_key(void)
{
	uint32_t id;

	open_three();
	id = message_count;
	key_is_long = errs = 1;
	MUST(submit(a, 1, LND_PUT, LONG, SECOND, 0));
	go_on(MS);
	CHECK(a->misuses == 1);
	key_is_long = errs = a->misuses = 0;
	go_on(SECOND);
	CHECK(messages[id].reports == 1 && messages[id].error && !messages[id].came);
	CHECK(counter(b, "protocol") == 1 && counter(a, "links_failed") == 0);
	all_goes_well(a, b);
	host_crash(1);
	close_all();
}

/* What is being read is not asked for before its reader is done; the reader is asked instead. */
static void asked_first(void)
{
	uint32_t id, link;

	cancel_first = 1;
	open_three();
	for (link = 0; link < LINKS; link++)
		op_engines[1][link].down = 1;
	id = message_count;
	MUST(submit(a, 1, LND_PUT, LONG, SECOND, 0));
	go_on(SECOND + SECOND / 2);
	CHECK(counter(a, "cancels") && counter(b, "cancels_heard") && !counter(a, "invalidated"));
	CHECK(counter(b, "invalidated") == 1 && !messages[id].reports);
	for (link = 0; link < LINKS; link++)
		op_engines[1][link].down = 0;
	go_on(SECOND / 4);
	CHECK(counter(a, "invalidated") == 1 && messages[id].reports == 1 && messages[id].error);
	CHECK(!cuts && counter(a, "links_failed") == 0);
	all_goes_well(a, b);
	cancel_first = 0;
	close_all();
}

/* What one connection does not give back stops it alone, and its number is that of the next one
 * then. */
static void one_connection(void)
{
	uint32_t id, at;

	open_three();
	b->paused = b->engines_pause = 1;
	id = message_count;
	MUST(submit(a, 1, LND_PUT, LONG, SECOND, 0));
	keeps = 1;
	go_on(3 * SECOND);
	CHECK(cuts == 1 && !messages[id].reports && !op_engines[0][0].stopping);
	keeps = 0;
	all_goes_well(a, c);
	CHECK(!messages[id].reports);
	for (at = 0; at < SLOTS; at++)
		if (op_engines[0][0].posted[at].state &&
		    op_engines[0][0].posted[at].nid == nid_of(1))
			op_withdraw(a, 0, &op_engines[0][0].posted[at]);
	cut = 1;
	go_on(SECOND);
	CHECK(messages[id].reports == 1 && messages[id].error && resets == 1);
	CHECK(counter(a, "links_failed") == 0 && counter(a, "connections_reset") == 1);
	b->paused = b->engines_pause = 0;
	go_on(SECOND);
	all_goes_well(a, b);
	close_all();
}

static void lock(void *ctx)
{
	(void)ctx;
}

static uint32_t node_of(void *ctx, uint64_t nid)
{
	(void)ctx;
	return (uint32_t)nid;
}

/* Every field is checked, and the one that is wrong is named. */
static void faults(void)
{
	struct lnd_config good, config;

	MUST(lnd_config_init(&good, LND_ABI_VERSION, 8, 2, LINKS));
	CHECK(!lnd_config_fault(&good, NULL));
	CHECK(!strcmp(lnd_config_fault(NULL, NULL), "size"));
#define BAD_FIELD(field, value)                                                               \
	do {                                                                              \
		config = good;                                                            \
		config.field = (value);                                                   \
		CHECK(!strcmp(lnd_config_fault(&config, NULL), #field));                  \
		CHECK(!lnd_ni_size(&config));                                             \
	} while (0)
	BAD_FIELD(size, 1);
	BAD_FIELD(abi_version, 0);
	BAD_FIELD(slots, 1);
	BAD_FIELD(passive_slots, 8);
	BAD_FIELD(peers, 0);
	BAD_FIELD(links, 9);
	BAD_FIELD(links, 256);
	BAD_FIELD(lists, 9);
	BAD_FIELD(immediate_max, 65353);
	BAD_FIELD(depth, 33);
	BAD_FIELD(depth, 65536 + 8);
	BAD_FIELD(hello_tries, 0);
	BAD_FIELD(batch, 0);
	BAD_FIELD(policy, 2);
	BAD_FIELD(flags, 1u << 31);
	BAD_FIELD(pulls, 0);
	BAD_FIELD(connections, 256);
	BAD_FIELD(reserved, 1);
	BAD_FIELD(drain_bound, 999999);
	BAD_FIELD(hello_timeout, 0);
	BAD_FIELD(credit_stall, 0);
	BAD_FIELD(link_poll, 999);
	BAD_FIELD(decision_bound, 0);
}

/* An engine is whole, and there is one. */
static void configuration(void)
{
	static unsigned char ring[1 << 16] __attribute__((aligned(64)));
	struct host host = { .number = 0, .incarnation = 1 };
	struct lnd_ops good = host_ops(), ops;
	struct lnd_config config;
	struct lnd_ni *ni = NULL;
	uint32_t link;
	void *block;
	size_t bytes;

	MUST(lnd_config_init(&config, LND_ABI_VERSION, 8, 2, LINKS));
	config.nid = config.incarnation = 1;
	op_engine_use(&host, &config, &good);
	bytes = lnd_ni_size(&config);
	block = memory(bytes);
#define BAD_ENGINE(error, fault, change)                                                      \
	do {                                                                              \
		const char *notified;                                                         \
                                                                                          \
		ops = good;                                                               \
		change;                                                                   \
		FAILS(error, lnd_ni_create(block, bytes, &config, &ops, NULL, &ni));      \
		notified = lnd_config_fault(&config, &ops);                                   \
		CHECK(!ni && !strcmp(notified ? notified : "", fault));                           \
	} while (0)
	BAD_ENGINE(LND_E_OPS, "tracing", ops.tracing = (const uint32_t *)((uintptr_t)&ops + 1));
	BAD_ENGINE(LND_E_OPS, "engine_doorbell", ops.engine_post = NULL);
	BAD_ENGINE(LND_E_OPS, "engine_doorbell", ops.engine_doorbell = NULL);
	BAD_ENGINE(LND_E_OPS, "engine_invalidate", ops.engine_invalidate = NULL);
	BAD_ENGINE(LND_E_OPS, "engine_stop", ops.engine_stop = NULL);
	BAD_ENGINE(LND_E_OPS, "engine_reset", ops.engine_reset = NULL);
	BAD_ENGINE(LND_E_OPS, "reg_read32", ops.reg_read32 = op_reg_read32;
		   ops.reg_write32 = op_reg_write32);
	BAD_ENGINE(LND_E_OPS, "engine_reclaim", ops = host_ops();
		   ops.engine_reclaim = op_engine_reclaim);
	BAD_ENGINE(LND_E_NULL, "", ops = host_ops());
	BAD_ENGINE(LND_E_OPS, "send", ops.send = NULL);
	BAD_ENGINE(LND_E_OPS, "finalize", ops.finalize = NULL);
	BAD_ENGINE(LND_E_OPS, "mem_write", ops.mem_write = NULL);
	BAD_ENGINE(LND_E_OPS, "mem_read", ops.mem_read = NULL; ops.mem_write = NULL);
	BAD_ENGINE(LND_E_OPS, "unlock", ops.lock = lock);
	BAD_ENGINE(LND_E_OPS, "self_id", ops.lock = lock; ops.unlock = lock);
	BAD_ENGINE(LND_E_OPS, "node_of", ops.node_of = node_of);
	BAD_ENGINE(LND_E_OPS, "dma_barrier", ops.dma_barrier = lock);
	BAD_ENGINE(LND_E_SIZE, "size", ops.size--);
	config.flags |= LND_CANCEL_FIRST;
	BAD_ENGINE(LND_E_OPS, "engine_post", ops = host_ops());
	config.flags &= ~LND_CANCEL_FIRST;
	config.connections = 1;
	BAD_ENGINE(LND_E_OPS, "connection", (void)0);
	BAD_ENGINE(LND_E_OPS, "connection_stop", ops.connection = connection);
	config.connections = 0;
	config.rings[0].base = ring;
	config.rings[0].len = sizeof(ring);
	BAD_ENGINE(LND_E_RING, "", (void)0);
	config.rings[0] = (struct lnd_ring){ .base = NULL };
	good.engine_quiesced = NULL;
	good.engine_reclaim = NULL;
	good.engine_link_up = NULL;
	MUST(lnd_ni_create(block, bytes, &config, &good, &host, &ni));
	for (link = 0; link < LINKS; link++)
		FAILS(LND_E_UNSUPPORTED, lnd_interrupt(ni, link, 1, now, NULL));
	free(block);
}

int main(void)
{
	struct lnd_tag tag = { 0 };

	now = SECOND;
	faults();
	configuration();
	cannot_post();
	says_nothing();
	op_keys = 1;
	wrong_completions();
	long_key();
	asked_first();
	one_connection();

	by_operations = 0;
	adapt = NULL;
	open_all(1);
	FAILS(LND_E_UNSUPPORTED, lnd_completed(a->ni, 0, tag, LND_RETURNED_OK, now));
	close_all();
	printf("operations: %u delivered; %u not delivered, %u perhaps\n", delivered, denied,
	       unsure);
	return 0;
}
