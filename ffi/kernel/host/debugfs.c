// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The host's state, in /sys/kernel/debug/MODULE:
 *
 *   memory                  what the module holds
 *   FABRIC/UPPER            the upper layer's own: lnd_soft's "client" has the client's counts, and
 *                           takes start, stop, reset, spoil
 *   FABRIC/nodes            the fabric's nodes: 0 absent, 1 joining, 2 alive, 3 dead
 *   FABRIC/nodeN/stats      gauges and counters of the NI and of the engines
 *   FABRIC/nodeN/peers      the peers, as the NI has them
 *   FABRIC/nodeN/transfers  the upper layer's messages that have not ended
 *   FABRIC/nodeN/health     ends by health class
 *   FABRIC/nodeN/blocker    what keeps the node from being idle
 *   FABRIC/nodeN/control    takes link N down, up, gone or back; kill, revive; and words of the
 *                           upper layer
 */
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "lnd_host.h"
#include "upper.h"

static struct dentry *lnd_host_dir;

static void lnd_host_memory(struct seq_file *file, struct lnd_host_fabric *fabric)
{
	seq_printf(file, "bytes %ld\npages %ld\nmessages %ld\n",
		   lnd_host_holds(LND_HOST_HELD_BYTES), lnd_host_holds(LND_HOST_HELD_PAGES),
		   lnd_host_holds(LND_HOST_HELD_OPS));
	seq_printf(file, "threads %ld\ninterrupts %ld\n", lnd_host_holds(LND_HOST_HELD_THREADS),
		   lnd_host_holds(LND_HOST_HELD_IRQS));
}

static void lnd_host_stats(struct seq_file *file, struct lnd_host_node *node)
{
	struct lnd_stats stats = { .size = sizeof(stats) };
	u32 i;

	if (lnd_stats_get(node->ni, &stats))
		return;
	seq_printf(file, "run_state %u\nactive %u\npassive %u\npeers %u\n", stats.run_state,
		   stats.active, stats.passive, stats.peers);
	seq_printf(file, "frames_control %llu\nframes_lnd %llu\nframes_bad %llu\n",
		   stats.frames_control, stats.frames_lnd, stats.frames_bad);
	seq_printf(file, "frames_forged %llu\n", stats.frames_forged);
	seq_printf(file, "completions %llu\ninterrupts %llu\nmisuses %llu\n", stats.completions,
		   stats.interrupts, stats.misuses);
	for (i = 0; i < lnd_counter_count(); i++) {
		u64 value = 0;

		if (!lnd_counter(node->ni, i, &value))
			seq_printf(file, "%s %llu\n", lnd_counter_name(i), value);
	}
	for (i = 0; i < node->fabric->links; i++) {
		u32 state = 0, quarantined = 0;

		lnd_link_state_get(node->ni, i, &state);
		lnd_quarantine_get(node->ni, i, &quarantined);
		seq_printf(file, "link%u_quarantined %u\n", i, quarantined);
		seq_printf(file, "link%u_state %u\nlink%u_bytes %llu\n", i, state, i,
			   READ_ONCE(node->link[i].bytes));
		seq_printf(file, "link%u_interrupts %llu\nlink%u_violations %llu\n", i,
			   READ_ONCE(node->link[i].interrupts), i,
			   READ_ONCE(node->link[i].violations));
	}
	seq_printf(file, "bugs %u\n", atomic_read(&node->bugs));
}

static void lnd_host_peers(struct seq_file *file, struct lnd_host_node *node)
{
	u32 other;

	for (other = 0; other < node->fabric->nodes; other++) {
		struct lnd_peer_info info = { .size = sizeof(info) };
		struct lnd_peer peer;

		if (lnd_peer_find(node->ni, lnd_soft_nid(other), &peer) ||
		    lnd_peer_info_get(node->ni, peer, &info))
			continue;
		seq_printf(file,
			   "%llu state %u incarnation %llx transfers %u credits %u in_flight %u ",
			   peer.nid, info.state, info.incarnation, info.transfers, info.credits,
			   info.in_flight);
		seq_printf(file, "pulls %u pulls_waiting %u\n", info.pulls, info.pulls_waiting);
	}
}

