// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* lnd_send: LNet's messages to peers. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "lnet.h"

static bool fail_fast = true;
module_param(fail_fast, bool, 0644);
MODULE_PARM_DESC(fail_fast, "without a link messages fail at once");

/* Whether LNet's message is a GET whose answer goes straight into its memory. */
static bool lnd_lnet_optimised(const struct lnet_msg *msg)
{
	/* A router cannot answer for others, and what fits one message needs no second one. */
	return msg->msg_type == LNET_MSG_GET && !msg->msg_routing && !msg->msg_target_is_router &&
	       msg->msg_md && msg->msg_md->md_length > LND_HOST_INLINE;
}

/*
 * Why a message cannot go: a negative errno and its class; 0: it can. Nothing has been sent, so
 * each class is one of those by which LNet sends it again, if it has another way.
 */
static int lnd_lnet_why_not(struct lnd_host_node *node, u64 peer, enum lnet_msg_hstatus *health)
{
	struct lnd_host_upper *upper = node->upper;
	int rc;

	if (!node->alive) {
		*health = LNET_MSG_STATUS_LOCAL_ABORTED;
		return -ESHUTDOWN;
	}
	if (!peer || !lnd_lnet_reach(node, peer)) {
		*health = LNET_MSG_STATUS_LOCAL_NO_ROUTE;
		return -EHOSTUNREACH;
	}
	if (!fail_fast && !READ_ONCE(upper->own->fail_fast))
		return 0;
	/* Whether there is a cable, not whether a link is up: one that recovers is waited for. */
	rc = lnd_lnet_way(node, peer);
	if (!rc)
		return 0;
	lnd_lnet_count(upper, LND_LNET_FAST);
	*health = rc == -ENETDOWN ? LNET_MSG_STATUS_LOCAL_DROPPED : LNET_MSG_STATUS_REMOTE_DROPPED;
	return rc;
}

/**
 * lnd_lnet_send() - lnd_send of struct lnet_lnd.
 * @ni: the interface.
 * @private: not used.
 * @msg: the message, finalized exactly once if this returns 0.
 *
 * Context: thread, also within lnet_parse() and lnet_finalize() of this module.
 * Return: 0, or a negative errno.
 */
int lnd_lnet_send(struct lnet_ni *ni, void *private, struct lnet_msg *msg)
{
	struct lnd_host_node *node = ni->ni_data;
	bool optimised = lnd_lnet_optimised(msg);
	struct lnd_lnet_message *message;
	enum lnet_msg_hstatus health;
	int rc = 0;
	u64 peer;

	lnd_lnet_count(node->upper, LND_LNET_SENDS);
	if (nid_same(&msg->msg_target.nid, &ni->ni_nid))
		return lnd_lnet_loop(node->upper, msg);
	peer = lnd_lnet_peer(node, &msg->msg_target.nid);
	message = lnd_lnet_message_new(node, LND_LNET_SENT, optimised ? msg->msg_md->md_niov :
				       msg->msg_niov, LND_LNET_NO_FS);
	if (!message)
		return -ENOMEM;
	message->nid = peer;
	message->msg = msg;
	message->kind = msg->msg_type == LNET_MSG_GET ? LND_GET :
			msg->msg_type == LNET_MSG_REPLY ? LND_REPLY : LND_PUT;
	message->map.own = true;
	if (optimised)
		rc = lnd_lnet_pages(message, msg->msg_md->md_kiov, msg->msg_md->md_niov,
				    msg->msg_md->md_offset, msg->msg_md->md_length);
	else if (msg->msg_type != LNET_MSG_GET)
		rc = lnd_lnet_pages(message, msg->msg_kiov, msg->msg_niov, msg->msg_offset,
				    msg->msg_len);
	if (rc) {
		lnd_lnet_put(message);
		return rc;
	}
	/*
	 * In no list yet: without the node's incarnation its end may come at any time, and ends
	 * what its lists have.
	 */
	if (lnet_send_error_simulation(msg, &health)) {
		lnd_lnet_end(message, -EIO, health, 0);
		return 0;
	}
	/* Not to wait: this may be the node's own thread, for which the node's end waits. */
	if (!down_read_trylock(&node->incarnation)) {
		lnd_lnet_end(message, -ESHUTDOWN, LNET_MSG_STATUS_LOCAL_ABORTED, 0);
		return 0;
	}
	rc = lnd_lnet_why_not(node, peer, &health);
	if (!rc && optimised) {
		message->reply = lnet_create_reply_msg(ni, msg);
		/* The end of a REPLY uses its memory descriptor up: LNet cannot resend the GET. */
		msg->msg_no_resend = true;
		rc = message->reply ? 0 : -EIO;
		health = LNET_MSG_STATUS_LOCAL_ERROR;
		lnd_lnet_count(node->upper, LND_LNET_OPTIMISED);
	}
	if (rc)
		lnd_lnet_end(message, rc, health, 0);
	else
		lnd_lnet_try(message);
	up_read(&node->incarnation);
	return 0;
}
