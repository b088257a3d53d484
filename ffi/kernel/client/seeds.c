// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Seeded defects and misuse, for tests: built only with LND_CFLAGS=-DLND_HOST_SEEDS. Each defect
 * must be found by a debug kernel; each misuse must be refused by the library.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "client.h"

#ifdef LND_HOST_SEEDS

/* The library reads a frame that was freed. */
static void lnd_host_seed_uaf(struct lnd_host_node *node)
{
	struct lnd_arrival arrival = { .size = sizeof(arrival) };
	u8 *frame = kzalloc(256, GFP_KERNEL);

	if (!frame)
		return;
	memcpy(frame, node->frame, min_t(size_t, 256, node->frame_bytes));
	kfree(frame);
	lnd_frame_in(node->ni, 0, LND_NID_UNKNOWN, frame, 256, lnd_host_now(), &arrival);
}

/*
 * The library works on an NI that was freed. It is a copy, and only the NI itself is freed, because
 * everything it points to is the node's.
 */
static void lnd_host_seed_ni(struct lnd_host_node *node)
{
	size_t bytes = node->ni_memory + node->ni_bytes - (void *)node->ni;
	/* A power of two is aligned to itself; KASAN writes to the first bytes of free memory. */
	void *memory = kmalloc(roundup_pow_of_two(LND_ALIGN + bytes), GFP_KERNEL);
	void *copy = memory + LND_ALIGN;
	u32 state = 0;

	if (!memory)
		return;
	memcpy(copy, node->ni, bytes);
	kfree(memory);
	lnd_run_state_get(copy, &state);
}

/* The library writes its answer to memory with room for half of it. */
static void lnd_host_seed_oob(struct lnd_host_node *node)
{
	void *half = kmalloc(sizeof(u32) / 2, GFP_KERNEL);

	if (half)
		lnd_run_state_get(node->ni, half);
	kfree(half);
}

/* Allocates memory that may wait, with the node's lock held. */
static void lnd_host_seed_sleep(struct lnd_host_node *node)
{
	void *memory;

	spin_lock_bh(&node->lock);
	memory = kzalloc(64, GFP_KERNEL);
	spin_unlock_bh(&node->lock);
	kfree(memory);
}

/* Takes two locks in both orders. */
static void lnd_host_seed_lock(struct lnd_host_node *node)
{
	spin_lock_bh(&node->lock);
	spin_lock(&node->upper->lock);
	spin_unlock(&node->upper->lock);
	spin_unlock_bh(&node->lock);

	spin_lock_bh(&node->upper->lock);
	spin_lock(&node->lock);
	spin_unlock(&node->lock);
	spin_unlock_bh(&node->upper->lock);
}

static u32 lnd_host_raced;

static int lnd_host_racer(void *unused)
{
	while (!kthread_should_stop()) {
		lnd_host_raced++;
		cond_resched();
	}
	return 0;
}

/* Two threads count in the same variable. */
static void lnd_host_seed_race(struct lnd_host_node *node)
{
	struct task_struct *one = kthread_run(lnd_host_racer, NULL, "lnd_racer/0");
	struct task_struct *other = kthread_run(lnd_host_racer, NULL, "lnd_racer/1");

	msleep(2000);
	if (!IS_ERR(one))
		kthread_stop(one);
	if (!IS_ERR(other))
		kthread_stop(other);
}

static void *lnd_host_lost;

static void lnd_host_seed_leak(struct lnd_host_node *node)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		lnd_host_lost = kmalloc(1000, GFP_KERNEL);
	kfree(lnd_host_lost);
	lnd_host_lost = NULL;
}

/* The results of calls for threads that an interrupt makes. */
struct lnd_host_trespass {
	struct irq_work work;
	struct lnd_host_node *node;
	enum lnd_error error;
};

static void lnd_host_trespass(struct irq_work *work)
{
	struct lnd_host_trespass *it = container_of(work, struct lnd_host_trespass, work);

	it->error = lnd_run(it->node->ni, lnd_host_now(), 1, NULL);
}

static int lnd_host_expect(const char *what, enum lnd_error error, enum lnd_error expected)
{
	if (error == expected)
		return 0;
	pr_info("misuse: %s: %s, not %s\n", what, lnd_error_name(error),
		lnd_error_name(expected));
	return -EIO;
}

static int lnd_host_misuse(struct lnd_host_node *node)
{
	struct lnd_host_trespass it = { .node = node };
	struct lnd_send_request request = { .size = sizeof(request), .link = LND_ANY_LINK };
	struct lnd_transfer nothing = {};
	u64 now = lnd_host_now();
	int rc = 0;

	init_irq_work(&it.work, lnd_host_trespass);
	irq_work_queue(&it.work);
	irq_work_sync(&it.work);
	rc |= lnd_host_expect("run in an interrupt", it.error, LND_E_CONTEXT);
	rc |= lnd_host_expect("no NI", lnd_run(NULL, now, 1, NULL), LND_E_NULL);
	rc |= lnd_host_expect("what is no NI", lnd_run((void *)node->frame, now, 1, NULL),
			      LND_E_NI);
	rc |= lnd_host_expect("no request", lnd_submit(node->ni, NULL, now, NULL, NULL),
			      LND_E_NULL);
	rc |= lnd_host_expect("no kind", lnd_submit(node->ni, &request, now, NULL, NULL),
			      LND_E_ARGUMENT);
	request.size--;
	rc |= lnd_host_expect("another size", lnd_submit(node->ni, &request, now, NULL, NULL),
			      LND_E_SIZE);
	rc |= lnd_host_expect("no transfer", lnd_withdraw(node->ni, nothing, now), LND_E_STALE);
	rc |= lnd_host_expect("no link", lnd_interrupt(node->ni, 99, 1, now, NULL), LND_E_LINK);
	rc |= lnd_host_expect("no budget", lnd_interrupt(node->ni, 0, 0, now, NULL),
			      LND_E_ARGUMENT);
	rc |= lnd_host_expect("destroyed alive", lnd_ni_destroy(node->ni), LND_E_RUNNING);
	return rc;
}

/**
 * lnd_host_seed() - Makes an error that must be found.
 * @node: the node.
 * @what: the error.
 *
 * Context: thread, with fabric->control, so that the node stays alive.
 * Return: 0, -EIO if a misuse was not refused, -EINVAL.
 */
int lnd_host_seed(struct lnd_host_node *node, const char *what)
{
	const struct {
		const char *name;
		void (*sow)(struct lnd_host_node *node);
	} seeds[] = {
		{ "uaf", lnd_host_seed_uaf },	{ "ni", lnd_host_seed_ni },
		{ "oob", lnd_host_seed_oob },	{ "sleep", lnd_host_seed_sleep },
		{ "lock", lnd_host_seed_lock },	{ "leak", lnd_host_seed_leak },
		{ "race", lnd_host_seed_race },
	};
	unsigned int i;

	if (!strcmp(what, "misuse"))
		return lnd_host_misuse(node);
	for (i = 0; i < ARRAY_SIZE(seeds); i++) {
		if (!strcmp(what, seeds[i].name)) {
			seeds[i].sow(node);
			return 0;
		}
	}
	return -EINVAL;
}

#else

int lnd_host_seed(struct lnd_host_node *node, const char *what)
{
	return -EOPNOTSUPP;
}

#endif
