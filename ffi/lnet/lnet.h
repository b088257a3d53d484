/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * LNet's driver: the upper layer of lnd_lnet.ko, over the fabric of software engines, and of
 * lnd_lnet_verbs.ko, over ../verbs.
 *
 *   module.c    what LNet registers, and what the host calls
 *   ni.c        interfaces: started and stopped by LNet
 *   tunables.c  what an administrator sets for an interface
 *   tx.c        lnd_send: LNet's messages to peers
 *   rx.c        peers' requests to lnet_parse(), and lnd_recv
 *   begin.c     the beginning of a transfer, or its wait for room
 *   loopback.c  messages of an interface to itself
 *   message.c   one message, from LNet's call to its one end
 *   view.c      files
 *   region.c    names of interfaces over software engines, and NIDs: "loop0" is node 0 of the
 *               fabric "loop", "ivshmem2" is node 2 of the region that machines share
 *   network.c   the same over verbs: a network device, and its address
 *
 * An interface of LNet is a node of the host.
 *
 * A message is finalized once, in the node's thread or in lnd_recv(), after its pages have been
 * unmapped. The node's thread never waits for memory: each request has all of its own before it is
 * taken out of its mailbox (LU-19797).
 */
#ifndef LND_LNET_H
#define LND_LNET_H

#include <linux/refcount.h>

#include "compat.h"
#include "lnd_host.h"
#include "upper.h"
#ifdef LND_OVER_VERBS
#include "network.h"
#else
#include "region.h"
#endif

#define LND_LNET_FABRICS	4	/* most of them */
#define LND_LNET_UNKEPT	32	/* most requests of a node beyond its slots */

/* The library's classes of health are LNet's, number for number. */
static_assert((int)LND_HEALTH_OK == LNET_MSG_STATUS_OK);
static_assert((int)LND_HEALTH_NETWORK_TIMEOUT == LNET_MSG_STATUS_NETWORK_TIMEOUT);

/*
 * Waits for memory, but for no file system: that may be Lustre, which waits for this very message.
 */
#define LND_LNET_NO_FS	(GFP_NOFS | __GFP_NOWARN)

/* The driver's own tunables of an interface, as LNet keeps them. */
struct lnd_lnet_tunables {
	u32 timeout;	/* seconds that a message has; 0: as long as LNet says */
	u32 fail_fast;	/* without a link messages fail at once */
};

/* Their numbers for netlink. */
enum lnd_lnet_tunable { LND_LNET_TIMEOUT = 1, LND_LNET_FAIL_FAST };

#define LND_LNET_FEW	2	/* pages of a message that need no memory of their own */

enum lnd_lnet_way {
	LND_LNET_SENT,	/* lnd_send() */
	LND_LNET_CAME,	/* a peer's request */
	LND_LNET_LOOPED,	/* to ourselves */
};

struct lnd_lnet_message {
	struct list_head list;	/* one of upper's, under upper->lock */
	refcount_t holders;
	struct lnd_host_node *node;
	enum lnd_lnet_way way;
	u32 kind;	/* enum lnd_kind, or enum lnd_request_kind of a peer's request */
	u64 nid;	/* the library's number of the peer */
	u64 begun;
	u64 deadline;
	struct lnet_msg *msg;	/* to be finalized; NULL: the payload is dropped */
	struct lnet_msg *reply;	/* of an optimised GET, finalized with it */
	struct lnd_host_payload payload;
	unsigned int room;	/* for vectors */
	struct lnd_host_map map;
	/* Most messages have no more. */
	struct bio_vec few[LND_LNET_FEW];
	struct lnd_frag few_frags[LND_LNET_FEW];
	u32 asked;	/* bytes that were offered, or are wanted */
	/* A peer's request: */
	struct lnd_request request;
	const void *frame;	/* a short payload in its frame, while lnet_parse() runs */
	void *copy;	/* room for it afterwards */
	struct task_struct *parser;	/* the thread that runs lnet_parse() */
	struct completion parsed;
	bool decided;	/* lnd_recv() was called */
	bool unkept;	/* LNet decides later, and the library had no room for it */
	bool waits;	/* a decision that waits for room */
};

enum lnd_lnet_count {
	LND_LNET_SENDS,
	LND_LNET_RECEIVES,
	LND_LNET_OPTIMISED,	/* GETs without a REPLY of their own */
	LND_LNET_DELAYED,	/* requests that lnet_parse() did not decide */
	LND_LNET_WAITED,	/* messages that waited for room in the library */
	LND_LNET_LOOPS,
	LND_LNET_REFUSED,	/* requests that LNet, or the library, did not take */
	LND_LNET_TAKEN_BACK,	/* decisions that came too late */
	LND_LNET_FAST,	/* messages that failed at once, for want of a link */
	LND_LNET_WITHOUT_SLOT,	/* delayed requests that found no slot */
	LND_LNET_COUNTS
};

