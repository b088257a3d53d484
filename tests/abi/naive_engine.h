/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Engines that are operations of the hosts in naive_host.h, in place of registers: a table of
 * descriptors for each host and link. A pull or push moves a part in each step, so that anything
 * may happen in its midst. Each operation checks what the header promises of its caller.
 */
#ifndef NAIVE_ENGINE_H
#define NAIVE_ENGINE_H

#include "naive_host.h"

#define PART 3000u	/* bytes of a step */

/* What a pull or push needs to know beside the tag. */
struct op_key {
	unsigned char bytes[13];
};

#define OP_KEY sizeof(struct op_key)

struct posted {
	uint32_t state;	/* 0: none, 1: the doorbell has not rung, 2: it works */
	struct lnd_tag tag, source;
	uint64_t nid;
	uint32_t motion, length, done, invalidated, failed, nfrags, asked_key, given_back;
	struct op_key key;	/* a pull or push: the one that came along */
	struct lnd_frag frags[2];
};

struct op_engine {
	uint64_t incarnation;
	uint32_t down, stopping, stopped;
	struct posted posted[SLOTS];
};

static struct op_engine op_engines[NODES][LINKS];
static uint32_t op_keys;	/* hosts that start have engines with keys */
static uint32_t op_pushes;	/* as much, that push */
/* Hosts that start have engines that cannot take back what is read. */
static uint32_t cancel_first;
static uint32_t returned_inside, broken_pulls, pushed;	/* counts */

/* Whether this descriptor's engine moves the bytes. Else its memory is lent to the peer's. */
static inline int op_moves(const struct posted *posted)
{
	return posted->motion == LND_MOTION_PULL || posted->motion == LND_MOTION_PUSH;
}

/* Whether one lends what the other moves. */
static inline int op_fits(const struct posted *lent, const struct posted *moves)
{
	return lent->motion == (moves->motion == LND_MOTION_PULL ? LND_MOTION_STAGE :
								   LND_MOTION_EXPOSE);
}

static inline struct op_engine *op_engine_of(void *ctx, uint32_t link)
{
	struct host *host = ctx;

	CHECK(link < LINKS && op_engines[host->number][link].incarnation == host->incarnation);
	return &op_engines[host->number][link];
}

static inline void op_back(struct host *host, uint32_t link, struct posted *posted,
			   uint32_t returned)
{
	struct lnd_tag tag = posted->tag;

	posted->state = 0;
	MUST(lnd_completed(host->ni, link, tag, returned, now));
}

static inline uint32_t op_engine_post(void *ctx, const struct lnd_bd *bd)
{
	struct host *host = ctx;
	struct op_engine *engine = op_engine_of(ctx, bd->link);
	struct posted *posted = &engine->posted[bd->tag.index];
	uint64_t held = 0;
	uint32_t at;

	CHECK(bd->size == sizeof(*bd) && bd->tag.index < SLOTS && bd->nfrags <= 2);
	CHECK(!engine->stopping && bd->nid != nid_of(host->number));
	CHECK(bd->motion <= (op_pushes ? LND_MOTION_PUSH : LND_MOTION_PULL));
	for (at = 0; at < LINKS; at++)
		CHECK(!op_engines[host->number][at].posted[bd->tag.index].state);
	for (at = 0; at < bd->nfrags; at++)
		held += bd->frags[at].len;
	CHECK(bd->length <= held);
	*posted = (struct posted){
		.state = 1,
		.tag = bd->tag,
		.source = bd->source,
		.nid = bd->nid,
		.motion = bd->motion,
		.length = bd->length,
		.nfrags = bd->nfrags,
	};
	CHECK(bd->key_len == (op_moves(posted) && op_keys ? OP_KEY : 0));
	CHECK(op_moves(posted) || (!bd->source.index && !bd->source.generation));
	memcpy(&posted->key, bd->key, bd->key_len);
	if (bd->nfrags)
		memcpy(posted->frags, bd->frags, bd->nfrags * sizeof(*bd->frags));
	return LND_POST_DONE;
}

/* Of no other use, link or node. */
static inline struct op_key op_key_of(uint32_t node, uint32_t link, struct lnd_tag tag)
{
	uint64_t mixed = (tag.generation * 2654435761ull) ^ ((uint64_t)tag.index << 40) ^
			 ((uint64_t)link << 56);
	struct op_key key = { .bytes[12] = 1 };

	memcpy(key.bytes, &mixed, sizeof(mixed));
	memcpy(key.bytes + sizeof(mixed), &node, sizeof(node));
	return key;
}

