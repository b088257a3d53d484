// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Peer: DPDK's rings of pointers between two threads, one item at a time.
 *
 * lat N: one item there over one ring and back over another. Prints nanoseconds one way.
 * rate N: items through one ring, one producer and one consumer. Prints nanoseconds an item.
 * rate2 N: through one ring of several producers, one on each side, the consumer's own thread being
 * the second. Prints nanoseconds an item.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#define SLOTS 1024

static struct rte_ring *there, *back;
static uintptr_t many;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static struct rte_ring *ring(const char *name, unsigned int flags)
{
	struct rte_ring *made = rte_ring_create(name, SLOTS, SOCKET_ID_ANY, flags);

	if (!made) {
		fprintf(stderr, "%s: no ring\n", name);
		exit(1);
	}
	return made;
}

/* The next item, which has to be the one that is due. */
static void take(struct rte_ring *from, uintptr_t due)
{
	void *item;

	while (rte_ring_dequeue(from, &item))
		;
	if ((uintptr_t)item != due) {
		fprintf(stderr, "another item than was sent\n");
		exit(1);
	}
}

static void send(struct rte_ring *to, uintptr_t item)
{
	while (rte_ring_enqueue(to, (void *)item))
		;
}

static int echo(void *unused)
{
	(void)unused;
	for (uintptr_t item = 1; item <= many; item++) {
		take(there, item);
		send(back, item);
	}
	return 0;
}

static int take_all(void *unused)
{
	(void)unused;
	for (uintptr_t item = 1; item <= many; item++)
		take(there, item);
	return 0;
}

/* Puts one half itself: its own items are even, the others' odd. */
static int take_both(void *unused)
{
	uintptr_t taken = 0, sent = 0, last[2] = {0, 0};
	void *item;

	(void)unused;
	while (taken < many) {
		if (sent < many / 2 && !rte_ring_enqueue(there, (void *)(2 * (sent + 1))))
			sent++;
		if (rte_ring_dequeue(there, &item))
			continue;
		taken++;
		if ((uintptr_t)item <= last[(uintptr_t)item & 1]) {
			fprintf(stderr, "items of one producer in another order\n");
			exit(1);
		}
		last[(uintptr_t)item & 1] = (uintptr_t)item;
	}
	return 0;
}

int main(int count, char **arguments)
{
	/* This version has no --in-memory without huge pages: their files would be shared. */
	char *eal[] = {"dpdk", "-l", "0,1", "--no-huge", "--no-shconf", "--no-pci",
		       "--no-telemetry", "--log-level=error", NULL};
	const char *what = count == 3 ? arguments[1] : "";
	int lat = !strcmp(what, "lat"), both = !strcmp(what, "rate2");
	double begin, passed;

	if (!lat && !both && strcmp(what, "rate")) {
		fprintf(stderr, "dpdk lat|rate|rate2 N\n");
		return 2;
	}
	many = strtoul(arguments[2], NULL, 10) / 2 * 2;
	if (!many || rte_eal_init(8, eal) < 0 || rte_lcore_count() != 2) {
		fprintf(stderr, "dpdk: it does not begin on two processors\n");
		return 1;
	}
	there = ring("there", both ? RING_F_SC_DEQ : RING_F_SP_ENQ | RING_F_SC_DEQ);
	back = ring("back", RING_F_SP_ENQ | RING_F_SC_DEQ);
	begin = now();
	rte_eal_remote_launch(lat ? echo : both ? take_both : take_all, NULL,
			      rte_get_next_lcore(-1, 1, 0));
	for (uintptr_t item = 1; item <= (both ? many / 2 : many); item++) {
		send(there, both ? 2 * item - 1 : item);
		if (lat)
			take(back, item);
	}
	rte_eal_mp_wait_lcore();
	passed = now() - begin;
	printf("%.3f\n", passed / many / (lat ? 2 : 1));
	return 0;
}
