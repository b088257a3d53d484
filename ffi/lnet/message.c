// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* One message, from LNet's call or a peer's request to its one end. */
#include <linux/slab.h>

#include "lnet.h"

/**
 * lnd_lnet_message_new() - A message with room for its pages.
 * @node: its node.
 * @way: where it comes from.
 * @pages: the most pages of its payload.
 * @gfp: as in lnd_host_alloc(), or LND_LNET_NO_FS.
 *
 * Context: thread.
 * Return: the message, or NULL.
 */
struct lnd_lnet_message *lnd_lnet_message_new(struct lnd_host_node *node, enum lnd_lnet_way way,
					      unsigned int pages, gfp_t gfp)
{
	struct lnd_lnet_message *message;

	message = lnd_host_alloc(sizeof(*message), gfp, LND_HOST_AT_MESSAGE);
	if (!message)
		return NULL;
	lnd_host_hold(LND_HOST_HELD_OPS, 1);
	INIT_LIST_HEAD(&message->list);
	init_completion(&message->parsed);
	refcount_set(&message->holders, 1);
	message->node = node;
	message->way = way;
	message->begun = lnd_host_now();
	message->deadline = lnd_lnet_deadline(node->upper);
	if (pages <= LND_LNET_FEW) {
		message->payload.bv = message->few;
		message->map.frags = message->few_frags;
		message->map.room = LND_LNET_FEW;
		message->room = LND_LNET_FEW;
		return message;
	}
	message->payload.bv = lnd_host_alloc(array_size(pages, sizeof(*message->payload.bv)), gfp,
					     LND_HOST_AT_VECTORS);
	message->room = pages;
	if (message->payload.bv && !lnd_host_map_room(&message->map, pages, gfp))
		return message;
	lnd_lnet_put(message);
	return NULL;
}

/* Gives up one holder's share; with the last one the message is freed. Context: thread. */
void lnd_lnet_put(struct lnd_lnet_message *message)
{
	if (!refcount_dec_and_test(&message->holders))
		return;
	lnd_host_unmap(&message->node->window, &message->map, &message->payload, false);
	if (message->payload.bv != message->few) {
		lnd_host_map_free(&message->map);
		lnd_host_free(message->payload.bv,
			      array_size(message->room, sizeof(struct bio_vec)));
	}
	if (message->copy)
		lnd_host_free(message->copy, LND_HOST_INLINE);
	lnd_host_hold(LND_HOST_HELD_OPS, -1);
	lnd_host_free(message, sizeof(*message));
}

/**
 * lnd_lnet_reuse() - As lnd_lnet_put(); but the last holder's is for the node's next request.
 * @message: a peer's request.
 *
 * To allocate a request, all of its memory set to zeros, takes longer than all else that a short
 * one needs.
 *
 * Context: the node's thread, which ends before the spare one is freed.
 */
void lnd_lnet_reuse(struct lnd_lnet_message *message)
{
	struct lnd_host_upper *upper = message->node->upper;

	if (!refcount_dec_and_test(&message->holders))
		return;
	refcount_set(&message->holders, 1);
	/* Its pages were unmapped when it ended. */
	message->msg = NULL;
	message->payload.length = 0;
	message->payload.pages = 0;
	message->map.nfrags = 0;
	message->decided = false;
	message->waits = false;
	reinit_completion(&message->parsed);
	if (cmpxchg(&upper->spare, NULL, message))
		lnd_lnet_put(message);
}

/* Puts a message into a list of its node, out of the list that it was in. Context: thread. */
void lnd_lnet_enter(struct lnd_lnet_message *message, struct list_head *list)
{
	struct lnd_host_upper *upper = message->node->upper;

	spin_lock(&upper->lock);
	list_move_tail(&message->list, list);
	spin_unlock(&upper->lock);
}

/* Moves the first message of a list to the end of another one. Returns it. Context: thread. */
struct lnd_lnet_message *lnd_lnet_first(struct lnd_host_upper *upper, struct list_head *from,
					struct list_head *to)
{
	struct lnd_lnet_message *message;

	spin_lock(&upper->lock);
	message = list_first_entry_or_null(from, struct lnd_lnet_message, list);
	if (message)
		list_move_tail(&message->list, to);
	spin_unlock(&upper->lock);
	return message;
}

/* Takes a message out of its list. Context: thread. */
void lnd_lnet_leave(struct lnd_lnet_message *message)
{
	struct lnd_host_upper *upper = message->node->upper;

	spin_lock(&upper->lock);
	list_del_init(&message->list);
	spin_unlock(&upper->lock);
}

/**
 * lnd_lnet_pages() - Notes the fragments of a payload. Nothing is copied.
 * @message: with room for them.
 * @kiov: LNet's fragments.
 * @niov: their number.
 * @offset: bytes to skip.
 * @length: bytes of the payload.
 *
 * Context: thread. Does not wait.
 * Return: 0, or -EMSGSIZE.
 */
int lnd_lnet_pages(struct lnd_lnet_message *message, const struct bio_vec *kiov,
		   unsigned int niov, unsigned int offset, unsigned int length)
{
	struct lnd_host_payload *payload = &message->payload;
	u32 left = length;

	payload->pages = 0;
	payload->length = length;
	for (; left && niov; kiov++, niov--) {
		struct bio_vec *bv = &payload->bv[payload->pages];

		if (offset >= kiov->bv_len) {
			offset -= kiov->bv_len;
			continue;
		}
		if (payload->pages == message->room)
			return -EMSGSIZE;
		*bv = *kiov;
		bv->bv_offset += offset;
		bv->bv_len = min(left, kiov->bv_len - offset);
		left -= bv->bv_len;
		offset = 0;
		payload->pages++;
	}
	return left ? -EMSGSIZE : 0;
}

/**
 * lnd_lnet_end() - The one end of a message: its pages come back first, then LNet is told.
 * @message: which the caller holds no longer.
 * @error: 0, or a negative errno.
 * @health: the class of the error.
 * @bytes: bytes that have arrived in its pages.
 *
 * Context: thread, with nothing held.
 */
void lnd_lnet_end(struct lnd_lnet_message *message, int error, enum lnet_msg_hstatus health,
		  u32 bytes)
{
	struct lnet_msg *msg = message->msg, *reply = message->reply;
	struct lnet_ni *ni = message->node->upper->ni;

	lnd_lnet_leave(message);
	if (message->unkept) {
		message->unkept = false;
		atomic_dec(&message->node->upper->unkept);
		lnd_host_node_wake(message->node);
	}
	/* What did not arrive is not written: LNet's memory behind it stays as it is. */
	if (message->map.written)
		message->payload.length = min(message->payload.length, bytes);
	lnd_host_unmap(&message->node->window, &message->map, &message->payload,
		       !error && message->map.written);
	lnd_lnet_put(message);
	if (reply) {
		if (!error)
			lnet_set_reply_msg_len(ni, reply, bytes);
		reply->msg_health_status = health;
	}
	if (msg) {
		msg->msg_health_status = health;
		lnet_finalize(msg, error);
	}
	if (reply)
		lnet_finalize(reply, error);
}

/**
 * lnd_lnet_drop() - Ends all messages of a list that no report will end: the interface goes.
 * @list: of upper; nothing is added meanwhile.
 *
 * Context: thread.
 */
void lnd_lnet_drop(struct list_head *list)
{
	struct lnd_lnet_message *message, *next;

	list_for_each_entry_safe(message, next, list, list)
		lnd_lnet_end(message, -ESHUTDOWN, LNET_MSG_STATUS_LOCAL_ABORTED, 0);
}
