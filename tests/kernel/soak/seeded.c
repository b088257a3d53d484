// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Two defects, which a kernel that looks for bugs must report when this module is loaded. */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

static DEFINE_MUTEX(seeded_first);
static DEFINE_MUTEX(seeded_second);

static int __init seeded_init(void)
{
	char *freed = kmalloc(64, GFP_KERNEL);

	if (!freed)
		return -ENOMEM;
	kfree(freed);
	/* Use after free. */
	pr_info("seeded: %d\n", READ_ONCE(freed[8]));
	/* Locks in either order. */
	mutex_lock(&seeded_first);
	mutex_lock(&seeded_second);
	mutex_unlock(&seeded_second);
	mutex_unlock(&seeded_first);
	mutex_lock(&seeded_second);
	mutex_lock(&seeded_first);
	mutex_unlock(&seeded_first);
	mutex_unlock(&seeded_second);
	return 0;
}

static void __exit seeded_exit(void)
{
}

module_init(seeded_init);
module_exit(seeded_exit);
MODULE_DESCRIPTION("what a kernel that looks for bugs must find");
MODULE_LICENSE("Dual MIT/GPL");
