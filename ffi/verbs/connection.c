// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What a connection has: two queue pairs in a protection domain of their own, their completion
 * queue, and regions. The peer's worker (peer.c) makes and closes it, because both sleep.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/random.h>
#include <net/sock.h>

#include "lnd_verbs.h"

/*
 * A frame may have a registration in front of it, which is invalidated in the same queue. With a
 * probe, and the drain's marker.
 */
#define SEND_WRS	(2 * LND_VERBS_FRAMES + LND_VERBS_REGIONS + LND_VERBS_MOVES + 2)
#define RECV_WRS	(LND_VERBS_FRAMES + 1)
#define LOCAL_WRS	(2 * LND_VERBS_REGIONS + 1)
#define MOST_READS	16	/* at once, either way */

/* Some devices call it in an interrupt. */
static void lnd_verbs_qp_event(struct ib_event *event, void *context)
{
	struct lnd_verbs_peer *peer = context;

	/* A frame has come, and rdma_cm's last message may be lost. */
	if (event->event == IB_EVENT_COMM_EST)
		rdma_notify(peer->maker, IB_EVENT_COMM_EST);
	if (event->event == IB_EVENT_COMM_EST || event->event == IB_EVENT_SQ_DRAINED ||
	    event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		return;
	pr_info_ratelimited("node %u: peer %llu: %s\n", peer->node->host.number, peer->nid,
			    ib_event_msg(event->event));
	WRITE_ONCE(peer->broken, true);
	lnd_verbs_kick(peer);
}

/* The device's events. A queue pair with nothing to send does not notice that its port is down. */
static void lnd_verbs_device_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct lnd_verbs_peer *peer = container_of(handler, struct lnd_verbs_peer, handler);

	if (event->event != IB_EVENT_PORT_ERR && event->event != IB_EVENT_DEVICE_FATAL)
		return;
	spin_lock_bh(&peer->lock);
	if (peer->id && (event->event == IB_EVENT_DEVICE_FATAL ||
			 event->element.port_num == peer->id->port_num))
		lnd_verbs_fail(peer, "its port has failed, or the device");
	spin_unlock_bh(&peer->lock);
}

/**
 * lnd_verbs_able() - Whether connections can be made by a device.
 * @device: the device.
 * @port: its port.
 *
 * Regions are registered by work requests. A queue pair without a connection of its own does it,
 * which iWARP has not.
 *
 * Context: any.
 * Return: whether they can.
 */
