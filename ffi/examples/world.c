// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The parts of a host: the operations of the platform, the creation of a node, and its loop.
 */
#include "world.h"

#include <string.h>

void must(enum lnd_error got, enum lnd_error wanted, const char *call, const char *file, int line)
{
	if (got == wanted)
		return;
	fprintf(stderr, "%s:%d: %s: %s instead of %s\n", file, line, call, lnd_error_name(got),
		lnd_error_name(wanted));
	exit(1);
}

void *memory(size_t bytes)
{
	size_t whole = (bytes + LND_ALIGN - 1) / LND_ALIGN * LND_ALIGN;
	void *block = aligned_alloc(LND_ALIGN, whole);

	CHECK(block);
	return block;
}

/* The platform's operations. */

static uint32_t op_reg_read32(void *ctx, uint32_t link, uint32_t offset)
{
	struct node *node = ctx;

	return lnd_soft_reg_read32(node->world->fabric, node->number, link, offset);
}

static void op_reg_write32(void *ctx, uint32_t link, uint32_t offset, uint32_t value)
{
	struct node *node = ctx;

	/* The loop steps the engines all the time: no need to wake one. */
	lnd_soft_reg_write32(node->world->fabric, node->number, link, offset, value);
}

static uint32_t op_reaches(void *ctx, uint64_t nid)
{
	(void)ctx;
	return lnd_soft_node_of(nid) < 2;
}

static uint32_t op_ready(void *ctx, uint32_t link, uint64_t nid, uint32_t lane)
{
	struct node *node = ctx;

	return lnd_soft_ready(node->soft_node, link, lane, lnd_soft_node_of(nid));
}

static uint32_t op_send(void *ctx, const struct lnd_frame *frame)
{
	struct node *node = ctx;
	uint32_t sent = LND_SEND_FAILED;

	lnd_soft_send(node->soft_node, frame->link, frame->lane, lnd_soft_node_of(frame->nid),
		      frame->bytes, frame->len, &sent);
	return sent;
}

static uint32_t op_mem_read(void *ctx, uint64_t addr, void *to, uint32_t len)
{
	struct node *node = ctx;

	return lnd_soft_read(node->world->fabric, node->number, addr, to, len);
}

static uint32_t op_mem_write(void *ctx, uint64_t addr, const void *from, uint32_t len)
{
	struct node *node = ctx;

	return lnd_soft_write(node->world->fabric, node->number, addr, from, len);
}

static uint32_t op_mem_valid(void *ctx, uint64_t addr, uint32_t len)
{
	struct node *node = ctx;

	return lnd_soft_valid(node->world->fabric, node->number, addr, len);
}

static void op_finalize(void *ctx, const struct lnd_report *report)
{
	node_ended(ctx, report);
}

static void op_event(void *ctx, const struct lnd_event *event)
{
	struct node *node = ctx;

	if (event->kind == LND_EVENT_PEER)
		node->peer_state = event->state;
	else if (event->kind == LND_EVENT_LINK && event->link < LINKS)
		node->link_state[event->link] = event->state;
}

static void op_wake(void *ctx)
{
	struct node *node = ctx;

	node->woken = 1;
}

static void op_bug(void *ctx, const char *what)
{
	struct node *node = ctx;

	(void)what;
	node->bugs++;
}

struct lnd_ops world_ops(void)
{
	/* No lock: one thread makes all calls. */
	struct lnd_ops ops = {
		.size = sizeof(ops),
		.reg_read32 = op_reg_read32,
		.reg_write32 = op_reg_write32,
		.reaches = op_reaches,
		.ready = op_ready,
		.send = op_send,
		.mem_read = op_mem_read,
		.mem_write = op_mem_write,
		.mem_valid = op_mem_valid,
		.finalize = op_finalize,
		.event = op_event,
		.wake = op_wake,
		.bug = op_bug,
	};

	return ops;
}

/* Creation and end. */

struct lnd_config node_config(struct node *node)
{
	struct lnd_config config;
	uint32_t link;

	MUST(lnd_config_init(&config, LND_ABI_VERSION, node->world->slots ? node->world->slots : 64,
			     4, LINKS));
	config.nid = lnd_soft_nid(node->number);
	config.incarnation = lnd_soft_incarnation(node->soft_node);
	config.flags |= LND_RELIABLE; /* mailboxes lose no frame */
	config.flags |= node->world->flags;
	config.drain_bound = node->world->patience / 20;
	config.hello_timeout = node->world->patience;
	if (node->world->immediate_max)
		config.immediate_max = node->world->immediate_max;
	else
		CHECK(lnd_frame_size(&config) <= lnd_soft_frame_max(node->world->fabric));
	for (link = 0; link < LINKS; link++) {
		struct lnd_soft_link found = { .size = sizeof(found) };

		MUST(lnd_soft_link_get(node->world->fabric, node->number, link, &found));
		config.rings[link].base = found.base;
		config.rings[link].len = found.len;
		if (config.lists > found.lists)
			config.lists = found.lists;
	}
	return config;
}

