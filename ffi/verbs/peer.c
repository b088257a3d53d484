// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * One connection with a peer. A worker opens and closes it, because both sleep. All others only
 * note that there is something to do, and wake the worker.
 *
 * A connection that fails is closed at once, and then reported down: so its proof is there when the
 * library asks for it. Until the library resets it nothing is connected anew. An attempt that never
 * came up has moved nothing, and concerns the library only if it asks for its stop.
 *
 * Deadlines and the time between attempts are ours: rdma_cm's take many seconds.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/sched/mm.h>

#include "lnd_verbs.h"

#define BACKOFF_LEAST	(HZ / 20)
#define BACKOFF_MOST	(2 * HZ)

static bool lnd_verbs_attempting(const struct lnd_verbs_peer *peer)
{
	return peer->state > LND_VERBS_IDLE && peer->state < LND_VERBS_UP;
}

/* After a failure, or when the library has asked for it. */
static void lnd_verbs_end(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_node *node = peer->node;
	bool report, silent, attempt, vain = false;
	enum lnd_error rc;
	u32 number;

	if (lnd_verbs_defect("undrained") && peer->served && !peer->stop) {
		lnd_connection_down(node->host.ni, LND_VERBS_LINK, peer->nid, peer->number,
				    lnd_host_now());
		msleep(1000);
	}
	if (READ_ONCE(node->leaving))
		lnd_verbs_flush(peer);
	lnd_verbs_close(peer);
	spin_lock_bh(&peer->lock);
	report = peer->served && !peer->stop && !peer->renewed;
	silent = peer->silent && !lnd_verbs_defect("sure");
	peer->silent = false;
	/* An attempt that ends before its first state is in none of them. */
	attempt = !peer->renewed && (lnd_verbs_attempting(peer) ||
				     (peer->state == LND_VERBS_IDLE && peer->failed));
	if (attempt) {
		lnd_verbs_count(node, LND_VERBS_GAVE_UP);
		vain = peer->backoff == BACKOFF_MOST && !READ_ONCE(node->unplugged) &&
		       !lnd_verbs_defect("patient");
	}
	/* One that breaks as soon as it is open is no better than one that does not open. */
	if (peer->state == LND_VERBS_UP && time_after(jiffies, peer->opened + BACKOFF_MOST))
		peer->backoff = 0;
	else if (attempt || !(peer->stop || peer->renewed))
		peer->backoff = clamp(2 * peer->backoff, (unsigned long)BACKOFF_LEAST,
				      (unsigned long)BACKOFF_MOST);
	peer->retry = jiffies + peer->backoff;
	if ((peer->served || peer->stop) && !peer->renewed)
		peer->state = LND_VERBS_CLOSED;
	else
		peer->state = LND_VERBS_IDLE;
	peer->failed = false;
	peer->renewed = false;
	peer->wanted = false;
	number = peer->number;
	spin_unlock_bh(&peer->lock);
	lnd_verbs_arrival(peer);
	rc = report ? lnd_connection_down(node->host.ni, LND_VERBS_LINK, peer->nid, number,
					  lnd_host_now()) : LND_OK;
	/* Nothing is lent to it, and the library resets nothing. */
	if (rc == LND_E_NO_PEER || rc == LND_E_LINK_DOWN) {
		spin_lock_bh(&peer->lock);
		if (peer->state == LND_VERBS_CLOSED && peer->number == number && !peer->stop)
			lnd_verbs_reset(peer);
		spin_unlock_bh(&peer->lock);
	}
	/*
	 * The other end is gone, or only the path is; or one attempt after another is in vain. A
	 * new connection and the answer to a hello decide, within the library's time for it.
	 */
	if (silent)
		lnd_verbs_count(node, LND_VERBS_SILENCES);
	if (silent || vain)
		lnd_peer_ask(node->host.ni, peer->nid, lnd_host_now());
	lnd_host_node_wake(&node->host);
}

static void lnd_verbs_enter(struct lnd_verbs_peer *peer, enum lnd_verbs_state state)
{
	spin_lock_bh(&peer->lock);
	peer->state = state;
	spin_unlock_bh(&peer->lock);
}

/* One step of an attempt that rdma_cm has answered. */
static int lnd_verbs_step(struct lnd_verbs_peer *peer)
{
	int event = READ_ONCE(peer->event);

	if (READ_ONCE(peer->failed) || READ_ONCE(peer->stop))
		return 0;
	switch (peer->state) {
	case LND_VERBS_RESOLVING:
		if (event != RDMA_CM_EVENT_ADDR_RESOLVED)
			return 0;
		lnd_verbs_enter(peer, LND_VERBS_ROUTING);
		if (lnd_host_fault(LND_HOST_AT_CM_ROUTE))
			return -ENOMEM;
		return rdma_resolve_route(peer->id, lnd_verbs_connect_ms * 3 / 4);
	case LND_VERBS_ROUTING:
		return event == RDMA_CM_EVENT_ROUTE_RESOLVED ? lnd_verbs_connect(peer) : 0;
	case LND_VERBS_CONNECTING:
	case LND_VERBS_ACCEPTING:
		return event == RDMA_CM_EVENT_ESTABLISHED ? lnd_verbs_opened(peer) : 0;
	default:
		return 0;
	}
}

