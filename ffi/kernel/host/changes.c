// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What the kernel's log has of peers and links that change their state: a line at once, then one
 * line for all changes of an interval that doubles from line to line. A peer that comes and goes
 * does not fill the log, and no change is left out of the count. lnd_core::observe::Summaries does
 * the same where Rust is the host.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "lnd_host.h"
#include "upper.h"

#define FIRST	NSEC_PER_SEC	/* the interval after a line that came alone */
#define MOST	(600ULL * NSEC_PER_SEC)

/**
 * lnd_host_event() - Handles a change of a peer's, a link's or a connection's state.
 * @ctx: the node.
 * @event: the change.
 *
 * Context: the node's thread, in lnd_run().
 */
void lnd_host_event(void *ctx, const struct lnd_event *event)
{
	struct lnd_host_node *node = ctx;
	bool link = event->kind == LND_EVENT_LINK;

	if (link || event->kind == LND_EVENT_PEER) {
		struct lnd_host_changes *it = &node->changes[link];

		it->count++;
		it->of = link ? event->link : event->nid;
		it->state = event->state;
	}
	lnd_upper_event(node, event);
}

/**
 * lnd_host_changes_log() - Logs what has changed, when it is time to.
 * @node: the node.
 * @now: the time; LND_NEVER: log all that is left.
 *
 * Context: the node's thread.
 * Return: when to call again; LND_NEVER: after the next event.
 */
u64 lnd_host_changes_log(struct lnd_host_node *node, u64 now)
{
	u64 again = LND_NEVER;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(node->changes); i++) {
		struct lnd_host_changes *it = &node->changes[i];

		if (!it->count)
			continue;
		if (now < it->next) {
			again = min(again, it->next);
			continue;
		}
		/* Quiet for a whole interval: this is news. */
		if (now - it->next >= it->interval)
			it->interval = FIRST;
		pr_info("node %u: %s %llu is now %s, changes: %u\n", node->number,
			i ? "link" : "peer", it->of,
			i ? lnd_link_state_name(it->state) : lnd_peer_state_name(it->state),
			it->count);
		it->count = 0;
		it->next = now + it->interval;
		it->interval = min(2 * it->interval, MOST);
	}
	return again;
}