static void node_open(struct world *world, uint32_t number, const struct lnd_ops *ops)
{
	struct node *node = &world->node[number];
	struct lnd_soft_join_args args = { .size = sizeof(args), .node = number };
	struct lnd_config config;
	uint64_t len;
	void *window;
	uint32_t link;

	memset(node, 0, sizeof(*node));
	node->world = world;
	node->number = number;
	args.random = 1000 + number;
	args.features = ~0u;
	len = lnd_soft_node_size(world->fabric);
	node->soft_node_memory = memory(len);
	MUST(lnd_soft_join(node->soft_node_memory, len, world->fabric, &args, &node->soft_node));
	MUST(lnd_soft_prepare(node->soft_node));
	for (link = 0; link < LINKS; link++) {
		len = lnd_soft_engine_size();
		node->engine_memory[link] = memory(len);
		MUST(lnd_soft_engine_create(node->engine_memory[link], len, node->soft_node, link,
					    4096, world->patience, &node->engine[link]));
	}
	node->frame = calloc(1, lnd_soft_frame_max(world->fabric));
	CHECK(node->frame);
	MUST(lnd_soft_window(world->fabric, number, &window, &len));
	node->window = window;

	config = node_config(node);
	len = lnd_ni_size(&config);
	CHECK(len > 0);
	node->ni_memory = memory(len);
	MUST(lnd_ni_create(node->ni_memory, len, &config, ops, node, &node->ni));
	MUST(lnd_soft_announce(node->soft_node, NULL));
}

void world_open(struct world *world, const struct lnd_ops *ops)
{
	struct lnd_ops usual = world_ops();
	struct lnd_soft_shape shape;
	size_t bytes;

	if (!world->patience)
		world->patience = 1000 * MS;
	MUST(lnd_soft_shape_init(&shape, 2, LINKS, 64, WINDOW));
	bytes = lnd_soft_region_size(&shape);
	CHECK(bytes > 0);
	world->region = memory(bytes);
	memset(world->region, 0, bytes);
	MUST(lnd_soft_format(world->region, bytes, &shape));
	world->fabric_memory = memory(lnd_soft_fabric_size());
	MUST(lnd_soft_attach(world->fabric_memory, lnd_soft_fabric_size(), world->region, bytes,
			     &world->fabric));
	world->now = MS;
	node_open(world, 0, ops ? ops : &usual);
	node_open(world, 1, ops ? ops : &usual);
}

static void node_free(struct node *node)
{
	uint32_t link;

	for (link = 0; link < LINKS; link++)
		free(node->engine_memory[link]);
	free(node->soft_node_memory);
	free(node->ni_memory);
	free(node->frame);
}

static void node_close(struct node *node)
{
	uint32_t state = 0, link;

	MUST(lnd_shutdown(node->ni, node->world->now, node->world->now + 100 * MS));
	while (state != LND_QUIESCENT) {
		/* A shutdown always ends; here it must do so within a second. */
		static unsigned int steps;

		CHECK(steps++ < 1000000);
		world_run(node->world, 0, NULL, 0);
		MUST(lnd_run_state_get(node->ni, &state));
	}
	MUST(lnd_ni_destroy(node->ni));
	for (link = 0; link < LINKS; link++)
		MUST(lnd_soft_engine_destroy(node->engine[link]));
	MUST(lnd_soft_leave(node->soft_node, NULL));
	node->ni = NULL;
}

/* The other nodes release what a dead node has left. */
void world_close(struct world *world)
{
	uint32_t number;

	for (number = 0; number < 2; number++)
		if (!world->node[number].dead)
			node_close(&world->node[number]);
	for (number = 0; number < 2; number++)
		node_free(&world->node[number]);
	MUST(lnd_soft_detach(world->fabric));
	free(world->fabric_memory);
	free(world->region);
}

/* A node's loop, in three pieces that may run in threads of their own. */

int node_engine(struct node *node, uint32_t link, uint64_t now)
{
	struct lnd_soft_progress progress = { .size = sizeof(progress) };

	MUST(lnd_soft_engine_step(node->engine[link], now, 16, &progress));
	if (progress.interrupts)
		MUST(lnd_interrupt(node->ni, link, 64, now, NULL));
	return progress.busy || progress.interrupts;
}

void node_ended(struct node *node, const struct lnd_report *report)
{
	node->last = *report;
	node->reports++;
	if (report->error)
		node->failures++;
}

/* The header contains the place of the payload. */
enum lnd_error node_decide(struct node *node, const struct lnd_arrival *arrival)
{
	struct lnd_report report = { .size = sizeof(report) };
	struct header header;
	struct lnd_frag frag = { 0 };
	struct lnd_decision decision = { .size = sizeof(decision) };
	enum lnd_error error;

