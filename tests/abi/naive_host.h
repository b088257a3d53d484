/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hosts of an NI as a newcomer writes them from lnd.h and docs/c-abi.md, over a channel of their
 * own: one queue in memory for each sender, receiver and lane, that loses nothing. A host calls the
 * library when the header says so and at no other time: lnd_run() after wake() and at the time that
 * the last one gave; a frame that got LND_E_WAIT is offered again after wake() and after a control
 * frame. The payload is moved by the software engines of lnd_soft.h. What became of each message is
 * in naive_book.h.
 */
#ifndef NAIVE_HOST_H
#define NAIVE_HOST_H

#include "naive_book.h"

#define ROOM 32u		/* frames in a queue */
#define FRAME 1024u		/* their bytes */
#define SLOTS 32u		/* transfers of an NI */
#define BUFFERS (SLOTS + 1)	/* of a window: one for what may yet be refused */
#define SHORT 512u		/* largest payload inside a message */
#define LONG 16384u		/* largest payload of all: a buffer of a window */

/* What an upper layer does with requests. */
enum habit { TAKE, NAK, KEEP };

struct letter {
	uint32_t link, len;
	unsigned char bytes[FRAME];
};

struct queue {
	struct letter letter[ROOM];
	uint32_t first, count, waits;
};

/* A frame whose end the channel reports later, by lnd_sent(). */
struct open_frame {
	struct lnd_message message;
	uint32_t link;
};

/* A request without a reply yet. */
struct kept {
	struct lnd_request request;
	uint32_t id, kind, len;
};

struct host {
	uint32_t number, peers, slots;	/* 0: as usual */
	struct lnd_ni *ni;
	struct lnd_soft_node *soft_node;
	struct lnd_soft_engine *engine[LINKS];
	void *ni_memory, *soft_node_memory, *engine_memory[LINKS];
	unsigned char *window;
	uint64_t next, incarnation;
	uint32_t woken, paused, engines_pause, leaving, interrupts_pending, at_once;
	uint32_t by_operations;
	enum habit habit;
	struct open_frame open_frames[4 * SLOTS];
	struct kept kept[SLOTS];
	uint32_t open_count, kept_count, peer_state[NODES], downs[NODES], misuses;
	unsigned char used[BUFFERS];	/* its buffers */
};

static struct host hosts[NODES];
static struct queue queues[NODES][NODES][2];
static struct lnd_soft_fabric *fabric;
static void *region, *fabric_memory;
static uint32_t room;		/* of each queue */
/* send() says LND_SEND_PENDING, unless a host says LND_ENDS_AT_ONCE. */
static uint32_t ends_later;
static uint32_t at_once;	/* hosts that start say that */
static uint32_t ended_at_once;	/* messages that have ended within the call */
static uint32_t time_first;	/* hosts call lnd_run() before they look for frames, too */
static uint32_t senders_unknown;	/* the channel does not know who sent a frame */
static uint32_t versions[NODES];	/* the version that a node speaks; 0: version 1 */
static uint32_t by_link = LND_ANY_LINK;	/* the link of what is submitted */
static uint32_t errs;		/* what is called now is called where it may not be */
static uint64_t starts;

static inline uint64_t nid_of(uint32_t number)
{
	return lnd_soft_nid(number);
}

/* The platform's operations. */

static inline uint32_t op_reg_read32(void *ctx, uint32_t link, uint32_t offset)
{
	struct host *host = ctx;

	return lnd_soft_reg_read32(fabric, host->number, link, offset);
}

static inline void op_reg_write32(void *ctx, uint32_t link, uint32_t offset, uint32_t value)
{
	struct host *host = ctx;

	lnd_soft_reg_write32(fabric, host->number, link, offset, value);
}

static inline uint32_t op_ready(void *ctx, uint32_t link, uint64_t nid, uint32_t lane)
{
	struct host *host = ctx;

	(void)link;
	return queues[host->number][lnd_soft_node_of(nid)][lane].count < room;
}

/* A node of another version writes and reads its hellos otherwise: docs/wire-format.md. */
static inline void translate(unsigned char *bytes, uint32_t from, uint32_t to)
{
	if (versions[from] && bytes[0] == 2 && bytes[1] == 1)
		bytes[80] = bytes[81] = (unsigned char)versions[from];
	if (versions[from] && !versions[to] && bytes[0] == 2 && bytes[1] == 2)
		bytes[84] = 0;
}

