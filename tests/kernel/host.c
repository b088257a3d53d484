// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A node of the fabric in a process of the host, written like the kernel module against lnd.h and
 * lnd_soft.h: one thread that polls, plays its engines, answers PUT and GET, and makes some.
 *
 *   host format FILE NODES LINKS DESCRIPTORS WINDOW_MIB   makes a fabric
 *   host node FILE NUMBER PEER COUNT SECONDS              is node NUMBER, sends COUNT messages to PEER,
 *                                                         and stays until it was asked as often
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "lnd.h"
#include "lnd_soft.h"

#define BUFFERS	64
#define BUFFER	(128u << 10)
#define LINKS	4
#define DEADLINE	(5ull * 1000000000)

struct op {
	int busy;
	uint32_t kind;
	uint32_t length;
	uint64_t seed;
	int ours;
	int ends;	/* reports that are still to come */
	int answered;
};

static struct {
	struct lnd_soft_fabric *fabric;
	struct lnd_soft_node *node;
	struct lnd_ni *ni;
	struct lnd_soft_engine *engine[LINKS];
	uint32_t number, links, slots;
	uint8_t *window;
	struct op op[BUFFERS];
	unsigned int sent, ok, failed, asked, verified, corrupt, bugs;
	char frame[65536];
} me;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void must(enum lnd_error error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, lnd_error_name(error));
		exit(1);
	}
}

static void *memory(size_t bytes)
{
	void *it = NULL;

	if (posix_memalign(&it, 4096, bytes))
		exit(1);
	memset(it, 0, bytes);
	return it;
}

/* The buffer of a message: its place in the window. */
static struct lnd_frag place(const struct op *op)
{
	struct lnd_frag frag = { .addr = (uint64_t)(op - me.op) * BUFFER, .len = op->length };

	return frag;
}

static struct op *take(uint32_t kind, uint32_t length, uint64_t seed)
{
	for (unsigned int i = 0; i < BUFFERS; i++) {
		struct op *op = &me.op[i];

		if (op->busy || length > BUFFER)
			continue;
		memset(op, 0, sizeof(*op));
		op->busy = 1;
		op->kind = kind;
		op->length = length;
		op->seed = seed;
		return op;
	}
	return NULL;
}

static void fill(const struct op *op)
{
	uint8_t *bytes = me.window + place(op).addr;

	for (uint32_t at = 0; at < op->length; at++)
		bytes[at] = lnd_host_byte(op->seed, at);
}

static void verify(const struct op *op, uint32_t length)
{
	const uint8_t *bytes = me.window + place(op).addr;
	int good = length == op->length;

	for (uint32_t at = 0; at < op->length && good; at++)
		good = bytes[at] == lnd_host_byte(op->seed, at);
	if (good)
		me.verified++;
	else
		me.corrupt++;
}

static enum lnd_error submit(struct op *op, uint32_t kind, uint64_t nid)
{
	struct lnd_host_header header = {
		.magic = LND_HOST_MAGIC, .kind = kind, .length = op->length, .seed = op->seed,
	};
	struct lnd_frag frag = place(op);
	struct lnd_send_request request = {
		.size = sizeof(request), .kind = kind, .nid = nid, .link = LND_ANY_LINK,
		.header = &header, .header_len = sizeof(header), .frags = &frag, .nfrags = 1,
		.deadline = now() + DEADLINE, .user = op - me.op,
	};

	return lnd_submit(me.ni, &request, now(), NULL);
}

static enum lnd_error accept_it(struct op *op, const struct lnd_arrival *arrival, int give)
{
	struct lnd_frag frag = place(op);
	struct lnd_verdict verdict = {
		.size = sizeof(verdict), .frags = &frag, .nfrags = 1, .len = op->length,
		.deadline = now() + DEADLINE, .user = op - me.op,
	};

	op->ends++;
	if (give)
		return lnd_give(me.ni, arrival->request, &verdict, now(), NULL);
	return lnd_recv(me.ni, arrival->request, &verdict, now(), NULL);
}

