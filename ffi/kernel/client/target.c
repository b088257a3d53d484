// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Answers the PUT and GET of peers, and handles every transfer's one end.
 *
 * This test's header takes the place of LNet's. A PUT's payload is verified after it has arrived. A
 * GET's payload is made from the seed in the header, and the requester verifies it.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include "client.h"

/* Returns false if there is no room for a refusal: the request stays in its mailbox. */
static bool lnd_host_refuse(struct lnd_host_node *node, struct lnd_request request,
			    enum lnd_nak_reason why)
{
	lnd_host_count(LND_HOST_DENIED);
	return lnd_nak(node->ni, request, why, lnd_host_now()) != LND_E_WAIT;
}

/* The kind that a header requests: enum lnd_kind, or 0 if the header is not valid. */
static u32 lnd_host_wanted(const struct lnd_arrival *arrival, struct lnd_host_header *header)
{
	u32 kind, length;

	if (lnd_host_fault(LND_HOST_AT_HEADER) || arrival->header_len != sizeof(*header))
		return 0;
	memcpy(header, arrival->header, sizeof(*header));
	kind = le32_to_cpu(header->kind);
	length = le32_to_cpu(header->length);
	if (le32_to_cpu(header->magic) != LND_HOST_MAGIC || length > LND_HOST_LONGEST)
		return 0;
	/* A GET whose REPLY is short, or is routed, arrives as a header alone. */
	if (kind == LND_GET && arrival->kind != LND_REQUEST_PUT)
		return kind;
	if ((kind == LND_PUT || kind == LND_REPLY) && arrival->kind != LND_REQUEST_GET &&
	    arrival->len == length)
		return kind;
	return 0;
}

/*
 * Accepts a request: receives into a message's memory, or replies from it. LND_OK: the report owns
 * the message, which may be gone. LND_E_WAIT: the request stays in its mailbox. Any other result:
 * the request is over.
 */
static enum lnd_error lnd_host_accept(struct lnd_host_op *op, struct lnd_request request, bool give)
{
	struct lnd_report report = { .size = sizeof(report) };
	u64 now = lnd_host_now();
	struct lnd_decision decision = {
		.size = sizeof(decision),
		.frags = op->map.frags,
		.nfrags = op->map.nfrags,
		.len = op->payload.length,
		.deadline = now + lnd_host_deadline_ms * (u64)NSEC_PER_MSEC,
		.user = (uintptr_t)op,
	};
	struct lnd_host_node *node = op->node;
	enum lnd_error error;

	if (lnd_host_fault(LND_HOST_AT_STALE))
		lnd_nak(node->ni, request, LND_NAK_FAILED, now);
	if (lnd_host_fault(op->worker ? LND_HOST_AT_REPLY_ACCEPT : LND_HOST_AT_ACCEPT))
		error = LND_E_NO_LISTS;
	else if (give)
		error = lnd_reply(node->ni, request, &decision, now, NULL);
	else
		error = lnd_recv(node->ni, request, &decision, now, NULL,
				 op->worker ? NULL : &report);
	/* An inline payload is already copied: its frame is present in the node's thread. */
	if (error == LND_DONE) {
		lnd_host_finalize(node, &report);
		return LND_OK;
	}
	if (error && error != LND_E_GONE && error != LND_E_STALE && error != LND_E_WAIT &&
	    !lnd_host_refuse(node, request, LND_NAK_FAILED))
		return LND_E_WAIT;
	return error;
}

/* Handles a REPLY to a GET of this host. Returns whether it was one. */
static bool lnd_host_reply(struct lnd_host_node *node, const struct lnd_arrival *arrival,
			   const struct lnd_host_header *header)
{
	struct lnd_host_op *op, *found = NULL;
	enum lnd_error error;

	spin_lock(&node->upper->lock);
	list_for_each_entry(op, &node->upper->ops, list) {
		if (op->worker && op->kind == LND_GET && op->peer == arrival->nid &&
		    op->seed == le64_to_cpu(header->seed))
			found = op;
	}
	spin_unlock(&node->upper->lock);
	if (lnd_host_fault(LND_HOST_AT_REPLY_MATCH))
		found = NULL;
	if (!found || found->receiving || found->answered ||
	    arrival->len != found->payload.length) {
		lnd_host_count(LND_HOST_UNWANTED);
		return lnd_host_refuse(node, arrival->request, LND_NAK_NO_MATCH);
	}
	error = lnd_host_accept(found, arrival->request, false);
	found->receiving = !error;
	return error != LND_E_WAIT;
}

