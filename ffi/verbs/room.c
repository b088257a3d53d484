// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Room for a frame at a peer: a receive of the lane that was given to us, a buffer, and for
 * requests the regions that their answers need. The library asks; when it was told that there is
 * none, it is told when there is some.
 */
#include "lnd_verbs.h"

/**
 * lnd_verbs_has_room() - Whether a frame may be sent now.
 * @peer: the peer.
 * @lane: the frame's.
 *
 * Context: any, with the connection's lock.
 * Return: whether the peer has a receive for it, and there is a buffer.
 */
bool lnd_verbs_has_room(const struct lnd_verbs_peer *peer, u32 lane)
{
	s16 left = peer->granted[lane] - peer->sent[lane];

	if (lnd_verbs_defect("uncredited") && lane == LND_LANE_REQUEST)
		left = 1;
	return peer->open && left > 0 && peer->sending[lane] < lnd_verbs_window(lane) &&
	       !list_empty(&peer->free_sends);
}

static bool lnd_verbs_takes(const struct lnd_verbs_peer *peer, u32 lane)
{
	return lnd_verbs_has_room(peer, lane) &&
	       (lane == LND_LANE_CONTROL || peer->spare >= LND_VERBS_SPARE);
}

/**
 * lnd_verbs_fed() - Whether there is room for what the library was told that there is none for.
 * @peer: the peer.
 *
 * Context: any, with the connection's lock.
 * Return: whether there is.
 */
bool lnd_verbs_fed(const struct lnd_verbs_peer *peer)
{
	u32 lane;

	for (lane = 0; lane < LND_VERBS_NOTE && !lnd_verbs_defect("starved"); lane++) {
		if ((peer->hungry & BIT(lane)) && lnd_verbs_takes(peer, lane))
			return true;
	}
	return false;
}

/* Has the node's thread tell the library of room. Context: any, with the connection's lock. */
void lnd_verbs_feed(struct lnd_verbs_peer *peer)
{
	if (!lnd_verbs_fed(peer))
		return;
	lnd_verbs_arrival(peer);
	lnd_host_node_wake(&peer->node->host);
}

/* The library waits for room, and for a connection if there is none. Context: with the lock. */
void lnd_verbs_lacks(struct lnd_verbs_peer *peer, u32 lane)
{
	peer->hungry |= BIT(lane);
	lnd_verbs_request_connect(peer);
}

/* Whether there is room for a frame; a peer without a connection is asked for one. */
bool lnd_verbs_ready(struct lnd_verbs_peer *peer, u32 lane)
{
	bool ready;

	if (lane >= LND_VERBS_NOTE)
		return false;
	spin_lock_bh(&peer->lock);
	ready = lnd_verbs_takes(peer, lane);
	if (ready)
		peer->hungry &= ~BIT(lane);
	else
		lnd_verbs_lacks(peer, lane);
	spin_unlock_bh(&peer->lock);
	return ready;
}
