// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Staged and exposed descriptors: registrations, and invalidations when they are to be given back.
 * One is back when its invalidations have completed. The peer was asked first (LND_CANCEL_FIRST):
 * an invalidation under a READ would let the reader take a part of the data for all of it, and one
 * under a WRITE ends the connection.
 *
 * Both go through a queue pair of their own, "local", which moves nothing: it has nothing to send
 * again, and waits for no peer. In the queue of the messages soft-RoCE of 6.1 executes them twice
 * when it sends again what was before them, and the queue pair fails. So frames wait until the
 * registrations before them have completed. With other devices the registration of a descriptor of
 * one region goes in front of the frame with its key, in one call (send.c).
 *
 * The frame that ends a pull or push may invalidate the key of one region. That region needs no
 * invalidation of ours. Each other one does.
 *
 * A region is one stretch of whole pages but for its ends. Where there are gaps between the
 * fragments, and where they are longer than a region, there are several. Their addresses and keys
 * are a list in memory, which has a region, too: its key goes on the wire, and the peer reads the
 * list first.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

static void lnd_verbs_invalidated(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_desc *desc = container_of(wc->wr_cqe, struct lnd_verbs_desc, cqe);
	struct lnd_verbs_peer *peer = cq->cq_context;
	struct lnd_verbs_back back = {};

	if (wc->status) {
		lnd_verbs_break(peer, wc);
		return;
	}
	spin_lock_bh(&peer->lock);
	if (desc->peer == peer && desc->motion == LND_VERBS_UNSTAGING)
		lnd_verbs_give_back(desc, LND_RETURNED_TOUCHED, &back);
	spin_unlock_bh(&peer->lock);
	lnd_verbs_report(peer->node, &back);
}

/* Posts to the queue pair that moves nothing. Context: any, with the connection's lock. */
static int lnd_verbs_post_local(struct lnd_verbs_peer *peer, struct ib_send_wr *wr)
{
	int rc = ib_post_send(peer->local, wr, NULL);

	lnd_verbs_count(peer->node, LND_VERBS_POSTS);
	if (rc)
		lnd_verbs_fail(peer, "the device registers nothing");
	return rc;
}

/* Maps pieces into a free region; returns how many, at least one, or a negative errno. */
static int lnd_verbs_take_region(struct lnd_verbs_desc *desc, struct scatterlist *sg, int pieces,
				 unsigned int *offset, struct lnd_verbs_segment *segment)
{
	struct lnd_verbs_peer *peer = desc->peer;
	struct lnd_verbs_region *region;
	unsigned int from = *offset;
	int mapped;

	region = list_first_entry_or_null(&peer->free_regions, struct lnd_verbs_region, list);
	if (!region) {
		lnd_verbs_count(peer->node, LND_VERBS_NO_REGION);
		return -ENOBUFS;
	}
	mapped = ib_map_mr_sg(region->mr, sg, pieces, offset, PAGE_SIZE);
	if (mapped < 0 || (!mapped && *offset == from))
		return -EINVAL;
	list_move_tail(&region->list, &desc->regions);
	peer->spare--;
	region->exposed = sg != &desc->index && desc->direction == DMA_FROM_DEVICE;
	/* The key of each use differs from those of the uses before. */
	ib_update_fast_reg_key(region->mr, ib_inc_rkey(region->mr->rkey));
	segment->address = cpu_to_le64(region->mr->iova);
	segment->rkey = cpu_to_le32(region->mr->rkey);
	segment->length = cpu_to_le32(region->mr->length);
	return mapped;
}

/*
 * Regions for all pieces: a new one begins at each gap, and where one is full. -E2BIG: there are
 * more than segments.
 */
static int lnd_verbs_cover(struct lnd_verbs_desc *desc)
{
	struct scatterlist *sg = lnd_verbs_sg(desc);
	int left = desc->dma_pieces, mapped;
	unsigned int offset = 0;

	for (; left; left -= mapped, sg += mapped) {
		if (desc->segments == LND_VERBS_SEGMENTS)
			return -E2BIG;
		mapped = lnd_verbs_take_region(desc, sg, left, &offset,
					       &desc->list[desc->segments]);
		if (mapped < 0)
			return mapped;
		desc->segments++;
	}
	return 0;
}

