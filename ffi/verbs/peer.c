// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * One connection with a peer: two queue pairs in a protection domain of their own, their completion
 * queue, and regions. A worker opens and closes it, because both sleep. All others only note that
 * there is something to do, and wake the worker.
 *
 * A connection that fails is closed at once, and then reported down: so its proof is there when the
 * library asks for it. Until the library resets it nothing is connected anew. An attempt that never
 * came up has moved nothing, and concerns the library only if it asks for its stop.
 *
 * Deadlines and the time between attempts are ours: rdma_cm's take many seconds.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/random.h>

#include "lnd_verbs.h"

#define FRAMES	(2 * LND_VERBS_WINDOW + LND_VERBS_NOTES)
/* With a probe, and the drain's marker. */
#define SEND_WRS	(FRAMES + LND_VERBS_READS + 2)
#define RECV_WRS	(FRAMES + 1)
#define LOCAL_WRS	(2 * LND_VERBS_REGIONS + 1)
#define BACKOFF_LEAST	(HZ / 20)
#define BACKOFF_MOST	(2 * HZ)

/* Wakes the worker. Context: any. */
void lnd_verbs_kick(struct lnd_verbs_peer *peer)
{
	mod_delayed_work(peer->node->workers, &peer->work, 0);
}

/* The connection must be closed. Context: any, with its lock. */
void lnd_verbs_fail(struct lnd_verbs_peer *peer)
{
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
		pr_info("node %u: peer %llu: %s\n", peer->node->host.number, peer->nid,
			ib_wc_status_msg(wc->status));
		peer->silent |= wc->status == IB_WC_RETRY_EXC_ERR;
	}
	/* The flush of a connection that is being closed is no news. */
	if (peer->open)
		lnd_verbs_fail(peer);
	spin_unlock_bh(&peer->lock);
}

/* Frames wait for a connection. Context: any, with its lock. */
void lnd_verbs_want(struct lnd_verbs_peer *peer)
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
 * Return: 0, or a negative errno if @wr was not posted; the connection fails then.
 */
int lnd_verbs_post(struct lnd_verbs_peer *peer, struct ib_send_wr *wr)
{
	int rc = ib_post_send(peer->qp, wr, NULL);

	if (rc)
		lnd_verbs_fail(peer);
	return rc;
}

static void lnd_verbs_qp_event(struct ib_event *event, void *context)
{
	struct lnd_verbs_peer *peer = context;

	if (event->event == IB_EVENT_COMM_EST || event->event == IB_EVENT_SQ_DRAINED ||
	    event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		return;
	pr_info("node %u: peer %llu: %s\n", peer->node->host.number, peer->nid,
		ib_event_msg(event->event));
	spin_lock_bh(&peer->lock);
	if (peer->open)
		lnd_verbs_fail(peer);
	spin_unlock_bh(&peer->lock);
}

/* The device's events. A queue pair with nothing to send does not notice that its port is down. */
static void lnd_verbs_device_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct lnd_verbs_peer *peer = container_of(handler, struct lnd_verbs_peer, handler);

	if (event->event != IB_EVENT_PORT_ERR && event->event != IB_EVENT_DEVICE_FATAL)
		return;
	spin_lock_bh(&peer->lock);
	if (peer->open && (event->event == IB_EVENT_DEVICE_FATAL ||
			   event->element.port_num == peer->id->port_num))
		lnd_verbs_fail(peer);
	spin_unlock_bh(&peer->lock);
}

