/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The loop of the hosts in naive_host.h, and how they start, end and break down. */
#ifndef NAIVE_LOOP_H
#define NAIVE_LOOP_H

#include "naive_engine.h"

static inline struct lnd_ops host_ops(void)
{
	/* No lock: one thread makes all calls. */
	return (struct lnd_ops){
		.size = sizeof(struct lnd_ops),
		.reg_read32 = op_reg_read32,
		.reg_write32 = op_reg_write32,
		.ready = op_ready,
		.send = op_send,
		.quiesce = op_quiesce,
		.mem_read = op_mem_read,
		.mem_write = op_mem_write,
		.mem_valid = op_mem_valid,
		.finalize = op_finalize,
		.event = op_event,
		.wake = op_wake,
		.bug = op_bug,
	};
}

/* The engines of a node: its device, which also works while its host does not run. */
static inline int engines(struct host *host)
{
	struct lnd_soft_progress progress = { .size = sizeof(progress) };
	int busy = 0;
	uint32_t link;

	if (host->by_operations)
		return op_engines_step(host);
	for (link = 0; link < LINKS && host->soft_node; link++) {
		if (!host->engine[link])
			continue;
		MUST(lnd_soft_engine_step(host->engine[link], now, 16, &progress));
		busy |= progress.busy || progress.interrupts;
		if (progress.interrupts)
			host->interrupts_pending |= 1u << link;
	}
	return busy;
}

static inline int frames(struct host *host, uint32_t from, uint32_t lane)
{
	struct queue *queue = &queues[from][host->number][lane];
	uint32_t at;
	int busy = 0;

	while (queue->count && !queue->waits) {
		struct letter letter = queue->letter[queue->first];
		uint64_t sender = senders_unknown ? LND_NID_UNKNOWN : nid_of(from);
		struct lnd_arrival arrival = { .size = sizeof(arrival) };
		enum lnd_error error = lnd_frame_in(host->ni, letter.link, sender, letter.bytes,
						    letter.len, now, &arrival);

		if (error == LND_REQUEST) {
			decide(host, &arrival);
			error = LND_OK;
		}
		if (error == LND_E_WAIT) {
			CHECK(lane == LND_LANE_REQUEST);
			queue->waits = 1;
			return busy;
		}
		MUST(error);
		queue->first = (queue->first + 1) % ROOM;
		queue->count--;
		busy = 1;
		if (lane == LND_LANE_CONTROL)
			for (at = 0; at < NODES; at++)
				queues[at][host->number][LND_LANE_REQUEST].waits = 0;
	}
	return busy;
}

static inline int time_passes(struct host *host)
{
	if (!host->woken && host->next > now)
		return 0;
	host->woken = 0;
	MUST(lnd_run(host->ni, now, 64, &host->next));
	return host->woken || host->next <= now;
}

/* A round of a host, as in docs/c-abi.md: 2 if it had something to do, 1 if its engines had. */
static inline int round_of(struct host *host)
{
	uint32_t from, link;
	int busy = 0, engine = 0;

	if (!host->ni)
		return 0;
	if (!host->paused || !host->engines_pause)
		engine = engines(host);
	if (host->paused)
		return engine;
	for (link = 0; link < LINKS; link++) {
		if (host->interrupts_pending >> link & 1)
			MUST(lnd_interrupt(host->ni, link, 64, now, NULL));
		host->interrupts_pending &= ~(1u << link);
	}
	while (host->open_count) {
		MUST(lnd_sent(host->ni, host->open_frames[--host->open_count].message, LND_SENT_OK,
			      now));
		busy = 1;
	}
	if (time_first)
		busy |= time_passes(host);
	for (from = 0; from < NODES; from++)
		busy |= frames(host, from, LND_LANE_CONTROL);
	for (from = 0; from < NODES; from++)
		busy |= frames(host, from, LND_LANE_REQUEST);
	busy |= time_passes(host);
	return busy ? 2 : engine;
}

/* Runs all hosts for @span ns. */
static inline void go_on(uint64_t span)
{
	uint64_t end = now + span, soon;
	uint32_t at;

	for (;;) {
		int busy = 0;

		for (at = 0; at < NODES; at++)
			busy |= round_of(&hosts[at]);
		if (busy & 2) {
			now += 1000;
		} else {
			/* Engines have times of their own. */
			soon = now + (busy ? MS / 20 : 20 * MS);
			for (at = 0; at < NODES; at++)
				if (hosts[at].ni && !hosts[at].paused && hosts[at].next < soon)
					soon = hosts[at].next;
			now = soon > now ? soon : now + 1;
		}
		if (now >= end)
			break;
	}
}

