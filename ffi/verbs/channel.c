// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The channel: SEND into receives that were posted for it.
 *
 * Each lane has WINDOW receives at the other end, and as many frames may be under way. A receive is
 * given again when the library has decided on its frame, which stays where it was received until
 * then. So a request that waits holds one receive of its lane, and none of the control lane. The
 * queue pair is told to try no SEND again that finds no receive: there is none.
 *
 * What was given goes with each frame, as a count since the connection is up. If none goes, a note
 * carries it, once half a window has been given. Notes have receives of their own, which are given
 * again at once. More notes than NOTES cannot be under way: before the peer needs a further one, it
 * has taken the first and has said so with a frame of its own.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

static void lnd_verbs_received(struct ib_cq *cq, struct ib_wc *wc);

/* Posts a receive. Context: any, with the connection's lock. */
static int lnd_verbs_listen_for(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame)
{
	struct ib_sge sge = {
		.length = lnd_verbs_frame_room(peer->node),
		.lkey = peer->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &frame->cqe, .sg_list = &sge, .num_sge = 1 };
	int rc;

	frame->cqe.done = lnd_verbs_received;
	frame->dma = ib_dma_map_single(peer->device, frame->head, sge.length, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(peer->device, frame->dma))
		return -ENOMEM;
	sge.addr = frame->dma;
	rc = ib_post_recv(peer->qp, &wr, NULL);
	if (rc)
		ib_dma_unmap_single(peer->device, frame->dma, sge.length, DMA_FROM_DEVICE);
	return rc;
}

/* Posts a receive for a lane of the peer. Context: any, with the connection's lock. */
static void lnd_verbs_post_receive(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame,
				   u32 lane)
{
	if (!peer->open || lnd_verbs_listen_for(peer, frame)) {
		list_add_tail(&frame->list, &peer->free_receives);
		/* The lane is one receive short from now on. */
		if (peer->open)
			lnd_verbs_fail(peer, "a receive cannot be posted");
		return;
	}
	peer->given[lane]++;
}

/**
 * lnd_verbs_channel_close() - Ends the frames that were never posted.
 * @peer: the peer, whose connection is drained.
 *
 * Context: thread.
 */
void lnd_verbs_channel_close(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_frame *frame, *next;
	LIST_HEAD(never);

	spin_lock_bh(&peer->lock);
	list_splice_init(&peer->waiting, &never);
	spin_unlock_bh(&peer->lock);
	list_for_each_entry_safe(frame, next, &never, list) {
		if (frame->tracked)
			lnd_sent(peer->node->host.ni, frame->message, LND_SENT_NOT_DELIVERED,
				 lnd_host_now());
		spin_lock_bh(&peer->lock);
		peer->sending[frame->lane]--;
		list_move_tail(&frame->list, &peer->free_sends);
		spin_unlock_bh(&peer->lock);
	}
}

/* What the peer gives us. False: no peer that keeps the rules says that. */
static bool lnd_verbs_take_grants(struct lnd_verbs_peer *peer, const struct lnd_verbs_head *head)
{
	u32 lane;

	for (lane = 0; lane < LND_VERBS_LANES; lane++) {
		u16 granted = le16_to_cpu(head->granted[lane]);

		if ((u16)(granted - peer->sent[lane]) > lnd_verbs_window(lane))
			return false;
		peer->granted[lane] = granted;
	}
	return true;
}

static void lnd_verbs_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_frame *frame = container_of(wc->wr_cqe, struct lnd_verbs_frame, cqe);
	struct lnd_verbs_peer *peer = cq->cq_context;
	const struct lnd_verbs_head *head = frame->head;
	bool wake = false;

	ib_dma_unmap_single(peer->device, frame->dma, lnd_verbs_frame_room(peer->node),
			    DMA_FROM_DEVICE);
	spin_lock_bh(&peer->lock);
	if (wc->status) {
		list_add_tail(&frame->list, &peer->free_receives);
		spin_unlock_bh(&peer->lock);
		lnd_verbs_break(peer, wc);
		return;
	}
	/* A WRITE with an immediate value ends a receive, too, with a length of its own. */
	if (wc->opcode != IB_WC_RECV || wc->byte_len < sizeof(*head) ||
	    wc->byte_len > lnd_verbs_frame_room(peer->node) || head->lane >= LND_VERBS_LANES) {
		list_add_tail(&frame->list, &peer->free_receives);
		lnd_verbs_count(peer->node, LND_VERBS_ERRORS);
		lnd_verbs_fail(peer, "no frame");
		spin_unlock_bh(&peer->lock);
		return;
	}
	lnd_verbs_count(peer->node, LND_VERBS_RECEIVES);
	lnd_verbs_heard_from(peer);
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		lnd_verbs_lose_key(peer, wc->ex.invalidate_rkey);
	frame->len = wc->byte_len - sizeof(*head);
	frame->lane = head->lane;
	if (!lnd_verbs_take_grants(peer, head))
		lnd_verbs_fail(peer, "a frame with impossible credits");
	/* One that is due may have waited for this. */
	lnd_verbs_note(peer);
	if (frame->lane == LND_VERBS_NOTE) {
		lnd_verbs_post_receive(peer, frame, LND_VERBS_NOTE);
		lnd_verbs_feed(peer);
	} else {
		frame->order = peer->order++;
		list_add_tail(&frame->list, &peer->arrived[frame->lane]);
		lnd_verbs_arrival(peer);
		wake = true;
	}
	spin_unlock_bh(&peer->lock);
	if (wake)
		lnd_host_node_wake(&peer->node->host);
}

