/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Types of networks, and NIDs as text. */
#ifndef LND_CONTRACT_NIDSTR_H
#define LND_CONTRACT_NIDSTR_H

#include <uapi/linux/lnet/lnet-types.h>

/* The numbers that LNet's table of names knows. */
enum {
	SOCKLND = 2,
	O2IBLND = 5,
	LOLND = 9,
	GNILND = 13,
	GNIIPLND = 14,
	PTL4LND = 15,
	KFILND = 16,
	TOFULND = 17,
	EFALND = 18,
	BXI3LND = 19,
};

#define LNET_NIDSTR_SIZE 64

char *libcfs_nidstr_r(const struct lnet_nid *nid, char *buf, size_t size);
/* The text lives in one of a few buffers that are used in turn. */
char *libcfs_nidstr(const struct lnet_nid *nid);

#endif
