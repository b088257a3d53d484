/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What differs between LNet 2.15, 2.16 and later, in one place. ffi/lnet/checks looks into a tree
 * and prints the LND_HAVE_* that hold there; the contract's own headers have the latest forms.
 *
 * LND_RECV_SINK is lnd_recv()'s sink as parameters, and LND_RECV_ITER(to) declares an iov_iter
 * pointer for it, as the first line of the body.
 */
#ifndef LND_LNET_COMPAT_H
#define LND_LNET_COMPAT_H

#include <linux/uio.h>
#ifdef LND_LNET_OLD_PATHS
#include <lnet/lib-lnet.h>
#else
#include <linux/lnet/lib-lnet.h>
#endif
#ifdef LND_LIBCFS_OLD_PATHS
#include <libcfs/libcfs.h>
#else
#include <linux/libcfs/libcfs.h>
#endif

/*
 * The driver's type, and the name of its networks. LNet's table of types has none for this driver:
 * it takes that of one which no machine with this module has.
 */
#if defined(LND_OVER_VERBS)
/* Its NIDs have IPv4 addresses as text, too. */
#define LND_LNET_TYPE GNIIPLND
#define LND_LNET_NETWORK "gip"
#elif defined(LND_HAVE_BXI3)
#define LND_LNET_TYPE BXI3LND
#define LND_LNET_NETWORK "bxi3f"
#else
#define LND_LNET_TYPE PTL4LND
#define LND_LNET_NETWORK "ptlf"
#endif

#ifndef ITER_SOURCE
#define ITER_SOURCE WRITE
#define ITER_DEST READ
#endif

#ifdef LND_HAVE_RECV_ITER
#define LND_RECV_SINK struct iov_iter *lnd_sink
#define LND_RECV_ITER(name) struct iov_iter *name = lnd_sink
#else
#define LND_RECV_SINK unsigned int lnd_niov, struct bio_vec *lnd_kiov, unsigned int lnd_offset, \
	unsigned int lnd_mlen
#define LND_RECV_ITER(name) \
	struct iov_iter lnd_iter, *name = lnd_recv_iter(&lnd_iter, lnd_niov, lnd_kiov, lnd_offset, \
							lnd_mlen)
static inline struct iov_iter *lnd_recv_iter(struct iov_iter *iter, unsigned int niov,
					     struct bio_vec *kiov, unsigned int offset,
					     unsigned int mlen)
{
	for (; niov && offset >= kiov->bv_len; kiov++, niov--)
		offset -= kiov->bv_len;
	iov_iter_bvec(iter, ITER_DEST, kiov, niov, mlen);
	iter->iov_offset = offset;
	return iter;
}
#endif

/* lnet_notify() took 8-byte NIDs at first. */
#ifdef LND_HAVE_NOTIFY_NID
#define LND_NOTIFY(ni, nid, alive, reset, when) lnet_notify(ni, nid, alive, reset, when)
#else
#define LND_NOTIFY(ni, nid, alive, reset, when) \
	lnet_notify(ni, lnet_nid_to_nid4(nid), alive, reset, when)
#endif

/* What peers read of an interface that is listed. */
#ifdef LND_HAVE_NI_STATUS_WORD
#define LND_STATUS(ni) (*(ni)->ni_status)
#else
#define LND_STATUS(ni) ((ni)->ni_status->ns_status)
#endif

/* It does nothing on a router, which looks at marks by itself, and tells its peers. */
#ifdef LND_HAVE_MARK_PING_BUFFER
#define LND_TELL_PEERS() lnet_mark_ping_buffer_for_update()
#else
#define LND_TELL_PEERS()
#endif

#ifdef LND_HAVE_LIBCFS_SETUP
#define LND_LIBCFS_SETUP() libcfs_setup()
#else
#define LND_LIBCFS_SETUP() 0
#endif

/* lnd_nl_get() does not exist in 2.15, and has another parameter after 2.16. */
#ifdef LND_HAVE_NL_EXPORT
#define LND_NL_GET_PARAMETERS int cmd, struct sk_buff *msg, int type, void *data, bool export_backup
#else
#define LND_NL_GET_PARAMETERS int cmd, struct sk_buff *msg, int type, void *data
#endif

#endif
