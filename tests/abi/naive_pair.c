// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Two hosts (three, where a table is full) as a newcomer writes them, through every handshake:
 * first contact, restarts, pauses, wrong peer-down news, links that go down, other versions, full
 * tables, shutdown. From end to end: each message that was accepted has one report; what is
 * reported as delivered was seen by the incarnation that it was sent to, once, unless that has
 * ended (S0-18, R41, INV-1, INV-6, LU-16214).
 */
#include "naive_loop.h"

static struct host *const a = &hosts[0], *const b = &hosts[1], *const c = &hosts[2];

/* One message of each kind, each way, short and long; returns the first one's number. */
static uint32_t all_kinds(uint64_t patience)
{
	uint32_t first = message_count, side;

	for (side = 0; side < 2; side++) {
		MUST(submit(&hosts[side], 1 - side, LND_PUT, 0, patience, 0));
		MUST(submit(&hosts[side], 1 - side, LND_PUT, 100, patience, 0));
		MUST(submit(&hosts[side], 1 - side, LND_PUT, 10001, patience, 0));
		MUST(submit(&hosts[side], 1 - side, LND_GET, 100, patience, 0));
		MUST(submit(&hosts[side], 1 - side, LND_GET, 10001, patience, 0));
	}
	return first;
}

/* Messages from this one on that have ended well. */
static uint32_t good_since(uint32_t first)
{
	uint32_t good = 0, at;

	for (at = first; at < message_count; at++)
		good += messages[at].reports && !messages[at].error && messages[at].seen;
	return good;
}

/* Every message from this one on has ended well, and there is the reply that each mere header asks
 * for. */
static void all_good_since(uint32_t first)
{
	uint32_t asked = 0, replies = 0, at;

	for (at = first; at < message_count; at++) {
		asked += messages[at].kind == LND_GET && !messages[at].staged;
		replies += messages[at].kind == LND_REPLY;
	}
	CHECK(good_since(first) == message_count - first && asked == replies);
}

static void both_know_each_other(void)
{
	uint32_t first = all_kinds(SECOND);

	go_on(200 * MS);
	all_good_since(first);
	CHECK(a->peer_state[1] == LND_PEER_GOOD && b->peer_state[0] == LND_PEER_GOOD);
}

/* One begins, the other begins, both begin at once; the receiver comes late. */
static void first_contact(void)
{
	uint32_t first;

	open_all(2);
	MUST(submit(a, 1, LND_PUT, 100, SECOND, 0));
	go_on(100 * MS);
	all_good_since(0);
	both_know_each_other();
	close_all();

	open_all(2);
	both_know_each_other();
	close_all();

	open_all(1);
	MUST(submit(a, 1, LND_PUT, 100, 60 * SECOND, 0));
	MUST(submit(a, 1, LND_GET, 10001, 60 * SECOND, 0));
	go_on(SECOND / 2);
	host_start(1);
	go_on(5 * SECOND);
	all_good_since(0);
	first = message_count;
	both_know_each_other();
	all_good_since(first);
	close_all();
	printf("naive_pair: first contact\n");
}

/* The peer breaks down or leaves and comes back; the platform reports it to the other side, or does
 * not. */
static void restarts(void)
{
	uint32_t how, first;

	for (how = 0; how < 8; how++) {
		open_all(2);
		both_know_each_other();
		all_kinds(2 * SECOND);
		go_on(how & 4 ? 20000 : 100 * MS);
		if (how & 1)
			host_crash(1);
		else
			host_stop(1, 0);
		if (how & 2)
			MUST(lnd_peer_event(a->ni, nid_of(1), 0, now));
		go_on(10 * MS);
		host_start(1);
		if (how & 2)
			MUST(lnd_peer_event(a->ni, nid_of(1), 1, now));
		MUST(submit(b, 0, LND_PUT, 100, 20 * SECOND, 0));
		go_on(20 * SECOND);
		first = message_count;
		both_know_each_other();
		all_good_since(first);

		/* Both at once. */
		all_kinds(2 * SECOND);
		go_on(how & 4 ? 20000 : 100 * MS);
		host_crash(0);
		host_crash(1);
		host_start(1);
		host_start(0);
		first = message_count;
		MUST(submit(a, 1, LND_PUT, 100, 20 * SECOND, 0));
		MUST(submit(b, 0, LND_PUT, 100, 20 * SECOND, 0));
		go_on(20 * SECOND);
		all_good_since(first);
		both_know_each_other();
		close_all();
	}
	printf("naive_pair: restarts\n");
}