static void parse(void *ctx, const struct lnd_arrival *arrival)
{
	struct lnd_host_header header;
	struct op *op = NULL;

	(void)ctx;
	memcpy(&header, arrival->header, sizeof(header));
	if (header.kind == LND_REPLY) {
		for (unsigned int i = 0; i < BUFFERS; i++)
			if (me.op[i].busy && me.op[i].ours && me.op[i].seed == header.seed)
				op = &me.op[i];
		if (op) {
			op->answered = 1;
			must(accept_it(op, arrival, 0), "reply");
			return;
		}
	} else {
		op = take(header.kind, header.length, header.seed);
	}
	if (!op) {
		lnd_refuse(me.ni, arrival->request, LND_REFUSE_NO_RESOURCES, now());
		return;
	}
	me.asked++;
	if (header.kind == LND_PUT) {
		must(accept_it(op, arrival, 0), "put");
		return;
	}
	fill(op);
	if (arrival->kind == LND_REQUEST_GET) {
		must(accept_it(op, arrival, 1), "get");
		return;
	}
	must(lnd_refuse(me.ni, arrival->request, LND_REFUSE_NO_MATCH, now()), "request");
	op->ends++;
	must(submit(op, LND_REPLY, arrival->nid), "reply");
}

static void finalize(void *ctx, const struct lnd_report *report)
{
	struct op *op = &me.op[report->user];

	(void)ctx;
	op->ends--;
	if (report->error) {
		me.failed++;
		fprintf(stderr, "failed: role %u error %d cause %u place %u\n", report->role,
			report->error, report->cause, report->place);
	} else if (report->role == LND_ROLE_PUT_SINK || report->role == LND_ROLE_INLINE_SINK ||
		 report->role == LND_ROLE_GET_PULL)
		verify(op, report->bytes);
	/* A GET that went as a mere header ends with its REPLY. */
	if (op->ours && op->kind == LND_GET && report->role == LND_ROLE_IMMEDIATE &&
	    !report->error && !op->answered)
		return;
	if (op->ends)
		return;
	if (op->ours && !report->error)
		me.ok++;
	op->busy = 0;
}

static uint32_t send_frame(void *ctx, const struct lnd_frame *frame)
{
	uint32_t sent = LND_SEND_FAILED;

	(void)ctx;
	lnd_soft_send(me.node, frame->link, frame->lane, lnd_soft_node_of(frame->nid), frame->bytes,
		      frame->len, &sent);
	return sent;
}

static uint32_t ready(void *ctx, uint32_t link, uint64_t nid, uint32_t lane)
{
	(void)ctx;
	return lnd_soft_ready(me.node, link, lane, lnd_soft_node_of(nid));
}

static uint32_t mem_read(void *ctx, uint64_t addr, void *to, uint32_t len)
{
	(void)ctx;
	return lnd_soft_read(me.fabric, me.number, addr, to, len);
}

static uint32_t mem_write(void *ctx, uint64_t addr, const void *from, uint32_t len)
{
	(void)ctx;
	return lnd_soft_write(me.fabric, me.number, addr, from, len);
}

static void bug(void *ctx, const char *what)
{
	(void)ctx;
	fprintf(stderr, "bug: %s\n", what);
	me.bugs++;
}

static const struct lnd_ops ops = {
	.size = sizeof(ops), .ready = ready, .send = send_frame, .mem_read = mem_read,
	.mem_write = mem_write, .parse = parse, .finalize = finalize, .bug = bug,
};

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
	config.life = lnd_soft_life(me.node);
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
		enum lnd_error error;

		if (lnd_soft_receive(me.node, 16, me.frame, sizeof(me.frame), &arrival))
			break;
		error = lnd_frame_in(me.ni, arrival.link, me.frame, arrival.len, now());
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
	while (now() < end && (me.ok + me.failed < count || me.asked < count)) {
		poll();
		make(count, peer);
		usleep(50);
	}
	/* Our goodbye would overtake our last answers. */
	for (end = now() + 500000000; now() < end; usleep(50))
		poll();
	lnd_shutdown(me.ni, now(), now() + 1000000000);
	for (end = now() + 10000000000ull; now() < end && state != LND_QUIESCENT;) {
		poll();
		lnd_run_state_get(me.ni, &state);
	}
	must(lnd_ni_destroy(me.ni), "destroy");
	for (uint32_t i = 0; i < me.links; i++)
		must(lnd_soft_engine_destroy(me.engine[i]), "engine");
	must(lnd_soft_leave(me.node, NULL), "leave");
	printf("%u sent, %u ok, %u failed, %u asked, %u verified, %u corrupt, %u bugs\n", me.sent, me.ok,
	       me.failed, me.asked, me.verified, me.corrupt, me.bugs);
	return me.ok != count || me.failed || me.asked < count || me.corrupt || me.bugs;
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
