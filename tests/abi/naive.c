// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A host of lnd_health_* as a newcomer writes it from lnd.h and docs/c-abi.md: a plain loop that
 * keeps no books of its own about numbers, copies or incarnations. Rails lose, delay and reorder;
 * payloads fail; handshakes are reported late; peers are removed and added; nodes start anew and
 * pause; links go down. From end to end: no message is seen twice, and its sender knows no more of
 * it than is so.
 */
#include "world.h"

#include <string.h>

#define SECOND (1000 * MS)
#define MESSAGES 4096
#define FRAMES 256
#define TRIES 24

struct side {
	struct lnd_health *health;
	void *block;
	uint64_t own, oldest; /* its incarnation; the peer's first one that it has seen */
	struct lnd_health_ni local[2];
	struct lnd_health_peer peer;
	uint64_t journal; /* the next change to be read */
	uint32_t value[2]; /* of each interface of ours, by the journal */
};

/* A request on its way, and the sessions of the two drivers. */
struct frame {
	uint32_t id, rail;
	uint64_t from, to;
	unsigned char header[LND_STAMP_BYTES];
};

/* A message of the sender's: 0 none, 1 a try is under way, 2 the next try is to come. */
struct way {
	struct lnd_attempts attempts;
	uint32_t state, id, rail;
};

static struct side sender, receiver;
static struct way ways[TRIES];
static struct frame wire[FRAMES], coming[FRAMES];
static uint32_t on_wire, are_coming, next_id, up[2] = { 1, 1 }, drained[2];
static uint32_t seen[MESSAGES], ended[MESSAGES];
static uint64_t now = SECOND, reports[64], random_state;
static uint32_t reported, copies, early, stale, delivered, repaired, removed, drains, changes;

static uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % (n ? n : 1);
}

static void add_peer(struct side *side)
{
	struct lnd_health_ni ni;

	MUST(lnd_health_add_peer(side->health, 0, 1, &side->peer));
	MUST(lnd_health_add_peer_ni(side->health, side->peer, 11, &ni));
	MUST(lnd_health_add_peer_ni(side->health, side->peer, 12, &ni));
}

static void start(struct side *side, uint64_t own, uint64_t oldest)
{
	struct lnd_health_config config;
	uint32_t rail;

	MUST(lnd_health_config_init(&config, LND_ABI_VERSION, 2, 2, 4));
	config.incarnation = own;
	side->own = own;
	side->oldest = oldest;
	side->block = memory(lnd_health_size(&config));
	memset(side->block, 0, lnd_health_size(&config));
	MUST(lnd_health_create(side->block, lnd_health_size(&config), &config, now, &side->health));
	side->journal = 0;
	for (rail = 0; rail < 2; rail++) {
		MUST(lnd_health_add_local(side->health, 1 + rail, &side->local[rail]));
		side->value[rail] = 1000;
	}
	add_peer(side);
}

static void stop(struct side *side)
{
	MUST(lnd_health_destroy(side->health));
	free(side->block);
}

/* What the upper layer hears: once. */
static void ends(struct way *way, const struct lnd_outcome *result)
{
	CHECK(!ended[way->id] && result->cookie == way->id);
	ended[way->id] = 1 + result->delivery;
	if (result->delivery == LND_DELIVERED)
		delivered++;
	if (result->delivery == LND_DELIVERED && result->tries > 1)
		repaired++;
	way->state = 0;
}

static void goes_on(struct way *way, const struct lnd_outcome *result)
{
	if (result->next == LND_NEXT_ENDED)
		ends(way, result);
	else
		way->state = 2;
}

static void tried(struct way *way, uint32_t class, uint32_t delivery, uint32_t cause)
{
	struct lnd_outcome result = { .size = sizeof(result) };
	struct lnd_report report;

	memset(&report, 0, sizeof(report));
	report.size = sizeof(report);
	report.health = class;
	report.delivery = delivery;
	report.cause = cause;
	report.error = class == LND_HEALTH_OK ? 0 : -5;
	MUST(lnd_health_ended(sender.health, way->attempts, &report, now, &result));
	goes_on(way, &result);
}

static void attempt(struct way *way)
{
	struct lnd_outcome result = { .size = sizeof(result) };
	struct lnd_path path = { .size = sizeof(path) };
	enum lnd_error error = lnd_health_begin(sender.health, way->attempts, now, &path);
	struct frame *frame;

	if (error == LND_E_WAIT)
		return;
	if (error != LND_OK) {
		CHECK(error == LND_E_NO_ROUTE || error == LND_E_DEADLINE);
		MUST(lnd_health_give_up(sender.health, way->attempts, &result));
		ends(way, &result);
		return;
	}
	way->state = 1;
	way->rail = path.local.index;
	CHECK(!drained[way->rail]);
	/* The driver: a handshake if need be, which is reported; then the request. */
	if ((!reported || reports[reported - 1] != receiver.own) && reported < 64)
		reports[reported++] = receiver.own;
	if (!up[way->rail] || on_wire == FRAMES) {
		tried(way, LND_HEALTH_LOCAL_DROPPED, LND_NOT_DELIVERED, LND_CAUSE_LINK_DOWN);
		return;
	}
	frame = &wire[on_wire++];
	frame->id = way->id;
	frame->rail = way->rail;
	frame->from = sender.own;
	frame->to = receiver.own;
	MUST(lnd_stamp_write(&path.stamp, frame->header));
}