/* A link of a host's device comes up, or goes down. */
static inline void link_set(uint32_t node, uint32_t link, uint32_t up)
{
	uint32_t was_down = op_engines[node][link].down;

	op_engines[node][link].down = !up;
	MUST(lnd_soft_link_set(fabric, node, link, up, NULL));
	if (hosts[node].ni && hosts[node].by_operations && !up && !was_down)
		MUST(lnd_link_failed(hosts[node].ni, link));
}

/* What a device of another node reads is lent until that lets go of it: it must not stand still. */
static inline void devices_run(void)
{
	uint32_t at, link;

	for (at = 0; at < NODES; at++) {
		hosts[at].engines_pause = 0;
		for (link = 0; link < LINKS && hosts[at].ni; link++)
			link_set(at, link, 1);
	}
}

/* What a test wants otherwise of a host that starts; NULL: nothing. */
static void (*adapt)(struct host *host, struct lnd_config *config, struct lnd_ops *ops);

/* A host starts, as another incarnation. */
static inline void host_start(uint32_t number)
{
	struct host *host = &hosts[number];
	struct lnd_soft_join_args args = { .size = sizeof(args), .node = number, .features = ~0u };
	struct lnd_ops ops = host_ops();
	struct lnd_config config;
	uint64_t len;
	uint32_t link, tries = 0;
	void *window;

	args.random = (uint32_t)++starts;
	len = lnd_soft_node_size(fabric);
	host->number = number;
	host->soft_node_memory = memory(len);
	MUST(lnd_soft_join(host->soft_node_memory, len, fabric, &args, &host->soft_node));
	devices_run();
	while (lnd_soft_prepare(host->soft_node) == LND_E_WAIT) {
		CHECK(tries++ < 1000);
		go_on(MS);
	}
	MUST(lnd_config_init(&config, LND_ABI_VERSION, host->slots ? host->slots : SLOTS,
			     host->peers ? host->peers : 4, LINKS));
	config.nid = nid_of(number);
	config.incarnation = host->incarnation = lnd_soft_incarnation(host->soft_node);
	host->at_once = at_once;
	host->by_operations = by_operations;
	config.flags = LND_RELIABLE | (at_once ? LND_ENDS_AT_ONCE : 0);
	config.flags |= by_operations && cancel_first ? LND_CANCEL_FIRST : 0;
	config.immediate_max = SHORT;
	for (link = 0; link < LINKS; link++) {
		struct lnd_soft_link found = { .size = sizeof(found) };

		host->engine_memory[link] = memory(lnd_soft_engine_size());
		MUST(lnd_soft_engine_create(host->engine_memory[link], lnd_soft_engine_size(),
					    host->soft_node, link, 4096, SECOND,
					    &host->engine[link]));
		MUST(lnd_soft_link_get(fabric, number, link, &found));
		config.rings[link].base = found.base;
		config.rings[link].len = found.len;
		if (config.lists > found.lists)
			config.lists = found.lists;
	}
	MUST(lnd_soft_window(fabric, number, &window, &len));
	CHECK(len >= BUFFERS * LONG);
	host->window = window;
	if (by_operations)
		op_engine_use(host, &config, &ops);
	if (adapt)
		adapt(host, &config, &ops);
	CHECK(lnd_ni_size(&config) > 0);
	host->ni_memory = memory(lnd_ni_size(&config));
	book_starts(host->incarnation, number);
	host->next = 0;
	MUST(lnd_ni_create(host->ni_memory, lnd_ni_size(&config), &config, &ops, host, &host->ni));
	MUST(lnd_soft_announce(host->soft_node, NULL));
}

static inline void host_forget(struct host *host)
{
	uint32_t link, number = host->number, peers = host->peers, slots = host->slots;

	for (link = 0; link < LINKS; link++)
		free(host->engine_memory[link]);
	op_engines_end(number);
	free(host->soft_node_memory);
	free(host->ni_memory);
	memset(host, 0, sizeof(*host));
	host->number = number;
	host->peers = peers;
	host->slots = slots;
}

