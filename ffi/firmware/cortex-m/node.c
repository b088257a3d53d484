// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "node.h"

#include "board.h"

/* From the Rust library. */
void *memcpy(void *to, const void *from, size_t len);

#define TIMEOUT 2000000000ULL
#define FEATURES 3U /* remote completion, reports untouched */

/* All memory of the image, beside the platform's. */
struct node nodes[2];
static uint8_t ni_memory[2][NI_BYTES] __attribute__((aligned(LND_ALIGN)));

static struct node *other(const struct node *node)
{
	return &nodes[1 - node->number];
}

/* --- the upper layer --- */

/* Transfers under way, by their user value. */
static struct open {
	uint32_t used, region;
	struct job job;
} opens[2][SLOTS];
/* Requests whose decision was postponed. */
static struct {
	struct lnd_request request;
	struct job job;
	uint32_t kind;
} helds[2][4];

#define NO_SINK REGIONS

static struct open *open_new(const struct node *node, enum region region, const struct job *job)
{
	for (uint32_t at = 0; at < SLOTS; at++) {
		struct open *open = &opens[node->number][at];

		if (!open->used) {
			open->region = region;
			open->job = *job;
			return open;
		}
	}
	return NULL;
}

static uint64_t user_of(const struct node *node, const struct open *open)
{
	return (uint64_t)(open - opens[node->number]) + 1;
}

static void accepted(struct node *node, struct open *open)
{
	open->used = 1;
	node->open++;
	node->ledger.accepted++;
}

int node_start(struct node *node, enum op op, uint32_t number, uint32_t offset, uint32_t length)
{
	struct job job = { op, number, offset, length };
	enum region region = op == PUT ? OUT : op == GET ? IN : SHOW;
	struct open *open = open_new(node, op == GET ? IN : NO_SINK, &job);
	struct lnd_frag frag = payload_frag(node->number, region, &job);
	uint64_t now = board_now();
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = op == PUT ? LND_PUT : op == GET ? LND_GET : LND_REPLY,
		.nid = other(node)->number + 1,
		.link = LND_ANY_LINK,
		.header = &job,
		.header_len = sizeof(job),
		.frags = &frag,
		.nfrags = 1,
		.deadline = now + TIMEOUT,
	};

	if (op == GET)
		payload_empty(node->number, region, &job);
	else
		payload_fill(node->number, region, &job);
	if (open)
		request.user = user_of(node, open);
	if (!open || lnd_submit(node->ni, &request, now, &node->last, NULL) != LND_OK) {
		node->ledger.refused++;
		return 0;
	}
	accepted(node, open);
	return 1;
}

/* Receives a request's payload into a region, or none of it; or replies with a payload. */
static void decide(struct node *node, struct lnd_request request, const struct job *job,
		   uint32_t kind)
{
	int give = job->op == GET && kind == LND_REQUEST_GET;
	int none = job->op == GET && !give;
	enum region sink = none || give ? NO_SINK : job->op == PUT ? TAKE : IN;
	struct open *open = open_new(node, sink, job);
	struct lnd_frag frag = payload_frag(node->number, give ? SHOW : sink, job);
	uint64_t now = board_now();
	struct lnd_decision decision = {
		.size = sizeof(decision),
		.frags = &frag,
		.nfrags = none ? 0 : 1,
		.len = none ? 0 : job->length,
		.deadline = now + TIMEOUT,
	};
	enum lnd_error error = LND_E_NO_SLOTS;

	if (open) {
		decision.user = user_of(node, open);
		if (give)
			payload_fill(node->number, SHOW, job);
		else if (!none)
			payload_empty(node->number, sink, job);
		error = give ? lnd_reply(node->ni, request, &decision, now, NULL)
			     : lnd_recv(node->ni, request, &decision, now, NULL, NULL);
	}
	if (error == LND_OK) {
		accepted(node, open);
	} else {
		node->ledger.refused++;
		if (error != LND_E_GONE)
			lnd_nak(node->ni, request, LND_NAK_NO_RESOURCES, now);
	}
	if (none) /* small enough for an answer in a message */
		node_start(node, REPLY, job->number, job->offset, job->length);
}

/* Handles a peer's request, before any other call. */
static void requested(struct node *node, const struct lnd_arrival *arrival)
{
	struct job job;

	if (arrival->header_len != sizeof(job)) {
		node->ledger.violations++;
		lnd_nak(node->ni, arrival->request, LND_NAK_BAD_REQUEST, arrival->now);
		return;
	}
	memcpy(&job, arrival->header, sizeof(job));
	if (job.offset > LARGEST || job.length > LARGEST - job.offset) {
		node->ledger.violations++;
		lnd_nak(node->ni, arrival->request, LND_NAK_BAD_REQUEST, arrival->now);
		return;
	}
	if (node->hold && arrival->kind != LND_REQUEST_IMMEDIATE && node->held < 4) {
		struct lnd_request kept;

		if (lnd_keep(node->ni, arrival->request, arrival->now, &kept) != LND_OK) {
			node->ledger.violations++;
			return;
		}
		helds[node->number][node->held].request = kept;
		helds[node->number][node->held].kind = arrival->kind;
		helds[node->number][node->held++].job = job;
		return;
	}
	decide(node, arrival->request, &job, arrival->kind);
}

