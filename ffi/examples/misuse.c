// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A catalogue of misuse. Each mistake gets the error that names it and has no effect: after every
 * group the NI is audited and a PUT succeeds.
 */
#include "world.h"

#include <string.h>

static struct world world;
static struct node *a, *b;

/* Checks that nothing is damaged. */
static void sound(const char *group)
{
	unsigned int ours = a->reports, failed = a->failures;

	MUST(lnd_audit(a->ni));
	MUST(lnd_audit(b->ni));
	fill(a->window, 20000, ours);
	MUST(node_put(a, 0, 0, 20000, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, ours + 1));
	world_run(&world, 10 * MS, NULL, 0);
	CHECK(a->failures == failed && filled(b->window, 20000, ours));
	printf("misuse: %s: sound\n", group);
}

static void configuration(void)
{
	struct lnd_config config = node_config(a), bad;
	unsigned char raw[sizeof(config) + 8] __attribute__((aligned(8)));

	FAILS(LND_E_NULL, lnd_config_init(NULL, LND_ABI_VERSION, 64, 4, 1));
	FAILS(LND_E_ALIGN, lnd_config_init((void *)(raw + 1), LND_ABI_VERSION, 64, 4, 1));
	FAILS(LND_E_VERSION, lnd_config_init(&bad, 0, 64, 4, 1));
	FAILS(LND_E_VERSION, lnd_config_init(&bad, LND_ABI_VERSION + 1, 64, 4, 1));

	CHECK(lnd_ni_size(&config) > 0 && lnd_ring_size(&config) > 0);
	CHECK(lnd_frame_size(&config) > config.immediate_max && lnd_frame_size(NULL) == 0);
	CHECK(lnd_frame_about(NULL, NULL) == LND_ABOUT_NOTHING);
	CHECK(lnd_ni_size(NULL) == 0 && lnd_ring_size(NULL) == 0);
	memcpy(raw + 4, &config, sizeof(config));
	CHECK(lnd_ni_size((void *)(raw + 4)) == 0);
#define SPOIL(field, value)                        \
	do {                                       \
		bad = config;                      \
		bad.field = (value);               \
		CHECK(lnd_ni_size(&bad) == 0);     \
		CHECK(lnd_frame_size(&bad) == 0);  \
	} while (0)
	SPOIL(size, sizeof(bad) - 1);
	SPOIL(size, 0);
	SPOIL(abi_version, 0);
	SPOIL(slots, 1);
	SPOIL(slots, (1 << 20) + 1);
	SPOIL(passive_slots, 0);
	SPOIL(passive_slots, bad.slots);
	SPOIL(peers, 0);
	SPOIL(peers, (1 << 20) + 1);
	SPOIL(links, 0);
	SPOIL(links, LND_MAX_LINKS + 1);
	SPOIL(links, 256 + 1);
	SPOIL(lists, bad.slots + 1);
	SPOIL(lists, 65536);
	SPOIL(immediate_max, 65353);
	SPOIL(depth, 0);
	SPOIL(depth, 33);
	SPOIL(depth, 65536 + 1);
	SPOIL(hello_tries, 0);
	SPOIL(batch, 0);
	SPOIL(policy, 2);
	SPOIL(flags, 0x80000000u);
	SPOIL(pulls, 0);
	SPOIL(pulls, 65536 + 1);
	SPOIL(drain_bound, 0);
	SPOIL(hello_timeout, 1);
	SPOIL(link_poll, 999);
}

