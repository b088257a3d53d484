// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Messages that come in, and what their operation says about them. */
#include <linux/export.h>
#include <linux/slab.h>

#include "stub.h"

/* Is it the first of its kind, as it was sent, and was it sent at all? */
static bool stub_parse_check(struct stub_ni *ni, struct stub_op *op, const struct lnet_hdr *hdr,
			     const struct lnet_nid *from)
{
	bool forwarded = hdr->type == LNET_MSG_PUT && op->router && ni == op->from;
	bool there = hdr->type == LNET_MSG_PUT || hdr->type == LNET_MSG_GET;
	struct stub_ni *hop = there && !forwarded ? op->from : op->to;
	struct lnet_hdr as_sent;
	bool same;
	int count;

	spin_lock_irq(&stub.lock);
	count = ++op->parsed[forwarded ? LNET_MSG_HELLO : hdr->type];
	spin_unlock_irq(&stub.lock);
	/* A router's copy must arrive as the first one has. */
	stub_header(op, hdr->type, &as_sent);
	same = !memcmp(hdr, &as_sent, sizeof(*hdr));
	if (count > 1)
		stub_violation(STUB_PARSED_TWICE, "a message of type %u", hdr->type);
	else if (op->refused && hdr->type <= LNET_MSG_GET)
		stub_violation(STUB_PARSED_REFUSED, "lnd_send() had refused this message");
	else if (op->simulated)
		stub_violation(STUB_SIMULATION_IGNORED, "a message that was to fail has arrived");
	else if (!same || !nid_same(from, &hop->ni.ni_nid))
		stub_violation(STUB_HEADER_WRONG, "the header of type %u, or whom it is from",
			       hdr->type);
	/* Nothing more of it is to come. */
	if (!same)
		op->failed = true;
	return count == 1 && same;
}

/* In the far machine another thread releases what is held, when there is enough. */
static void stub_delayed_enough(struct stub_op *op)
{
	if (!op->mirror)
		return;
	if (stub_delayed_count() >= op->hold)
		mod_delayed_work(system_unbound_wq, &stub.release, 0);
	else
		queue_delayed_work(system_unbound_wq, &stub.release, stub_limit() / 4);
}

static int stub_parse_delay(struct stub_ni *ni, struct stub_msg *msg, void *private,
			    unsigned int rlen)
{
	struct stub_delayed *delayed = kzalloc(sizeof(*delayed), GFP_KERNEL);
	bool closing;
	int rc = 0;

	if (!delayed) {
		stub_msg_gone(msg);
		return -ENOMEM;
	}
	msg->msg.msg_private = private;
	if (msg->op->decision == STUB_EAGER && stub.lnd->lnd_eager_recv) {
		rc = stub.lnd->lnd_eager_recv(&ni->ni, private, &msg->msg, &private);
		stub.eager_calls++;
	}
	if (rc < 0) {
		kfree(delayed);
		stub_violation(STUB_EAGER_FAILED, "lnd_eager_recv() fails: %d", rc);
		msg->op->failed = true;
		stub_msg_gone(msg);
		return 0;
	}
	delayed->msg = msg;
	delayed->ni = ni;
	delayed->private = private;
	delayed->rlen = rlen;
	spin_lock_irq(&stub.lock);
	closing = ni->closing;
	if (!closing)
		list_add_tail(&delayed->link, &stub.delayed);
	spin_unlock_irq(&stub.lock);
	wake_up_all(&stub.changed);
	if (closing) {
		/* Nothing would come back to it. */
		stub_msg_recv(ni, private, NULL, 1, 0, rlen);
		stub_msg_gone(msg);
		kfree(delayed);
	} else {
		stub_delayed_enough(msg->op);
	}
	return 0;
}

static int stub_parse_put(struct stub_ni *ni, struct stub_op *op, void *private, unsigned int rlen)
{
	bool routed = op->router && ni == op->to;
	struct stub_msg *msg;

	if (op->on_parse)
		op->on_parse(op);
	if (op->decision == STUB_REFUSE) {
		op->served++;
		return -EPROTO;
	}
	if (op->decision == STUB_NO_MATCH) {
		stub_msg_recv(ni, private, NULL, 0, 0, rlen);
		op->served++;
		return 0;
	}
	msg = stub_msg_new(op, routed ? STUB_RECV_ROUTED : STUB_RECV_PUT, ni,
			   routed ? op->bounce : op->sink, rlen);
	if (!msg)
		return -ENOMEM;
	msg->msg.msg_type = LNET_MSG_PUT;
	stub_header(op, LNET_MSG_PUT, &msg->msg.msg_hdr);
	msg->msg.msg_len = rlen;
	msg->msg.msg_routing = routed;
	if (op->decision != STUB_TAKE)
		return stub_parse_delay(ni, msg, private, rlen);
	stub_msg_recv(ni, private, msg, 0, routed ? rlen : op->taken, rlen);
	return 0;
}

