// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * An observer that a host feeds from trace(): where a transfer spent its time, who gave it up, on
 * what evidence, and how long transfers of a size take.
 */
#include "world.h"

#include <string.h>

#define JOURNAL 8

static struct world world;
static struct node *const a = &world.node[0], *const b = &world.node[1];
static struct lnd_observer *observer;

/* Records of node a; of node b others would take care. */
static void op_trace(void *ctx, const struct lnd_trace *trace)
{
	if (ctx == a)
		MUST(lnd_observer_record(observer, trace));
}

static struct lnd_account account_of(struct lnd_transfer transfer)
{
	struct lnd_account account = { .size = sizeof(account) };

	MUST(lnd_observer_account_get(observer, transfer, &account));
	return account;
}

static struct lnd_histogram histogram_of(uint32_t wait, uint32_t bytes)
{
	struct lnd_histogram histogram = { .size = sizeof(histogram) };
	uint64_t all = 0;
	unsigned int at;

	MUST(lnd_observer_histogram_get(observer, wait, bytes, &histogram));
	for (at = 0; at < LND_BUCKETS; at++)
		all += histogram.buckets[at];
	CHECK(all == histogram.count && histogram.min <= histogram.max);
	return histogram;
}

/* What holds of every account of a transfer that has ended. */
static void whole(const struct lnd_account *it)
{
	uint64_t waited = 0;
	unsigned int at;

	for (at = 0; at < LND_WAITS; at++)
		waited += it->waits[at];
	CHECK(it->ended && it->wait == LND_WAIT_REPORT && it->steps > 0);
	CHECK(it->since == it->points[LND_POINT_REPORTED]);
	CHECK(waited == it->points[LND_POINT_REPORTED] - it->points[LND_POINT_QUEUED]);
	CHECK(it->points[LND_POINT_COMPLETED] <= it->points[LND_POINT_REPORTED]);
}

static void a_put_is_accounted_for(void)
{
	struct lnd_transfer transfer;
	struct lnd_account it;

	MUST(node_put(a, 0, 0, 5000, &transfer));
	it = account_of(transfer);
	CHECK(!it.ended && it.points[LND_POINT_REPORTED] == LND_NEVER && it.len == 5000);
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1) && !a->failures);
	it = account_of(transfer);
	whole(&it);
	CHECK(!it.error && !it.cause && !it.place && it.health_class == LND_HEALTH_OK);
	CHECK(it.given_up == LND_NEVER && it.deadline == LND_NEVER && it.nid);
	CHECK(it.points[LND_POINT_POSTED] != LND_NEVER && it.points[LND_POINT_SENT] != LND_NEVER);
	CHECK(histogram_of(LND_WAIT_WHOLE, 5000).count == 1);
	CHECK(histogram_of(LND_WAIT_WHOLE, 32768).count == 1);
	CHECK(histogram_of(LND_WAIT_WHOLE, 4096).count == 0);
	CHECK(histogram_of(LND_WAIT_WHOLE, LND_ANY_SIZE).count == 1);
	CHECK(histogram_of(LND_WAIT_LATE, LND_ANY_SIZE).count == 0);
}

/* All of a format, by pieces of at most @piece bytes. */
static void all_of(uint32_t format, size_t piece, char *into, size_t room)
{
	size_t all = 0, written = 0;
	enum lnd_error error;
	uint32_t cursor = 0;

	do {
		CHECK(all + piece < room);
		error = lnd_observer_write(observer, format, &cursor, into + all, piece, &written);
		CHECK(error == LND_E_END || (error == LND_OK && written));
		all += written;
	} while (error == LND_OK);
	into[all] = 0;
}

/* After one PUT of 5,000 bytes, which has ended well. */
static void all_is_written_in_pieces(void)
{
	static char whole_text[1 << 17], pieces[1 << 17];
	struct lnd_histogram times = histogram_of(LND_WAIT_WHOLE, 5000);
	uint32_t cursor = 0, format;
	size_t written;
	char line[160];

	for (format = LND_METRIC_TEXT; format <= LND_METRIC_JSON; format++) {
		all_of(format, sizeof(whole_text) - 1, whole_text, sizeof(whole_text));
		all_of(format, 512, pieces, sizeof(pieces));
		CHECK(!strcmp(whole_text, pieces));
		FAILS(LND_E_ROOM, lnd_observer_write(observer, format, &cursor, line, 4, &written));
	}
	CHECK(whole_text[0] == '[' && !strcmp(whole_text + strlen(whole_text) - 3, "}]\n"));
	sprintf(line, "\"labels\": {\"size\": \"32768\"}, \"count\": 1, \"sum\": %llu,",
		(unsigned long long)times.sum);
	CHECK(strstr(whole_text, line));
	all_of(LND_METRIC_TEXT, 512, pieces, sizeof(pieces));
	sprintf(line, "\ntransfer{size=\"32768\"} count 1 sum %llu min %llu max %llu half %llu ",
		(unsigned long long)times.sum, (unsigned long long)times.min,
		(unsigned long long)times.max, (unsigned long long)times.max);
	CHECK(strstr(pieces, line));
	CHECK(strstr(pieces, "\nended{class=\"ok\",wait=\"report\"} 1\n"));
	CHECK(strstr(pieces, "\nlost{cause=\"deadline\",place=\"answer\"} 0\n"));
	CHECK(strstr(pieces, "\nlate count 0 ") && strstr(pieces, "\npayload 5000\n"));
	FAILS(LND_E_ARGUMENT, lnd_observer_write(observer, LND_METRIC_PROMETHEUS, &cursor, line,
						 sizeof(line), &written));
	FAILS(LND_E_NULL, lnd_observer_write(NULL, LND_METRIC_TEXT, &cursor, line, sizeof(line),
					     &written));
	FAILS(LND_E_NULL, lnd_observer_write(observer, LND_METRIC_TEXT, NULL, line, sizeof(line),
					     &written));
}

