/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An LND over kernel verbs (ib_core, rdma_cm): InfiniBand, RoCE, soft-RoCE. Of ../kernel it has the
 * upper layer, and what of host/ knows no hardware; this folder is in the place of the rest:
 *
 *   load.c      loading, unloading
 *   settings.c  parameters
 *   list.c      which nodes there are: a list; over LNet ../lnet/network.c is in its place
 *   life.c      a node's start, leaving and death
 *   thread.c    a node's thread
 *   table.c     the platform's operations
 *   peer.c      the worker that opens and closes the connection with a peer
 *   connection.c  its resources
 *   ask.c       what all others note of a connection for that worker
 *   listen.c    requests of peers
 *   cm.c        what rdma_cm reports, and who is at the other end
 *   port.c      network devices that go down and come up: the link's state
 *   room.c      whether there is room for a frame at a peer
 *   channel.c   frames in, and the credits that receives are
 *   send.c      frames out: SEND into receives that are there for them
 *   frames.c    their buffers
 *   rdma.c      descriptors: what the library asks of them
 *   desc.c      their mappings, and their way back
 *   stage.c     registrations and invalidations
 *   bounce.c    copies of what has too many gaps
 *   pull.c      READs and WRITEs
 *   probe.c     READs of no bytes on idle connections
 *   trial.c     whether a READ of an illegal address could be used for that
 *   handles.c   pages of bio vectors as fragments; memory that was given back is watched
 *   state.c     the file "verbs"; counts.h has what it counts
 *   wire.h      what goes over the wire
 *
 * There is no state machine of the protocol here. A connection knows whether its queue pair is
 * being made, works, or is proven stopped; what follows from that is the library's.
 *
 * Locks that are spun for, outer before inner: the node's (the library's, softirqs stay out), the
 * connection's, the one of the list of connections that have frames. Locks of threads, outside of
 * these: that of network devices (rtnl), the node's mutex for new peers.
 */
#ifndef LND_VERBS_H
#define LND_VERBS_H

#include <linux/in.h>
#include <linux/notifier.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "counts.h"
#include "lnd_host.h"
#include "wire.h"

#define LND_VERBS_LINK		0	/* the only link */
#define LND_VERBS_PIECES	1088	/* pieces of the longest descriptor: 4 MiB, with gaps */
#define LND_VERBS_PAGES		257	/* pages of a region: 1 MiB at any offset */
#define LND_VERBS_SEGMENTS	32	/* regions of a descriptor: one more at each gap */
#define LND_VERBS_HANDLES	1024	/* payloads that are mapped at once */
#define LND_VERBS_WINDOW	16	/* frames of a lane under way to one peer */
#define LND_VERBS_NOTES		4	/* frames that carry credits alone */
#define LND_VERBS_FRAMES	(2 * LND_VERBS_WINDOW + LND_VERBS_NOTES)	/* each way */
#define LND_VERBS_MOVES		4	/* READs and WRITEs under way on a connection */
#define LND_VERBS_CHUNK		0x10000u	/* bytes of one */
#define LND_VERBS_SGES		17	/* pieces of one: CHUNK at any offset */
#define LND_VERBS_INLINE	256	/* bytes of a frame that may go into a work request */
#define LND_VERBS_REGIONS	192	/* of a connection */
#define LND_VERBS_ENDED	16	/* pulls and pushes whose ends are not sent yet */
/* What requests leave: regions for one descriptor, and half of all for answers. */
#define LND_VERBS_SPARE		(LND_VERBS_SEGMENTS + 1 + LND_VERBS_REGIONS / 2)

struct lnd_verbs_peer;

/* A frame's buffer. */
struct lnd_verbs_frame {
	struct list_head list;
	struct ib_cqe cqe;
	struct lnd_verbs_peer *peer;
	struct lnd_verbs_head *head;	/* the buffer */
	u64 dma;
	u32 len;
	u32 lane;
	u32 order;	/* of its arrival, among those of the peer */
	bool tracked;
	u32 ends;	/* the peer's key that is invalid with it, or 0 */
	struct lnd_verbs_desc *begins;	/* whose registration goes in front of it, or NULL */
	u32 generation;	/* of that use of the descriptor */
	struct lnd_message message;
};

