// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Descriptors as work requests.
 *
 * Stage: a registration, and an invalidation when it is to be given back. It is back when that has
 * completed. The peer was asked first (LND_CANCEL_FIRST): an invalidation under a READ would let
 * the reader take a part of the data for all of it.
 *
 * Both go through a queue pair of their own, "local", which moves nothing: it has nothing to send
 * again, and waits for no peer. In the queue of the messages soft-RoCE of 6.1 executes them twice
 * when it sends again what was before them, and the queue pair fails. So frames wait until the
 * registrations before them have completed.
 *
 * Pull: READs of CHUNK bytes, few at a time on a connection, because a SEND waits for the READs
 * before it. It is back when all its READs have completed well. What ends in any other way leaves
 * the queue pair in error: it is back with the proof that the connection has stopped.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

/* What is to be reported once no lock is held. */
struct lnd_verbs_back {
	struct lnd_tag tag;
	u32 how;
	bool is;
};

static void lnd_verbs_report(struct lnd_verbs_node *node, const struct lnd_verbs_back *back)
{
	if (back->is)
		lnd_completed(node->host.ni, LND_VERBS_LINK, back->tag, back->how, ktime_get_ns());
}

static struct lnd_verbs_desc *lnd_verbs_desc_of(struct lnd_verbs_node *node, struct lnd_tag tag)
{
	return tag.index < lnd_host_slots ? &node->desc[tag.index] : NULL;
}

static void lnd_verbs_unmap(struct lnd_verbs_desc *desc)
{
	if (desc->mapped)
		ib_dma_unmap_sg(desc->peer->device, desc->sg, desc->pieces, desc->direction);
	desc->mapped = false;
}

/* The descriptor is the library's again. Context: any, with the connection's lock. */
static void lnd_verbs_give_back(struct lnd_verbs_desc *desc, u32 how, struct lnd_verbs_back *back)
{
	lnd_verbs_unmap(desc);
	if (desc->region)
		list_add_tail(&desc->region->list, &desc->peer->free_regions);
	desc->region = NULL;
	desc->motion = LND_VERBS_FREE;
	back->tag = desc->tag;
	back->how = how;
	back->is = true;
}

static void lnd_verbs_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_peer *peer = cq->cq_context;

	if (wc->status) {
		lnd_verbs_break(peer, wc);
		return;
	}
	spin_lock_bh(&peer->lock);
	peer->registering--;
	if (!peer->registering)
		lnd_verbs_channel_go(peer);
	spin_unlock_bh(&peer->lock);
}

static void lnd_verbs_invalidated(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_desc *desc = container_of(wc->wr_cqe, struct lnd_verbs_desc, cqe);
	struct lnd_verbs_peer *peer = cq->cq_context;
	struct lnd_verbs_back back = {};

	if (wc->status) {
		lnd_verbs_break(peer, wc);
		return;
	}
	lnd_verbs_count(peer->node, LND_VERBS_INVALIDATED);
	spin_lock_bh(&peer->lock);
	if (desc->peer == peer && desc->motion == LND_VERBS_UNSTAGING)
		lnd_verbs_give_back(desc, LND_RETURNED_TOUCHED, &back);
	spin_unlock_bh(&peer->lock);
	lnd_verbs_report(peer->node, &back);
}

static bool lnd_verbs_map(struct lnd_verbs_desc *desc, enum dma_data_direction direction)
{
	desc->direction = direction;
	desc->dma_pieces = ib_dma_map_sg(desc->peer->device, desc->sg, desc->pieces, direction);
	desc->mapped = desc->dma_pieces > 0;
	return desc->mapped;
}

/* Posts to the queue pair that moves nothing. Context: any, with the connection's lock. */
static int lnd_verbs_post_local(struct lnd_verbs_peer *peer, struct ib_send_wr *wr)
{
	int rc = ib_post_send(peer->local, wr, NULL);

	if (rc)
		lnd_verbs_fail(peer);
	return rc;
}

