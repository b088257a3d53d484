/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* LNet's own functions, which seeded.h has renamed while the contract's headers were read. */
#ifndef LNET_SEEDED_REAL_H
#define LNET_SEEDED_REAL_H

#undef lnet_register_lnd
#undef lnet_unregister_lnd
#undef lnet_parse
#undef lnet_finalize
#undef lnet_create_reply_msg
#undef lnet_set_reply_msg_len
#undef lnet_send_error_simulation

void lnet_register_lnd(const struct lnet_lnd *lnd);
void lnet_unregister_lnd(const struct lnet_lnd *lnd);
int lnet_parse(struct lnet_ni *ni, struct lnet_hdr *hdr, struct lnet_nid *from, void *private,
	       int rdma_req);
void lnet_finalize(struct lnet_msg *msg, int status);
struct lnet_msg *lnet_create_reply_msg(struct lnet_ni *ni, struct lnet_msg *get);
void lnet_set_reply_msg_len(struct lnet_ni *ni, struct lnet_msg *msg, unsigned int length);
bool lnet_send_error_simulation(struct lnet_msg *msg, enum lnet_msg_hstatus *health);

#endif
