// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A host that shows metrics which it does not know: names, units, kinds and help come from the
 * library; the values of one moment agree with lnd_counter() and struct lnd_stats; three formats,
 * in buffers of any size.
 */
#include "world.h"

#include <string.h>

static struct world world;
static struct node *const a = &world.node[0];
static uint64_t before[256], after[256];

/* The number of a metric. */
static uint32_t named(const char *name)
{
	struct lnd_metric_info info = { .size = sizeof(info) };
	uint32_t at;

	for (at = 0; at < lnd_metric_count(); at++) {
		MUST(lnd_metric_info_get(at, &info));
		if (!strcmp((const char *)info.name, name))
			return at;
	}
	fprintf(stderr, "no metric is called %s\n", name);
	exit(1);
}

static void every_metric_says_what_it_is(void)
{
	struct lnd_metric_info info = { .size = sizeof(info) };
	uint32_t at;

	CHECK(lnd_metric_count() <= 256 && lnd_metric_count() > lnd_counter_count());
	for (at = 0; at < lnd_metric_count(); at++) {
		memset(info.name, 'x', sizeof(info.name));
		MUST(lnd_metric_info_get(at, &info));
		CHECK(memchr(info.name, 0, sizeof(info.name)) && info.name[0]);
		CHECK(memchr(info.unit, 0, sizeof(info.unit)) && info.unit[0]);
		CHECK(memchr(info.help, 0, sizeof(info.help)) && info.help[0]);
		CHECK(info.kind == LND_METRIC_COUNTER || info.kind == LND_METRIC_GAUGE);
		CHECK(named((const char *)info.name) == at);
		if (at < lnd_counter_count())
			CHECK(!strcmp((const char *)info.name, lnd_counter_name(at)));
	}
	FAILS(LND_E_ARGUMENT, lnd_metric_info_get(at, &info));
	FAILS(LND_E_NULL, lnd_metric_info_get(0, NULL));
	info.size--;
	FAILS(LND_E_SIZE, lnd_metric_info_get(0, &info));
}

static void values_are_of_one_moment(void)
{
	struct lnd_stats stats = { .size = sizeof(stats) };
	uint64_t value;
	uint32_t at;

	MUST(lnd_metrics_read(a->ni, before, lnd_metric_count()));
	MUST(node_put(a, 0, 0, 5000, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1) && !a->failures);
	world_run(&world, 10 * MS, NULL, 0);
	MUST(lnd_metrics_read(a->ni, after, lnd_metric_count()));
	for (at = 0; at < lnd_counter_count(); at++) {
		MUST(lnd_counter(a->ni, at, &value));
		CHECK(after[at] == value && after[at] >= before[at]);
	}
	CHECK(after[named("accepted")] - before[named("accepted")] == 1);
	CHECK(after[named("posted")] - before[named("posted")] == 1);
	CHECK(after[named("peers_good")] == 1 && before[named("peers_good")] == 0);
	CHECK(after[named("links_up")] == LINKS);
	MUST(lnd_stats_get(a->ni, &stats));
	CHECK(after[named("active_slots")] == stats.active);
	CHECK(after[named("peers_known")] == stats.peers);
	CHECK(after[named("frames_control")] == stats.frames_control);
	CHECK(after[named("frames_lnd")] == stats.frames_lnd);
	CHECK(after[named("frames_bad")] == stats.frames_bad);
	CHECK(after[named("frames_forged")] == stats.frames_forged);
	CHECK(after[named("completions")] == stats.completions && stats.completions > 0);
	CHECK(after[named("interrupts")] == stats.interrupts && stats.interrupts > 0);
	CHECK(after[named("misuses")] == stats.misuses);
	/* As many as asked for, and no more. */
	before[3] = 12345;
	MUST(lnd_metrics_read(a->ni, before, 3));
	CHECK(before[3] == 12345);
	FAILS(LND_E_ARGUMENT, lnd_metrics_read(a->ni, before, lnd_metric_count() + 1));
	FAILS(LND_E_NULL, lnd_metrics_read(a->ni, NULL, 1));
	FAILS(LND_E_NULL, lnd_metrics_read(NULL, before, 1));
}

/* All of a format, by pieces of at most @piece bytes. */
static size_t all_of(uint32_t format, size_t piece, char *into, size_t room)
{
	size_t all = 0, written = 0;
	enum lnd_error error;
	uint32_t cursor = 0;

	do {
		CHECK(all + piece <= room);
		error = lnd_metrics_write(a->ni, format, &cursor, into + all, piece, &written);
		CHECK(error == LND_OK || error == LND_E_END);
		CHECK(written > 0 || error == LND_E_END);
		all += written;
	} while (error == LND_OK);
	into[all] = 0;
	return all;
}

static unsigned int count(const char *text, const char *part)
{
	unsigned int found = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		found++;
	return found;
}

static void formats_are_the_same_in_pieces(void)
{
	static char whole[1 << 17], pieces[1 << 17];
	uint32_t format, cursor = 0;
	size_t written = 0;
	char value[64];

	for (format = LND_METRIC_TEXT; format <= LND_METRIC_PROMETHEUS; format++) {
		size_t len = all_of(format, sizeof(whole) - 1, whole, sizeof(whole));

		CHECK(all_of(format, 512, pieces, sizeof(pieces)) == len);
		CHECK(!strcmp(whole, pieces));
		FAILS(LND_E_ROOM, lnd_metrics_write(a->ni, format, &cursor, pieces, 4, &written));
	}
	CHECK(count(whole, "\n# TYPE ") == lnd_metric_count());
	sprintf(value, "\nlnd_accepted_total %llu\n", (unsigned long long)after[named("accepted")]);
	CHECK(strstr(whole, value) && strstr(whole, "# TYPE lnd_links_up gauge\nlnd_links_up 2\n"));
	all_of(LND_METRIC_JSON, sizeof(whole) - 1, whole, sizeof(whole));
	CHECK(whole[0] == '[' && !strcmp(whole + strlen(whole) - 3, "}]\n"));
	CHECK(count(whole, "},\n") == lnd_metric_count() - 1);
	FAILS(LND_E_ARGUMENT, lnd_metrics_write(a->ni, 0, &cursor, pieces, 512, &written));
	FAILS(LND_E_ARGUMENT, lnd_metrics_write(a->ni, 4, &cursor, pieces, 512, &written));
	FAILS(LND_E_NULL, lnd_metrics_write(a->ni, 1, NULL, pieces, 512, &written));
	FAILS(LND_E_ARGUMENT, lnd_metrics_write(a->ni, 1, &cursor, pieces, ~(size_t)0, &written));
	cursor = ~0u;
	FAILS(LND_E_END, lnd_metrics_write(a->ni, 1, &cursor, pieces, 512, &written));
	CHECK(!written);
}

int main(void)
{
	every_metric_says_what_it_is();
	world.patience = 1000 * MS;
	world_open(&world, NULL);
	values_are_of_one_moment();
	formats_are_the_same_in_pieces();
	world_close(&world);
	printf("%u metrics, three formats\n", lnd_metric_count());
	return 0;
}
