// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The buffers of a peer's frames, as long as the peer exists. Connections come and go, and a frame
 * that is not decided on yet stays in its buffer meanwhile.
 */
#include <linux/slab.h>

#include "lnd_verbs.h"

/* Bytes of a buffer. Context: any. */
size_t lnd_verbs_frame_room(const struct lnd_verbs_node *node)
{
	return sizeof(struct lnd_verbs_head) + node->frame_bytes;
}

/**
 * lnd_verbs_frames_init() - Where the buffers come from: one is a little longer than a page.
 * @node: the node, whose longest frame is known.
 *
 * Context: thread.
 * Return: 0 or -ENOMEM.
 */
int lnd_verbs_frames_init(struct lnd_verbs_node *node)
{
	size_t bytes = lnd_verbs_frame_room(node);

	/* LNet copies payload by an iterator, which the kernel checks as if it were a user's. */
	node->frames = lnd_host_fault(LND_HOST_AT_FRAME_POOL) ?
			       NULL :
			       kmem_cache_create_usercopy(LND_HOST_NAME "_frame", bytes, 0,
							  SLAB_HWCACHE_ALIGN, 0, bytes, NULL);
	return node->frames ? 0 : -ENOMEM;
}

/**
 * lnd_verbs_frames_exit() - Ends it.
 * @node: the node, which has no peers any more.
 *
 * Context: thread.
 */
void lnd_verbs_frames_exit(struct lnd_verbs_node *node)
{
	kmem_cache_destroy(node->frames);
	node->frames = NULL;
}

/* Frames' buffers must be such that a device reaches them. */
static struct lnd_verbs_frame *lnd_verbs_frames(struct lnd_verbs_peer *peer,
						struct list_head *list)
{
	struct lnd_verbs_frame *frames = lnd_host_alloc(LND_VERBS_FRAMES * sizeof(*frames),
							LND_HOST_MAY_WAIT, LND_HOST_AT_FRAME);
	unsigned int i;

	INIT_LIST_HEAD(list);
	for (i = 0; frames && i < LND_VERBS_FRAMES; i++) {
		frames[i].peer = peer;
		if (!lnd_host_fault(LND_HOST_AT_FRAME_HEAD))
			frames[i].head = kmem_cache_zalloc(peer->node->frames, GFP_KERNEL);
		if (frames[i].head)
			lnd_host_hold(LND_HOST_HELD_BYTES, lnd_verbs_frame_room(peer->node));
		list_add_tail(&frames[i].list, list);
	}
	return frames;
}

static bool lnd_verbs_whole(const struct lnd_verbs_frame *frames)
{
	unsigned int i;

	for (i = 0; frames && i < LND_VERBS_FRAMES; i++) {
		if (!frames[i].head)
			return false;
	}
	return frames;
}

static void lnd_verbs_frames_free(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frames)
{
	unsigned int i;

	for (i = 0; frames && i < LND_VERBS_FRAMES; i++) {
		if (!frames[i].head)
			continue;
		lnd_host_hold(LND_HOST_HELD_BYTES, -(long)lnd_verbs_frame_room(peer->node));
		kmem_cache_free(peer->node->frames, frames[i].head);
	}
	lnd_host_free(frames, LND_VERBS_FRAMES * sizeof(*frames));
}

/**
 * lnd_verbs_channel_init() - Buffers for a peer's frames.
 * @peer: the peer.
 *
 * Context: thread.
 * Return: 0 or -ENOMEM; lnd_verbs_channel_exit() in both cases.
 */
int lnd_verbs_channel_init(struct lnd_verbs_peer *peer)
{
	INIT_LIST_HEAD(&peer->waiting);
	INIT_LIST_HEAD(&peer->arrival);
	INIT_LIST_HEAD(&peer->posted);
	INIT_LIST_HEAD(&peer->arrived[LND_LANE_REQUEST]);
	INIT_LIST_HEAD(&peer->arrived[LND_LANE_CONTROL]);
	peer->sends = lnd_verbs_frames(peer, &peer->free_sends);
	peer->receives = lnd_verbs_frames(peer, &peer->free_receives);
	return lnd_verbs_whole(peer->sends) && lnd_verbs_whole(peer->receives) ? 0 : -ENOMEM;
}

/* Context: thread. */
void lnd_verbs_channel_exit(struct lnd_verbs_peer *peer)
{
	lnd_verbs_frames_free(peer, peer->sends);
	lnd_verbs_frames_free(peer, peer->receives);
}
