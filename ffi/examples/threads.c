// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The same host with threads: each node has one that runs the NI, one for its engines and their
 * interrupts, and two that submit. The NI's lock is a mutex, and then the library's own lock;
 * deadlines are in real time.
 */
#define _GNU_SOURCE
#include "world.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES 400u	/* of each submitter */
#define SUBMITTERS 2u
#define PIECE 24576u	/* bytes of window a submitter has for each message in flight */
#define DEPTH 8u	/* messages in flight of each submitter */

static struct world world;
static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static int stop;
static unsigned int ended[2][SUBMITTERS], lost[2][SUBMITTERS];

struct submitter {
	pthread_t thread;
	struct node *node;
	unsigned int number;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static void lock(void *ctx)
{
	struct node *node = ctx;

	pthread_mutex_lock(&locks[node->number]);
}

static void unlock(void *ctx)
{
	struct node *node = ctx;

	pthread_mutex_unlock(&locks[node->number]);
}

static uint32_t self_id(void *ctx)
{
	(void)ctx;
	return (uint32_t)gettid();
}

static void wake(void *ctx)
{
	struct node *node = ctx;

	__atomic_store_n(&node->woken, 1, __ATOMIC_RELEASE);
}

static void event(void *ctx, const struct lnd_event *event)
{
	(void)ctx;
	(void)event;
}

static void bug(void *ctx, const char *what)
{
	(void)ctx;
	fprintf(stderr, "bug: %s\n", what);
	abort();
}

/*
 * Each submitter's part of the window, one piece per message in flight; the report returns its
 * number.
 */
static void finalize(void *ctx, const struct lnd_report *report)
{
	struct node *node = ctx;
	unsigned int owner = (unsigned int)(report->user / (DEPTH * PIECE));

	/* Reports of the peer's requests belong to no submitter. */
	if (report->role >= LND_ROLE_INLINE_SINK)
		return;
	CHECK(owner < SUBMITTERS);
	if (report->error)
		__atomic_fetch_add(&lost[node->number][owner], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ended[node->number][owner], 1, __ATOMIC_RELEASE);
}

static void *run(void *argument)
{
	struct node *node = argument;
	uint64_t next = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		int busy = node_frames(node, now());

		if (__atomic_exchange_n(&node->woken, 0, __ATOMIC_ACQ_REL) || next <= now())
			MUST(lnd_run(node->ni, now(), 64, &next));
		else if (!busy)
			sched_yield();
	}
	return NULL;
}

static void *engines(void *argument)
{
	struct node *node = argument;
	uint32_t link;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		int busy = 0;

		for (link = 0; link < LINKS; link++)
			busy |= node_engine(node, link, now());
		if (!busy)
			sched_yield();
	}
	return NULL;
}

static void *submit(void *argument)
{
	struct submitter *me = argument;
	unsigned int *done = &ended[me->node->number][me->number];
	unsigned int sent = 0;

	while (sent < MESSAGES) {
		uint64_t piece = (uint64_t)(me->number * DEPTH + sent % DEPTH) * PIECE;
		uint32_t kind = sent % 3 == 2 ? LND_GET : LND_PUT;
		uint32_t len = sent % 3 ? PIECE : 64 + sent;
		enum lnd_error error;

		/*
		 * A piece is lent until its message has ended, and messages may end out of order.
		 */
		if (sent % DEPTH == 0)
			while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < sent)
				sched_yield();
		error = node_send(me->node, kind, piece, WINDOW / 2 + piece, len, now(), NULL);
		if (error == LND_E_NO_SLOTS) {
			sched_yield();
			continue;
		}
		MUST(error);
		sent++;
	}
	while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < sent)
		sched_yield();
	return NULL;
}

/* Each node has a lock of this program, or it uses the library's. */
static void messages(int ours)
{
	struct submitter submitters[2][SUBMITTERS];
	pthread_t runners[2], movers[2];
	struct lnd_ops ops = world_ops();
	unsigned int number, at;

	memset(&world, 0, sizeof(world));
	memset(ended, 0, sizeof(ended));
	memset(lost, 0, sizeof(lost));
	stop = 0;
	if (ours) {
		ops.lock = lock;
		ops.unlock = unlock;
	}
	ops.self_id = self_id;
	ops.wake = wake;
	ops.event = event;
	ops.bug = bug;
	ops.finalize = finalize;
	/* Checkers are slow, and so are busy machines. */
	world.patience = 300000 * MS;
	world_open(&world, &ops);
	for (number = 0; number < 2; number++) {
		CHECK(!pthread_create(&runners[number], NULL, run, &world.node[number]));
		CHECK(!pthread_create(&movers[number], NULL, engines, &world.node[number]));
		for (at = 0; at < SUBMITTERS; at++) {
			submitters[number][at].node = &world.node[number];
			submitters[number][at].number = at;
			CHECK(!pthread_create(&submitters[number][at].thread, NULL, submit,
					      &submitters[number][at]));
		}
	}
	for (number = 0; number < 2; number++)
		for (at = 0; at < SUBMITTERS; at++)
			pthread_join(submitters[number][at].thread, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (number = 0; number < 2; number++) {
		pthread_join(runners[number], NULL);
		pthread_join(movers[number], NULL);
		for (at = 0; at < SUBMITTERS; at++)
			CHECK(ended[number][at] == MESSAGES && !lost[number][at]);
		MUST(lnd_audit(world.node[number].ni));
	}
	printf("threads: %u messages, %s lock, each reported once, none lost\n",
	       2 * SUBMITTERS * MESSAGES, ours ? "our" : "the library's");
	/* The rest needs no threads; virtual time continues from here. */
	world.now = now();
	world.node[0].next = world.node[1].next = 0;
	world_close(&world);
}

int main(void)
{
	messages(1);
	messages(0);
	return 0;
}