/* Posts a registration. Frames wait until it has completed. */
static u32 lnd_verbs_stage(struct lnd_verbs_desc *desc)
{
	struct lnd_verbs_peer *peer = desc->peer;
	struct lnd_verbs_region *region;
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.access = IB_ACCESS_REMOTE_READ,
	};

	region = list_first_entry_or_null(&peer->free_regions, struct lnd_verbs_region, list);
	if (!region) {
		lnd_verbs_count(peer->node, LND_VERBS_NO_REGION);
		return LND_POST_FULL;
	}
	if (!lnd_verbs_map(desc, DMA_TO_DEVICE))
		return LND_POST_FULL;
	/* Fragments with gaps between them do not fit into one region. */
	if (ib_map_mr_sg(region->mr, desc->sg, desc->dma_pieces, NULL, PAGE_SIZE) !=
	    desc->dma_pieces) {
		lnd_verbs_unmap(desc);
		return LND_POST_INVALID;
	}
	list_del(&region->list);
	desc->region = region;
	/* The key of each use differs from those of the uses before. */
	ib_update_fast_reg_key(region->mr, ib_inc_rkey(region->mr->rkey));
	region->cqe.done = lnd_verbs_registered;
	wr.wr.wr_cqe = &region->cqe;
	wr.mr = region->mr;
	wr.key = region->mr->rkey;
	peer->registering++;
	/* If it is not posted the connection fails, and its end brings the descriptor back. */
	lnd_verbs_post_local(peer, &wr.wr);
	desc->key.address = cpu_to_le64(region->mr->iova);
	desc->key.rkey = cpu_to_le32(region->mr->rkey);
	lnd_verbs_count(peer->node, LND_VERBS_REGISTERED);
	return LND_POST_DONE;
}

/* Whether the peer's key can be one of this connection's. Its bytes may be any. */
static bool lnd_verbs_fits(const struct lnd_verbs_peer *peer, const struct lnd_bd *bd)
{
	struct lnd_verbs_key key;

	if (bd->key_len != sizeof(key))
		return false;
	memcpy(&key, bd->key, sizeof(key));
	if (le32_to_cpu(key.length) < bd->length)
		return false;
	if (le32_to_cpu(key.cookie) == peer->peer_cookie)
		return true;
	lnd_verbs_count(peer->node, LND_VERBS_OTHER_COOKIE);
	return false;
}