/* Whether a connection may be begun. Context: any, with its lock. */
static bool lnd_verbs_may(const struct lnd_verbs_peer *peer)
{
	const struct lnd_verbs_node *node = peer->node;

	return !peer->sinking && !READ_ONCE(node->link_stopped) && !READ_ONCE(node->ending);
}

/* What the queue pair's events have noted. Context: any, with the connection's lock. */
static void lnd_verbs_heed(struct lnd_verbs_peer *peer)
{
	if (READ_ONCE(peer->broken) && peer->open)
		lnd_verbs_fail(peer, NULL);
}

/* Whether a request is taken in place of what there is; else it is rejected. */
static bool lnd_verbs_yields(const struct lnd_verbs_peer *peer)
{
	u64 us = peer->node->nid;

	if (peer->stop || !lnd_verbs_may(peer))
		return false;
	if (peer->state == LND_VERBS_IDLE)
		return !peer->failed;
	/*
	 * Both at once: the request of the lower NID is the one that both take. It may come behind
	 * the rejection of ours.
	 */
	return lnd_verbs_attempting(peer) && peer->state != LND_VERBS_ACCEPTING &&
	       (peer->failed || peer->nid < us);
}

/*
 * A request of the peer's. If there is a connection, or one that was accepted, then the peer does
 * not have it any more: it is closed, and the peer asks again.
 */
static int lnd_verbs_check_request(struct lnd_verbs_peer *peer, struct rdma_cm_id *incoming,
				   const struct lnd_verbs_asked *asked)
{
	bool yields, lost;

	spin_lock_bh(&peer->lock);
	yields = lnd_verbs_yields(peer);
	lost = peer->state == LND_VERBS_UP || peer->state == LND_VERBS_ACCEPTING;
	if (lost)
		lnd_verbs_fail(peer, "asks for a new connection");
	spin_unlock_bh(&peer->lock);
	if (!yields) {
		lnd_verbs_count(peer->node, LND_VERBS_REFUSED);
		/* Destroying the id of a request rejects it. */
		rdma_destroy_id(incoming);
		return 0;
	}
	if (peer->id) {
		lnd_verbs_count(peer->node, LND_VERBS_YIELDED);
		lnd_verbs_close(peer);
	}
	return lnd_verbs_accept(peer, incoming, asked);
}

static bool lnd_verbs_over(const struct lnd_verbs_peer *peer)
{
	if (peer->state == LND_VERBS_CLOSED)
		return false;
	if (peer->state == LND_VERBS_IDLE)
		return peer->stop;
	return peer->failed || peer->stop || peer->renewed ||
	       (lnd_verbs_attempting(peer) && time_after_eq(jiffies, peer->deadline));
}

/* When the worker has something to do, if nothing happens before; 0: never. */
static unsigned long lnd_verbs_due(const struct lnd_verbs_peer *peer)
{
	if (lnd_verbs_attempting(peer))
		return peer->deadline;
	if (peer->state == LND_VERBS_UP)
		return lnd_verbs_probe_due(peer);
	return peer->state == LND_VERBS_IDLE && peer->wanted && lnd_verbs_may(peer) ?
	       peer->retry : 0;
}

/*
 * One turn of the worker: what has happened since the last one, then the request that waits, the
 * next step of an attempt, a new attempt, the end; each if it is due.
 */
static void lnd_verbs_turn(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_node *node = peer->node;
	struct lnd_verbs_asked asked;
	struct rdma_cm_id *incoming;
	unsigned long due;
	bool over, begin;
	int rc = 0;

	spin_lock_bh(&peer->lock);
	lnd_verbs_heed(peer);
	incoming = peer->incoming;
	asked = peer->asked;
	peer->incoming = NULL;
	peer->judging = incoming;
	spin_unlock_bh(&peer->lock);
	if (incoming) {
		rc = lnd_verbs_check_request(peer, incoming, &asked);
		WRITE_ONCE(peer->judging, false);
		wake_up(&node->settled);
	}
	if (!rc)
		rc = lnd_verbs_step(peer);

	spin_lock_bh(&peer->lock);
	begin = !rc && peer->state == LND_VERBS_IDLE && peer->wanted && !peer->stop &&
		lnd_verbs_may(peer) && time_after_eq(jiffies, peer->retry);
	spin_unlock_bh(&peer->lock);
	if (begin)
		rc = lnd_verbs_begin(peer);

	spin_lock_bh(&peer->lock);
	if (rc && !peer->failed)
		pr_info_ratelimited("node %u: peer %llu: no connection, %s: errno %d\n",
				    node->host.number, peer->nid,
				    lnd_verbs_state_name(peer->state), -rc);
	peer->failed |= !!rc;
	over = lnd_verbs_over(peer) || (rc && peer->state == LND_VERBS_IDLE);
	spin_unlock_bh(&peer->lock);
	if (over)
		lnd_verbs_end(peer);

	spin_lock_bh(&peer->lock);
	if (peer->open)
		lnd_verbs_probe(peer);
	due = READ_ONCE(node->ending) ? 0 : lnd_verbs_due(peer);
	spin_unlock_bh(&peer->lock);
	if (due)
		queue_delayed_work(node->workers, &peer->work,
				   time_after(due, jiffies) ? due - jiffies : 0);
}