static void creation(void)
{
	struct lnd_config config = node_config(a), bad;
	struct lnd_ops ops = world_ops(), less;
	size_t len = lnd_ni_size(&config);
	unsigned char *block = memory(len + LND_ALIGN), *ring = memory(4096);
	struct lnd_ni *ni = NULL;

	/* No call that might succeed is tried on an existing NI's memory. */
	FAILS(LND_E_NULL, lnd_ni_create(NULL, len, &config, &ops, a, &ni));
	FAILS(LND_E_NULL, lnd_ni_create(block, len, NULL, &ops, a, &ni));
	FAILS(LND_E_NULL, lnd_ni_create(block, len, &config, NULL, a, &ni));
	FAILS(LND_E_NULL, lnd_ni_create(block, len, &config, &ops, a, NULL));
	FAILS(LND_E_ALIGN, lnd_ni_create(block + 8, len, &config, &ops, a, &ni));
	FAILS(LND_E_ALIGN, lnd_ni_create(block, len, &config, (void *)((char *)&ops + 1), a, &ni));
	FAILS(LND_E_MEMORY, lnd_ni_create(block, len - 1, &config, &ops, a, &ni));
	FAILS(LND_E_MEMORY, lnd_ni_create(block, 0, &config, &ops, a, &ni));
	FAILS(LND_E_MEMORY, lnd_ni_create(block, ~(size_t)0, &config, &ops, a, &ni));
#define BAD_CONFIG(error, field, value)                                             \
	do {                                                                        \
		bad = config;                                                       \
		bad.field = (value);                                                \
		FAILS((error), lnd_ni_create(block, len, &bad, &ops, a, &ni));      \
	} while (0)
	BAD_CONFIG(LND_E_SIZE, size, 8);
	BAD_CONFIG(LND_E_VERSION, abi_version, LND_ABI_VERSION + 1);
	BAD_CONFIG(LND_E_CONFIG, nid, 0);
	BAD_CONFIG(LND_E_CONFIG, nid, LND_NID_UNKNOWN);
	BAD_CONFIG(LND_E_CONFIG, incarnation, 0);
	BAD_CONFIG(LND_E_NULL, rings[0].base, NULL);
	BAD_CONFIG(LND_E_ALIGN, rings[0].base, ring + 8);
	BAD_CONFIG(LND_E_RING, rings[0].len, 64);
	memset(ring, 0, 4096);
	BAD_CONFIG(LND_E_RING, rings[0].base, ring);
#define BAD_OPS(error, op)                                                          \
	do {                                                                        \
		less = ops;                                                         \
		less.op;                                                            \
		FAILS((error), lnd_ni_create(block, len, &config, &less, a, &ni));  \
	} while (0)
	BAD_OPS(LND_E_SIZE, size = 16);
	BAD_OPS(LND_E_OPS, send = NULL);
	BAD_OPS(LND_E_OPS, finalize = NULL);
	BAD_OPS(LND_E_OPS, mem_read = NULL);
	BAD_OPS(LND_E_OPS, mem_write = NULL);
	BAD_OPS(LND_E_OPS, reg_write32 = NULL);
	BAD_OPS(LND_E_OPS, lock = ops.wake);
	CHECK(!ni);

	FAILS(LND_E_NULL, lnd_ring_format(NULL, ring, 4096, 0, 0));
	FAILS(LND_E_NULL, lnd_ring_format(&config, NULL, 4096, 0, 0));
	FAILS(LND_E_ALIGN, lnd_ring_format(&config, ring + 4, 4092, 0, 0));
	FAILS(LND_E_RING, lnd_ring_format(&config, ring, 4096, 0, 0));
	free(block);
	free(ring);
}

