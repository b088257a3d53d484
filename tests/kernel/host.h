/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The node in a process: what host.c and upper.c share. */
#ifndef LND_TEST_HOST_H
#define LND_TEST_HOST_H

#include <stdint.h>

#include "lnd.h"
#include "lnd_soft.h"

#define BUFFERS	64
#define BUFFER	(128u << 10)
#define LINKS	4
#define DEADLINE	(60ull * 1000000000)	/* of a message; that of the machines is shorter */

struct op {
	int busy;
	uint32_t kind;
	uint32_t length;
	uint64_t seed;
	int ours;
	int ends;	/* reports that are still to come */
	int answered;
};

struct me {
	struct lnd_soft_fabric *fabric;
	struct lnd_soft_node *node;
	struct lnd_ni *ni;
	struct lnd_soft_engine *engine[LINKS];
	uint32_t number, links, slots;
	uint8_t *window;
	struct op op[BUFFERS];
	unsigned int sent, ok, failed, asked, verified, corrupt, bugs;
	char frame[65536];
};

extern struct me me;

/* upper.c */
extern const struct lnd_ops ops;

uint64_t now(void);
void must(enum lnd_error error, const char *what);
struct op *take(uint32_t kind, uint32_t length, uint64_t seed);
void fill(const struct op *op);
enum lnd_error submit(struct op *op, uint32_t kind, uint64_t nid);
void decide(const struct lnd_arrival *arrival);

#endif
