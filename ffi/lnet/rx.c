// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Peers' requests to lnet_parse(), and lnd_recv. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/uio.h>

#include "lnet.h"

#define AGAIN_US	20000	/* until the next attempt to have memory */

/* Makes the next request's memory, unless it is there. Returns whether it is. */
static bool lnd_lnet_spare(struct lnd_host_upper *upper, gfp_t gfp)
{
	struct lnd_lnet_message *message;

	if (READ_ONCE(upper->spare))
		return true;
	message = lnd_lnet_message_new(upper->node, LND_LNET_CAME, LNET_MAX_IOV, gfp);
	if (!message)
		return false;
	message->copy = lnd_host_alloc(LND_HOST_INLINE, gfp, LND_HOST_AT_PAGE);
	/* The node's thread and the work may both have made one. */
	if (!message->copy || cmpxchg(&upper->spare, NULL, message)) {
		bool made = message->copy;

		lnd_lnet_put(message);
		return made;
	}
	return true;
}

/* Whether the next request has its memory. Context: the node's thread. Does not wait. */
bool lnd_lnet_ready(struct lnd_host_upper *upper)
{
	if (atomic_read(&upper->unkept) >= LND_LNET_UNKEPT)
		return false;
	if (lnd_lnet_spare(upper, LND_HOST_NO_WAIT))
		return true;
	queue_work(system_unbound_wq, &upper->supply);
	return false;
}

/* Context: work; waits for memory, but not for a file system: that may wait for this request. */
void lnd_lnet_supply(struct work_struct *work)
{
	struct lnd_host_upper *upper = container_of(work, struct lnd_host_upper, supply);

	while (!lnd_lnet_spare(upper, LND_LNET_NO_FS)) {
		if (READ_ONCE(upper->halted))
			return;
		usleep_range(AGAIN_US, 2 * AGAIN_US);
	}
	lnd_host_node_wake(upper->node);
}

/* Context: thread; the node's thread has ended. */
void lnd_lnet_supply_stop(struct lnd_host_upper *upper)
{
	struct lnd_lnet_message *spare;

	WRITE_ONCE(upper->halted, true);
	flush_work(&upper->supply);
	upper->halted = false;
	spare = xchg(&upper->spare, NULL);
	if (spare)
		lnd_lnet_put(spare);
}

/* Reads a peer's header. What contradicts the frame around it never reaches LNet. */
static bool lnd_lnet_read(const struct lnd_arrival *arrival, struct lnet_hdr *hdr)
{
	if (arrival->header_len == sizeof(struct lnet_hdr_nid4))
		lnet_hdr_from_nid4(hdr, arrival->header);
	else if (arrival->header_len == sizeof(struct lnet_hdr_nid16))
		lnet_hdr_from_nid16(hdr, arrival->header);
	else
		return false;
	/* A peer may send more in one message than we have told it: a frame can be longer. */
	if (arrival->kind == LND_REQUEST_IMMEDIATE && arrival->len > LND_HOST_INLINE)
		return false;
	if (arrival->kind == LND_REQUEST_GET)
		return hdr->type == LNET_MSG_GET && !hdr->payload_length;
	return hdr->payload_length == arrival->len && arrival->len <= LNET_MTU;
}

/* Ends a request whose payload does not move, or not by the library: its credit returns. */
static void lnd_lnet_refuse(struct lnd_lnet_message *message, enum lnd_nak_reason why)
{
	lnd_nak(message->node->ni, message->request, why, lnd_host_now());
}

/*
 * LNet will decide later: the payload leaves its frame, and the credit stays away until then. If
 * the library has no room for that, the credit returns.
 */
