// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The platform's operations. The context of each is in lnd.h at struct lnd_ops.
 */
#include "lnd_host.h"

#define CREATE_TRACE_POINTS
#include "lnd_trace.h"

static u32 lnd_host_reg_read32(void *ctx, u32 link, u32 offset)
{
	struct lnd_host_node *node = ctx;

	/* A bus reads so if its device was removed, or does not answer in time. */
	if (READ_ONCE(node->link[link].gone))
		return U32_MAX;
	return lnd_soft_reg_read32(node->fabric->region, node->number, link, offset);
}

static void lnd_host_reg_write32(void *ctx, u32 link, u32 offset, u32 value)
{
	struct lnd_host_node *node = ctx;

	if (READ_ONCE(node->link[link].gone))
		return;
	if (lnd_soft_reg_write32(node->fabric->region, node->number, link, offset, value))
		lnd_host_link_kick(&node->link[link]);
}

static void lnd_host_dma_barrier(void *ctx)
{
	/* The device is another processor: it sees what the other kernel's processors see. */
	mb();
}

static u32 lnd_host_reaches(void *ctx, u64 nid)
{
	struct lnd_host_node *node = ctx;
	u32 to = lnd_soft_node_of(nid);

	return to < node->fabric->nodes && to != node->number;
}

static u32 lnd_host_ready(void *ctx, u32 link, u64 nid, u32 lane)
{
	struct lnd_host_node *node = ctx;

	return lnd_soft_ready(node->soft_node, link, lane, lnd_soft_node_of(nid));
}

static u32 lnd_host_send(void *ctx, const struct lnd_frame *frame)
{
	struct lnd_host_node *node = ctx;
	u32 to = lnd_soft_node_of(frame->nid), sent = LND_SEND_FAILED;

	if (!lnd_soft_send(node->soft_node, frame->link, frame->lane, to, frame->bytes, frame->len,
			   &sent))
		node->ring |= BIT_ULL(to);
	return sent;
}

static u32 lnd_host_mem_read(void *ctx, u64 addr, void *to, u32 len)
{
	struct lnd_host_node *node = ctx;

	if (lnd_host_in_place(addr)) {
		memcpy(to, (const void *)(uintptr_t)addr, len);
		return 0;
	}
	return lnd_soft_read(node->fabric->region, node->number, addr, to, len);
}

static u32 lnd_host_mem_write(void *ctx, u64 addr, const void *from, u32 len)
{
	struct lnd_host_node *node = ctx;

	return lnd_soft_write(node->fabric->region, node->number, addr, from, len);
}

static u32 lnd_host_mem_valid(void *ctx, u64 addr, u32 len)
{
	struct lnd_host_node *node = ctx;

	/* No engine has to reach it; and the upper layer has made it, no peer. */
	return lnd_host_in_place(addr) ||
	       lnd_soft_valid(node->fabric->region, node->number, addr, len);
}

static void lnd_host_trace(void *ctx, const struct lnd_trace *record)
{
	struct lnd_host_node *node = ctx;

	lnd_host_record(node->number, record);
	lnd_host_observe(node, record);
}

const struct lnd_ops lnd_host_ops = {
	.size = sizeof(lnd_host_ops),
	.lock = lnd_host_lock,
	.unlock = lnd_host_unlock,
	.self_id = lnd_host_self_id,
	.context = lnd_host_context,
	.reg_read32 = lnd_host_reg_read32,
	.reg_write32 = lnd_host_reg_write32,
	.dma_barrier = lnd_host_dma_barrier,
	.reaches = lnd_host_reaches,
	.ready = lnd_host_ready,
	.send = lnd_host_send,
	.mem_read = lnd_host_mem_read,
	.mem_write = lnd_host_mem_write,
	.mem_valid = lnd_host_mem_valid,
	.finalize = lnd_host_ended,
	.event = lnd_host_event,
	.wake = lnd_host_wake,
	.trace = lnd_host_trace,
	.bug = lnd_host_bug,
	.tracing = lnd_host_tracing,
};