static void lnd_host_health(struct seq_file *file, struct lnd_host_node *node)
{
	unsigned int i;

	for (i = 0; i <= LND_HEALTH_NETWORK_TIMEOUT; i++) {
		const char *name = lnd_health_class_name(i) + strlen("LND_HEALTH_");

		/* letters and '_'; each function of the kernel takes 110 bytes of the module */
		for (; *name; name++)
			seq_printf(file, "%c", *name == '_' ? '_' : *name | 0x20);
		seq_printf(file, " %u\n", atomic_read(&node->health[i]));
	}
}

static void lnd_host_blockers(struct seq_file *file, struct lnd_host_node *node)
{
	struct lnd_blocker blocker = { .size = sizeof(blocker) };
	u32 cursor = 0;

	while (!lnd_blocker_next(node->ni, &cursor, &blocker)) {
		if (blocker.kind == LND_BLOCKER_LINK)
			seq_printf(file, "link %u in state %u\n", blocker.link, blocker.link_state);
		else
			seq_printf(file, "transfer %u/%u with %llu word %08x%s\n",
				   blocker.transfer.index, blocker.transfer.generation,
				   blocker.nid, blocker.word,
				   blocker.kind == LND_BLOCKER_UNREPORTED ? " unreported" : "");
	}
}

/* A link's cable, and the bus between the link and this node. */
static int lnd_host_control_link(struct lnd_host_node *node, u32 link, const char *word)
{
	if (!strcmp(word, "up") || !strcmp(word, "down"))
		return lnd_host_node_link(node, link, *word == 'u');
	if (!strcmp(word, "gone") || !strcmp(word, "back"))
		return lnd_host_node_bus(node, link, *word == 'g');
	return -EINVAL;
}

/* link N down, link N up, link N gone, link N back, kill, revive, or the upper layer's. */
static int lnd_host_control(struct lnd_host_node *node, char *line)
{
	unsigned int link;
	char word[8] = "";
	int rc = -EINVAL;

	mutex_lock(&node->fabric->control);
	if (sscanf(line, "link %u %7s", &link, word) == 2 && link < node->fabric->links)
		rc = lnd_host_control_link(node, link, word);
	else if (!strcmp(line, "kill"))
		rc = lnd_host_node_kill(node);
	else if (!strcmp(line, "revive"))
		rc = lnd_host_node_start(node);
	else if (node->alive)
		rc = lnd_upper_control(node, line);
	mutex_unlock(&node->fabric->control);
	return rc;
}

static void lnd_host_nodes(struct seq_file *file, struct lnd_host_fabric *fabric)
{
	u32 i;

	for (i = 0; i < fabric->nodes; i++) {
		struct lnd_soft_node_info info = { .size = sizeof(info) };

		if (!lnd_soft_node_get(fabric->region, i, &info))
			seq_printf(file, "node%u %u\n", i, info.state);
	}
}

static const struct lnd_host_view lnd_host_memory_view = { .show = lnd_host_memory };

static int lnd_host_view_show(struct seq_file *file, void *unused)
{
	const struct lnd_host_view *view = file->private;
	struct lnd_host_node *node = view->node;

	if (view->show)
		view->show(file, view->fabric);
	if (!view->show_node)
		return 0;
	/* Empty as long as the node is not alive. */
	down_read(&node->incarnation);
	if (node->alive)
		view->show_node(file, node);
	up_read(&node->incarnation);
	return 0;
}

static int lnd_host_view_open(struct inode *inode, struct file *file)
{
	return single_open(file, lnd_host_view_show, inode->i_private);
}

static ssize_t lnd_host_view_write(struct file *file, const char __user *user, size_t bytes,
				   loff_t *at)
{
	const struct lnd_host_view *view = ((struct seq_file *)file->private_data)->private;
	char *line;
	int rc;

	/* Root can open read-only files for writing, too. */
	if (!view->control && !view->command)
		return -EPERM;
	if (bytes > 256)
		return -EINVAL;
	line = memdup_user_nul(user, bytes);
	if (IS_ERR(line))
		return PTR_ERR(line);
	if (bytes && line[bytes - 1] == '\n')
		line[bytes - 1] = 0;
	rc = view->control ? view->control(view->node, line) : view->command(view->fabric, line);
	kvfree(line);
	return rc ?: bytes;
}