static void lnd_lnet_delay(struct lnd_lnet_message *message)
{
	struct lnd_host_upper *upper = message->node->upper;

	lnd_lnet_count(upper, LND_LNET_DELAYED);
	if (message->kind != LND_REQUEST_IMMEDIATE)
		return;
	if (message->asked)
		memcpy(message->copy, message->frame, message->asked);
	message->frame = NULL;
	if (lnd_keep(message->node->ni, message->request, lnd_host_now(), &message->request) ==
	    LND_E_WAIT) {
		lnd_lnet_count(upper, LND_LNET_WITHOUT_SLOT);
		lnd_lnet_refuse(message, LND_NAK_FAILED);
		message->unkept = true;
		atomic_inc(&upper->unkept);
	}
}

/* Calls lnet_parse(). Whatever it returns, the request's place in its mailbox is free. */
static void lnd_lnet_parse(struct lnd_lnet_message *message, struct lnet_hdr *hdr)
{
	struct lnd_host_upper *upper = message->node->upper;
	struct lnet_nid from;
	int rc;

	lnd_lnet_nid(upper, message->nid, &from);
	message->parser = current;
	refcount_inc(&message->holders);
	lnd_lnet_enter(message, &upper->undecided);
	rc = lnet_parse(upper->ni, hdr, &from, message, message->kind == LND_REQUEST_GET);
	if (rc < 0) {
		/* No lnd_recv() comes. */
		lnd_lnet_count(upper, LND_LNET_REFUSED);
		lnd_lnet_refuse(message, LND_NAK_FAILED);
		lnd_lnet_end(message, 0, LNET_MSG_STATUS_OK, 0);
	} else if (!message->decided) {
		lnd_lnet_delay(message);
	}
	WRITE_ONCE(message->parser, NULL);
	complete_all(&message->parsed);
	lnd_lnet_reuse(message);
}

/**
 * lnd_lnet_request() - Passes a peer's request to LNet.
 * @node: the node.
 * @arrival: the request.
 *
 * lnet_parse() cannot be called twice for one request. So the library's answer that it has no room
 * must come before: a request that is pulled is kept first. One with its payload needs no room if
 * LNet decides at once. Its sender's credit stays away until the decision in either case.
 *
 * Context: the node's thread, with nothing held. Does not wait for memory.
 * Return: whether its place in the mailbox is free; else it is offered again.
 */
bool lnd_lnet_request(struct lnd_host_node *node, const struct lnd_arrival *arrival)
{
	struct lnd_host_upper *upper = node->upper;
	struct lnd_lnet_message *message;
	enum lnd_error error;
	struct lnet_hdr hdr;

	if (!lnd_lnet_read(arrival, &hdr)) {
		lnd_lnet_count(upper, LND_LNET_REFUSED);
		return lnd_nak(node->ni, arrival->request, LND_NAK_BAD_REQUEST,
			       arrival->now) != LND_E_WAIT;
	}
	message = xchg(&upper->spare, NULL);
	if (!message)
		return false;
	message->request = arrival->request;
	error = arrival->kind == LND_REQUEST_IMMEDIATE ? LND_OK :
		lnd_keep(node->ni, arrival->request, arrival->now, &message->request);
	if (error) {
		if (cmpxchg(&upper->spare, NULL, message))
			lnd_lnet_put(message);
		return error != LND_E_WAIT;
	}
	message->kind = arrival->kind;
	message->nid = arrival->nid;
	message->asked = arrival->len;
	message->begun = arrival->now;
	message->frame = arrival->kind == LND_REQUEST_IMMEDIATE ? arrival->payload : NULL;
	lnd_lnet_parse(message, &hdr);
	return true;
}

/* Receives a payload that came with its request. */
static int lnd_lnet_recv_short(struct lnd_lnet_message *message, struct lnet_msg *msg,
			       struct iov_iter *to, size_t wanted)
{
	const void *from = message->frame ?: message->copy;
	int error = 0;

	if (wanted && copy_to_iter(from, wanted, to) != wanted)
		error = -EFAULT;
	/* Of a short request the sender is not told. */
	lnd_lnet_refuse(message, LND_NAK_FAILED);
	message->msg = msg;
	lnd_lnet_end(message, error, error ? LNET_MSG_STATUS_LOCAL_ERROR : LNET_MSG_STATUS_OK, 0);
	return 0;
}

