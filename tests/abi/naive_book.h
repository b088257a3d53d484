/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What became of each message of the hosts in naive_host.h: by the frames that leave, by what upper
 * layers see, by payload, and by the reports. Nothing here asks the library.
 */
#ifndef NAIVE_BOOK_H
#define NAIVE_BOOK_H

#include "world.h"

#include <errno.h>
#include <string.h>

#define SECOND (1000 * MS)
#define NODES 3u
#define MESSAGES 16384u
#define INCARNATIONS 1024u
#define MAGIC 0x6e61697665ull

/* What our upper layer puts before its payload. */
struct label {
	uint64_t magic;
	uint32_t id, reserved;
};

struct message {
	uint32_t from, to, kind, len, answered;
	uint64_t deadline;
	uint64_t sender;	/* the incarnation that submitted it */
	uint64_t receiver;	/* the incarnation that its frame named, 0: no frame has left */
	uint32_t staged;	/* it was not whole inside its frame */
	uint32_t accepted, reports, seen, taken, received, came;
	int32_t error;
	uint32_t delivery, cause;
	uint32_t denied;	/* its receiver was told that nothing had come, or been read */
};

struct incarnation {
	uint64_t incarnation;
	uint32_t node, over, goodbye;
};

static struct message messages[MESSAGES];
static struct incarnation incarnations[INCARNATIONS];
static uint32_t message_count, incarnation_count;
static uint32_t delivered, excused, denied, unsure;	/* over all runs */
static uint64_t now;
static uint32_t by_operations;	/* engines of hosts that start are operations: naive_engine.h */

static inline struct incarnation *incarnation_of(uint64_t incarnation)
{
	uint32_t at = 0;

	while (at < incarnation_count && incarnations[at].incarnation != incarnation)
		at++;
	CHECK(at < incarnation_count);
	return &incarnations[at];
}

static inline void book_starts(uint64_t incarnation, uint32_t node)
{
	CHECK(incarnation_count < INCARNATIONS);
	incarnations[incarnation_count++] =
		(struct incarnation){ .incarnation = incarnation, .node = node };
}

/* A message is about to be submitted. */
static inline uint32_t book_new(uint64_t incarnation, uint32_t to, uint32_t kind, uint32_t len,
				uint64_t patience, uint32_t answered)
{
	struct message *message = &messages[message_count];

	CHECK(message_count < MESSAGES);
	*message = (struct message){
		.from = incarnation_of(incarnation)->node,
		.to = to,
		.kind = kind,
		.len = len,
		.answered = answered,
		.deadline = now + patience,
		.sender = incarnation,
	};
	return message_count++;
}

static inline void book_submitted(uint32_t id, enum lnd_error error)
{
	messages[id].accepted = !error;
	CHECK(!error || !messages[id].receiver);
}

/* A frame leaves; docs/wire-format.md says where it has our header. */
static inline void book_leaves(uint64_t incarnation, const void *frame, uint32_t len)
{
	const unsigned char *bytes = frame;
	struct message *message;
	struct label label;
	uint32_t at;

	if (bytes[0] == 2 && bytes[1] == 10)
		incarnation_of(incarnation)->goodbye = 1;
	if (bytes[0] != 2 || (bytes[1] != 3 && bytes[1] != 4 && bytes[1] != 7))
		return;
	at = bytes[1] == 3 ? 88 : 96;
	CHECK(len >= at + sizeof(label));
	memcpy(&label, bytes + at, sizeof(label));
	CHECK(label.magic == MAGIC && label.id < message_count);
	message = &messages[label.id];
	CHECK(!message->receiver && message->sender == incarnation && !message->reports);
	CHECK(now < message->deadline);
	memcpy(&message->receiver, bytes + 56, sizeof(message->receiver));
	message->staged = bytes[1] != 3;
}

