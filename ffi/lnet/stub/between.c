// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Two machines, each with a stub and one NI. One leads: it runs a case from its NI to the other
 * one's. The other machine is far: of each header that comes it makes its own half of the operation
 * and checks it alone. What only both know together is what the sender was told: each machine's
 * ledger says it of its own operations, and is written into the other machine's.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "stub.h"

/* What a ledger says of an operation. */
enum stub_told {
	STUB_TOLD_WELL,		/* it ended well, and no NI was going: it has arrived */
	STUB_TOLD_FAILED,	/* it may have */
	STUB_TOLD_REFUSED,	/* by lnd_send(): it may not */
	STUB_TOLD_SIMULATED,	/* it was to fail: it may not */
	STUB_TOLD_COUNT
};

static const char * const stub_told_names[] = { "well", "failed", "refused", "simulated" };

static enum stub_told stub_tell(const struct stub_op *op)
{
	if (op->simulated)
		return STUB_TOLD_SIMULATED;
	if (op->refused)
		return STUB_TOLD_REFUSED;
	/* A case whose NIs go in the middle of it waits for none. */
	if (op->may_fail && !op->waited)
		return STUB_TOLD_FAILED;
	return op->sent && !op->sent_status ? STUB_TOLD_WELL : STUB_TOLD_FAILED;
}

/* An operation of this machine's that the other one can know. */
static bool stub_is_ours(const struct stub_op *op)
{
	return !op->mirror && op->to->remote && nid_same(&op->target, &op->to->ni.ni_nid);
}

static int stub_ledger_show(struct seq_file *file, void *unused)
{
	unsigned long id;
	struct stub_op *op;

	/* What lnet_parse() has sent has no case that waits for it. */
	xa_for_each(&stub.ops, id, op)
		if (stub_is_ours(op) && !op->waited && !op->may_fail)
			stub_op_wait(op);
	xa_for_each(&stub.ops, id, op)
		if (stub_is_ours(op))
			seq_printf(file, "%lu %s\n", id, stub_told_names[stub_tell(op)]);
	return 0;
}

static int stub_ledger_open(struct inode *inode, struct file *file)
{
	/* Room for it at once: it is said only once. */
	return single_open_size(file, stub_ledger_show, NULL, 32768);
}

/* A line of the other machine's ledger. What has ended well there comes, if it is not here yet. */
static int stub_ledger_line(char *line)
{
	struct stub_op *op;
	char word[16];
	int told, id;

	if (sscanf(line, "%d %15s", &id, word) != 2)
		return -EINVAL;
	told = match_string(stub_told_names, STUB_TOLD_COUNT, word);
	if (told < 0 || id <= 0)
		return -EINVAL;
	if (xa_err(xa_store(&stub.told, id, xa_mk_value(told), GFP_KERNEL)))
		return -ENOMEM;
	if (told != STUB_TOLD_WELL)
		return 0;
	wait_event_timeout(stub.changed, xa_load(&stub.ops, id), stub_limit());
	op = xa_load(&stub.ops, id);
	if (op)
		stub_op_wait(op);
	else
		stub_violation(STUB_LOST, "%d ended well and has not arrived", id);
	return 0;
}

static ssize_t stub_ledger_write(struct file *file, const char __user *from, size_t count,
				 loff_t *at)
{
	char line[64] = "";
	int rc;

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, count))
		return -EFAULT;
	if (!stub_between() || !stub.case_name)
		return -ENODEV;
	rc = stub_ledger_line(line);
	return rc ?: count;
}

const struct file_operations stub_ledger_fops = {
	.owner = THIS_MODULE,
	.open = stub_ledger_open,
	.read = seq_read,
	.write = stub_ledger_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/*
 * stub_between_with() - From now on the other NI is in another machine.
 * @far: whether that machine leads
 * @nid: as the file nis has it there
 *
 * Context: thread; no NI is up.
 * Return: 0 or -EINVAL.
 */
int stub_between_with(bool far, const char *nid)
{
	unsigned int address, type, number;

	if (sscanf(nid, "%u@<%u:%u>", &address, &type, &number) != 3 || !type || type > U8_MAX)
		return -EINVAL;
	lnet_nid4_to_nid(LNET_MKNID(LNET_MKNET(type, number), address), &stub.peer);
	stub.far = far;
	/* An operation's number says in which machine it began. */
	stub.id_step = 2;
	stub.next_id = far;
	return 0;
}

static void stub_release_work(struct work_struct *unused)
{
	stub_delayed_release(NULL, false);
}

static void stub_leave_work(struct work_struct *unused)
{
	stub_ni_stop(0);
}

/*
 * stub_between_end() - The end of a case, with no NI up: what has arrived was sent, and well.
 *
 * Context: thread.
 */
void stub_between_end(void)
{
	struct stub_op *op;
	unsigned long id;

	xa_for_each(&stub.ops, id, op) {
		void *told = xa_load(&stub.told, id);

		if (!op->mirror)
			continue;
		if (!told)
			stub_violation(STUB_HEADER_WRONG, "%lu was never sent", id);
		else if (xa_to_value(told) == STUB_TOLD_REFUSED)
			stub_violation(STUB_PARSED_REFUSED, "lnd_send() had refused %lu", id);
		else if (xa_to_value(told) == STUB_TOLD_SIMULATED)
			stub_violation(STUB_SIMULATION_IGNORED, "%lu was to fail, and has arrived",
				       id);
	}
	xa_destroy(&stub.told);
}

void stub_between_init(void)
{
	stub.id_step = 1;
	xa_init(&stub.told);
	INIT_DELAYED_WORK(&stub.release, stub_release_work);
	INIT_WORK(&stub.leave, stub_leave_work);
}

void stub_between_exit(void)
{
	cancel_delayed_work_sync(&stub.release);
	xa_destroy(&stub.told);
}
