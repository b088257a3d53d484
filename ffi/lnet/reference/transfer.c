// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Messages of the reference LND, from lnd_send() to lnd_recv(). */
#include <linux/delay.h>
#include <linux/slab.h>

#include "reference.h"

LIST_HEAD(ref_nis);
LIST_HEAD(ref_pending);
DEFINE_SPINLOCK(ref_lock);
DECLARE_WAIT_QUEUE_HEAD(ref_changed);
static u64 ref_cookies;
static void ref_pump(struct work_struct *work);
DECLARE_WORK(ref_work, ref_pump);

static struct ref_ni *ref_find(const struct lnet_nid *nid)
{
	struct ref_ni *ref;

	list_for_each_entry(ref, &ref_nis, link)
		if (nid_same(&ref->ni->ni_nid, nid))
			return ref;
	return NULL;
}

static void ref_finalize(struct lnet_msg *msg, int status, enum lnet_msg_hstatus health)
{
	if (!msg)
		return;
	msg->msg_health_status = status ? health : LNET_MSG_STATUS_OK;
	ref_seed_finalize(msg, status);
}

void ref_end(struct ref_tx *tx, int status, enum lnet_msg_hstatus health)
{
	ref_finalize(tx->reply, status, health);
	ref_finalize(tx->msg, status, health);
	kfree(tx);
}

static void ref_release(struct ref_ni *ref, int credits)
{
	spin_lock(&ref_lock);
	ref->held--;
	ref->credits += credits;
	/* Woken under the lock: after it the NI may be gone. */
	wake_up_all(&ref_changed);
	spin_unlock(&ref_lock);
	if (credits)
		schedule_work(&ref_work);
}

int ref_send(struct lnet_ni *ni, void *private, struct lnet_msg *msg)
{
	struct ref_tx *tx = kzalloc(sizeof(*tx), GFP_NOFS);
	bool router = msg->msg_target_is_router || msg->msg_routing;
	bool unreachable;

	if (!tx)
		return -ENOMEM;
	tx->msg = msg;
	tx->from = ni->ni_data;
	tx->to = msg->msg_target.nid;
	if (lnet_send_error_simulation(msg, &tx->health) && !REF_SEEDED(simulation))
		tx->status = -EIO;
	if (msg->msg_type == LNET_MSG_GET && msg->msg_md->md_length >= REF_OPTIMISED &&
	    (!router || REF_SEEDED(routed))) {
		tx->reply = lnet_create_reply_msg(ni, msg);
		if (!tx->reply) {
			kfree(tx);
			return -ENOMEM;
		}
	}
	spin_lock(&ref_lock);
	tx->cookie = ++ref_cookies;
	unreachable = !ref_find(&tx->to);
	if (!(REF_SEEDED(refused) && unreachable))
		list_add_tail(&tx->link, &ref_pending);
	spin_unlock(&ref_lock);
	if (REF_SEEDED(refused) && unreachable) {
		ref_end(tx, -EHOSTUNREACH, LNET_MSG_STATUS_LOCAL_NO_ROUTE);
		return -EHOSTUNREACH;
	}
	schedule_work(&ref_work);
	if (REF_SEEDED(blocks)) {
		ref_seed = REF_SEED_none;
		ssleep(lnet_get_lnd_timeout());
	}
	return REF_SEEDED(parse_refused) ? -EAGAIN : 0;
}

/* The first message that can go, with a credit and a hold of its target's. */
static struct ref_tx *ref_next(struct ref_ni **to)
{
	struct ref_tx *tx;

	spin_lock(&ref_lock);
	list_for_each_entry(tx, &ref_pending, link) {
		*to = tx->status ? NULL : ref_find(&tx->to);
		if (*to && !(*to)->credits)
			continue;
		list_del(&tx->link);
		if (*to) {
			(*to)->credits--;
			(*to)->held++;
			if (tx->reply)
				list_add_tail(&tx->link, &tx->from->gets);
		}
		spin_unlock(&ref_lock);
		return tx;
	}
	spin_unlock(&ref_lock);
	return NULL;
}

static struct ref_rx *ref_copy(struct ref_ni *to, struct ref_tx *tx)
{
	struct lnet_msg *msg = tx->msg;
	unsigned int length = msg->msg_hdr.payload_length;
	struct ref_rx *rx = kvzalloc(sizeof(*rx) + length + 1, GFP_NOFS);
	struct iov_iter from;

	if (!rx)
		return NULL;
	rx->at = to;
	rx->hdr = msg->msg_hdr;
	rx->from = tx->from->ni->ni_nid;
	rx->cookie = tx->reply ? tx->cookie : 0;
	rx->length = length;
	if (REF_SEEDED(early) && length)
		ref_finalize(msg, 0, 0);
	iov_iter_bvec(&from, ITER_SOURCE, msg->msg_kiov, msg->msg_niov, msg->msg_offset + length);
	iov_iter_advance(&from, msg->msg_offset);
	if (copy_from_iter(rx->data, length, &from) != length) {
		kvfree(rx);
		return NULL;
	}
	if (REF_SEEDED(header) && rx->hdr.type == LNET_MSG_ACK)
		rx->hdr.dest_pid++;
	if (REF_SEEDED(wrong) && length)
		rx->data[length / 2] ^= 1;
	return rx;
}

