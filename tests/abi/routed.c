// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * lnd_send_request.routed: a GET through a router is not optimised. It arrives as a mere header,
 * and the REPLY is a message of its own; one that is not routed asks for its payload at once.
 */
#include "world.h"

#include <string.h>

static uint32_t kind, length;

static enum lnd_error decide(struct node *node, const struct lnd_arrival *arrival)
{
	kind = arrival->kind;
	length = arrival->len;
	return lnd_nak(node->ni, arrival->request, LND_NAK_NO_MATCH, arrival->now);
}

/* What the peer sees of a GET of 100,000 bytes. */
static uint32_t get(struct world *world, uint32_t routed)
{
	struct node *node = &world->node[0];
	struct header header = { .len = 100000 };
	struct lnd_frag frag = { .len = 100000 };
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = LND_GET,
		.nid = lnd_soft_nid(1),
		.link = LND_ANY_LINK,
		.routed = routed,
		.header = &header,
		.header_len = sizeof(header),
		.frags = &frag,
		.nfrags = 1,
		.deadline = world->now + world->patience,
	};
	struct lnd_transfer transfer;

	node->reports = 0;
	kind = 0;
	MUST(lnd_submit(node->ni, &request, world->now, &transfer, NULL));
	CHECK(world_run(world, 2 * world->patience, &node->reports, 1));
	return kind;
}

/* S3-15: the flag goes from the caller's struct to the driver. */
static void unless_routed(struct world *world)
{
	CHECK(get(world, 0) == LND_REQUEST_GET && length == 100000);
	CHECK(get(world, 1) == LND_REQUEST_IMMEDIATE && length == 0);
	CHECK(get(world, 0) == LND_REQUEST_GET);
}

int main(void)
{
	static struct world world;

	world.decide = decide;
	world.patience = 1000 * MS;
	world_open(&world, NULL);
	unless_routed(&world);
	world_close(&world);
	printf("routed: a GET through a router is a mere header\n");
	return 0;
}
