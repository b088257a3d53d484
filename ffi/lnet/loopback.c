// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Messages of an interface to itself, which LNet sends through its driver. They meet no library:
 * the payload is copied from page to page when LNet receives it.
 */
#include <linux/uio.h>

#include "lnet.h"

/**
 * lnd_lnet_loop() - Accepts a message to ourselves.
 * @upper: the node's.
 * @msg: the message. A GET is not optimised: its REPLY is another such message.
 *
 * LNet may call from within lnet_parse(), so a work item calls lnet_parse() again.
 *
 * Context: thread.
 * Return: 0 or -ENOMEM.
 */
int lnd_lnet_loop(struct lnd_host_upper *upper, struct lnet_msg *msg)
{
	struct lnd_lnet_message *message;
	enum lnet_msg_hstatus health;

	message = lnd_lnet_message_new(upper->node, LND_LNET_LOOPED, 0, LND_LNET_NO_FS);
	if (!message)
		return -ENOMEM;
	message->msg = msg;
	lnd_lnet_count(upper, LND_LNET_LOOPS);
	if (lnet_send_error_simulation(msg, &health)) {
		lnd_lnet_end(message, -EIO, health, 0);
		return 0;
	}
	/* In one: a work item that runs already may end it, and LNet the interface. */
	spin_lock(&upper->lock);
	list_move_tail(&message->list, &upper->looped);
	queue_work(system_unbound_wq, &upper->loop);
	spin_unlock(&upper->lock);
	return 0;
}

/* Context: work. */
void lnd_lnet_loop_work(struct work_struct *work)
{
	struct lnd_host_upper *upper = container_of(work, struct lnd_host_upper, loop);
	struct lnd_lnet_message *message;

	while ((message = lnd_lnet_first(upper, &upper->looped, &upper->undecided))) {
		struct lnet_hdr hdr = message->msg->msg_hdr;
		struct lnet_nid from = upper->ni->ni_nid;
		int rc = lnet_parse(upper->ni, &hdr, &from, message, 0);

		/* After a success lnd_recv() owns the message. */
		if (rc < 0)
			lnd_lnet_end(message, rc, LNET_MSG_STATUS_LOCAL_DROPPED, 0);
	}
}

/* Copies the first @left bytes of a message's payload. */
static bool lnd_lnet_loop_copy(const struct lnet_msg *from, struct iov_iter *to, size_t left)
{
	const struct bio_vec *bv = from->msg_kiov;
	unsigned int niov = from->msg_niov, offset = from->msg_offset;

	for (; left && niov; bv++, niov--) {
		size_t length;

		if (offset >= bv->bv_len) {
			offset -= bv->bv_len;
			continue;
		}
		length = min_t(size_t, left, bv->bv_len - offset);
		if (copy_page_to_iter(bv->bv_page, bv->bv_offset + offset, length, to) != length)
			return false;
		left -= length;
		offset = 0;
	}
	return !left;
}

/**
 * lnd_lnet_loop_recv() - Receives a message of our own.
 * @message: the message.
 * @msg: LNet's message at the receiving end; NULL: drop the payload.
 * @to: where the payload goes.
 *
 * Context: thread.
 * Return: 0.
 */
int lnd_lnet_loop_recv(struct lnd_lnet_message *message, struct lnet_msg *msg,
		       struct iov_iter *to)
{
	size_t wanted = msg && to ? iov_iter_count(to) : 0;
	int error = 0;

	if (wanted > message->msg->msg_len ||
	    !lnd_lnet_loop_copy(message->msg, to, wanted))
		error = -EFAULT;
	lnd_lnet_end(message, error, error ? LNET_MSG_STATUS_LOCAL_ERROR : LNET_MSG_STATUS_OK, 0);
	if (msg) {
		msg->msg_health_status = error ? LNET_MSG_STATUS_LOCAL_ERROR :
						 LNET_MSG_STATUS_OK;
		lnet_finalize(msg, error);
	}
	return 0;
}
