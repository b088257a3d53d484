// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Memory, and the account of it. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "lnd_host.h"

static atomic_long_t lnd_host_bytes;
static atomic_long_t lnd_host_pages;
static atomic_long_t lnd_host_ops_held;

/**
 * lnd_host_alloc() - Zeroed memory.
 * @bytes: how much.
 *
 * Context: thread.
 * Return: the memory or NULL.
 */
void *lnd_host_alloc(size_t bytes)
{
	void *memory = kvzalloc(bytes, GFP_KERNEL | __GFP_NOWARN);

	if (memory)
		atomic_long_add(bytes, &lnd_host_bytes);
	return memory;
}

/**
 * lnd_host_free() - Frees memory.
 * @memory: from lnd_host_alloc(), or NULL.
 * @bytes: how much it was.
 *
 * Context: thread.
 */
void lnd_host_free(void *memory, size_t bytes)
{
	if (!memory)
		return;
	atomic_long_sub(bytes, &lnd_host_bytes);
	kvfree(memory);
}

/**
 * lnd_host_page() - A page.
 *
 * Context: thread.
 * Return: the page or NULL.
 */
struct page *lnd_host_page(void)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_NOWARN);

	if (page)
		atomic_long_inc(&lnd_host_pages);
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
	atomic_long_dec(&lnd_host_pages);
	__free_page(page);
}

/**
 * lnd_host_op_alloc() - A zeroed message of the upper layer.
 *
 * Context: thread.
 * Return: the message or NULL.
 */
struct lnd_host_op *lnd_host_op_alloc(void)
{
	struct lnd_host_op *op = kzalloc(sizeof(*op), GFP_KERNEL | __GFP_NOWARN);

	if (op)
		atomic_long_inc(&lnd_host_ops_held);
	return op;
}

/**
 * lnd_host_op_free() - Frees a message.
 * @op: from lnd_host_op_alloc().
 *
 * Context: thread.
 */
void lnd_host_op_free(struct lnd_host_op *op)
{
	atomic_long_dec(&lnd_host_ops_held);
	kfree(op);
}

/**
 * lnd_host_account() - What is allocated now.
 * @bytes: bytes of lnd_host_alloc().
 * @pages: pages.
 * @ops: messages.
 *
 * Context: any.
 */
void lnd_host_account(long *bytes, long *pages, long *ops)
{
	*bytes = atomic_long_read(&lnd_host_bytes);
	*pages = atomic_long_read(&lnd_host_pages);
	*ops = atomic_long_read(&lnd_host_ops_held);
}
