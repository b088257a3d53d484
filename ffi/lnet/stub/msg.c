// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Messages on their way to the LND: made, queued for credits, given. */
#include <linux/sched.h>
#include <linux/slab.h>

#include "stub.h"

/*
 * stub_msg_new() - A message of an operation, which stays open until the message has ended.
 *
 * Context: thread.
 * Return: the message, or NULL.
 */
struct stub_msg *stub_msg_new(struct stub_op *op, enum stub_role role, struct stub_ni *ni,
			      struct stub_memory *memory, unsigned int length)
{
	struct stub_msg *msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	size_t kiov = memory ? sizeof(struct bio_vec) * memory->md.md_niov : 0;
	bool sending = role <= STUB_SEND_ROUTED;

	if (!msg)
		return NULL;
	msg->op = op;
	msg->role = role;
	msg->ni = ni;
	msg->state = STUB_QUEUED;
	msg->msg.msg_sending = sending;
	msg->msg.msg_receiving = !sending;
	*(sending ? &msg->msg.msg_txni : &msg->msg.msg_rxni) = &ni->ni;
	INIT_LIST_HEAD(&msg->msg.msg_list);
	if (memory) {
		msg->memory = memory;
		msg->length = length;
		msg->msg.msg_md = &memory->md;
		msg->msg.msg_len = length;
		msg->msg.msg_wanted = length;
		msg->msg.msg_offset = memory->offset;
		msg->msg.msg_niov = memory->md.md_niov;
		msg->msg.msg_kiov = memory->md.md_kiov;
		msg->kiov = kmemdup(memory->md.md_kiov, kiov + 1, GFP_KERNEL);
	}
	if (xa_err(xa_store(&stub.msgs, (unsigned long)&msg->msg >> 3, msg, GFP_KERNEL))) {
		kfree(msg->kiov);
		kfree(msg);
		return NULL;
	}
	spin_lock_irq(&stub.lock);
	list_add_tail(&msg->all, &stub.all_msgs);
	op->open++;
	spin_unlock_irq(&stub.lock);
	return msg;
}

/* Says what it is and where it goes. */
void stub_msg_header(struct stub_msg *msg, u32 type)
{
	struct stub_op *op = msg->op;
	bool there = type == LNET_MSG_PUT || type == LNET_MSG_GET;

	msg->msg.msg_type = type;
	msg->msg.msg_target.nid = there ? op->target : op->from->ni.ni_nid;
	msg->msg.msg_target.pid = LNET_PID_LUSTRE;
	msg->msg.msg_initiator = op->from->ni.ni_nid;
	stub_header(op, type, &msg->msg.msg_hdr);
}

/* A message that the LND does not have any more, or never had, without lnet_finalize(). */
void stub_msg_gone(struct stub_msg *msg)
{
	spin_lock_irq(&stub.lock);
	msg->state = STUB_REFUSED;
	msg->op->open--;
	if (msg->credit)
		msg->ni->in_flight--;
	msg->credit = false;
	spin_unlock_irq(&stub.lock);
	wake_up_all(&stub.changed);
}

static void stub_msg_send(struct stub_msg *msg)
{
	struct stub_op *op = msg->op;
	unsigned long begun = jiffies;
	bool ended;
	int rc;

	rc = stub.lnd->lnd_send(&msg->ni->ni, msg->msg.msg_private, &msg->msg);
	if (time_after(jiffies, begun + msecs_to_jiffies(stub_limit_ms / 4)))
		stub_violation(STUB_SEND_BLOCKS, "lnd_send() took %u ms",
			       jiffies_to_msecs(jiffies - begun));
	spin_lock_irq(&stub.lock);
	msg->ni->sending--;
	ended = msg->state == STUB_FINAL;
	if (rc >= 0 && !ended)
		msg->state = STUB_ACCEPTED;
	if (rc < 0) {
		op->refused = true;
		op->sent_status = rc;
	}
	spin_unlock_irq(&stub.lock);
	wake_up_all(&stub.changed);
	if (rc >= 0)
		return;
	if (!op->may_fail && !stub.stopping)
		stub_violation(STUB_STATUS_ERROR, "lnd_send() refuses: %d", rc);
	if (ended)
		stub_violation(STUB_FINALIZED_REFUSED, "lnd_send() returned %d and finalized", rc);
	else
		stub_msg_gone(msg);
}