/* A memory region for a part of one staged descriptor at a time, or for its segments. */
struct lnd_verbs_region {
	struct list_head list;
	struct ib_mr *mr;
	struct ib_cqe cqe;
	bool valid;	/* its registration is posted, and it is not invalidated since */
	bool exposed;	/* the peer writes it; else it reads it */
};

/* A pull or push that has ended well: the frame that says so invalidates the peer's key. */
struct lnd_verbs_ended {
	struct lnd_tag source;	/* the peer's descriptor */
	u32 rkey;	/* 0: none */
};

/* A request of a peer's. */
struct lnd_verbs_asked {
	struct lnd_verbs_hello hello;
	u8 reads;	/* at once, either way, that its device takes */
};

/* A READ or WRITE under way. */
struct lnd_verbs_move {
	struct list_head list;
	struct ib_cqe cqe;
	struct lnd_verbs_peer *peer;
	struct lnd_verbs_desc *desc;
	u32 len;
	bool index;	/* of the peer's segments, no payload */
};

enum lnd_verbs_motion {
	LND_VERBS_FREE,
	LND_VERBS_STAGED,	/* or exposed */
	LND_VERBS_UNSTAGING,	/* its key is being invalidated */
	LND_VERBS_QUEUED,	/* a pull or push that has READs or WRITEs to post */
	LND_VERBS_PULLING,	/* one of which all are posted, or that reads segments */
	LND_VERBS_STRANDED	/* posted to a connection that had failed: nothing was begun */
};

/* A descriptor, by the index of its tag. Protected by its connection's lock. */
struct lnd_verbs_desc {
	struct list_head pull;	/* of its connection */
	struct ib_cqe cqe;	/* of its invalidation */
	struct lnd_verbs_peer *peer;
	struct lnd_tag tag;
	struct lnd_tag source;	/* the peer's, of a pull or push */
	enum lnd_verbs_motion motion;
	bool given_up;	/* a pull or push that posts no more */
	bool mapped;
	u32 length;
	/* A pull or push: where the next READ or WRITE begins, and what has arrived. */
	u32 issued;
	u32 moved;
	u32 moves;	/* under way */
	u32 entry;
	u32 in_entry;
	u32 segment;	/* the peer's, and the byte in it */
	u32 in_segment;
	bool listed;	/* the peer's segments are known */
	struct lnd_verbs_key key;	/* the peer's, of a pull or push; else ours */
	struct list_head regions;
	u32 segments;
	struct lnd_verbs_segment *list;	/* a buffer that a device reaches */
	struct scatterlist index;	/* it, mapped */
	bool index_mapped;
	enum dma_data_direction index_direction;
	enum dma_data_direction direction;	/* to the device: staged, or pushed */
	int pieces;
	int dma_pieces;
	struct scatterlist *sg;
	struct scatterlist *bounce;	/* a copy in pages without gaps, in its place */
};

/* A descriptor that is to be reported once no lock is held. */
struct lnd_verbs_back {
	struct lnd_tag tag;
	u32 how;
	bool is;
};

/*
 * CLOSED is proven stopped: the queue pair is drained and destroyed, and no key of its protection
 * domain is valid.
 */
enum lnd_verbs_state {
	LND_VERBS_IDLE,
	LND_VERBS_RESOLVING,
	LND_VERBS_ROUTING,
	LND_VERBS_CONNECTING,
	LND_VERBS_ACCEPTING,
	LND_VERBS_UP,
	LND_VERBS_CLOSED
};

/* A peer on the link, and its connection. */
struct lnd_verbs_peer {
	struct lnd_verbs_node *node;
	u64 nid;
	struct sockaddr_in address;
	struct delayed_work work;
	/*
	 * Protects all below. What a queue pair and its memory are, the worker alone changes, while
	 * the connection is not open: others use it with the lock, and while it is.
	 */
	spinlock_t lock;

