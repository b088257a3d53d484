// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Two hosts as a newcomer writes them (naive_host.h), and anything that may happen to them, in any
 * order: traffic, pauses, requests that are kept, links that go down, wrong peer-down news, a
 * channel with little room, power failures, shutdowns. naive_book.h says what must hold of each
 * message (S0-18, R41, INV-1, INV-6).
 *
 *     naive_runs [FIRST LAST]     the runs of these numbers, instead of the first eight and two
 *                                 whose engines push
 */
#include "naive_loop.h"

static struct host *const b = &hosts[1];
static uint64_t random_state;

static uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % (n ? n : 1);
}

/* A message of any kind and length, with time for it or hardly any. */
static void submit_something(uint32_t side)
{
	uint32_t kind = below(2) ? LND_PUT : LND_GET, len = below(below(2) ? SHORT : LONG);
	uint64_t patience = below(4) ? (1 + below(20)) * SECOND / 2 : 1 + below(10000000);

	submit(&hosts[side], 1 - side, kind, len, patience, 0);
}

/* Anything, in any order. */
static void chance(void)
{
	uint32_t what = below(1000), side = below(2), at;
	struct host *host = &hosts[side];

	if (!host->ni) {
		at_once = below(2);
		if (below(4) == 0)
			host_start(side);
		go_on(below(20) * MS);
	} else if (what < 400) {
		for (at = below(4); at <= 3; at++)
			submit_something(side);
		go_on(below(20000));
	} else if (what < 700) {
		go_on(below(3) ? below(100000) : below(30) * MS);
	} else if (what < 760) {
		go_on(below(3) * SECOND);
	} else if (what < 820) {
		host->paused = below(2);
		host->engines_pause = below(2);
		if (below(4) == 0)
			go_on(below(20) * SECOND);
	} else if (what < 880) {
		host->habit = below(8) ? below(2) ? TAKE : KEEP : NAK;
		if (!host->paused)
			answer_kept(host, below(3) ? TAKE : NAK);
	} else if (what < 930) {
		at = below(LINKS);
		link_set(side, at, below(3) > 0);
	} else if (what < 950) {
		if (!host->paused && host->peer_state[1 - side])
			MUST(lnd_peer_event(host->ni, nid_of(1 - side), below(2), now));
	} else if (what < 970) {
		room = below(2) ? 1 + below(4) : ROOM;
	} else if (what < 980) {
		host_crash(side);
	} else if (what < 990) {
		host_stop(side, below(2) ? below(3000) * MS : 0);
	} else {
		ends_later = !ends_later;
	}
}

static void play(uint64_t seed)
{
	uint32_t at;

	random_state = seed * 0x9e3779b97f4a7c15 | 1;
	open_all(0);
	time_first = seed % 2;
	at_once = seed / 2 % 2;
	by_operations = seed / 4 % 2;
	op_keys = seed % 2;
	op_pushes = op_keys && seed / 8 % 2;
	cancel_first = seed / 2 % 2;
	b->slots = seed % 3 == 2 ? 6 : 0;
	host_start(0);
	host_start(1);
	printf("naive_runs: run %u\n", (unsigned int)seed);
	for (at = 0; at < 600; at++)
		chance();
	close_all();
}

int main(int argc, char **argv)
{
	uint64_t seed = argc == 3 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t last = argc == 3 ? strtoull(argv[2], NULL, 0) : 8;

	for (; seed <= last; seed++)
		play(seed);
	if (argc != 3) {
		play(13);
		play(15);
	}
	CHECK(argc == 3 || (delivered > 1000 && denied > 500 && unsure > 50));
	CHECK(argc == 3 || (returned_inside > 50 && broken_pulls > 0 && pushed > 10));
	printf("naive_runs: engines by operations: %u descriptors back at once, %u pulls broken, "
	       "%u pushed\n", returned_inside, broken_pulls, pushed);
	printf("naive_runs: %u delivered, %u of them not seen for a reason; "
	       "%u not delivered, %u perhaps\n",
	       delivered, excused, denied, unsure);
	return 0;
}