/* Serves a peer's PUT or GET that has memory. As lnd_host_accept(). */
static enum lnd_error lnd_host_serve(struct lnd_host_op *op)
{
	if (op->replies)
		return lnd_host_fault(LND_HOST_AT_REPLY_SUBMIT) ? LND_E_PEER_DOWN :
		       lnd_host_submit(op, LND_REPLY, op->peer);
	return lnd_host_accept(op, op->request, op->kind == LND_GET);
}

/* Maps pages for a request; for a GET they hold its payload. */
static int lnd_host_prepare(struct lnd_host_op *op, gfp_t gfp)
{
	if (lnd_host_payload_get(op, op->length, op->seed, gfp))
		return -ENOMEM;
	if (op->kind == LND_GET)
		lnd_host_payload_fill(op, op->seed);
	return lnd_host_map(&op->node->window, &op->map, &op->payload, op->kind == LND_PUT, gfp);
}

/*
 * Answers a peer's request: afterwards the report owns the message, or it is gone, or it waits for
 * memory. With LND_HOST_NO_WAIT it may wait for memory, with LND_HOST_MAY_WAIT it is answered now.
 * Context: the node's thread, with the request's frame; or the work that waits for memory. Returns
 * false if the request stays in its mailbox and the message is gone.
 */
static bool lnd_host_answer(struct lnd_host_op *op, gfp_t gfp)
{
	int rc = lnd_host_prepare(op, gfp);
	enum lnd_error error = LND_OK;
	bool done = true;

	if (rc == -ENOMEM && !gfpflags_allow_blocking(gfp)) {
		if (!op->replies)
			error = lnd_keep(op->node->ni, op->request, lnd_host_now(), &op->request);
		if (!error) {
			lnd_host_later(op);
			return true;
		}
		lnd_host_op_end(op);
		return error != LND_E_WAIT;
	}
	if (rc) {
		if (op->replies)
			lnd_host_count(LND_HOST_DENIED);
		else
			done = lnd_host_refuse(op->node, op->request, LND_NAK_NO_RESOURCES);
		lnd_host_op_end(op);
		return done;
	}
	error = lnd_host_serve(op);
	if (error == LND_E_WAIT) {
		lnd_host_op_end(op);
		return false;
	}
	lnd_host_count(LND_HOST_REQUESTED);
	if (error) {
		/* No report follows. */
		lnd_host_count(LND_HOST_REQUESTED_ERROR);
		lnd_host_op_end(op);
	}
	return true;
}

/**
 * lnd_host_supply_work() - Allocates memory, and answers the requests that wait for it.
 * @work: of a node.
 *
 * Context: work; waits for memory.
 */
void lnd_host_supply_work(struct work_struct *work)
{
	struct lnd_host_node *node = container_of(to_delayed_work(work), struct lnd_host_upper,
						  supply)->node;
	struct lnd_host_op *op;

	if (!lnd_host_supply(node))
		return;
	while ((op = lnd_host_next_hungry(node)))
		lnd_host_answer(op, LND_HOST_MAY_WAIT);
}

/**
 * lnd_upper_request() - Handles a peer's request.
 * @node: the node.
 * @arrival: the request.
 *
 * An inline payload is received here, while its frame is present; a spare message has the pages.
 *
 * Context: the node's thread, with nothing held. Does not wait for memory.
 * Return: whether its place in the mailbox is free; else it must be offered again.
 */
bool lnd_upper_request(struct lnd_host_node *node, const struct lnd_arrival *arrival)
{
	struct lnd_host_header header;
	struct lnd_host_op *op;
	u32 kind = lnd_host_wanted(arrival, &header);

	if (!kind) {
		lnd_host_count(LND_HOST_NONSENSE);
		return lnd_host_refuse(node, arrival->request, LND_NAK_BAD_REQUEST);
	}
	if (kind == LND_REPLY)
		return lnd_host_reply(node, arrival, &header);
	op = lnd_host_spare_take(node);
	if (!op)
		return lnd_host_refuse(node, arrival->request, LND_NAK_NO_RESOURCES);
	op->peer = arrival->nid;
	op->request = arrival->request;
	op->length = le32_to_cpu(header.length);
	op->replies = kind == LND_GET && arrival->kind != LND_REQUEST_GET;
	lnd_host_op_begin(op, node, kind, le64_to_cpu(header.seed));
	if (op->replies) {
		enum lnd_error notified = lnd_nak(node->ni, arrival->request, LND_NAK_NO_MATCH,
						 arrival->now);

		if (notified == LND_E_WAIT) {
			lnd_host_op_end(op);
			return false;
		}
	}
	return lnd_host_answer(op, LND_HOST_NO_WAIT);
}