	enum lnd_verbs_state state;
	u32 number;	/* the connection's, for the library */
	bool open;	/* work may be posted */
	bool served;	/* has been open since the last reset */
	bool failed;	/* must be closed */
	bool broken;	/* the queue pair said so, maybe in an interrupt; without the lock */
	bool silent;	/* because its retries are exhausted */
	bool stop;	/* the library has asked for the stop */
	bool renewed;	/* was reset while it was being closed */
	bool wanted;	/* frames wait for it */
	bool bound;	/* there is an id, or one is being destroyed */
	bool sinking;	/* a network device goes down: none is begun */
	bool ends_first;	/* that device is this connection's */
	unsigned long deadline;	/* of the state, in jiffies */
	unsigned long retry;	/* not before, in jiffies */
	unsigned long opened;	/* in jiffies */
	unsigned long backoff;	/* of the next attempt, in jiffies */
	int event;	/* what rdma_cm has reported last */

	struct rdma_cm_id *id;
	struct rdma_cm_id *incoming;	/* a request of the peer's, not yet judged */
	struct lnd_verbs_hello theirs;
	struct lnd_verbs_asked asked;	/* what came with incoming */
	bool judging;	/* it is being taken, or rejected */
	u32 cookie;
	u32 peer_cookie;

	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_device *device;	/* for mappings; as long as there is a queue pair */
	struct ib_event_handler handler;	/* of the device's events */
	struct rdma_cm_id *maker;	/* the id that the queue pair is of, as long as it exists */

	/* channel.c; cumulative counts, modulo 2^16 */
	u16 granted[LND_VERBS_LANES];	/* frames that the peer lets us send */
	u16 sent[LND_VERBS_LANES];
	u16 given[LND_VERBS_LANES];	/* frames that we let the peer send */
	u16 told[LND_VERBS_LANES];	/* of these, those that it knows of */
	u32 sending[LND_VERBS_LANES];	/* sends without a completion */
	u8 hungry;	/* lanes, as bits, for which the library was told that there is no room */
	u32 inlines;	/* bytes of a frame that goes into the work request */
	u32 sges;	/* pieces of a READ or WRITE that the device takes */
	struct lnd_verbs_frame *sends;
	struct lnd_verbs_frame *receives;
	struct list_head free_sends;
	struct list_head free_receives;
	struct list_head waiting;	/* frames behind registrations */
	struct list_head arrived[2];	/* for the node's thread, by lane */
	u32 order;	/* of the next frame that arrives */
	struct list_head arrival;	/* of the node; by its lock for them */
	struct list_head posted;	/* of the node; by the library's lock */

	/* rdma.c */
	struct lnd_verbs_region *regions;
	struct xarray keys;	/* regions, by the part of their key that stays */
	struct list_head free_regions;
	struct lnd_verbs_ended ended[LND_VERBS_ENDED];	/* the oldest is replaced */
	u32 next_ended;
	struct lnd_verbs_move move[LND_VERBS_MOVES];
	struct list_head free_moves;
	struct list_head pulls;	/* and pushes */
	struct ib_qp *local;	/* registers and invalidates, and moves nothing */
	bool chains;	/* it need not register: the queue pair of the frames does */
	bool invalidates;	/* with the frame that ends a pull or push */
	bool local_up;
	u32 registering;	/* registrations without a completion: frames wait */
	u32 spare;	/* regions in free_regions */

	/* probe.c */
	struct ib_cqe probe;
	bool probing;
	unsigned long probed;	/* when, in jiffies */
	unsigned long heard;	/* when the other end last acknowledged or sent, in jiffies */
};

