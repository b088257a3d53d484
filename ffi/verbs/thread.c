// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A node's thread, which takes frames in, handles timeouts, and reports. Completions, submitters
 * and the timer only wake it.
 */
#include "lnd_verbs.h"
#include "upper.h"

#define FRAMES	32	/* frames of a peer between two calls of lnd_run() */

/* Offers a frame where it was received. Returns whether it is done with. */
static bool lnd_verbs_offer(struct lnd_host_node *node, struct lnd_verbs_peer *peer,
			    const struct lnd_verbs_frame *frame)
{
	struct lnd_arrival request = { .size = sizeof(request) };
	enum lnd_error error;

	/* Without memory for it, a request stays. Answers and credits need none (INV-11). */
	if (frame->lane == LND_LANE_REQUEST && !lnd_upper_ready(node))
		return false;
	/* A connection has one peer at its other end. */
	error = lnd_frame_in(node->ni, LND_VERBS_LINK, peer->nid, frame->head + 1, frame->len,
			     lnd_host_now(), &request);
	if (error == LND_REQUEST)
		return lnd_upper_request(node, &request);
	return error != LND_E_WAIT && error != LND_E_BUSY;
}

/* What waits in the library for room is sent now, and not at the library's next look. */
static void lnd_verbs_notify_room(struct lnd_host_node *node, struct lnd_verbs_peer *peer)
{
	bool fed;

	spin_lock_bh(&peer->lock);
	fed = lnd_verbs_fed(peer);
	if (fed)
		peer->hungry = 0;
	spin_unlock_bh(&peer->lock);
	if (!fed)
		return;
	lnd_verbs_count(peer->node, LND_VERBS_FED);
	lnd_connection_up(node->ni, LND_VERBS_LINK, peer->nid, lnd_host_now());
}

/*
 * Takes frames of a peer in. A request that has to wait holds up no answer. Returns whether there
 * may be more now.
 */
static bool lnd_verbs_take(struct lnd_host_node *node, struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_frame *frame;
	bool waits[2] = {};
	unsigned int tries;

	for (tries = 0; tries < FRAMES; tries++) {
		frame = lnd_verbs_arrived(peer, waits);
		if (!frame)
			break;
		if (lnd_verbs_offer(node, peer, frame))
			lnd_verbs_release(peer, frame);
		else
			waits[frame->lane] = true;
	}
	/* What has to wait is offered again in the next round. */
	if (frame || waits[LND_LANE_REQUEST] || waits[LND_LANE_CONTROL])
		lnd_verbs_arrival(peer);
	return tries == FRAMES;
}

/* The next of the peers that had frames when the round began, or NULL. */
static struct lnd_verbs_peer *lnd_verbs_next(struct lnd_verbs_node *node, struct list_head *round)
{
	struct lnd_verbs_peer *peer;

	spin_lock_bh(&node->arrivals_lock);
	peer = list_first_entry_or_null(round, struct lnd_verbs_peer, arrival);
	if (peer)
		list_del_init(&peer->arrival);
	spin_unlock_bh(&node->arrivals_lock);
	return peer;
}

static bool lnd_verbs_receive(struct lnd_verbs_node *node)
{
	struct lnd_verbs_peer *peer;
	LIST_HEAD(round);
	bool more = false;

	spin_lock_bh(&node->arrivals_lock);
	list_splice_init(&node->arrivals, &round);
	spin_unlock_bh(&node->arrivals_lock);
	while ((peer = lnd_verbs_next(node, &round))) {
		lnd_verbs_notify_room(&node->host, peer);
		more |= lnd_verbs_take(&node->host, peer);
	}
	return more;
}

/* Context: thread. @data: a struct lnd_host_node. */
int lnd_verbs_thread(void *data)
{
	struct lnd_host_node *node = data;

	while (!kthread_should_stop()) {
		u64 next, now;
		bool more;

		more = lnd_verbs_receive(lnd_verbs_of(node));
		now = lnd_host_now();
		next = lnd_host_node_run(node, now);
		if (!more && next > now)
			lnd_host_node_rest(node, now, next);
		else
			cond_resched();
	}
	hrtimer_cancel(&node->timer);
	lnd_host_changes_log(node, LND_NEVER);
	return 0;
}
