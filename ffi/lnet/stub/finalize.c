// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The end of messages, as the LND tells it. */
#include <linux/export.h>
#include <linux/string.h>

#include "stub.h"

static void stub_check_status(struct stub_msg *msg)
{
	enum lnet_msg_hstatus health = msg->msg.msg_health_status;
	struct stub_op *op = msg->op;

	if (health >= LNET_MSG_STATUS_END || !msg->status != !health)
		stub_violation(STUB_HEALTH_STATUS, "status %d with health status %d", msg->status,
			       health);
	if (msg->simulated) {
		if (!msg->status || health != msg->simulated_as)
			stub_violation(STUB_SIMULATION_IGNORED, "status %d, health %d, not %d",
				       msg->status, health, msg->simulated_as);
	} else if (msg->status && !op->may_fail && !stub.stopping) {
		stub_violation(STUB_STATUS_ERROR, "ended with %d, and nothing has failed",
			       msg->status);
	}
	if (msg->memory && msg->kiov &&
	    memcmp(msg->kiov, msg->memory->md.md_kiov,
		   sizeof(struct bio_vec) * msg->memory->md.md_niov))
		stub_violation(STUB_KIOV_CHANGED, "the LND has written to msg_kiov");
}

/* Has what was received come? */
static void stub_check_received(struct stub_msg *msg)
{
	struct stub_op *op = msg->op;
	const char *who = msg->role == STUB_MADE_REPLY ? "REPLY of an optimised GET" :
			  msg->role == STUB_RECV_REPLY ? "REPLY" : "PUT";
	unsigned int length = op->taken;

	if (msg->status)
		return;
	if (msg->role == STUB_RECV_ROUTED)
		length = op->length;
	if (msg->role == STUB_MADE_REPLY) {
		if (op->decision == STUB_NO_MATCH) {
			stub_violation(STUB_STATUS_OK, "the REPLY without data ends well");
			return;
		}
		if (!msg->length_set || msg->length != length) {
			stub_violation(STUB_REPLY_LENGTH, "the length is set to %u, not %u",
				       msg->length, length);
			return;
		}
	}
	stub_memory_verify(msg->memory, op->seed, length, who);
}

static void stub_answer(struct stub_op *op, struct stub_msg *received)
{
	struct stub_msg *msg;

	if (received->status)
		return;
	if (received->role == STUB_RECV_PUT && op->ack) {
		msg = stub_msg_new(op, STUB_SEND_ACK, received->ni, NULL, 0);
		if (!msg)
			return;
		stub_msg_header(msg, LNET_MSG_ACK);
		msg->msg.msg_private = received->msg.msg_private;
		stub_msg_post(msg);
	}
	if (received->role == STUB_RECV_ROUTED) {
		msg = stub_msg_new(op, STUB_SEND_ROUTED, received->ni, op->bounce, op->length);
		if (!msg)
			return;
		stub_msg_header(msg, LNET_MSG_PUT);
		msg->msg.msg_target.nid = op->from->ni.ni_nid;
		msg->msg.msg_routing = 1;
		stub_msg_post(msg);
	}
}

/* Is it the last that the target of an operation does? */
static bool stub_msg_serves(const struct stub_msg *msg)
{
	switch (msg->role) {
	case STUB_SEND_REPLY:
	case STUB_SEND_ROUTED:
	case STUB_RECV_GET:
		return true;
	case STUB_RECV_PUT:
		return !msg->op->router;
	default:
		return false;
	}
}

static void stub_msg_ended(struct stub_msg *msg)
{
	struct stub_op *op = msg->op;
	bool sending = msg->role <= STUB_SEND_ROUTED;

	stub_check_status(msg);
	if (!sending && msg->role != STUB_RECV_GET)
		stub_check_received(msg);
	/* What a router has received it sends on from the same pages, so these end later. */
	if (msg->role != STUB_RECV_ROUTED || msg->status)
		stub_memory_poison(msg->memory);
	if (!sending)
		stub_answer(op, msg);
	spin_lock_irq(&stub.lock);
	if (msg->role == STUB_SEND_PUT || msg->role == STUB_SEND_GET) {
		op->sent++;
		op->sent_status = msg->status;
	} else if (stub_msg_serves(msg)) {
		op->served++;
	} else if (!sending && msg->role != STUB_RECV_ROUTED) {
		op->received++;
	}
	if (msg->status)
		op->failed = true;
	op->open--;
	if (msg->credit)
		msg->ni->in_flight--;
	msg->credit = false;
	spin_unlock_irq(&stub.lock);
	if (op->mirror && op->leave && stub_msg_serves(msg))
		schedule_work(&stub.leave);
	if (op->then && (msg->role == STUB_SEND_PUT || msg->role == STUB_SEND_GET))
		op->then(op);
	wake_up_all(&stub.changed);
	stub_ni_pump(msg->ni);
}

