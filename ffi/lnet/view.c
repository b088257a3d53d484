// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Files: what LNet has asked for, and the messages under way. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/seq_file.h>

#include "lnet.h"

const char *const lnd_upper_name = "lnet";

/* In the order of enum lnd_lnet_count, each with its zero: a pointer to each takes more bytes. */
static const char lnd_lnet_count_names[] =
	"sends\0receives\0optimised_gets\0delayed\0waited\0loops\0refused\0taken_back\0"
	"failed_fast\0without_slot";

/* Context: thread. */
void lnd_upper_show(struct seq_file *file, struct lnd_host_fabric *fabric)
{
	const char *name;
	u32 node, i;

	for (node = fabric->first; node < fabric->first + fabric->ours; node++) {
		struct lnd_host_upper *upper = fabric->node[node]->upper;

		name = lnd_lnet_count_names;
		for (i = 0; i < LND_LNET_COUNTS; i++, name++) {
			seq_printf(file, "node%u_%s %ld\n", node, name,
				   atomic_long_read(&upper->counts[i]));
			while (*name)
				name++;
		}
	}
}

/* LNet is told by lnetctl what to do. Context: thread. */
int lnd_upper_command(struct lnd_host_fabric *fabric, char *line)
{
	return -EINVAL;
}

/* Context: thread. */
int lnd_upper_control(struct lnd_host_node *node, char *line)
{
	return -EINVAL;
}

static void lnd_lnet_list(struct seq_file *file, const char *what, const struct list_head *list)
{
	const struct lnd_lnet_message *message;
	u64 now = lnd_host_now();

	list_for_each_entry(message, list, list)
		seq_printf(file, "%s %llu bytes %u fragments %u age_ms %llu\n", what,
			   message->nid, message->payload.length, message->map.nfrags,
			   div_u64(now - message->begun, NSEC_PER_MSEC));
}

/* Context: thread; the node is alive. */
void lnd_upper_transfers(struct seq_file *file, struct lnd_host_node *node)
{
	struct lnd_host_upper *upper = node->upper;

	spin_lock(&upper->lock);
	lnd_lnet_list(file, "lent", &upper->messages);
	lnd_lnet_list(file, "undecided", &upper->undecided);
	lnd_lnet_list(file, "waiting", &upper->waiting);
	lnd_lnet_list(file, "hungry", &upper->hungry);
	lnd_lnet_list(file, "looped", &upper->looped);
	spin_unlock(&upper->lock);
}

/**
 * lnd_lnet_ctl() - lnd_ctl of struct lnet_lnd: "lnetctl debug peer" writes a peer into the log.
 * @ni: an interface.
 * @cmd: IOC_LIBCFS_GET_PEER.
 * @arg: struct libcfs_ioctl_data, with the peer's NID.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_lnet_ctl(struct lnet_ni *ni, unsigned int cmd, void *arg)
{
	struct lnd_peer_info info = { .size = sizeof(info) };
	struct libcfs_ioctl_data *data = arg;
	struct lnd_host_node *node = ni->ni_data;
	struct lnet_nid nid;
	struct lnd_peer peer;
	int rc = -ENOENT;

	if (cmd != IOC_LIBCFS_GET_PEER)
		return -EINVAL;
	lnet_nid4_to_nid(data->ioc_nid, &nid);
	down_read(&node->incarnation);
	if (node->alive && !lnd_peer_find(node->ni, lnd_lnet_peer(node, &nid), &peer) &&
	    !lnd_peer_info_get(node->ni, peer, &info)) {
		pr_notice("peer %llu state %u transfers %u credits %u in_flight %u\n", peer.nid,
			  info.state, info.transfers, info.credits, info.in_flight);
		rc = 0;
	}
	up_read(&node->incarnation);
	return rc;
}
