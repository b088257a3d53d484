// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Seeded defects: a caller that lies about its memory. Not the library's fault, and not for it to
 * find; the checkers that the examples run under must.
 */
#include "world.h"

#include <string.h>

int main(int argc, char **argv)
{
	static struct world world;
	const char *seed = argc > 1 ? argv[1] : "";
	struct lnd_arrival arrival = { .size = sizeof(arrival) };
	unsigned char *frame;
	uint64_t next;

	world_open(&world, NULL);
	MUST(node_put(&world.node[0], 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &world.node[0].reports, 1));
	if (!strcmp(seed, "short-frame")) {
		/* Says 96 bytes and has 40; begins as a frame does: the rest is looked at. */
		frame = calloc(1, 40);
		CHECK(frame);
		memcpy(frame, "\x02\x03\x01\x00wDNL\x60\0\0\0\1\0\0\0", 16);
		lnd_frame_in(world.node[1].ni, 0, LND_NID_UNKNOWN, frame, 96, world.now, &arrival);
		free(frame);
	} else if (!strcmp(seed, "freed-ni")) {
		free(world.node[0].ni_memory);
		lnd_run(world.node[0].ni, world.now, 1, &next);
		return 0;
	} else if (!strcmp(seed, "leak")) {
		world.node[0].ni_memory = NULL;
	}
	world_close(&world);
	return 0;
}
