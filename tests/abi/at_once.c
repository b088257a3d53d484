// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What ends within the call that begins it, and a request between its frame and its decision: what
 * lnd.h says of LND_DONE and LND_REQUEST, of lnd_keep(), and of peers that are named by their
 * handles.
 */
#include "world.h"

#include <string.h>

#define LOST (~0u)	/* send() says LND_SEND_FAILED */

static struct world world;
static struct node *const a = &world.node[0], *const b = &world.node[1];
static struct lnd_ops usual;
static uint32_t answer;	/* what send() says of requests; 0: the usual */
static struct lnd_arrival seen;	/* the latest request */
static decision *habit;	/* of node b */
static uint32_t few_slots;	/* of each node, 0: the usual number */

static uint32_t op_send(void *ctx, const struct lnd_frame *frame)
{
	if (answer && frame->lane == LND_LANE_REQUEST)
		return answer == LOST ? LND_SEND_FAILED : answer;
	return usual.send(ctx, frame);
}

static enum lnd_error decide(struct node *node, const struct lnd_arrival *arrival)
{
	if (node != b)
		return node_decide(node, arrival);
	seen = *arrival;
	return habit ? habit(node, arrival) : node_decide(node, arrival);
}

static uint64_t counter(struct node *node, const char *name)
{
	uint64_t value = 0;
	uint32_t at;

	for (at = 0; at < lnd_counter_count(); at++) {
		if (strcmp(lnd_counter_name(at), name))
			continue;
		MUST(lnd_counter(node->ni, at, &value));
		return value;
	}
	CHECK(!"a counter");
	return 0;
}

/* Slots in use. */
static uint32_t slots(struct node *node)
{
	struct lnd_stats stats = { .size = sizeof(stats) };

	MUST(lnd_stats_get(node->ni, &stats));
	return stats.active + stats.passive;
}

/* Until no NI wants to be run. */
static void rest(void)
{
	while (a->woken || b->woken)
		world_run(&world, 0, NULL, 0);
}

/* Two nodes that know each other, and nothing is under way. */
static void open_nodes(uint32_t flags)
{
	struct lnd_ops ops;

	usual = world_ops();
	ops = usual;
	ops.send = op_send;
	memset(&world, 0, sizeof(world));
	answer = 0;
	habit = NULL;
	world.flags = flags;
	world.decide = decide;
	world.patience = 1000 * MS;
	world.slots = few_slots;
	world_open(&world, &ops);
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1) && !a->failures);
	MUST(node_put(b, 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &b->reports, 2));
	world_run(&world, 10 * MS, NULL, 0);
	memset(&a->last, 0, sizeof(a->last));
	a->reports = b->reports = a->at_once = b->at_once = 0;
}

static void close_nodes(void)
{
	answer = 0;
	habit = NULL;
	world_run(&world, 100 * MS, NULL, 0);
	MUST(lnd_audit(a->ni));
	MUST(lnd_audit(b->ni));
	world_close(&world);
}

