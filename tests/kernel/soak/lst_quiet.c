// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * lnet_selftest waits in one work item for another one of the same lock class, and takes the locks
 * of all parts of a service when that ends. lockdep takes either for a deadlock, and looks at
 * nothing afterwards. So it does not look at a thread while the thread is in these functions.
 */
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/module.h>

static int lst_quiet_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	lockdep_off();
	return 0;
}

static int lst_quiet_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	lockdep_on();
	return 0;
}

#define LST_QUIET(name) {				\
	.kp.symbol_name = name,				\
	.entry_handler = lst_quiet_enter,		\
	.handler = lst_quiet_leave,			\
	.maxactive = 256,				\
}

static struct kretprobe lst_quiet[] = {
	LST_QUIET("sfw_create_test_rpc"),
	LST_QUIET("srpc_shutdown_service"),
};

static struct kretprobe *lst_quiet_list[] = { &lst_quiet[0], &lst_quiet[1] };

static int __init lst_quiet_init(void)
{
	return register_kretprobes(lst_quiet_list, ARRAY_SIZE(lst_quiet_list));
}

static void __exit lst_quiet_exit(void)
{
	unregister_kretprobes(lst_quiet_list, ARRAY_SIZE(lst_quiet_list));
}

module_init(lst_quiet_init);
module_exit(lst_quiet_exit);
MODULE_DESCRIPTION("lockdep goes on where lnet_selftest waits for its own kind");
MODULE_LICENSE("Dual MIT/GPL");
