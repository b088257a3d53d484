// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * rdma_cm's events, and who is at the other end. A handler decides nothing: it notes what has
 * happened, and the connection's worker (peer.c) does what follows, since most of it sleeps.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

#define HELLO_MAGIC	0x4c4e4456u	/* "LNDV" */
#define HELLO_VERSION	4

static_assert(sizeof(struct lnd_verbs_hello) <= 56, "the private data of a request");

/**
 * lnd_verbs_hello_fill() - What we say of ourselves.
 * @peer: the peer, whose receives are posted.
 * @hello: filled in.
 *
 * Context: any, with the connection's lock.
 */
void lnd_verbs_hello_fill(const struct lnd_verbs_peer *peer, struct lnd_verbs_hello *hello)
{
	u32 lane;

	memset(hello, 0, sizeof(*hello));
	hello->magic = cpu_to_be32(HELLO_MAGIC);
	hello->version = cpu_to_be32(HELLO_VERSION);
	hello->from = cpu_to_be64(peer->node->nid);
	hello->to = cpu_to_be64(peer->nid);
	hello->incarnation = cpu_to_be64(peer->node->incarnation);
	hello->cookie = cpu_to_be32(peer->cookie);
	hello->longest = cpu_to_be16(peer->node->frame_bytes);
	for (lane = 0; lane < LND_VERBS_LANES; lane++)
		hello->granted[lane] = cpu_to_be16(peer->given[lane]);
}

/**
 * lnd_verbs_hello_good() - Whether these bytes can be a hello to us.
 * @node: the node.
 * @hello: the bytes.
 *
 * Context: any.
 * Return: whether they can.
 */
bool lnd_verbs_hello_good(const struct lnd_verbs_node *node, const struct lnd_verbs_hello *hello)
{
	return be32_to_cpu(hello->magic) == HELLO_MAGIC &&
	       be32_to_cpu(hello->version) == HELLO_VERSION && be64_to_cpu(hello->to) == node->nid;
}

/**
 * lnd_verbs_meet() - Notes what a peer says of itself.
 * @peer: the peer.
 * @hello: from its private data.
 *
 * Context: any, with the connection's lock.
 * Return: false if it is not this peer, or speaks otherwise.
 */
bool lnd_verbs_meet(struct lnd_verbs_peer *peer, const struct lnd_verbs_hello *hello)
{
	u16 granted;
	u32 lane;

	if (!lnd_verbs_hello_good(peer->node, hello) || be64_to_cpu(hello->from) != peer->nid)
		return false;
	/* Whatever the library sends has a place in the peer's receives. */
	if (be16_to_cpu(hello->longest) < peer->node->frame_bytes)
		return false;
	for (lane = 0; lane < LND_VERBS_LANES; lane++)
		if (be16_to_cpu(hello->granted[lane]) > lnd_verbs_window(lane))
			return false;
	peer->theirs = *hello;
	peer->peer_cookie = be32_to_cpu(hello->cookie);
	/* Frames may come before rdma_cm says that the connection is there. They give more. */
	for (lane = 0; lane < LND_VERBS_LANES; lane++) {
		granted = be16_to_cpu(hello->granted[lane]);
		if ((s16)(granted - peer->granted[lane]) > 0)
			peer->granted[lane] = granted;
	}
	return true;
}

/* Notes an event of the connection that is being made, or is there. */
static void lnd_verbs_note_event(struct lnd_verbs_peer *peer, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;
	struct lnd_verbs_hello hello;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (peer->state != LND_VERBS_CONNECTING)
			break;
		memset(&hello, 0, sizeof(hello));
		if (param->private_data)
			memcpy(&hello, param->private_data,
			       min_t(size_t, param->private_data_len, sizeof(hello)));
		if (!lnd_verbs_meet(peer, &hello))
			lnd_verbs_fail(peer, "another node, or another version of it");
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	default:
		/* Rejected, unreachable, disconnected, another address, no device, … */
		pr_info_ratelimited("node %u: peer %llu: %s, status %d\n",
				    peer->node->host.number, peer->nid,
				    rdma_event_msg(event->event), event->status);
		lnd_verbs_fail(peer, NULL);
	}
	peer->event = event->event;
}

/**
 * lnd_verbs_event() - The handler of a connection's events.
 * @id: the connection's.
 * @event: the event.
 *
 * Context: thread; rdma_cm holds the id.
 * Return: 0: the worker destroys the id.
 */
int lnd_verbs_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct lnd_verbs_peer *peer = id->context;

	spin_lock_bh(&peer->lock);
	if (id == peer->id)
		lnd_verbs_note_event(peer, event);
	spin_unlock_bh(&peer->lock);
	lnd_verbs_kick(peer);
	return 0;
}