/* The list of segments is read by the peer, too: its key names a region of it. */
static int lnd_verbs_cover_list(struct lnd_verbs_desc *desc, struct lnd_verbs_segment *segment)
{
	unsigned int offset = 0;
	int mapped;

	if (!lnd_verbs_map_index(desc, DMA_TO_DEVICE))
		return -ENOBUFS;
	lnd_verbs_count(desc->peer->node, LND_VERBS_INDEXED);
	mapped = lnd_verbs_take_region(desc, &desc->index, 1, &offset, segment);
	return mapped < 0 ? mapped : 0;
}

/**
 * lnd_verbs_by_device() - Whether keys may begin and end with frames.
 * @device: the device.
 *
 * Context: any.
 * Return: whether they may; see above.
 */
bool lnd_verbs_by_device(const struct ib_device *device)
{
	return device->ops.driver_id != RDMA_DRIVER_RXE;
}

/* Whether the registration of a descriptor goes with the frame, in the frames' queue. */
static bool lnd_verbs_chained(const struct lnd_verbs_desc *desc)
{
	return desc->peer->chains && list_is_singular(&desc->regions);
}

/* Posts the registrations. Frames wait until they have completed. */
static void lnd_verbs_register(struct lnd_verbs_desc *desc)
{
	struct lnd_verbs_peer *peer = desc->peer;
	struct lnd_verbs_region *region;

	if (lnd_verbs_chained(desc))
		return;
	list_for_each_entry(region, &desc->regions, list) {
		struct ib_reg_wr wr;

		lnd_verbs_reg(region, &wr);
		wr.wr.send_flags = IB_SEND_SIGNALED;
		peer->registering++;
		lnd_verbs_count(peer->node, LND_VERBS_REGISTERED);
		/* If it is not posted the connection fails: its end brings the descriptor back. */
		if (lnd_verbs_post_local(peer, &wr.wr))
			return;
	}
}

/**
 * lnd_verbs_lose_key() - The peer's frame has invalidated a key.
 * @peer: the peer.
 * @rkey: the key.
 *
 * The device has done so before it reported the frame. The descriptor comes back when the library
 * has read the frame, and asks for it.
 *
 * Context: any, with the connection's lock.
 */
void lnd_verbs_lose_key(struct lnd_verbs_peer *peer, u32 rkey)
{
	struct lnd_verbs_region *region;

	if (lnd_verbs_defect("misread"))
		rkey ^= 0x100;
	region = xa_load(&peer->keys, rkey >> 8);
	/* Of each region one key at a time is valid. Another one is not this use's. */
	if (!region || !region->valid ||
	    (region->mr->rkey != rkey && !lnd_verbs_defect("misread"))) {
		lnd_verbs_count(peer->node, LND_VERBS_OTHER_KEY);
		return;
	}
	region->valid = false;
	lnd_verbs_count(peer->node, LND_VERBS_INVALIDATED_BY_PEER);
}

/* With too many gaps the bytes are copied to pages without any. */
static int lnd_verbs_cover_copy(struct lnd_verbs_desc *desc)
{
	int rc;

	lnd_verbs_unmap(desc);
	lnd_verbs_free_regions(desc);
	desc->segments = 0;
	rc = lnd_verbs_bounce(desc);
	if (rc)
		return rc;
	return lnd_verbs_map(desc) ? lnd_verbs_cover(desc) : -ENOBUFS;
}

u32 lnd_verbs_stage(struct lnd_verbs_desc *desc)
{
	struct lnd_verbs_segment first;
	int rc;

	if (!lnd_verbs_map(desc))
		return LND_POST_FULL;
	rc = lnd_verbs_cover(desc);
	if (rc == -E2BIG)
		rc = lnd_verbs_cover_copy(desc);
	first = desc->list[0];
	if (!rc && desc->segments > 1 && !lnd_verbs_defect("glue")) {
		rc = lnd_verbs_cover_list(desc, &first);
		desc->key.segments = cpu_to_le32(desc->segments);
	}
	if (rc) {
		lnd_verbs_unmap(desc);
		lnd_verbs_unbounce(desc);
		lnd_verbs_free_regions(desc);
		return rc == -ENOBUFS ? LND_POST_FULL : LND_POST_INVALID;
	}
	lnd_verbs_register(desc);
	desc->key.address = first.address;
	desc->key.rkey = first.rkey;
	return LND_POST_DONE;
}

