// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A node of the fabric in a process of the host, written like the kernel module against lnd.h and
 * lnd_soft.h: one thread that polls, plays its engines, answers PUT and GET (upper.c), and makes
 * some.
 *
 *   host format FILE NODES LINKS DESCRIPTORS WINDOW_MIB   makes a fabric
 *   host node FILE NUMBER PEER COUNT SECONDS              is node NUMBER, sends COUNT messages to
 *   PEER,
 *                                                         and stays until it was asked once more
 *                                                         than that
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

struct me me;

static void *memory(size_t bytes)
{
	void *it = NULL;

	if (posix_memalign(&it, 4096, bytes))
		exit(1);
	memset(it, 0, bytes);
	return it;
}

static void *map(const char *file, size_t *bytes)
{
	int fd = open(file, O_RDWR);
	struct stat st;
	void *base;

	if (fd < 0 || fstat(fd, &st)) {
		perror(file);
		exit(1);
	}
	*bytes = st.st_size;
	base = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	close(fd);
	return base;
}

static int format(char **args)
{
	struct lnd_soft_shape shape;
	size_t need, bytes = 1;
	int fd;

	must(lnd_soft_shape_init(&shape, atoi(args[1]), atoi(args[2]), atoi(args[3]),
				 (uint64_t)atoi(args[4]) << 20), "shape");
	need = lnd_soft_region_size(&shape);
	/* A PCI BAR is a power of two. */
	while (bytes < need)
		bytes <<= 1;
	fd = open(args[0], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, bytes)) {
		perror(args[0]);
		return 1;
	}
	close(fd);
	must(lnd_soft_format(map(args[0], &bytes), bytes, &shape), "format");
	printf("%zu MiB\n", bytes >> 20);
	return 0;
}

static void join(const char *file)
{
	struct lnd_soft_join_args args = { .size = sizeof(args), .node = me.number,
					   .random = now(), .features = ~0u };
	struct lnd_soft_shape shape = { .size = sizeof(shape) };
	struct lnd_config config;
	void *base, *window;
	uint64_t len;
	size_t bytes;

	base = map(file, &bytes);
	must(lnd_soft_attach(memory(lnd_soft_fabric_size()), lnd_soft_fabric_size(), base, bytes,
			     &me.fabric), "attach");
	must(lnd_soft_shape_get(me.fabric, &shape), "shape");
	me.links = shape.links;
	bytes = lnd_soft_node_size(me.fabric);
	must(lnd_soft_join(memory(bytes), bytes, me.fabric, &args, &me.node), "join");
	must(lnd_soft_prepare(me.node), "prepare");
	must(lnd_soft_window(me.fabric, me.number, &window, &len), "window");
	me.window = window;
	must(lnd_config_init(&config, LND_ABI_VERSION, shape.descriptors, shape.nodes, shape.links),
	     "config");
	config.nid = lnd_soft_nid(me.number);
	config.incarnation = lnd_soft_incarnation(me.node);
	config.flags |= LND_RELIABLE;
	for (uint32_t i = 0; i < me.links; i++) {
		struct lnd_soft_link link = { .size = sizeof(link) };

		must(lnd_soft_link_get(me.fabric, me.number, i, &link), "link");
		config.rings[i].base = link.base;
		config.rings[i].len = link.len;
	}
	bytes = lnd_ni_size(&config);
	must(lnd_ni_create(memory(bytes), bytes, &config, &ops, NULL, &me.ni), "create");
	bytes = lnd_soft_engine_size();
	for (uint32_t i = 0; i < me.links; i++)
		must(lnd_soft_engine_create(memory(bytes), bytes, me.node, i, 0, 0, &me.engine[i]),
		     "engine");
	must(lnd_soft_announce(me.node, NULL), "announce");
}

