// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What a node has over each transport: its locks and its timer, and the platform's operations that
 * know no hardware. The context of each is in lnd.h at struct lnd_ops.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

#include "lnd_host.h"
#include "upper.h"

#define REPORTS	64	/* reports between two rounds of messages */

static enum hrtimer_restart lnd_host_node_timer(struct hrtimer *timer)
{
	struct lnd_host_node *node = container_of(timer, struct lnd_host_node, timer);

	lnd_host_node_wake(node);
	return HRTIMER_NORESTART;
}

/**
 * lnd_host_node_init() - Sets up a node that is not alive yet.
 * @node: the node, of zeros.
 * @fabric: its fabric.
 * @number: its number.
 *
 * Context: thread.
 * Return: 0 or -ENOMEM.
 */
int lnd_host_node_init(struct lnd_host_node *node, struct lnd_host_fabric *fabric, u32 number)
{
	u32 i;

	node->fabric = fabric;
	node->number = number;
	spin_lock_init(&node->lock);
	init_rwsem(&node->incarnation);
	init_waitqueue_head(&node->wait);
	init_completion(&node->quiescent);
	hrtimer_init(&node->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	node->timer.function = lnd_host_node_timer;
	for (i = 0; i < LND_HOST_LINKS; i++) {
		node->link[i].node = node;
		node->link[i].number = i;
		spin_lock_init(&node->link[i].serving);
		init_waitqueue_head(&node->link[i].wait);
	}
	return lnd_upper_alloc(node);
}

/**
 * lnd_host_links() - Counts links.
 * @node: the node, with an NI.
 * @state: an enum lnd_link_state.
 *
 * Context: thread.
 * Return: how many are in this state.
 */
u32 lnd_host_links(const struct lnd_host_node *node, u32 state)
{
	u32 link, is, links = 0;

	for (link = 0; link < node->fabric->links; link++)
		links += !lnd_link_state_get(node->ni, link, &is) && is == state;
	return links;
}

/**
 * lnd_host_await_links() - Waits until the node's thread has brought its links up.
 * @node: the node, whose thread runs.
 *
 * A node that is announced before would refuse what its peers send at once. A link whose cable is
 * pulled stays down: the wait is short.
 *
 * Context: thread.
 */
void lnd_host_await_links(const struct lnd_host_node *node)
{
	unsigned int tries;

	for (tries = 500; tries && lnd_host_links(node, LND_LINK_UP) < node->fabric->links; tries--)
		usleep_range(500, 1000);
}

void lnd_host_lock(void *ctx)
	__acquires(&((struct lnd_host_node *)ctx)->lock)
{
	struct lnd_host_node *node = ctx;

	spin_lock_bh(&node->lock);
}

void lnd_host_unlock(void *ctx)
	__releases(&((struct lnd_host_node *)ctx)->lock)
{
	struct lnd_host_node *node = ctx;
	u64 ring = node->ring;

	node->ring = 0;
	spin_unlock_bh(&node->lock);
	/* Another machine's doorbell is a device's register: others do not wait for it. */
	if (ring)
		lnd_host_ring(node->fabric, ring);
}

u32 lnd_host_self_id(void *ctx)
{
	return in_task() ? current->pid : 0x40000000 | smp_processor_id();
}

u32 lnd_host_context(void *ctx)
{
	/* The lock keeps softirqs out, so a softirq may take it, as a thread may. */
	return in_hardirq() ? LND_CONTEXT_INTERRUPT : LND_CONTEXT_THREAD;
}

/**
 * lnd_host_ended() - Handles a transfer's one end.
 * @ctx: the node.
 * @report: the end.
 *
 * Context: thread: the node's, or that of a call which has returned LND_DONE.
 */
void lnd_host_ended(void *ctx, const struct lnd_report *report)
{
	struct lnd_host_node *node = ctx;

	atomic_inc(&node->health[report->health % ARRAY_SIZE(node->health)]);
	lnd_upper_report(node, report);
}

void lnd_host_wake(void *ctx)
{
	struct lnd_host_node *node = ctx;

	set_bit(LND_HOST_DUE, &node->flags);
	wake_up(&node->wait);
}

#define LND_HOST_BUGS_SAID	32

void lnd_host_bug(void *ctx, const char *what)
{
	struct lnd_host_node *node = ctx;

	/* The file stats has their number. */
	if (atomic_inc_return(&node->bugs) <= LND_HOST_BUGS_SAID)
		pr_err("node %u: %s\n", node->number, what);
}

/**
 * lnd_host_node_run() - What each round of a node's thread does between messages and engines.
 * @node: the node.
 * @now: the time.
 *
 * Context: the node's thread.
 * Return: when the next round is due; LND_NEVER: not by time.
 */
u64 lnd_host_node_run(struct lnd_host_node *node, u64 now)
{
	u64 next = LND_NEVER;
	u32 state;

	/* This run is what was asked for so far, by the frames before it, too: a full barrier. */
	test_and_clear_bit(LND_HOST_DUE, &node->flags);
	lnd_run(node->ni, now, REPORTS, &next);
	if (next == LND_NEVER && !lnd_run_state_get(node->ni, &state) &&
	    state == LND_QUIESCENT) {
		lnd_upper_quiescent(node);
		complete_all(&node->quiescent);
	}
	next = min(next, lnd_upper_run(node, now));
	return min(next, lnd_host_changes_log(node, now));
}

static bool lnd_host_node_woken(struct lnd_host_node *node)
{
	return test_and_clear_bit(LND_HOST_WORK, &node->flags) ||
	       test_bit(LND_HOST_DUE, &node->flags) || kthread_should_stop();
}

/*
 * Looks for work for a while, if the operator has asked for that: what comes meanwhile wakes no
 * thread. Returns whether there is some. Another thread that wants the processor gets it.
 */
static bool lnd_host_node_look(struct lnd_host_node *node, u64 left)
{
	u64 most = min(READ_ONCE(lnd_host_busy_poll_us), LND_HOST_BUSY_POLL_MOST) *
		   (u64)NSEC_PER_USEC;
	u64 begun;

	if (!most)
		return false;
	most = min(most, left);
	begun = local_clock();
	do {
		if (lnd_host_node_woken(node))
			return true;
		cpu_relax();
	} while (!need_resched() && local_clock() - begun < most);
	return false;
}

/**
 * lnd_host_node_rest() - Waits for the next event or time.
 * @node: the node, which has nothing to do.
 * @now: the time.
 * @next: when there is; LND_NEVER: not by time.
 *
 * Context: the node's thread.
 */
void lnd_host_node_rest(struct lnd_host_node *node, u64 now, u64 next)
{
	if (lnd_host_poll_ms)
		next = min(next, now + lnd_host_poll_ms * (u64)NSEC_PER_MSEC);
	if (lnd_host_node_look(node, next - now))
		return;
	/* One that wakes the thread too early costs less than setting it each time. */
	if (next != LND_NEVER && (next < node->due || !hrtimer_is_queued(&node->timer))) {
		node->due = next;
		hrtimer_start(&node->timer, ns_to_ktime(lnd_host_after(next)), HRTIMER_MODE_ABS);
	}
	wait_event_idle(node->wait, lnd_host_node_woken(node));
}
