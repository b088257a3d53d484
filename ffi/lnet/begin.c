// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The beginning of a transfer: mapped, and given to the library; or it waits for room. */
#include "lnet.h"

/* LNet's header as it is on the wire; its length says with which kind of NIDs. */
static u32 lnd_lnet_header(const struct lnet_msg *msg, void *header)
{
	const struct lnet_hdr *hdr = &msg->msg_hdr;

	BUILD_BUG_ON(sizeof(struct lnet_hdr_nid16) > LND_MAX_HEADER);
	BUILD_BUG_ON(sizeof(struct lnet_hdr_nid16) == sizeof(struct lnet_hdr_nid4));
	if (nid_is_nid4(&hdr->dest_nid) && nid_is_nid4(&hdr->src_nid)) {
		lnet_hdr_to_nid4(hdr, header);
		return sizeof(struct lnet_hdr_nid4);
	}
	lnet_hdr_to_nid16(hdr, header);
	return sizeof(struct lnet_hdr_nid16);
}

static enum lnd_error lnd_lnet_submit(struct lnd_lnet_message *message)
{
	u8 header[LND_MAX_HEADER];
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = message->kind,
		.nid = message->nid,
		.link = LND_ANY_LINK,
		/* Whether a GET is optimised is decided here, for LNet must know it before. */
		.routed = message->kind == LND_GET && !message->reply,
		.header = header,
		.header_len = lnd_lnet_header(message->msg, header),
		.frags = message->map.frags,
		.nfrags = message->map.nfrags,
		.deadline = message->deadline,
		.user = (uintptr_t)message,
	};

	struct lnd_report report = { .size = sizeof(report) };
	enum lnd_error error;

	error = lnd_submit(message->node->ni, &request, lnd_host_now(), NULL, &report);
	if (error != LND_DONE)
		return error;
	/* A short one is in its mailbox: LNet is told here, without a change of threads. */
	lnd_host_ended(message->node, &report);
	return LND_OK;
}

/* Receives into, or answers from, the pages of a request. */
static enum lnd_error lnd_lnet_decide(struct lnd_lnet_message *message)
{
	struct lnd_decision decision = {
		.size = sizeof(decision),
		.frags = message->map.frags,
		.nfrags = message->map.nfrags,
		.len = message->payload.length,
		.deadline = message->deadline,
		.user = (uintptr_t)message,
	};
	struct lnd_ni *ni = message->node->ni;
	struct lnd_request request = message->request;
	enum lnd_error error;

	if (message->kind == LND_REQUEST_GET)
		error = lnd_reply(ni, request, &decision, lnd_host_now(), NULL);
	else
		error = lnd_recv(ni, request, &decision, lnd_host_now(), NULL, NULL);
	if (error != LND_E_GONE && error != LND_E_STALE)
		return error;
	/* It has ended before, with its peer or by it. Stale: its slot is in use again. */
	lnd_lnet_count(message->node->upper, LND_LNET_TAKEN_BACK);
	return LND_E_GONE;
}

/*
 * Whether a payload is read where it is: it goes inside its message, so no engine reads it. Every
 * machine of a network takes LND_HOST_INLINE bytes so.
 */
static bool lnd_lnet_in_place(const struct lnd_lnet_message *message)
{
	return LND_LNET_READS_IN_PLACE && message->way == LND_LNET_SENT &&
	       message->kind != LND_GET && message->payload.length <= LND_HOST_INLINE &&
	       message->payload.pages <= message->map.room;
}

static void lnd_lnet_point(struct lnd_lnet_message *message)
{
	unsigned int i;

	for (i = 0; i < message->payload.pages; i++) {
		const struct bio_vec *bv = &message->payload.bv[i];

		message->map.frags[i] = (struct lnd_frag) {
			.addr = (uintptr_t)page_address(bv->bv_page) + bv->bv_offset,
			.len = bv->bv_len,
		};
	}
	message->map.nfrags = i;
}

/* Maps and submits a message, or decides on a request. LND_E_NO_SLOTS: there is no room now. */
static enum lnd_error lnd_lnet_begin(struct lnd_lnet_message *message)
{
	bool written = message->way == LND_LNET_CAME ? message->kind != LND_REQUEST_GET :
						       message->kind == LND_GET;

