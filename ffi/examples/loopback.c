// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* PUT and GET of many sizes, in both directions, every byte checked. */
#include "world.h"

#include <string.h>

/* Inline, both sides of the inline limit, one fragment's size, and odd sizes in between. */
static const uint32_t sizes[] = { 1, 2, 63, 64, 65, 4095, 4096, 4097, 65536, 100003, 262144 };

static void put(struct world *world, struct node *from, struct node *to, uint32_t len)
{
	unsigned int ours = from->reports, theirs = to->reports;

	fill(from->window, len, len);
	memset(to->window + WINDOW / 2, 0, len);
	MUST(node_put(from, 0, WINDOW / 2, len, NULL));
	CHECK(world_run(world, 2000 * MS, &from->reports, ours + 1));
	CHECK(world_run(world, 2000 * MS, &to->reports, theirs + 1));
	CHECK(from->last.error == 0 && from->last.health == LND_HEALTH_OK);
	CHECK(to->last.error == 0 && to->last.bytes == len);
	CHECK(filled(to->window + WINDOW / 2, len, len));
}

static void get(struct world *world, struct node *to, struct node *from, uint32_t len)
{
	unsigned int ours = to->reports;
	struct lnd_transfer transfer;

	fill(from->window, len, ~len);
	memset(to->window + WINDOW / 2, 0, len);
	MUST(node_get(to, WINDOW / 2, 0, len, &transfer));
	CHECK(world_run(world, 2000 * MS, &to->reports, ours + 1));
	CHECK(to->last.error == 0 && to->last.reply);
	CHECK(!memcmp(&to->last.transfer, &transfer, sizeof(transfer)));
	CHECK(to->last.bytes == len && filled(to->window + WINDOW / 2, len, ~len));
	/* The replying side has its own report. */
	world_run(world, 10 * MS, NULL, 0);
}

int main(void)
{
	static struct world world;
	size_t at;

	world_open(&world, NULL);
	for (at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
		put(&world, &world.node[0], &world.node[1], sizes[at]);
		put(&world, &world.node[1], &world.node[0], sizes[at]);
		/*
		 * The answer to a GET that fits into a message would be a REPLY: the upper layer's
		 * part.
		 */
		if (sizes[at] > 4096) {
			get(&world, &world.node[0], &world.node[1], sizes[at]);
			get(&world, &world.node[1], &world.node[0], sizes[at]);
		}
	}
	CHECK(!world.node[0].failures && !world.node[1].failures);
	printf("loopback: %u and %u reports, all bytes right\n", world.node[0].reports,
	       world.node[1].reports);
	world_close(&world);
	return 0;
}