/* All files: the view and the mode determine their content and whether they take commands. */
static const struct file_operations lnd_host_view_fops = {
	.owner = THIS_MODULE,
	.open = lnd_host_view_open,
	.read = seq_read,
	.write = lnd_host_view_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static void lnd_host_file(const char *name, umode_t mode, struct dentry *dir,
			  const struct lnd_host_view *view)
{
	debugfs_create_file(name, mode, dir, (void *)view, &lnd_host_view_fops);
}

/* Context: thread. */
void lnd_host_debugfs_init(void)
{
	lnd_host_dir = debugfs_create_dir(LND_HOST_NAME, NULL);
	lnd_host_file("memory", 0400, lnd_host_dir, &lnd_host_memory_view);
}

/* Context: thread. */
void lnd_host_debugfs_exit(void)
{
	debugfs_remove_recursive(lnd_host_dir);
}

static const struct {
	const char *name;
	umode_t mode;
	void (*show)(struct seq_file *file, struct lnd_host_node *node);
	int (*control)(struct lnd_host_node *node, char *line);
} lnd_host_node_files[LND_HOST_VIEWS] = {
	{ "stats", 0400, lnd_host_stats },
	{ "peers", 0400, lnd_host_peers },
	{ "transfers", 0400, lnd_upper_transfers },
	{ "health", 0400, lnd_host_health },
	{ "blocker", 0400, lnd_host_blockers },
	{ "control", 0200, NULL, lnd_host_control },
#ifdef LND_HOST_OBSERVE
	{ "metrics", 0400, lnd_host_metrics },
	{ "metrics.json", 0400, lnd_host_metrics_json },
	{ "waits", 0400, lnd_host_waits },
	{ "waits.json", 0400, lnd_host_waits_json },
	{ "blockers", 0400, lnd_host_blocked },
#endif
};

static void lnd_host_debugfs_add_node(struct lnd_host_node *node)
{
	struct dentry *dir;
	unsigned int i;
	char name[16];

	snprintf(name, sizeof(name), "node%u", node->number);
	dir = debugfs_create_dir(name, node->fabric->dir);
	for (i = 0; i < LND_HOST_VIEWS; i++) {
		node->view[i].node = node;
		node->view[i].show_node = lnd_host_node_files[i].show;
		node->view[i].control = lnd_host_node_files[i].control;
		lnd_host_file(lnd_host_node_files[i].name, lnd_host_node_files[i].mode, dir,
			      &node->view[i]);
	}
}

/**
 * lnd_host_debugfs_add() - Adds the files of a fabric and of this host's nodes.
 * @fabric: the fabric.
 *
 * Context: thread.
 */
void lnd_host_debugfs_add(struct lnd_host_fabric *fabric)
{
	u32 i;

	fabric->dir = debugfs_create_dir(fabric->name, lnd_host_dir);
	fabric->view[0].fabric = fabric;
	fabric->view[0].show = lnd_upper_show;
	fabric->view[0].command = lnd_upper_command;
	lnd_host_file(lnd_upper_name, 0600, fabric->dir, &fabric->view[0]);
	fabric->view[1].fabric = fabric;
	fabric->view[1].show = lnd_host_nodes;
	lnd_host_file("nodes", 0400, fabric->dir, &fabric->view[1]);
	for (i = fabric->first; i < fabric->first + fabric->ours; i++)
		lnd_host_debugfs_add_node(fabric->node[i]);
}

/**
 * lnd_host_debugfs_remove() - Removes them; waits for readers and writers.
 * @fabric: the fabric.
 *
 * Context: thread, without fabric->control.
 */
void lnd_host_debugfs_remove(struct lnd_host_fabric *fabric)
{
	debugfs_remove_recursive(fabric->dir);
	fabric->dir = NULL;
}
