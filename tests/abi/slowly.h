/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Two nodes that run a piece at a time: after each, what dumps say is noted, and what is traced is
 * checked as it comes.
 */
#ifndef SLOWLY_H
#define SLOWLY_H

#include "world.h"

#include <string.h>

#define STEP_EVENTS 14u		/* kinds of event in a step's trace record */
#define STEP_EFFECTS 8u		/* kinds of effect */
#define AS_IT_IS (~0u)

static struct world world;
static struct node *const a = &world.node[0], *const b = &world.node[1];
static struct lnd_ops usual;

/* Records of each kind, over all; and what dumps have said, a word a bit. */
static unsigned int traced[LND_TRACE_CONNECTION + 1];
static const char *const words[] = {
	" immediate ", " put_source ", " get_sink ", " request ", " put_sink ", " get_source ",
	" live", " ended", " waits:message", " waits:answer", " waits:engine",
	" because:withdrawn", " because:refused", " because:shutdown", " because:channel",
	" because:deadline", " because:peer_down", " lost:answer", " lost:message",
};
static uint32_t said;

static uint32_t few_slots;	/* slots of each NI of the next world, 0: the usual number */
static uint32_t large_inline;	/* immediate_max of each NI of the next world, 0: the usual one */
static decision *decides;	/* what upper layers do with requests, NULL: the usual */
static uint32_t answer;		/* what send() returns of tracked frames, unless AS_IT_IS */
static struct lnd_message sent;	/* the last one of those, and its bytes */
static unsigned char frame[4096];
static uint32_t frame_len;

static inline void trace(void *ctx, const struct lnd_trace *record)
{
	(void)ctx;
	CHECK(record->size == sizeof(*record) && !record->reserved);
	CHECK(record->kind >= LND_TRACE_ACCEPTED && record->kind <= LND_TRACE_CONNECTION);
	traced[record->kind]++;
	switch (record->kind) {
	case LND_TRACE_STEP:
		CHECK(record->c >= 1 && record->c <= STEP_EVENTS && record->d <= STEP_EFFECTS);
		break;
	case LND_TRACE_POSTED:
	case LND_TRACE_INVALIDATED:
	case LND_TRACE_RECLAIMED:
	case LND_TRACE_LINK:
		CHECK(record->link < LINKS);
		break;
	case LND_TRACE_ACCEPTED:
	case LND_TRACE_SENT:
	case LND_TRACE_RECEIVED:
	case LND_TRACE_PEER:
		CHECK(record->nid == lnd_soft_nid(0) || record->nid == lnd_soft_nid(1));
		break;
	}
}

static inline uint32_t op_send(void *ctx, const struct lnd_frame *given)
{
	CHECK(given->size == sizeof(*given) && given->link < LINKS);
	if (given->tracked && given->len <= sizeof(frame)) {
		memcpy(frame, given->bytes, given->len);
		frame_len = given->len;
		sent = given->message;
	}
	/* Nothing of it has gone out, whatever is said. */
	if (given->tracked && answer != AS_IT_IS)
		return answer;
	return usual.send(ctx, given);
}

/* Notes what a dump of one node says. */
static inline void look(struct node *node)
{
	char text[4096 + 1];
	uint32_t cursor = 0;
	enum lnd_error error;
	size_t written, at;

	do {
		error = lnd_dump(node->ni, LND_DUMP_TRANSFERS, &cursor, text, sizeof(text) - 1,
				 &written);
		CHECK(error == LND_OK || error == LND_E_END);
		text[written] = 0;
		for (at = 0; at < sizeof(words) / sizeof(*words); at++)
			if (strstr(text, words[at]))
				said |= 1u << at;
	} while (error != LND_E_END);
}

/* Whether a dump has said a word since the last time this was asked. */
static inline int has_said(const char *word)
{
	size_t at;

	for (at = 0; at < sizeof(words) / sizeof(*words); at++) {
		if (!strcmp(words[at], word)) {
			int yes = said >> at & 1;

			said &= ~(1u << at);
			return yes;
		}
	}
	CHECK(!"one of the words");
	return 0;
}

/* One round of a node, looked at after every piece, one report at a time. */
static inline void slow_step(struct node *node)
{
	uint32_t link;

	for (link = 0; link < LINKS; link++) {
		node_engine(node, link, world.now);
		look(node);
	}
	node_frames(node, world.now);
	look(node);
	MUST(lnd_run(node->ni, world.now, 1, &node->next));
	look(node);
}

/* Runs both, or only the first, until it has had so many reports. */
static inline void slowly(unsigned int reports, int both)
{
	unsigned int rounds = 0;

	while (a->reports < reports) {
		slow_step(a);
		if (both)
			slow_step(b);
		world.now += MS / 10;
		CHECK(rounds++ < 100000);
	}
}

/* Two nodes that know each other, over operations that may differ from the usual ones. */
static inline void open_world(uint64_t patience, const struct lnd_ops *ops)
{
	struct lnd_ops all = *ops;

	memset(&world, 0, sizeof(world));
	answer = AS_IT_IS;
	all.trace = trace;
	all.send = op_send;
	world.patience = patience;
	world.slots = few_slots;
	world.immediate_max = large_inline;
	world.decide = decides;
	world_open(&world, &all);
	MUST(node_put(a, 0, 0, 100, NULL));
	CHECK(world_run(&world, 1000 * MS, &a->reports, 1) && !a->failures);
	world_run(&world, 10 * MS, NULL, 0);
	a->reports = 0;
	said = 0;
}

#endif