static inline uint32_t op_send(void *ctx, const struct lnd_frame *frame)
{
	struct host *host = ctx;
	uint32_t to = lnd_soft_node_of(frame->nid);
	struct queue *queue = &queues[host->number][to][frame->lane];
	struct letter *letter = &queue->letter[(queue->first + queue->count) % ROOM];

	CHECK(frame->size == sizeof(*frame) && frame->link < LINKS && to < NODES &&
	      frame->len <= FRAME);
	if (queue->count >= room)
		return LND_SEND_FULL;
	book_leaves(host->incarnation, frame->bytes, frame->len);
	letter->link = frame->link;
	letter->len = frame->len;
	memcpy(letter->bytes, frame->bytes, frame->len);
	translate(letter->bytes, host->number, to);
	queue->count++;
	if (!ends_later || host->at_once)
		return LND_SEND_DONE;
	if (frame->tracked) {
		CHECK(host->open_count < 4 * SLOTS);
		host->open_frames[host->open_count].link = frame->link;
		host->open_frames[host->open_count++].message = frame->message;
	}
	return LND_SEND_PENDING;
}

static inline void op_quiesce(void *ctx, uint32_t link)
{
	struct host *host = ctx;
	uint32_t at, left = 0;

	for (at = 0; at < host->open_count; at++)
		if (host->open_frames[at].link != link)
			host->open_frames[left++] = host->open_frames[at];
	host->open_count = left;
}

static inline uint32_t op_mem_read(void *ctx, uint64_t addr, void *to, uint32_t len)
{
	struct host *host = ctx;

	return lnd_soft_read(fabric, host->number, addr, to, len);
}

static inline uint32_t op_mem_write(void *ctx, uint64_t addr, const void *from, uint32_t len)
{
	struct host *host = ctx;

	return lnd_soft_write(fabric, host->number, addr, from, len);
}

static inline uint32_t op_mem_valid(void *ctx, uint64_t addr, uint32_t len)
{
	struct host *host = ctx;

	return lnd_soft_valid(fabric, host->number, addr, len);
}

static inline void op_event(void *ctx, const struct lnd_event *event)
{
	struct host *host = ctx;

	if (event->kind == LND_EVENT_PEER) {
		host->peer_state[lnd_soft_node_of(event->nid)] = event->state;
		host->downs[lnd_soft_node_of(event->nid)] += event->state == LND_PEER_DOWN;
	}
}

static inline void op_wake(void *ctx)
{
	struct host *host = ctx;
	uint32_t from;

	host->woken = 1;
	for (from = 0; from < NODES; from++)
		queues[from][host->number][LND_LANE_REQUEST].waits = 0;
}

static inline void op_bug(void *ctx, const char *what)
{
	struct host *host = ctx;

	if (!errs) {
		fprintf(stderr, "bug: %s\n", what);
		CHECK(!"a bug");
	}
	host->misuses++;
}

/* The upper layer. A transfer's @user: the message, the buffer, at the receiver one bit more. */

#define RECEIVER (1ull << 48)

static inline uint64_t user_of(uint32_t id, uint32_t buffer)
{
	return id | (uint64_t)buffer << 32;
}

static inline void op_finalize(void *ctx, const struct lnd_report *report);

/* A call has said LND_DONE. */
static inline void ended(struct host *host, const struct lnd_report *report)
{
	ended_at_once++;
	op_finalize(host, report);
}

static inline uint32_t buffer_of(struct host *host)
{
	uint32_t buffer = 0;

	while (buffer < BUFFERS && host->used[buffer])
		buffer++;
	CHECK(buffer < BUFFERS);
	host->used[buffer] = 1;
	return buffer;
}

/* One fragment, or two. */
static inline uint32_t fragments(struct lnd_frag frag[2], uint32_t buffer, uint32_t len)
{
	uint32_t first = len > 1 && len % 2 ? len / 3 + 1 : len;

	frag[0] = (struct lnd_frag){ .addr = (uint64_t)buffer * LONG, .len = first };
	frag[1] = (struct lnd_frag){ .addr = (uint64_t)buffer * LONG + first, .len = len - first };
	return first < len ? 2 : len > 0;
}

