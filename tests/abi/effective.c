// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The bounds in effect, and where each comes from: what this host has set is given, what it has
 * left alone is the default, and what follows from both is derived.
 */
#include "world.h"

#include <string.h>

static struct world world;

static const struct {
	const char *name;
	uint64_t ns;
	uint32_t origin;
} expected[] = {
	/* world.c sets hello_timeout to the patience below, and drain_bound to a twentieth. */
	{ "hello_timeout", 3000 * MS, LND_BOUND_GIVEN },
	{ "peer_down", 15000 * MS, LND_BOUND_DERIVED },	/* five tries */
	{ "credit_stall", 2000 * MS, LND_BOUND_DEFAULT },
	{ "decision_bound", 50000 * MS, LND_BOUND_DEFAULT },
	{ "drain_bound", 150 * MS, LND_BOUND_GIVEN },
	{ "link_stop", 150 * MS, LND_BOUND_DERIVED },
	{ "link_poll", 1 * MS, LND_BOUND_DEFAULT },
	{ "granularity", 1 * MS, LND_BOUND_DERIVED },
	{ "pause", 2 * MS, LND_BOUND_DERIVED },
};

#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

static void each_says_where_it_comes_from(const struct lnd_ni *ni)
{
	unsigned int known = 0, i;
	uint32_t at;

	CHECK(lnd_bound_count() == EXPECTED);
	for (at = 0; at < lnd_bound_count(); at++) {
		struct lnd_bound bound = { .size = sizeof(bound) };
		size_t help;

		memset(bound.help, 'x', sizeof(bound.help));
		MUST(lnd_bound_get(ni, at, &bound));
		CHECK(memchr(bound.name, 0, sizeof(bound.name)));
		/* Whole: a text that does not fit would fill its field. */
		CHECK(memchr(bound.help, 0, sizeof(bound.help)));
		help = strlen((const char *)bound.help);
		CHECK(help > 8 && help < sizeof(bound.help) - 1);
		for (i = 0; i < EXPECTED; i++) {
			if (strcmp(expected[i].name, (const char *)bound.name))
				continue;
			CHECK(bound.ns == expected[i].ns && bound.origin == expected[i].origin);
			known |= 1u << i;
		}
	}
	CHECK(known == (1u << EXPECTED) - 1);
}

static void misuse_is_refused(const struct lnd_ni *ni)
{
	struct lnd_bound bound = { .size = sizeof(bound) };

	FAILS(LND_E_ARGUMENT, lnd_bound_get(ni, lnd_bound_count(), &bound));
	FAILS(LND_E_NULL, lnd_bound_get(ni, 0, NULL));
	FAILS(LND_E_NULL, lnd_bound_get(NULL, 0, &bound));
	bound.size++;
	FAILS(LND_E_SIZE, lnd_bound_get(ni, 0, &bound));
}

int main(void)
{
	world.patience = 3000 * MS;
	world_open(&world, NULL);
	each_says_where_it_comes_from(world.node[0].ni);
	misuse_is_refused(world.node[0].ni);
	world_close(&world);
	printf("%u bounds\n", lnd_bound_count());
	return 0;
}
