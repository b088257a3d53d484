// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * READs of no bytes on connections that are idle (S2). A queue pair that sends nothing does not
 * notice that the other machine has gone. Such a READ needs no receive, no key and no software at
 * the other end: it is acknowledged, or the queue pair fails when its retries are over. That closes
 * the connection. Whether the peer is down the library finds, by a hello on a new one (peer.c).
 *
 * A READ of an illegal address is no probe here: see trial.c.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_verbs.h"

static void lnd_verbs_probed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_peer *peer = cq->cq_context;

	if (wc->status) {
		lnd_verbs_break(peer, wc);
		return;
	}
	spin_lock_bh(&peer->lock);
	peer->probing = false;
	lnd_verbs_heard_from(peer);
	spin_unlock_bh(&peer->lock);
	lnd_verbs_kick(peer);
}

/*
 * How long a probe takes at most: all retries, four times as long as they have by their timeout,
 * as adapters may, and 10 s for a machine that stands still. One that takes longer is of a queue
 * pair that has stopped without a word.
 */
static unsigned long lnd_verbs_probe_most(void)
{
	u64 us = ((u64)(lnd_verbs_retries + 1) << lnd_verbs_timeout) * 4096 / 1000;

	return usecs_to_jiffies(4 * us) + 10 * HZ;
}

/**
 * lnd_verbs_probe_due() - When an idle connection is to be probed, or its probe must have ended.
 * @peer: the peer.
 *
 * Context: any, with the connection's lock.
 * Return: jiffies; 0: no time is set.
 */
unsigned long lnd_verbs_probe_due(const struct lnd_verbs_peer *peer)
{
	if (!lnd_verbs_probe_ms || !peer->open || lnd_verbs_defect("deaf"))
		return 0;
	if (peer->probing)
		return (peer->probed + lnd_verbs_probe_most()) ?: 1;
	return (peer->heard + msecs_to_jiffies(lnd_verbs_probe_ms)) ?: 1;
}

/**
 * lnd_verbs_probe() - Probes a connection if that is due, or ends it if its probe has not ended.
 * @peer: the peer.
 *
 * Context: any, with the connection's lock.
 */
void lnd_verbs_probe(struct lnd_verbs_peer *peer)
{
	unsigned long due = lnd_verbs_probe_due(peer);
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_READ,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.wr_cqe = &peer->probe,
	};

	if (!due || time_before(jiffies, due))
		return;
	if (peer->probing) {
		lnd_verbs_fail(peer, "a probe does not end");
		return;
	}
	peer->probe.done = lnd_verbs_probed;
	peer->probing = true;
	peer->probed = jiffies;
	lnd_verbs_count(peer->node, LND_VERBS_PROBES);
	lnd_verbs_post(peer, &wr.wr);
}