/* A host does not run for a while, with requests before it; its device does or does not. */
static void pauses(void)
{
	uint32_t how, first, at;

	for (how = 0; how < 8; how++) {
		open_all(2);
		both_know_each_other();
		ends_later = time_first = how & 2;
		b->paused = 1;
		b->engines_pause = how & 1;
		/* More than there are credits for. */
		for (at = 0, first = message_count; at < 20; at++)
			MUST(submit(a, 1, at % 4 ? LND_PUT : LND_GET, at % 3 ? 100 : 10001,
				    100 * SECOND, 0));
		/* After credit_stall and all hello_tries its silence is one, and ends with it. */
		go_on(how & 4 ? 30 * SECOND : 6 * SECOND);
		CHECK(a->downs[1] == !!(how & 4));
		b->paused = 0;
		go_on(10 * SECOND);
		CHECK(a->peer_state[1] == LND_PEER_GOOD);
		if (!(how & 4))
			all_good_since(first);
		/* A pause of the sender. */
		first = all_kinds(100 * SECOND);
		go_on(10000);
		a->paused = 1;
		go_on(15 * SECOND);
		a->paused = 0;
		go_on(SECOND);
		all_good_since(first);
		close_all();
	}
	printf("naive_pair: pauses\n");
}

/* A platform reports a peer as down that is not: the peer notices, nothing is lost in silence. */
static void wrong_peer_down(void)
{
	uint32_t how, first;

	for (how = 0; how < 4; how++) {
		open_all(2);
		both_know_each_other();
		all_kinds(20 * SECOND);
		go_on(how & 2 ? 5000 : 0);
		MUST(lnd_peer_event(a->ni, nid_of(1), 0, now));
		FAILS(LND_E_PEER_DOWN, submit(a, 1, LND_PUT, 100, SECOND, 0));
		/* The other side sends, as before. */
		first = message_count;
		MUST(submit(b, 0, LND_PUT, 100, 30 * SECOND, 0));
		MUST(submit(b, 0, LND_PUT, 10001, 30 * SECOND, 0));
		if (how & 1)
			MUST(lnd_peer_event(a->ni, nid_of(1), 1, now));
		go_on(30 * SECOND);
		CHECK(a->downs[1] == 1);
		all_good_since(first);
		both_know_each_other();
		close_all();
	}
	printf("naive_pair: wrong news of a peer\n");
}

/* One link of a host goes down and comes back, then both. */
static void links(void)
{
	uint32_t how, first, state;

	for (how = 0; how < 4; how++) {
		open_all(2);
		both_know_each_other();
		first = all_kinds(20 * SECOND);
		MUST(lnd_soft_link_set(fabric, how & 1, 0, 0, NULL));
		go_on(SECOND);
		MUST(lnd_link_state_get(hosts[how & 1].ni, 0, &state));
		CHECK(state != LND_LINK_UP);
		/* The other link goes on. A link of one side is of no use if that of the other side
		 * is down. */
		by_link = 1;
		first = all_kinds(20 * SECOND);
		go_on(SECOND);
		all_good_since(first);
		by_link = LND_ANY_LINK;
		if (how & 2) {
			all_kinds(2 * SECOND);
			MUST(lnd_soft_link_set(fabric, how & 1, 1, 0, NULL));
			go_on(15 * SECOND);
			/* Our own links are no proof against the peer. */
			CHECK(hosts[how & 1].peer_state[1 - (how & 1)] != LND_PEER_DOWN);
			MUST(lnd_soft_link_set(fabric, how & 1, 1, 1, NULL));
		}
		MUST(lnd_soft_link_set(fabric, how & 1, 0, 1, NULL));
		go_on(10 * SECOND);
		both_know_each_other();
		close_all();
	}
	/* Links that are down before the first contact. */
	open_all(2);
	for (how = 0; how < 2; how++)
		MUST(lnd_soft_link_set(fabric, 0, how, 0, NULL));
	go_on(MS);
	MUST(submit(a, 1, LND_PUT, 100, SECOND, 0));
	go_on(15 * SECOND);
	CHECK(messages[0].reports == 1 && messages[0].delivery == LND_NOT_DELIVERED &&
	      !a->downs[1]);
	for (how = 0; how < 2; how++)
		MUST(lnd_soft_link_set(fabric, 0, how, 1, NULL));
	go_on(SECOND);
	both_know_each_other();
	close_all();
	printf("naive_pair: links\n");
}

/* An NI of few slots, whose upper layer keeps requests: frames wait in the channel until they are
 * taken. */
static void few_slots(void)
{
	uint32_t how, at;

	for (how = 0; how < 4; how++) {
		open_all(0);
		b->slots = 4;
		host_start(0);
		host_start(1);
		room = how & 1 ? 2 : ROOM;
		senders_unknown = how & 2;
		b->habit = KEEP;
		for (at = 0; at < 20; at++)
			MUST(submit(a, 1, at % 4 == 2 ? LND_GET : LND_PUT,
				    at % 4 && at % 8 != 7 ? 1001 : 100, 10 * SECOND, 0));
		for (at = 0; at < 40; at++) {
			go_on(2 * MS);
			answer_kept(b, TAKE);
		}
		go_on(2 * MS);
		all_good_since(0);
		close_all();
	}
	printf("naive_pair: few slots\n");
}

