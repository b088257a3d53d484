// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What all others may do with a connection: find it, post to it, and note that it must be made or
 * closed, which wakes its worker (peer.c).
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

/**
 * lnd_verbs_find() - The peer of a NID.
 * @node: the node.
 * @nid: the NID.
 *
 * Context: any.
 * Return: the peer, or NULL.
 */
struct lnd_verbs_peer *lnd_verbs_find(struct lnd_verbs_node *node, u64 nid)
{
	return xa_load(&node->peers, nid);
}

/* Wakes the worker. Context: any. */
void lnd_verbs_kick(struct lnd_verbs_peer *peer)
{
	mod_delayed_work(peer->node->workers, &peer->work, 0);
}

/**
 * lnd_verbs_fail() - The connection must be closed.
 * @peer: the peer.
 * @why: for the log, if nothing has closed it before; NULL: the log has it already.
 *
 * Context: any, with the connection's lock.
 */
void lnd_verbs_fail(struct lnd_verbs_peer *peer, const char *why)
{
	if (why && !peer->failed)
		pr_info_ratelimited("node %u: peer %llu: %s\n", peer->node->host.number,
				    peer->nid, why);
	peer->open = false;
	peer->failed = true;
	lnd_verbs_kick(peer);
}

/**
 * lnd_verbs_break() - A work request has not ended well: the queue pair is in error.
 * @peer: the peer.
 * @wc: the completion.
 *
 * Context: any.
 */
void lnd_verbs_break(struct lnd_verbs_peer *peer, struct ib_wc *wc)
{
	spin_lock_bh(&peer->lock);
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		lnd_verbs_count(peer->node, LND_VERBS_FLUSHED);
	} else {
		lnd_verbs_count(peer->node, wc->status == IB_WC_RNR_RETRY_EXC_ERR ?
				LND_VERBS_NOT_READY : LND_VERBS_ERRORS);
		pr_info_ratelimited("node %u: peer %llu: %s\n", peer->node->host.number, peer->nid,
				    ib_wc_status_msg(wc->status));
		peer->silent |= wc->status == IB_WC_RETRY_EXC_ERR;
	}
	/* The flush of a connection that is being closed is no news. */
	if (peer->open)
		lnd_verbs_fail(peer, NULL);
	spin_unlock_bh(&peer->lock);
}

/* The node's thread looks at the peer's frames in its next round. Context: any. */
void lnd_verbs_arrival(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_node *node = peer->node;

	spin_lock_bh(&node->arrivals_lock);
	if (list_empty(&peer->arrival))
		list_add_tail(&peer->arrival, &node->arrivals);
	spin_unlock_bh(&node->arrivals_lock);
}

/* Frames wait for a connection. Context: any, with its lock. */
void lnd_verbs_request_connect(struct lnd_verbs_peer *peer)
{
	if (peer->wanted || peer->state != LND_VERBS_IDLE)
		return;
	peer->wanted = true;
	lnd_verbs_kick(peer);
}

/* The library asks for the stop. Context: any, with its lock. */
void lnd_verbs_stop(struct lnd_verbs_peer *peer)
{
	peer->stop = true;
	peer->open = false;
	lnd_verbs_kick(peer);
}

/* The library has taken back all that was out: the next connection has a new number. */
void lnd_verbs_reset(struct lnd_verbs_peer *peer)
{
	peer->number++;
	peer->served = false;
	peer->stop = false;
	if (peer->state == LND_VERBS_CLOSED)
		peer->state = LND_VERBS_IDLE;
	else if (peer->state != LND_VERBS_IDLE)
		peer->renewed = true;
	lnd_verbs_kick(peer);
}

/**
 * lnd_verbs_post() - Posts a work request.
 * @peer: the peer.
 * @wr: the request.
 *
 * Context: any, with the connection's lock, while it is open.
 * Return: 0, or a negative errno; of several requests some may have been posted then. The
 * connection fails.
 */
int lnd_verbs_post(struct lnd_verbs_peer *peer, struct ib_send_wr *wr)
{
	int rc = ib_post_send(peer->qp, wr, NULL);

	lnd_verbs_count(peer->node, LND_VERBS_POSTS);
	if (rc)
		lnd_verbs_fail(peer, "the device takes no work");
	return rc;
}