/* Copies an arrived payload out of the window and verifies it. */
static void lnd_host_verify(struct lnd_host_op *op, u32 bytes)
{
	lnd_host_unmap(&op->node->window, &op->map, &op->payload, true);
	if (bytes == op->payload.length && lnd_host_payload_good(op, bytes, op->seed))
		lnd_host_count(LND_HOST_VERIFIED);
	else
		lnd_host_count(LND_HOST_CORRUPT);
}

/* Ends a message with all its resources. */
static void lnd_host_end(struct lnd_host_op *op)
{
	if (op->worker)
		lnd_host_client_done(op, op->error, op->error ? 0 : op->payload.length);
	else
		lnd_host_count(op->error ? LND_HOST_REQUESTED_ERROR : LND_HOST_REQUESTED_OK);
	lnd_host_op_end(op);
}

/* The time at which the wait for a GET's REPLY ends. */
static u64 lnd_host_expiry(const struct lnd_host_op *op)
{
	return op->begun + lnd_host_deadline_ms * (u64)NSEC_PER_MSEC;
}

/* Whether a message of this host, of which this is one end, has another end to come. */
static bool lnd_host_half(struct lnd_host_op *op, const struct lnd_report *report)
{
	if (!op->worker || op->kind != LND_GET || report->reply)
		return false;
	if (report->role == LND_ROLE_IMMEDIATE) {
		op->sent = true;
		op->node->upper->expiry = min(op->node->upper->expiry, lnd_host_expiry(op));
		return op->receiving || !(report->error || op->answered);
	}
	op->receiving = false;
	op->answered = true;
	return !op->sent;
}

/**
 * lnd_host_finalize() - Handles a transfer's one end.
 * @node: the node.
 * @report: the end.
 *
 * Context: the node's thread, with nothing held.
 */
void lnd_host_finalize(struct lnd_host_node *node, const struct lnd_report *report)
{
	struct lnd_host_op *op = (void *)(uintptr_t)report->user;
	bool sink = report->role == LND_ROLE_PUT_SINK || report->role == LND_ROLE_INLINE_SINK ||
		    report->role == LND_ROLE_GET_PULL || report->role == LND_ROLE_GET_SINK ||
		    report->role == LND_ROLE_PUSH_SINK;

	/* The request of a GET may fail although its REPLY arrives. */
	if (sink || !op->answered)
		op->error = report->error;
	if (!report->error && sink)
		lnd_host_verify(op, report->bytes);
	if (!lnd_host_half(op, report))
		lnd_host_end(op);
}

/**
 * lnd_host_expire() - Ends GETs of this host whose REPLY does not arrive.
 * @node: the node.
 * @peer: those to this peer, or 0: those whose time is over.
 * @error: their result.
 *
 * Context: the node's thread.
 */
void lnd_host_expire(struct lnd_host_node *node, u64 peer, int error)
{
	u64 now = lnd_host_now(), next = LND_NEVER;
	struct lnd_host_op *op, *more;
	LIST_HEAD(late);

	spin_lock(&node->upper->lock);
	list_for_each_entry_safe(op, more, &node->upper->ops, list) {
		/* No report will name one of these: only this host holds them. */
		if (!op->worker || !op->sent || op->receiving)
			continue;
		if (peer ? op->peer == peer || peer == U64_MAX : lnd_host_expiry(op) <= now)
			list_move(&op->list, &late);
		else
			next = min(next, lnd_host_expiry(op));
	}
	spin_unlock(&node->upper->lock);
	node->upper->expiry = next;
	list_for_each_entry_safe(op, more, &late, list) {
		op->error = error;
		lnd_host_end(op);
	}
}
