// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Memory and threads, and the accounting for them. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/mm.h>
#include <linux/slab.h>

#include "lnd_host.h"

static atomic_long_t lnd_host_held[LND_HOST_HELD];

/**
 * lnd_host_hold() - Adds to the account.
 * @what: the kind of resource.
 * @count: how many more are held; negative: fewer.
 *
 * Context: any.
 */
void lnd_host_hold(enum lnd_host_held what, long count)
{
	atomic_long_add(count, &lnd_host_held[what]);
}

/**
 * lnd_host_holds() - How many of a resource are held now.
 * @what: the kind of resource.
 *
 * Context: any.
 * Return: the number.
 */
long lnd_host_holds(enum lnd_host_held what)
{
	return atomic_long_read(&lnd_host_held[what]);
}

#define BALANCE "%ld bytes, %ld pages, %ld messages, %ld threads, %ld interrupts not given back"

/**
 * lnd_host_balance() - Logs what the module still holds, which must be nothing.
 * @when: the event before.
 *
 * Context: thread.
 */
void lnd_host_balance(const char *when)
{
	bool left = false;
	unsigned int i;

	for (i = 0; i < LND_HOST_HELD; i++)
		left |= lnd_host_holds(i) != 0;
	pr_info("%s; " BALANCE "\n", when, lnd_host_holds(LND_HOST_HELD_BYTES),
		lnd_host_holds(LND_HOST_HELD_PAGES), lnd_host_holds(LND_HOST_HELD_OPS),
		lnd_host_holds(LND_HOST_HELD_THREADS), lnd_host_holds(LND_HOST_HELD_IRQS));
	WARN_ON(left);
}

/**
 * lnd_host_alloc() - Zeroed memory.
 * @bytes: the size.
 * @gfp: LND_HOST_MAY_WAIT or LND_HOST_NO_WAIT.
 * @point: the purpose.
 *
 * Context: thread.
 * Return: the memory or NULL.
 */
void *lnd_host_alloc(size_t bytes, gfp_t gfp, enum lnd_host_point point)
{
	void *memory = lnd_host_starves(gfp, point) ? NULL : kvzalloc(bytes, gfp);

	if (memory)
		lnd_host_hold(LND_HOST_HELD_BYTES, bytes);
	return memory;
}

/**
 * lnd_host_free() - Frees memory.
 * @memory: from lnd_host_alloc(), or NULL.
 * @bytes: the size of the allocation.
 *
 * Context: thread.
 */
void lnd_host_free(void *memory, size_t bytes)
{
	if (!memory)
		return;
	lnd_host_hold(LND_HOST_HELD_BYTES, -(long)bytes);
	kvfree(memory);
}

/**
 * lnd_host_page() - A page.
 * @gfp: as in lnd_host_alloc().
 *
 * Context: thread.
 * Return: the page or NULL.
 */
struct page *lnd_host_page(gfp_t gfp)
{
	struct page *page = lnd_host_starves(gfp, LND_HOST_AT_PAGE) ? NULL : alloc_page(gfp);

	if (page)
		lnd_host_hold(LND_HOST_HELD_PAGES, 1);
	return page;
}

/**
 * lnd_host_put_page() - Frees a page.
 * @page: from lnd_host_page().
 *
 * Context: thread.
 */
void lnd_host_put_page(struct page *page)
{
	lnd_host_hold(LND_HOST_HELD_PAGES, -1);
	__free_page(page);
}

/**
 * lnd_host_thread() - Makes a thread, which does not run yet.
 * @work: the thread's function.
 * @data: passed to @work.
 * @name: the first part of its name.
 * @node: a number, the second part.
 * @link: another one, the third part.
 * @point: the purpose.
 *
 * Context: thread.
 * Return: the thread or an error pointer.
 */
struct task_struct *lnd_host_thread(int (*work)(void *data), void *data, const char *name,
				    u32 node, u32 link, enum lnd_host_point point)
{
	struct task_struct *thread = lnd_host_fault(point) ? ERR_PTR(-EAGAIN) :
				     kthread_create(work, data, "%s/%u.%u", name, node, link);

	if (!IS_ERR(thread))
		lnd_host_hold(LND_HOST_HELD_THREADS, 1);
	return thread;
}

/**
 * lnd_host_thread_bind() - Lets a thread run on some processors only.
 * @thread: from lnd_host_thread(), before it runs.
 * @cpus: the processors; NULL: any. If all of them are offline, the thread runs anywhere.
 *
 * Context: thread.
 */
void lnd_host_thread_bind(struct task_struct *thread, const struct cpumask *cpus)
{
	if (cpus)
		set_cpus_allowed_ptr(thread, cpus);
}

/**
 * lnd_host_thread_stop() - Stops a thread and waits for its end.
 * @thread: from lnd_host_thread().
 *
 * Context: thread.
 */
void lnd_host_thread_stop(struct task_struct *thread)
{
	kthread_stop(thread);
	lnd_host_hold(LND_HOST_HELD_THREADS, -1);
}
