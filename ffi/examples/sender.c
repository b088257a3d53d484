// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The channel names the sender of a frame (R31): a frame that names another node in its envelope
 * changes only two counts, and the true sender's frame is accepted afterwards.
 */
#include "world.h"

#include <string.h>

static struct world world;
static struct node *a = &world.node[0], *b = &world.node[1];

/* What lnd_frame_in() may have changed. */
struct traces {
	struct lnd_stats stats;
	struct lnd_peer_info peer;
	uint64_t counters[256];
};

static void look(struct traces *traces)
{
	struct lnd_peer peer = { 0 };
	uint32_t i;

	memset(traces, 0, sizeof(*traces));
	traces->stats.size = sizeof(traces->stats);
	traces->peer.size = sizeof(traces->peer);
	MUST(lnd_stats_get(a->ni, &traces->stats));
	MUST(lnd_peer_find(a->ni, lnd_soft_nid(b->number), &peer));
	MUST(lnd_peer_info_get(a->ni, peer, &traces->peer));
	CHECK(lnd_counter_count() <= 256);
	for (i = 0; i < lnd_counter_count(); i++)
		MUST(lnd_counter(a->ni, i, &traces->counters[i]));
}

/* Offers the frame in node a's buffer under the names of others. */
static void forge(const struct lnd_soft_arrival *arrival)
{
	uint64_t others[] = { lnd_soft_nid(a->number), lnd_soft_nid(7), 1, LND_NID_UNKNOWN - 1 };
	struct lnd_arrival request = { .size = sizeof(request) };
	struct traces before, after;
	unsigned int i;

	look(&before);
	for (i = 0; i < 4; i++)
		FAILS(LND_E_FRAME, lnd_frame_in(a->ni, arrival->link, others[i], a->frame,
						arrival->len, world.now, &request));
	/* 0 is no NID, and does not mean "unknown". */
	FAILS(LND_E_ARGUMENT,
	      lnd_frame_in(a->ni, arrival->link, 0, a->frame, arrival->len, world.now,
			   &request));
	look(&after);
	CHECK(after.stats.frames_forged == before.stats.frames_forged + 4);
	CHECK(after.stats.frames_bad == before.stats.frames_bad + 4);
	after.stats.frames_forged = before.stats.frames_forged;
	after.stats.frames_bad = before.stats.frames_bad;
	CHECK(!memcmp(&after, &before, sizeof(before)));
	MUST(lnd_audit(a->ni));
}

int main(void)
{
	struct lnd_soft_arrival arrival = { .size = sizeof(arrival) };
	unsigned int reports;
	size_t room;

	world_open(&world, NULL);
	/* The two nodes complete their handshake. */
	MUST(node_put(b, 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &b->reports, 1));
	world_run(&world, 10 * MS, NULL, 0);

	room = lnd_soft_frame_max(world.fabric);
	reports = b->reports;
	fill(b->window, 100, 1);
	MUST(node_put(b, 0, 0, 100, NULL));
	MUST(lnd_soft_receive(a->soft_node, 8, a->frame, room, &arrival));
	CHECK(arrival.from == b->number);
	forge(&arrival);
	/* The frame was not released: it arrives again, from its sender, and is accepted. */
	CHECK(world_run(&world, 1000 * MS, &b->reports, reports + 1));
	world_run(&world, 10 * MS, NULL, 0);
	CHECK(!b->failures && filled(a->window, 100, 1));
	world_close(&world);
	printf("sender: forged frames change nothing\n");
	return 0;
}
