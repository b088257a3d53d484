// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Corners of the NI's ABI that no example comes by: links that fail or are said to, decisions that
 * come later or too late, two contexts where there may be one. What must hold is what lnd.h says.
 */
#include "slowly.h"

/* What operations are to do. */
static int keep;	/* requests are kept for later */
static int twice;	/* a second interrupt comes within the first */
static int mark_dead;	/* the NI is destroyed while a call waits for its lock */
static int intrude;	/* another thread calls from within finalize(), and before a decision */
static uint32_t self;	/* who calls */
static struct lnd_request kept;

static uint32_t reg_read32(void *ctx, uint32_t link, uint32_t offset)
{
	struct node *node = ctx;

	if (twice) {
		uint32_t more = 9;

		twice = 0;
		FAILS(LND_E_BUSY, lnd_interrupt(node->ni, link, 8, world.now, &more));
		CHECK(more == 9);
	}
	return usual.reg_read32(ctx, link, offset);
}

static uint32_t self_id(void *ctx)
{
	(void)ctx;
	return self;
}

/* Does not exclude: another thread comes in. */
static void lock(void *ctx)
{
	struct node *node = ctx;

	if (mark_dead) {
		mark_dead = 0;
		self = 2;
		MUST(lnd_ni_destroy(node->ni));
		self = 1;
	}
}

static void unlock(void *ctx)
{
	(void)ctx;
}

static enum lnd_error decide(struct node *node, const struct lnd_arrival *arrival)
{
	if (intrude) {
		/* Nothing is held: what another thread does changes nothing for this request. */
		struct lnd_stats stats = { .size = sizeof(stats) };
		uint64_t next;

		self = 2;
		MUST(lnd_stats_get(node->ni, &stats));
		MUST(lnd_run(node->ni, world.now, 1, &next));
		self = 1;
	}
	return keep ? lnd_keep(node->ni, arrival->request, world.now, &kept)
		    : node_decide(node, arrival);
}

static void finalize(void *ctx, const struct lnd_report *report)
{
	struct node *node = ctx;

	if (intrude) {
		/* One lnd_run() at a time. */
		self = 2;
		FAILS(LND_E_BUSY, lnd_run(node->ni, world.now, 1, NULL));
		self = 1;
	}
	usual.finalize(ctx, report);
}

static void open_corners(uint64_t patience)
{
	struct lnd_ops ops = usual;

	self = 1;
	keep = twice = mark_dead = intrude = 0;
	ops.reg_read32 = reg_read32;
	ops.lock = lock;
	ops.unlock = unlock;
	ops.self_id = self_id;
	decides = decide;
	ops.finalize = finalize;
	open_world(patience, &ops);
}

static void version(void)
{
	char text[32];

	CHECK(lnd_abi_version() == LND_ABI_VERSION);
	snprintf(text, sizeof(text), "%u.%u.%u", LND_VERSION_MAJOR, LND_VERSION_MINOR,
		 LND_VERSION_PATCH);
	CHECK(!strcmp(lnd_version(), text));
}

/* Until a link of the first node is in a state. */
static void until_link(uint32_t link, uint32_t wanted)
{
	uint32_t state = 0;
	unsigned int rounds = 0;

	for (;;) {
		MUST(lnd_link_state_get(a->ni, link, &state));
		if (state == wanted)
			return;
		slow_step(a);
		slow_step(b);
		world.now += MS / 10;
		CHECK(rounds++ < 100000);
	}
}

static void links(void)
{
	char text[4096 + 1];
	uint32_t cursor = 0;
	size_t written;
	unsigned int before;

	open_corners(1000 * MS);
	/* Said to have failed: the thread is woken and stops the engine, which then works again. */
	MUST(node_put(a, 0, 0, 30000, NULL));
	MUST(node_put(a, 0, 0, 30000, NULL));
	slow_step(a);
	MUST(lnd_run(a->ni, world.now, 8, &a->next));
	a->woken = 0;
	before = traced[LND_TRACE_LINK];
	MUST(lnd_link_failed(a->ni, 0));
	CHECK(a->woken);
	MUST(lnd_run(a->ni, world.now, 8, &a->next));
	CHECK(traced[LND_TRACE_LINK] > before && a->link_state[0] != LND_LINK_UP);
	FAILS(LND_E_END,
	      lnd_dump(a->ni, LND_DUMP_LINKS, &cursor, text, sizeof(text) - 1, &written));
	text[written] = 0;
	CHECK(!strstr(text, "link 0 up") && strstr(text, "link 1 up"));
	slowly(2, 1);
	until_link(0, LND_LINK_UP);
	CHECK(a->link_state[0] == LND_LINK_UP);

	/* Down by the host's word, until it says otherwise. */
	MUST(lnd_link_event(a->ni, 1, 0, world.now));
	until_link(1, LND_LINK_DOWN);
	MUST(node_put(a, 0, 0, 30000, NULL));
	slowly(3, 1);
	CHECK(!a->last.error);
	MUST(lnd_link_event(a->ni, 1, 1, world.now));
	until_link(1, LND_LINK_UP);
	MUST(lnd_audit(a->ni));
	world_close(&world);
	printf("corners: links fail and come back\n");
}