/* An upper layer sees a request. */
static inline struct message *book_seen(uint32_t id, uint64_t incarnation,
					const struct lnd_arrival *arrival)
{
	struct message *message = &messages[id];

	CHECK(id < message_count && message->accepted);
	CHECK(!message->seen++);
	CHECK(message->receiver == incarnation);
	CHECK(arrival->nid == lnd_soft_nid(message->from));
	CHECK(!message->reports || message->delivery != LND_NOT_DELIVERED || message->staged);
	if (message->staged)
		CHECK(arrival->len == message->len);
	return message;
}

static inline void book_taken(uint32_t id)
{
	CHECK(!messages[id].taken++);
}

/* The receiver's transfer has ended. */
static inline void book_received(uint32_t id, const struct lnd_report *report,
				 const unsigned char *payload)
{
	struct message *message = &messages[id];

	CHECK(message->taken && !message->received++);
	CHECK((report->error == 0) == (report->health == LND_HEALTH_OK));
	message->came = !report->error;
	message->denied = report->delivery == LND_NOT_DELIVERED;
	/* A GET that came as a mere header has no payload. */
	if (!report->error && message->kind != LND_GET)
		CHECK(report->bytes == message->len && filled(payload, message->len, id));
}

/* The sender's transfer has ended. */
static inline void book_reported(uint32_t id, const struct lnd_report *report,
				 const unsigned char *payload)
{
	struct message *message = &messages[id];

	CHECK(message->accepted && !message->reports++);
	CHECK((report->error == 0) == (report->health == LND_HEALTH_OK));
	CHECK(report->error || report->delivery == LND_DELIVERED);
	CHECK(report->delivery != LND_NOT_DELIVERED || !message->seen || message->staged);
	CHECK(report->delivery != LND_DELIVERY_SENT);
	message->error = report->error;
	message->delivery = report->delivery;
	message->cause = report->cause;
	if ((report->role == LND_ROLE_GET_PULL || report->role == LND_ROLE_PUSH_SINK) &&
	    !report->error)
		CHECK(report->bytes == message->len && filled(payload, message->len, id));
}

/* A node's incarnation is over: with a report for each message that it had, or, if it broke down,
 * not. */
static inline void book_ends(uint64_t incarnation, int in_order)
{
	uint32_t id;

	incarnation_of(incarnation)->over = 1;
	for (id = 0; id < message_count; id++) {
		struct message *message = &messages[id];

		if (message->sender == incarnation && message->accepted)
			CHECK(message->reports == 1 || !in_order);
		if (message->receiver == incarnation && message->taken)
			CHECK(message->received == 1 || !in_order);
	}
}

/*
 * A sender that ends without a goodbye is owed nothing, nor one of two incarnations that have said
 * goodbye but the last one: lnd.h says so of LND_RELIABLE.
 */
static inline int owed_nothing(const struct incarnation *sender)
{
	const struct incarnation *other, *end = incarnations + incarnation_count;

	for (other = sender + 1; other < end; other++)
		if (other->node == sender->node && other->goodbye)
			return 1;
	return sender->over && !sender->goodbye;
}

/* Everything has come to rest: what was promised has come to pass. */
static inline void book_closed(void)
{
	uint32_t id;

	for (id = 0; id < message_count; id++) {
		struct message *message = &messages[id];
		struct incarnation *sender = incarnation_of(message->sender);
		int excuse;

		if (!message->accepted)
			continue;
		CHECK(message->reports == 1 || sender->over);
		denied += message->delivery == LND_NOT_DELIVERED;
		unsure += message->delivery == LND_DELIVERY_UNKNOWN;
		if (!message->reports || message->delivery != LND_DELIVERED)
			continue;
		delivered++;
		excused += !message->seen;
		/* "Delivered", and it never left. */
		CHECK(message->receiver);
		excuse = incarnation_of(message->receiver)->over || owed_nothing(sender);
		CHECK(message->seen || excuse);
		/* One whose link fails may not know that its memory has been read: the GET is whole
		 * without. */
		if (message->kind == LND_GET && by_operations && !message->came)
			CHECK(!message->denied);
		else if (message->staged && !message->error)
			CHECK(message->came || excuse);
	}
}

#endif
