// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Pulls: READs of CHUNK bytes, few at a time on a connection, because a SEND waits for the READs
 * before it. If the key names a list of segments, the first READ is of that list. A pull is back
 * when all its READs have completed well. What ends in any other way leaves the queue pair in
 * error: it is back with the proof that the connection has stopped.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

/* The local pieces of the next READ, which ends with its segment; returns its bytes. */
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

/* The place in the peer's memory is behind what the READ has taken. */
static void lnd_verbs_advance(struct lnd_verbs_desc *desc, u32 len)
{
	desc->issued += len;
	desc->in_segment += len;
	if (desc->in_segment < le32_to_cpu(desc->list[desc->segment].length))
		return;
	desc->segment++;
	desc->in_segment = 0;
}

/* Whether the peer's segments, whose bytes may be any, are as long as what is pulled. */
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
 * The peer's segments have arrived: the pull goes on. Those that make no sense come from a peer
 * that breaks the rules: its connection ends, and brings the descriptor back.
 */
static void lnd_verbs_has_list(struct lnd_verbs_desc *desc)
{
	ib_dma_unmap_sg(desc->peer->device, &desc->index, 1, desc->direction);
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
 * A pull has ended well. The frame that says so may invalidate the key of its only region. Other
 * descriptors' owners invalidate several of them anyway.
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
 * A connection begins with no pulls that have ended: no key of a former one is found.
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

static void lnd_verbs_has_read(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_read *read = container_of(wc->wr_cqe, struct lnd_verbs_read, cqe);
	struct lnd_verbs_peer *peer = cq->cq_context;
	struct lnd_verbs_desc *desc = read->desc;
	struct lnd_verbs_back back = {};

	/* The bytes of this one may be there or not: the descriptor stays out. */
	if (wc->status) {
		lnd_verbs_break(peer, wc);
		return;
	}
	spin_lock_bh(&peer->lock);
	list_add_tail(&read->list, &peer->free_reads);
	lnd_verbs_heard_from(peer);
	if (desc->peer == peer && desc->reads) {
		struct lnd_host_link *link = &peer->node->host.link[LND_VERBS_LINK];

		desc->reads--;
		desc->moved += read->len;
		if (read->index)
			lnd_verbs_has_list(desc);
		WRITE_ONCE(link->bytes, link->bytes + read->len);
		if (desc->moved == desc->length) {
			lnd_verbs_note_end(peer, desc);
			lnd_verbs_give_back(desc, LND_RETURNED_OK, &back);
		} else if (desc->given_up && !desc->reads) {
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
	sg_init_one(&desc->index, desc->list, desc->segments * sizeof(*desc->list));
	desc->index_mapped = ib_dma_map_sg(desc->peer->device, &desc->index, 1, DMA_FROM_DEVICE);
	if (!desc->index_mapped)
		return false;
	sge->addr = sg_dma_address(&desc->index);
	sge->length = sg_dma_len(&desc->index);
	sge->lkey = desc->peer->pd->local_dma_lkey;
	return true;
}

/* Fills in the next READ of a pull. */
static bool lnd_verbs_next_read(struct lnd_verbs_desc *desc, struct lnd_verbs_read *read,
				struct ib_rdma_wr *wr)
{
	const struct lnd_verbs_segment *from = &desc->list[desc->segment];

	read->desc = desc;
	read->len = 0;
	read->index = !desc->listed;
	if (read->index) {
		wr->rkey = le32_to_cpu(desc->key.rkey);
		wr->remote_addr = le64_to_cpu(desc->key.address);
		wr->wr.num_sge = 1;
		return lnd_verbs_read_list(desc, wr->wr.sg_list);
	}
	wr->rkey = le32_to_cpu(from->rkey);
	wr->remote_addr = le64_to_cpu(from->address) + desc->in_segment;
	if (desc->length) {
		read->len = lnd_verbs_gather(desc, wr->wr.sg_list, &wr->wr.num_sge);
		lnd_verbs_advance(desc, read->len);
	}
	return true;
}

/* Posts READs as long as few are under way. Context: any, with the connection's lock. */
void lnd_verbs_pump(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_desc *desc;
	struct lnd_verbs_read *read;

	while (peer->open &&
	       (desc = list_first_entry_or_null(&peer->pulls, struct lnd_verbs_desc, pull)) &&
	       (read = list_first_entry_or_null(&peer->free_reads, struct lnd_verbs_read, list))) {
		struct ib_sge sge[LND_VERBS_SGES];
		struct ib_rdma_wr wr = {
			.wr.opcode = IB_WR_RDMA_READ,
			.wr.send_flags = IB_SEND_SIGNALED,
			.wr.wr_cqe = &read->cqe,
			.wr.sg_list = sge,
		};

		if (!lnd_verbs_next_read(desc, read, &wr)) {
			lnd_verbs_fail(peer, "a READ cannot be mapped");
			return;
		}
		list_del(&read->list);
		read->cqe.done = lnd_verbs_has_read;
		desc->reads++;
		if (read->index || desc->issued == desc->length) {
			list_del_init(&desc->pull);
			desc->motion = LND_VERBS_PULLING;
		}
		lnd_verbs_count(peer->node, LND_VERBS_READ_COUNT);
		lnd_verbs_post(peer, &wr.wr);
	}
}

/* Posts no more READs of a pull. Those that are under way end by themselves. */
void lnd_verbs_give_up(struct lnd_verbs_desc *desc, struct lnd_verbs_back *back)
{
	if (desc->motion == LND_VERBS_QUEUED) {
		list_del_init(&desc->pull);
		desc->motion = LND_VERBS_PULLING;
	}
	desc->given_up = true;
	if (lnd_verbs_defect("early"))
		desc->reads = 0;
	if (!desc->reads)
		lnd_verbs_give_back(desc, desc->issued ? LND_RETURNED_TOUCHED :
				    LND_RETURNED_UNTOUCHED, back);
}