static u32 lnd_verbs_post_to(struct lnd_verbs_peer *peer, struct lnd_verbs_desc *desc,
			     const struct lnd_bd *bd)
{
	bool stage = bd->motion == LND_MOTION_STAGE;
	u32 rc = LND_POST_DONE;

	if (WARN_ON_ONCE(desc->motion != LND_VERBS_FREE))
		return LND_POST_INVALID;
	desc->peer = peer;
	desc->tag = bd->tag;
	desc->length = bd->length;
	desc->given_up = false;
	desc->issued = 0;
	desc->moved = 0;
	desc->reads = 0;
	desc->entry = 0;
	desc->in_entry = 0;
	memset(&desc->key, 0, sizeof(desc->key));
	/*
	 * Between ready() and this call the queue pair may have failed. The library learns it by
	 * the connection's end, which brings this descriptor back, too.
	 */
	if (!peer->open) {
		desc->motion = LND_VERBS_STRANDED;
		return peer->served ? LND_POST_DONE : LND_POST_FULL;
	}
	if (!stage && !lnd_verbs_fits(peer, bd))
		return LND_POST_INVALID;
	if (stage)
		desc->key.cookie = cpu_to_le32(peer->cookie);
	else
		memcpy(&desc->key, bd->key, sizeof(desc->key));
	desc->key.length = cpu_to_le32(bd->length);
	if (bd->length) {
		desc->pieces = lnd_verbs_pieces(peer->node, bd->frags, bd->nfrags, bd->length,
						desc->sg, LND_VERBS_PAGES);
		if (desc->pieces < 0)
			return LND_POST_INVALID;
		if (stage)
			rc = lnd_verbs_stage(desc);
		else if (!lnd_verbs_map(desc, DMA_FROM_DEVICE))
			rc = LND_POST_FULL;
	}
	if (rc)
		return rc;
	desc->motion = stage ? LND_VERBS_STAGED : LND_VERBS_QUEUED;
	if (!stage)
		list_add_tail(&desc->list, &peer->pulls);
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

/* The local pieces of the next READ; returns its bytes. */
static u32 lnd_verbs_gather(struct lnd_verbs_desc *desc, struct ib_sge *sge, int *used)
{
	u32 left = min(desc->length - desc->issued, LND_VERBS_CHUNK), len = 0;
	u32 lkey = desc->peer->pd->local_dma_lkey;

	for (*used = 0; left && *used < LND_VERBS_SGES; (*used)++) {
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

static void lnd_verbs_pump(struct lnd_verbs_peer *peer);

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
	if (desc->peer == peer && desc->reads) {
		struct lnd_host_link *link = &peer->node->host.link[LND_VERBS_LINK];

		desc->reads--;
		desc->moved += read->len;
		WRITE_ONCE(link->bytes, link->bytes + read->len);
		if (desc->moved == desc->length)
			lnd_verbs_give_back(desc, LND_RETURNED_OK, &back);
		else if (desc->given_up && !desc->reads)
			lnd_verbs_give_back(desc, LND_RETURNED_TOUCHED, &back);
	}
	lnd_verbs_pump(peer);
	spin_unlock_bh(&peer->lock);
	lnd_verbs_report(peer->node, &back);
}

/* Posts READs as long as few are under way. Context: any, with the connection's lock. */
static void lnd_verbs_pump(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_desc *desc;
	struct lnd_verbs_read *read;

	while (peer->open &&
	       (desc = list_first_entry_or_null(&peer->pulls, struct lnd_verbs_desc, list)) &&
	       (read = list_first_entry_or_null(&peer->free_reads, struct lnd_verbs_read, list))) {
		struct ib_sge sge[LND_VERBS_SGES];
		struct ib_rdma_wr wr = {
			.wr.opcode = IB_WR_RDMA_READ,
			.wr.send_flags = IB_SEND_SIGNALED,
			.wr.wr_cqe = &read->cqe,
			.wr.sg_list = sge,
			.rkey = le32_to_cpu(desc->key.rkey),
			.remote_addr = le64_to_cpu(desc->key.address) + desc->issued,
		};

		list_del(&read->list);
		read->cqe.done = lnd_verbs_has_read;
		read->peer = peer;
		read->desc = desc;
		read->len = desc->length ? lnd_verbs_gather(desc, sge, &wr.wr.num_sge) : 0;
		desc->issued += read->len;
		desc->reads++;
		if (desc->issued == desc->length) {
			list_del(&desc->list);
			desc->motion = LND_VERBS_PULLING;
		}
		lnd_verbs_count(peer->node, LND_VERBS_READ_COUNT);
		lnd_verbs_post(peer, &wr.wr);
	}
}

/* Context: inside. */
void lnd_verbs_engine_doorbell(void *ctx, u32 link)
{
	struct lnd_verbs_node *node = lnd_verbs_of(ctx);
	u32 i;

	for (i = 0; i < lnd_verbs_peers; i++) {
		struct lnd_verbs_peer *peer = node->peer[i];

		if (!peer)
			continue;
		spin_lock_bh(&peer->lock);
		lnd_verbs_pump(peer);
		spin_unlock_bh(&peer->lock);
	}
}

/* Nothing reads it any more. A dead queue pair would flush the invalidation: its stop does it. */
static void lnd_verbs_unstage(struct lnd_verbs_desc *desc, struct lnd_verbs_back *back)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.wr_cqe = &desc->cqe,
		.ex.invalidate_rkey = le32_to_cpu(desc->key.rkey),
	};

	if (!desc->peer->open)
		return;
	if (!desc->region) {
		lnd_verbs_give_back(desc, LND_RETURNED_TOUCHED, back);
		return;
	}
	desc->cqe.done = lnd_verbs_invalidated;
	desc->motion = LND_VERBS_UNSTAGING;
	lnd_verbs_post_local(desc->peer, &wr);
}

