// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Frames on their way out. A key may be in one: its registration goes in front of it in one call,
 * or has completed before the frame is posted.
 */
#include "lnd_verbs.h"

/* Whether a frame's bytes go into the work request, so that no device fetches them. */
static bool lnd_verbs_inline(const struct lnd_verbs_frame *frame)
{
	return frame->len <= frame->peer->inlines;
}

static void lnd_verbs_has_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_frame *frame = container_of(wc->wr_cqe, struct lnd_verbs_frame, cqe);
	struct lnd_verbs_peer *peer = cq->cq_context;
	struct lnd_verbs_node *node = peer->node;

	/*
	 * A receive of the peer's has it, or nothing is known: what acknowledges it may be lost.
	 * Whichever it is, the library hears it once.
	 */
	if (frame->tracked)
		lnd_sent(node->host.ni, frame->message,
			 wc->status ? LND_SENT_UNKNOWN : LND_SENT_OK, lnd_host_now());
	spin_lock_bh(&peer->lock);
	if (!lnd_verbs_inline(frame))
		ib_dma_unmap_single(peer->device, frame->dma, frame->len, DMA_TO_DEVICE);
	peer->sending[frame->lane]--;
	list_add_tail(&frame->list, &peer->free_sends);
	if (!wc->status) {
		lnd_verbs_heard_from(peer);
		lnd_verbs_note(peer);
		lnd_verbs_feed(peer);
	}
	spin_unlock_bh(&peer->lock);
	if (wc->status)
		lnd_verbs_break(peer, wc);
}

static void lnd_verbs_registered(struct ib_cq *cq, struct ib_wc *wc);

/**
 * lnd_verbs_reg() - Fills in a registration that is about to be posted.
 * @region: the region, with a new key.
 * @wr: filled in; not signaled.
 *
 * Context: any, with the connection's lock.
 */
void lnd_verbs_reg(struct lnd_verbs_region *region, struct ib_reg_wr *wr)
{
	*wr = (struct ib_reg_wr){
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &region->cqe,
		.access = region->exposed ? IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE :
					    IB_ACCESS_REMOTE_READ,
		.mr = region->mr,
		.key = region->mr->rkey,
	};
	region->cqe.done = lnd_verbs_registered;
	region->valid = true;
}

/**
 * lnd_verbs_unregistered() - The region of a descriptor whose registration is still to be posted.
 * @peer: the peer that the frame with its key is for.
 * @desc: the descriptor.
 * @generation: of the use that the frame announces.
 *
 * Context: any, with the connection's lock.
 * Return: the region, or NULL: it is registered already, or given back.
 */
static struct lnd_verbs_region *lnd_verbs_unregistered(struct lnd_verbs_peer *peer,
						       struct lnd_verbs_desc *desc,
						       u32 generation)
{
	struct lnd_verbs_region *region;

	if (lnd_verbs_motion_of(peer, desc) != LND_VERBS_STAGED ||
	    desc->tag.generation != generation)
		return NULL;
	region = list_first_entry_or_null(&desc->regions, struct lnd_verbs_region, list);
	return region && !region->valid ? region : NULL;
}

/* Posts a frame's request, behind the registration of the key in it if that is still to be done. */
static int lnd_verbs_post_chain(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame,
				struct ib_send_wr *wr)
{
	struct lnd_verbs_region *region = NULL;
	struct ib_reg_wr reg;

	if (frame->begins)
		region = lnd_verbs_unregistered(peer, frame->begins, frame->generation);
	if (!region)
		return lnd_verbs_post(peer, wr);
	lnd_verbs_reg(region, &reg);
	reg.wr.next = wr;
	lnd_verbs_count(peer->node, LND_VERBS_REGISTERED);
	lnd_verbs_count(peer->node, LND_VERBS_CHAINED);
	return lnd_verbs_post(peer, &reg.wr);
}

/* Posts a frame. Context: any, with the connection's lock. */
static int lnd_verbs_post_frame(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame)
{
	struct ib_sge sge = { .length = frame->len, .lkey = peer->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.opcode = frame->ends ? IB_WR_SEND_WITH_INV : IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.wr_cqe = &frame->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.ex.invalidate_rkey = frame->ends,
	};

	frame->cqe.done = lnd_verbs_has_sent;
	if (lnd_verbs_inline(frame)) {
		/* Of such a request the address is the CPU's. */
		sge.addr = (uintptr_t)frame->head;
		wr.send_flags |= IB_SEND_INLINE;
		lnd_verbs_count(peer->node, LND_VERBS_INLINED);
		return lnd_verbs_post_chain(peer, frame, &wr) ? -EIO : 0;
	}
	frame->dma = ib_dma_map_single(peer->device, frame->head, frame->len, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(peer->device, frame->dma))
		return -ENOMEM;
	sge.addr = frame->dma;
	if (!lnd_verbs_post_chain(peer, frame, &wr))
		return 0;
	ib_dma_unmap_single(peer->device, frame->dma, frame->len, DMA_TO_DEVICE);
	return -EIO;
}