static int stub_parse_get(struct stub_ni *ni, struct stub_op *op, void *private, int rdma_req)
{
	struct stub_msg *msg;

	if (op->decision == STUB_REFUSE) {
		op->served++;
		return -EPROTO;
	}
	if (op->decision == STUB_NO_MATCH) {
		stub_msg_recv(ni, private, NULL, 0, 0, 0);
		op->served++;
		return 0;
	}
	msg = stub_msg_new(op, rdma_req ? STUB_RECV_GET : STUB_SEND_REPLY, ni, op->source,
			   op->taken);
	if (!msg)
		return -ENOMEM;
	stub_msg_header(msg, LNET_MSG_REPLY);
	if (rdma_req) {
		stub_msg_recv(ni, private, msg, 0, op->taken, op->taken);
		return 0;
	}
	stub_msg_recv(ni, private, NULL, 0, 0, 0);
	msg->msg.msg_private = private;
	stub_msg_post(msg);
	return 0;
}

static int stub_parse_reply(struct stub_ni *ni, struct stub_op *op, void *private,
			    unsigned int rlen)
{
	struct stub_msg *msg = stub_msg_new(op, STUB_RECV_REPLY, ni, op->sink, op->length);

	if (!msg)
		return -ENOMEM;
	msg->msg.msg_type = LNET_MSG_REPLY;
	stub_header(op, LNET_MSG_REPLY, &msg->msg.msg_hdr);
	stub_msg_recv(ni, private, msg, 0, rlen, rlen);
	return 0;
}

int lnet_parse(struct lnet_ni *lnet_ni, struct lnet_hdr *hdr, struct lnet_nid *fromnid,
	       void *private, int rdma_req)
{
	struct stub_ni *ni = stub_ni_of(lnet_ni);
	struct stub_op *op = stub_header_op(hdr) ?: stub_mirror(ni, hdr);
	int rc = 0;

	if (!op) {
		stub_violation(STUB_HEADER_WRONG, "a header of type %u, never sent", hdr->type);
		return -EPROTO;
	}
	if (preempt_count() || irqs_disabled()) {
		stub_violation(STUB_PARSE_CONTEXT, "parsed in interrupt context, or locked");
		op->failed = true;
		return -EINVAL;
	}
	if (!ni->up) {
		stub_violation(STUB_AFTER_SHUTDOWN, "parsed after lnd_shutdown()");
		return -ESHUTDOWN;
	}
	if (!stub_parse_check(ni, op, hdr, fromnid))
		return -EPROTO;
	switch (hdr->type) {
	case LNET_MSG_PUT:
		rc = stub_parse_put(ni, op, private, hdr->payload_length);
		break;
	case LNET_MSG_GET:
		rc = stub_parse_get(ni, op, private, rdma_req);
		break;
	case LNET_MSG_REPLY:
		rc = stub_parse_reply(ni, op, private, hdr->payload_length);
		break;
	default:
		stub_msg_recv(ni, private, NULL, 0, 0, 0);
		break;
	}
	wake_up_all(&stub.changed);
	return rc;
}
EXPORT_SYMBOL(lnet_parse);

/*
 * stub_delayed_release() - Now lnd_recv() comes for what has waited, from this thread.
 * @ni: of this NI only; NULL: of all
 * @discard: without the message, as for what LNet gives up
 *
 * Context: thread.
 */
void stub_delayed_release(struct stub_ni *ni, bool discard)
{
	struct stub_delayed *delayed, *next;
	struct stub_op *op;
	LIST_HEAD(ready);

	spin_lock_irq(&stub.lock);
	list_for_each_entry_safe(delayed, next, &stub.delayed, link)
		if (!ni || delayed->ni == ni)
			list_move_tail(&delayed->link, &ready);
	spin_unlock_irq(&stub.lock);
	list_for_each_entry_safe(delayed, next, &ready, link) {
		op = delayed->msg->op;
		if (discard || op->decision == STUB_DISCARD) {
			stub_msg_recv(delayed->ni, delayed->private, NULL, 1, 0, delayed->rlen);
			op->served++;
			stub_msg_gone(delayed->msg);
		} else {
			stub_msg_recv(delayed->ni, delayed->private, delayed->msg, 1, op->taken,
				      delayed->rlen);
		}
		kfree(delayed);
	}
}

unsigned int stub_delayed_count(void)
{
	unsigned int count;

	spin_lock_irq(&stub.lock);
	count = list_count_nodes(&stub.delayed);
	spin_unlock_irq(&stub.lock);
	return count;
}

/*
 * stub_held() - Waits until the target holds so many messages. In another machine that is not seen.
 *
 * Context: thread.
 */
bool stub_held(unsigned int count)
{
	return stub_between() ||
	       wait_event_timeout(stub.changed, stub_delayed_count() >= count, stub_limit());
}
