/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* node.h - a node: an NI, and an upper layer that knows what it expects. */
#ifndef NODE_H
#define NODE_H

#include "platform.h"

#define SLOTS 16U
#define PEERS 4U
/* Bytes for an NI of the configuration below; lnd_ni_create() says if they do not do. */
#define NI_BYTES 12288U

struct ledger {
	uint32_t accepted, ok, failed, refused, arrived, corrupt, violations, cause;
};

struct node {
	uint32_t number; /* first: what the platform's operations look at */
	struct lnd_ni *ni;
	struct ledger ledger;
	uint32_t hold; /* verdicts on large messages are put off */
	uint32_t held;
	uint32_t open;
	uint64_t next; /* when lnd_run() is to be called again */
	struct lnd_transfer last;
	volatile uint32_t interrupts;
};

extern struct node nodes[2];

/* Makes both nodes. 0, or what went wrong. Context: thread, once. */
const char *nodes_create(void);
/* Sends a message; 1 if it was accepted. Context: thread. */
int node_start(struct node *node, enum op op, uint32_t number, uint32_t offset, uint32_t length);
/* Does what can be done now; 1 if something was. Context: thread. */
int node_poll(struct node *node, uint64_t now);
/* Gives the verdicts that were put off. */
void node_let_go(struct node *node);
/* Nothing is under way. */
int node_idle(const struct node *node);
/* Bytes that an NI needs if 64 bytes travel inside of a message, and of its link's memory. */
size_t node_ni_bytes(void);
size_t node_ring_bytes(void);

#endif