/**
 * lnd_verbs_send_frame() - Sends a frame for which there is room.
 * @peer: the peer.
 * @frame: the first of free_sends, filled in.
 * @lane: its lane.
 * @len: bytes behind its head.
 *
 * Context: any, with the connection's lock.
 * Return: 0, or -EIO: it was not begun.
 */
int lnd_verbs_send_frame(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame, u32 lane,
			 u32 len)
{
	u32 i;

	frame->lane = lane;
	frame->len = sizeof(*frame->head) + len;
	frame->head->lane = lane;
	frame->head->reserved = 0;
	for (i = 0; i < LND_VERBS_LANES; i++) {
		frame->head->granted[i] = cpu_to_le16(peer->given[i]);
		peer->told[i] = peer->given[i];
	}
	list_del(&frame->list);
	peer->sent[lane]++;
	peer->sending[lane]++;
	/* A key may be in it that is not valid yet; and frames keep their order. */
	if (peer->registering || !list_empty(&peer->waiting)) {
		list_add_tail(&frame->list, &peer->waiting);
		return 0;
	}
	if (!lnd_verbs_post_frame(peer, frame))
		return 0;
	/* It was not begun, and has no completion. Its credit and what it was to say are gone. */
	peer->sending[lane]--;
	list_add_tail(&frame->list, &peer->free_sends);
	lnd_verbs_fail(peer, "a frame cannot be mapped");
	return -EIO;
}

/* Sends a note if the peer may lack what it was given. Context: any, with the connection's lock. */
void lnd_verbs_note(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_frame *frame;
	bool due = false;
	u32 lane;

	for (lane = 0; lane < LND_VERBS_NOTE; lane++)
		due |= (u16)(peer->given[lane] - peer->told[lane]) >= LND_VERBS_WINDOW / 2;
	if (!due || !lnd_verbs_has_room(peer, LND_VERBS_NOTE))
		return;
	frame = list_first_entry(&peer->free_sends, struct lnd_verbs_frame, list);
	frame->tracked = false;
	frame->ends = 0;
	frame->begins = NULL;
	if (!lnd_verbs_send_frame(peer, frame, LND_VERBS_NOTE, 0))
		lnd_verbs_count(peer->node, LND_VERBS_NOTES_SENT);
}

/* Posts the frames that have waited for registrations. Context: any, with the connection's lock. */
static void lnd_verbs_go(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_frame *frame, *next;

	list_for_each_entry_safe(frame, next, &peer->waiting, list) {
		if (!peer->open)
			return;
		list_del(&frame->list);
		if (lnd_verbs_post_frame(peer, frame)) {
			list_add(&frame->list, &peer->waiting);
			lnd_verbs_fail(peer, "a frame cannot be mapped");
		}
	}
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
		lnd_verbs_go(peer);
	spin_unlock_bh(&peer->lock);
}

/* What the frame is about: a descriptor of ours that it announces, or a move that it ends. */
static void lnd_verbs_classify(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame,
			       const struct lnd_frame *bytes)
{
	struct lnd_tag tag;
	u32 about = lnd_frame_about(bytes, &tag);

	frame->ends = 0;
	frame->begins = NULL;
	if (about == LND_ABOUT_PULLED) {
		if (peer->invalidates)
			frame->ends = lnd_verbs_ended_by(peer, tag);
	} else if (about == LND_ABOUT_STAGED && tag.index < lnd_host_slots) {
		frame->begins = &peer->node->desc[tag.index];
		frame->generation = tag.generation;
	}
}

/* Context: inside. Returns enum lnd_send. */
u32 lnd_verbs_send(struct lnd_verbs_peer *peer, const struct lnd_frame *bytes)
{
	struct lnd_verbs_frame *frame;
	u32 sent = LND_SEND_FULL;

	spin_lock_bh(&peer->lock);
	if (bytes->lane >= LND_VERBS_NOTE || !lnd_verbs_has_room(peer, bytes->lane)) {
		lnd_verbs_lacks(peer, bytes->lane);
	} else {
		frame = list_first_entry(&peer->free_sends, struct lnd_verbs_frame, list);
		frame->tracked = bytes->tracked;
		frame->message = bytes->message;
		lnd_verbs_classify(peer, frame, bytes);
		memcpy(frame->head + 1, bytes->bytes, bytes->len);
		if (!lnd_verbs_send_frame(peer, frame, bytes->lane, bytes->len)) {
			lnd_verbs_count(peer->node, LND_VERBS_SENDS);
			sent = LND_SEND_PENDING;
		}
	}
	spin_unlock_bh(&peer->lock);
	return sent;
}
