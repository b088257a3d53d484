// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The least upper layer: messages of up to a page, sent by a word in debugfs, received and logged.
 * It compiles, loads, and is the place to begin another one:
 *
 *   make -C ffi/kernel LND_UPPER=skeleton && insmod ffi/kernel/lnd_skeleton.ko
 *   echo "put 4096" >/sys/kernel/debug/lnd_skeleton/loop/send
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "skeleton.h"

/* LNet would match here. Context: the node's thread, which may not wait for memory. */
bool lnd_upper_request(struct lnd_host_node *node, const struct lnd_arrival *arrival)
{
	struct lnd_skeleton_message *message = NULL;
	struct lnd_report report = { .size = sizeof(report) };
	struct lnd_decision decision = {
		.size = sizeof(decision),
		.len = arrival->len,
		.deadline = arrival->now + LND_SKELETON_DEADLINE,
	};
	enum lnd_error error;

	if (arrival->kind != LND_REQUEST_GET && arrival->len <= PAGE_SIZE)
		message = lnd_skeleton_new(node, arrival->len, true, LND_HOST_NO_WAIT);
	if (!message)
		return lnd_nak(node->ni, arrival->request, LND_NAK_NO_RESOURCES,
			       arrival->now) != LND_E_WAIT;
	decision.frags = message->map.frags;
	decision.nfrags = message->map.nfrags;
	decision.user = (uintptr_t)message;
	error = lnd_recv(node->ni, arrival->request, &decision, arrival->now, NULL, &report);
	if (!error)
		return true;
	if (error == LND_DONE)
		lnd_upper_report(node, &report);
	else
		lnd_skeleton_free(node, message);
	return error != LND_E_WAIT;
}

/* LNet would finalize here. Context: the node's thread, with nothing held. */
void lnd_upper_report(struct lnd_host_node *node, const struct lnd_report *report)
{
	struct lnd_skeleton_message *message = (void *)(uintptr_t)report->user;

	pr_info("node %u: %s %u bytes, error %d\n", node->number,
		message->received ? "received" : "sent", report->bytes, report->error);
	lnd_skeleton_free(node, message);
}

/* LNet would be notified here. Context: the node's thread. */
void lnd_upper_event(struct lnd_host_node *node, const struct lnd_event *event)
{
	if (event->kind == LND_EVENT_PEER)
		pr_info("node %u: peer %llu is in state %u\n", node->number, event->nid,
			event->state);
}

int lnd_upper_add(struct lnd_host_fabric *fabric)
{
	return lnd_host_fabric_start(fabric);
}

void lnd_upper_remove(struct lnd_host_fabric *fabric)
{
	lnd_host_debugfs_remove(fabric);
	lnd_host_fabric_stop(fabric);
}

bool lnd_upper_ready(struct lnd_host_node *node)
{
	return true;
}

u64 lnd_upper_run(struct lnd_host_node *node, u64 now)
{
	return LND_NEVER;
}

/* What this upper layer does not need: no state of a node, and no end of its own. */
int lnd_upper_init(void)
{
	return 0;
}

void lnd_upper_exit(void)
{
}

int lnd_upper_alloc(struct lnd_host_node *node)
{
	return 0;
}

void lnd_upper_free(struct lnd_host_node *node)
{
}

int lnd_upper_config(struct lnd_host_node *node, struct lnd_config *config)
{
	return 0;
}

void lnd_upper_quiescent(struct lnd_host_node *node)
{
}

void lnd_upper_halt(struct lnd_host_node *node)
{
}

void lnd_upper_left(struct lnd_host_node *node)
{
}

void lnd_upper_drop(struct lnd_host_node *node)
{
}

MODULE_LICENSE("Dual MIT/GPL");
MODULE_AUTHOR("The LND project's authors");
MODULE_DESCRIPTION("LND over software hardware: the least upper layer");
