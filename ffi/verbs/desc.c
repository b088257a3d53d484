// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A descriptor: its mapping, its regions, and its way back to the library. */
#include "lnd_verbs.h"

void lnd_verbs_report(struct lnd_verbs_node *node, const struct lnd_verbs_back *back)
{
	if (back->is)
		lnd_completed(node->host.ni, LND_VERBS_LINK, back->tag, back->how, lnd_host_now());
}

void lnd_verbs_unmap(struct lnd_verbs_desc *desc)
{
	if (desc->mapped)
		ib_dma_unmap_sg(desc->peer->device, lnd_verbs_sg(desc), desc->pieces,
				desc->direction);
	if (desc->index_mapped)
		ib_dma_unmap_sg(desc->peer->device, &desc->index, 1, desc->index_direction);
	desc->mapped = false;
	desc->index_mapped = false;
}

/**
 * lnd_verbs_motion_of() - What a descriptor does on a connection.
 * @peer: the connection's peer.
 * @desc: any descriptor; it may be posted to another connection meanwhile.
 *
 * Context: any, with the connection's lock.
 * Return: LND_VERBS_FREE, if it is not this connection's.
 */
enum lnd_verbs_motion lnd_verbs_motion_of(struct lnd_verbs_peer *peer,
					  struct lnd_verbs_desc *desc)
{
	/*
	 * Pairs with the releases in lnd_verbs_post_to(): who sees that it is out sees to whom. On
	 * this connection it neither comes nor goes, for that takes the lock.
	 */
	enum lnd_verbs_motion motion = smp_load_acquire(&desc->motion);

	return READ_ONCE(desc->peer) == peer ? motion : LND_VERBS_FREE;
}

bool lnd_verbs_map(struct lnd_verbs_desc *desc)
{
	desc->dma_pieces = ib_dma_map_sg(desc->peer->device, lnd_verbs_sg(desc), desc->pieces,
					 desc->direction);
	desc->mapped = desc->dma_pieces > 0;
	return desc->mapped;
}

/* The list of segments: the peer reads ours, and we read the peer's. */
bool lnd_verbs_map_index(struct lnd_verbs_desc *desc, enum dma_data_direction direction)
{
	sg_init_one(&desc->index, desc->list, desc->segments * sizeof(*desc->list));
	desc->index_direction = direction;
	desc->index_mapped = ib_dma_map_sg(desc->peer->device, &desc->index, 1, direction);
	return desc->index_mapped;
}

void lnd_verbs_free_regions(struct lnd_verbs_desc *desc)
{
	struct lnd_verbs_region *region, *next;

	list_for_each_entry_safe(region, next, &desc->regions, list) {
		list_move_tail(&region->list, &desc->peer->free_regions);
		desc->peer->spare++;
	}
	lnd_verbs_feed(desc->peer);
}

/* The descriptor is the library's again. Context: any, with the connection's lock. */
void lnd_verbs_give_back(struct lnd_verbs_desc *desc, u32 how, struct lnd_verbs_back *back)
{
	lnd_verbs_unmap(desc);
	lnd_verbs_bounce_back(desc);
	lnd_verbs_free_regions(desc);
	desc->motion = LND_VERBS_FREE;
	back->tag = desc->tag;
	back->how = how;
	back->is = true;
}