/* An inline PUT, sent and taken at once: no slot, no report, no run at either end. */
static void puts_end_at_once(void)
{
	struct lnd_transfer transfer;
	uint64_t taken;
	uint32_t wakes = 0, i;

	open_nodes(LND_ENDS_AT_ONCE);
	taken = counter(b, "requests");
	for (i = 1; i <= 8; i++) {
		fill(a->window, 300, i);
		memset(&transfer, 1, sizeof(transfer));
		rest();
		MUST(node_put(a, 0, 4096, 300, &transfer));
		CHECK(a->at_once == i && a->reports == i && slots(a) == 0 && !a->woken);
		CHECK(!a->last.error && a->last.health == LND_HEALTH_OK && a->last.bytes == 300);
		CHECK(a->last.role == LND_ROLE_IMMEDIATE && a->last.delivery == LND_DELIVERED);
		CHECK(a->last.nid == lnd_soft_nid(1) && !a->last.reply && !a->last.transfer.kind);
		/* No handle of what is over. */
		CHECK(!transfer.kind && !transfer.index && !transfer.generation && !transfer.ni);
		CHECK(node_frames(b, world.now));
		CHECK(b->at_once == i && b->reports == i && slots(b) == 0);
		wakes += b->woken;
		CHECK(!b->last.error && b->last.bytes == 300 &&
		      b->last.role == LND_ROLE_INLINE_SINK);
		CHECK(b->last.nid == lnd_soft_nid(0) && filled(b->window + 4096, 300, i));
		CHECK(counter(b, "requests") == taken + i);
	}
	/* The first one returns a credit, and half of eight are told together. */
	CHECK(wakes <= 3);
	rest();
	/* What must be pulled is reported later. */
	MUST(node_put(a, 0, 4096, 30000, &transfer));
	CHECK(a->at_once == 8 && slots(a) == 1 && transfer.kind && a->woken);
	CHECK(world_run(&world, 1000 * MS, &a->reports, 9) && !a->failures && a->at_once == 8);
	/* A GET that goes as a mere header has ended with that; its memory is not touched. */
	habit = NULL;
	b->refuse = 1;
	MUST(node_get(a, 0, 0, 64, NULL));
	CHECK(a->at_once == 9 && !a->last.error && a->last.bytes == 0 && !a->last.reply);
	b->refuse = 0;
	/* Far more than there are credits: none is lost, and every end is told once. */
	for (i = 0; i < 300; i++) {
		MUST(node_put(a, 0, 0, 8, NULL));
		world_run(&world, 0, NULL, 0);
	}
	CHECK(world_run(&world, 1000 * MS, &a->reports, 310));
	world_run(&world, 10 * MS, NULL, 0);
	CHECK(a->reports == 310 && !a->failures && a->at_once > 100);
	close_nodes();
	printf("at_once: a PUT that is sent and taken at once has no slot and no later report\n");
}

/* One that has failed says so, as a transfer would, and its credit comes back. */
static void failures(void)
{
	uint32_t i;

	open_nodes(LND_ENDS_AT_ONCE);
	for (i = 1; i <= 5; i++) {
		answer = LOST;
		MUST(node_put(a, 0, 0, 100, NULL));
		CHECK(a->at_once || i > 1);
		CHECK(world_run(&world, 3000 * MS, &a->reports, 2 * i - 1) && a->last.error);
		CHECK(a->last.delivery == LND_NOT_DELIVERED && a->last.resend && !a->last.bytes);
		answer = 0;
		MUST(node_put(a, 0, 0, 100, NULL));
		CHECK(world_run(&world, 3000 * MS, &a->reports, 2 * i) && !a->last.error);
	}
	CHECK(a->failures == 5 && !a->bugs);
	/* The peer is asked for the credits that were spent in vain. */
	world_run(&world, 60000 * MS, NULL, 0);
	for (i = 1; i <= 40; i++) {
		MUST(node_put(a, 0, 0, 100, NULL));
		CHECK(world_run(&world, 1000 * MS, &a->reports, 10 + i) && !a->last.error);
	}
	/* A channel that breaks its word: the worst is assumed, and bug() is told. */
	a->failures = 0;
	answer = LND_SEND_PENDING;
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(a->bugs == 1 && a->failures == 1 && a->last.delivery == LND_DELIVERY_UNKNOWN);
	close_nodes();
	printf("at_once: what fails at once says so\n");
}

/* Without the flag, or without a place for the report, every end comes by finalize(). */
static void by_finalize(void)
{
	struct header header = { .len = 100 };
	struct lnd_frag frag = { .len = 100 };
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = LND_PUT,
		.nid = lnd_soft_nid(1),
		.link = LND_ANY_LINK,
		.header = &header,
		.header_len = sizeof(header),
		.frags = &frag,
		.nfrags = 1,
		.deadline = LND_NEVER,
	};
	struct lnd_transfer transfer = { 0 };

	open_nodes(0);
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(a->at_once == 0 && slots(a) == 1);
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1));
	close_nodes();
	open_nodes(LND_ENDS_AT_ONCE);
	rest();
	MUST(lnd_submit(a->ni, &request, world.now, &transfer, NULL));
	CHECK(transfer.kind && !a->reports && slots(a) == 1 && a->woken);
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1) && !a->failures);
	CHECK(!memcmp(&a->last.transfer, &transfer, sizeof(transfer)));
	close_nodes();
	printf("at_once: a caller without a place for a report gets it by finalize()\n");
}