/* Data for an optimised GET, or its end without any. */
static int ref_answer(struct ref_rx *rx, struct lnet_msg *msg, int status)
{
	struct ref_tx *tx = NULL, *one;
	struct ref_ni *asker;
	struct iov_iter from;
	unsigned int i, length = 0;

	spin_lock(&ref_lock);
	asker = ref_find(&rx->from);
	if (asker)
		list_for_each_entry(one, &asker->gets, link)
			if (one->cookie == rx->cookie)
				tx = one;
	if (tx) {
		list_del(&tx->link);
		asker->held++;
	}
	spin_unlock(&ref_lock);
	if (!tx)
		return -EHOSTUNREACH;
	if (!status) {
		struct lnet_libmd *md = tx->msg->msg_md;

		iov_iter_bvec(&from, ITER_SOURCE, msg->msg_kiov, msg->msg_niov,
			      msg->msg_offset + msg->msg_len);
		iov_iter_advance(&from, msg->msg_offset);
		for (i = 0; i < md->md_niov; i++)
			length += copy_page_from_iter(md->md_kiov[i].bv_page,
						      md->md_kiov[i].bv_offset,
						      md->md_kiov[i].bv_len, &from);
		if (!REF_SEEDED(reply_length))
			lnet_set_reply_msg_len(tx->from->ni, tx->reply, length);
	}
	if (REF_SEEDED(reply_ok))
		status = 0;
	ref_end(tx, status, LNET_MSG_STATUS_REMOTE_ERROR);
	ref_release(asker, 0);
	return 0;
}

static void ref_deliver(struct ref_ni *to, struct ref_tx *tx)
{
	bool get = tx->reply;
	struct ref_rx *rx = ref_copy(to, tx);
	struct lnet_nid from = tx->from->ni->ni_nid;
	struct lnet_hdr hdr;
	int rc;

	if (!rx) {
		if (get) {
			spin_lock(&ref_lock);
			list_del(&tx->link);
			spin_unlock(&ref_lock);
		}
		ref_release(to, 1);
		ref_end(tx, -ENOMEM, LNET_MSG_STATUS_LOCAL_ERROR);
		return;
	}
	if (REF_SEEDED(parse_refused))
		msleep(20);
	if (!get && (REF_SEEDED(parse_refused) || (REF_SEEDED(early) && rx->length)))
		kfree(tx);
	else if (!get)
		ref_end(tx, 0, 0);
	if (REF_SEEDED(lost)) {
		kvfree(rx);
		ref_release(to, 1);
		return;
	}
	if (REF_SEEDED(parse_atomic))
		preempt_disable();
	hdr = rx->hdr;
	rc = lnet_parse(to->ni, &rx->hdr, &rx->from, rx, get);
	if (REF_SEEDED(parse_atomic))
		preempt_enable();
	if (REF_SEEDED(parse_twice))
		lnet_parse(to->ni, &hdr, &from, rx, get);
	if (rc >= 0)
		return;
	if (get)
		ref_answer(rx, NULL, -EPROTO);
	kvfree(rx);
	ref_release(to, !REF_SEEDED(credit_refuse));
}

static void ref_pump(struct work_struct *work)
{
	struct ref_tx *tx;
	struct ref_ni *to;

	while ((tx = ref_next(&to))) {
		if (to)
			ref_deliver(to, tx);
		else if (tx->status)
			ref_end(tx, tx->status, tx->health);
		else
			ref_end(tx, -EHOSTUNREACH, LNET_MSG_STATUS_REMOTE_ERROR);
	}
}

static int ref_recv_bytes(struct ref_rx *rx, struct lnet_msg *msg, struct iov_iter *to)
{
	size_t wanted = iov_iter_count(to);

	if (wanted > rx->length)
		return -EPROTO;
	if (REF_SEEDED(short))
		wanted /= 2;
	if (REF_SEEDED(beyond) && wanted)
		to->count = ++wanted;
	return copy_to_iter(rx->data, wanted, to) == wanted ? 0 : -EFAULT;
}

int ref_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg, int delayed,
	     LND_RECV_SINK, unsigned int rlen)
{
	struct ref_rx *rx = private;
	struct ref_ni *at = rx->at;
	struct page *page;
	int rc;

	LND_RECV_ITER(to);
	if (rx->cookie) {
		rc = ref_answer(rx, msg, msg ? 0 : -ENODATA);
		ref_finalize(msg, rc, LNET_MSG_STATUS_REMOTE_ERROR);
	} else if (msg) {
		page = msg->msg_niov ? msg->msg_kiov[0].bv_page : NULL;
		rc = ref_recv_bytes(rx, msg, to);
		ref_finalize(msg, rc, LNET_MSG_STATUS_LOCAL_ERROR);
		if (REF_SEEDED(late_write) && page)
			*((u8 *)page_address(page) + msg->msg_kiov[0].bv_offset) = 1;
	}
	kvfree(rx);
	if ((REF_SEEDED(credit_drop) && !msg) || (REF_SEEDED(credit_eager) && delayed))
		ref_release(at, 0);
	else
		ref_release(at, 1);
	return 0;
}

/* The payload is in memory of its own from the start. */
int ref_eager_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg, void **new_private)
{
	struct ref_rx *rx = private;

	*new_private = private;
	if (!REF_SEEDED(eager))
		return 0;
	ref_release(rx->at, 1);
	kvfree(rx);
	return -ENOMEM;
}