/* Sends @kind to another node; @answered is the GET that a reply is for. */
static inline enum lnd_error submit(struct host *host, uint32_t to, uint32_t kind, uint32_t len,
				 uint64_t patience, uint32_t answered)
{
	uint32_t buffer = buffer_of(host);
	uint32_t id = book_new(host->incarnation, to, kind, len, patience, answered);
	struct label label = { .magic = MAGIC, .id = id };
	struct lnd_report report = { .size = sizeof(report) };
	struct lnd_frag frag[2];
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = kind,
		.nid = nid_of(to),
		.link = by_link,
		.routed = kind == LND_GET && id % 4 == 3,
		.header = &label,
		.header_len = sizeof(label),
		.frags = frag,
		.nfrags = fragments(frag, buffer, len),
		.deadline = now + patience,
		.user = user_of(id, buffer),
	};
	enum lnd_error error;

	fill(host->window + (size_t)buffer * LONG, len, kind == LND_GET ? ~id : id);
	/* Every second message names its peer by a handle, where there is one. */
	if (id % 2 && lnd_peer_find(host->ni, request.nid, &request.peer) == LND_OK)
		request.nid = 0;
	error = lnd_submit(host->ni, &request, now, NULL, &report);
	book_submitted(id, error == LND_DONE ? LND_OK : error);
	if (error == LND_DONE) {
		CHECK(host->at_once);
		ended(host, &report);
		return LND_OK;
	}
	if (error)
		host->used[buffer] = 0;
	return error;
}

/* Answers a request; 0: it is to be asked for again. */
static inline int reply(struct host *host, const struct kept *request, enum habit habit)
{
	struct lnd_frag frag[2];
	struct lnd_decision decision = { .size = sizeof(decision), .frags = frag,
					 .len = request->len };
	struct lnd_report report = { .size = sizeof(report) };
	uint32_t buffer;
	enum lnd_error error;

	if (habit == NAK) {
		error = lnd_nak(host->ni, request->request, LND_NAK_NO_MATCH, now);
		CHECK(error == LND_OK || error == LND_E_STALE);
		return 1;
	}
	buffer = buffer_of(host);
	decision.nfrags = fragments(frag, buffer, request->len);
	decision.deadline = now + 20 * SECOND;
	decision.user = user_of(request->id, buffer) | RECEIVER;
	fill(host->window + (size_t)buffer * LONG, request->len,
	     request->kind == LND_REQUEST_GET ? request->id : ~request->id);
	if (request->kind == LND_REQUEST_GET)
		error = lnd_reply(host->ni, request->request, &decision, now, NULL);
	else
		error = lnd_recv(host->ni, request->request, &decision, now, NULL, &report);
	if (error == LND_OK || error == LND_DONE)
		book_taken(request->id);
	if (error == LND_DONE)
		ended(host, &report);
	else if (error)
		host->used[buffer] = 0;
	CHECK(error == LND_OK || error == LND_DONE || error == LND_E_STALE || error == LND_E_GONE ||
	      error == LND_E_NO_LISTS);
	return error != LND_E_NO_LISTS;
}

/* Decides a peer's request, before anything else happens. */
static inline void decide(struct host *host, const struct lnd_arrival *arrival)
{
	struct label label;
	struct kept request = { .request = arrival->request, .kind = arrival->kind,
				.len = arrival->len };
	struct message *message;

	CHECK(arrival->size == sizeof(*arrival) && arrival->header_len == sizeof(label));
	memcpy(&label, arrival->header, sizeof(label));
	CHECK(label.magic == MAGIC);
	request.id = label.id;
	message = book_seen(label.id, host->incarnation, arrival);
	if (host->habit == KEEP && arrival->kind != LND_REQUEST_IMMEDIATE &&
	    host->kept_count < SLOTS) {
		MUST(lnd_keep(host->ni, arrival->request, now, &request.request));
		host->kept[host->kept_count++] = request;
		return;
	}
	if (!reply(host, &request, host->habit == NAK ? NAK : TAKE))
		MUST(lnd_nak(host->ni, arrival->request, LND_NAK_NO_RESOURCES, now));
	FAILS(LND_E_STALE, lnd_nak(host->ni, arrival->request, LND_NAK_FAILED, now));
	/* A GET that came as a mere header: its answer is a message of its own. */
	if (message->kind == LND_GET && arrival->kind == LND_REQUEST_IMMEDIATE &&
	    host->habit != NAK && !host->leaving)
		submit(host, message->from, LND_REPLY, message->len, 5 * SECOND, label.id);
}

static inline void op_finalize(void *ctx, const struct lnd_report *report)
{
	struct host *host = ctx;
	uint32_t id = (uint32_t)report->user, buffer = (uint32_t)(report->user >> 32) & 0xffff;

	CHECK(report->size == sizeof(*report) && host->used[buffer]);
	host->used[buffer] = 0;
	if (report->user & RECEIVER)
		book_received(id, report, host->window + (size_t)buffer * LONG);
	else
		book_reported(id, report, host->window + (size_t)buffer * LONG);
}

#endif