void node_let_go(struct node *node)
{
	node->hold = 0;
	while (node->held) {
		uint32_t at = --node->held;

		decide(node, helds[node->number][at].request, &helds[node->number][at].job,
		       helds[node->number][at].kind);
	}
}

static void op_finalize(void *ctx, const struct lnd_report *report)
{
	struct node *node = ctx;
	struct open *open;

	/* Only threads get reports. */
	if (board_in_interrupt() || report->user == 0 || report->user > SLOTS ||
	    !opens[node->number][report->user - 1].used) {
		node->ledger.violations++;
		return;
	}
	open = &opens[node->number][report->user - 1];
	open->used = 0;
	node->open--;
	if (report->error) {
		node->ledger.failed++;
		node->ledger.cause = report->cause;
		return;
	}
	node->ledger.ok++;
	/* A GET that was sent as a message alone is answered by another message. */
	if (open->region == NO_SINK || (open->job.op == GET && !report->reply))
		return;
	if (report->bytes == open->job.length &&
	    payload_arrived(node->number, open->region, &open->job))
		node->ledger.arrived++;
	else
		node->ledger.corrupt++;
}

static void op_wake(void *ctx)
{
	((struct node *)ctx)->next = 0;
	board_wake();
}

static void op_bug(void *ctx, const char *what)
{
	((struct node *)ctx)->ledger.violations++;
	board_text("wrong: ");
	board_text(what);
	board_text("\n");
}

/* --- a node's creation and its loop --- */

static struct lnd_ops ops = {
	.size = sizeof(ops),
	.finalize = op_finalize,
	.wake = op_wake,
	.bug = op_bug,
};

static void configure(struct lnd_config *config, uint32_t number)
{
	lnd_config_init(config, LND_ABI_VERSION, SLOTS, PEERS, 1);
	config->nid = number + 1;
	config->incarnation = 100 + number;
	config->flags |= LND_RELIABLE;
	config->lists = 0;
	config->immediate_max = INLINE;
	config->drain_bound = 100000000;
	config->hello_timeout = 50000000;
	config->batch = 64;
	config->rings[0] = platform_ring(number);
}

size_t node_ni_bytes(void)
{
	struct lnd_config config;

	configure(&config, 0);
	config.immediate_max = 64;
	return lnd_ni_size(&config);
}

size_t node_ring_bytes(void)
{
	struct lnd_config config;

	configure(&config, 0);
	return lnd_ring_size(&config);
}

const char *nodes_create(void)
{
	static struct lnd_config configs[2];
	struct hw_side sides[2];

	platform_ops(&ops);
	for (uint32_t number = 0; number < 2; number++) {
		struct node *node = &nodes[number];

		node->number = number;
		configure(&configs[number], number);
		if (lnd_ring_format(&configs[number], configs[number].rings[0].base,
				    configs[number].rings[0].len, number, FEATURES) != LND_OK)
			return "a ring could not be formatted";
		platform_cable(number, 1);
		sides[number] = platform_side(number);
	}
	if (hw_begin(&sides[0], &sides[1]))
		return "the hardware could not be connected";
	for (uint32_t number = 0; number < 2; number++)
		if (lnd_ni_create(ni_memory[number], sizeof(ni_memory[number]), &configs[number],
				  &ops, &nodes[number], &nodes[number].ni) != LND_OK)
			return "an NI could not be created";
	return NULL;
}

/* Receives frames, answers before requests; then does the work that is due. */
int node_poll(struct node *node, uint64_t now)
{
	/* The wire has two ends: a frame comes from the other node. */
	uint64_t sender = other(node)->number + 1;
	int busy = 0;

	for (uint32_t lane = 2; lane-- > 0;) {
		const void *frame;
		uint32_t len;

		while ((frame = platform_frame(node->number, lane, &len))) {
			struct lnd_arrival arrival = { .size = sizeof(arrival) };
			enum lnd_error error =
				lnd_frame_in(node->ni, 0, sender, frame, len, now, &arrival);

			if (error == LND_E_WAIT)
				break;
			if (error == LND_REQUEST)
				requested(node, &arrival);
			else if (error != LND_OK)
				node->ledger.violations++;
			platform_frame_done(node->number, lane);
			busy = 1;
		}
	}
	if (node->next <= now || busy) {
		node->next = LND_NEVER;
		uint64_t next;

		if (lnd_run(node->ni, now, 16, &next) != LND_OK)
			node->ledger.violations++;
		else if (next < node->next)
			node->next = next;
	}
	return busy;
}

int node_idle(const struct node *node)
{
	return node->open == 0 && node->held == 0;
}
