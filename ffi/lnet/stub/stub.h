/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An upper layer that speaks LNet's contract with LNDs and checks the LND.
 *
 * An operation is one PUT or GET from an NI to a NID, with its memory at both ends: what LNet finds
 * by portals and match bits is found by the operation's number, which headers carry. A message is
 * what the LND is given; it outlives its case, so that what the LND does late is still seen.
 *
 * A header says all that its receiver has to know (header.c). So the two ends of an operation can
 * be in two machines, each with a stub: the one that receives makes its own half (between.c).
 */
#ifndef LNET_STUB_H
#define LNET_STUB_H

#include <linux/lnet/lib-lnet.h>
#include <linux/list.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

/* Violations: the name of each is printed, and counted. */
#define STUB_VIOLATIONS(X) \
	X(FINALIZED_TWICE) X(FINALIZED_NEVER) X(FINALIZED_EARLY) X(FINALIZED_REFUSED) \
	X(FINALIZED_UNKNOWN) X(FINALIZED_IN_INTERRUPT) X(FINALIZED_ATOMIC) \
	X(HEALTH_STATUS) X(STATUS_ERROR) X(STATUS_OK) \
	X(DATA_SHORT) X(DATA_WRONG) X(DATA_BEYOND) X(WRITTEN_LATE) X(LOST) \
	X(PARSED_TWICE) X(PARSED_REFUSED) X(PARSE_CONTEXT) X(HEADER_WRONG) X(KIOV_CHANGED) \
	X(REPLY_LENGTH) X(REPLY_ROUTED) X(SIMULATION_IGNORED) \
	X(CREDITS_LOST) X(SEND_BLOCKS) X(EAGER_FAILED) \
	X(NI_START) X(NI_NID) X(NI_CREDITS) X(NI_RESIDUE) X(TUNABLES) \
	X(SHUTDOWN_LEFT) X(AFTER_SHUTDOWN)

#define STUB_NAME(name) STUB_##name,
enum stub_violation { STUB_VIOLATIONS(STUB_NAME) STUB_VIOLATION_COUNT };

#define STUB_NIS 2
/* A sink of a PUT has room for more than what comes. */
#define STUB_SLACK 16

/* More than are ever held: what is delayed is released after a while, or at the end. */
#define STUB_HOLD_ALL 127

/* What the target of an operation does with it. */
enum stub_decision {
	STUB_TAKE,
	STUB_NO_MATCH,		/* lnd_recv() without a message */
	STUB_REFUSE,		/* lnet_parse() fails */
	STUB_DELAY,		/* lnd_recv() after lnet_parse() has returned */
	STUB_EAGER,		/* the same after lnd_eager_recv() */
	STUB_DISCARD,		/* delayed, and then lnd_recv() without a message */
};

enum stub_role {
	STUB_SEND_PUT,
	STUB_SEND_GET,
	STUB_SEND_REPLY,
	STUB_SEND_ACK,
	STUB_SEND_ROUTED,
	STUB_RECV_PUT,
	STUB_RECV_REPLY,
	STUB_RECV_ROUTED,
	STUB_RECV_GET,		/* lnd_recv() of a GET that the LND answers by itself */
	STUB_MADE_REPLY,	/* lnet_create_reply_msg() */
};

enum stub_state {
	STUB_QUEUED,		/* waits for a credit */
	STUB_GIVEN,		/* the LND is being called */
	STUB_ACCEPTED,
	STUB_REFUSED,		/* by the LND; or given up before it had it */
	STUB_FINAL,
};

/* Pages lent to the LND, and what is in them. */
struct stub_memory {
	struct lnet_libmd md;
	unsigned int length, offset;	/* of the payload */
	bool poisoned;
	u32 seed;
};

struct stub_ni {
	struct lnet_ni ni;
	struct lnet_net net;
	__u32 status;	/* in the list that peers read */
	struct list_head all;
	bool up, closing;
	int in_flight, credits;
	struct task_struct *pumpers[4];	/* threads that give messages of the queue to the LND */
	struct list_head queue;		/* messages that wait for a credit */
	int sending;			/* calls of lnd_send() that have not returned */
	bool remote;			/* of another machine: only its NID is known here */
};

struct stub_op {
	struct list_head link;
	u64 id;
	bool get, ack, router, large_nid;
	unsigned int length;		/* of the PUT, or of the GET's sink */
	unsigned int taken;		/* what the target takes or has */
	unsigned int offset, fragment;	/* how its memory is laid out */
	unsigned int hold;		/* far: what is delayed is released when so many are */
	unsigned int back;		/* so many are sent back from lnet_parse() */
	u32 seed;			/* of its payload */
	enum stub_decision decision;
	bool mirror;			/* a peer's: made of the header that came */
	bool leave;			/* the target's NI goes afterwards, if it is far */
	bool simulate, simulated, may_fail;
	struct stub_ni *from, *to;
	struct lnet_nid target;
	struct stub_memory *source, *sink, *bounce;
	int sent_status;
	/* Under the stub's lock: messages that have not ended, and what has been. */
	int open, sent, received;
	int served;			/* the target has done its part */
	int parsed[LNET_MSG_HELLO + 1];	/* the last: a PUT from the router */
	bool refused, failed, waited;
	void (*then)(struct stub_op *op);	/* called by lnet_finalize() of what was sent */
	void (*on_parse)(struct stub_op *op);	/* called by lnet_parse() before it decides */
};