struct lnd_verbs_node {
	struct lnd_host_node host;
	u64 nid;	/* the library's number of this node */
	u64 incarnation;
	u32 frame_bytes;	/* longest frame */
	struct kmem_cache *frames;	/* their buffers */
	bool ending;	/* no connection is begun any more */
	bool leaving;	/* in good order: goodbyes arrive before their connections end */
	bool link_stopped;	/* none, until the link's reset */
	struct rdma_cm_id *listener;
	struct notifier_block netdev;
	struct notifier_block inetaddr;
	bool watches_netdevs;
	bool watches_inetaddrs;
	bool watches_devices;
	bool unplugged;	/* no network device with our address carries anything, or none for RDMA */
	struct delayed_work looker;	/* for one */
	wait_queue_head_t settled;	/* a connection's id has gone */
	atomic_t trials;	/* of the illegal READ, begun */
	bool tried;	/* trial[] is there */
	u32 trial[3];	/* how its steps have ended, enum ib_wc_status */
	struct workqueue_struct *workers;
	struct xarray peers;	/* struct lnd_verbs_peer, by NID: added, and freed with the node */
	spinlock_t arrivals_lock;	/* the innermost; protects arrivals */
	struct list_head arrivals;	/* peers that may have frames */
	struct list_head posted;	/* peers with pulls or pushes that wait for the doorbell */
	struct mutex adding;	/* of peers, one at a time; protects unplugged and these, too: */
	u32 known;	/* peers */
	bool sinking;	/* a network device goes down: so for peers that come now */
	struct lnd_verbs_desc *desc;	/* lnd_host_slots */
	struct scatterlist *sg;
	const struct lnd_host_payload **handles;
	struct delayed_work watcher;
	spinlock_t watch_lock;	/* protects watched */
	struct list_head watched;
	atomic_long_t count[LND_VERBS_COUNTS];
};

static inline struct lnd_verbs_node *lnd_verbs_of(struct lnd_host_node *node)
{
	return container_of(node, struct lnd_verbs_node, host);
}

static inline void lnd_verbs_count(struct lnd_verbs_node *node, enum lnd_verbs_count what)
{
	atomic_long_inc(&node->count[what]);
}

/* Connections move bytes on several processors at once. */
static inline void lnd_verbs_count_bytes(struct lnd_verbs_node *node, u64 bytes)
{
	u64 *count = &node->host.link[LND_VERBS_LINK].bytes;
	u64 before;

	do {
		before = READ_ONCE(*count);
	} while (cmpxchg64(count, before, before + bytes) != before);
}

static inline struct scatterlist *lnd_verbs_sg(struct lnd_verbs_desc *desc)
{
	return desc->bounce ?: desc->sg;
}

/* Frames of a lane that may be under way. */
static inline u32 lnd_verbs_window(u32 lane)
{
	return lane == LND_VERBS_NOTE ? LND_VERBS_NOTES : LND_VERBS_WINDOW;
}

/* Whether the other end may have it open already. Context: any, with the connection's lock. */
static inline bool lnd_verbs_opening(const struct lnd_verbs_peer *peer)
{
	return peer->state == LND_VERBS_CONNECTING || peer->state == LND_VERBS_ACCEPTING;
}

/* Context: any, with the connection's lock. */
static inline void lnd_verbs_heard_from(struct lnd_verbs_peer *peer)
{
	peer->heard = jiffies;
}

/* settings.c */
extern unsigned int lnd_verbs_connect_ms;
extern unsigned int lnd_verbs_watch_ms;
extern unsigned int lnd_verbs_probe_ms;
extern unsigned int lnd_verbs_timeout;
extern unsigned int lnd_verbs_retries;
extern unsigned int lnd_verbs_chain;
extern unsigned int lnd_verbs_inv;
extern bool lnd_verbs_push;
extern unsigned short lnd_verbs_port;
int lnd_verbs_settings_check(void);

/* list.c, or ../lnet/network.c: which nodes there are, and where. */
int lnd_verbs_nodes_check(void);
void lnd_verbs_nodes(struct lnd_host_fabric *fabric);
u64 lnd_verbs_listed(u32 index);
bool lnd_verbs_where(u64 nid, struct sockaddr_in *address);

/* Seeded defects, for tests. */
#ifdef LND_HOST_SEEDS
bool lnd_verbs_defect(const char *name);
#else
static inline bool lnd_verbs_defect(const char *name)
{
	return false;
}
#endif

/* table.c */
extern const struct lnd_ops lnd_verbs_ops;