/* Every call, with a pointer that is not an NI. */
static void no_ni(struct lnd_ni *ni, enum lnd_error error)
{
	struct lnd_send_request request = { .size = sizeof(request) };
	struct lnd_decision decision = { .size = sizeof(decision) };
	struct lnd_blocker blocker = { .size = sizeof(blocker) };
	struct lnd_peer_info info = { .size = sizeof(info) };
	struct lnd_stats stats = { .size = sizeof(stats) };
	struct lnd_transfer transfer = { 0 };
	struct lnd_arrival arrival = { .size = sizeof(arrival) };
	struct lnd_request waiting = { 0 };
	struct lnd_message message = { 0 };
	struct lnd_peer peer = { 0 };
	uint32_t word = 0;
	uint64_t value;
	size_t written;
	char text[256];

	FAILS(error, lnd_submit(ni, &request, 1, &transfer, NULL));
	FAILS(error, lnd_withdraw(ni, transfer, 1));
	FAILS(error, lnd_recv(ni, waiting, &decision, 1, &transfer, NULL));
	FAILS(error, lnd_keep(ni, waiting, 1, &waiting));
	FAILS(error, lnd_reply(ni, waiting, &decision, 1, &transfer));
	FAILS(error, lnd_nak(ni, waiting, LND_NAK_FAILED, 1));
	FAILS(error, lnd_frame_in(ni, 0, LND_NID_UNKNOWN, text, 0, 1, &arrival));
	FAILS(error, lnd_sent(ni, message, LND_SENT_OK, 1));
	FAILS(error, lnd_interrupt(ni, 0, 1, 1, NULL));
	FAILS(error, lnd_link_failed(ni, 0));
	FAILS(error, lnd_run(ni, 1, 1, &value));
	FAILS(error, lnd_peer_event(ni, 1, 0, 1));
	FAILS(error, lnd_peer_ask(ni, 1, 1));
	FAILS(error, lnd_link_event(ni, 0, 0, 1));
	FAILS(error, lnd_connection_up(ni, 0, 1, 1));
	FAILS(error, lnd_connection_down(ni, 0, 1, 1, 1));
	FAILS(error, lnd_connection_stopped(ni, 0, 1, 1, 1));
	FAILS(error, lnd_connection_state_get(ni, 0, 1, &word));
	FAILS(error, lnd_link_state_get(ni, 0, &word));
	FAILS(error, lnd_peer_find(ni, 1, &peer));
	FAILS(error, lnd_peer_info_get(ni, peer, &info));
	FAILS(error, lnd_shutdown(ni, 1, 1));
	FAILS(error, lnd_run_state_get(ni, &word));
	FAILS(error, lnd_blocker_next(ni, &word, &blocker));
	FAILS(error, lnd_stats_get(ni, &stats));
	FAILS(error, lnd_counter(ni, 0, &value));
	FAILS(error, lnd_audit(ni));
	FAILS(error, lnd_dump(ni, LND_DUMP_PEERS, &word, text, sizeof(text), &written));
	FAILS(error, lnd_ni_destroy(ni));
}

static void pointers(void)
{
	struct lnd_send_request request = { .size = sizeof(request) };
	struct lnd_report report = { .size = sizeof(report) };
	struct lnd_stats stats = { .size = sizeof(stats) };
	struct lnd_arrival arrival = { .size = sizeof(arrival) };
	struct lnd_request waiting = { 0 };
	unsigned char raw[256] __attribute__((aligned(64))) = { 0 };
	uint32_t word = 0;
	uint64_t value;
	size_t written;

	no_ni(NULL, LND_E_NULL);
	no_ni((void *)((char *)a->ni + 1), LND_E_ALIGN);
	no_ni((void *)raw, LND_E_NI);

	FAILS(LND_E_NULL, lnd_submit(a->ni, NULL, 1, NULL, NULL));
	FAILS(LND_E_ALIGN, lnd_submit(a->ni, (void *)(raw + 4), 1, NULL, NULL));
	FAILS(LND_E_ALIGN, lnd_submit(a->ni, &request, 1, (void *)(raw + 1), NULL));
	FAILS(LND_E_ALIGN, lnd_submit(a->ni, &request, 1, NULL, (void *)(raw + 4)));
	report.size = 8;
	FAILS(LND_E_SIZE, lnd_submit(a->ni, &request, 1, NULL, &report));
	FAILS(LND_E_SIZE, lnd_recv(a->ni, waiting, NULL, 1, NULL, &report));
	request.size--;
	FAILS(LND_E_SIZE, lnd_submit(a->ni, &request, 1, NULL, NULL));
	FAILS(LND_E_NULL, lnd_keep(a->ni, waiting, 1, NULL));
	FAILS(LND_E_STALE, lnd_keep(a->ni, waiting, 1, &waiting));
	FAILS(LND_E_NULL, lnd_frame_in(a->ni, 0, LND_NID_UNKNOWN, raw, 8, 1, NULL));
	arrival.size = 8;
	FAILS(LND_E_SIZE, lnd_frame_in(a->ni, 0, LND_NID_UNKNOWN, raw, 8, 1, &arrival));
	arrival.size = sizeof(arrival);
	stats.size = 4;
	FAILS(LND_E_SIZE, lnd_stats_get(a->ni, &stats));
	FAILS(LND_E_NULL, lnd_stats_get(a->ni, NULL));
	FAILS(LND_E_NULL, lnd_counter(a->ni, 0, NULL));
	FAILS(LND_E_ARGUMENT, lnd_counter(a->ni, lnd_counter_count(), &value));
	CHECK(!lnd_counter_name(lnd_counter_count()) && lnd_counter_name(0));
	FAILS(LND_E_NULL, lnd_frame_in(a->ni, 0, LND_NID_UNKNOWN, NULL, 80, 1, &arrival));
	FAILS(LND_E_ARGUMENT,
	      lnd_frame_in(a->ni, 0, LND_NID_UNKNOWN, raw, ~(size_t)0, 1, &arrival));
	FAILS(LND_E_ALIGN, lnd_run(a->ni, 1, 1, (void *)(raw + 1)));
	FAILS(LND_E_ARGUMENT, lnd_run(a->ni, 1, 0, &value));
	FAILS(LND_E_ARGUMENT, lnd_interrupt(a->ni, 0, 0, 1, NULL));
	FAILS(LND_E_LINK, lnd_interrupt(a->ni, LINKS, 1, 1, NULL));
	FAILS(LND_E_LINK, lnd_link_failed(a->ni, LINKS));
	FAILS(LND_E_LINK, lnd_link_event(a->ni, 1u << 31, 0, 1));
	FAILS(LND_E_LINK, lnd_link_state_get(a->ni, LINKS, &word));
	FAILS(LND_E_NULL, lnd_link_state_get(a->ni, 0, NULL));
	FAILS(LND_E_NO_PEER, lnd_peer_event(a->ni, 77, 0, 1));
	FAILS(LND_E_NO_PEER, lnd_peer_event(a->ni, 0, 0, 1));
	FAILS(LND_E_NO_PEER, lnd_peer_ask(a->ni, 77, 1));
	FAILS(LND_E_NULL, lnd_dump(a->ni, LND_DUMP_PEERS, NULL, (char *)raw, 256, &written));
	FAILS(LND_E_NULL, lnd_dump(a->ni, LND_DUMP_PEERS, &word, NULL, 256, &written));
	FAILS(LND_E_ARGUMENT, lnd_dump(a->ni, 99, &word, (char *)raw, 256, &written));
	FAILS(LND_E_ROOM, lnd_dump(a->ni, LND_DUMP_PEERS, &word, (char *)raw, 8, &written));
	CHECK(lnd_error_errno(9999) < 0 && lnd_error_name(9999));
}