static void open_one(void)
{
	struct way *way = ways;

	while (way < ways + TRIES && way->state)
		way++;
	if (way == ways + TRIES || next_id == MESSAGES)
		return;
	way->id = next_id++;
	MUST(lnd_health_open(sender.health, sender.peer, now + 200 * SECOND, 1, way->id,
			     &way->attempts));
	attempt(way);
}

/* The reply to a request ends the try that waits for it, if it is not lost. */
static void reply(const struct frame *frame, uint32_t class, uint32_t delivery, uint32_t cause)
{
	struct way *way;

	for (way = ways; way < ways + TRIES; way++)
		if (way->state == 1 && way->id == frame->id && way->rail == frame->rail &&
		    frame->from == sender.own && below(4))
			tried(way, class, delivery, cause);
}

static struct frame taken(struct frame *frames, uint32_t *count)
{
	uint32_t which = below(*count);
	struct frame frame = frames[which];

	frames[which] = frames[--*count];
	return frame;
}

static void arrives(void)
{
	struct lnd_stamp stamp;
	struct frame frame;
	uint32_t check;

	if (!on_wire)
		return;
	frame = taken(wire, &on_wire);
	if (frame.to != receiver.own)
		return; /* of another session: the driver drops it */
	MUST(lnd_health_peer_incarnation(receiver.health, receiver.peer, frame.from));
	MUST(lnd_stamp_read(frame.header, &stamp));
	MUST(lnd_health_arrived(receiver.health, receiver.peer, &stamp, &check));
	switch (check) {
	case LND_WINDOW_FIRST:
		CHECK(are_coming < FRAMES);
		coming[are_coming++] = frame;
		return;
	case LND_WINDOW_SECOND:
		copies++;
		reply(&frame, LND_HEALTH_OK, LND_DELIVERED, LND_CAUSE_NONE);
		return;
	default:
		early += check == LND_WINDOW_COMING;
		stale += check != LND_WINDOW_COMING;
		reply(&frame, LND_HEALTH_REMOTE_ERROR, LND_NOT_DELIVERED, LND_CAUSE_REFUSED);
	}
}

/* The payload of a request has come, or will not. */
static void payload(int good)
{
	struct lnd_stamp stamp;
	struct frame frame;

	if (!are_coming)
		return;
	frame = taken(coming, &are_coming);
	MUST(lnd_stamp_read(frame.header, &stamp));
	if (good) {
		CHECK(++seen[frame.id] == 1);
		MUST(lnd_health_message_received(receiver.health, receiver.peer, &stamp));
		reply(&frame, LND_HEALTH_OK, LND_DELIVERED, LND_CAUSE_NONE);
	} else {
		MUST(lnd_health_message_not_received(receiver.health, receiver.peer, &stamp));
		reply(&frame, LND_HEALTH_REMOTE_DROPPED, LND_NOT_DELIVERED, LND_CAUSE_CHANNEL);
	}
}

/* What is due of its own accord, and messages whose next try is to come. */
static void upkeep(void)
{
	struct side *sides[2] = { &sender, &receiver };
	struct lnd_action action = { .size = sizeof(action) };
	enum lnd_error error;
	uint32_t at;

	if (reported) {
		MUST(lnd_health_peer_incarnation(sender.health, sender.peer, reports[0]));
		memmove(reports, reports + 1, --reported * sizeof(*reports));
	}
	for (at = 0; at < 2; at++) {
		struct lnd_health *health = sides[at]->health;

		while ((error = lnd_health_next_action(health, now, &action)) == LND_OK) {
			CHECK(action.kind == LND_ACTION_PING);
			MUST(lnd_health_answered(health, &action, LND_HEALTH_OK, now));
		}
		CHECK(error == LND_E_END);
	}
	for (at = 0; at < TRIES; at++)
		if (ways[at].state == 2)
			attempt(&ways[at]);
}

/* The journal tells of every change: by it an interface's health is known without asking. */
static void follow(struct side *side)
{
	struct lnd_health_change change = { .size = sizeof(change) };
	struct lnd_health_info info = { .size = sizeof(info) };
	enum lnd_error error;
	uint64_t next = side->journal;
	uint32_t rail;

	while ((error = lnd_health_journal_next(side->health, &side->journal, &change)) == LND_OK) {
		CHECK(change.number == next++);
		changes++;
		for (rail = 0; rail < 2; rail++) {
			if (memcmp(&change.ni, &side->local[rail], sizeof(change.ni)))
				continue;
			CHECK(change.from == side->value[rail]);
			side->value[rail] = change.to;
		}
	}
	CHECK(error == LND_E_END);
	for (rail = 0; rail < 2; rail++) {
		MUST(lnd_health_get(side->health, side->local[rail], &info));
		CHECK(info.value == side->value[rail]);
	}
}

