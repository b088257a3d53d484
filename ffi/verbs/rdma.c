// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Descriptors as work requests: stage.c registers and invalidates, pull.c reads and writes. A
 * descriptor is back when its work has ended well, or with the proof that its connection has
 * stopped.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

static struct lnd_verbs_desc *lnd_verbs_desc_of(struct lnd_verbs_node *node, struct lnd_tag tag)
{
	return tag.index < lnd_host_slots ? &node->desc[tag.index] : NULL;
}

/* The connection's proof is there: it has nothing more to do with the descriptor. */
static void lnd_verbs_detach(struct lnd_verbs_desc *desc)
{
	struct lnd_verbs_region *region, *next;

	desc->moves = 0;
	lnd_verbs_bounce_back(desc);
	list_del_init(&desc->pull);
	list_for_each_entry_safe(region, next, &desc->regions, list)
		list_del_init(&region->list);
}

/* Whether the peer's key can be one of this connection's. Its bytes may be any. */
static bool lnd_verbs_fits(const struct lnd_verbs_peer *peer, const struct lnd_bd *bd)
{
	struct lnd_verbs_key key;

	if (bd->key_len != sizeof(key))
		return false;
	memcpy(&key, bd->key, sizeof(key));
	if (le32_to_cpu(key.length) < bd->length ||
	    le32_to_cpu(key.segments) > LND_VERBS_SEGMENTS)
		return false;
	if (le32_to_cpu(key.cookie) == peer->peer_cookie)
		return true;
	lnd_verbs_count(peer->node, LND_VERBS_OTHER_COOKIE);
	return false;
}

/* What a pull reads and a push writes: what the key names, or the segments that are there. */
static void lnd_verbs_source(struct lnd_verbs_desc *desc, const struct lnd_bd *bd)
{
	memcpy(&desc->key, bd->key, sizeof(desc->key));
	desc->segments = le32_to_cpu(desc->key.segments);
	desc->listed = !desc->segments || !bd->length;
	if (desc->segments)
		return;
	desc->segments = 1;
	desc->list[0].address = desc->key.address;
	desc->list[0].rkey = desc->key.rkey;
	desc->list[0].length = desc->key.length;
}

static u32 lnd_verbs_post_to(struct lnd_verbs_peer *peer, struct lnd_verbs_desc *desc,
			     const struct lnd_bd *bd)
{
	bool stage = bd->motion == LND_MOTION_STAGE || bd->motion == LND_MOTION_EXPOSE;
	u32 rc = LND_POST_DONE;

	if (WARN_ON_ONCE(desc->motion != LND_VERBS_FREE))
		return LND_POST_INVALID;
	WRITE_ONCE(desc->peer, peer);
	desc->tag = bd->tag;
	desc->source = bd->source;
	desc->length = bd->length;
	desc->direction = bd->motion == LND_MOTION_STAGE || bd->motion == LND_MOTION_PUSH ?
			  DMA_TO_DEVICE : DMA_FROM_DEVICE;
	desc->given_up = false;
	desc->issued = 0;
	desc->moved = 0;
	desc->moves = 0;
	desc->entry = 0;
	desc->in_entry = 0;
	desc->segment = 0;
	desc->in_segment = 0;
	desc->segments = 0;
	memset(&desc->key, 0, sizeof(desc->key));
	/*
	 * Between ready() and this call the queue pair may have failed. The library learns it by
	 * the connection's end, which brings this descriptor back, too.
	 */
	if (!peer->open) {
		/* Pairs with the acquire in lnd_verbs_motion_of(). */
		smp_store_release(&desc->motion, LND_VERBS_STRANDED);
		if (peer->served)
			return LND_POST_DONE;
		if (lnd_verbs_opening(peer))
			lnd_verbs_count(peer->node, LND_VERBS_EARLY);
		return LND_POST_FULL;
	}
	if (!stage && !lnd_verbs_fits(peer, bd))
		return LND_POST_INVALID;
	if (stage)
		desc->key.cookie = cpu_to_le32(peer->cookie);
	else
		lnd_verbs_source(desc, bd);
	desc->key.length = cpu_to_le32(bd->length);
	if (bd->length) {
		desc->pieces = lnd_verbs_pieces(peer->node, bd->frags, bd->nfrags, bd->length,
						desc->sg, LND_VERBS_PIECES);
		if (desc->pieces < 0)
			return LND_POST_INVALID;
		if (stage)
			rc = lnd_verbs_stage(desc);
		else if (!lnd_verbs_map(desc))
			rc = LND_POST_FULL;
	}
	if (rc)
		return rc;
	/* Pairs with the acquire in lnd_verbs_motion_of(). */
	smp_store_release(&desc->motion, stage ? LND_VERBS_STAGED : LND_VERBS_QUEUED);
	if (!stage) {
		list_add_tail(&desc->pull, &peer->pulls);
		if (list_empty(&peer->posted))
			list_add_tail(&peer->posted, &peer->node->posted);
	}
	return LND_POST_DONE;
}

