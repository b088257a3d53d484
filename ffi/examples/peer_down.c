// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A peer goes down with traffic under way. No transfer is finalized on suspicion. Once the peer is
 * declared down, everything for it ends, with an error, once, and its memory is the caller's again.
 */
#include "world.h"

#define TRANSFERS 8u

int main(void)
{
	static struct world world;
	struct node *survivor = &world.node[0], *victim = &world.node[1];
	struct lnd_peer peer;
	struct lnd_peer_info info = { .size = sizeof(info) };
	unsigned int at, before;

	world_open(&world, NULL);
	/* The handshake is done: one PUT succeeds. */
	MUST(node_put(survivor, 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &survivor->reports, 1));
	CHECK(!survivor->failures && survivor->peer_state == LND_PEER_GOOD);

	/* The victim stops: no engine, no thread. */
	victim->dead = 1;
	for (at = 0; at < TRANSFERS; at++) {
		if (at % 2)
			MUST(node_put(survivor, at * 32768, 0, 20000, NULL));
		else
			MUST(node_get(survivor, at * 32768, 0, 20000, NULL));
	}
	before = survivor->reports;
	world_run(&world, 100 * MS, NULL, 0);
	CHECK(survivor->reports == before);

	/* The fabric has the proof that its machine is gone, and declares it dead. */
	MUST(lnd_soft_declare_dead(world.fabric, victim->number, 0, NULL));
	MUST(lnd_peer_event(survivor->ni, lnd_soft_nid(victim->number), 0, world.now));
	CHECK(world_run(&world, 5000 * MS, &survivor->reports, before + TRANSFERS));
	CHECK(survivor->failures == TRANSFERS);
	CHECK(survivor->last.cause == LND_CAUSE_PEER_DOWN && survivor->last.error < 0);
	CHECK(survivor->peer_state == LND_PEER_DOWN);

	/* Refused at the call while the peer is down. */
	FAILS(LND_E_PEER_DOWN, node_put(survivor, 0, 0, 100, NULL));
	MUST(lnd_peer_find(survivor->ni, lnd_soft_nid(victim->number), &peer));
	MUST(lnd_peer_info_get(survivor->ni, peer, &info));
	CHECK(info.state == LND_PEER_DOWN && info.transfers == 0);
	printf("peer_down: %u transfers ended with %d, health class %u\n", survivor->failures,
	       (int)survivor->last.error, survivor->last.health);

	world_close(&world);
	return 0;
}