static enum lnd_error take_and_report(struct node *node, const struct lnd_arrival *arrival)
{
	struct lnd_frag frag = { .len = 100 };
	struct lnd_decision decision = {
		.size = sizeof(decision), .frags = &frag, .nfrags = 1, .len = 100,
		.deadline = LND_NEVER,
	};
	struct lnd_transfer transfer = { 0 };

	MUST(lnd_recv(node->ni, arrival->request, &decision, arrival->now, &transfer, NULL));
	CHECK(transfer.kind && node->woken);
	return LND_OK;
}

/* Nothing of an undecided request is taken: it is offered again, until it is decided. */
static enum lnd_error leave(struct node *node, const struct lnd_arrival *arrival)
{
	(void)node;
	(void)arrival;
	return LND_E_WAIT;
}

/* As an upper layer errs: each mistake leaves the request to be decided. */
static enum lnd_error err(struct node *node, const struct lnd_arrival *arrival)
{
	struct lnd_frag frags[2] = { { .len = 50 }, { .addr = 4096, .len = 50 } };
	struct lnd_decision decision = { .size = sizeof(decision), .frags = frags, .nfrags = 2 };
	struct lnd_decision bad;
	struct lnd_report report = { .size = sizeof(report) };
	struct lnd_request request = arrival->request, kept = { 0 }, wrong;
	uint64_t now = world.now;
	uint32_t used = slots(node);

	decision.deadline = LND_NEVER;
	decision.len = 60;
#define BAD(error, change)                                                                     \
	do {                                                                                   \
		bad = decision;                                                                 \
		bad.change;                                                                    \
		FAILS(error, lnd_recv(node->ni, request, &bad, now, NULL, &report));           \
		FAILS(error, lnd_recv(node->ni, request, &bad, now, NULL, NULL));              \
		CHECK(slots(node) == used);                                                    \
	} while (0)
	BAD(LND_E_SIZE, size = 8);
	BAD(LND_E_ARGUMENT, reserved = 1);
	BAD(LND_E_NULL, frags = NULL);
	BAD(LND_E_TOO_LONG, len = arrival->len + 1);
	BAD(LND_E_TOO_LONG, nfrags = 1);
	frags[1].addr = WINDOW;
	BAD(LND_E_ADDRESS, len = 60);
	frags[1].addr = 4096;
	FAILS(LND_E_WRONG_KIND, lnd_reply(node->ni, request, &decision, now, NULL));
	FAILS(LND_E_ARGUMENT, lnd_nak(node->ni, request, 0, now));
	FAILS(LND_E_NULL, lnd_keep(node->ni, request, now, NULL));
	FAILS(LND_E_FOREIGN, lnd_keep(a->ni, request, now, &kept));
	wrong = request;
	wrong.generation--;
	FAILS(LND_E_STALE, lnd_keep(node->ni, wrong, now, &kept));
	wrong = request;
	wrong.index = LINKS;
	FAILS(LND_E_STALE, lnd_keep(node->ni, wrong, now, &kept));
	CHECK(!kept.kind && slots(node) == used);
	/* Other calls may come in between. */
	MUST(lnd_run(node->ni, now, 8, NULL));
	MUST(node_put(node, 0, 8192, 50, NULL));
	FAILS(LND_DONE, lnd_recv(node->ni, request, &decision, now, NULL, &report));
	CHECK(report.bytes == 60 && !report.error);
	FAILS(LND_E_STALE, lnd_recv(node->ni, request, &decision, now, NULL, &report));
	FAILS(LND_E_STALE, lnd_keep(node->ni, request, now, &kept));
	FAILS(LND_E_STALE, lnd_nak(node->ni, request, LND_NAK_FAILED, now));
	return LND_DONE;
}

