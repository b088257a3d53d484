// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Where a node's messages spend their time, and all that is counted: only in a module that is built
 * with LND_OBSERVE=1 (decision 0040). In FABRIC/nodeN:
 *
 *   metrics, metrics.json   counters and gauges of the NI, by the library's table of metrics
 *   waits, waits.json       times by wait and size, ends by class, losses by cause and place
 *   blockers                what has not ended: what it waits for, since when, its transitions
 */
#include "lnd_host.h"

#define JOURNAL	256	/* messages that have ended and stay known */
#define PIECE	512	/* bytes of text that the library writes at once */

/**
 * lnd_host_observe_start() - Makes a node's observer.
 * @node: the node, whose NI is created next.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_host_observe_start(struct lnd_host_node *node)
{
	u32 peers = node->fabric->nodes;
	enum lnd_error error;

	spin_lock_init(&node->observing);
	node->observer_bytes = lnd_observer_size(lnd_host_slots, JOURNAL, peers);
	node->observer_memory = lnd_host_alloc(node->observer_bytes, LND_HOST_MAY_WAIT,
					       LND_HOST_AT_OBSERVER);
	if (!node->observer_memory)
		return -ENOMEM;
	error = lnd_observer_create(node->observer_memory, node->observer_bytes, lnd_host_slots,
				    JOURNAL, peers, &node->observer);
	return lnd_error_errno(error);
}

/**
 * lnd_host_observe_stop() - Frees a node's observer.
 * @node: the node, whose NI is gone.
 *
 * Context: thread.
 */
void lnd_host_observe_stop(struct lnd_host_node *node)
{
	node->observer = NULL;
	lnd_host_free(node->observer_memory, node->observer_bytes);
	node->observer_memory = NULL;
}

/**
 * lnd_host_observe() - Feeds a node's observer.
 * @node: the node.
 * @record: the library's record.
 *
 * Context: any.
 */
void lnd_host_observe(struct lnd_host_node *node, const struct lnd_trace *record)
{
	unsigned long flags;

	/* Interrupts trace, too: one record at a time. */
	spin_lock_irqsave(&node->observing, flags);
	lnd_observer_record(node->observer, record);
	spin_unlock_irqrestore(&node->observing, flags);
}

/* Writes as much as fits into a piece, from *cursor on. */
typedef enum lnd_error (*lnd_host_write)(struct lnd_host_node *node, u32 format, u32 *cursor,
					 char *piece, size_t *written);

static void lnd_host_pieces(struct seq_file *file, struct lnd_host_node *node, u32 format,
			    lnd_host_write write)
{
	enum lnd_error error;
	char piece[PIECE];
	size_t written;
	u32 cursor = 0;

	do {
		error = write(node, format, &cursor, piece, &written);
		if (!error || error == LND_E_END)
			seq_write(file, piece, written);
	} while (!error);
}

static enum lnd_error lnd_host_metrics_write(struct lnd_host_node *node, u32 format, u32 *cursor,
					     char *piece, size_t *written)
{
	return lnd_metrics_write(node->ni, format, cursor, piece, PIECE, written);
}

void lnd_host_metrics(struct seq_file *file, struct lnd_host_node *node)
{
	lnd_host_pieces(file, node, LND_METRIC_TEXT, lnd_host_metrics_write);
}

void lnd_host_metrics_json(struct seq_file *file, struct lnd_host_node *node)
{
	lnd_host_pieces(file, node, LND_METRIC_JSON, lnd_host_metrics_write);
}

static enum lnd_error lnd_host_waits_write(struct lnd_host_node *node, u32 format, u32 *cursor,
					   char *piece, size_t *written)
{
	enum lnd_error error;
	unsigned long flags;

	spin_lock_irqsave(&node->observing, flags);
	error = lnd_observer_write(node->observer, format, cursor, piece, PIECE, written);
	spin_unlock_irqrestore(&node->observing, flags);
	return error;
}

void lnd_host_waits(struct seq_file *file, struct lnd_host_node *node)
{
	lnd_host_pieces(file, node, LND_METRIC_TEXT, lnd_host_waits_write);
}

void lnd_host_waits_json(struct seq_file *file, struct lnd_host_node *node)
{
	lnd_host_pieces(file, node, LND_METRIC_JSON, lnd_host_waits_write);
}

void lnd_host_blocked(struct seq_file *file, struct lnd_host_node *node)
{
	struct lnd_blocker blocker = { .size = sizeof(blocker) };
	u64 now = lnd_host_now();
	u32 cursor = 0;

	while (!lnd_blocker_next(node->ni, &cursor, &blocker)) {
		struct lnd_account account = { .size = sizeof(account) };
		enum lnd_error error;
		unsigned long flags;

		if (blocker.kind == LND_BLOCKER_LINK) {
			seq_printf(file, "link %u needs the proof of its stop, %s\n", blocker.link,
				   lnd_link_state_name(blocker.link_state));
			continue;
		}
		spin_lock_irqsave(&node->observing, flags);
		error = lnd_observer_account_get(node->observer, blocker.transfer, &account);
		spin_unlock_irqrestore(&node->observing, flags);
		if (error)
			continue;
		seq_printf(file, "transfer %u/%u with %llu bytes %u steps %u %s for_us %llu\n",
			   blocker.transfer.index, blocker.transfer.generation, account.nid,
			   account.len, account.steps, lnd_wait_name(account.wait),
			   div_u64(now > account.since ? now - account.since : 0, NSEC_PER_USEC));
	}
}