bool lnd_verbs_able(const struct ib_device *device, u32 port)
{
	return (device->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
	       device->attrs.max_fast_reg_page_list_len >= LND_VERBS_PAGES &&
	       !rdma_protocol_iwarp(device, port);
}

static int lnd_verbs_make(struct lnd_verbs_peer *peer)
{
	struct ib_qp_init_attr attr = {
		.event_handler = lnd_verbs_qp_event,
		.qp_context = peer,
		.cap.max_send_wr = SEND_WRS,
		.cap.max_recv_wr = RECV_WRS,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_device *device = peer->id->device;
	int rc;

	if (!lnd_verbs_able(device, peer->id->port_num)) {
		pr_err_ratelimited("%s: no registrations by work requests, or iWARP\n",
				   dev_name(&device->dev));
		return -EOPNOTSUPP;
	}
	peer->device = device;
	peer->sges = clamp(min(device->attrs.max_send_sge, device->attrs.max_sge_rd), 1,
			   LND_VERBS_SGES);
	attr.cap.max_send_sge = peer->sges;
	WRITE_ONCE(peer->broken, false);
	INIT_IB_EVENT_HANDLER(&peer->handler, device, lnd_verbs_device_event);
	ib_register_event_handler(&peer->handler);
	peer->cookie = get_random_u32();
	peer->pd = lnd_host_fault(LND_HOST_AT_DOMAIN) ? ERR_PTR(-ENOMEM) :
						       ib_alloc_pd(device, 0);
	if (IS_ERR(peer->pd)) {
		rc = PTR_ERR(peer->pd);
		peer->pd = NULL;
		return rc;
	}
	peer->cq = lnd_host_fault(LND_HOST_AT_CQ) ?
			   ERR_PTR(-ENOMEM) :
			   ib_alloc_cq_any(device, peer, SEND_WRS + RECV_WRS + LOCAL_WRS,
					   IB_POLL_SOFTIRQ);
	if (IS_ERR(peer->cq)) {
		rc = PTR_ERR(peer->cq);
		peer->cq = NULL;
		return rc;
	}
	peer->maker = peer->id;
	attr.send_cq = peer->cq;
	attr.recv_cq = peer->cq;
	attr.cap.max_inline_data = LND_VERBS_INLINE;
	if (lnd_host_fault(LND_HOST_AT_QP))
		return -ENOMEM;
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

/*
 * What both sides tell rdma_cm. No SEND is tried again that finds no receive: it finds one. @reads
 * are as many at once as the other side takes.
 */
static void lnd_verbs_parameters(struct lnd_verbs_peer *peer, struct rdma_conn_param *param,
				 struct lnd_verbs_hello *hello, int reads)
{
	const struct ib_device_attr *attrs = &peer->device->attrs;

	spin_lock_bh(&peer->lock);
	lnd_verbs_hello_fill(peer, hello);
	spin_unlock_bh(&peer->lock);
	memset(param, 0, sizeof(*param));
	param->private_data = hello;
	param->private_data_len = sizeof(*hello);
	param->responder_resources = min(attrs->max_qp_rd_atom, reads);
	param->initiator_depth = min(attrs->max_qp_init_rd_atom, reads);
	param->retry_count = lnd_verbs_retries;
	param->rnr_retry_count = 0;
}

static bool lnd_verbs_sending(struct lnd_verbs_peer *peer)
{
	bool sending = false;
	u32 lane;

	spin_lock_bh(&peer->lock);
	for (lane = 0; lane < LND_VERBS_LANES; lane++)
		sending |= !peer->failed && peer->sending[lane];
	spin_unlock_bh(&peer->lock);
	return sending;
}

/**
 * lnd_verbs_flush() - Waits until what was sent has arrived, half a second at most.
 * @peer: the peer, which is told that we leave: a queue pair that is closed flushes what it has.
 *
 * Context: thread.
 */
void lnd_verbs_flush(struct lnd_verbs_peer *peer)
{
	unsigned int tries;

	for (tries = 0; tries < 50 && lnd_verbs_sending(peer); tries++)
		usleep_range(5000, 10000);
}

/**
 * lnd_verbs_close() - Closes what there is, and proves that it has stopped.
 * @peer: the peer.
 *
 * All work is flushed, and with the protection domain every key is gone. An invalidation that was
 * flushed has invalidated nothing, and a drained queue pair alone leaves its keys to any other one
 * of its domain.
 *
 * Context: thread, of which there is one at a time for a connection.
 */
void lnd_verbs_close(struct lnd_verbs_peer *peer)
{
	struct rdma_cm_id *id;

	spin_lock_bh(&peer->lock);
	id = peer->id;
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
	if (peer->pd && !lnd_verbs_defect("kept"))
		ib_dealloc_pd(peer->pd);
	peer->cq = NULL;
	peer->pd = NULL;
	rdma_destroy_id(id);
	WRITE_ONCE(peer->bound, false);
	wake_up(&peer->node->settled);
}

/*
 * Asks where the peer is, from a port that takes a privilege: the other side knows by it that the
 * host asks, and not one of its users. There is a time for it that ends before the attempt's.
 */
static int lnd_verbs_resolve(struct lnd_verbs_peer *peer, struct rdma_cm_id *id)
{
	/* Of port 0 rdma_cm makes one that any user may have. */
	int port = lnd_verbs_defect("common") ? 0 : PROT_SOCK - 1, rc;
	struct sockaddr_in from;

	if (lnd_host_fault(LND_HOST_AT_CM_ADDRESS) || !lnd_verbs_where(peer->node->nid, &from))
		return -EADDRNOTAVAIL;
	/* A port may serve for several peers. */
	rdma_set_reuseaddr(id, 1);
	do {
		from.sin_port = htons(port);
		rc = rdma_resolve_addr(id, (struct sockaddr *)&from,
				       (struct sockaddr *)&peer->address,
				       lnd_verbs_connect_ms * 3 / 4);
	} while ((rc == -EADDRINUSE || rc == -EADDRNOTAVAIL) && --port > 0);
	return rc;
}

/**
 * lnd_verbs_begin() - Begins an attempt.
 * @peer: the peer, without a connection.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_verbs_begin(struct lnd_verbs_peer *peer)
{
	struct rdma_cm_id *id;

	lnd_verbs_count(peer->node, LND_VERBS_ASKED);
	id = lnd_host_fault(LND_HOST_AT_CM_ID) ?
		     ERR_PTR(-ENOMEM) :
		     rdma_create_id(&init_net, lnd_verbs_event, peer, RDMA_PS_TCP, IB_QPT_RC);
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
	return lnd_verbs_resolve(peer, id);
}

/**
 * lnd_verbs_connect() - Makes what a connection has, and asks the peer for it.
 * @peer: the peer, whose address and route are known.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_verbs_connect(struct lnd_verbs_peer *peer)
{
	struct rdma_conn_param param;
	struct lnd_verbs_hello hello;
	bool failed;
	int rc;

	spin_lock_bh(&peer->lock);
	failed = peer->failed;
	peer->state = LND_VERBS_CONNECTING;
	memset(peer->granted, 0, sizeof(peer->granted));
	spin_unlock_bh(&peer->lock);
	rc = failed ? -ECANCELED : lnd_verbs_make(peer);
	if (rc)
		return rc;
	lnd_verbs_parameters(peer, &param, &hello, MOST_READS);
	rdma_set_ack_timeout(peer->id, lnd_verbs_timeout);
	return lnd_host_fault(LND_HOST_AT_CM_CONNECT) ? -ENOMEM : rdma_connect(peer->id, &param);
}

/**
 * lnd_verbs_accept() - Takes a request of the peer's.
 * @peer: the peer, without a connection.
 * @id: the request's.
 * @asked: what came with it.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_verbs_accept(struct lnd_verbs_peer *peer, struct rdma_cm_id *id,
		     const struct lnd_verbs_asked *asked)
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
	memset(peer->granted, 0, sizeof(peer->granted));
	peer->deadline = jiffies + msecs_to_jiffies(lnd_verbs_connect_ms);
	/* What has failed was an attempt before. */
	peer->failed = false;
	met = !peer->sinking && lnd_verbs_meet(peer, &asked->hello);
	spin_unlock_bh(&peer->lock);
	rc = met ? lnd_verbs_make(peer) : -EPROTO;
	if (rc)
		return rc;
	lnd_verbs_parameters(peer, &param, &hello, min_t(int, asked->reads, MOST_READS));
	rdma_set_ack_timeout(id, lnd_verbs_timeout);
	rdma_lock_handler(id);
	rc = lnd_host_fault(LND_HOST_AT_CM_ACCEPT) ? -ENOMEM : rdma_accept(id, &param);
	rdma_unlock_handler(id);
	return rc;
}

/**
 * lnd_verbs_opened() - The connection is established: frames may be sent.
 * @peer: the peer.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_verbs_opened(struct lnd_verbs_peer *peer)
{
	int rc = lnd_host_fault(LND_HOST_AT_LOCAL_UP) ? -ENOMEM : lnd_verbs_local_up(peer);

	if (rc)
		return rc;
	if (lnd_verbs_defect("eager"))
		msleep(300);
	spin_lock_bh(&peer->lock);
	peer->failed |= READ_ONCE(peer->broken);
	if (!peer->failed && !peer->stop) {
		peer->state = LND_VERBS_UP;
		peer->open = true;
		peer->served = true;
		peer->wanted = false;
		peer->probing = false;
		lnd_verbs_heard_from(peer);
		peer->opened = jiffies;
		lnd_verbs_count(peer->node, LND_VERBS_OPENED);
		lnd_verbs_channel_up(peer);
	}
	spin_unlock_bh(&peer->lock);
	lnd_verbs_arrival(peer);
	lnd_connection_up(peer->node->host.ni, LND_VERBS_LINK, peer->nid, lnd_host_now());
	lnd_host_node_wake(&peer->node->host);
	lnd_verbs_trial(peer);
	return 0;
}
