/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Messages, interfaces and LNDs as an LND sees them. Names and meanings are LNet's; LNet's own
 * structures have more fields, in another order: a module is built for one of the two.
 */
#ifndef LND_CONTRACT_LIB_TYPES_H
#define LND_CONTRACT_LIB_TYPES_H

#include <linux/atomic.h>
#include <linux/bvec.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uio.h>
#include <uapi/linux/lnet/libcfs_ioctl.h>
#include <uapi/linux/lnet/lnet-dlc.h>
#include <uapi/linux/lnet/lnet-nl.h>
#include <uapi/linux/lnet/lnet-types.h>
#include <uapi/linux/lnet/nidstr.h>

#define LNET_MAX_PAYLOAD LNET_MTU
#define LNET_MAX_IOV 256

/* How a transfer ended, for LNet's choice of interfaces and whether to send again. */
enum lnet_msg_hstatus {
	LNET_MSG_STATUS_OK = 0,
	LNET_MSG_STATUS_LOCAL_INTERRUPT,
	LNET_MSG_STATUS_LOCAL_DROPPED,
	LNET_MSG_STATUS_LOCAL_ABORTED,
	LNET_MSG_STATUS_LOCAL_NO_ROUTE,
	LNET_MSG_STATUS_LOCAL_ERROR,
	LNET_MSG_STATUS_LOCAL_TIMEOUT,
	LNET_MSG_STATUS_REMOTE_ERROR,
	LNET_MSG_STATUS_REMOTE_DROPPED,
	LNET_MSG_STATUS_REMOTE_TIMEOUT,
	LNET_MSG_STATUS_NETWORK_TIMEOUT,
	LNET_MSG_STATUS_END,
};

#define LNET_MD_FLAG_GPU BIT(5)

/* A memory descriptor: the sink of a GET is read from the GET's own msg_md. */
struct lnet_libmd {
	unsigned int md_offset;
	unsigned int md_length;
	unsigned int md_options;
	unsigned int md_flags;
	unsigned int md_niov;
	struct bio_vec md_kiov[LNET_MAX_IOV];
};

static inline bool lnet_md_is_gpu(struct lnet_libmd *md)
{
	return md && md->md_flags & LNET_MD_FLAG_GPU;
}

struct lnet_ni;
struct nlattr;
struct sk_buff;
struct socket;
struct lnet_nid_md_entry;

struct lnet_msg {
	struct list_head msg_list;		/* an LND may queue by it what it has accepted */
	struct lnet_processid msg_target;	/* the next hop */
	struct lnet_nid msg_initiator;
	struct lnet_nid msg_from;
	__u32 msg_type;				/* enum lnet_msg_type */
	ktime_t msg_deadline;
	enum lnet_msg_hstatus msg_health_status; /* set before lnet_finalize() */
	bool msg_no_resend;

	unsigned int msg_vmflush:1;		/* memory is short */
	unsigned int msg_target_is_router:1;
	unsigned int msg_routing:1;		/* being forwarded */
	unsigned int msg_ack:1;
	unsigned int msg_sending:1;
	unsigned int msg_receiving:1;

	void *msg_private;
	struct lnet_libmd *msg_md;
	struct lnet_ni *msg_txni;
	struct lnet_ni *msg_rxni;

	/* The payload: read-only to the LND, and its pages only until lnet_finalize(). */
	unsigned int msg_len;
	unsigned int msg_wanted;
	unsigned int msg_offset;
	unsigned int msg_niov;
	struct bio_vec *msg_kiov;

	struct lnet_hdr msg_hdr;		/* dest_nid: the final destination */
};

struct lnet_lnd {
	__u32 lnd_type;

	int (*lnd_startup)(struct lnet_ni *ni);
	void (*lnd_shutdown)(struct lnet_ni *ni);
	int (*lnd_ctl)(struct lnet_ni *ni, unsigned int cmd, void *arg);
	int (*lnd_send)(struct lnet_ni *ni, void *private, struct lnet_msg *msg);
	int (*lnd_recv)(struct lnet_ni *ni, void *private, struct lnet_msg *msg, int delayed,
			struct iov_iter *to, unsigned int rlen);
	int (*lnd_eager_recv)(struct lnet_ni *ni, void *private, struct lnet_msg *msg,
			      void **new_privatep);
	void (*lnd_notify_peer_down)(struct lnet_nid *peer);
	int (*lnd_accept)(struct lnet_ni *ni, struct socket *sock);
	unsigned int (*lnd_get_dev_prio)(struct lnet_ni *ni, unsigned int dev_idx);
	int (*lnd_get_timeout)(void);
	int (*lnd_tun_defaults)(struct lnet_lnd_tunables *tunables,
				struct lnet_ioctl_config_lnd_cmn_tunables *cmn);
	int (*lnd_nl_get)(int cmd, struct sk_buff *msg, int type, void *data, bool export_backup);
	int (*lnd_nl_set)(int cmd, struct nlattr *attr, int type, void *data);
	int (*lnd_get_nid_metadata)(struct lnet_ni *ni, struct lnet_nid_md_entry *md_entry);
	const struct ln_key_list *lnd_keys;
};

struct lnet_net {
	__u32 net_id;				/* type << 16 | number */
	struct lnet_ioctl_config_lnd_cmn_tunables net_tunables;
	bool net_tunables_set;
	const struct lnet_lnd *net_lnd;
};

struct lnet_ni {
	spinlock_t ni_lock;			/* of the NI's state */
	int ni_ncpts;
	__u32 *ni_cpts;				/* NULL: all partitions */
	__u32 *ni_status;			/* what peers read, by ni_lock; NULL: nothing yet */
	struct lnet_nid ni_nid;			/* lnd_startup() sets the address */
	void *ni_data;				/* the LND's */
	struct lnet_net *ni_net;
	struct lnet_lnd_tunables ni_lnd_tunables;
	bool ni_lnd_tunables_set;
	int ni_dev_cpt;				/* lnd_startup() sets it, or CFS_CPT_ANY */
	atomic_t ni_fatal_error_on;		/* set by the LND while its device is unusable */
	char *ni_interface;
	struct net *ni_net_ns;
};

#endif
