// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Seeded violations between an LND and LNet, in either direction. The parameter seed names the one
 * that is broken; it may be changed at any time. One message at a time is enough for each.
 */
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "real.h"

static char seed[16];
module_param_string(seed, seed, sizeof(seed), 0644);
MODULE_PARM_DESC(seed, "a violation of the contract, by its name");
#define SEEDED(name) unlikely(!strcmp(seed, name))

static struct lnet_lnd seeded;		/* what LNet calls */
static const struct lnet_lnd *seeded_lnd;	/* the LND */
static struct lnet_msg *seeded_early, *seeded_reply, *seeded_kept;
static bool seeded_closing;

/* A message that lnd_recv() does not get before the NI goes. */
struct seeded_held {
	struct list_head link;
	struct lnet_ni *ni;
	void *private;
};

static LIST_HEAD(seeded_holds);
static DEFINE_SPINLOCK(seeded_lock);

static int seeded_discard(struct lnet_ni *ni, void *private)
{
	struct iov_iter none;

	iov_iter_bvec(&none, ITER_DEST, NULL, 0, 0);
	return seeded_lnd->lnd_recv(ni, private, NULL, 1, &none, 0);
}

static int seeded_hold(struct lnet_ni *ni, void *private)
{
	struct seeded_held *held = kzalloc(sizeof(*held), GFP_NOFS);

	if (!held)
		return seeded_discard(ni, private);
	held->ni = ni;
	held->private = private;
	spin_lock(&seeded_lock);
	list_add_tail(&held->link, &seeded_holds);
	spin_unlock(&seeded_lock);
	return 0;
}

/* Changes the first byte of a payload. */
static void seeded_spoil(struct lnet_msg *msg, u8 with)
{
	unsigned int offset = msg->msg_offset, i;

	for (i = 0; i < msg->msg_niov; i++) {
		struct bio_vec *bv = &msg->msg_kiov[i];

		if (offset < bv->bv_len) {
			u8 *page = kmap_local_page(bv->bv_page);

			page[bv->bv_offset + offset] ^= with;
			kunmap_local(page);
			return;
		}
		offset -= bv->bv_len;
	}
}

void lnd_seeded_finalize(struct lnet_msg *msg, int status)
{
	bool put = msg && msg->msg_sending && msg->msg_type == LNET_MSG_PUT;
	bool received = msg && !msg->msg_sending && msg->msg_type == LNET_MSG_PUT;

	if (msg && msg == seeded_early) {
		seeded_early = NULL;
		return;
	}
	if (put && (SEEDED("never") || SEEDED("parse_refused")))
		return;
	if (put && seeded_closing && !seeded_kept && (SEEDED("late") || SEEDED("left"))) {
		seeded_kept = msg;
		return;
	}
	if (SEEDED("health"))
		msg->msg_health_status = LNET_MSG_STATUS_REMOTE_ERROR;
	if (put && SEEDED("status")) {
		status = -EIO;
		msg->msg_health_status = LNET_MSG_STATUS_REMOTE_ERROR;
	}
	if (msg == seeded_reply && msg && SEEDED("reply_ok")) {
		status = 0;
		msg->msg_health_status = LNET_MSG_STATUS_OK;
	}
	if (put && msg->msg_niov && SEEDED("kiov"))
		msg->msg_kiov[0].bv_len--;
	if (received && SEEDED("wrong"))
		seeded_spoil(msg, 1);
	if (SEEDED("atomic")) {
		preempt_disable();
		lnet_finalize(msg, status);
		preempt_enable();
		return;
	}
	lnet_finalize(msg, status);
	if (put && SEEDED("twice"))
		lnet_finalize(msg, status);
	if (received && SEEDED("late_write"))
		seeded_spoil(msg, 0x7f);
}

int lnd_seeded_parse(struct lnet_ni *ni, struct lnet_hdr *hdr, struct lnet_nid *from, void *private,
		     int rdma_req)
{
	struct lnet_hdr again = *hdr;
	struct lnet_nid sender = *from;
	int rc;

	if (hdr->type == LNET_MSG_PUT && SEEDED("lost")) {
		seeded_discard(ni, private);
		return 0;
	}
	if (SEEDED("header"))
		hdr->dest_pid++;
	if (SEEDED("parse_atomic")) {
		preempt_disable();
		rc = lnet_parse(ni, hdr, from, private, rdma_req);
		preempt_enable();
		return rc;
	}
	rc = lnet_parse(ni, hdr, from, private, rdma_req);
	if (SEEDED("parse_twice"))
		lnet_parse(ni, &again, &sender, private, rdma_req);
	return rc;
}

