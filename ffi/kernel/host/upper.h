/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the host asks of the upper layer. The upper layer of a module is chosen when it is linked:
 * client/, or ../lnet.
 */
#ifndef LND_HOST_UPPER_H
#define LND_HOST_UPPER_H

#include "lnd_host.h"

/* The file of each fabric in debugfs, and the words that it takes. */
extern const char *const lnd_upper_name;
void lnd_upper_show(struct seq_file *file, struct lnd_host_fabric *fabric);
int lnd_upper_command(struct lnd_host_fabric *fabric, char *line);

/* The messages of a node that have not ended, and further words of its file "control". */
void lnd_upper_transfers(struct seq_file *file, struct lnd_host_node *node);
int lnd_upper_control(struct lnd_host_node *node, char *line);

/* Context: thread, at load and at unload. */
int lnd_upper_init(void);
void lnd_upper_exit(void);

/*
 * A region has been attached, and starts its nodes now or later; or it is about to be detached, and
 * has no node afterwards. Context: thread.
 */
int lnd_upper_add(struct lnd_host_fabric *fabric);
void lnd_upper_remove(struct lnd_host_fabric *fabric);

/* Memory for node->upper, once for each node. Context: thread. */
int lnd_upper_alloc(struct lnd_host_node *node);
void lnd_upper_free(struct lnd_host_node *node);

/*
 * A node is about to start: changes its configuration. Returns 0, or a negative errno if it must
 * not start. Context: thread, with fabric->control.
 */
int lnd_upper_config(struct lnd_host_node *node, struct lnd_config *config);

/*
 * All in the node's thread, with nothing held; none of them waits for memory.
 *
 * lnd_upper_ready: whether there is memory for the next request. If not, the node must be woken
 *                  when there is.
 * lnd_upper_request: decides on a peer's request, or keeps it. False: it stays in its mailbox, and
 *                  is offered again.
 * lnd_upper_report: the one end of a transfer.
 * lnd_upper_event: a peer, a link or a connection has changed.
 * lnd_upper_run: timers that are due at @now. Returns when it is next to be called.
 * lnd_upper_quiescent: the library's NI has ended all transfers, and no report will follow.
 */
bool lnd_upper_ready(struct lnd_host_node *node);
bool lnd_upper_request(struct lnd_host_node *node, const struct lnd_arrival *arrival);
void lnd_upper_report(struct lnd_host_node *node, const struct lnd_report *report);
void lnd_upper_event(struct lnd_host_node *node, const struct lnd_event *event);
u64 lnd_upper_run(struct lnd_host_node *node, u64 now);
void lnd_upper_quiescent(struct lnd_host_node *node);

/*
 * lnd_upper_halt: the node's thread and engines have ended; the upper layer's own for this node end
 *                 here.
 * lnd_upper_left: the node has left in good order. Messages that no report has ended are allowed
 *                 only if they were never accepted.
 * lnd_upper_drop: ends what no report has ended: the node was killed, or never started.
 *
 * Context: thread, with node->incarnation held for writing.
 */
void lnd_upper_halt(struct lnd_host_node *node);
void lnd_upper_left(struct lnd_host_node *node);
void lnd_upper_drop(struct lnd_host_node *node);

#endif
