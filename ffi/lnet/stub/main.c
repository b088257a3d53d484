// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The module: runs cases on request, and reports. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "stub.h"

static DEFINE_MUTEX(stub_run_lock);
static char stub_report[16384];
static size_t stub_report_used;
static unsigned int stub_passed, stub_failed, stub_not_applicable;

static __printf(1, 2) void stub_say(const char *format, ...)
{
	char *line = stub_report + stub_report_used;
	va_list arguments;

	va_start(arguments, format);
	stub_report_used += vscnprintf(line, sizeof(stub_report) - stub_report_used, format,
				       arguments);
	va_end(arguments);
	pr_notice("CONFORMANCE %s", line);
}

static bool stub_case_start(const struct stub_case *one)
{
	unsigned int i;
	int rc;

	for (i = 0; i < STUB_NIS && !one->starts_by_itself; i++) {
		rc = stub_ni_start(i, stub_interfaces[i]);
		if (rc) {
			stub_violation(STUB_NI_START, "%s: %d", stub_interfaces[i], rc);
			return false;
		}
	}
	return true;
}

static void stub_case_run(const struct stub_case *one)
{
	const char *why = NULL;
	char names[256] = "";
	size_t used = 0;
	unsigned int i;

	memset(stub.seen, 0, sizeof(stub.seen));
	stub.case_name = one->name;
	stub.credits = false;
	stub.eager_calls = 0;
	if (stub_case_start(one))
		why = one->run();
	for (i = 0; i < STUB_NIS; i++)
		stub_ni_stop(i);
	flush_workqueue(stub.work);
	stub_ops_forget();
	for (i = 0; i < STUB_VIOLATION_COUNT; i++)
		if (stub.seen[i])
			used += scnprintf(names + used, sizeof(names) - used, " %s*%u",
					  stub_violation_name(i), stub.seen[i]);
	stub.case_name = NULL;
	if (used) {
		stub_failed++;
		stub_say("FAIL %s:%s\n", one->name, names);
	} else if (why) {
		stub_not_applicable++;
		stub_say("NOT-APPLICABLE %s: %s\n", one->name, why);
	} else {
		stub_passed++;
		stub_say("PASS %s: no violation\n", one->name);
	}
}

/* "start", "stop": both NIs without a case, for what only the LND's own files can do to them. */
static int stub_run_start(void)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < STUB_NIS && !rc; i++)
		rc = stub.nis[i] ? -EBUSY : stub_ni_start(i, stub_interfaces[i]);
	return rc;
}

static void stub_run_stop(void)
{
	unsigned int i;

	for (i = 0; i < STUB_NIS; i++)
		stub_ni_stop(i);
}

/* All cases, or one by its name. */
static int stub_run(const char *name)
{
	const struct stub_case *tables[] = { stub_cases, stub_more_cases };
	const struct stub_case *one;
	int found = 0;
	unsigned int i;

	if (!stub.lnd)
		return -ENODEV;
	if (!strcmp(name, "start"))
		return stub_run_start();
	if (!strcmp(name, "stop")) {
		stub_run_stop();
		return 0;
	}
	if (stub.nis[0] || stub.nis[1])
		return -EBUSY;
	stub_report_used = 0;
	stub_passed = 0;
	stub_failed = 0;
	stub_not_applicable = 0;
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (one = tables[i]; one->name; one++)
			if (!strcmp(name, "all") || !strcmp(name, one->name)) {
				found++;
				stub_case_run(one);
			}
	stub_say("SUMMARY: %u passed, %u failed, %u not applicable\n", stub_passed, stub_failed,
		 stub_not_applicable);
	return found ? 0 : -ENOENT;
}

static ssize_t stub_run_write(struct file *file, const char __user *from, size_t count, loff_t *at)
{
	char name[64] = "";
	int rc;

	if (count >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, from, count))
		return -EFAULT;
	mutex_lock(&stub_run_lock);
	rc = stub_run(strim(name));
	mutex_unlock(&stub_run_lock);
	return rc ?: count;
}

static const struct file_operations stub_run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = stub_run_write,
};

static int report_show(struct seq_file *file, void *unused)
{
	mutex_lock(&stub_run_lock);
	seq_write(file, stub_report, stub_report_used);
	mutex_unlock(&stub_run_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(report);

static int cases_show(struct seq_file *file, void *unused)
{
	const struct stub_case *one;

	for (one = stub_cases; one->name; one++)
		seq_printf(file, "%s\n", one->name);
	for (one = stub_more_cases; one->name; one++)
		seq_printf(file, "%s\n", one->name);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cases);

static int nis_show(struct seq_file *file, void *unused)
{
	unsigned int i;

	mutex_lock(&stub_run_lock);
	for (i = 0; i < STUB_NIS; i++)
		if (stub.nis[i])
			seq_printf(file, "%s %s fatal %d\n", stub.nis[i]->ni.ni_interface,
				   libcfs_nidstr(&stub.nis[i]->ni.ni_nid),
				   atomic_read(&stub.nis[i]->ni.ni_fatal_error_on));
	mutex_unlock(&stub_run_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nis);

static struct dentry *stub_files;

static int __init stub_init(void)
{
	spin_lock_init(&stub.lock);
	xa_init(&stub.ops);
	xa_init(&stub.msgs);
	INIT_LIST_HEAD(&stub.all_msgs);
	INIT_LIST_HEAD(&stub.all_nis);
	INIT_LIST_HEAD(&stub.all_ops);
	INIT_LIST_HEAD(&stub.old_ops);
	INIT_LIST_HEAD(&stub.delayed);
	init_waitqueue_head(&stub.changed);
	stub.work = alloc_workqueue("lnet_stub", 0, 0);
	if (!stub.work || !stub_util_init()) {
		if (stub.work)
			destroy_workqueue(stub.work);
		return -ENOMEM;
	}
	stub_files = debugfs_create_dir("lnet_stub", NULL);
	debugfs_create_file("run", 0200, stub_files, NULL, &stub_run_fops);
	debugfs_create_file("report", 0400, stub_files, NULL, &report_fops);
	debugfs_create_file("nis", 0400, stub_files, NULL, &nis_fops);
	debugfs_create_file("cases", 0400, stub_files, NULL, &cases_fops);
	return 0;
}
module_init(stub_init);

/* LNDs use this module's symbols, so none is left. */
static void __exit stub_exit(void)
{
	struct stub_op *op, *next;

	debugfs_remove(stub_files);
	destroy_workqueue(stub.work);
	stub_msgs_forget();
	stub_nis_forget();
	list_for_each_entry_safe(op, next, &stub.old_ops, link)
		kfree(op);
	xa_destroy(&stub.ops);
	stub_util_exit();
}
module_exit(stub_exit);

MODULE_DESCRIPTION("Upper layer that checks how LNDs keep LNet's contract");
MODULE_LICENSE("Dual MIT/GPL");