static void decisions(void)
{
	struct lnd_frag frag = { .addr = 0, .len = 30000 };
	struct lnd_decision decision = { .size = sizeof(decision), .frags = &frag, .nfrags = 1 };
	struct lnd_stats stats = { .size = sizeof(stats) };
	struct lnd_transfer transfer;

	open_corners(200 * MS);
	keep = 1;
	decision.len = 30000;
	decision.deadline = LND_NEVER;
	/* One that has its decision later, at the second attempt. */
	MUST(node_put(a, 0, 0, 30000, NULL));
	world_run(&world, 10 * MS, NULL, 0);
	look(b);
	CHECK(has_said(" request ") && !a->reports);
	decision.reserved = 1;
	FAILS(LND_E_ARGUMENT, lnd_recv(b->ni, kept, &decision, world.now, &transfer, NULL));
	decision.reserved = 0;
	FAILS(LND_E_NULL, lnd_recv(b->ni, kept, NULL, world.now, &transfer, NULL));
	MUST(lnd_recv(b->ni, kept, &decision, world.now, &transfer, NULL));
	FAILS(LND_E_STALE, lnd_recv(b->ni, kept, &decision, world.now, NULL, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1) && !a->failures);
	world_run(&world, 10 * MS, NULL, 0);

	/* One whose peer has gone before. */
	MUST(node_put(a, 0, 0, 30000, NULL));
	world_run(&world, 10 * MS, NULL, 0);
	MUST(lnd_peer_event(b->ni, lnd_soft_nid(0), 0, world.now));
	MUST(lnd_run(b->ni, world.now, 8, &b->next));
	FAILS(LND_E_GONE, lnd_recv(b->ni, kept, &decision, world.now, NULL, NULL));
	FAILS(LND_E_STALE, lnd_recv(b->ni, kept, &decision, world.now, NULL, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 2) && a->failures == 1);
	MUST(lnd_stats_get(b->ni, &stats));
	CHECK(!stats.passive && !stats.active);
	MUST(lnd_audit(b->ni));
	world_close(&world);
	printf("corners: decisions may come later, and too late\n");
}

/* The next frame in node b's mailboxes is offered, and stays there. */
static enum lnd_error offer(void)
{
	struct lnd_soft_arrival arrival = { .size = sizeof(arrival) };
	size_t room = lnd_soft_frame_max(world.fabric);

	/* The end of a pass, perhaps; the next call begins another. */
	if (lnd_soft_receive(b->soft_node, 8, b->frame, room, &arrival) == LND_E_END)
		MUST(lnd_soft_receive(b->soft_node, 8, b->frame, room, &arrival));
	return node_frame(b, arrival.link, lnd_soft_nid(arrival.from), b->frame, arrival.len,
			  world.now);
}

/* Runs node b once. Returns whether that has called wake(). */
static unsigned int run_wakes(void)
{
	MUST(lnd_run(b->ni, world.now, 8, &b->next));
	b->woken = 0;
	MUST(lnd_run(b->ni, world.now, 8, &b->next));
	return b->woken;
}