	if (node->refuse || arrival->header_len != sizeof(header))
		return lnd_nak(node->ni, arrival->request, LND_NAK_NO_MATCH, arrival->now);
	memcpy(&header, arrival->header, sizeof(header));
	frag.addr = header.addr;
	frag.len = header.len;
	decision.nfrags = 1;
	decision.frags = &frag;
	decision.len = arrival->len < header.len ? arrival->len : header.len;
	decision.deadline = arrival->now + node->world->patience;
	if (arrival->kind == LND_REQUEST_GET)
		return lnd_reply(node->ni, arrival->request, &decision, arrival->now, NULL);
	error = lnd_recv(node->ni, arrival->request, &decision, arrival->now, NULL, &report);
	/* An inline payload is already copied: no finalize() follows. */
	if (error == LND_DONE) {
		node->at_once++;
		node_ended(node, &report);
	}
	return error;
}

enum lnd_error node_frame(struct node *node, uint32_t link, uint64_t sender, const void *frame,
			  size_t len, uint64_t now)
{
	struct lnd_arrival arrival = { .size = sizeof(arrival) };
	decision *decide = node->world->decide ? node->world->decide : node_decide;
	enum lnd_error error = lnd_frame_in(node->ni, link, sender, frame, len, now, &arrival);

	if (error != LND_REQUEST)
		return error;
	error = decide(node, &arrival);
	/* LND_E_STALE: another frame on this link came in between. */
	if (error == LND_E_WAIT || error == LND_E_STALE)
		return LND_E_WAIT;
	return error == LND_DONE || error == LND_E_GONE ? LND_OK : error;
}

int node_frames(struct node *node, uint64_t now)
{
	struct lnd_soft_arrival arrival = { .size = sizeof(arrival) };
	size_t room = lnd_soft_frame_max(node->world->fabric);
	int busy = 0;

	while (lnd_soft_receive(node->soft_node, 8, node->frame, room, &arrival) == LND_OK) {
		enum lnd_error error = node_frame(node, arrival.link, lnd_soft_nid(arrival.from),
						  node->frame, arrival.len, now);

		/* It stays where it is, and is offered again. */
		if (error == LND_E_WAIT)
			continue;
		MUST(error);
		MUST(lnd_soft_release(node->soft_node));
		busy = 1;
	}
	return busy;
}

/* One round of a node. */
static int node_step(struct node *node)
{
	uint64_t now = node->world->now;
	int busy = 0;
	uint32_t link;

	if (!node->ni || node->dead)
		return 0;
	for (link = 0; link < LINKS; link++)
		busy |= node_engine(node, link, now);
	busy |= node_frames(node, now);
	if (node->woken || node->next <= now) {
		node->woken = 0;
		MUST(lnd_run(node->ni, now, 64, &node->next));
		busy |= node->woken || node->next <= now;
	}
	return busy;
}

int world_run(struct world *world, uint64_t span, const unsigned int *value, unsigned int wanted)
{
	uint64_t end = world->now + span;

	for (;;) {
		int busy = node_step(&world->node[0]);

		busy |= node_step(&world->node[1]);
		if (value && *value >= wanted)
			return 1;
		/* Time passes only when there is nothing to do. */
		world->now += busy ? 1000 : MS / 10;
		if (world->now >= end)
			return 0;
	}
}

/* The upper layer's own two messages. */

enum lnd_error node_send(struct node *node, uint32_t kind, uint64_t ours, uint64_t theirs,
			 uint32_t len, uint64_t now, struct lnd_transfer *transfer)
{
	struct header header = { .addr = theirs, .len = len };
	struct lnd_frag frag = { .addr = ours, .len = len };
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = kind,
		.nid = lnd_soft_nid(1 - node->number),
		.link = LND_ANY_LINK,
		.header = &header,
		.header_len = sizeof(header),
		.frags = &frag,
		.nfrags = 1,
		.deadline = now + node->world->patience,
		.user = ours,
	};
	struct lnd_report report = { .size = sizeof(report) };
	enum lnd_error error = lnd_submit(node->ni, &request, now, transfer, &report);

	if (error != LND_DONE)
		return error;
	node->at_once++;
	node_ended(node, &report);
	return LND_OK;
}

enum lnd_error node_put(struct node *node, uint64_t from, uint64_t to, uint32_t len,
			struct lnd_transfer *transfer)
{
	return node_send(node, LND_PUT, from, to, len, node->world->now, transfer);
}

enum lnd_error node_get(struct node *node, uint64_t to, uint64_t from, uint32_t len,
			struct lnd_transfer *transfer)
{
	return node_send(node, LND_GET, to, from, len, node->world->now, transfer);
}

void fill(unsigned char *bytes, size_t len, unsigned int seed)
{
	size_t at;

	for (at = 0; at < len; at++)
		bytes[at] = (unsigned char)(at * 31 + at / 251 + seed);
}

int filled(const unsigned char *bytes, size_t len, unsigned int seed)
{
	size_t at;

	for (at = 0; at < len; at++)
		if (bytes[at] != (unsigned char)(at * 31 + at / 251 + seed))
			return 0;
	return 1;
}