struct lnd_host_upper {
	struct lnd_host_node *node;
	struct lnet_ni *ni;	/* NULL: LNet does not use this node */
	spinlock_t lock;	/* protects the lists */
	struct list_head messages;	/* the library reports their end */
	struct list_head undecided;	/* LNet has them, and calls lnd_recv() for each */
	struct list_head waiting;	/* accepted from LNet; there is no room yet */
	struct list_head hungry;	/* peers' requests that wait for room */
	struct list_head looped;	/* for loop */
	struct work_struct loop;
	struct lnd_lnet_message *spare;	/* for the next request of a peer */
	atomic_t unkept;	/* requests that LNet has and the library had no room for */
	struct work_struct supply;	/* makes the next one */
	bool halted;	/* nothing is supplied any more */
	const struct lnd_lnet_tunables *own;	/* LNet changes them at any time */
	bool removed;	/* its device */
	atomic_long_t counts[LND_LNET_COUNTS];
};

static inline void lnd_lnet_count(struct lnd_host_upper *upper, enum lnd_lnet_count what)
{
	atomic_long_inc(&upper->counts[what]);
}

static inline u64 lnd_lnet_deadline(const struct lnd_host_upper *upper)
{
	u32 seconds = lnet_get_lnd_timeout(), own = READ_ONCE(upper->own->timeout);

	/* LNet's may be less than it was when the interface came. */
	if (own)
		seconds = min(seconds, own);
	return lnd_host_now() + seconds * (u64)NSEC_PER_SEC;
}

/* region.c, or network.c */
struct lnd_host_node *lnd_lnet_find(struct lnd_host_fabric *const *fabrics, const char *interface);

/* ni.c */
int lnd_lnet_startup(struct lnet_ni *ni);
void lnd_lnet_shutdown(struct lnet_ni *ni);
void lnd_lnet_links(struct lnd_host_upper *upper, bool up);
void lnd_lnet_add(struct lnd_host_fabric *fabric);
void lnd_lnet_remove(struct lnd_host_fabric *fabric);
u64 lnd_lnet_peer(const struct lnd_host_node *node, const struct lnet_nid *nid);
void lnd_lnet_nid(const struct lnd_host_upper *upper, u64 peer, struct lnet_nid *nid);

/* tunables.c */
extern const struct ln_key_list lnd_lnet_keys;
int lnd_lnet_tunables(struct lnet_ni *ni, struct lnd_host_upper *upper);
int lnd_lnet_nl_get(LND_NL_GET_PARAMETERS);
int lnd_lnet_nl_set(int cmd, struct nlattr *attr, int type, void *data);
int lnd_lnet_defaults(struct lnet_lnd_tunables *tunables,
		      struct lnet_ioctl_config_lnd_cmn_tunables *net);

/* view.c */
int lnd_lnet_ctl(struct lnet_ni *ni, unsigned int cmd, void *arg);

/* tx.c */
int lnd_lnet_send(struct lnet_ni *ni, void *private, struct lnet_msg *msg);

/* begin.c */
void lnd_lnet_try(struct lnd_lnet_message *message);
u64 lnd_lnet_retry(struct lnd_host_upper *upper, u64 now);

/* rx.c */
int lnd_lnet_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg, int delayed,
		  LND_RECV_SINK, unsigned int rlen);
int lnd_lnet_eager_recv(struct lnet_ni *ni, void *private, struct lnet_msg *msg,
			void **new_private);
bool lnd_lnet_request(struct lnd_host_node *node, const struct lnd_arrival *arrival);
bool lnd_lnet_ready(struct lnd_host_upper *upper);
void lnd_lnet_supply(struct work_struct *work);
void lnd_lnet_supply_stop(struct lnd_host_upper *upper);

/* loopback.c */
int lnd_lnet_loop(struct lnd_host_upper *upper, struct lnet_msg *msg);
void lnd_lnet_loop_work(struct work_struct *work);
int lnd_lnet_loop_recv(struct lnd_lnet_message *message, struct lnet_msg *msg,
		       struct iov_iter *to);

/* message.c */
struct lnd_lnet_message *lnd_lnet_message_new(struct lnd_host_node *node, enum lnd_lnet_way way,
					      unsigned int pages, gfp_t gfp);
void lnd_lnet_put(struct lnd_lnet_message *message);
void lnd_lnet_reuse(struct lnd_lnet_message *message);
void lnd_lnet_enter(struct lnd_lnet_message *message, struct list_head *list);
void lnd_lnet_leave(struct lnd_lnet_message *message);
struct lnd_lnet_message *lnd_lnet_first(struct lnd_host_upper *upper, struct list_head *from,
					struct list_head *to);
int lnd_lnet_pages(struct lnd_lnet_message *message, const struct bio_vec *kiov,
		   unsigned int niov, unsigned int offset, unsigned int length);
void lnd_lnet_end(struct lnd_lnet_message *message, int error, enum lnet_msg_hstatus health,
		  u32 bytes);
void lnd_lnet_drop(struct list_head *list);

#endif