static void stub_msg_ended_work(struct work_struct *work)
{
	stub_msg_ended(container_of(work, struct stub_msg, work));
}

void lnet_finalize(struct lnet_msg *lnet_msg, int status)
{
	bool fine = stub_check_context(), late, first;
	enum stub_state before;
	struct stub_msg *msg;
	unsigned long flags;

	if (!lnet_msg)
		return;
	msg = xa_load(&stub.msgs, (unsigned long)lnet_msg >> 3);
	if (!msg) {
		stub_violation(STUB_FINALIZED_UNKNOWN, "this is no message");
		return;
	}
	spin_lock_irqsave(&stub.lock, flags);
	before = msg->state;
	late = !msg->ni->up;
	first = before == STUB_GIVEN || before == STUB_ACCEPTED;
	if (first) {
		msg->state = STUB_FINAL;
		msg->status = status;
	}
	spin_unlock_irqrestore(&stub.lock, flags);
	if (late)
		stub_violation(STUB_AFTER_SHUTDOWN, "finalized after lnd_shutdown()");
	else if (before == STUB_FINAL)
		stub_violation(STUB_FINALIZED_TWICE, "a message of type %u", msg->msg.msg_type);
	else if (before == STUB_REFUSED || before == STUB_QUEUED)
		stub_violation(STUB_FINALIZED_REFUSED, "the LND does not have this message");
	if (!first || late)
		return;
	if (fine) {
		stub_msg_ended(msg);
		return;
	}
	INIT_WORK(&msg->work, stub_msg_ended_work);
	queue_work(stub.work, &msg->work);
}
EXPORT_SYMBOL(lnet_finalize);

struct lnet_msg *lnet_create_reply_msg(struct lnet_ni *ni, struct lnet_msg *get_msg)
{
	struct stub_msg *get = container_of(get_msg, struct stub_msg, msg), *msg;

	if (get->msg.msg_routing || get->msg.msg_target_is_router)
		stub_violation(STUB_REPLY_ROUTED, "a GET through a router is optimised");
	msg = stub_msg_new(get->op, STUB_MADE_REPLY, get->ni, get->op->sink, get->op->length);
	if (!msg)
		return NULL;
	msg->msg.msg_type = LNET_MSG_GET;
	msg->msg.msg_hdr.src_nid = get->msg.msg_target.nid;
	msg->msg.msg_hdr.payload_length = get->op->length;
	msg->state = STUB_ACCEPTED;
	return &msg->msg;
}
EXPORT_SYMBOL(lnet_create_reply_msg);

void lnet_set_reply_msg_len(struct lnet_ni *ni, struct lnet_msg *lnet_msg, unsigned int len)
{
	struct stub_msg *msg = container_of(lnet_msg, struct stub_msg, msg);

	if (msg->role != STUB_MADE_REPLY || len > msg->op->length)
		stub_violation(STUB_REPLY_LENGTH, "%u of %u bytes", len, msg->op->length);
	msg->length_set = true;
	msg->length = len;
}
EXPORT_SYMBOL(lnet_set_reply_msg_len);

bool lnet_send_error_simulation(struct lnet_msg *lnet_msg, enum lnet_msg_hstatus *hstatus)
{
	struct stub_msg *msg = container_of(lnet_msg, struct stub_msg, msg);

	if (!lnet_msg || !msg->op->simulate)
		return false;
	msg->simulated = true;
	msg->op->simulated = true;
	msg->simulated_as = stub.simulate_as;
	*hstatus = stub.simulate_as;
	return true;
}
EXPORT_SYMBOL(lnet_send_error_simulation);