	if (lnd_lnet_in_place(message))
		lnd_lnet_point(message);
	else if (message->payload.length && !message->map.mapped &&
		 lnd_host_map(&message->node->window, &message->map, &message->payload, written,
			      LND_HOST_NO_WAIT))
		return LND_E_NO_SLOTS;
	return message->way == LND_LNET_CAME ? lnd_lnet_decide(message) : lnd_lnet_submit(message);
}

/* A message waits for room: one of a peer's among its like, one of ours in its turn. */
static void lnd_lnet_wait(struct lnd_lnet_message *message)
{
	struct lnd_host_upper *upper = message->node->upper;
	bool again = message->waits;

	message->waits = true;
	spin_lock(&upper->lock);
	if (message->way == LND_LNET_CAME)
		list_move_tail(&message->list, &upper->hungry);
	else if (again)
		list_move(&message->list, &upper->waiting);
	else
		list_move_tail(&message->list, &upper->waiting);
	spin_unlock(&upper->lock);
	/* From here on the node's thread may end it. */
	if (!again) {
		lnd_lnet_count(upper, LND_LNET_WAITED);
		lnd_host_node_wake(upper->node);
	}
}

/*
 * Gives a message to the library, or lets it wait for room. It is in the list of what the library
 * has: the report may come, and free it, before this returns. Returns whether it does not wait.
 */
static bool lnd_lnet_attempt(struct lnd_lnet_message *message)
{
	enum lnd_error error = lnd_lnet_begin(message);

	if (!error)
		return true;
	if (error == LND_E_NO_SLOTS || error == LND_E_NO_LISTS || error == LND_E_WAIT) {
		if (message->deadline > lnd_host_now()) {
			lnd_lnet_wait(message);
			return false;
		}
		error = LND_E_DEADLINE;
	}
	/* Else the peer would wait for its deadline. */
	if (message->way == LND_LNET_CAME && error != LND_E_GONE)
		lnd_nak(message->node->ni, message->request, LND_NAK_FAILED, lnd_host_now());
	lnd_lnet_end(message, lnd_error_errno(error), lnd_error_health(error), 0);
	return true;
}

/**
 * lnd_lnet_try() - Gives a message to the library, or lets it wait for room.
 * @message: in a list of its node, or in none yet.
 *
 * LNet does not try again, so a message that it may not refuse waits here. What needs the window
 * waits behind those that wait for it: whenever LNet is told of an end it sends the next message,
 * which would always come before them.
 *
 * Context: thread, with nothing held. Does not wait.
 */
void lnd_lnet_try(struct lnd_lnet_message *message)
{
	struct lnd_host_upper *upper = message->node->upper;

	if (message->way == LND_LNET_SENT && message->payload.length &&
	    !lnd_lnet_in_place(message) && !list_empty(&upper->waiting)) {
		lnd_lnet_wait(message);
		return;
	}
	lnd_lnet_enter(message, &upper->messages);
	lnd_lnet_attempt(message);
}

/**
 * lnd_lnet_retry() - Tries the messages that wait for room; the node has reported since, perhaps.
 * @upper: the node's.
 * @now: the time.
 *
 * Peers' requests come first, each of them: they wait for different things, and free what others
 * wait for. Those of ours keep their order.
 *
 * Context: the node's thread.
 * Return: when to call again, if nothing is reported before.
 */
u64 lnd_lnet_retry(struct lnd_host_upper *upper, u64 now)
{
	struct lnd_lnet_message *message;
	LIST_HEAD(hungry);
	bool any;

	spin_lock(&upper->lock);
	list_splice_init(&upper->hungry, &hungry);
	spin_unlock(&upper->lock);
	while ((message = lnd_lnet_first(upper, &hungry, &upper->messages)))
		lnd_lnet_attempt(message);
	while ((message = lnd_lnet_first(upper, &upper->waiting, &upper->messages)) &&
	       lnd_lnet_attempt(message))
		cond_resched();
	spin_lock(&upper->lock);
	any = !list_empty(&upper->waiting) || !list_empty(&upper->hungry);
	spin_unlock(&upper->lock);
	return any ? now + 10 * NSEC_PER_MSEC : LND_NEVER;
}