static void requests(void)
{
	unsigned char header[LND_MAX_HEADER + 1] = { 0 };
	struct lnd_frag frags[LND_MAX_FRAGMENTS + 1], frag = { .addr = 0, .len = 100 };
	struct lnd_send_request good = {
		.size = sizeof(good),
		.kind = LND_PUT,
		.nid = lnd_soft_nid(1),
		.link = LND_ANY_LINK,
		.header = header,
		.header_len = 16,
		.frags = &frag,
		.nfrags = 1,
		.deadline = LND_NEVER,
	}, bad;
	struct lnd_peer peer, theirs, wrong;
	struct lnd_frag worse;
	size_t at;

	for (at = 0; at <= LND_MAX_FRAGMENTS; at++)
		frags[at] = frag;
#define BAD_REQUEST(error, change)                                              \
	do {                                                                    \
		bad = good;                                                     \
		bad.change;                                                     \
		FAILS((error), lnd_submit(a->ni, &bad, world.now, NULL, NULL));       \
	} while (0)
	BAD_REQUEST(LND_E_ARGUMENT, kind = 0);
	BAD_REQUEST(LND_E_ARGUMENT, kind = 5);
	BAD_REQUEST(LND_E_NO_ROUTE, nid = 0);
	BAD_REQUEST(LND_E_NO_ROUTE, nid = lnd_soft_nid(0));
	BAD_REQUEST(LND_E_NO_ROUTE, nid = lnd_soft_nid(9));
	/* Peers by handle: a wrong one, one of another NI, and one with another NID. */
	MUST(lnd_peer_find(a->ni, good.nid, &peer));
	MUST(lnd_peer_find(b->ni, lnd_soft_nid(0), &theirs));
	BAD_REQUEST(LND_E_FOREIGN, peer = theirs);
	BAD_REQUEST(LND_E_STALE, peer.generation = 1);
	wrong = peer;
	wrong.generation++;
	BAD_REQUEST(LND_E_STALE, peer = wrong);
	wrong = peer;
	wrong.index = 3;
	BAD_REQUEST(LND_E_STALE, peer = wrong);
	good.nid++;
	BAD_REQUEST(LND_E_ARGUMENT, peer = peer);
	good.nid--;
	BAD_REQUEST(LND_E_LINK, link = LINKS);
	BAD_REQUEST(LND_E_LINK, link = LND_MAX_LINKS);
	BAD_REQUEST(LND_E_HEADER, header_len = LND_MAX_HEADER + 1);
	BAD_REQUEST(LND_E_NULL, header = NULL);
	BAD_REQUEST(LND_E_NULL, frags = NULL);
	BAD_REQUEST(LND_E_ALIGN, frags = (void *)((char *)frags + 4));
	BAD_REQUEST(LND_E_FRAGMENTS, nfrags = LND_MAX_FRAGMENTS + 1);
	BAD_REQUEST(LND_E_FRAGMENTS, nfrags = ~0u);
	BAD_REQUEST(LND_E_DEADLINE, deadline = world.now);
#define BAD_FRAGMENT(error, change)                                             \
	do {                                                                    \
		worse = frag;                                                   \
		worse.change;                                                   \
		BAD_REQUEST(error, frags = &worse);                             \
	} while (0)
	BAD_FRAGMENT(LND_E_FRAGMENTS, len = 0);
	BAD_FRAGMENT(LND_E_FRAGMENTS, len = (1u << 20) + 1);
	BAD_FRAGMENT(LND_E_FRAGMENTS, addr = ~0ull);
	BAD_FRAGMENT(LND_E_ADDRESS, addr = WINDOW);
	BAD_FRAGMENT(LND_E_ADDRESS, addr = WINDOW - 99);
	BAD_FRAGMENT(LND_E_ARGUMENT, reserved = 1);
}

