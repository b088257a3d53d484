// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Pulls and pushes: READs and WRITEs of CHUNK bytes, few at a time on a connection, because a SEND
 * waits for those before it. If the key names a list of segments, the first of them is a READ of
 * that list. A pull or push is back when all of it has completed well. What ends in any other way
 * leaves the queue pair in error: it is back with the proof that the connection has stopped.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

/* The local pieces of the next READ or WRITE, which ends with its segment; returns its bytes. */
static u32 lnd_verbs_gather(struct lnd_verbs_desc *desc, struct ib_sge *sge, int *used)
{
	u32 segment = le32_to_cpu(desc->list[desc->segment].length) - desc->in_segment;
	u32 left = min3(desc->length - desc->issued, LND_VERBS_CHUNK, segment), len = 0;
	u32 lkey = desc->peer->pd->local_dma_lkey;

	for (*used = 0; left && *used < desc->peer->sges; (*used)++) {
		const struct scatterlist *sg = &desc->sg[desc->entry];
		u32 part = min(left, sg_dma_len(sg) - desc->in_entry);

		sge[*used].addr = sg_dma_address(sg) + desc->in_entry;
		sge[*used].length = part;
		sge[*used].lkey = lkey;
		len += part;
		left -= part;
		desc->in_entry += part;
		if (desc->in_entry == sg_dma_len(sg)) {
			desc->entry++;
			desc->in_entry = 0;
		}
	}
	return len;
}

/* The place in the peer's memory is behind what the READ or WRITE has taken. */
static void lnd_verbs_advance(struct lnd_verbs_desc *desc, u32 len)
{
	desc->issued += len;
	desc->in_segment += len;
	if (desc->in_segment < le32_to_cpu(desc->list[desc->segment].length))
		return;
	desc->segment++;
	desc->in_segment = 0;
}

/* Whether the peer's segments, whose bytes may be any, are as long as what is moved. */
static bool lnd_verbs_list_good(struct lnd_verbs_desc *desc)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < desc->segments; i++) {
		if (!desc->list[i].length)
			return false;
		bytes += le32_to_cpu(desc->list[i].length);
	}
	return bytes >= desc->length;
}

/*
 * The peer's segments have arrived: the pull or push goes on. Those that make no sense come from a
 * peer that breaks the rules: its connection ends, and brings the descriptor back.
 */
static void lnd_verbs_has_list(struct lnd_verbs_desc *desc)
{
	ib_dma_unmap_sg(desc->peer->device, &desc->index, 1, desc->index_direction);
	desc->index_mapped = false;
	desc->listed = true;
	if (!lnd_verbs_list_good(desc)) {
		lnd_verbs_fail(desc->peer, "segments that make no sense");
	} else if (!desc->given_up) {
		desc->motion = LND_VERBS_QUEUED;
		list_add_tail(&desc->pull, &desc->peer->pulls);
	}
}

/*
 * A pull or push has ended well. The frame that says so may invalidate the key of its only region.
 * Other descriptors' owners invalidate several of them anyway.
 */
static void lnd_verbs_note_end(struct lnd_verbs_peer *peer, const struct lnd_verbs_desc *desc)
{
	struct lnd_verbs_ended *ended = &peer->ended[peer->next_ended++ % LND_VERBS_ENDED];

	ended->source = desc->source;
	ended->rkey = desc->length && !desc->key.segments ? le32_to_cpu(desc->key.rkey) : 0;
}

/**
 * lnd_verbs_ended_by() - The peer's key that is of no use any more, once.
 * @peer: the peer.
 * @source: its descriptor.
 *
 * A connection begins with nothing that has ended: no key of a former one is found.
 *
 * Context: any, with the connection's lock.
 * Return: the key, or 0: it is not known, or stays valid.
 */
u32 lnd_verbs_ended_by(struct lnd_verbs_peer *peer, struct lnd_tag source)
{
	unsigned int i;

	for (i = 0; i < LND_VERBS_ENDED; i++) {
		struct lnd_verbs_ended *ended = &peer->ended[i];
		u32 rkey = ended->rkey;

		if (!rkey || ended->source.index != source.index ||
		    ended->source.generation != source.generation)
			continue;
		/* An invalidation that comes twice would hit the region's next use, or fail. */
		ended->rkey = 0;
		return rkey;
	}
	return 0;
}