static inline uint32_t op_engine_key(void *ctx, uint32_t link, struct lnd_tag tag, void *into)
{
	struct host *host = ctx;
	struct posted *posted = &op_engine_of(ctx, link)->posted[tag.index];
	struct op_key key = op_key_of(host->number, link, tag);

	CHECK(posted->state == 2 && !op_moves(posted) && !posted->asked_key++);
	CHECK(posted->tag.generation == tag.generation);
	memcpy(into, &key, OP_KEY);
	return OP_KEY;
}

static inline void op_engine_doorbell(void *ctx, uint32_t link)
{
	struct op_engine *engine = op_engine_of(ctx, link);
	uint32_t at;

	for (at = 0; at < SLOTS; at++)
		if (engine->posted[at].state == 1)
			engine->posted[at].state = 2;
}

/* What has begun with this descriptor does not move all of it, and learns that. */
static inline void op_withdraw(struct host *host, uint32_t link, const struct posted *staged)
{
	uint32_t node, at;

	for (node = 0; node < NODES; node++)
		for (at = 0; at < SLOTS; at++) {
			struct posted *pull = &op_engines[node][link].posted[at];

			if (pull->state && op_moves(pull) &&
			    pull->nid == nid_of(host->number) &&
			    pull->source.index == staged->tag.index &&
			    pull->source.generation == staged->tag.generation)
				pull->failed = 1;
		}
}

/* The peer does not touch a descriptor, and has said so. */
static inline void op_nothing_reads(struct host *host, uint32_t link, const struct posted *staged)
{
	uint32_t node = lnd_soft_node_of(staged->nid), at;

	for (at = 0; at < SLOTS; at++) {
		const struct posted *pull = &op_engines[node][link].posted[at];

		CHECK(!pull->state || !op_moves(pull) ||
		      pull->nid != nid_of(host->number) ||
		      pull->source.index != staged->tag.index ||
		      pull->source.generation != staged->tag.generation);
	}
}

static inline void op_engine_invalidate(void *ctx, uint32_t link, struct lnd_tag tag)
{
	struct op_engine *engine = op_engine_of(ctx, link);
	struct posted *posted = &engine->posted[tag.index];

	CHECK(tag.index < SLOTS && !engine->stopping);
	if (!posted->state || posted->tag.generation != tag.generation)
		return;
	posted->invalidated = 1;
	posted->given_back = 1;
	if (cancel_first && !op_moves(posted))
		op_nothing_reads(ctx, link, posted);
	/* At once, or with the engine's next step. */
	if (tag.generation % 2 && !op_moves(posted)) {
		returned_inside++;
		op_withdraw(ctx, link, posted);
		op_back(ctx, link, posted,
			posted->done ? LND_RETURNED_TOUCHED : LND_RETURNED_UNTOUCHED);
	}
}

static inline void op_engine_stop(void *ctx, uint32_t link)
{
	op_engine_of(ctx, link)->stopping = 1;
}

static inline uint32_t op_engine_quiesced(void *ctx, uint32_t link)
{
	return op_engine_of(ctx, link)->stopped;
}

static inline uint32_t op_engine_reclaim(void *ctx, uint32_t link, struct lnd_tag tag)
{
	struct op_engine *engine = op_engine_of(ctx, link);
	struct posted *posted = &engine->posted[tag.index];

	CHECK(engine->stopped && tag.index < SLOTS);
	if (posted->tag.generation != tag.generation || !posted->state)
		return LND_RETURNED_UNKNOWN;
	posted->state = 0;
	return posted->done ? LND_RETURNED_TOUCHED : LND_RETURNED_UNTOUCHED;
}

static inline void op_engine_reset(void *ctx, uint32_t link)
{
	struct op_engine *engine = op_engine_of(ctx, link);
	uint32_t at;

	CHECK(engine->stopped);
	for (at = 0; at < SLOTS; at++)
		CHECK(!engine->posted[at].state);
	engine->stopping = engine->stopped = 0;
}

static inline uint32_t op_engine_link_up(void *ctx, uint32_t link)
{
	return !op_engine_of(ctx, link)->down;
}

static inline uint32_t op_engine_features(void *ctx, uint32_t link)
{
	op_engine_of(ctx, link);
	return LND_FEATURE_PUSHES;
}

