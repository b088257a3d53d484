// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Upper layer: answers the PUT and GET of peers, and takes every transfer's one end.
 *
 * What LNet's header would say is said by a header of ours. A PUT's payload is verified when it has
 * arrived; a GET's is made by the seed that the header names, for the requester to verify.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include "client.h"
#include "lnd_host.h"

/* Makes a message with its pages; NULL: no memory. Context: thread. */
struct lnd_host_op *lnd_host_op_new(struct lnd_host_node *node, u32 kind, u32 length, u64 seed)
{
	struct lnd_host_op *op = lnd_host_op_alloc();

	if (!op)
		return NULL;
	op->node = node;
	op->kind = kind;
	op->seed = seed;
	op->begun = ktime_get_ns();
	if (lnd_host_payload_get(&op->payload, length, seed)) {
		lnd_host_op_free(op);
		return NULL;
	}
	spin_lock(&node->ops_lock);
	list_add_tail(&op->list, &node->ops);
	spin_unlock(&node->ops_lock);
	return op;
}

/* Frees a message that is the upper layer's alone. Context: thread. */
void lnd_host_op_end(struct lnd_host_op *op)
{
	spin_lock(&op->node->ops_lock);
	list_del(&op->list);
	spin_unlock(&op->node->ops_lock);
	lnd_host_unmap(&op->node->window, &op->map, &op->payload, false);
	lnd_host_payload_put(&op->payload);
	lnd_host_op_free(op);
}

static void lnd_host_refuse(struct lnd_host_node *node, const struct lnd_arrival *arrival,
			    enum lnd_refusal why)
{
	lnd_host_count(LND_HOST_DENIED);
	lnd_refuse(node->ni, arrival->request, why, arrival->now);
}

/* What a header asks for: enum lnd_kind, or 0 if it makes no sense. */
static u32 lnd_host_wanted(const struct lnd_arrival *arrival, struct lnd_host_header *header)
{
	u32 kind, length;

	if (arrival->header_len != sizeof(*header))
		return 0;
	memcpy(header, arrival->header, sizeof(*header));
	kind = le32_to_cpu(header->kind);
	length = le32_to_cpu(header->length);
	if (le32_to_cpu(header->magic) != LND_HOST_MAGIC || length > LND_HOST_LONGEST)
		return 0;
	/* A GET whose REPLY is short, or is routed, comes as a mere header. */
	if (kind == LND_GET && arrival->kind != LND_REQUEST_PUT)
		return kind;
	if ((kind == LND_PUT || kind == LND_REPLY) && arrival->kind != LND_REQUEST_GET &&
	    arrival->len == length)
		return kind;
	return 0;
}

/* Says yes to a request: to receive into a message's memory, or to give from it. */
static bool lnd_host_accept(struct lnd_host_op *op, const struct lnd_arrival *arrival, bool give)
{
	struct lnd_verdict verdict = {
		.size = sizeof(verdict),
		.frags = op->map.frags,
		.nfrags = op->map.nfrags,
		.len = op->payload.length,
		.deadline = arrival->now + lnd_host_deadline_ms * (u64)NSEC_PER_MSEC,
		.user = (uintptr_t)op,
	};
	struct lnd_host_node *node = op->node;
	enum lnd_error error;

	if (give)
		error = lnd_give(node->ni, arrival->request, &verdict, arrival->now, NULL);
	else
		error = lnd_recv(node->ni, arrival->request, &verdict, arrival->now, NULL);
	if (error && error != LND_E_GONE)
		lnd_host_refuse(node, arrival, LND_REFUSE_FAILED);
	return !error;
}

/* A REPLY to a GET of ours. */
static void lnd_host_reply(struct lnd_host_node *node, const struct lnd_arrival *arrival,
			   const struct lnd_host_header *header)
{
	struct lnd_host_op *op, *found = NULL;

	spin_lock(&node->ops_lock);
	list_for_each_entry(op, &node->ops, list) {
		if (op->worker && op->kind == LND_GET && op->peer == arrival->nid &&
		    op->seed == le64_to_cpu(header->seed))
			found = op;
	}
	spin_unlock(&node->ops_lock);
	if (!found || found->receiving || found->answered ||
	    arrival->len != found->payload.length) {
		lnd_host_count(LND_HOST_UNWANTED);
		lnd_host_refuse(node, arrival, LND_REFUSE_NO_MATCH);
		return;
	}
	found->receiving = lnd_host_accept(found, arrival, false);
}

/* Does what a peer's PUT or GET asks for. */
static bool lnd_host_serve(struct lnd_host_op *op, const struct lnd_arrival *arrival)
{
	if (op->kind == LND_PUT)
		return lnd_host_accept(op, arrival, false);
	if (arrival->kind == LND_REQUEST_GET)
		return lnd_host_accept(op, arrival, true);
	/* The request is dealt with; its answer is a message of our own. */
	lnd_refuse(op->node->ni, arrival->request, LND_REFUSE_NO_MATCH, arrival->now);
	return lnd_host_submit(op, LND_REPLY, arrival->nid) == LND_OK;
}