/* The power of a host fails. What it has sent stays in its queues; what it has not taken, too. */
static inline void host_crash(uint32_t number)
{
	struct host *host = &hosts[number];

	MUST(lnd_soft_declare_dead(fabric, number, 0, NULL));
	book_ends(host->incarnation, 0);
	host_forget(host);
}

/* A host shuts down; what is under way has @grace ns. */
static inline void host_stop(uint32_t number, uint64_t grace)
{
	struct host *host = &hosts[number];
	uint64_t bound = now + grace + 40 * SECOND;
	uint32_t state = 0, repaired = 0, at;

	host->paused = 0;
	host->leaving = 1;
	MUST(lnd_shutdown(host->ni, now, now + grace));
	while (state != LND_QUIESCENT) {
		/* Devices that stand still are all that it may wait for so long. */
		if (now >= bound) {
			CHECK(!repaired);
			repaired = 1;
			devices_run();
			bound += 40 * SECOND;
		}
		go_on(MS / 10);
		MUST(lnd_run_state_get(host->ni, &state));
	}
	MUST(lnd_ni_destroy(host->ni));
	for (at = 0; at < LINKS; at++)
		MUST(lnd_soft_engine_destroy(host->engine[at]));
	MUST(lnd_soft_leave(host->soft_node, NULL));
	book_ends(host->incarnation, 1);
	host_forget(host);
}

/* The requests that an upper layer has kept get their replies. */
static inline void answer_kept(struct host *host, enum habit habit)
{
	uint32_t count = host->kept_count, at;

	host->kept_count = 0;
	for (at = 0; at < count; at++)
		if (!reply(host, &host->kept[at], habit))
			host->kept[host->kept_count++] = host->kept[at];
}

/* One of a host's counters. */
static inline uint64_t counter(struct host *host, const char *name)
{
	uint64_t value = 0;
	uint32_t at = 0;

	while (lnd_counter_name(at) && strcmp(lnd_counter_name(at), name))
		at++;
	MUST(lnd_counter(host->ni, at, &value));
	return value;
}

/* A fabric for all hosts, of which the first @count start. */
static inline void open_all(uint32_t count)
{
	struct lnd_soft_shape shape;
	uint32_t at;

	memset(hosts, 0, sizeof(hosts));
	memset(queues, 0, sizeof(queues));
	memset(op_engines, 0, sizeof(op_engines));
	memset(versions, 0, sizeof(versions));
	message_count = incarnation_count = 0;
	ends_later = senders_unknown = time_first = 0;
	room = ROOM;
	now = SECOND;
	MUST(lnd_soft_shape_init(&shape, NODES, LINKS, SLOTS, BUFFERS * LONG));
	CHECK(lnd_soft_region_size(&shape) > 0);
	region = memory(lnd_soft_region_size(&shape));
	memset(region, 0, lnd_soft_region_size(&shape));
	MUST(lnd_soft_format(region, lnd_soft_region_size(&shape), &shape));
	fabric_memory = memory(lnd_soft_fabric_size());
	MUST(lnd_soft_attach(fabric_memory, lnd_soft_fabric_size(), region,
			     lnd_soft_region_size(&shape), &fabric));
	for (at = 0; at < count; at++)
		host_start(at);
}

/* All troubles are over; everything comes to rest, and every promise was kept. */
static inline void close_all(void)
{
	struct lnd_stats stats = { .size = sizeof(stats) };
	uint32_t at;

	room = ROOM;
	devices_run();
	for (at = 0; at < NODES; at++) {
		struct host *host = &hosts[at];

		if (!host->ni)
			continue;
		host->paused = 0;
		host->habit = TAKE;
		answer_kept(host, TAKE);
	}
	go_on(30 * SECOND);
	for (at = 0; at < NODES; at++) {
		if (!hosts[at].ni)
			continue;
		answer_kept(&hosts[at], TAKE);
		MUST(lnd_audit(hosts[at].ni));
		MUST(lnd_stats_get(hosts[at].ni, &stats));
		CHECK(!stats.active && !stats.passive && stats.misuses == hosts[at].misuses);
		CHECK(!stats.frames_forged && !counter(&hosts[at], "protocol"));
	}
	book_closed();
	for (at = 0; at < NODES; at++)
		if (hosts[at].ni)
			host_stop(at, 0);
	MUST(lnd_soft_detach(fabric));
	free(fabric_memory);
	free(region);
}

#endif