static struct lnd_verbs_frame *lnd_verbs_first(struct lnd_verbs_peer *peer, u32 lane,
					       const bool *waits)
{
	return waits[lane] ? NULL : list_first_entry_or_null(&peer->arrived[lane],
							     struct lnd_verbs_frame, list);
}

/**
 * lnd_verbs_arrived() - The next frame; it stays where it is.
 * @peer: the peer.
 * @waits: the lanes whose first frame has to wait.
 *
 * Frames of both lanes come in the order in which they arrived: a goodbye does not overtake the
 * requests before it. The peer may send before the connection is open here, and nothing could be
 * pulled or answered yet: such frames wait.
 *
 * Context: the node's thread.
 * Return: the frame or NULL.
 */
struct lnd_verbs_frame *lnd_verbs_arrived(struct lnd_verbs_peer *peer, const bool *waits)
{
	struct lnd_verbs_frame *frame = NULL, *request = NULL;

	spin_lock_bh(&peer->lock);
	if (!lnd_verbs_opening(peer) || lnd_verbs_defect("eager")) {
		frame = lnd_verbs_first(peer, LND_LANE_CONTROL, waits);
		request = lnd_verbs_first(peer, LND_LANE_REQUEST, waits);
	}
	spin_unlock_bh(&peer->lock);
	if (!frame || (request && (s32)(request->order - frame->order) < 0))
		return request;
	return frame;
}

/* A frame has been decided on. Its connection may have ended. Context: the node's thread. */
void lnd_verbs_release(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame)
{
	spin_lock_bh(&peer->lock);
	list_del(&frame->list);
	lnd_verbs_post_receive(peer, frame, frame->lane);
	lnd_verbs_note(peer);
	spin_unlock_bh(&peer->lock);
}

/**
 * lnd_verbs_channel_open() - Posts the receives of a new queue pair.
 * @peer: the peer, whose queue pair is made and not connected yet.
 *
 * Frames of the connection before that are not decided on keep their receives.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_verbs_channel_open(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_frame *frame, *next;
	int rc = 0;
	u32 lane;

	spin_lock_bh(&peer->lock);
	for (lane = 0; lane < LND_VERBS_LANES; lane++) {
		peer->sent[lane] = 0;
		peer->given[lane] = lnd_verbs_window(lane);
		if (lane == LND_VERBS_NOTE)
			continue;
		list_for_each_entry(frame, &peer->arrived[lane], list)
			peer->given[lane]--;
	}
	list_for_each_entry_safe(frame, next, &peer->free_receives, list) {
		list_del(&frame->list);
		rc = lnd_host_fault(LND_HOST_AT_RECEIVES) ? -ENOMEM :
							    lnd_verbs_listen_for(peer, frame);
		if (rc) {
			list_add(&frame->list, &peer->free_receives);
			break;
		}
	}
	for (lane = 0; lane < LND_VERBS_LANES; lane++)
		peer->told[lane] = peer->given[lane];
	spin_unlock_bh(&peer->lock);
	return rc;
}

/**
 * lnd_verbs_channel_up() - A connection is open.
 * @peer: the peer.
 *
 * What was decided on while it was being made is given to the peer now.
 *
 * Context: any, with the connection's lock.
 */
void lnd_verbs_channel_up(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_frame *frame, *next;
	LIST_HEAD(late);

	list_splice_init(&peer->free_receives, &late);
	list_for_each_entry_safe(frame, next, &late, list) {
		list_del(&frame->list);
		lnd_verbs_post_receive(peer, frame, frame->lane);
	}
	lnd_verbs_note(peer);
}
