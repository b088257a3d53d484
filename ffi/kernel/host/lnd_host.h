/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A host of the library on Linux: what each LND of this folder shares. A module is made of three
 * layers, each in a folder of its own, and calls go down:
 *
 *   upper layer   client/: makes and verifies messages, as a test. ../lnet: LNet's driver
 *   transport/    where a region of the fabric comes from: loop.c, pci.c
 *   host/         one node and what it is made of
 *
 * Only what upper.h declares leads from host/ to the upper layer. Of this folder:
 *
 *   main.c       loading, unloading
 *   start.c      starts and stops all of this host's nodes on a region
 *   debugfs.c    state and commands
 *   lifecycle.c  a node's start, leaving and death: the library's NI and its resources
 *   node.c       one node: its lock, its thread, its timer
 *   base.c       what a node has over each transport
 *   changes.c    what the log has of peers and links that change
 *   ops.c        the platform's operations
 *   engine.c     the links' engines in threads, and the interrupts they raise
 *   fabric.c     a region with its nodes
 *   wake.c       wakes engines and nodes
 *   window.c     pages of bio vectors, mapped into the payload window
 *   observe.c    where messages spend their time, if the module is built so
 *   memory.c     memory and threads, and the accounting for them
 *   params.c     parameters of all transports
 *   faults.h     every exit path, in one list
 *   faults.c     failures on request, for tests
 *   unwind.c     back-traces through this module
 *
 * A node is a shard: an NI of its own with its own tables, peers and engines (decision 0001). Nodes
 * share nothing.
 */
#ifndef LND_HOST_H
#define LND_HOST_H

#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "lnd.h"
#include "lnd_soft.h"
#include "faults.h"

#define LND_HOST_NODES		16	/* most nodes of a fabric */
#define LND_HOST_LINKS		4	/* most links of a node */
#define LND_HOST_INLINE		4096u	/* longest payload that comes with its request */

/*
 * Only a node's thread reports, and reclaim may wait for its reports: it takes memory only if some
 * is free (LU-19797). All others may wait.
 */
#define LND_HOST_MAY_WAIT	(GFP_KERNEL | __GFP_NOWARN)
#define LND_HOST_NO_WAIT	(GFP_NOWAIT | __GFP_NOWARN)

struct lnd_host_node;
struct lnd_host_upper;

#define LND_HOST_BUSY_POLL_MOST	1000000u	/* us */

/* params.c: all but busy_poll_us read-only once the module is loaded. */
extern unsigned int lnd_host_slots;
extern unsigned int lnd_host_drain_ms;
extern unsigned int lnd_host_poll_ms;
extern unsigned int lnd_host_busy_poll_us;
#ifdef LND_HOST_SOFTIRQ	/* the upper layer's choice */
extern bool lnd_host_softirq;
#else
#define lnd_host_softirq	false
#endif
int lnd_host_params_check(void);
u64 lnd_host_tick(void);
u64 lnd_host_now(void);
u64 lnd_host_after(u64 due);

/* memory.c: held resources are counted, and must be released before the module is unloaded. */
enum lnd_host_held {
	LND_HOST_HELD_BYTES,
	LND_HOST_HELD_PAGES,
	LND_HOST_HELD_OPS,
	LND_HOST_HELD_THREADS,
	LND_HOST_HELD_IRQS,
	LND_HOST_HELD
};

void lnd_host_hold(enum lnd_host_held what, long count);
long lnd_host_holds(enum lnd_host_held what);
void lnd_host_balance(const char *when);
void *lnd_host_alloc(size_t bytes, gfp_t gfp, enum lnd_host_point point);
void lnd_host_free(void *memory, size_t bytes);
struct page *lnd_host_page(gfp_t gfp);
void lnd_host_put_page(struct page *page);
struct task_struct *lnd_host_thread(int (*work)(void *data), void *data, const char *name,
				    u32 node, u32 link, enum lnd_host_point point);
void lnd_host_thread_bind(struct task_struct *thread, const struct cpumask *cpus);
void lnd_host_thread_stop(struct task_struct *thread);

/* Pages as a block layer or LNet passes them. */
struct lnd_host_payload {
	struct bio_vec *bv;
	unsigned int pages;	/* vectors in use */
	u32 length;
};

/* window.c: a node's payload window, in pages. */
struct lnd_host_window {
	struct lnd_host_node *node;
	spinlock_t lock;	/* protects used and own */
	unsigned long *used;
	unsigned int pages;
	unsigned int own;	/* pages of maps that are our own */
	u8 *base;
};

/* Payload in the window. */
struct lnd_host_map {
	struct lnd_frag *frags;
	unsigned int room;
	unsigned int nfrags;
	bool mapped;
	bool written;	/* engines write it, else they read it */
	/* Of a message that waits for its peer: half of the window stays for peers' requests. */
	bool own;
	unsigned int owned;	/* its share of window->own */
};

/*
 * An address of the kernel's, whose upper half is negative, instead of one in the window: of a
 * short payload, which the library reads and no engine. An engine that is given one ends its
 * transfer with an error.
 */