static void handles(void)
{
	struct lnd_transfer ours, stale, forged;
	struct lnd_request request = { 0 };
	struct lnd_message message = { 0 };
	struct lnd_decision decision = { .size = sizeof(decision) };
	struct lnd_peer peer, wrong;
	struct lnd_peer_info info = { .size = sizeof(info) };
	unsigned int before = a->reports, seed = 1, at;

	MUST(node_put(a, 0, 0, 30000, &ours));
	FAILS(LND_E_FOREIGN, lnd_withdraw(b->ni, ours, world.now));
	forged = ours;
	forged.generation--;
	FAILS(LND_E_STALE, lnd_withdraw(a->ni, forged, world.now));
	forged = ours;
	forged.index = ~0u;
	FAILS(LND_E_STALE, lnd_withdraw(a->ni, forged, world.now));
	/* A handle of one kind is not a handle of another. */
	memcpy(&request, &ours, sizeof(request));
	memcpy(&message, &ours, sizeof(message));
	FAILS(LND_E_STALE, lnd_recv(a->ni, request, &decision, world.now, NULL, NULL));
	FAILS(LND_E_STALE, lnd_keep(a->ni, request, world.now, &request));
	FAILS(LND_E_STALE, lnd_nak(a->ni, request, LND_NAK_FAILED, world.now));
	FAILS(LND_E_STALE, lnd_sent(a->ni, message, LND_SENT_OK, world.now));
	FAILS(LND_E_ARGUMENT, lnd_sent(a->ni, message, 9, world.now));
	FAILS(LND_E_ARGUMENT, lnd_nak(a->ni, request, 0, world.now));
	FAILS(LND_E_ARGUMENT, lnd_nak(a->ni, request, 256 + 1, world.now));
	/* Withdrawn twice: reported once. */
	MUST(lnd_withdraw(a->ni, ours, world.now));
	MUST(lnd_withdraw(a->ni, ours, world.now));
	CHECK(world_run(&world, 1000 * MS, &a->reports, before + 1));
	CHECK(a->last.cause == LND_CAUSE_WITHDRAWN || !a->last.error);
	world_run(&world, 100 * MS, NULL, 0);
	CHECK(a->reports == before + 1);
	FAILS(LND_E_STALE, lnd_withdraw(a->ni, ours, world.now));
	stale = a->last.transfer;
	CHECK(!memcmp(&stale, &ours, sizeof(ours)));
	a->failures = 0;

	memset(&forged, 0, sizeof(forged));
	FAILS(LND_E_STALE, lnd_withdraw(a->ni, forged, world.now));
	/* Random bits are never a handle. */
	for (at = 0; at < 100000; at++) {
		uint32_t bits[4], field;
		enum lnd_error error;

		for (field = 0; field < 4; field++)
			bits[field] = seed = seed * 1664525u + 1013904223u;
		memcpy(&forged, bits, sizeof(forged));
		if (at % 2)
			forged.kind = ours.kind;
		if (at % 4 == 3)
			forged.ni = ours.ni;
		error = lnd_withdraw(a->ni, forged, world.now);
		CHECK(error == LND_E_STALE || error == LND_E_FOREIGN);
	}

	MUST(lnd_peer_find(a->ni, lnd_soft_nid(1), &peer));
	MUST(lnd_peer_info_get(a->ni, peer, &info));
	FAILS(LND_E_FOREIGN, lnd_peer_info_get(b->ni, peer, &info));
	wrong = peer;
	wrong.nid++;
	FAILS(LND_E_STALE, lnd_peer_info_get(a->ni, wrong, &info));
	wrong = peer;
	wrong.index = 3;
	FAILS(LND_E_STALE, lnd_peer_info_get(a->ni, wrong, &info));
	/* The handle of the former peer in the place. */
	wrong = peer;
	wrong.generation--;
	FAILS(LND_E_STALE, lnd_peer_info_get(a->ni, wrong, &info));
	wrong = peer;
	wrong.kind = ours.kind;
	FAILS(LND_E_STALE, lnd_peer_info_get(a->ni, wrong, &info));
	memset(&wrong, 0, sizeof(wrong));
	FAILS(LND_E_STALE, lnd_peer_info_get(a->ni, wrong, &info));
	FAILS(LND_E_NO_PEER, lnd_peer_find(a->ni, 1234, &peer));
}

