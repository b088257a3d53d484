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
static bool stub_case_up;

static const struct stub_case * const stub_tables[] = {
	stub_cases, stub_more_cases, stub_error_cases,
};

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

static void stub_case_begin(const struct stub_case *one)
{
	memset(stub.seen, 0, sizeof(stub.seen));
	stub.case_name = one->name;
	stub.credits = false;
	stub.eager_calls = 0;
	/* The other machine's NI is there when this one's cases begin. */
	stub_case_up = (one->starts_by_itself && !stub.far) || stub_nis_start();
}

static const char *stub_case_run(const struct stub_case *one)
{
	return stub_case_up && (!stub.far || one->both) ? one->run() : NULL;
}

static void stub_case_result(const struct stub_case *one, const char *why)
{
	char names[256] = "";
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < STUB_VIOLATION_COUNT; i++)
		if (stub.seen[i])
			used += scnprintf(names + used, sizeof(names) - used, " %s*%u",
					  stub_violation_name(i), stub.seen[i]);
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

static void stub_case_end(const struct stub_case *one, const char *why)
{
	unsigned int i;

	if (stub_between())
		stub_delayed_release(NULL, false);
	flush_work(&stub.leave);
	for (i = 0; i < STUB_NIS; i++)
		stub_ni_stop(i);
	cancel_delayed_work_sync(&stub.release);
	flush_workqueue(stub.work);
	if (stub_between())
		stub_between_end();
	stub_ops_forget();
	stub.case_name = NULL;
	stub_case_result(one, why);
}

/* "start", "stop": both NIs without a case, for what only the LND's own files can do to them. */
static int stub_run_start(void)
{
	return stub.nis[0] || stub.nis[1] ? -EBUSY : stub_nis_start() ? 0 : -EIO;
}

static void stub_run_stop(void)
{
	unsigned int i;

	for (i = 0; i < STUB_NIS; i++)
		stub_ni_stop(i);
}

static const struct stub_case *stub_case_of(const char *name)
{
	const struct stub_case *one;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stub_tables); i++)
		for (one = stub_tables[i]; one->name; one++)
			if (!strcmp(name, one->name))
				return one;
	return NULL;
}

static void stub_run_reset(void)
{
	stub_report_used = 0;
	stub_passed = 0;
	stub_failed = 0;
	stub_not_applicable = 0;
}

static void stub_run_summary(void)
{
	stub_say("SUMMARY: %u passed, %u failed, %u not applicable\n", stub_passed, stub_failed,
		 stub_not_applicable);
}

/* All cases, or one by its name, with both NIs here. */
static int stub_run_cases(const char *name)
{
	const struct stub_case *one;
	bool all = !strcmp(name, "all");
	unsigned int i;

	if (!all && !stub_case_of(name))
		return -ENOENT;
	if (stub.nis[0] || stub_between() || stub_interface_count != STUB_NIS)
		return -EBUSY;
	stub_run_reset();
	for (i = 0; i < ARRAY_SIZE(stub_tables); i++)
		for (one = stub_tables[i]; one->name; one++)
			if (all || !strcmp(name, one->name)) {
				stub_case_begin(one);
				stub_case_end(one, stub_case_run(one));
			}
	stub_run_summary();
	return 0;
}

/*
 * With two machines, one of them "near" and the other "far", a case has three steps in each, and
 * each waits for the other machine's step before: "begin CASE", "go", and, when each has written
 * the other one's ledger into its own, "end".
 */
static int stub_run_between(const char *word, const char *rest)
{
	static const struct stub_case *one;
	static const char *why;

	if (!strcmp(word, "near") || !strcmp(word, "far")) {
		stub_run_reset();
		if (stub.nis[0] || stub_interface_count != 1)
			return -EBUSY;
		return stub_between_with(!strcmp(word, "far"), rest);
	}
	if (!stub_between())
		return -ENOENT;
	if (!strcmp(word, "begin")) {
		one = stub_case_of(rest);
		if (!one || stub.case_name)
			return -EINVAL;
		why = one->alone ? "it has nothing between two machines" : NULL;
		if (why)
			stub_case_result(one, why);
		else
			stub_case_begin(one);
		return why ? -EOPNOTSUPP : 0;
	}
	if (!strcmp(word, "summary")) {
		stub_run_summary();
		return 0;
	}
	if (!stub.case_name)
		return -EINVAL;
	if (!strcmp(word, "go"))
		why = stub_case_run(one);
	else if (!strcmp(word, "end"))
		stub_case_end(one, why);
	else
		return -ENOENT;
	return 0;
}

static int stub_run(char *line)
{
	char *word = strsep(&line, " ");

	if (!stub.lnd)
		return -ENODEV;
	if (!strcmp(word, "start"))
		return stub_run_start();
	if (!strcmp(word, "stop")) {
		stub_run_stop();
		return 0;
	}
	if (line || stub_between())
		return stub_run_between(word, line ?: "");
	return stub_run_cases(word);
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
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stub_tables); i++)
		for (one = stub_tables[i]; one->name; one++)
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
			seq_printf(file, "%s %s fatal %d status %s\n",
				   stub.nis[i]->ni.ni_interface,
				   libcfs_nidstr(&stub.nis[i]->ni.ni_nid),
				   atomic_read(&stub.nis[i]->ni.ni_fatal_error_on),
				   stub_ni_list(stub.nis[i]) ? "up" : "down");
	seq_printf(file, "relisted %u\n", stub.relisted);
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
	stub_between_init();
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
	debugfs_create_file("ledger", 0600, stub_files, NULL, &stub_ledger_fops);
	return 0;
}
module_init(stub_init);

/* LNDs use this module's symbols, so none is left. */
static void __exit stub_exit(void)
{
	struct stub_op *op, *next;

	debugfs_remove(stub_files);
	stub_between_exit();
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