static void undecided(void)
{
	struct lnd_arrival first;
	uint64_t taken;

	open_nodes(LND_ENDS_AT_ONCE);
	taken = counter(b, "requests");
	fill(a->window, 100, 7);
	habit = leave;
	MUST(node_put(a, 0, 0, 100, NULL));
	node_frames(b, world.now);
	first = seen;
	CHECK(first.kind == LND_REQUEST_IMMEDIATE && first.len == 100 &&
	      first.nid == lnd_soft_nid(0));
	CHECK(first.header_len == sizeof(struct header) && filled(first.payload, 100, 7));
	CHECK(slots(b) == 0 && counter(b, "requests") == taken);
	/* Offered again it has another name, and the former one names nothing. */
	node_frames(b, world.now);
	CHECK(seen.request.generation != first.request.generation);
	FAILS(LND_E_STALE, lnd_nak(b->ni, first.request, LND_NAK_FAILED, world.now));
	CHECK(counter(b, "requests") == taken && slots(b) == 0);
	/* Nor does one after any other frame by its link, which may lie where its own has lain. */
	first = seen;
	FAILS(LND_E_FRAME,
	      lnd_frame_in(b->ni, first.request.index, LND_NID_UNKNOWN, "", 0, world.now, &seen));
	FAILS(LND_E_STALE, lnd_nak(b->ni, first.request, LND_NAK_FAILED, world.now));
	habit = err;
	CHECK(node_frames(b, world.now) && counter(b, "requests") == taken + 1);
	CHECK(filled(b->window, 50, 7) && !memcmp(b->window + 4096, a->window + 50, 10));
	/* Refused, and taken to be reported. */
	habit = NULL;
	b->refuse = 1;
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(node_frames(b, world.now) && slots(b) == 0 && counter(b, "requests") == taken + 2);
	b->refuse = 0;
	b->reports = 0;
	habit = take_and_report;
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(node_frames(b, world.now) && b->reports == 0 && slots(b) == 1);
	CHECK(world_run(&world, 1000 * MS, &b->reports, 1) && b->last.bytes == 100);
	CHECK(filled(b->window, 100, 7));
	close_nodes();
	printf("at_once: a request that is not decided stays in its channel\n");
}

/* Kept: the frame is free, a slot is taken, and the decision comes later. */
static struct lnd_request kept[4];	/* by enum lnd_request_kind */
static uint32_t kept_count;

static enum lnd_error keep(struct node *node, const struct lnd_arrival *arrival)
{
	kept_count++;
	MUST(lnd_keep(node->ni, arrival->request, arrival->now, &kept[arrival->kind]));
	return LND_OK;
}

static void keeps(void)
{
	struct lnd_frag frag = { .len = 30000 };
	struct lnd_decision decision = { .size = sizeof(decision), .deadline = LND_NEVER };
	struct lnd_report report = { .size = sizeof(report) };
	struct lnd_request again;

	open_nodes(LND_ENDS_AT_ONCE);
	kept_count = 0;
	habit = keep;
	fill(a->window, 30000, 3);
	MUST(node_put(a, 0, 0, 100, NULL));
	MUST(node_put(a, 0, 0, 30000, NULL));
	MUST(node_get(a, 40000, 0, 30000, NULL));
	world_run(&world, 10 * MS, NULL, 0);
	CHECK(kept_count == 3 && slots(b) == 3);
	FAILS(LND_E_STALE, lnd_keep(b->ni, kept[LND_REQUEST_IMMEDIATE], world.now, &again));
	/* The payload that came along is gone with its frame. */
	decision.frags = &frag;
	decision.nfrags = 1;
	decision.len = 100;
	FAILS(LND_E_TOO_LONG,
	      lnd_recv(b->ni, kept[LND_REQUEST_IMMEDIATE], &decision, world.now, NULL, &report));
	MUST(lnd_nak(b->ni, kept[LND_REQUEST_IMMEDIATE], LND_NAK_NO_MATCH, world.now));
	FAILS(LND_E_STALE,
	      lnd_nak(b->ni, kept[LND_REQUEST_IMMEDIATE], LND_NAK_NO_MATCH, world.now));
	decision.len = 30000;
	FAILS(LND_E_WRONG_KIND,
	      lnd_reply(b->ni, kept[LND_REQUEST_PUT], &decision, world.now, NULL));
	MUST(lnd_recv(b->ni, kept[LND_REQUEST_PUT], &decision, world.now, NULL, &report));
	MUST(lnd_reply(b->ni, kept[LND_REQUEST_GET], &decision, world.now, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 3) && !a->failures);
	world_run(&world, 10 * MS, NULL, 0);
	CHECK(filled(b->window, 30000, 3) && slots(b) == 0);
	close_nodes();
	printf("at_once: a request that is kept is decided later\n");
}

