// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The trial of the illegal READ (S2-12). As a probe it needs no key: the access error is the sign
 * of life. It may be used only where it leaves both ends usable. So it is tried, once for a node,
 * over two queue pairs that are made for it and are each other's other end: no connection is at
 * stake. Soft-RoCE of Linux 6.1 takes both of them into error, and it stays off. READs of no bytes
 * (probe.c) need no trial.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "lnd_verbs.h"

#define BYTES	8	/* that are asked for where none may be read */
#define BOUND	(HZ / 2)	/* for each step; all of them in less than port.c waits */

struct lnd_verbs_trial {
	struct ib_cqe cqe;
	struct ib_cqe receive;
	struct completion ended;
	u32 status;	/* enum ib_wc_status of the last step */
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *end[2];
	u64 dma;
	u8 *bytes;
};

static void lnd_verbs_tried(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lnd_verbs_trial *trial = container_of(wc->wr_cqe, struct lnd_verbs_trial, cqe);

	trial->status = wc->status;
	complete(&trial->ended);
}

static void lnd_verbs_trial_received(struct ib_cq *cq, struct ib_wc *wc)
{
}

/* The ends are addressed as the peer's connection is, but for who is there. */
static int lnd_verbs_trial_join(struct lnd_verbs_trial *trial, const struct lnd_verbs_peer *peer,
				unsigned int end)
{
	static const enum ib_qp_state states[] = { IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS };
	unsigned int i;
	int rc = 0;

	for (i = 0; i < ARRAY_SIZE(states) && !rc; i++) {
		struct ib_qp_attr attr = { .qp_state = states[i] };
		int mask;

		rc = rdma_init_qp_attr(peer->id, &attr, &mask);
		if (rc)
			break;
		if (mask & IB_QP_AV) {
			attr.ah_attr.grh.dgid = attr.ah_attr.grh.sgid_attr->gid;
			ether_addr_copy(attr.ah_attr.roce.dmac,
					peer->id->route.addr.dev_addr.src_dev_addr);
		}
		attr.dest_qp_num = trial->end[!end]->qp_num;
		attr.rq_psn = 0;
		attr.sq_psn = 0;
		rc = ib_modify_qp(trial->end[end], &attr, mask);
	}
	return rc;
}

/* A receive of each end for the other one's SEND. */
static int lnd_verbs_trial_receive(struct lnd_verbs_trial *trial, unsigned int end)
{
	struct ib_sge sge = {
		.addr = trial->dma,
		.length = BYTES,
		.lkey = trial->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &trial->receive, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(trial->end[end], &wr, NULL);
}

static int lnd_verbs_trial_make(struct lnd_verbs_trial *trial, const struct lnd_verbs_peer *peer)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	unsigned int i;
	int rc = 0;

	attr.send_cq = trial->cq;
	attr.recv_cq = trial->cq;
	for (i = 0; i < 2; i++) {
		struct ib_qp *qp = ib_create_qp(trial->pd, &attr);

		if (IS_ERR(qp))
			return PTR_ERR(qp);
		trial->end[i] = qp;
	}
	for (i = 0; i < 2 && !rc; i++)
		rc = lnd_verbs_trial_join(trial, peer, i) ?: lnd_verbs_trial_receive(trial, i);
	return rc;
}

/* Posts to an end; returns how it ends, enum ib_wc_status. */
static u32 lnd_verbs_trial_step(struct lnd_verbs_trial *trial, unsigned int end,
				enum ib_wr_opcode opcode)
{
	struct ib_sge sge = {
		.addr = trial->dma,
		.length = BYTES,
		.lkey = trial->pd->local_dma_lkey,
	};
	/* No region has the key 0, nor is anything at the address 0. */
	struct ib_rdma_wr wr = {
		.wr.opcode = opcode,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.wr_cqe = &trial->cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
	};

	reinit_completion(&trial->ended);
	if (ib_post_send(trial->end[end], &wr.wr, NULL))
		return IB_WC_GENERAL_ERR;
	if (!wait_for_completion_timeout(&trial->ended, BOUND))
		return IB_WC_RESP_TIMEOUT_ERR;
	return trial->status;
}

/* All steps are made, also after one that has failed: what breaks is of interest. */
static void lnd_verbs_trial_run(struct lnd_verbs_trial *trial, struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_node *node = peer->node;
	struct ib_device *device = peer->device;

	trial->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(trial->pd))
		return;
	trial->cq = ib_alloc_cq_any(device, trial, 16, IB_POLL_SOFTIRQ);
	if (IS_ERR(trial->cq))
		goto out_pd;
	trial->dma = ib_dma_map_single(device, trial->bytes, BYTES, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(device, trial->dma))
		goto out_cq;
	if (!lnd_verbs_trial_make(trial, peer)) {
		node->trial[0] = lnd_verbs_trial_step(trial, 0, IB_WR_RDMA_READ);
		node->trial[1] = lnd_verbs_trial_step(trial, 0, IB_WR_SEND);
		node->trial[2] = lnd_verbs_trial_step(trial, 1, IB_WR_SEND);
		/* Pairs with the acquire in lnd_verbs_trial_result(). */
		smp_store_release(&node->tried, true);
	}
	if (trial->end[0])
		ib_destroy_qp(trial->end[0]);
	if (trial->end[1])
		ib_destroy_qp(trial->end[1]);
	ib_dma_unmap_single(device, trial->dma, BYTES, DMA_BIDIRECTIONAL);
out_cq:
	/* No completion is worked on afterwards. */
	ib_free_cq(trial->cq);
out_pd:
	ib_dealloc_pd(trial->pd);
}

/**
 * lnd_verbs_trial() - Tries the illegal READ, if that was not done yet.
 * @peer: a peer whose connection is established, on the device that is tried.
 *
 * Context: thread, the connection's worker: there is no close meanwhile.
 */
void lnd_verbs_trial(struct lnd_verbs_peer *peer)
{
	struct lnd_verbs_trial *trial;

	if (!rdma_protocol_roce(peer->device, peer->id->port_num) ||
	    atomic_cmpxchg(&peer->node->trials, 0, 1))
		return;
	trial = kzalloc(sizeof(*trial), GFP_KERNEL);
	if (!trial)
		return;
	/* A device writes to it: memory of its own. */
	trial->bytes = kzalloc(BYTES, GFP_KERNEL);
	init_completion(&trial->ended);
	trial->cqe.done = lnd_verbs_tried;
	trial->receive.done = lnd_verbs_trial_received;
	if (trial->bytes)
		lnd_verbs_trial_run(trial, peer);
	kfree(trial->bytes);
	kfree(trial);
}

/**
 * lnd_verbs_trial_result() - What the trial has found.
 * @node: the node.
 *
 * Context: any.
 * Return: a word; "passed" if illegal READs may be used.
 */
const char *lnd_verbs_trial_result(const struct lnd_verbs_node *node)
{
	/* Pairs with the release in lnd_verbs_trial_run(). */
	if (!smp_load_acquire(&node->tried))
		return "not_tried";
	if (node->trial[0] != IB_WC_REM_ACCESS_ERR)
		return "wrong_end";
	if (node->trial[1] != IB_WC_SUCCESS && !lnd_verbs_defect("lenient"))
		return "near_end_broken";
	return node->trial[2] == IB_WC_SUCCESS ? "passed" : "far_end_broken";
}
