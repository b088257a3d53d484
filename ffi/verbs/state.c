// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The file FABRIC/verbs: what the connections are at, and counts, a name and a number a line. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "lnd_verbs.h"

static const char *const lnd_verbs_names[LND_VERBS_COUNTS] = {
	[LND_VERBS_OPENED] = "opened",
	[LND_VERBS_ASKED] = "asked",
	[LND_VERBS_GAVE_UP] = "gave_up",
	[LND_VERBS_REFUSED] = "refused",
	[LND_VERBS_STRANGERS] = "strangers",
	[LND_VERBS_NO_ROOM] = "no_room",
	[LND_VERBS_YIELDED] = "yielded",
	[LND_VERBS_CLOSINGS] = "closings",
	[LND_VERBS_SENDS] = "sends",
	[LND_VERBS_INLINED] = "inlined",
	[LND_VERBS_RECEIVES] = "receives",
	[LND_VERBS_NOTES_SENT] = "notes",
	[LND_VERBS_FED] = "fed",
	[LND_VERBS_NOT_READY] = "not_ready",
	[LND_VERBS_READ_COUNT] = "reads",
	[LND_VERBS_WRITE_COUNT] = "writes",
	[LND_VERBS_POSTS] = "posts",
	[LND_VERBS_REGISTERED] = "registered",
	[LND_VERBS_CHAINED] = "chained",
	[LND_VERBS_INVALIDATED] = "invalidated",
	[LND_VERBS_INVALIDATED_BY_PEER] = "invalidated_by_peer",
	[LND_VERBS_OTHER_KEY] = "other_key",
	[LND_VERBS_NO_REGION] = "no_region",
	[LND_VERBS_INDEXED] = "indexed",
	[LND_VERBS_BOUNCED] = "bounced",
	[LND_VERBS_OTHER_COOKIE] = "other_cookie",
	[LND_VERBS_EARLY] = "early",
	[LND_VERBS_PROBES] = "probes",
	[LND_VERBS_SILENCES] = "silences",
	[LND_VERBS_FLUSHED] = "flushed",
	[LND_VERBS_ERRORS] = "errors",
	[LND_VERBS_WATCHED] = "watched",
	[LND_VERBS_TOUCHED] = "touched",
};

static const char *const lnd_verbs_states[] = {
	[LND_VERBS_IDLE] = "idle",
	[LND_VERBS_RESOLVING] = "resolving",
	[LND_VERBS_ROUTING] = "routing",
	[LND_VERBS_CONNECTING] = "connecting",
	[LND_VERBS_ACCEPTING] = "accepting",
	[LND_VERBS_UP] = "up",
	[LND_VERBS_CLOSED] = "closed",
};

/* Context: any. */
const char *lnd_verbs_state_name(enum lnd_verbs_state state)
{
	return lnd_verbs_states[state];
}

static void lnd_verbs_show_peer(struct seq_file *file, struct lnd_verbs_peer *peer)
{
	spin_lock_bh(&peer->lock);
	seq_printf(file, "peer%llu %s number %u requests %d control %d sending %u %u\n", peer->nid,
		   lnd_verbs_states[peer->state], peer->number,
		   (s16)(peer->granted[LND_LANE_REQUEST] - peer->sent[LND_LANE_REQUEST]),
		   (s16)(peer->granted[LND_LANE_CONTROL] - peer->sent[LND_LANE_CONTROL]),
		   peer->sending[LND_LANE_REQUEST], peer->sending[LND_LANE_CONTROL]);
	spin_unlock_bh(&peer->lock);
}

static int lnd_verbs_state_show(struct seq_file *file, void *unused)
{
	struct lnd_verbs_node *node = file->private;
	struct lnd_verbs_peer *peer;
	unsigned long nid;
	u32 i;

	/* None, as long as the node is not alive. */
	down_read(&node->host.incarnation);
	xa_for_each(&node->peers, nid, peer)
		lnd_verbs_show_peer(file, peer);
	up_read(&node->host.incarnation);
	seq_printf(file, "illegal_read %s %u %u %u\n", lnd_verbs_trial_result(node),
		   node->trial[0], node->trial[1], node->trial[2]);
	for (i = 0; i < LND_VERBS_COUNTS; i++)
		seq_printf(file, "%s %ld\n", lnd_verbs_names[i],
			   atomic_long_read(&node->count[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(lnd_verbs_state);

/* Context: thread. It goes with the fabric's other files. */
void lnd_verbs_state_add(struct lnd_host_fabric *fabric)
{
	debugfs_create_file("verbs", 0400, fabric->dir,
			    lnd_verbs_of(fabric->node[fabric->first]), &lnd_verbs_state_fops);
}