/* The upper layer has the payload, and then the last slot goes: the request ends all the same. */
static enum lnd_error pass_on(struct node *node, const struct lnd_arrival *arrival)
{
	struct lnd_request request = arrival->request, handle;

	while (!node_put(node, 0, 8192, 30000, NULL))
		;
	CHECK(slots(node) == few_slots);
	FAILS(LND_E_WAIT, lnd_keep(node->ni, request, world.now, &handle));
	MUST(lnd_nak(node->ni, request, LND_NAK_FAILED, world.now));
	FAILS(LND_E_STALE, lnd_nak(node->ni, request, LND_NAK_FAILED, world.now));
	CHECK(slots(node) == few_slots);
	return LND_OK;
}

static void without_a_slot(void)
{
	uint64_t taken;

	few_slots = 4;
	open_nodes(LND_ENDS_AT_ONCE);
	taken = counter(b, "requests");
	kept_count = 0;
	habit = keep;
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(node_frames(b, world.now));
	habit = pass_on;
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(node_frames(b, world.now));
	habit = NULL;
	/* Its number is taken: the next one is the next. */
	b->reports = 0;
	MUST(lnd_nak(b->ni, kept[LND_REQUEST_IMMEDIATE], LND_NAK_FAILED, world.now));
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &b->reports, 1));
	CHECK(counter(b, "requests") == taken + 3 && !counter(b, "resyncs"));
	few_slots = 0;
	close_nodes();
	printf("at_once: a request whose payload was passed on needs no slot to end\n");
}

/* Between a frame and its decision its sender goes down, or we leave. */
static enum lnd_error forget_sender(struct node *node, const struct lnd_arrival *arrival)
{
	struct lnd_request handle;

	MUST(lnd_peer_event(node->ni, arrival->nid, 0, world.now));
	/* Its sender was told that it is delivered: it stays until that has answered again. */
	FAILS(LND_E_WAIT, lnd_keep(node->ni, arrival->request, world.now, &handle));
	FAILS(LND_E_WAIT, lnd_keep(node->ni, arrival->request, world.now, &handle));
	habit = NULL;
	return LND_E_WAIT;
}

/* The same, but the upper layer has its payload. */
static enum lnd_error pass_on_and_forget_sender(struct node *node,
						const struct lnd_arrival *arrival)
{
	struct lnd_request request = arrival->request;

	MUST(lnd_peer_event(node->ni, arrival->nid, 0, world.now));
	MUST(lnd_nak(node->ni, request, LND_NAK_FAILED, world.now));
	FAILS(LND_E_STALE, lnd_nak(node->ni, request, LND_NAK_FAILED, world.now));
	habit = NULL;
	return LND_OK;
}

static enum lnd_error shut_down(struct node *node, const struct lnd_arrival *arrival)
{
	struct lnd_request handle;