/* Posts no more READs of a pull. Those that are under way end by themselves. */
static void lnd_verbs_give_up(struct lnd_verbs_desc *desc, struct lnd_verbs_back *back)
{
	if (desc->motion == LND_VERBS_QUEUED) {
		list_del(&desc->list);
		desc->motion = LND_VERBS_PULLING;
	}
	desc->given_up = true;
	if (!desc->issued && !desc->reads)
		lnd_verbs_give_back(desc, LND_RETURNED_UNTOUCHED, back);
	else if (!desc->reads || lnd_verbs_defect("early"))
		lnd_verbs_give_back(desc, LND_RETURNED_TOUCHED, back);
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
		    (desc->motion == LND_VERBS_QUEUED && !desc->issued && !desc->reads))
			how = LND_RETURNED_UNTOUCHED;
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

		if (READ_ONCE(desc->peer) != peer || desc->motion == LND_VERBS_FREE)
			continue;
		lnd_verbs_unmap(desc);
		desc->region = NULL;
	}
	INIT_LIST_HEAD(&peer->pulls);
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
	INIT_LIST_HEAD(&peer->free_reads);
	INIT_LIST_HEAD(&peer->pulls);
	peer->regions = lnd_host_alloc(LND_VERBS_REGIONS * sizeof(*peer->regions),
				       LND_HOST_MAY_WAIT, LND_HOST_AT_ENGINE_MEMORY);
	return peer->regions ? 0 : -ENOMEM;
}

/* Context: thread. */
void lnd_verbs_rdma_exit(struct lnd_verbs_peer *peer)
{
	lnd_host_free(peer->regions, LND_VERBS_REGIONS * sizeof(*peer->regions));
}

static int lnd_verbs_local_make(struct lnd_verbs_peer *peer)
{
	struct ib_qp_init_attr attr = {
		.send_cq = peer->cq,
		.recv_cq = peer->cq,
		.cap.max_send_wr = 2 * LND_VERBS_REGIONS + 1,
		.cap.max_recv_wr = 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(peer->pd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	peer->local = qp;
	return 0;
}

/**
 * lnd_verbs_local_up() - Makes the queue pair work that moves nothing.
 * @peer: the peer, whose connection is established.
 *
 * It is given the other one's address, as it must have one.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_verbs_local_up(struct lnd_verbs_peer *peer)
{
	static const enum ib_qp_state states[] = { IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS };
	unsigned int i;
	int rc = 0;

	for (i = 0; i < ARRAY_SIZE(states) && !rc; i++) {
		struct ib_qp_attr attr = { .qp_state = states[i] };
		int mask;

		rc = rdma_init_qp_attr(peer->id, &attr, &mask) ?:
		     ib_modify_qp(peer->local, &attr, mask);
	}
	peer->local_up = !rc;
	return rc;
}

/**
 * lnd_verbs_rdma_open() - Regions of a new protection domain, and their queue pair.
 * @peer: the peer, whose protection domain exists.
 *
 * Context: thread.
 * Return: 0 or a negative errno; lnd_verbs_rdma_close() in both cases.
 */
int lnd_verbs_rdma_open(struct lnd_verbs_peer *peer)
{
	unsigned int i;

	INIT_LIST_HEAD(&peer->free_regions);
	INIT_LIST_HEAD(&peer->free_reads);
	for (i = 0; i < LND_VERBS_READS; i++)
		list_add_tail(&peer->read[i].list, &peer->free_reads);
	for (i = 0; i < LND_VERBS_REGIONS; i++) {
		struct lnd_verbs_region *region = &peer->regions[i];
		struct ib_mr *mr = ib_alloc_mr(peer->pd, IB_MR_TYPE_MEM_REG, LND_VERBS_PAGES);

		if (IS_ERR(mr))
			return PTR_ERR(mr);
		region->mr = mr;
		list_add_tail(&region->list, &peer->free_regions);
	}
	return lnd_verbs_local_make(peer);
}

/**
 * lnd_verbs_rdma_close() - Takes all keys of a connection back.
 * @peer: the peer, whose connection is drained.
 *
 * An invalidation that is flushed has invalidated nothing.
 *
 * Context: thread.
 */
void lnd_verbs_rdma_close(struct lnd_verbs_peer *peer)
{
	unsigned int i;

	/* Nothing was posted to one that never worked, not even a marker can be. */
	if (peer->local_up)
		ib_drain_sq(peer->local);
	peer->local_up = false;
	if (peer->local)
		ib_destroy_qp(peer->local);
	peer->local = NULL;
	for (i = 0; i < LND_VERBS_REGIONS; i++) {
		if (peer->regions[i].mr)
			ib_dereg_mr(peer->regions[i].mr);
		peer->regions[i].mr = NULL;
	}
}
