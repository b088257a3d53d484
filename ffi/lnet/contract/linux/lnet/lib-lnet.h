/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What an LND calls. */
#ifndef LND_CONTRACT_LIB_LNET_H
#define LND_CONTRACT_LIB_LNET_H

#include <linux/libcfs/libcfs.h>
#include <linux/lnet/lib-cpt.h>
#include <linux/lnet/lib-types.h>

void lnet_register_lnd(const struct lnet_lnd *lnd);
void lnet_unregister_lnd(const struct lnet_lnd *lnd);

/* Negative: the LND takes its buffer back by itself, and no lnd_recv() comes. */
int lnet_parse(struct lnet_ni *ni, struct lnet_hdr *hdr, struct lnet_nid *fromnid, void *private,
	       int rdma_req);
/* Once for each message that the LND has accepted. */
void lnet_finalize(struct lnet_msg *msg, int rc);

/* The REPLY of a GET that the LND answers by itself, finalized beside the GET. */
struct lnet_msg *lnet_create_reply_msg(struct lnet_ni *ni, struct lnet_msg *get_msg);
void lnet_set_reply_msg_len(struct lnet_ni *ni, struct lnet_msg *msg, unsigned int len);

int lnet_notify(struct lnet_ni *ni, struct lnet_nid *peer, bool alive, bool reset, time64_t when);
/* True: the message is to fail, with this health status. */
bool lnet_send_error_simulation(struct lnet_msg *msg, enum lnet_msg_hstatus *hstatus);

unsigned int lnet_get_lnd_timeout(void);
/* Sets the fatal mark; returns what it was. Before 2.18 what peers read stays down afterwards. */
__u32 lnet_set_link_fatal_state(struct lnet_ni *ni, unsigned int fatal);
/* The list of interfaces that peers read is written again, and sent to those that have one. */
void lnet_mark_ping_buffer_for_update(void);
#define lnet_ni_lock(ni) spin_lock(&(ni)->ni_lock)
#define lnet_ni_unlock(ni) spin_unlock(&(ni)->ni_lock)

int lnet_cpt_of_nid(lnet_nid_t nid, struct lnet_ni *ni);
int lnet_nid2cpt(struct lnet_nid *nid, struct lnet_ni *ni);
#define lnet_cpt_table() cfs_cpt_tab
#define lnet_cpt_current() cfs_cpt_current(cfs_cpt_tab, 1)

unsigned int lnet_kiov_nob(unsigned int niov, struct bio_vec *iov);
/* The fragments of some bytes of a payload; their number, or -EMSGSIZE. */
int lnet_extract_kiov(int dst_niov, struct bio_vec *dst, int src_niov, const struct bio_vec *src,
		      unsigned int offset, unsigned int len);
void lnet_copy_kiov2iter(struct iov_iter *to, unsigned int nkiov, const struct bio_vec *kiov,
			 unsigned int kiovoffset, unsigned int nob);

/* Headers to and from the wire. */
void lnet_hdr_from_nid4(struct lnet_hdr *hdr, const struct lnet_hdr_nid4 *vhdr);
void lnet_hdr_to_nid4(const struct lnet_hdr *hdr, struct lnet_hdr_nid4 *vhdr);
void lnet_hdr_from_nid16(struct lnet_hdr *hdr, const struct lnet_hdr_nid16 *vhdr);
void lnet_hdr_to_nid16(const struct lnet_hdr *hdr, struct lnet_hdr_nid16 *vhdr);

#endif