/* Nodes whose versions do not meet: each message is reported as not delivered until they do. */
static void versions_apart(void)
{
	uint32_t at;

	open_all(2);
	versions[1] = 2;
	all_kinds(20 * SECOND);
	go_on(30 * SECOND);
	for (at = 0; at < message_count; at++)
		CHECK(messages[at].reports == 1 && messages[at].delivery == LND_NOT_DELIVERED &&
		      !messages[at].seen);
	versions[1] = 0;
	go_on(30 * SECOND);
	both_know_each_other();
	close_all();
	printf("naive_pair: versions\n");
}

/* A host has room for one peer, and there are two. */
static void full_table(void)
{
	uint32_t first;

	open_all(0);
	a->peers = 1;
	host_start(0);
	host_start(1);
	host_start(2);
	both_know_each_other();
	FAILS(LND_E_PEERS_FULL, submit(a, 2, LND_PUT, 100, SECOND, 0));
	first = message_count;
	MUST(submit(c, 0, LND_PUT, 100, 60 * SECOND, 0));
	MUST(submit(c, 0, LND_GET, 10001, 60 * SECOND, 0));
	go_on(SECOND);
	CHECK(messages[first].reports == 1 && messages[first].delivery == LND_NOT_DELIVERED);
	CHECK(messages[first + 1].reports == 1 &&
	      messages[first + 1].delivery == LND_NOT_DELIVERED);
	CHECK(messages[first].error == -EHOSTDOWN && messages[first + 1].error == -EHOSTDOWN);
	FAILS(LND_E_PEER_DOWN, submit(c, 0, LND_PUT, 100, SECOND, 0));
	both_know_each_other();

	/* The peer that took the place has gone: there is room again. */
	host_stop(1, SECOND);
	go_on(30 * SECOND);
	first = message_count;
	MUST(submit(c, 0, LND_PUT, 100, 10 * SECOND, 0));
	MUST(submit(c, 0, LND_GET, 10001, 10 * SECOND, 0));
	go_on(10 * SECOND);
	all_good_since(first);
	close_all();
	printf("naive_pair: full table\n");
}

/* A host shuts down with traffic both ways, at once or with time for what is under way. */
static void shutdowns(void)
{
	uint32_t how, at, first;

	for (how = 0; how < 8; how++) {
		open_all(2);
		both_know_each_other();
		if (how & 4)
			b->habit = KEEP;
		first = message_count;
		for (at = 0; at < 3; at++)
			all_kinds(20 * SECOND);
		go_on(how & 1 ? 0 : 30000);
		host_stop(0, how & 2 ? SECOND : 0);
		go_on(how & 1 ? SECOND : MS);
		host_start(0);
		go_on(30 * SECOND);
		CHECK(how != 2 || good_since(first));
		b->habit = TAKE;
		answer_kept(b, TAKE);
		go_on(SECOND);
		both_know_each_other();
		close_all();
	}
	printf("naive_pair: shutdowns\n");
}

/*
 * A frame that waits may have the driver do something later: the host, which sleeps until the time
 * that its last run gave, is told. Here the hello that the frame leads to finds no room at first.
 */
static void a_frame_that_waits(void)
{
	uint32_t first;

	open_all(2);
	both_know_each_other();
	go_on(30 * SECOND);
	time_first = 1;
	a->paused = 1;
	first = message_count;
	MUST(submit(b, 0, LND_PUT, 100, 60 * SECOND, 0));
	go_on(SECOND);
	MUST(lnd_peer_event(a->ni, nid_of(1), 0, now));
	a->paused = 0;
	room = 0;
	go_on(2000);
	CHECK(queues[1][0][LND_LANE_REQUEST].waits);
	room = ROOM;
	go_on(300 * SECOND);
	CHECK(messages[first].reports && messages[first].delivery == LND_DELIVERED &&
	      messages[first].seen);
	close_all();
	printf("naive_pair: a frame that waits\n");
}

int main(void)
{
	for (at_once = 0; at_once < 2; at_once++) {
		first_contact();
		restarts();
		pauses();
		wrong_peer_down();
		links();
		few_slots();
		versions_apart();
		full_table();
		shutdowns();
		a_frame_that_waits();
	}
	CHECK(ended_at_once);
	printf("naive_pair: %u delivered, %u not delivered, %u perhaps\n", delivered, denied,
	       unsure);
	return 0;
}
