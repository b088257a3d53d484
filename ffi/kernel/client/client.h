/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The upper layer of lnd_soft, a test: it makes PUT and GET, answers those of peers, and verifies
 * all of them byte by byte.
 *
 *   upper.c    what the host calls
 *   view.c     files and commands
 *   client.c   makes PUT and GET, and verifies their ends
 *   target.c   answers the PUT and GET of peers
 *   op.c       one message, from its entry to its end
 *   supply.c   memory for peers' requests, for which the node's thread does not wait
 *   payload.c  pages of payload, filled and verified
 *   seeds.c    defects and misuse, for tests
 *   wire.h     what is in the messages
 *
 * The client's worker on CPU c submits to this host's node c modulo their number.
 */
#ifndef LND_HOST_CLIENT_H
#define LND_HOST_CLIENT_H

#include "lnd_host.h"
#include "upper.h"
#include "wire.h"

extern unsigned int lnd_host_deadline_ms;	/* read-only once the module is loaded */

#define LND_HOST_LONGEST	(4u << 20)	/* longest payload */

struct lnd_host_worker;

/* One message of the upper layer, from acceptance to its one report. */
struct lnd_host_op {
	struct list_head list;	/* upper->ops, under upper->lock */
	struct list_head later;	/* upper->hungry, under upper->lock */
	struct lnd_host_node *node;
	struct lnd_host_worker *worker;	/* NULL: a peer's */
	struct lnd_host_payload payload;
	unsigned int room;	/* vectors allocated for the payload */
	unsigned int held;	/* of these, vectors with a page */
	struct lnd_host_map map;
	u64 seed;
	u64 peer;
	u64 begun;
	u32 kind;	/* enum lnd_kind */
	/* A peer's request: */
	struct lnd_request request;
	u32 length;
	bool replies;	/* the request is accepted: the answer is a separate message */
	/*
	 * A GET that was sent as a header alone, so that its REPLY arrives as a PUT. For the node's
	 * thread.
	 */
	bool sent;	/* the request has been reported */
	bool receiving;	/* the REPLY is being received */
	bool answered;	/* the REPLY has been reported */
	int error;
};

/* What this upper layer keeps for a node. */
struct lnd_host_upper {
	struct lnd_host_node *node;
	spinlock_t lock;	/* protects ops, hungry */
	struct list_head ops;
	struct list_head hungry;	/* requests that wait for memory */
	struct lnd_host_op *spare;	/* for the next request of a peer */
	struct delayed_work supply;	/* allocates memory */
	u64 expiry;	/* when to look for a missing REPLY; for the node's thread */
};

void lnd_host_count(enum lnd_host_count what);

/* client.c */
struct lnd_host_job {
	bool put;
	bool get;
	bool sweep;	/* lengths around all powers of two instead of random ones */
	u32 min;
	u32 max;
	u32 workers;
	u32 flight;	/* messages under way for each worker */
	u32 count;	/* messages of each worker; 0: until stopped */
	u32 to;	/* a node's number, or all others */
};

#define LND_HOST_ALL_OTHERS	U32_MAX

int lnd_host_client_start(struct lnd_host_fabric *fabric, const struct lnd_host_job *job);
void lnd_host_client_stop(struct lnd_host_fabric *fabric);
void lnd_host_client_done(struct lnd_host_op *op, int error, u32 bytes);
void lnd_host_client_crashed(struct lnd_host_op *op);
void lnd_host_client_seed(void);
void lnd_host_client_show(struct seq_file *file);
void lnd_host_client_reset(void);

/* target.c */
void lnd_host_finalize(struct lnd_host_node *node, const struct lnd_report *report);
void lnd_host_expire(struct lnd_host_node *node, u64 peer, int error);
void lnd_host_supply_work(struct work_struct *work);

/* op.c */
struct lnd_host_op *lnd_host_op_alloc(gfp_t gfp);
void lnd_host_op_free(struct lnd_host_op *op);
enum lnd_error lnd_host_submit(struct lnd_host_op *op, u32 kind, u64 nid);
struct lnd_host_op *lnd_host_op_new(struct lnd_host_node *node, struct lnd_host_worker *worker,
				    u32 kind, u32 length, u64 peer);
void lnd_host_op_end(struct lnd_host_op *op);
void lnd_host_op_begin(struct lnd_host_op *op, struct lnd_host_node *node, u32 kind, u64 seed);

/* payload.c */
int lnd_host_payload_room(struct lnd_host_op *op, unsigned int pages, gfp_t gfp);
int lnd_host_payload_get(struct lnd_host_op *op, u32 length, u64 seed, gfp_t gfp);
void lnd_host_payload_put(struct lnd_host_op *op);
void lnd_host_payload_fill(struct lnd_host_op *op, u64 seed);
bool lnd_host_payload_good(const struct lnd_host_op *op, u32 length, u64 seed);

/* supply.c */
void lnd_host_supply_init(struct lnd_host_upper *upper, work_func_t work);
bool lnd_host_supply(struct lnd_host_node *node);
void lnd_host_supply_stop(struct lnd_host_node *node);
bool lnd_host_spare_ready(struct lnd_host_node *node);
struct lnd_host_op *lnd_host_spare_take(struct lnd_host_node *node);
void lnd_host_later(struct lnd_host_op *op);
struct lnd_host_op *lnd_host_next_hungry(struct lnd_host_node *node);

/* seeds.c */
int lnd_host_seed(struct lnd_host_node *node, const char *what);

#endif