/*
 * stub_ni_pump() - Gives the LND what waits, as far as there are credits.
 *
 * A thread that is already at it goes on with it where it is: an LND that finalizes within
 * lnd_send() would fill the stack otherwise.
 *
 * Context: thread.
 */
void stub_ni_pump(struct stub_ni *ni)
{
	struct stub_msg *msg;
	int i, place = -1;

	spin_lock_irq(&stub.lock);
	for (i = 0; i < ARRAY_SIZE(ni->pumpers); i++) {
		if (ni->pumpers[i] == current) {
			spin_unlock_irq(&stub.lock);
			return;
		}
		if (!ni->pumpers[i])
			place = i;
	}
	/* If all places are taken, one of those threads sees what is new. */
	if (place >= 0)
		ni->pumpers[place] = current;
	while (place >= 0 && ni->up && !ni->closing && ni->in_flight < ni->credits) {
		msg = list_first_entry_or_null(&ni->queue, struct stub_msg, msg.msg_list);
		if (!msg)
			break;
		list_del_init(&msg->msg.msg_list);
		msg->state = STUB_GIVEN;
		msg->credit = true;
		ni->in_flight++;
		ni->sending++;
		spin_unlock_irq(&stub.lock);
		stub_msg_send(msg);
		spin_lock_irq(&stub.lock);
	}
	if (place >= 0)
		ni->pumpers[place] = NULL;
	spin_unlock_irq(&stub.lock);
}

/* Context: thread. */
void stub_msg_post(struct stub_msg *msg)
{
	struct stub_ni *ni = msg->ni;
	bool closing;

	spin_lock_irq(&stub.lock);
	closing = ni->closing || !ni->up;
	if (!closing)
		list_add_tail(&msg->msg.msg_list, &ni->queue);
	spin_unlock_irq(&stub.lock);
	if (!closing) {
		stub_ni_pump(ni);
		return;
	}
	msg->op->failed = true;
	stub_msg_gone(msg);
}

/*
 * stub_msg_recv() - Calls lnd_recv() for a message that was parsed.
 * @msg: NULL: nothing of it is wanted
 *
 * Context: thread.
 */
void stub_msg_recv(struct stub_ni *ni, void *private, struct stub_msg *msg, int delayed,
		   unsigned int wanted, unsigned int rlen)
{
	struct iov_iter to;
	bool ended;
	int rc;

	if (msg) {
		msg->msg.msg_wanted = wanted;
		msg->msg.msg_len = rlen;
		msg->msg.msg_private = private;
		msg->msg.msg_receiving = 0;
		msg->state = STUB_GIVEN;
		iov_iter_bvec(&to, ITER_DEST, msg->msg.msg_kiov, msg->msg.msg_niov,
			      msg->msg.msg_offset + wanted);
		iov_iter_advance(&to, msg->msg.msg_offset);
	} else {
		iov_iter_bvec(&to, ITER_DEST, NULL, 0, 0);
	}
	rc = stub.lnd->lnd_recv(&ni->ni, private, msg ? &msg->msg : NULL, delayed, &to, rlen);
	if (!msg)
		return;
	spin_lock_irq(&stub.lock);
	ended = msg->state == STUB_FINAL;
	if (!ended)
		msg->state = STUB_ACCEPTED;
	spin_unlock_irq(&stub.lock);
	if (rc >= 0)
		return;
	if (ended)
		stub_violation(STUB_FINALIZED_REFUSED, "lnd_recv() returned %d and finalized", rc);
	else
		stub_msg_gone(msg);
	msg->op->failed = true;
	if (!msg->op->may_fail && !stub.stopping)
		stub_violation(STUB_STATUS_ERROR, "lnd_recv() fails: %d", rc);
}

/* Frees all messages. Context: thread; no LND is left. */
void stub_msgs_forget(void)
{
	struct stub_msg *msg, *next;

	list_for_each_entry_safe(msg, next, &stub.all_msgs, all) {
		kfree(msg->kiov);
		kfree(msg);
	}
	INIT_LIST_HEAD(&stub.all_msgs);
	xa_destroy(&stub.msgs);
}
