// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The links' engines, each in a thread that acts as the device, and the interrupts they raise: an
 * irq_work, which is a hard interrupt, or a tasklet, which is a softirq, by the parameter
 * "completion".
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/sizes.h>

#include "lnd_host.h"

#define STEPS	64	/* pieces of work in one step */
#define CHUNK	SZ_64K	/* bytes of each pull in one step */
#define BUDGET	64	/* completions in one interrupt */

static void lnd_host_raise(struct lnd_host_link *link)
{
	if (lnd_host_softirq)
		tasklet_schedule(&link->soft);
	else
		irq_work_queue(&link->hard);
}

/* A link's interrupt. It takes no lock that a thread takes. */
static void lnd_host_serve(struct lnd_host_link *link)
{
	u32 more = 0;

	spin_lock(&link->serving);
	WRITE_ONCE(link->interrupts, link->interrupts + 1);
	lnd_interrupt(link->node->ni, link->number, BUDGET, lnd_host_now(), &more);
	spin_unlock(&link->serving);
	if (more)
		lnd_host_raise(link);
}

static void lnd_host_hard(struct irq_work *work)
{
	lnd_host_serve(container_of(work, struct lnd_host_link, hard));
}

static void lnd_host_soft(struct tasklet_struct *tasklet)
{
	lnd_host_serve(container_of(tasklet, struct lnd_host_link, soft));
}

static bool lnd_host_link_woken(struct lnd_host_link *link)
{
	return test_and_clear_bit(LND_HOST_WORK, &link->flags) || kthread_should_stop();
}

/**
 * lnd_host_link_step() - Does a piece of an engine's work.
 * @link: the link.
 *
 * Context: thread; the engine's, or the node's.
 * Return: whether the engine's thread has more to do; also if another thread is at it.
 */
bool lnd_host_link_step(struct lnd_host_link *link)
{
	struct lnd_soft_progress progress = { .size = sizeof(progress) };

	if (test_and_set_bit_lock(LND_HOST_STEPS, &link->flags))
		return true;
	lnd_soft_engine_step(link->engine, lnd_host_now(), STEPS, &progress);
	WRITE_ONCE(link->bytes, link->bytes + progress.bytes);
	WRITE_ONCE(link->violations, progress.violations);
	clear_bit_unlock(LND_HOST_STEPS, &link->flags);
	lnd_host_ring(link->node->fabric, progress.ring);
	if (progress.interrupts)
		lnd_host_raise(link);
	return progress.busy;
}

static int lnd_host_engine(void *data)
{
	struct lnd_host_link *link = data;
	unsigned long poll = MAX_SCHEDULE_TIMEOUT;

	if (lnd_host_poll_ms)
		poll = msecs_to_jiffies(lnd_host_poll_ms);
	while (!kthread_should_stop()) {
		if (lnd_host_link_step(link))
			cond_resched();
		else
			wait_event_idle_timeout(link->wait, lnd_host_link_woken(link), poll);
	}
	return 0;
}

/**
 * lnd_host_link_start() - Starts a link's engine. The NI exists.
 * @link: the link.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_host_link_start(struct lnd_host_link *link)
{
	struct lnd_host_node *node = link->node;
	struct task_struct *thread;
	enum lnd_error error;

	link->engine_memory = lnd_host_alloc(lnd_soft_engine_size(), LND_HOST_MAY_WAIT,
					     LND_HOST_AT_ENGINE_MEMORY);
	if (!link->engine_memory)
		return -ENOMEM;
	error = lnd_host_fault(LND_HOST_AT_ENGINE) ? LND_E_BUSY :
		lnd_soft_engine_create(link->engine_memory, lnd_soft_engine_size(), node->soft_node,
				       link->number, CHUNK, 0, &link->engine);
	if (error)
		return lnd_error_errno(error);
	init_irq_work(&link->hard, lnd_host_hard);
	if (lnd_host_softirq)
		tasklet_setup(&link->soft, lnd_host_soft);
	link->flags = 0;
	link->gone = false;
	thread = lnd_host_thread(lnd_host_engine, link, "lnd_eng", node->number, link->number,
				 LND_HOST_AT_ENGINE_THREAD);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	link->thread = thread;
	lnd_host_thread_bind(thread, node->cpus);
	wake_up_process(thread);
	return 0;
}

/**
 * lnd_host_link_stop() - Ends a link's engine, which raises no interrupt afterwards.
 * @link: the link; may be not started.
 *
 * Context: thread.
 */
void lnd_host_link_stop(struct lnd_host_link *link)
{
	if (link->thread) {
		if (!lnd_host_loses("stop"))
			lnd_host_thread_stop(link->thread);
		irq_work_sync(&link->hard);
		if (lnd_host_softirq)
			tasklet_kill(&link->soft);
	}
	link->thread = NULL;
	if (link->engine)
		lnd_soft_engine_destroy(link->engine);
	link->engine = NULL;
	lnd_host_free(link->engine_memory, lnd_soft_engine_size());
	link->engine_memory = NULL;
}