/* lnd_run() calls wake() when a slot is free again and a frame waits; only then. */
static void waiting(void)
{
	unsigned int i;

	few_slots = 4;
	open_corners(1000 * MS);
	keep = 1;
	/* Small ones: each leaves its sender at once. Four fill the receiver's table. */
	for (i = 0; i < 5; i++) {
		MUST(node_put(a, 0, 0, 100, NULL));
		CHECK(world_run(&world, 1000 * MS, &a->reports, i + 1) && !a->failures);
	}
	world_run(&world, 10 * MS, NULL, 0);
	FAILS(LND_E_WAIT, offer());
	CHECK(!run_wakes());
	FAILS(LND_E_WAIT, offer());
	MUST(lnd_nak(b->ni, kept, LND_NAK_NO_MATCH, world.now));
	b->woken = 0;
	MUST(lnd_run(b->ni, world.now, 8, &b->next));
	CHECK(b->woken);
	MUST(offer());
	MUST(lnd_soft_release(b->soft_node));
	/* A slot becomes free, and no frame waits. */
	MUST(lnd_nak(b->ni, kept, LND_NAK_NO_MATCH, world.now));
	b->woken = 0;
	MUST(lnd_run(b->ni, world.now, 8, &b->next));
	CHECK(!b->woken);
	keep = 0;
	few_slots = 0;
	world_close(&world);
	printf("corners: a frame that waits is asked for when there is room\n");
}

/*
 * What a message may carry by the configuration, and the mailboxes cannot: nothing of it goes out.
 * Its sender has erred, not the peer.
 */
static void long_frames(void)
{
	struct lnd_config config;

	large_inline = 40000;
	open_corners(1000 * MS);
	config = node_config(a);
	CHECK(lnd_frame_size(&config) == 88 + LND_MAX_HEADER + large_inline);
	CHECK(lnd_frame_size(&config) > lnd_soft_frame_max(world.fabric));
	MUST(node_put(a, 0, 0, 30000, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1) && a->failures == 1);
	CHECK(a->last.health == LND_HEALTH_LOCAL_DROPPED);
	CHECK(a->last.delivery == LND_NOT_DELIVERED && a->last.cause == LND_CAUSE_CHANNEL);
	CHECK(a->bugs == 1 && a->peer_state == LND_PEER_GOOD);
	/* Shorter and longer ones get through. */
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 2));
	MUST(node_put(a, 0, 0, 50000, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 3) && a->failures == 1 && a->bugs == 1);
	large_inline = 0;
	world_close(&world);
	printf("corners: a frame that is too long for the channel is its sender's fault\n");
}

static void contexts(void)
{
	struct lnd_stats before = { .size = sizeof(before) }, after = { .size = sizeof(after) };
	uint32_t state = 0, more = 9;
	void *gone;

	open_corners(1000 * MS);
	/* Two interrupts of a link: the second does nothing, and is told to bug(). */
	MUST(lnd_stats_get(a->ni, &before));
	twice = 1;
	MUST(lnd_interrupt(a->ni, 0, 8, world.now, &more));
	MUST(lnd_stats_get(a->ni, &after));
	CHECK(!twice && more == 0 && a->bugs == 1);
	CHECK(after.misuses == before.misuses + 1 && after.interrupts == before.interrupts + 1);

	/* Two threads, before a decision and in lnd_run(): no misuse, and nothing is lost. */
	intrude = 1;
	MUST(node_put(a, 0, 0, 1000, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1));
	MUST(node_put(a, 0, 0, 30000, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 2) && !a->failures);
	world_run(&world, 10 * MS, NULL, 0);
	intrude = 0;
	CHECK(a->bugs == 1 && !b->bugs);

	/* Destroyed while a call waits for the lock. */
	MUST(lnd_shutdown(a->ni, world.now, world.now));
	while (state != LND_QUIESCENT) {
		world_run(&world, 0, NULL, 0);
		MUST(lnd_run_state_get(a->ni, &state));
	}
	gone = a->ni;
	mark_dead = 1;
	FAILS(LND_E_NI, lnd_stats_get(gone, &after));
	CHECK(!mark_dead);
	FAILS(LND_E_NI, lnd_run_state_get(gone, &state));
	a->dead = 1;
	MUST(lnd_soft_engine_destroy(a->engine[0]));
	MUST(lnd_soft_engine_destroy(a->engine[1]));
	MUST(lnd_soft_leave(a->soft_node, NULL));
	world_close(&world);
	printf("corners: where one context may be, a second is told so\n");
}

int main(void)
{
	usual = world_ops();
	version();
	links();
	decisions();
	waiting();
	long_frames();
	contexts();
	CHECK(traced[LND_TRACE_LINK] && traced[LND_TRACE_POSTED] && traced[LND_TRACE_RECLAIMED]);
	return 0;
}
