/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The least upper layer.
 *
 *   skeleton.c  what the host calls: requests, reports, events
 *   view.c      the file that sends messages
 *   message.c   a message and its page
 */
#ifndef LND_SKELETON_H
#define LND_SKELETON_H

#include "upper.h"

/* Nanoseconds that a message has, over all its waits. */
#define LND_SKELETON_DEADLINE (5 * (u64)NSEC_PER_SEC)

/* One message, from lnd_submit() or lnd_recv() to its one report. */
struct lnd_skeleton_message {
	struct bio_vec bv;
	struct lnd_host_payload payload;
	struct lnd_host_map map;	/* the page as the engine addresses it */
	bool received;
};

struct lnd_skeleton_message *lnd_skeleton_new(struct lnd_host_node *node, u32 length,
					      bool received, gfp_t gfp);
void lnd_skeleton_free(struct lnd_host_node *node, struct lnd_skeleton_message *message);

#endif