static int lnd_verbs_make(struct lnd_verbs_peer *peer)
{
	struct ib_qp_init_attr attr = {
		.event_handler = lnd_verbs_qp_event,
		.qp_context = peer,
		.cap.max_send_wr = SEND_WRS,
		.cap.max_recv_wr = RECV_WRS,
		.cap.max_send_sge = LND_VERBS_SGES,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_device *device = peer->id->device;
	int rc;

	if (!(device->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    device->attrs.max_send_sge < LND_VERBS_SGES ||
	    device->attrs.max_sge_rd < LND_VERBS_SGES ||
	    device->attrs.max_fast_reg_page_list_len < LND_VERBS_PAGES)
		return -EOPNOTSUPP;
	peer->device = device;
	INIT_IB_EVENT_HANDLER(&peer->handler, device, lnd_verbs_device_event);
	ib_register_event_handler(&peer->handler);
	peer->cookie = get_random_u32();
	peer->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(peer->pd)) {
		rc = PTR_ERR(peer->pd);
		peer->pd = NULL;
		return rc;
	}
	peer->cq = ib_alloc_cq_any(device, peer, SEND_WRS + RECV_WRS + LOCAL_WRS,
				   IB_POLL_SOFTIRQ);
	if (IS_ERR(peer->cq)) {
		rc = PTR_ERR(peer->cq);
		peer->cq = NULL;
		return rc;
	}
	attr.send_cq = peer->cq;
	attr.recv_cq = peer->cq;
	attr.cap.max_inline_data = LND_VERBS_INLINE;
	rc = rdma_create_qp(peer->id, peer->pd, &attr);
	if (rc) {
		/* A device may take none. */
		attr.cap.max_inline_data = 0;
		rc = rdma_create_qp(peer->id, peer->pd, &attr);
	}
	if (rc)
		return rc;
	peer->inlines = min_t(u32, attr.cap.max_inline_data, LND_VERBS_INLINE);
	peer->qp = peer->id->qp;
	return lnd_verbs_rdma_open(peer) ?: lnd_verbs_channel_open(peer);
}

/* What both sides tell rdma_cm. No SEND is tried again that finds no receive: it finds one. */
static void lnd_verbs_parameters(struct lnd_verbs_peer *peer, struct rdma_conn_param *param,
				 struct lnd_verbs_hello *hello)
{
	const struct ib_device_attr *attrs = &peer->device->attrs;

	spin_lock_bh(&peer->lock);
	lnd_verbs_say(peer, hello);
	spin_unlock_bh(&peer->lock);
	memset(param, 0, sizeof(*param));
	param->private_data = hello;
	param->private_data_len = sizeof(*hello);
	param->responder_resources = min(attrs->max_qp_rd_atom, 16);
	param->initiator_depth = min(attrs->max_qp_init_rd_atom, 16);
	param->retry_count = lnd_verbs_retries;
	param->rnr_retry_count = 0;
}

/*
 * Closes what there is, and proves that it has stopped: all work is flushed, and with the
 * protection domain every key is gone. An invalidation that was flushed has invalidated nothing,
 * and a drained queue pair alone leaves its keys to any other one of its domain.
 * Context: thread, of which there is one at a time for a connection.
 */
static void lnd_verbs_close(struct lnd_verbs_peer *peer)
{
	struct rdma_cm_id *id = peer->id;

	spin_lock_bh(&peer->lock);
	peer->open = false;
	peer->id = NULL;
	spin_unlock_bh(&peer->lock);
	if (!id)
		return;
	lnd_verbs_count(peer->node, LND_VERBS_CLOSINGS);
	if (peer->device)
		ib_unregister_event_handler(&peer->handler);
	if (peer->qp) {
		rdma_disconnect(id);
		ib_drain_qp(peer->qp);
		rdma_destroy_qp(id);
		peer->qp = NULL;
	}
	lnd_verbs_rdma_close(peer);
	if (peer->device)
		lnd_verbs_unmap_all(peer);
	lnd_verbs_channel_close(peer);
	peer->device = NULL;
	if (peer->cq)
		ib_free_cq(peer->cq);
	if (peer->pd)
		ib_dealloc_pd(peer->pd);
	peer->cq = NULL;
	peer->pd = NULL;
	rdma_destroy_id(id);
	WRITE_ONCE(peer->bound, false);
	wake_up(&peer->node->settled);
}

static bool lnd_verbs_attempting(const struct lnd_verbs_peer *peer)
{
	return peer->state > LND_VERBS_IDLE && peer->state < LND_VERBS_UP;
}

/* After a failure, or when the library has asked for it. */
static void lnd_verbs_end(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_node *node = peer->node;
	bool report, silent;
	u32 number;

	if (lnd_verbs_defect("undrained") && peer->served && !peer->stop) {
		lnd_connection_down(node->host.ni, LND_VERBS_LINK, peer->nid, peer->number,
				    lnd_host_now());
		msleep(1000);
	}
	lnd_verbs_close(peer);
	spin_lock_bh(&peer->lock);
	report = peer->served && !peer->stop && !peer->renewed;
	silent = peer->silent && !lnd_verbs_defect("sure");
	peer->silent = false;
	if (lnd_verbs_attempting(peer) && !peer->renewed) {
		lnd_verbs_count(node, LND_VERBS_GAVE_UP);
		peer->backoff = clamp(2 * peer->backoff, (unsigned long)BACKOFF_LEAST,
				      (unsigned long)BACKOFF_MOST);
	}
	peer->retry = jiffies + peer->backoff;
	if ((peer->served || peer->stop) && !peer->renewed)
		peer->state = LND_VERBS_CLOSED;
	else
		peer->state = LND_VERBS_IDLE;
	peer->failed = false;
	peer->renewed = false;
	peer->met = false;
	peer->wanted = false;
	number = peer->number;
	spin_unlock_bh(&peer->lock);
	/* A peer of which the library knows nothing has nothing to be taken back. */
	if (report && lnd_connection_down(node->host.ni, LND_VERBS_LINK, peer->nid, number,
					  lnd_host_now()) == LND_E_NO_PEER) {
		spin_lock_bh(&peer->lock);
		if (peer->state == LND_VERBS_CLOSED && peer->number == number && !peer->stop)
			lnd_verbs_reset(peer);
		spin_unlock_bh(&peer->lock);
	}
	/*
	 * The other end is gone, or only the path is. A new connection and the answer to a hello
	 * decide, within the library's time for it.
	 */
	if (silent) {
		lnd_verbs_count(node, LND_VERBS_SILENCES);
		lnd_peer_ask(node->host.ni, peer->nid, lnd_host_now());
	}
	lnd_host_node_wake(&node->host);
}

static void lnd_verbs_enter(struct lnd_verbs_peer *peer, enum lnd_verbs_state state)
{
	spin_lock_bh(&peer->lock);
	peer->state = state;
	spin_unlock_bh(&peer->lock);
}

static int lnd_verbs_begin(struct lnd_verbs_peer *peer)
{
	struct rdma_cm_id *id;

	lnd_verbs_count(peer->node, LND_VERBS_ASKED);
	id = rdma_create_id(&init_net, lnd_verbs_event, peer, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	spin_lock_bh(&peer->lock);
	peer->id = id;
	peer->bound = true;
	peer->event = -1;
	/* A network device may have begun to go down meanwhile. */
	peer->failed = peer->sinking;
	peer->state = LND_VERBS_RESOLVING;
	peer->deadline = jiffies + msecs_to_jiffies(lnd_verbs_connect_ms);
	spin_unlock_bh(&peer->lock);
	return rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer->address,
				 lnd_verbs_connect_ms);
}

static int lnd_verbs_connect(struct lnd_verbs_peer *peer)
{
	struct rdma_conn_param param;
	struct lnd_verbs_hello hello;
	bool failed;
	int rc;

	spin_lock_bh(&peer->lock);
	failed = peer->failed;
	peer->state = LND_VERBS_CONNECTING;
	spin_unlock_bh(&peer->lock);
	rc = failed ? -ECANCELED : lnd_verbs_make(peer);
	if (rc)
		return rc;
	lnd_verbs_parameters(peer, &param, &hello);
	rdma_set_ack_timeout(peer->id, lnd_verbs_timeout);
	return rdma_connect(peer->id, &param);
}

static int lnd_verbs_accept(struct lnd_verbs_peer *peer, struct rdma_cm_id *id)
{
	struct rdma_conn_param param;
	struct lnd_verbs_hello hello;
	bool met;
	int rc;

	spin_lock_bh(&peer->lock);
	peer->id = id;
	peer->bound = true;
	peer->event = -1;
	peer->state = LND_VERBS_ACCEPTING;
	peer->deadline = jiffies + msecs_to_jiffies(lnd_verbs_connect_ms);
	met = !peer->sinking && lnd_verbs_meet(peer, &peer->asked);
	spin_unlock_bh(&peer->lock);
	rc = met ? lnd_verbs_make(peer) : -EPROTO;
	if (rc)
		return rc;
	lnd_verbs_parameters(peer, &param, &hello);
	rdma_set_ack_timeout(id, lnd_verbs_timeout);
	rdma_lock_handler(id);
	rc = rdma_accept(id, &param);
	rdma_unlock_handler(id);
	return rc;
}

static int lnd_verbs_opened(struct lnd_verbs_peer *peer)
{
	int rc = lnd_verbs_local_up(peer);

	if (rc)
		return rc;
	spin_lock_bh(&peer->lock);
	if (!peer->failed && !peer->stop) {
		peer->state = LND_VERBS_UP;
		peer->open = true;
		peer->served = true;
		peer->wanted = false;
		peer->probing = false;
		lnd_verbs_heard_from(peer);
		peer->backoff = 0;
		lnd_verbs_count(peer->node, LND_VERBS_OPENED);
		lnd_verbs_channel_up(peer);
	}
	spin_unlock_bh(&peer->lock);
	lnd_connection_up(peer->node->host.ni, LND_VERBS_LINK, peer->nid, lnd_host_now());
	lnd_host_node_wake(&peer->node->host);
	return 0;
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
		return rdma_resolve_route(peer->id, lnd_verbs_connect_ms);
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

/* Whether a request is taken in place of what there is; else it is rejected. */
static bool lnd_verbs_yields(const struct lnd_verbs_peer *peer)
{
	u64 us = lnd_soft_nid(peer->node->host.number);

	if (peer->stop || peer->failed || !lnd_verbs_may(peer))
		return false;
	if (peer->state == LND_VERBS_IDLE)
		return true;
	/* Both at once: the request of the lower NID is the one that both take. */
	return lnd_verbs_attempting(peer) && peer->state != LND_VERBS_ACCEPTING && peer->nid < us;
}

/*
 * A request of the peer's. If there is a connection, or one that was accepted, then the peer does
 * not have it any more: it is closed, and the peer asks again.
 */
static int lnd_verbs_judge(struct lnd_verbs_peer *peer, struct rdma_cm_id *incoming)
{
	bool yields, lost;

	spin_lock_bh(&peer->lock);
	yields = lnd_verbs_yields(peer);
	lost = peer->state == LND_VERBS_UP || peer->state == LND_VERBS_ACCEPTING;
	if (lost)
		lnd_verbs_fail(peer);
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
	return lnd_verbs_accept(peer, incoming);
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

static void lnd_verbs_work(struct work_struct *work)
{
	struct lnd_verbs_peer *peer = container_of(to_delayed_work(work), struct lnd_verbs_peer,
						   work);
	struct lnd_verbs_node *node = peer->node;
	struct rdma_cm_id *incoming;
	unsigned long due;
	bool over, begin;
	int rc = 0;

	spin_lock_bh(&peer->lock);
	incoming = peer->incoming;
	peer->incoming = NULL;
	spin_unlock_bh(&peer->lock);
	if (incoming)
		rc = lnd_verbs_judge(peer, incoming);
	if (!rc)
		rc = lnd_verbs_step(peer);

	spin_lock_bh(&peer->lock);
	begin = !rc && peer->state == LND_VERBS_IDLE && peer->wanted && !peer->stop &&
		lnd_verbs_may(peer) && time_after_eq(jiffies, peer->retry);
	spin_unlock_bh(&peer->lock);
	if (begin)
		rc = lnd_verbs_begin(peer);

	spin_lock_bh(&peer->lock);
	if (rc)
		peer->failed = true;
	over = peer->state != LND_VERBS_IDLE || peer->stop ? lnd_verbs_over(peer) : rc;
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

/**
 * lnd_verbs_peer_init() - A peer without a connection.
 * @node: the node.
 * @number: the peer's number.
 *
 * Context: thread.
 * Return: 0 or a negative errno; lnd_verbs_peer_free() in both cases.
 */
int lnd_verbs_peer_init(struct lnd_verbs_node *node, u32 number)
{
	struct lnd_verbs_peer *peer = lnd_host_alloc(sizeof(*peer), LND_HOST_MAY_WAIT,
						     LND_HOST_AT_ENGINE_MEMORY);

	if (!peer)
		return -ENOMEM;
	node->peer[number] = peer;
	peer->node = node;
	peer->nid = lnd_soft_nid(number);
	peer->address = lnd_verbs_address[number];
	peer->number = 1;
	peer->retry = jiffies;
	spin_lock_init(&peer->lock);
	INIT_DELAYED_WORK(&peer->work, lnd_verbs_work);
	return lnd_verbs_channel_init(peer) ?: lnd_verbs_rdma_init(peer);
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
