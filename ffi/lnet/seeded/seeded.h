/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Included before each source of an LND by the compiler's -include: what the LND calls of LNet goes
 * through seeded.c, which breaks a rule of the contract if the parameter seed names one. The LND is
 * as it is, so any LND can be made to break them.
 */
#ifndef LNET_SEEDED_H
#define LNET_SEEDED_H

#define lnet_register_lnd lnd_seeded_register
#define lnet_unregister_lnd lnd_seeded_unregister
#define lnet_parse lnd_seeded_parse
#define lnet_finalize lnd_seeded_finalize
#define lnet_create_reply_msg lnd_seeded_create_reply
#define lnet_set_reply_msg_len lnd_seeded_set_reply_len
#define lnet_send_error_simulation lnd_seeded_simulation

#endif