static inline bool lnd_host_in_place(u64 addr)
{
	return (s64)addr < 0;
}

/*
 * Whether there is room for a map, which gets its share. Without the half that our own messages
 * leave to requests, two nodes that wait for each other would fill both windows, and no payload
 * could be received (INV-11). One of our own finds room in any case. Context: any, with
 * window->lock.
 */
static inline bool lnd_host_share(struct lnd_host_window *window, struct lnd_host_map *map,
				  unsigned int want)
{
	if (!map->own)
		return true;
	if (window->own && window->own + want > window->pages / 2)
		return false;
	window->own += want;
	map->owned = want;
	return true;
}

/* Context: any, with window->lock. */
static inline void lnd_host_unshare(struct lnd_host_window *window, struct lnd_host_map *map)
{
	window->own -= map->owned;
	map->owned = 0;
}

int lnd_host_window_init(struct lnd_host_window *window, struct lnd_host_node *node);
void lnd_host_window_exit(struct lnd_host_window *window);
int lnd_host_map_room(struct lnd_host_map *map, unsigned int pages, gfp_t gfp);
void lnd_host_map_free(struct lnd_host_map *map);
int lnd_host_map(struct lnd_host_window *window, struct lnd_host_map *map,
		 const struct lnd_host_payload *payload, bool written, gfp_t gfp);
void lnd_host_unmap(struct lnd_host_window *window, struct lnd_host_map *map,
		    const struct lnd_host_payload *payload, bool copy);

/* engine.c: a link's engine in its thread, and the interrupt it raises. */
struct lnd_host_link {
	struct lnd_host_node *node;
	u32 number;
	struct lnd_soft_engine *engine;
	void *engine_memory;
	struct task_struct *thread;
	wait_queue_head_t wait;
	unsigned long flags;	/* LND_HOST_WORK, LND_HOST_RUNG, LND_HOST_STEPS */
	bool gone;	/* the bus does not answer: all registers read all ones */
	struct irq_work hard;
	struct tasklet_struct soft;
	/* A second interrupt may begin on another CPU while the first still runs. */
	spinlock_t serving;
	/* Written by one context at a time, read by the files of debugfs. */
	u64 bytes;
	u64 interrupts;
	u64 violations;	/* accesses that the memory oracle rejected */
};

int lnd_host_link_start(struct lnd_host_link *link);
void lnd_host_link_stop(struct lnd_host_link *link);
bool lnd_host_link_step(struct lnd_host_link *link);

/* debugfs.c: a file, of a fabric or of a node. */
struct lnd_host_view {
	struct lnd_host_fabric *fabric;
	void (*show)(struct seq_file *file, struct lnd_host_fabric *fabric);
	struct lnd_host_node *node;
	void (*show_node)(struct seq_file *file, struct lnd_host_node *node);
	/* The handler of commands; NULL: none. */
	int (*command)(struct lnd_host_fabric *fabric, char *line);
	int (*control)(struct lnd_host_node *node, char *line);
};

#ifdef LND_HOST_OBSERVE
#define LND_HOST_VIEWS	11	/* files of a node */
#else
#define LND_HOST_VIEWS	6
#endif

/* changes.c: changes of one kind that have no line in the log yet. */
struct lnd_host_changes {
	u32 count;
	u32 state;	/* the last one's */
	u64 of;	/* whose: a peer's NID, a link's number */
	u64 next;	/* when the next line may come */
	u64 interval;
};

/* A node of this host. */
struct lnd_host_node {
	struct lnd_host_fabric *fabric;
	u32 number;
	spinlock_t lock;	/* the library's; softirqs stay out */
	u64 ring;	/* under lock: nodes to be rung after it */
	struct lnd_ni *ni;
	void *ni_memory;
	size_t ni_bytes;
	struct lnd_soft_node *soft_node;	/* membership, outbox, inbox */
	void *soft_node_memory;
	size_t soft_node_bytes;
	struct lnd_host_window window;
	struct task_struct *thread;
	wait_queue_head_t wait;
	unsigned long flags;
	const struct cpumask *cpus;	/* for all of the node that runs; NULL: any */
	struct hrtimer timer;
	u64 due;	/* when the timer was last to wake the thread */
	struct lnd_host_link link[LND_HOST_LINKS];
	u32 pulled;	/* cables; they stay so when the node starts again */
	struct lnd_host_upper *upper;	/* what the upper layer keeps for this node */
	void *frame;	/* the frame that is being received */
	size_t frame_bytes;
	struct completion quiescent;	/* the NI's shutdown is complete */
	struct rw_semaphore incarnation;	/* held for writing while ni changes */
	bool alive;	/* cleared under incarnation, set behind it; both under fabric->control */
	atomic_t health[16];	/* ends by health class */
	atomic_t bugs;
	struct lnd_host_changes changes[2];	/* of peers, of links */
	struct lnd_host_view view[LND_HOST_VIEWS];
#ifdef LND_HOST_OBSERVE
	spinlock_t observing;	/* the observer's; interrupts stay out */
	struct lnd_observer *observer;
	void *observer_memory;
	size_t observer_bytes;
#endif
};

