/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* platform.h - the platform of this image's NIs: frames, registers, payload. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include "hw.h"
#include "lnd.h"
#include "sizes.h"

#define LARGEST 65536U
/* A region of the window, with room after a payload for bytes that must not be written. */
#define REGION (LARGEST + 64U)

/* PUT, GET, and the answer to a GET of a small payload. */
enum op { PUT = 1, GET = 2, REPLY = 3 };

/* Regions: sources of this node's PUTs, sinks of its GETs; sources and sinks of the peer's. */
enum region { OUT, IN, SHOW, TAKE, REGIONS };

/* The content of a message: the upper layer's header. */
struct job {
	uint32_t op;
	uint32_t number; /* determines the payload */
	uint32_t offset; /* in a region */
	uint32_t length;
};

/* Fills in the operations of frames, registers, memory and contexts. */
void platform_ops(struct lnd_ops *ops);
/* A node's ring memory, prepared for the hardware. */
struct lnd_ring platform_ring(uint32_t number);
struct hw_side platform_side(uint32_t number);
/* Pulls the cable of a node, or puts it back. */
void platform_cable(uint32_t number, int plugged);
/* The oldest frame for a node in a lane, or NULL; and its release. */
const void *platform_frame(uint32_t number, uint32_t lane, uint32_t *len);
void platform_frame_done(uint32_t number, uint32_t lane);

/* A job's place in a region; its payload; an empty region, with the bytes after it. */
struct lnd_frag payload_frag(uint32_t number, enum region region, const struct job *job);
void payload_fill(uint32_t number, enum region region, const struct job *job);
void payload_empty(uint32_t number, enum region region, const struct job *job);
/* Whether all of it has arrived, without a byte after it. */
int payload_arrived(uint32_t number, enum region region, const struct job *job);

#endif