static void frames(void)
{
	unsigned char frame[256];
	struct lnd_arrival arrival = { .size = sizeof(arrival) };
	unsigned int seed = 7, at, byte;
	struct lnd_stats before = { .size = sizeof(before) }, after = { .size = sizeof(after) };

	MUST(lnd_stats_get(a->ni, &before));
	FAILS(LND_E_FRAME, lnd_frame_in(a->ni, 0, LND_NID_UNKNOWN, NULL, 0, world.now, &arrival));
	FAILS(LND_E_LINK,
	      lnd_frame_in(a->ni, LINKS, LND_NID_UNKNOWN, frame, 0, world.now, &arrival));
	FAILS(LND_E_LINK, lnd_frame_in(a->ni, ~0u, LND_NID_UNKNOWN, frame, 0, world.now, &arrival));
	for (at = 0; at < 20000; at++) {
		for (byte = 0; byte < sizeof(frame); byte++) {
			seed = seed * 1664525u + 1013904223u;
			frame[byte] = (unsigned char)(seed >> 24);
		}
		FAILS(LND_E_FRAME, lnd_frame_in(a->ni, 0, LND_NID_UNKNOWN, frame,
						seed % (sizeof(frame) + 1), world.now, &arrival));
	}
	MUST(lnd_stats_get(a->ni, &after));
	CHECK(after.frames_bad == before.frames_bad + 20001);
}

static void ending(void)
{
	FAILS(LND_E_RUNNING, lnd_ni_destroy(a->ni));
}

int main(void)
{
	void *gone, *block;

	a = &world.node[0];
	b = &world.node[1];
	world_open(&world, NULL);
	sound("nothing yet");
	configuration();
	sound("configuration");
	creation();
	sound("creation");
	pointers();
	sound("pointers");
	requests();
	sound("requests");
	handles();
	sound("handles");
	frames();
	sound("frames");
	ending();
	sound("ending");
	CHECK(!a->bugs && !b->bugs);

	/* A destroyed NI is no NI any more, while its memory still exists. */
	gone = a->ni;
	block = a->ni_memory;
	a->ni_memory = NULL;
	world_close(&world);
	no_ni(gone, LND_E_NI);
	free(block);
	return 0;
}