/**
 * lnd_host_parse() - A peer's request.
 * @node: the node.
 * @arrival: the request.
 *
 * Context: the node's thread, with nothing held; the only place where a verdict is given, so that
 * an inline payload need not be copied first.
 */
void lnd_host_parse(struct lnd_host_node *node, const struct lnd_arrival *arrival)
{
	struct lnd_host_header header;
	struct lnd_host_op *op;
	u32 kind = lnd_host_wanted(arrival, &header);

	if (!kind) {
		lnd_host_count(LND_HOST_NONSENSE);
		lnd_host_refuse(node, arrival, LND_REFUSE_BAD_REQUEST);
		return;
	}
	if (kind == LND_REPLY) {
		lnd_host_reply(node, arrival, &header);
		return;
	}
	op = lnd_host_op_new(node, kind, le32_to_cpu(header.length), le64_to_cpu(header.seed));
	if (!op) {
		lnd_host_refuse(node, arrival, LND_REFUSE_NO_RESOURCES);
		return;
	}
	op->peer = arrival->nid;
	if (kind == LND_GET)
		lnd_host_payload_fill(&op->payload, op->seed);
	if (lnd_host_map(&node->window, &op->map, &op->payload, kind == LND_PUT)) {
		lnd_host_op_end(op);
		lnd_host_refuse(node, arrival, LND_REFUSE_NO_RESOURCES);
		return;
	}
	lnd_host_count(LND_HOST_ASKED);
	if (!lnd_host_serve(op, arrival)) {
		/* Nothing will be reported. */
		lnd_host_count(LND_HOST_ASKED_ERROR);
		lnd_host_op_end(op);
	}
}

/* Payload has arrived: takes it out of the window and compares it. */
static void lnd_host_verify(struct lnd_host_op *op, u32 bytes)
{
	lnd_host_unmap(&op->node->window, &op->map, &op->payload, true);
	if (bytes == op->payload.length && lnd_host_payload_good(&op->payload, bytes, op->seed))
		lnd_host_count(LND_HOST_VERIFIED);
	else
		lnd_host_count(LND_HOST_CORRUPT);
}

/* The end of a message, with all that belongs to it. */
static void lnd_host_end(struct lnd_host_op *op)
{
	if (op->worker)
		lnd_host_client_done(op, op->error, op->error ? 0 : op->payload.length);
	else
		lnd_host_count(op->error ? LND_HOST_ASKED_ERROR : LND_HOST_ASKED_OK);
	lnd_host_op_end(op);
}

/* Whether a message of ours, of which this is one end, has another end to come. */
static bool lnd_host_half(struct lnd_host_op *op, const struct lnd_report *report)
{
	if (!op->worker || op->kind != LND_GET || report->reply)
		return false;
	if (report->role == LND_ROLE_IMMEDIATE) {
		op->sent = true;
		return op->receiving || !(report->error || op->answered);
	}
	op->receiving = false;
	op->answered = true;
	return !op->sent;
}

/**
 * lnd_host_finalize() - A transfer's one end.
 * @node: the node.
 * @report: the end.
 *
 * Context: the node's thread, with nothing held.
 */
void lnd_host_finalize(struct lnd_host_node *node, const struct lnd_report *report)
{
	struct lnd_host_op *op = (void *)(uintptr_t)report->user;
	bool sink = report->role == LND_ROLE_PUT_SINK || report->role == LND_ROLE_INLINE_SINK ||
		    report->role == LND_ROLE_GET_PULL || report->role == LND_ROLE_GET_SINK;

	atomic_inc(&node->health[report->health % ARRAY_SIZE(node->health)]);
	/* The request of a GET may fail although its REPLY comes. */
	if (sink || !op->answered)
		op->error = report->error;
	if (!report->error && sink)
		lnd_host_verify(op, report->bytes);
	if (!lnd_host_half(op, report))
		lnd_host_end(op);
}

/**
 * lnd_host_expire() - Ends GETs of ours whose REPLY does not come.
 * @node: the node.
 * @peer: those to this peer, or 0: those whose time is over.
 * @error: how they end.
 *
 * Context: the node's thread.
 */
void lnd_host_expire(struct lnd_host_node *node, u64 peer, int error)
{
	u64 now = ktime_get_ns(), allowed = lnd_host_deadline_ms * (u64)NSEC_PER_MSEC;
	struct lnd_host_op *op, *next;
	LIST_HEAD(late);

	spin_lock(&node->ops_lock);
	list_for_each_entry_safe(op, next, &node->ops, list) {
		/* No report will name one of these: they are ours alone. */
		if (op->worker && op->sent && !op->receiving &&
		    (peer ? op->peer == peer || peer == U64_MAX : op->begun + allowed < now))
			list_move(&op->list, &late);
	}
	spin_unlock(&node->ops_lock);
	list_for_each_entry_safe(op, next, &late, list) {
		op->error = error;
		lnd_host_end(op);
	}
}