struct lnet_msg *lnd_seeded_create_reply(struct lnet_ni *ni, struct lnet_msg *get)
{
	if (SEEDED("routed"))
		get->msg_target_is_router = 1;
	seeded_reply = lnet_create_reply_msg(ni, get);
	return seeded_reply;
}

void lnd_seeded_set_reply_len(struct lnet_ni *ni, struct lnet_msg *reply, unsigned int length)
{
	if (!SEEDED("reply_length"))
		lnet_set_reply_msg_len(ni, reply, length);
}

bool lnd_seeded_simulation(struct lnet_msg *msg, enum lnet_msg_hstatus *health)
{
	return lnet_send_error_simulation(msg, health) && !SEEDED("simulation");
}

static int seeded_send(struct lnet_ni *ni, void *private, struct lnet_msg *msg)
{
	bool put = msg->msg_type == LNET_MSG_PUT;
	int rc;

	if (SEEDED("routed"))
		msg->msg_target_is_router = 0;
	if (put && msg->msg_len && SEEDED("early")) {
		msg->msg_health_status = LNET_MSG_STATUS_OK;
		lnet_finalize(msg, 0);
		seeded_early = msg;
	}
	if (SEEDED("blocks")) {
		seed[0] = 0;
		ssleep(lnet_get_lnd_timeout());
	}
	rc = seeded_lnd->lnd_send(ni, private, msg);
	if (!rc && put && SEEDED("parse_refused")) {
		/* Over a network it arrives later: while the case lasts, or it is not seen. */
		msleep(lnet_get_lnd_timeout() * MSEC_PER_SEC / 4);
		return -EAGAIN;
	}
	return !rc && SEEDED("refused") ? -EHOSTUNREACH : rc;
}

static int seeded_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg, int delayed,
		       struct iov_iter *to, unsigned int rlen)
{
	if (!msg && SEEDED("credit_drop"))
		return seeded_hold(ni, private);
	if (msg && SEEDED("short"))
		to->count /= 2;
	if (msg && to->count && SEEDED("beyond"))
		to->count++;
	return seeded_lnd->lnd_recv(ni, private, msg, delayed, to, rlen);
}

static int seeded_eager(struct lnet_ni *ni, void *private, struct lnet_msg *msg, void **new_private)
{
	if (!SEEDED("eager"))
		return seeded_lnd->lnd_eager_recv(ni, private, msg, new_private);
	seeded_hold(ni, private);
	return -ENOMEM;
}

static void seeded_late(struct work_struct *unused)
{
	if (!seeded_kept)
		return;
	seeded_kept->msg_health_status = LNET_MSG_STATUS_LOCAL_ERROR;
	lnet_finalize(seeded_kept, -ESHUTDOWN);
}

static DECLARE_DELAYED_WORK(seeded_late_work, seeded_late);

static void seeded_shutdown(struct lnet_ni *ni)
{
	struct seeded_held *held, *next;
	LIST_HEAD(mine);

	spin_lock(&seeded_lock);
	list_for_each_entry_safe(held, next, &seeded_holds, link)
		if (held->ni == ni)
			list_move_tail(&held->link, &mine);
	spin_unlock(&seeded_lock);
	list_for_each_entry_safe(held, next, &mine, link) {
		seeded_discard(ni, held->private);
		kfree(held);
	}
	seeded_kept = NULL;
	seeded_closing = true;
	seeded_lnd->lnd_shutdown(ni);
	seeded_closing = false;
	if (SEEDED("late"))
		schedule_delayed_work(&seeded_late_work, msecs_to_jiffies(30));
}

void lnd_seeded_register(const struct lnet_lnd *lnd)
{
	seeded_lnd = lnd;
	seeded = *lnd;
	seeded.lnd_send = seeded_send;
	seeded.lnd_recv = seeded_recv;
	seeded.lnd_shutdown = seeded_shutdown;
	if (lnd->lnd_eager_recv)
		seeded.lnd_eager_recv = seeded_eager;
	lnet_register_lnd(&seeded);
}

void lnd_seeded_unregister(const struct lnet_lnd *lnd)
{
	lnet_unregister_lnd(&seeded);
	cancel_delayed_work_sync(&seeded_late_work);
}
