/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* platform.h - what the NIs of this image stand on: frames, registers, payload. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include "hw.h"
#include "lnd.h"

#define LARGEST 65536U
/* A region of the window, with room for bytes that nobody may write behind a payload. */
#define REGION (LARGEST + 64U)
#define RING_BYTES 2048U

/* PUT, GET, and the answer to a GET that was small. */
enum op { PUT = 1, GET = 2, REPLY = 3 };

/* Regions: sources of our PUTs, sinks of our GETs; sources and sinks of the peer's. */
enum region { OUT, IN, SHOW, TAKE, REGIONS };

/* What a message is about: the upper layer's header. */
struct job {
	uint32_t op;
	uint32_t number; /* decides the payload */
	uint32_t offset; /* in a region */
	uint32_t length;
};

/* Fills in the operations of frames, registers, memory and contexts. */
void platform_ops(struct lnd_ops *ops);
/* A node's ring memory, and all that the hardware needs of it. */
struct lnd_ring platform_ring(uint32_t number);
struct hw_side platform_side(uint32_t number);
/* Pulls the cable of a node, or puts it back. */
void platform_cable(uint32_t number, int plugged);
/* The oldest frame for a node in a lane, or NULL; and to be done with it. */
const void *platform_frame(uint32_t number, uint32_t lane, uint32_t *len);
void platform_frame_done(uint32_t number, uint32_t lane);

/* A job's place in a region; its payload; nothing there, nor behind it. */
struct lnd_frag payload_frag(uint32_t number, enum region region, const struct job *job);
void payload_fill(uint32_t number, enum region region, const struct job *job);
void payload_empty(uint32_t number, enum region region, const struct job *job);
/* All of it has arrived, and nothing behind it. */
int payload_arrived(uint32_t number, enum region region, const struct job *job);

#endif
