/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The reference LND: its NIs and messages. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <linux/lnet/lib-lnet.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../compat.h"
#include "seeds.h"

#define REF_CREDITS 8
#define REF_TIMEOUT 2
/* From this length on a GET is answered by copying into its sink. */
#define REF_OPTIMISED 1024

struct ref_ni {
	struct list_head link;
	struct lnet_ni *ni;
	struct list_head gets;		/* optimised GETs that wait for their data */
	int credits;			/* receive buffers that are free */
	int held;			/* messages at work for this NI: it may not go */
};

/* A message of an NI's that has not ended. */
struct ref_tx {
	struct list_head link;
	struct lnet_msg *msg, *reply;
	struct ref_ni *from;
	struct lnet_nid to;
	u64 cookie;
	int status;
	enum lnet_msg_hstatus health;
};

/* A message that has arrived: lnd_recv() ends it. */
struct ref_rx {
	struct ref_ni *at;
	struct lnet_hdr hdr;
	struct lnet_nid from;
	u64 cookie;			/* of an optimised GET, or 0 */
	unsigned int length;
	u8 data[];
};

extern struct list_head ref_nis, ref_pending;
extern spinlock_t ref_lock;
extern wait_queue_head_t ref_changed;
extern struct work_struct ref_work;

/* transfer.c */
void ref_end(struct ref_tx *tx, int status, enum lnet_msg_hstatus health);
int ref_send(struct lnet_ni *ni, void *private, struct lnet_msg *msg);
int ref_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg, int delayed,
	     LND_RECV_SINK, unsigned int rlen);
int ref_eager_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg, void **new_private);

#endif
