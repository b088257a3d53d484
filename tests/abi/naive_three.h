/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Three of the hosts in naive_host.h: what fails is between the first two, and the third one must
 * not notice. */
#ifndef NAIVE_THREE_H
#define NAIVE_THREE_H

#include "naive_loop.h"

static struct host *const a = &hosts[0], *const b = &hosts[1], *const c = &hosts[2];

/* Starts them; the first has met the other two. */
static inline void open_three_hosts(void)
{
	uint32_t at;

	open_all(3);
	for (at = 1; at < 3; at++) {
		MUST(submit(a, at, LND_PUT, 100, SECOND, 0));
		MUST(submit(&hosts[at], 0, LND_PUT, 100, SECOND, 0));
	}
	go_on(100 * MS);
}

/* Two nodes send each other messages of each kind by link 0, and all of them end well. */
static inline void go_on_well(struct host *one, struct host *two)
{
	uint32_t first = message_count, at;

	for (at = 0; at < 2; at++) {
		struct host *from = at ? two : one, *to = at ? one : two;

		MUST(submit(from, to->number, LND_PUT, 100, SECOND, 0));
		MUST(submit(from, to->number, LND_PUT, LONG - 1, SECOND, 0));
		MUST(submit(from, to->number, LND_GET, LONG - 1, SECOND, 0));
	}
	go_on(20 * MS);
	for (at = first; at < message_count; at++)
		CHECK(messages[at].reports == 1 && !messages[at].error && messages[at].came);
}

/* Transfers that link 0 of the first host keeps. */
static inline uint32_t kept(void)
{
	uint32_t transfers;

	MUST(lnd_quarantine_get(a->ni, 0, &transfers));
	return transfers;
}

/* Node 1 reads from node 0, and stands still in the midst of it; returns the message's number. */
static inline uint32_t held_by_b(void)
{
	uint32_t id = message_count, steps = 0;

	MUST(submit(a, 1, LND_PUT, LONG - 1, 20 * SECOND, 0));
	while (!messages[id].taken) {
		CHECK(steps++ < 1000);
		go_on(1000);
	}
	engines(b);
	b->paused = b->engines_pause = 1;
	CHECK(!messages[id].reports && !messages[id].received);
	return id;
}

#endif
