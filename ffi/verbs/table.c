// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The platform's operations. The context of each is in lnd.h at struct lnd_ops. */
#include "lnd_verbs.h"

#define CREATE_TRACE_POINTS
#include "lnd_trace.h"

/* All connections of the link. */
static void lnd_verbs_engine_stop(void *ctx, u32 link)
{
	struct lnd_verbs_node *node = lnd_verbs_of(ctx);
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	WRITE_ONCE(node->link_stopped, true);
	xa_for_each(&node->peers, nid, peer) {
		spin_lock_bh(&peer->lock);
		lnd_verbs_stop(peer);
		spin_unlock_bh(&peer->lock);
	}
}

/*
 * Whether nothing of a peer moves while the link is stopped. One that was added since was not told:
 * it begins nothing, unless it was about to.
 */
static bool lnd_verbs_still(struct lnd_verbs_peer *peer)
{
	bool still;

	spin_lock_bh(&peer->lock);
	still = peer->state == LND_VERBS_CLOSED ||
		(peer->state == LND_VERBS_IDLE && !peer->stop);
	if (!still && !peer->stop)
		lnd_verbs_stop(peer);
	spin_unlock_bh(&peer->lock);
	return still;
}

static u32 lnd_verbs_engine_quiesced(void *ctx, u32 link)
{
	struct lnd_verbs_node *node = lnd_verbs_of(ctx);
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	if (!node->link_stopped)
		return 0;
	xa_for_each(&node->peers, nid, peer) {
		if (!lnd_verbs_still(peer))
			return 0;
	}
	return 1;
}

/* The connections were renewed by lnd_verbs_connection_reset() before. */
static void lnd_verbs_engine_reset(void *ctx, u32 link)
{
	struct lnd_verbs_node *node = lnd_verbs_of(ctx);
	struct lnd_verbs_peer *peer;
	unsigned long nid;

	WRITE_ONCE(node->link_stopped, false);
	xa_for_each(&node->peers, nid, peer)
		lnd_verbs_kick(peer);
}

static u32 lnd_verbs_engine_link_up(void *ctx, u32 link)
{
	return !READ_ONCE(lnd_verbs_of(ctx)->unplugged);
}

static u32 lnd_verbs_engine_features(void *ctx, u32 link)
{
	return lnd_verbs_push ? LND_FEATURE_PUSHES : 0;
}

static u32 lnd_verbs_connection(void *ctx, u32 link, u64 nid)
{
	struct lnd_verbs_peer *peer = lnd_verbs_find(lnd_verbs_of(ctx), nid);

	return peer ? READ_ONCE(peer->number) : 1;
}

static void lnd_verbs_connection_stop(void *ctx, u32 link, u64 nid, u32 number)
{
	struct lnd_verbs_peer *peer = lnd_verbs_find(lnd_verbs_of(ctx), nid);

	if (!peer)
		return;
	spin_lock_bh(&peer->lock);
	if (peer->number == number)
		lnd_verbs_stop(peer);
	spin_unlock_bh(&peer->lock);
}

static u32 lnd_verbs_connection_quiesced(void *ctx, u32 link, u64 nid, u32 number)
{
	struct lnd_verbs_peer *peer = lnd_verbs_find(lnd_verbs_of(ctx), nid);
	u32 quiesced = 1;

	if (!peer || lnd_verbs_defect("undrained"))
		return 1;
	spin_lock_bh(&peer->lock);
	if (peer->number == number)
		quiesced = peer->state == LND_VERBS_CLOSED;
	spin_unlock_bh(&peer->lock);
	return quiesced;
}

static void lnd_verbs_renew(struct lnd_verbs_peer *peer, u32 number)
{
	bool over;

	if (!peer)
		return;
	spin_lock_bh(&peer->lock);
	over = peer->stop || peer->failed || peer->state == LND_VERBS_CLOSED;
	if (number ? peer->number == number : over)
		lnd_verbs_reset(peer);
	spin_unlock_bh(&peer->lock);
}