/* ask.c */
struct lnd_verbs_peer *lnd_verbs_find(struct lnd_verbs_node *node, u64 nid);
int lnd_verbs_post(struct lnd_verbs_peer *peer, struct ib_send_wr *wr);
void lnd_verbs_kick(struct lnd_verbs_peer *peer);
void lnd_verbs_fail(struct lnd_verbs_peer *peer, const char *why);
void lnd_verbs_break(struct lnd_verbs_peer *peer, struct ib_wc *wc);
void lnd_verbs_arrival(struct lnd_verbs_peer *peer);
void lnd_verbs_request_connect(struct lnd_verbs_peer *peer);
void lnd_verbs_stop(struct lnd_verbs_peer *peer);
void lnd_verbs_reset(struct lnd_verbs_peer *peer);

/* peer.c */
struct lnd_verbs_peer *lnd_verbs_peer_add(struct lnd_verbs_node *node, u64 nid);
void lnd_verbs_peer_close(struct lnd_verbs_peer *peer);
void lnd_verbs_peer_free(struct lnd_verbs_peer *peer);

/* connection.c */
int lnd_verbs_begin(struct lnd_verbs_peer *peer);
int lnd_verbs_connect(struct lnd_verbs_peer *peer);
int lnd_verbs_accept(struct lnd_verbs_peer *peer, struct rdma_cm_id *id,
		     const struct lnd_verbs_asked *asked);
bool lnd_verbs_able(const struct ib_device *device, u32 port);
int lnd_verbs_opened(struct lnd_verbs_peer *peer);
void lnd_verbs_flush(struct lnd_verbs_peer *peer);
void lnd_verbs_close(struct lnd_verbs_peer *peer);

/* listen.c */
int lnd_verbs_listen(struct lnd_verbs_node *node);

/* cm.c */
bool lnd_verbs_hello_good(const struct lnd_verbs_node *node, const struct lnd_verbs_hello *hello);
int lnd_verbs_event(struct rdma_cm_id *id, struct rdma_cm_event *event);
void lnd_verbs_hello_fill(const struct lnd_verbs_peer *peer, struct lnd_verbs_hello *hello);
bool lnd_verbs_meet(struct lnd_verbs_peer *peer, const struct lnd_verbs_hello *hello);

/* port.c */
void lnd_verbs_look_again(struct work_struct *work);
struct rdma_cm_id *lnd_verbs_bind(struct sockaddr_in *address);
int lnd_verbs_port_init(struct lnd_verbs_node *node);
void lnd_verbs_port_exit(struct lnd_verbs_node *node);

/* thread.c */
int lnd_verbs_thread(void *data);

/* frames.c */
int lnd_verbs_frames_init(struct lnd_verbs_node *node);
void lnd_verbs_frames_exit(struct lnd_verbs_node *node);
size_t lnd_verbs_frame_room(const struct lnd_verbs_node *node);
int lnd_verbs_channel_init(struct lnd_verbs_peer *peer);
void lnd_verbs_channel_exit(struct lnd_verbs_peer *peer);

/* channel.c */
int lnd_verbs_channel_open(struct lnd_verbs_peer *peer);
void lnd_verbs_channel_close(struct lnd_verbs_peer *peer);
void lnd_verbs_channel_up(struct lnd_verbs_peer *peer);
struct lnd_verbs_frame *lnd_verbs_arrived(struct lnd_verbs_peer *peer, const bool *waits);
void lnd_verbs_release(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame);

/* room.c */
bool lnd_verbs_has_room(const struct lnd_verbs_peer *peer, u32 lane);
bool lnd_verbs_ready(struct lnd_verbs_peer *peer, u32 lane);
void lnd_verbs_lacks(struct lnd_verbs_peer *peer, u32 lane);
bool lnd_verbs_fed(const struct lnd_verbs_peer *peer);
void lnd_verbs_feed(struct lnd_verbs_peer *peer);

/* send.c */
void lnd_verbs_reg(struct lnd_verbs_region *region, struct ib_reg_wr *wr);
void lnd_verbs_note(struct lnd_verbs_peer *peer);
int lnd_verbs_send_frame(struct lnd_verbs_peer *peer, struct lnd_verbs_frame *frame, u32 lane,
			 u32 len);
