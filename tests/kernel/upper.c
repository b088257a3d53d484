// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The upper layer of the node in a process, and its platform: the library's operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wire.h"
#include "host.h"

uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void must(enum lnd_error error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, lnd_error_name(error));
		exit(1);
	}
}

/* The buffer of a message: its place in the window. */
static struct lnd_frag place(const struct op *op)
{
	struct lnd_frag frag = { .addr = (uint64_t)(op - me.op) * BUFFER, .len = op->length };

	return frag;
}

struct op *take(uint32_t kind, uint32_t length, uint64_t seed)
{
	for (unsigned int i = 0; i < BUFFERS; i++) {
		struct op *op = &me.op[i];

		if (op->busy || length > BUFFER)
			continue;
		memset(op, 0, sizeof(*op));
		op->busy = 1;
		op->kind = kind;
		op->length = length;
		op->seed = seed;
		return op;
	}
	return NULL;
}

void fill(const struct op *op)
{
	uint8_t *bytes = me.window + place(op).addr;

	for (uint32_t at = 0; at < op->length; at++)
		bytes[at] = lnd_host_byte(op->seed, at);
}

static void verify(const struct op *op, uint32_t length)
{
	const uint8_t *bytes = me.window + place(op).addr;
	int good = length == op->length;

	for (uint32_t at = 0; at < op->length && good; at++)
		good = bytes[at] == lnd_host_byte(op->seed, at);
	if (good)
		me.verified++;
	else
		me.corrupt++;
}

enum lnd_error submit(struct op *op, uint32_t kind, uint64_t nid)
{
	struct lnd_host_header header = {
		.magic = LND_HOST_MAGIC, .kind = kind, .length = op->length, .seed = op->seed,
	};
	struct lnd_frag frag = place(op);
	struct lnd_send_request request = {
		.size = sizeof(request), .kind = kind, .nid = nid, .link = LND_ANY_LINK,
		.header = &header, .header_len = sizeof(header), .frags = &frag, .nfrags = 1,
		.deadline = now() + DEADLINE, .user = op - me.op,
	};

	return lnd_submit(me.ni, &request, now(), NULL, NULL);
}

static enum lnd_error accept_it(struct op *op, const struct lnd_arrival *arrival, int give)
{
	struct lnd_frag frag = place(op);
	struct lnd_decision decision = {
		.size = sizeof(decision), .frags = &frag, .nfrags = 1, .len = op->length,
		.deadline = now() + DEADLINE, .user = op - me.op,
	};

	op->ends++;
	if (give)
		return lnd_reply(me.ni, arrival->request, &decision, now(), NULL);
	return lnd_recv(me.ni, arrival->request, &decision, now(), NULL, NULL);
}

/* Decides a peer's request, before anything else happens. */
void decide(const struct lnd_arrival *arrival)
{
	struct lnd_host_header header;
	struct op *op = NULL;

	memcpy(&header, arrival->header, sizeof(header));
	if (header.kind == LND_REPLY) {
		for (unsigned int i = 0; i < BUFFERS; i++)
			if (me.op[i].busy && me.op[i].ours && me.op[i].seed == header.seed)
				op = &me.op[i];
		if (op) {
			op->answered = 1;
			must(accept_it(op, arrival, 0), "reply");
			return;
		}
	} else {
		op = take(header.kind, header.length, header.seed);
	}
	if (!op) {
		lnd_nak(me.ni, arrival->request, LND_NAK_NO_RESOURCES, now());
		return;
	}
	me.asked++;
	if (header.kind == LND_PUT) {
		must(accept_it(op, arrival, 0), "put");
		return;
	}
	fill(op);
	if (arrival->kind == LND_REQUEST_GET) {
		must(accept_it(op, arrival, 1), "get");
		return;
	}
	must(lnd_nak(me.ni, arrival->request, LND_NAK_NO_MATCH, now()), "request");
	op->ends++;
	must(submit(op, LND_REPLY, arrival->nid), "reply");
}

static void finalize(void *ctx, const struct lnd_report *report)
{
	struct op *op = &me.op[report->user];

	(void)ctx;
	op->ends--;
	if (report->error) {
		me.failed++;
		fprintf(stderr, "failed: role %u error %d cause %u place %u\n", report->role,
			report->error, report->cause, report->place);
	} else if (report->role == LND_ROLE_PUT_SINK || report->role == LND_ROLE_INLINE_SINK ||
		 report->role == LND_ROLE_GET_PULL)
		verify(op, report->bytes);
	/* A GET that went as a mere header ends with its REPLY. */
	if (op->ours && op->kind == LND_GET && report->role == LND_ROLE_IMMEDIATE &&
	    !report->error && !op->answered)
		return;
	if (op->ends)
		return;
	if (op->ours && !report->error)
		me.ok++;
	op->busy = 0;
}

static uint32_t send_frame(void *ctx, const struct lnd_frame *frame)
{
	uint32_t sent = LND_SEND_FAILED;

	(void)ctx;
	lnd_soft_send(me.node, frame->link, frame->lane, lnd_soft_node_of(frame->nid), frame->bytes,
		      frame->len, &sent);
	return sent;
}

static uint32_t ready(void *ctx, uint32_t link, uint64_t nid, uint32_t lane)
{
	(void)ctx;
	return lnd_soft_ready(me.node, link, lane, lnd_soft_node_of(nid));
}

static uint32_t mem_read(void *ctx, uint64_t addr, void *to, uint32_t len)
{
	(void)ctx;
	return lnd_soft_read(me.fabric, me.number, addr, to, len);
}

static uint32_t mem_write(void *ctx, uint64_t addr, const void *from, uint32_t len)
{
	(void)ctx;
	return lnd_soft_write(me.fabric, me.number, addr, from, len);
}

static void bug(void *ctx, const char *what)
{
	(void)ctx;
	fprintf(stderr, "bug: %s\n", what);
	me.bugs++;
}

const struct lnd_ops ops = {
	.size = sizeof(ops), .ready = ready, .send = send_frame, .mem_read = mem_read,
	.mem_write = mem_write, .finalize = finalize, .bug = bug,
};