/* Receives, or answers, a request that is pulled. */
static int lnd_lnet_recv_long(struct lnd_lnet_message *message, struct lnet_msg *msg,
			      struct iov_iter *to, size_t wanted)
{
	int rc = 0;

	if (message->kind == LND_REQUEST_GET && !msg) {
		lnd_lnet_refuse(message, LND_NAK_NO_MATCH);
		lnd_lnet_end(message, 0, LNET_MSG_STATUS_OK, 0);
		return 0;
	}
	if (message->kind == LND_REQUEST_GET)
		rc = lnd_lnet_pages(message, msg->msg_kiov, msg->msg_niov, msg->msg_offset,
				    msg->msg_len);
	else if (wanted)
		rc = lnd_lnet_pages(message, to->bvec, to->nr_segs, to->iov_offset, wanted);
	if (rc) {
		lnd_lnet_refuse(message, LND_NAK_FAILED);
		lnd_lnet_end(message, 0, LNET_MSG_STATUS_OK, 0);
		return rc;
	}
	message->msg = msg;
	message->deadline = lnd_lnet_deadline(message->node->upper);
	lnd_lnet_try(message);
	return 0;
}

/**
 * lnd_lnet_recv() - lnd_recv of struct lnet_lnd.
 * @ni: the interface.
 * @private: the message of lnet_parse(); once for each.
 * @msg: to be finalized exactly once if this returns 0; NULL: drop the payload.
 * @delayed: whether lnet_parse() may have returned already.
 * @LND_RECV_SINK: where the payload goes, as long as is wanted (compat.h).
 * @rlen: bytes that were offered.
 *
 * Context: thread.
 * Return: 0, or a negative errno.
 */
int lnd_lnet_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg, int delayed,
		  LND_RECV_SINK, unsigned int rlen)
{
	LND_RECV_ITER(to);
	struct lnd_lnet_message *message = private;
	struct lnd_host_node *node = message->node;
	size_t wanted = msg && to ? iov_iter_count(to) : 0;
	int rc;

	lnd_lnet_count(node->upper, LND_LNET_RECEIVES);
	if (message->way == LND_LNET_LOOPED)
		return lnd_lnet_loop_recv(message, msg, to);
	/* A thread that is faster than lnet_parse() returns waits until the frame is copied. */
	if (READ_ONCE(message->parser) != current)
		wait_for_completion_timeout(&message->parsed, MAX_SCHEDULE_TIMEOUT);
	message->decided = true;
	if (!down_read_trylock(&node->incarnation)) {
		lnd_lnet_end(message, 0, LNET_MSG_STATUS_OK, 0);
		return -ESHUTDOWN;
	}
	if (!node->alive) {
		lnd_lnet_end(message, 0, LNET_MSG_STATUS_OK, 0);
		rc = -ESHUTDOWN;
	} else if (wanted > message->asked) {
		/* A GET whose header asks for more than it has room for; nothing else ends it. */
		lnd_lnet_refuse(message, LND_NAK_BAD_REQUEST);
		lnd_lnet_end(message, 0, LNET_MSG_STATUS_OK, 0);
		rc = -EMSGSIZE;
	} else if (message->kind == LND_REQUEST_IMMEDIATE) {
		rc = lnd_lnet_recv_short(message, msg, to, wanted);
	} else {
		rc = lnd_lnet_recv_long(message, msg, to, wanted);
	}
	up_read(&node->incarnation);
	return rc;
}

/**
 * lnd_lnet_eager_recv() - lnd_eager_recv of struct lnet_lnd: LNet will decide later.
 * @ni: the interface.
 * @private: the message of lnet_parse().
 * @msg: LNet's message.
 * @new_private: where the value for lnd_recv() is written.
 *
 * Nothing is done: what is undecided when lnet_parse() returns is copied out of its frame.
 *
 * Context: thread.
 * Return: 0.
 */
int lnd_lnet_eager_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg,
			void **new_private)
{
	*new_private = private;
	return 0;
}
