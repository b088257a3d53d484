// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Operations: a PUT or a GET from start to end. */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "stub.h"

/*
 * stub_op_new() - A PUT or GET, not started. Its memory is made by stub_op_memory().
 *
 * Context: thread.
 * Return: the operation, or NULL.
 */
struct stub_op *stub_op_new(struct stub_ni *from, struct stub_ni *to, bool get, unsigned int length)
{
	u64 id;

	spin_lock_irq(&stub.lock);
	stub.next_id += stub.id_step;
	id = stub.next_id;
	spin_unlock_irq(&stub.lock);
	return stub_op_add(id, from, to, get, length);
}

/* The same with a number that is known. Context: thread. */
struct stub_op *stub_op_add(u64 id, struct stub_ni *from, struct stub_ni *to, bool get,
			    unsigned int length)
{
	struct stub_op *op = kzalloc(sizeof(*op), GFP_KERNEL);

	if (!op)
		return NULL;
	op->from = from;
	op->to = to;
	op->get = get;
	op->length = length;
	op->taken = length;
	op->target = to->ni.ni_nid;
	op->id = id;
	op->seed = id * 7919;
	if (xa_err(xa_store(&stub.ops, op->id, op, GFP_KERNEL))) {
		kfree(op);
		return NULL;
	}
	spin_lock_irq(&stub.lock);
	list_add_tail(&op->link, &stub.all_ops);
	spin_unlock_irq(&stub.lock);
	return op;
}

/* Pages at both ends, laid out differently. False: no memory. */
bool stub_op_memory(struct stub_op *op, unsigned int offset, unsigned int fragment)
{
	unsigned int source = op->get ? op->taken : op->length;
	unsigned int sink = op->get ? op->length : op->taken + STUB_SLACK;

	op->offset = offset;
	op->fragment = fragment;
	op->source = stub_memory_new(source, offset, fragment, op->seed, true);
	op->sink = stub_memory_new(sink, fragment ? offset / 2 : 0, offset ? fragment / 2 : 0, 0,
				   false);
	if (op->router && !op->get)
		op->bounce = stub_memory_new(op->length, 0, 0, 0, false);
	return op->source && op->sink && (op->bounce || !op->router || op->get);
}

/* Gives the LND the operation's first message, or queues it for a credit. Context: thread. */
void stub_op_start(struct stub_op *op)
{
	struct stub_msg *msg;

	if (!op->source && !stub_op_memory(op, 0, 0))
		return;
	msg = stub_msg_new(op, op->get ? STUB_SEND_GET : STUB_SEND_PUT, op->from,
			   op->get ? NULL : op->source, op->length);
	if (!msg)
		return;
	stub_msg_header(msg, op->get ? LNET_MSG_GET : LNET_MSG_PUT);
	if (op->get)
		msg->msg.msg_md = &op->sink->md;
	msg->msg.msg_target_is_router = op->router;
	stub_msg_post(msg);
}

/* The sender's part, apart from the end of its own message: does something come back? */
static bool stub_op_returned(struct stub_op *op)
{
	if (op->decision == STUB_NO_MATCH || op->decision == STUB_REFUSE)
		return true;
	return ((!op->get && !op->router) || op->received) &&
	       (!op->ack || op->parsed[LNET_MSG_ACK]);
}

bool stub_op_done(struct stub_op *op)
{
	bool done;

	spin_lock_irq(&stub.lock);
	done = !op->open && (op->refused || op->failed ||
			     ((op->mirror || (op->sent && stub_op_returned(op))) &&
			      (op->to->remote || op->served)));
	spin_unlock_irq(&stub.lock);
	return done;
}

static void stub_op_overdue(struct stub_op *op)
{
	const char *what = op->get ? "GET" : "PUT";
	struct stub_msg *msg;
	int never = 0;

	spin_lock_irq(&stub.lock);
	list_for_each_entry(msg, &stub.all_msgs, all)
		if (msg->op == op && (msg->state == STUB_GIVEN || msg->state == STUB_ACCEPTED)) {
			msg->reported = true;
			never++;
		}
	spin_unlock_irq(&stub.lock);
	if (stub.credits)
		stub_violation(STUB_CREDITS_LOST, "%s %llu stands still", what, op->id);
	else if (never)
		stub_violation(STUB_FINALIZED_NEVER, "%s %llu: %d messages after %u ms", what,
			       op->id, never, stub_limit_ms);
	else if (op->sent || op->mirror)
		stub_violation(STUB_LOST, "%s %llu ended well and has not arrived", what, op->id);
}

/*
 * stub_op_back() - Sends as much back as an operation says, long enough to stay under way.
 * @ops: NULL, or gets what is sent
 *
 * Context: within lnet_parse() of the operation.
 * Return: the number of operations.
 */
unsigned int stub_op_back(struct stub_op *op, struct stub_op **ops)
{
	unsigned int count;

	for (count = 0; count < op->back; count++) {
		struct stub_op *back = stub_op_new(op->to, op->from, false, 9000);

		if (!back)
			break;
		if (ops)
			ops[count] = back;
		stub_op_start(back);
	}
	return count;
}

/*
 * stub_op_wait() - Waits for the end of an operation; if it does not come, that is a violation.
 *
 * Context: thread.
 * Return: true if it has ended.
 */
bool stub_op_wait(struct stub_op *op)
{
	unsigned long limit = stub_limit();

	op->waited = true;
	/* Of what fails the LND's own limit may be the end. */
	if (op->may_fail && stub.lnd->lnd_get_timeout)
		limit += cfs_time_seconds(max(stub.lnd->lnd_get_timeout(), 0));
	if (wait_event_timeout(stub.changed, stub_op_done(op), limit))
		return true;
	stub_op_overdue(op);
	return false;
}

/* The end of a case: no NI is up. What memory had ended must be as it was then. */
void stub_ops_forget(void)
{
	struct stub_op *op, *next;

	list_for_each_entry_safe(op, next, &stub.all_ops, link) {
		stub_memory_watch(op->source, "source");
		stub_memory_watch(op->sink, "sink");
		stub_memory_watch(op->bounce, "router's buffer");
		stub_memory_free(op->source);
		stub_memory_free(op->sink);
		stub_memory_free(op->bounce);
		op->source = NULL;
		op->sink = NULL;
		op->bounce = NULL;
		xa_erase(&stub.ops, op->id);
		list_move(&op->link, &stub.old_ops);
	}
}