struct stub_msg {
	struct lnet_msg msg;
	struct list_head all;
	struct stub_op *op;
	enum stub_role role;
	enum stub_state state;
	struct stub_ni *ni;
	struct stub_memory *memory;
	int finals, status;
	bool reported, credit, simulated, length_set;
	unsigned int length;
	enum lnet_msg_hstatus simulated_as;
	struct bio_vec *kiov;		/* as it was lent */
	struct work_struct work;	/* its end, if it was told in a bad context */
};

struct stub_delayed {
	struct list_head link;
	struct stub_msg *msg;
	struct stub_ni *ni;
	void *private;
	unsigned int rlen;
};

struct stub {
	const struct lnet_lnd *lnd;
	spinlock_t lock;		/* of all that follows, and of messages' states */
	struct stub_ni *nis[STUB_NIS];
	struct xarray ops;
	struct xarray told;		/* far operations, as their machine says: between.c */
	struct xarray msgs;
	struct list_head all_msgs, all_nis, all_ops, old_ops, delayed;
	wait_queue_head_t changed;
	struct workqueue_struct *work;
	u64 next_id, id_step;
	struct lnet_nid peer;		/* the other machine's NI; type 0: both NIs are here */
	const struct lnet_ioctl_config_lnd_cmn_tunables *preset;	/* of the next NI */
	bool far;			/* the other machine leads */
	struct delayed_work release;
	struct work_struct leave;
	unsigned int seen[STUB_VIOLATION_COUNT];
	unsigned int eager_calls, notified, relisted;
	enum lnet_msg_hstatus simulate_as;
	const char *case_name;
	bool stopping;			/* an NI goes: errors are no surprise */
	bool credits;			/* what ends never, ends so for want of credits */
};

extern struct stub stub;
extern unsigned int stub_limit_ms;
extern char *stub_interfaces[STUB_NIS];
extern int stub_interface_count;
extern char *stub_bad;
unsigned long stub_limit(void);

/* check.c */
void stub_violation(enum stub_violation which, const char *format, ...) __printf(2, 3);
const char *stub_violation_name(enum stub_violation which);
bool stub_check_context(void);
struct stub_memory *stub_memory_new(unsigned int length, unsigned int offset, unsigned int fragment,
				    u32 seed, bool source);
void stub_memory_free(struct stub_memory *memory);
void stub_memory_poison(struct stub_memory *memory);
void stub_memory_verify(struct stub_memory *sink, u32 seed, unsigned int length, const char *who);
void stub_memory_watch(struct stub_memory *memory, const char *who);

/* op.c */
struct stub_op *stub_op_new(struct stub_ni *from, struct stub_ni *to, bool get,
			    unsigned int length);
struct stub_op *stub_op_add(u64 id, struct stub_ni *from, struct stub_ni *to, bool get,
			    unsigned int length);
bool stub_op_memory(struct stub_op *op, unsigned int offset, unsigned int fragment);
void stub_op_start(struct stub_op *op);
unsigned int stub_op_back(struct stub_op *op, struct stub_op **ops);
bool stub_op_done(struct stub_op *op);
bool stub_op_wait(struct stub_op *op);
void stub_ops_forget(void);

/* header.c */
void stub_header(const struct stub_op *op, u32 type, struct lnet_hdr *hdr);
struct stub_op *stub_header_op(const struct lnet_hdr *hdr);
bool stub_header_read(const struct lnet_hdr *hdr, struct stub_op *what);

/* mirror.c */
struct stub_op *stub_mirror(struct stub_ni *ni, const struct lnet_hdr *hdr);

/* between.c */
struct stub_case;
extern const struct file_operations stub_ledger_fops;
void stub_between_init(void);
void stub_between_exit(void);
int stub_between_with(bool far, const char *nid);
void stub_between_end(void);

/* msg.c */
struct stub_msg *stub_msg_new(struct stub_op *op, enum stub_role role, struct stub_ni *ni,
			      struct stub_memory *memory, unsigned int length);
void stub_msg_header(struct stub_msg *msg, u32 type);
void stub_msg_post(struct stub_msg *msg);
void stub_msg_recv(struct stub_ni *ni, void *private, struct stub_msg *msg, int delayed,
		   unsigned int wanted, unsigned int rlen);
void stub_msg_gone(struct stub_msg *msg);
void stub_ni_pump(struct stub_ni *ni);
void stub_msgs_forget(void);

/* parse.c */
void stub_delayed_release(struct stub_ni *ni, bool discard);
unsigned int stub_delayed_count(void);
bool stub_held(unsigned int count);

/* ni.c */
bool stub_ni_list(struct stub_ni *ni);
int stub_ni_start(unsigned int index, const char *interface);
bool stub_nis_start(void);
void stub_ni_stop(unsigned int index);
void stub_nis_forget(void);

/* Is the other NI in another machine? */
static inline bool stub_between(void)
{
	return stub.peer.nid_type;
}

static inline struct stub_ni *stub_ni_of(struct lnet_ni *ni)
{
	return container_of(ni, struct stub_ni, ni);
}

/* util.c */
bool stub_util_init(void);
void stub_util_exit(void);

/* cases.c, more.c, errors.c, tunables.c */
const char *stub_tunables(void);
struct stub_op *stub_either(bool there, bool get, unsigned int length);

struct stub_case {
	const char *name;
	/* Why the case does not apply, or NULL. */
	const char *(*run)(void);
	bool starts_by_itself;
	bool both;			/* with two machines, each of them leads */
	bool alone;			/* there is nothing between two machines in it */
};

extern const struct stub_case stub_cases[], stub_more_cases[], stub_error_cases[];

#endif