/* An operator takes a rail out of use, or back into it; the other one is left. */
static void drain(uint32_t rail)
{
	uint32_t left, at, under_way = 0;

	if (drained[!rail])
		return;
	drained[rail] = !drained[rail];
	drains++;
	MUST(lnd_health_drain_local(sender.health, sender.local[rail], drained[rail], now, &left));
	for (at = 0; at < TRIES; at++)
		under_way += ways[at].state == 1 && ways[at].rail == rail;
	CHECK(left == under_way);
}

static void remove_and_add(struct side *side)
{
	enum lnd_error error = lnd_health_remove_peer(side->health, side->peer);

	if (error == LND_E_RUNNING)
		return;
	MUST(error);
	add_peer(side);
	removed++;
	if (side == &sender && reported < 64)
		reports[reported++] = receiver.own;
}

static void restart(struct side *side)
{
	stop(side);
	if (side == &sender) {
		memset(ways, 0, sizeof(ways));
		memset(drained, 0, sizeof(drained));
		reported = 0;
		start(side, side->own + 1, receiver.own);
	} else {
		are_coming = 0;
		start(side, side->own + 1, sender.own);
	}
}

static uint64_t former(uint64_t own, uint64_t oldest)
{
	uint64_t ago = below(3);

	return own - ago < oldest ? oldest : own - ago;
}

static void step(void)
{
	uint32_t what = below(400), rail = below(2);
	struct way *way = &ways[below(TRIES)];

	if (what < 60) {
		open_one();
	} else if (what < 170) {
		arrives();
	} else if (what < 180) {
		if (on_wire)
			taken(wire, &on_wire);
	} else if (what < 260) {
		payload(1);
	} else if (what < 280) {
		payload(0);
	} else if (what < 310) {
		/* The driver's patience is over. A copy may still come. */
		if (way->state == 1)
			tried(way, LND_HEALTH_NETWORK_TIMEOUT, LND_DELIVERY_UNKNOWN,
			      LND_CAUSE_DEADLINE);
	} else if (what < 360) {
		now += SECOND;
		upkeep();
	} else if (what < 368) {
		/* A report of a former handshake comes late. */
		MUST(lnd_health_peer_incarnation(receiver.health, receiver.peer,
						 former(sender.own, receiver.oldest)));
		if (reported < 64)
			reports[reported++] = former(receiver.own, sender.oldest);
	} else if (what < 376) {
		remove_and_add(what < 372 ? &sender : &receiver);
	} else if (what < 379) {
		restart(what < 377 ? &sender : &receiver);
	} else if (what < 388) {
		up[rail] = !up[rail];
		MUST(lnd_health_fatal(sender.health, sender.local[rail], !up[rail], now));
	} else if (what < 390) {
		now += 20 * SECOND; /* nothing runs for a while */
	} else if (what < 394) {
		drain(rail);
	}
	follow(&sender);
	follow(&receiver);
}

static void play(uint64_t seed)
{
	struct lnd_outcome result = { .size = sizeof(result) };
	uint32_t at, left;

	random_state = seed * 0x9e3779b97f4a7c15 | 1;
	memset(ways, 0, sizeof(ways));
	memset(seen, 0, sizeof(seen));
	memset(ended, 0, sizeof(ended));
	on_wire = are_coming = next_id = reported = 0;
	up[0] = up[1] = 1;
	drained[0] = drained[1] = 0;
	start(&sender, 100, 200);
	start(&receiver, 200, 100);
	for (at = 0; at < 4000; at++)
		step();
	for (at = 0; at < TRIES; at++) {
		if (!ways[at].state)
			continue;
		MUST(lnd_health_give_up(sender.health, ways[at].attempts, &result));
		ends(&ways[at], &result);
	}
	for (at = 0; at < next_id; at++) {
		CHECK(ended[at] != 1 + LND_DELIVERED || seen[at] == 1);
		CHECK(ended[at] != 1 + LND_NOT_DELIVERED || seen[at] == 0);
	}
	MUST(lnd_health_shutdown(sender.health, &left));
	CHECK(left == 0);
	stop(&sender);
	stop(&receiver);
}

int main(void)
{
	uint64_t seed;

	for (seed = 1; seed <= 20; seed++)
		play(seed);
	CHECK(drains > 100 && changes > 1000);
	CHECK(copies > 20 && early > 20 && stale > 20 && delivered > 1000 && repaired > 100 &&
	      removed > 20);
	printf("naive: %u delivered, %u of them repaired; %u copies, %u too early, %u stale; "
	       "%u removals\n",
	       delivered, repaired, copies, early, stale, removed);
	return 0;
}
