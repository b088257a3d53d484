/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bounds.c - LND_NI_BYTES() and LND_RING_BYTES() hold every NI and ring memory, and are not much
 * more than what these need: over all sizes of one table at a time, and at random.
 */
#include <stdio.h>
#include <stdlib.h>
#include "lnd.h"

/* A bound is a constant. */
struct constant {
	unsigned char ni[LND_NI_BYTES(16, 4, 1, 0, 512, 0)], ring[LND_RING_BYTES(16, 0)];
};
_Static_assert(!(LND_NI_BYTES(3, 5, 1, 7, 509, 1) % LND_ALIGN), "two NIs in an array are aligned");
_Static_assert(!(LND_RING_BYTES(13, 1) % LND_ALIGN), "two rings in an array are aligned");

static unsigned long checked;

static void check(uint32_t slots, uint32_t peers, uint32_t links, uint32_t lists,
		  uint32_t immediate, uint32_t connections)
{
	struct lnd_config config;
	size_t ni, bound = LND_NI_BYTES(slots, peers, links, lists, immediate, connections);
	size_t rings, ring_bound = LND_RING_BYTES(slots, lists);

	if (lnd_config_init(&config, LND_ABI_VERSION, slots, peers, links) != LND_OK)
		abort();
	config.lists = lists;
	config.immediate_max = immediate;
	config.connections = connections;
	ni = lnd_ni_size(&config);
	rings = lnd_ring_size(&config);
	if (!ni || !rings)
		return; /* not a valid configuration */
	checked++;
	if (ni > bound || rings > ring_bound || bound > ni + ni / 4 + 8192 ||
	    ring_bound > rings * 2 + 4096) {
		printf("slots %u peers %u links %u lists %u immediate %u connections %u: "
		       "NI %zu, bound %zu; ring %zu, bound %zu\n",
		       slots, peers, links, lists, immediate, connections, ni, bound, rings,
		       ring_bound);
		exit(1);
	}
}

static uint32_t seed = 1;

static uint32_t upto(uint32_t most)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(seed >> 4) * (most + 1ull) >> 28);
}

int main(void)
{
	uint32_t n;

	for (n = 2; n < 3000; n++) {
		check(n, 1, 1, 0, 0, 0);
		check(2, n, 1, 0, 0, 0);
		check(2, 1, 1, 0, n, 0);
		check(2, 1, 1, n, 64, 0);
		check(2, 3000, 1, 0, 64, n);
	}
	for (n = 0; n < 20000; n++)
		check(2 + upto(1u << upto(20)), 1 + upto(1u << upto(20)), 1 + upto(7), upto(300),
		      upto(4096), upto(64));
	if (checked < 20000) {
		printf("only %lu configurations were valid\n", checked);
		return 1;
	}
	printf("%lu configurations\n", checked);
	return 0;
}