u32 lnd_verbs_send(struct lnd_verbs_peer *peer, const struct lnd_frame *frame);

/* desc.c */
void lnd_verbs_report(struct lnd_verbs_node *node, const struct lnd_verbs_back *back);
void lnd_verbs_unmap(struct lnd_verbs_desc *desc);
enum lnd_verbs_motion lnd_verbs_motion_of(struct lnd_verbs_peer *peer,
					  struct lnd_verbs_desc *desc);
bool lnd_verbs_map(struct lnd_verbs_desc *desc);
bool lnd_verbs_map_index(struct lnd_verbs_desc *desc, enum dma_data_direction direction);
void lnd_verbs_free_regions(struct lnd_verbs_desc *desc);
void lnd_verbs_give_back(struct lnd_verbs_desc *desc, u32 how, struct lnd_verbs_back *back);

/* rdma.c */
int lnd_verbs_rdma_init(struct lnd_verbs_peer *peer);
void lnd_verbs_rdma_exit(struct lnd_verbs_peer *peer);
void lnd_verbs_unmap_all(struct lnd_verbs_peer *peer);
u32 lnd_verbs_engine_post(void *ctx, const struct lnd_bd *bd);
u32 lnd_verbs_engine_key(void *ctx, u32 link, struct lnd_tag tag, void *key);
void lnd_verbs_engine_doorbell(void *ctx, u32 link);
void lnd_verbs_engine_invalidate(void *ctx, u32 link, struct lnd_tag tag);
u32 lnd_verbs_engine_reclaim(void *ctx, u32 link, struct lnd_tag tag);

/* stage.c */
int lnd_verbs_rdma_open(struct lnd_verbs_peer *peer);
int lnd_verbs_local_up(struct lnd_verbs_peer *peer);
void lnd_verbs_rdma_close(struct lnd_verbs_peer *peer);
bool lnd_verbs_by_device(const struct ib_device *device);
void lnd_verbs_lose_key(struct lnd_verbs_peer *peer, u32 rkey);
u32 lnd_verbs_stage(struct lnd_verbs_desc *desc);
void lnd_verbs_unstage(struct lnd_verbs_desc *desc, struct lnd_verbs_back *back);

/* bounce.c */
int lnd_verbs_bounce(struct lnd_verbs_desc *desc);
void lnd_verbs_unbounce(struct lnd_verbs_desc *desc);
void lnd_verbs_bounce_back(struct lnd_verbs_desc *desc);

/* pull.c */
u32 lnd_verbs_ended_by(struct lnd_verbs_peer *peer, struct lnd_tag source);
void lnd_verbs_pump(struct lnd_verbs_peer *peer);
void lnd_verbs_give_up(struct lnd_verbs_desc *desc, struct lnd_verbs_back *back);

/* probe.c */
unsigned long lnd_verbs_probe_due(const struct lnd_verbs_peer *peer);
void lnd_verbs_probe(struct lnd_verbs_peer *peer);

/* trial.c */
void lnd_verbs_trial(struct lnd_verbs_peer *peer);
const char *lnd_verbs_trial_result(const struct lnd_verbs_node *node);

/* handles.c */
const struct lnd_host_payload *lnd_verbs_payload(struct lnd_verbs_node *node, u64 addr, u32 len);
u32 lnd_verbs_copy(struct lnd_verbs_node *node, u64 addr, void *bytes, u32 len, bool into);
int lnd_verbs_pieces(struct lnd_verbs_node *node, const struct lnd_frag *frags, u32 nfrags,
		     u32 length, struct scatterlist *sg, unsigned int room);
int lnd_verbs_handles_init(struct lnd_verbs_node *node);
void lnd_verbs_handles_exit(struct lnd_verbs_node *node);

/* state.c */
const char *lnd_verbs_state_name(enum lnd_verbs_state state);
void lnd_verbs_state_add(struct lnd_host_fabric *fabric);

#endif