static void lnd_verbs_has_moved(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_move *move = container_of(wc->wr_cqe, struct lnd_verbs_move, cqe);
	struct lnd_verbs_peer *peer = cq->cq_context;
	struct lnd_verbs_desc *desc = move->desc;
	struct lnd_verbs_back back = {};

	/* The bytes of this one may be there or not: the descriptor stays out. */
	if (wc->status) {
		lnd_verbs_break(peer, wc);
		return;
	}
	spin_lock_bh(&peer->lock);
	list_add_tail(&move->list, &peer->free_moves);
	lnd_verbs_heard_from(peer);
	if (desc->peer == peer && desc->moves) {
		desc->moves--;
		desc->moved += move->len;
		if (move->index)
			lnd_verbs_has_list(desc);
		lnd_verbs_count_bytes(peer->node, move->len);
		if (desc->moved == desc->length) {
			lnd_verbs_note_end(peer, desc);
			lnd_verbs_give_back(desc, LND_RETURNED_OK, &back);
		} else if (desc->given_up && !desc->moves) {
			lnd_verbs_give_back(desc, desc->issued ? LND_RETURNED_TOUCHED :
					    LND_RETURNED_UNTOUCHED, &back);
		}
	}
	lnd_verbs_pump(peer);
	spin_unlock_bh(&peer->lock);
	lnd_verbs_report(peer->node, &back);
}

/* The READ of the peer's segments. False: the buffer cannot be mapped. */
static bool lnd_verbs_read_list(struct lnd_verbs_desc *desc, struct ib_sge *sge)
{
	if (!lnd_verbs_map_index(desc, DMA_FROM_DEVICE))
		return false;
	sge->addr = sg_dma_address(&desc->index);
	sge->length = sg_dma_len(&desc->index);
	sge->lkey = desc->peer->pd->local_dma_lkey;
	return true;
}

/* Fills in the next READ or WRITE. */
static bool lnd_verbs_next_move(struct lnd_verbs_desc *desc, struct lnd_verbs_move *move,
				struct ib_rdma_wr *wr)
{
	const struct lnd_verbs_segment *segment = &desc->list[desc->segment];

	move->desc = desc;
	move->len = 0;
	move->index = !desc->listed;
	if (move->index) {
		wr->rkey = le32_to_cpu(desc->key.rkey);
		wr->remote_addr = le64_to_cpu(desc->key.address);
		wr->wr.num_sge = 1;
		return lnd_verbs_read_list(desc, wr->wr.sg_list);
	}
	wr->rkey = le32_to_cpu(segment->rkey);
	wr->remote_addr = le64_to_cpu(segment->address) + desc->in_segment;
	if (desc->length) {
		move->len = lnd_verbs_gather(desc, wr->wr.sg_list, &wr->wr.num_sge);
		lnd_verbs_advance(desc, move->len);
	}
	if (desc->direction == DMA_TO_DEVICE) {
		wr->wr.opcode = lnd_verbs_defect("immediate") ? IB_WR_RDMA_WRITE_WITH_IMM :
				IB_WR_RDMA_WRITE;
		if (lnd_verbs_defect("unwritten"))
			desc->length = desc->issued;
	}
	return true;
}

/* Posts READs and WRITEs as long as few are under way. Context: any, with the connection's lock. */
void lnd_verbs_pump(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_desc *desc;
	struct lnd_verbs_move *move;

	while (peer->open &&
	       (desc = list_first_entry_or_null(&peer->pulls, struct lnd_verbs_desc, pull)) &&
	       (move = list_first_entry_or_null(&peer->free_moves, struct lnd_verbs_move, list))) {
		struct ib_sge sge[LND_VERBS_SGES];
		struct ib_rdma_wr wr = {
			.wr.opcode = IB_WR_RDMA_READ,
			.wr.send_flags = IB_SEND_SIGNALED,
			.wr.wr_cqe = &move->cqe,
			.wr.sg_list = sge,
		};

		if (!lnd_verbs_next_move(desc, move, &wr)) {
			lnd_verbs_fail(peer, "a READ cannot be mapped");
			return;
		}
		list_del(&move->list);
		move->cqe.done = lnd_verbs_has_moved;
		desc->moves++;
		if (move->index || desc->issued == desc->length) {
			list_del_init(&desc->pull);
			desc->motion = LND_VERBS_PULLING;
		}
		lnd_verbs_count(peer->node, wr.wr.opcode == IB_WR_RDMA_READ ?
				LND_VERBS_READ_COUNT : LND_VERBS_WRITE_COUNT);
		lnd_verbs_post(peer, &wr.wr);
	}
}

/* Posts no more of a pull or push. What is under way ends by itself. */
void lnd_verbs_give_up(struct lnd_verbs_desc *desc, struct lnd_verbs_back *back)
{
	if (desc->motion == LND_VERBS_QUEUED) {
		list_del_init(&desc->pull);
		desc->motion = LND_VERBS_PULLING;
	}
	desc->given_up = true;
	if (lnd_verbs_defect("early"))
		desc->moves = 0;
	if (!desc->moves)
		lnd_verbs_give_back(desc, desc->issued ? LND_RETURNED_TOUCHED :
				    LND_RETURNED_UNTOUCHED, back);
}
