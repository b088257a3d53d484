// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A message and its page. */
#include <linux/slab.h>

#include "skeleton.h"

/**
 * lnd_skeleton_free() - Ends a message: its page is unmapped, copied if it was received, and freed.
 * @node: the node.
 * @message: the message or NULL.
 *
 * Context: thread.
 */
void lnd_skeleton_free(struct lnd_host_node *node, struct lnd_skeleton_message *message)
{
	if (!message)
		return;
	lnd_host_unmap(&node->window, &message->map, &message->payload, message->received);
	lnd_host_map_free(&message->map);
	if (message->bv.bv_page)
		lnd_host_put_page(message->bv.bv_page);
	kfree(message);
}

/**
 * lnd_skeleton_new() - A message with a page, mapped.
 * @node: the node.
 * @length: bytes of payload, at most a page.
 * @received: whether engines write it; else they read it.
 * @gfp: as in lnd_host_alloc().
 *
 * Context: thread.
 * Return: the message, or NULL: no memory.
 */
struct lnd_skeleton_message *lnd_skeleton_new(struct lnd_host_node *node, u32 length,
					      bool received, gfp_t gfp)
{
	struct lnd_skeleton_message *message = kzalloc(sizeof(*message), gfp);

	if (!message)
		return NULL;
	message->received = received;
	message->bv.bv_page = lnd_host_page(gfp);
	message->bv.bv_len = length;
	message->payload.bv = &message->bv;
	message->payload.pages = length ? 1 : 0;
	message->payload.length = length;
	if (message->bv.bv_page &&
	    !lnd_host_map(&node->window, &message->map, &message->payload, received, gfp))
		return message;
	lnd_skeleton_free(node, message);
	return NULL;
}