/* Bits of flags. */
#define LND_HOST_WORK	0	/* there is work */
#define LND_HOST_RUNG	1	/* a link: the node's thread is to look whether there is */
#define LND_HOST_STEPS	2	/* a link: a thread steps its engine */
#define LND_HOST_DUE	3	/* a node: the library asks for lnd_run() */

/* observe.c */
#ifdef LND_HOST_OBSERVE
int lnd_host_observe_start(struct lnd_host_node *node);
void lnd_host_observe_stop(struct lnd_host_node *node);
void lnd_host_observe(struct lnd_host_node *node, const struct lnd_trace *record);
void lnd_host_metrics(struct seq_file *file, struct lnd_host_node *node);
void lnd_host_metrics_json(struct seq_file *file, struct lnd_host_node *node);
void lnd_host_waits(struct seq_file *file, struct lnd_host_node *node);
void lnd_host_waits_json(struct seq_file *file, struct lnd_host_node *node);
void lnd_host_blocked(struct seq_file *file, struct lnd_host_node *node);
#else
static inline int lnd_host_observe_start(struct lnd_host_node *node)
{
	return 0;
}

static inline void lnd_host_observe_stop(struct lnd_host_node *node)
{
}

static inline void lnd_host_observe(struct lnd_host_node *node, const struct lnd_trace *record)
{
}
#endif

/* node.c */
struct lnd_host_node *lnd_host_node_alloc(struct lnd_host_fabric *fabric, u32 number);
void lnd_host_node_free(struct lnd_host_node *node);
int lnd_host_node_thread(void *data);

/* changes.c */
void lnd_host_event(void *ctx, const struct lnd_event *event);
u64 lnd_host_changes_log(struct lnd_host_node *node, u64 now);

/* lifecycle.c */
int lnd_host_node_start(struct lnd_host_node *node);
void lnd_host_node_stop(struct lnd_host_node *node);
int lnd_host_node_kill(struct lnd_host_node *node);
int lnd_host_node_link(struct lnd_host_node *node, u32 link, bool up);
int lnd_host_node_bus(struct lnd_host_node *node, u32 link, bool gone);

/* base.c */
int lnd_host_node_init(struct lnd_host_node *node, struct lnd_host_fabric *fabric, u32 number);
u32 lnd_host_links(const struct lnd_host_node *node, u32 state);
void lnd_host_await_links(const struct lnd_host_node *node);
u64 lnd_host_node_run(struct lnd_host_node *node, u64 now);
void lnd_host_node_rest(struct lnd_host_node *node, u64 now, u64 next);
void lnd_host_lock(void *ctx);
void lnd_host_unlock(void *ctx);
u32 lnd_host_self_id(void *ctx);
u32 lnd_host_context(void *ctx);
void lnd_host_ended(void *ctx, const struct lnd_report *report);
void lnd_host_wake(void *ctx);
void lnd_host_bug(void *ctx, const char *what);

extern const struct lnd_ops lnd_host_ops;

/* A region of memory that connects nodes; those from @first on are this host's. */
struct lnd_host_fabric {
	char name[16];
	struct mutex control;	/* one starts, stops or kills nodes at a time */
	void *base;
	size_t bytes;
	struct lnd_soft_fabric *region;
	void *memory;	/* of region */
	u32 nodes;
	u32 links;
	u32 first;
	u32 ours;
	struct lnd_host_node *node[LND_HOST_NODES];
	/* Rings a node of another machine; NULL: there are no others. Any context. */
	void (*ring_out)(struct lnd_host_fabric *fabric, u32 node);
	/* Sends a node's interrupts to node->cpus; NULL: it has none of its own. Thread. */
	void (*aim)(struct lnd_host_node *node);
	void *private;
	struct dentry *dir;
	struct lnd_host_view view[2];
};

int lnd_host_fabric_attach(struct lnd_host_fabric *fabric);
void lnd_host_fabric_detach(struct lnd_host_fabric *fabric);

/* wake.c */
void lnd_host_link_kick(struct lnd_host_link *link);
void lnd_host_node_wake(struct lnd_host_node *node);
void lnd_host_node_kick(struct lnd_host_node *node);
void lnd_host_ring(struct lnd_host_fabric *fabric, u64 nodes);

/* start.c */
int lnd_host_fabric_start(struct lnd_host_fabric *fabric);
void lnd_host_fabric_stop(struct lnd_host_fabric *fabric);

/* transport/loop.c, transport/pci.c */
int lnd_host_loop_init(void);
void lnd_host_loop_exit(void);
int lnd_host_pci_init(void);
void lnd_host_pci_exit(void);

/* debugfs.c */
void lnd_host_debugfs_init(void);
void lnd_host_debugfs_exit(void);
void lnd_host_debugfs_add(struct lnd_host_fabric *fabric);
void lnd_host_debugfs_remove(struct lnd_host_fabric *fabric);

#endif
