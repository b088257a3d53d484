/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* node.h - a node: an NI, and an upper layer that knows the expected results. */
#ifndef NODE_H
#define NODE_H

#include "platform.h"

struct ledger {
	uint32_t accepted, ok, failed, refused, arrived, corrupt, violations, cause;
};

struct node {
	uint32_t number; /* first: the platform's operations read it */
	struct lnd_ni *ni;
	struct ledger ledger;
	uint32_t hold; /* decisions on large messages are postponed */
	uint32_t held;
	uint32_t open;
	uint64_t next; /* time of the next lnd_run() */
	struct lnd_transfer last;
	volatile uint32_t interrupts;
};

extern struct node nodes[2];

/* Creates both nodes. Returns 0, or the error. Context: thread, once. */
const char *nodes_create(void);
/* Sends a message; 1 if it was accepted. Context: thread. */
int node_start(struct node *node, enum op op, uint32_t number, uint32_t offset, uint32_t length);
/* Does all work that is due; 1 if there was any. Context: thread. */
int node_poll(struct node *node, uint64_t now);
/* Makes the postponed decisions. */
void node_let_go(struct node *node);
/* Whether no transfer is under way. */
int node_idle(const struct node *node);
/* Bytes of an NI with 64 bytes inline, and of its link's memory. */
size_t node_ni_bytes(void);
size_t node_ring_bytes(void);

#endif
