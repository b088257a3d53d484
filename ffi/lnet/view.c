// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Files: what LNet has asked for, and the messages under way. */
#include <linux/seq_file.h>

#include "lnet.h"

const char *const lnd_upper_name = "lnet";

/* In the order of enum lnd_lnet_count, each with its zero: a pointer to each takes more bytes. */
static const char lnd_lnet_count_names[] =
	"sends\0receives\0optimised_gets\0delayed\0waited\0loops\0refused\0taken_back\0failed_fast";

/* Context: thread. */
void lnd_upper_show(struct seq_file *file, struct lnd_host_fabric *fabric)
{
	u32 node, i;
	const char *name;

	for (node = fabric->first; node < fabric->first + fabric->ours; node++) {
		struct lnd_host_upper *upper = fabric->node[node]->upper;

		name = lnd_lnet_count_names;
		for (i = 0; i < LND_LNET_COUNTS; i++, name += strlen(name) + 1)
			seq_printf(file, "node%u_%s %ld\n", node, name,
				   atomic_long_read(&upper->counts[i]));
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
	lnd_lnet_list(file, "looped", &upper->looped);
	spin_unlock(&upper->lock);
}
