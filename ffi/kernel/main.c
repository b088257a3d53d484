// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Parameters, loading, unloading, and the account of memory. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "lnd_host.h"

unsigned int lnd_host_slots = 128;
module_param_named(slots, lnd_host_slots, uint, 0444);
MODULE_PARM_DESC(slots, "transfers at once of each node");

unsigned int lnd_host_drain_ms = 500;
module_param_named(drain_ms, lnd_host_drain_ms, uint, 0444);
MODULE_PARM_DESC(drain_ms, "ms within which a recalled descriptor must be back");

unsigned int lnd_host_deadline_ms = 5000;
module_param_named(deadline_ms, lnd_host_deadline_ms, uint, 0444);
MODULE_PARM_DESC(deadline_ms, "ms that a message has, over all its waits");

unsigned int lnd_host_poll_ms;
module_param_named(poll_ms, lnd_host_poll_ms, uint, 0444);
MODULE_PARM_DESC(poll_ms, "look for messages this often, for peers that ring nobody; 0: never");

static char *completion = "hard";
module_param(completion, charp, 0444);
MODULE_PARM_DESC(completion, "where completions are taken: hard (interrupt) or soft (tasklet)");

static char *transport = "loop";
module_param(transport, charp, 0444);
MODULE_PARM_DESC(transport, "loop (all nodes in this kernel) or ivshmem (PCI device)");

bool lnd_host_softirq;

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

static int __init lnd_host_check(void)
{
	if (lnd_host_slots < 8 || lnd_host_slots > 4096 || !lnd_host_drain_ms ||
	    !lnd_host_deadline_ms)
		return -EINVAL;
	if (strcmp(completion, "hard") && strcmp(completion, "soft"))
		return -EINVAL;
	lnd_host_softirq = !strcmp(completion, "soft");
	if (lnd_abi_version() != LND_ABI_VERSION) {
		pr_err("library speaks version %u, header %u\n", lnd_abi_version(),
		       LND_ABI_VERSION);
		return -EINVAL;
	}
	return 0;
}

static bool lnd_host_is_loop(void)
{
	return !strcmp(transport, "loop");
}

static int __init lnd_host_init(void)
{
	int rc = lnd_host_check();

	if (rc)
		return rc;
	lnd_host_debugfs_init();
	if (lnd_host_is_loop())
		rc = lnd_host_loop_init();
	else if (!strcmp(transport, "ivshmem"))
		rc = lnd_host_pci_init();
	else
		rc = -EINVAL;
	if (rc)
		lnd_host_debugfs_exit();
	return rc;
}

static void __exit lnd_host_exit(void)
{
	long bytes, pages, ops;

	if (lnd_host_is_loop())
		lnd_host_loop_exit();
	else
		lnd_host_pci_exit();
	lnd_host_debugfs_exit();
	lnd_host_account(&bytes, &pages, &ops);
	pr_info("unloaded; %ld bytes, %ld pages, %ld messages not given back\n", bytes, pages, ops);
	WARN_ON(bytes || pages || ops);
}

module_init(lnd_host_init);
module_exit(lnd_host_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_AUTHOR("The LND project's authors");
MODULE_DESCRIPTION("LND over software hardware: loop and ivshmem");