static inline void op_engine_use(struct host *host, struct lnd_config *config, struct lnd_ops *ops)
{
	uint32_t link;

	ops->reg_read32 = NULL;
	ops->reg_write32 = NULL;
	ops->engine_post = op_engine_post;
	ops->engine_key = op_keys ? op_engine_key : NULL;
	ops->engine_features = op_pushes ? op_engine_features : NULL;
	ops->engine_doorbell = op_engine_doorbell;
	ops->engine_invalidate = op_engine_invalidate;
	ops->engine_stop = op_engine_stop;
	ops->engine_quiesced = op_engine_quiesced;
	ops->engine_reclaim = op_engine_reclaim;
	ops->engine_reset = op_engine_reset;
	ops->engine_link_up = op_engine_link_up;
	for (link = 0; link < LINKS; link++) {
		struct op_engine *engine = &op_engines[host->number][link];
		uint32_t down = engine->down;

		config->rings[link] = (struct lnd_ring){ .base = NULL };
		memset(engine, 0, sizeof(*engine));
		engine->incarnation = host->incarnation;
		engine->down = down;
	}
}

/* The host's node is gone: nothing of it can be read, and it reads nothing. */
static inline void op_engines_end(uint32_t number)
{
	uint32_t link, at;

	for (link = 0; link < LINKS; link++) {
		for (at = 0; at < SLOTS; at++)
			op_withdraw(&hosts[number], link, &op_engines[number][link].posted[at]);
		memset(op_engines[number][link].posted, 0, sizeof(op_engines[number][link].posted));
	}
}

/* The address of a byte of a descriptor's memory, and how many follow it there. */
static inline uint64_t op_place(const struct posted *posted, uint32_t at, uint32_t *left)
{
	uint32_t frag = 0;

	while (frag < posted->nfrags && at >= posted->frags[frag].len)
		at -= posted->frags[frag++].len;
	CHECK(frag < posted->nfrags);
	*left = posted->frags[frag].len - at;
	return posted->frags[frag].addr + at;
}

/* A part of a pull or push. */
static inline void op_pull(struct host *host, uint32_t link, struct posted *pull)
{
	uint32_t node = lnd_soft_node_of(pull->nid), part = PART, mine, theirs;
	struct op_engine *other = &op_engines[node][link];
	struct posted *staged = &other->posted[pull->source.index % SLOTS];
	uint64_t from, to;

	if (!hosts[node].ni || staged->state != 2 || !op_fits(staged, pull) ||
	    staged->tag.generation != pull->source.generation ||
	    staged->nid != nid_of(host->number) || staged->length < pull->length || pull->failed ||
	    other->down || other->stopped) {
		/* It was promised that this is not touched any more. */
		CHECK(!cancel_first || !hosts[node].ni || !staged->given_back ||
		      staged->tag.generation != pull->source.generation);
		broken_pulls += !!pull->done;
		op_back(host, link, pull,
			pull->done ? LND_RETURNED_TOUCHED : LND_RETURNED_UNTOUCHED);
		return;
	}
	if (op_keys) {
		struct op_key key = op_key_of(node, link, pull->source);

		CHECK(!memcmp(&key, &pull->key, OP_KEY));
	}
	while (part && pull->done < pull->length) {
		uint32_t len = pull->length - pull->done < part ? pull->length - pull->done : part;

		from = op_place(staged, pull->done, &theirs);
		to = op_place(pull, pull->done, &mine);
		len = len < theirs ? len : theirs;
		len = len < mine ? len : mine;
		if (pull->motion == LND_MOTION_PULL)
			memcpy(host->window + to, hosts[node].window + from, len);
		else
			memcpy(hosts[node].window + from, host->window + to, len);
		pull->done += len;
		staged->done = pull->done;
		part -= len;
	}
	if (pull->done == pull->length) {
		pushed += pull->motion == LND_MOTION_PUSH;
		op_back(host, link, pull, LND_RETURNED_OK);
	}
}

/* One step of a host's engines; 1: they had something to do. */
static inline int op_engines_step(struct host *host)
{
	uint32_t link, at;
	int busy = 0;

	for (link = 0; link < LINKS; link++) {
		struct op_engine *engine = &op_engines[host->number][link];

		if (engine->stopping && !engine->stopped) {
			/* None of ours is read by this link any more, and we read none. */
			for (at = 0; at < SLOTS; at++)
				if (engine->posted[at].state && !op_moves(&engine->posted[at]))
					op_withdraw(host, link, &engine->posted[at]);
			engine->stopped = 1;
			busy = 1;
		}
		for (at = 0; at < SLOTS && !engine->stopped && !engine->down; at++) {
			struct posted *posted = &engine->posted[at];

			if (posted->state == 2 && posted->invalidated) {
				if (!op_moves(posted))
					op_withdraw(host, link, posted);
				broken_pulls += op_moves(posted) && posted->done;
				op_back(host, link, posted,
					posted->done ? LND_RETURNED_TOUCHED
						     : LND_RETURNED_UNTOUCHED);
				busy = 1;
			} else if (posted->state == 2 && op_moves(posted)) {
				op_pull(host, link, posted);
				busy = 1;
			}
		}
	}
	return busy;
}

#endif