/* Context: inside. */
u32 lnd_verbs_engine_post(void *ctx, const struct lnd_bd *bd)
{
	struct lnd_verbs_node *node = lnd_verbs_of(ctx);
	struct lnd_verbs_desc *desc = lnd_verbs_desc_of(node, bd->tag);
	struct lnd_verbs_peer *peer = lnd_verbs_find(node, bd->nid);
	u32 rc;

	if (!desc || !peer)
		return LND_POST_INVALID;
	spin_lock_bh(&peer->lock);
	rc = lnd_verbs_post_to(peer, desc, bd);
	if (rc)
		desc->motion = LND_VERBS_FREE;
	spin_unlock_bh(&peer->lock);
	return rc;
}

/* Context: inside. */
u32 lnd_verbs_engine_key(void *ctx, u32 link, struct lnd_tag tag, void *key)
{
	struct lnd_verbs_desc *desc = lnd_verbs_desc_of(lnd_verbs_of(ctx), tag);

	if (!desc || !desc->peer)
		return 0;
	spin_lock_bh(&desc->peer->lock);
	memcpy(key, &desc->key, sizeof(desc->key));
	spin_unlock_bh(&desc->peer->lock);
	return sizeof(desc->key);
}

/* Context: inside. */
void lnd_verbs_engine_doorbell(void *ctx, u32 link)
{
	struct lnd_verbs_node *node = lnd_verbs_of(ctx);
	struct lnd_verbs_peer *peer, *next;

	list_for_each_entry_safe(peer, next, &node->posted, posted) {
		list_del_init(&peer->posted);
		spin_lock_bh(&peer->lock);
		lnd_verbs_pump(peer);
		spin_unlock_bh(&peer->lock);
	}
}

/* Context: inside. */
void lnd_verbs_engine_invalidate(void *ctx, u32 link, struct lnd_tag tag)
{
	struct lnd_verbs_node *node = lnd_verbs_of(ctx);
	struct lnd_verbs_desc *desc = lnd_verbs_desc_of(node, tag);
	struct lnd_verbs_back back = {};

	if (!desc || !desc->peer)
		return;
	spin_lock_bh(&desc->peer->lock);
	if (desc->tag.generation == tag.generation) {
		if (desc->motion == LND_VERBS_STAGED)
			lnd_verbs_unstage(desc, &back);
		else if (desc->peer->open && (desc->motion == LND_VERBS_QUEUED ||
					      desc->motion == LND_VERBS_PULLING))
			lnd_verbs_give_up(desc, &back);
	}
	spin_unlock_bh(&desc->peer->lock);
	lnd_verbs_report(node, &back);
}

/* After the proof. Context: inside. */
u32 lnd_verbs_engine_reclaim(void *ctx, u32 link, struct lnd_tag tag)
{
	struct lnd_verbs_desc *desc = lnd_verbs_desc_of(lnd_verbs_of(ctx), tag);
	u32 how = LND_RETURNED_UNKNOWN;

	if (!desc || !desc->peer)
		return how;
	spin_lock_bh(&desc->peer->lock);
	if (desc->tag.generation == tag.generation) {
		if (desc->motion == LND_VERBS_STRANDED ||
		    (desc->motion == LND_VERBS_QUEUED && !desc->issued && !desc->moves))
			how = LND_RETURNED_UNTOUCHED;
		lnd_verbs_detach(desc);
		desc->motion = LND_VERBS_FREE;
	}
	spin_unlock_bh(&desc->peer->lock);
	return how;
}

/**
 * lnd_verbs_unmap_all() - Unmaps the descriptors of a drained queue pair, before its device may go.
 * @peer: the peer.
 *
 * The library is given them by lnd_verbs_engine_reclaim().
 *
 * Context: thread.
 */
void lnd_verbs_unmap_all(struct lnd_verbs_peer *peer)
{
	u32 i;

	spin_lock_bh(&peer->lock);
	for (i = 0; i < lnd_host_slots; i++) {
		struct lnd_verbs_desc *desc = &peer->node->desc[i];

		if (lnd_verbs_motion_of(peer, desc) != LND_VERBS_FREE)
			lnd_verbs_unmap(desc);
	}
	peer->registering = 0;
	spin_unlock_bh(&peer->lock);
}

/**
 * lnd_verbs_rdma_init() - Memory for a peer's regions.
 * @peer: the peer.
 *
 * Context: thread.
 * Return: 0 or -ENOMEM; lnd_verbs_rdma_exit() in both cases.
 */
int lnd_verbs_rdma_init(struct lnd_verbs_peer *peer)
{
	INIT_LIST_HEAD(&peer->free_regions);
	INIT_LIST_HEAD(&peer->free_moves);
	INIT_LIST_HEAD(&peer->pulls);
	xa_init(&peer->keys);
	peer->regions = lnd_host_alloc(LND_VERBS_REGIONS * sizeof(*peer->regions),
				       LND_HOST_MAY_WAIT, LND_HOST_AT_ENGINE_MEMORY);
	return peer->regions ? 0 : -ENOMEM;
}

/* Context: thread. */
void lnd_verbs_rdma_exit(struct lnd_verbs_peer *peer)
{
	lnd_host_free(peer->regions, LND_VERBS_REGIONS * sizeof(*peer->regions));
}
