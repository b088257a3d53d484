// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A link fails with transfers on it: its engine stops, descriptors are reclaimed, transfers end by
 * what is known of them. The other link continues; the failed one comes back.
 */
#include "world.h"

#include <string.h>

#define TRANSFERS 8u

/* Shows what blocks the node, as a debugfs file would. */
static void show(struct node *node, uint32_t what)
{
	char text[4096];
	uint32_t cursor = 0;
	size_t written;
	enum lnd_error error;

	do {
		error = lnd_dump(node->ni, what, &cursor, text, sizeof(text), &written);
		CHECK(error == LND_OK || error == LND_E_END);
		printf("%.*s", (int)written, text);
	} while (error != LND_E_END);
}

int main(void)
{
	static struct world world;
	struct node *a = &world.node[0], *b = &world.node[1];
	struct lnd_blocker blocker = { .size = sizeof(blocker) };
	unsigned int at, ended;
	uint32_t cursor = 0, state;

	world_open(&world, NULL);
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1));

	/* The cable of link 0 is pulled; one in two transfers is on it. */
	for (at = 0; at < TRANSFERS; at++)
		MUST(node_put(a, at * 32768, at * 32768, 30000, NULL));
	MUST(lnd_soft_link_set(world.fabric, a->number, 0, 0, NULL));
	show(a, LND_DUMP_TRANSFERS);
	MUST(lnd_blocker_next(a->ni, &cursor, &blocker));
	CHECK(blocker.kind == LND_BLOCKER_TRANSFER && blocker.nid == lnd_soft_nid(1));

	CHECK(world_run(&world, 5000 * MS, &a->reports, 1 + TRANSFERS));
	show(a, LND_DUMP_LINKS);
	ended = a->failures;
	CHECK(ended > 0 && ended < TRANSFERS);
	CHECK(a->link_state[0] != LND_LINK_UP && a->link_state[1] == LND_LINK_UP);
	cursor = 0;
	FAILS(LND_E_END, lnd_blocker_next(a->ni, &cursor, &blocker));

	/* The other link continues alone. */
	MUST(node_put(a, 0, 0, 50000, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 2 + TRANSFERS));
	CHECK(a->last.error == 0);

	/* The cable is back. */
	MUST(lnd_soft_link_set(world.fabric, a->number, 0, 1, NULL));
	world_run(&world, 200 * MS, NULL, 0);
	MUST(lnd_link_state_get(a->ni, 0, &state));
	CHECK(state == LND_LINK_UP && a->link_state[0] == LND_LINK_UP);
	fill(a->window, 50000, 7);
	for (at = 0; at < 4; at++)
		MUST(node_put(a, 0, 65536 * at, 50000, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 6 + TRANSFERS));
	CHECK(a->failures == ended);
	world_run(&world, 10 * MS, NULL, 0);
	for (at = 0; at < 4; at++)
		CHECK(filled(b->window + 65536 * at, 50000, 7));
	show(a, LND_DUMP_PEERS);
	show(a, LND_DUMP_COUNTERS);
	printf("link_failure: %u of %u transfers lost with the link\n", ended, TRANSFERS);
	world_close(&world);
	return 0;
}