/* One round of everything there is to do. */
static void poll(void)
{
	struct lnd_soft_node_info info = { .size = sizeof(info) };

	while (!lnd_soft_watch(me.node, &info))
		lnd_peer_event(me.ni, lnd_soft_nid(info.node), info.state == LND_SOFT_ALIVE, now());
	for (;;) {
		struct lnd_soft_arrival arrival = { .size = sizeof(arrival) };
		struct lnd_arrival request = { .size = sizeof(request) };
		enum lnd_error error;

		if (lnd_soft_receive(me.node, 16, me.frame, sizeof(me.frame), &arrival))
			break;
		error = lnd_frame_in(me.ni, arrival.link, lnd_soft_nid(arrival.from), me.frame,
				     arrival.len, now(), &request);
		if (error == LND_REQUEST)
			decide(&request);
		if (error != LND_E_WAIT)
			lnd_soft_release(me.node);
	}
	for (uint32_t i = 0; i < me.links; i++) {
		struct lnd_soft_progress progress = { .size = sizeof(progress) };

		must(lnd_soft_engine_step(me.engine[i], now(), 64, &progress), "step");
		if (progress.interrupts)
			lnd_interrupt(me.ni, i, 64, now(), NULL);
	}
	lnd_run(me.ni, now(), 64, NULL);
}

static void make(unsigned int count, uint32_t peer)
{
	struct lnd_soft_node_info info = { .size = sizeof(info) };
	uint64_t seed = now() * 6364136223846793005ull + me.sent;
	uint32_t kind = me.sent & 1 ? LND_GET : LND_PUT;
	uint32_t length = (uint32_t)(seed >> 33) % ((BUFFER >> (me.sent % 16)) - 1) + 1;
	struct op *op;

	if (me.sent >= count || me.sent - me.ok - me.failed >= 4)
		return;
	if (lnd_soft_node_get(me.fabric, peer, &info) || info.state != LND_SOFT_ALIVE)
		return;
	op = take(kind, length, seed);
	if (!op)
		return;
	op->ours = 1;
	op->ends = 1;
	if (kind == LND_PUT)
		fill(op);
	if (submit(op, kind, lnd_soft_nid(peer)))
		op->busy = 0;
	else
		me.sent++;
}

static int node(char **args)
{
	unsigned int count = atoi(args[3]);
	uint32_t peer = atoi(args[2]);
	uint64_t end;
	uint32_t state = 0;

	me.number = atoi(args[1]);
	join(args[0]);
	printf("node %u is up\n", me.number);
	fflush(stdout);
	end = now() + atoi(args[4]) * 1000000000ull;
	/* The peer asks once more when all has ended for it: our goodbye overtakes nothing. */
	while (now() < end && (me.ok + me.failed < count || me.asked <= count)) {
		poll();
		make(count, peer);
		usleep(50);
	}
	lnd_shutdown(me.ni, now(), now() + 1000000000);
	for (end = now() + 120000000000ull; now() < end && state != LND_QUIESCENT;) {
		poll();
		lnd_run_state_get(me.ni, &state);
	}
	must(lnd_ni_destroy(me.ni), "destroy");
	for (uint32_t i = 0; i < me.links; i++)
		must(lnd_soft_engine_destroy(me.engine[i]), "engine");
	must(lnd_soft_leave(me.node, NULL), "leave");
	printf("%u sent, %u ok, %u failed, %u asked, %u verified, %u corrupt, %u bugs\n", me.sent,
	       me.ok, me.failed, me.asked, me.verified, me.corrupt, me.bugs);
	return me.ok != count || me.failed || me.asked <= count || me.corrupt || me.bugs;
}

int main(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[1], "format"))
		return format(argv + 2);
	if (argc == 7 && !strcmp(argv[1], "node"))
		return node(argv + 2);
	fputs("host format FILE NODES LINKS DESCRIPTORS WINDOW_MIB\n"
	      "host node FILE NUMBER PEER COUNT SECONDS\n", stderr);
	return 2;
}