static void a_loss_names_its_cause(void)
{
	struct lnd_transfer transfer;
	struct lnd_account it;

	b->dead = 1;
	a->reports = a->failures = 0;
	MUST(node_put(a, 0, 0, 5000, &transfer));
	CHECK(world_run(&world, 20000 * MS, &a->reports, 1) && a->failures == 1);
	it = account_of(transfer);
	whole(&it);
	CHECK(it.error && it.error == (uint32_t)-a->last.error);
	CHECK(it.cause == a->last.cause && it.place == a->last.place);
	CHECK(it.health_class == a->last.health);
	CHECK(it.given_up != LND_NEVER && it.given_up >= it.points[LND_POINT_QUEUED]);
	if (it.cause == LND_CAUSE_DEADLINE) {
		CHECK(it.deadline == it.given_up);
		CHECK(histogram_of(LND_WAIT_LATE, LND_ANY_SIZE).count == 1);
	}
	b->dead = 0;
}

static void mistakes_are_errors(void)
{
	struct lnd_account account = { .size = sizeof(account) };
	struct lnd_histogram histogram = { .size = sizeof(histogram) };
	struct lnd_transfer none = { 0 }, beyond = { .index = ~0u, .generation = 1 };
	struct lnd_trace trace = { .size = sizeof(trace), .kind = 99 };
	uint32_t kind;

	FAILS(LND_E_STALE, lnd_observer_account_get(observer, none, &account));
	FAILS(LND_E_STALE, lnd_observer_account_get(observer, beyond, &account));
	FAILS(LND_E_NULL, lnd_observer_account_get(NULL, none, &account));
	FAILS(LND_E_NULL, lnd_observer_account_get(observer, none, NULL));
	account.size = 0;
	FAILS(LND_E_SIZE, lnd_observer_account_get(observer, none, &account));
	FAILS(LND_E_ARGUMENT, lnd_observer_histogram_get(observer, 9, LND_ANY_SIZE, &histogram));
	FAILS(LND_E_ARGUMENT, lnd_observer_record(observer, &trace));
	/* Whatever a record holds: it is understood, or it is an error. */
	for (kind = 0; kind <= LND_TRACE_CONNECTION + 1; kind++) {
		struct lnd_trace wild = { .size = sizeof(wild), .kind = kind, .now = ~0ull,
					  .nid = ~0ull, .index = ~0u, .link = ~0u, .a = ~0u,
					  .b = ~0u, .c = ~0u, .d = ~0u };
		enum lnd_error error = lnd_observer_record(observer, &wild);

		CHECK(error == LND_OK || error == LND_E_ARGUMENT);
	}
	FAILS(LND_E_NULL, lnd_observer_record(observer, NULL));
	CHECK(!lnd_observer_size(0, 1, 1) && !lnd_observer_size(~0u, 1, 1));
}

static void the_end(void *mem)
{
	struct lnd_trace trace = { .size = sizeof(trace) };

	MUST(lnd_observer_destroy(observer));
	FAILS(LND_E_NI, lnd_observer_destroy(observer));
	FAILS(LND_E_NI, lnd_observer_record(observer, &trace));
	free(mem);
}

int main(void)
{
	size_t bytes = lnd_observer_size(64, JOURNAL, 2);
	void *mem = memory(bytes);
	struct lnd_ops ops = world_ops();

	FAILS(LND_E_MEMORY, lnd_observer_create(mem, bytes - 1, 64, JOURNAL, 2, &observer));
	FAILS(LND_E_CONFIG, lnd_observer_create(mem, bytes, 0, JOURNAL, 2, &observer));
	FAILS(LND_E_NULL, lnd_observer_create(NULL, bytes, 64, JOURNAL, 2, &observer));
	FAILS(LND_E_ALIGN, lnd_observer_create((char *)mem + 8, bytes, 64, JOURNAL, 2, &observer));
	MUST(lnd_observer_create(mem, bytes, 64, JOURNAL, 2, &observer));
	ops.trace = op_trace;
	world.patience = 1000 * MS;
	world_open(&world, &ops);
	a_put_is_accounted_for();
	all_is_written_in_pieces();
	a_loss_names_its_cause();
	world_close(&world);
	mistakes_are_errors();
	the_end(mem);
	printf("an account of each transfer\n");
	return 0;
}