/*
 * Memory for a connection is not waited for by means of writing something back: that may wait for
 * this very connection. Nothing is done for a node that ends: its connections are being closed.
 */
static void lnd_verbs_work(struct work_struct *work)
{
	struct lnd_verbs_peer *peer = container_of(to_delayed_work(work), struct lnd_verbs_peer,
						   work);
	unsigned int flags;

	if (READ_ONCE(peer->node->ending))
		return;
	flags = memalloc_noio_save();
	lnd_verbs_turn(peer);
	memalloc_noio_restore(flags);
}

/* A peer without a connection; NULL: no memory, or no node has this NID. */
static struct lnd_verbs_peer *lnd_verbs_peer_make(struct lnd_verbs_node *node, u64 nid)
{
	struct lnd_verbs_peer *peer;
	struct sockaddr_in address;

	if (!lnd_verbs_where(nid, &address))
		return NULL;
	peer = lnd_host_alloc(sizeof(*peer), LND_HOST_MAY_WAIT, LND_HOST_AT_ENGINE_MEMORY);
	if (!peer)
		return NULL;
	peer->node = node;
	peer->nid = nid;
	peer->address = address;
	peer->number = 1;
	peer->retry = jiffies;
	peer->sinking = node->sinking;
	spin_lock_init(&peer->lock);
	INIT_DELAYED_WORK(&peer->work, lnd_verbs_work);
	if (!lnd_verbs_channel_init(peer) && !lnd_verbs_rdma_init(peer) &&
	    !lnd_host_fault(LND_HOST_AT_PEER_TABLE) &&
	    !xa_err(xa_store(&node->peers, nid, peer, LND_HOST_MAY_WAIT)))
		return peer;
	lnd_verbs_peer_free(peer);
	return NULL;
}

/**
 * lnd_verbs_peer_add() - The peer of a NID; one without a connection, if it is a new one.
 * @node: a node that is alive, or starts.
 * @nid: the NID.
 *
 * A peer stays as long as the node, so those that find it need no lock.
 *
 * Context: thread. Waits for memory, but for no file system: that may wait for this very peer.
 * Return: the peer; NULL: no memory, no room, or no other node has this NID.
 */
struct lnd_verbs_peer *lnd_verbs_peer_add(struct lnd_verbs_node *node, u64 nid)
{
	struct lnd_verbs_peer *peer = lnd_verbs_find(node, nid);
	unsigned int flags;

	if (peer || nid == node->nid)
		return peer;
	flags = memalloc_nofs_save();
	mutex_lock(&node->adding);
	peer = lnd_verbs_find(node, nid);
	if (!peer && node->known < node->host.fabric->nodes) {
		peer = lnd_verbs_peer_make(node, nid);
		node->known += !!peer;
	}
	if (!peer)
		lnd_verbs_count(node, LND_VERBS_NO_ROOM);
	mutex_unlock(&node->adding);
	memalloc_nofs_restore(flags);
	return peer;
}

/**
 * lnd_verbs_peer_close() - Closes what there is; the worker does nothing afterwards.
 * @peer: a peer of a node that ends: there is no listener, and nothing is posted.
 *
 * Context: thread.
 */
void lnd_verbs_peer_close(struct lnd_verbs_peer *peer)
{
	cancel_delayed_work_sync(&peer->work);
	if (peer->incoming)
		rdma_destroy_id(peer->incoming);
	peer->incoming = NULL;
	lnd_verbs_close(peer);
	/* Events that came in between have woken the worker. */
	cancel_delayed_work_sync(&peer->work);
}

/**
 * lnd_verbs_peer_free() - Frees a peer whose worker does nothing any more.
 * @peer: the peer.
 *
 * Context: thread.
 */
void lnd_verbs_peer_free(struct lnd_verbs_peer *peer)
{
	lnd_verbs_channel_exit(peer);
	lnd_verbs_rdma_exit(peer);
	lnd_host_free(peer, sizeof(*peer));
}
