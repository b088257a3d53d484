// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Requests of peers. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <net/sock.h>
#include <rdma/ib_cm.h>

#include "lnd_verbs.h"

#define BACKLOG	64

static int lnd_verbs_refuse(struct lnd_verbs_node *node, struct rdma_cm_id *id,
			    enum lnd_verbs_count why)
{
	lnd_verbs_count(node, LND_VERBS_REFUSED);
	if (why != LND_VERBS_REFUSED)
		lnd_verbs_count(node, why);
	rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
	/* rdma_cm destroys the id of a request whose handler fails. */
	return -ECONNREFUSED;
}

/*
 * A request. Its sender is the node of the address that it comes from, and must say so itself. The
 * port takes a privilege there: a user of that host may ask for anything, too. It is kept for the
 * worker, unless one waits there already.
 */
static int lnd_verbs_request(struct lnd_verbs_node *node, struct rdma_cm_id *id,
			     const struct rdma_cm_event *event)
{
	const struct sockaddr_in *from = (void *)&id->route.addr.dst_addr;
	const struct rdma_conn_param *param = &event->param.conn;
	struct lnd_verbs_peer *peer;
	struct lnd_verbs_hello hello;
	struct sockaddr_in address;
	bool known, taken = false;

	if (READ_ONCE(node->ending) || !param->private_data ||
	    param->private_data_len < sizeof(hello))
		return lnd_verbs_refuse(node, id, LND_VERBS_STRANGERS);
	memcpy(&hello, param->private_data, sizeof(hello));
	known = lnd_verbs_hello_good(node, &hello) && from->sin_family == AF_INET &&
		be64_to_cpu(hello.from) != node->nid &&
		lnd_verbs_where(be64_to_cpu(hello.from), &address) &&
		from->sin_addr.s_addr == address.sin_addr.s_addr &&
		ntohs(from->sin_port) < PROT_SOCK;
	if (!known)
		return lnd_verbs_refuse(node, id, LND_VERBS_STRANGERS);
	peer = lnd_verbs_peer_add(node, be64_to_cpu(hello.from));
	if (!peer)
		return lnd_verbs_refuse(node, id, LND_VERBS_REFUSED);
	spin_lock_bh(&peer->lock);
	if (!peer->incoming) {
		id->context = peer;
		id->event_handler = lnd_verbs_event;
		peer->incoming = id;
		peer->asked.hello = hello;
		peer->asked.reads = min(param->responder_resources, param->initiator_depth);
		taken = true;
	}
	spin_unlock_bh(&peer->lock);
	if (!taken)
		return lnd_verbs_refuse(node, id, LND_VERBS_REFUSED);
	lnd_verbs_kick(peer);
	return 0;
}

/* The listener's events. What it may get besides requests is of no use: a device comes, or goes. */
static int lnd_verbs_heard(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return lnd_verbs_request(id->context, id, event);
	return 0;
}

/**
 * lnd_verbs_listen() - Takes requests of peers.
 * @node: the node.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_verbs_listen(struct lnd_verbs_node *node)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = htons(lnd_verbs_port),
	};
	struct rdma_cm_id *id;
	int rc;

	id = lnd_host_fault(LND_HOST_AT_LISTENER) ?
		     ERR_PTR(-ENOMEM) :
		     rdma_create_id(&init_net, lnd_verbs_heard, node, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	rc = lnd_host_fault(LND_HOST_AT_LISTEN) ? -EADDRINUSE :
						  rdma_bind_addr(id, (struct sockaddr *)&any);
	rc = rc ?: rdma_listen(id, BACKLOG);
	if (rc) {
		pr_err("port %u of rdma_cm: errno %d\n", lnd_verbs_port, -rc);
		rdma_destroy_id(id);
		return rc;
	}
	node->listener = id;
	return 0;
}