	MUST(lnd_shutdown(node->ni, world.now, world.now + 10 * MS));
	/* A node that leaves has refused it. */
	FAILS(LND_E_GONE, lnd_keep(node->ni, arrival->request, world.now, &handle));
	habit = NULL;
	return LND_E_GONE;
}

static void meanwhile(void)
{
	uint32_t state = 0, i;
	uint64_t taken;

	open_nodes(LND_ENDS_AT_ONCE);
	habit = forget_sender;
	MUST(node_put(a, 0, 0, 100, NULL));
	b->reports = 0;
	CHECK(!node_frames(b, world.now));
	CHECK(world_run(&world, 60000 * MS, &b->reports, 1));
	CHECK(b->last.role == LND_ROLE_INLINE_SINK && !b->last.error);
	close_nodes();

	open_nodes(LND_ENDS_AT_ONCE);
	habit = pass_on_and_forget_sender;
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(node_frames(b, world.now));
	taken = counter(b, "requests");
	for (i = 1; i <= 3; i++)
		MUST(node_put(a, 0, 0, 100, NULL));
	/* What its sender sends next arrives when that is heard again. */
	CHECK(world_run(&world, 60000 * MS, &b->reports, 3));
	CHECK(counter(b, "requests") == taken + 3);
	close_nodes();

	open_nodes(LND_ENDS_AT_ONCE);
	habit = shut_down;
	MUST(node_put(a, 0, 0, 30000, NULL));
	CHECK(node_frames(b, world.now));
	CHECK(world_run(&world, 60000 * MS, &a->reports, 1) && a->failures == 1);
	while (state != LND_QUIESCENT) {
		world_run(&world, 0, NULL, 0);
		MUST(lnd_run_state_get(b->ni, &state));
	}
	close_nodes();
	printf("at_once: what happens between a frame and its decision is seen by the decision\n");
}

/* A peer by its handle, which outlives neither the peer nor the NI. */
static void handles(void)
{
	struct header header = { .len = 100 };
	struct lnd_frag frag = { .len = 100 };
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = LND_PUT,
		.link = LND_ANY_LINK,
		.header = &header,
		.header_len = sizeof(header),
		.frags = &frag,
		.nfrags = 1,
		.deadline = LND_NEVER,
	};
	struct lnd_report report = { .size = sizeof(report) };
	uint64_t refused;

	open_nodes(LND_ENDS_AT_ONCE);
	MUST(lnd_peer_find(a->ni, lnd_soft_nid(1), &request.peer));
	FAILS(LND_DONE, lnd_submit(a->ni, &request, world.now, NULL, &report));
	CHECK(report.nid == lnd_soft_nid(1) && report.bytes == 100 && !report.error);
	request.nid = lnd_soft_nid(1);
	FAILS(LND_DONE, lnd_submit(a->ni, &request, world.now, NULL, &report));
	request.nid = lnd_soft_nid(0);
	FAILS(LND_E_ARGUMENT, lnd_submit(a->ni, &request, world.now, NULL, &report));
	request.nid = 0;
	b->reports = 0;
	CHECK(world_run(&world, 1000 * MS, &b->reports, 0));
	/* Down it keeps its handle. */
	MUST(lnd_peer_event(a->ni, lnd_soft_nid(1), 0, world.now));
	FAILS(LND_E_PEER_DOWN, lnd_submit(a->ni, &request, world.now, NULL, &report));
	/* One of another use of the place is refused, and counted. */
	refused = counter(a, "stale_peer");
	request.peer.generation++;
	FAILS(LND_E_STALE, lnd_submit(a->ni, &request, world.now, NULL, &report));
	CHECK(counter(a, "stale_peer") == refused + 1);
	MUST(lnd_peer_event(a->ni, lnd_soft_nid(1), 1, world.now));
	close_nodes();
	printf("at_once: a peer may be named by its handle\n");
}

int main(void)
{
	puts_end_at_once();
	failures();
	by_finalize();
	undecided();
	keeps();
	without_a_slot();
	meanwhile();
	handles();
	return 0;
}