/* The last region of a descriptor whose key is valid, or NULL. */
static struct lnd_verbs_region *lnd_verbs_last_valid(struct lnd_verbs_desc *desc)
{
	struct lnd_verbs_region *region;

	list_for_each_entry_reverse(region, &desc->regions, list) {
		if (region->valid)
			return region;
	}
	return NULL;
}

/*
 * Nothing reads or writes it any more. A dead queue pair would flush the invalidations: its stop
 * does it. They complete in order, so the last one tells.
 */
void lnd_verbs_unstage(struct lnd_verbs_desc *desc, struct lnd_verbs_back *back)
{
	struct lnd_verbs_region *region, *last = lnd_verbs_last_valid(desc);

	if (!desc->peer->open)
		return;
	if (!last || lnd_verbs_defect("hasty")) {
		lnd_verbs_give_back(desc, LND_RETURNED_TOUCHED, back);
		return;
	}
	desc->cqe.done = lnd_verbs_invalidated;
	desc->motion = LND_VERBS_UNSTAGING;
	list_for_each_entry(region, &desc->regions, list) {
		struct ib_send_wr wr = {
			.opcode = IB_WR_LOCAL_INV,
			.wr_cqe = &desc->cqe,
			.ex.invalidate_rkey = region->mr->rkey,
		};

		if (!region->valid)
			continue;
		region->valid = false;
		if (region == last)
			wr.send_flags = IB_SEND_SIGNALED;
		lnd_verbs_count(desc->peer->node, LND_VERBS_INVALIDATED);
		/* Behind its registration: two queues have no order. */
		if (lnd_verbs_chained(desc) ? lnd_verbs_post(desc->peer, &wr) :
					      lnd_verbs_post_local(desc->peer, &wr))
			return;
	}
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
	struct ib_qp *qp = lnd_host_fault(LND_HOST_AT_LOCAL_QP) ? ERR_PTR(-ENOMEM) :
								  ib_create_qp(peer->pd, &attr);

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
	int rc;

	INIT_LIST_HEAD(&peer->free_regions);
	INIT_LIST_HEAD(&peer->free_moves);
	memset(peer->ended, 0, sizeof(peer->ended));
	peer->chains = lnd_verbs_chain == 2 ? lnd_verbs_by_device(peer->device) : lnd_verbs_chain;
	peer->invalidates = lnd_verbs_inv == 2 ? lnd_verbs_by_device(peer->device) : lnd_verbs_inv;
	peer->spare = 0;
	for (i = 0; i < LND_VERBS_MOVES; i++)
		list_add_tail(&peer->move[i].list, &peer->free_moves);
	for (i = 0; i < LND_VERBS_REGIONS; i++) {
		struct lnd_verbs_region *region = &peer->regions[i];
		struct ib_mr *mr = lnd_host_fault(LND_HOST_AT_REGION) ?
					   ERR_PTR(-ENOMEM) :
					   ib_alloc_mr(peer->pd, IB_MR_TYPE_MEM_REG,
						       LND_VERBS_PAGES);

		if (IS_ERR(mr))
			return PTR_ERR(mr);
		region->mr = mr;
		region->valid = false;
		list_add_tail(&region->list, &peer->free_regions);
		peer->spare++;
		rc = lnd_host_fault(LND_HOST_AT_REGION_KEY) ?
			     -ENOMEM :
			     xa_err(xa_store(&peer->keys, mr->rkey >> 8, region, GFP_KERNEL));
		if (rc)
			return rc;
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
	xa_destroy(&peer->keys);
	for (i = 0; i < LND_VERBS_REGIONS; i++) {
		if (peer->regions[i].mr)
			ib_dereg_mr(peer->regions[i].mr);
		peer->regions[i].mr = NULL;
	}
}
