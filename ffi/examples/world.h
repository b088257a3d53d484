/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A small LND host in user space: two nodes on one software fabric, all in one thread and in
 * virtual time. The examples show its use; world.c shows its parts.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdio.h>
#include <stdlib.h>

#include <lnd.h>
#include <lnd_soft.h>

#define LINKS 2
#define WINDOW (1u << 20)	/* payload bytes of a node */
#define MS 1000000ull		/* ns */

/* This upper layer's header. */
struct header {
	uint64_t addr;		/* offset in the other side's window */
	uint32_t len;
	uint32_t reserved;
};

struct world;

/* One node: its NI, its membership in the fabric, its engines. */
struct node {
	struct world *world;
	uint32_t number;
	struct lnd_ni *ni;
	struct lnd_soft_node *soft_node;
	struct lnd_soft_engine *engine[LINKS];
	void *ni_memory;
	void *soft_node_memory;
	void *engine_memory[LINKS];
	unsigned char *frame;
	unsigned char *window;
	uint64_t next;		/* time of the next lnd_run() */
	unsigned int woken;	/* lnd_run() must be called at once */
	int dead;		/* killed: no part of it runs */

	/* State for the examples to check. */
	unsigned int reports;
	unsigned int failures;
	struct lnd_report last;
	uint32_t peer_state;	/* last event of the other node */
	uint32_t link_state[LINKS];
	unsigned int bugs;
	unsigned int at_once;	/* messages that ended within the call */
	int refuse;		/* refuse every request */
};

/* The upper layer's handling of a peer's request; returns the error of the call that decided it. */
typedef enum lnd_error decision(struct node *node, const struct lnd_arrival *arrival);

struct world {
	void *region;
	void *fabric_memory;
	struct lnd_soft_fabric *fabric;
	struct node node[2];
	uint64_t now;
	uint64_t patience;	/* ns, of messages and engines' retries; set before world_open() */
	uint32_t slots;		/* of each NI, 0: 64; set before world_open() */
	uint32_t immediate_max;	/* of each NI, 0: the usual one; set before world_open() */
	uint32_t flags;		/* more of lnd_config.flags; set before world_open() */
	decision *decide;	/* NULL: node_decide(); set before world_open() */
};

/* Ends the program with a message unless a call returns the expected result. */
#define MUST(call) must((call), LND_OK, #call, __FILE__, __LINE__)
#define FAILS(error, call) must((call), (error), #call, __FILE__, __LINE__)
#define CHECK(fact)                                                                    \
	do {                                                                           \
		if (!(fact)) {                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #fact); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

void must(enum lnd_error got, enum lnd_error wanted, const char *call, const char *file, int line);

void *memory(size_t bytes);
void world_open(struct world *world, const struct lnd_ops *ops);
void world_close(struct world *world);

/* Runs everything for @span ns, or until *@value has reached @wanted. Returns whether it has. */
int world_run(struct world *world, uint64_t span, const unsigned int *value, unsigned int wanted);

/* The operations of a node of this world; world_open() uses them for NULL. */
struct lnd_ops world_ops(void);
struct lnd_config node_config(struct node *node);

/* Decides a request by its header. */
decision node_decide;

/* A transfer's one end: from finalize(), or from the call that returns LND_DONE. */
void node_ended(struct node *node, const struct lnd_report *report);

/* The pieces of a node's loop; each returns whether there was work. */
int node_engine(struct node *node, uint32_t link, uint64_t now);
int node_frames(struct node *node, uint64_t now);

/* A frame of another node, and the decision if it is a request. LND_OK: its place is free. */
enum lnd_error node_frame(struct node *node, uint32_t link, uint64_t sender, const void *frame,
			  size_t len, uint64_t now);

/* A message of this node, of enum lnd_kind. LND_OK also if it has already ended. */
enum lnd_error node_send(struct node *node, uint32_t kind, uint64_t ours, uint64_t theirs,
			 uint32_t len, uint64_t now, struct lnd_transfer *transfer);

/* PUT: @len bytes at @from of this node's window go to @to of the other's. GET: the reverse. */
enum lnd_error node_put(struct node *node, uint64_t from, uint64_t to, uint32_t len,
			struct lnd_transfer *transfer);
enum lnd_error node_get(struct node *node, uint64_t to, uint64_t from, uint32_t len,
			struct lnd_transfer *transfer);

void fill(unsigned char *bytes, size_t len, unsigned int seed);
int filled(const unsigned char *bytes, size_t len, unsigned int seed);

#endif