static void lnd_verbs_connection_reset(void *ctx, u32 link, u64 nid, u32 number)
{
	struct lnd_verbs_node *node = lnd_verbs_of(ctx);
	struct lnd_verbs_peer *peer;
	unsigned long each;

	if (number) {
		lnd_verbs_renew(lnd_verbs_find(node, nid), number);
		return;
	}
	xa_for_each(&node->peers, each, peer)
		lnd_verbs_renew(peer, 0);
}

static u32 lnd_verbs_reaches(void *ctx, u64 nid)
{
	return lnd_verbs_find(lnd_verbs_of(ctx), nid) ? 1 : 0;
}

static u32 lnd_verbs_ready_for(void *ctx, u32 link, u64 nid, u32 lane)
{
	struct lnd_verbs_peer *peer = lnd_verbs_find(lnd_verbs_of(ctx), nid);

	return peer && lnd_verbs_ready(peer, lane);
}

static u32 lnd_verbs_send_to(void *ctx, const struct lnd_frame *frame)
{
	struct lnd_verbs_peer *peer = lnd_verbs_find(lnd_verbs_of(ctx), frame->nid);

	return peer ? lnd_verbs_send(peer, frame) : LND_SEND_FAILED;
}

/* Each frame of a connection has been reported before it was proven stopped. */
static void lnd_verbs_quiesce(void *ctx, u32 link)
{
}

static u32 lnd_verbs_mem_read(void *ctx, u64 addr, void *to, u32 len)
{
	return lnd_verbs_copy(lnd_verbs_of(ctx), addr, to, len, false);
}

static u32 lnd_verbs_mem_write(void *ctx, u64 addr, const void *from, u32 len)
{
	return lnd_verbs_copy(lnd_verbs_of(ctx), addr, (void *)from, len, true);
}

static u32 lnd_verbs_mem_valid(void *ctx, u64 addr, u32 len)
{
	return lnd_verbs_payload(lnd_verbs_of(ctx), addr, len) ? 1 : 0;
}

static void lnd_verbs_trace(void *ctx, const struct lnd_trace *record)
{
	struct lnd_host_node *node = ctx;

	lnd_host_record(node->number, record);
}

const struct lnd_ops lnd_verbs_ops = {
	.size = sizeof(lnd_verbs_ops),
	.lock = lnd_host_lock,
	.unlock = lnd_host_unlock,
	.self_id = lnd_host_self_id,
	.context = lnd_host_context,
	.engine_post = lnd_verbs_engine_post,
	.engine_key = lnd_verbs_engine_key,
	.engine_doorbell = lnd_verbs_engine_doorbell,
	.engine_invalidate = lnd_verbs_engine_invalidate,
	.engine_stop = lnd_verbs_engine_stop,
	.engine_quiesced = lnd_verbs_engine_quiesced,
	.engine_reclaim = lnd_verbs_engine_reclaim,
	.engine_reset = lnd_verbs_engine_reset,
	.engine_link_up = lnd_verbs_engine_link_up,
	.engine_features = lnd_verbs_engine_features,
	.connection = lnd_verbs_connection,
	.connection_stop = lnd_verbs_connection_stop,
	.connection_quiesced = lnd_verbs_connection_quiesced,
	.connection_reset = lnd_verbs_connection_reset,
	.reaches = lnd_verbs_reaches,
	.ready = lnd_verbs_ready_for,
	.send = lnd_verbs_send_to,
	.quiesce = lnd_verbs_quiesce,
	.mem_read = lnd_verbs_mem_read,
	.mem_write = lnd_verbs_mem_write,
	.mem_valid = lnd_verbs_mem_valid,
	.finalize = lnd_host_ended,
	.event = lnd_host_event,
	.wake = lnd_host_wake,
	.trace = lnd_verbs_trace,
	.bug = lnd_host_bug,
	.tracing = lnd_host_tracing,
};
