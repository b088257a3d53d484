// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "platform.h"

#include "board.h"

/* From the Rust library. */
void *memcpy(void *to, const void *from, size_t len);

/* Offsets of registers: docs/registers.md. */
#define REG_COMPLETION_HEAD 72U
#define REG_INTERRUPT 140U
#define REG_LINK 192U
#define EMPTY 0xeeU

static uint8_t rings[2][RING_BYTES] __attribute__((aligned(LND_ALIGN)));
static uint8_t windows[2][REGIONS * REGION] __attribute__((aligned(64)));

/* --- the short-message channel: a ring of frames for each direction and lane --- */

#define BOX 8U
#define FRAME 768U
struct box {
	uint32_t head, tail;
	uint32_t len[BOX];
	uint8_t frame[BOX][FRAME];
};
static struct box boxes[2][2]; /* by receiver and lane */

/* Every operation gets the node's number, behind a pointer to it. */
static uint32_t number_of(const void *ctx)
{
	return *(const uint32_t *)ctx & 1;
}

static volatile uint32_t *reg(uint32_t number, uint32_t offset)
{
	return (volatile uint32_t *)&rings[number][offset];
}

static uint32_t op_ready(void *ctx, uint32_t link, uint64_t nid, uint32_t lane)
{
	const struct box *box = &boxes[1 - number_of(ctx)][lane & 1];

	(void)link, (void)nid;
	return box->tail - box->head < BOX;
}

static uint32_t op_send(void *ctx, const struct lnd_frame *frame)
{
	struct box *box = &boxes[1 - number_of(ctx)][frame->lane & 1];

	if (frame->len > FRAME)
		return LND_SEND_TOO_LONG;
	if (box->tail - box->head >= BOX)
		return LND_SEND_FULL;
	if (!(*reg(number_of(ctx), REG_LINK) & 1))
		return LND_SEND_FAILED;
	memcpy(box->frame[box->tail % BOX], frame->bytes, frame->len);
	box->len[box->tail++ % BOX] = frame->len;
	return LND_SEND_DONE;
}

/* --- registers: words of the ring memory; a doorbell clocks the hardware --- */

static uint32_t op_reg_read32(void *ctx, uint32_t link, uint32_t offset)
{
	(void)link;
	return __atomic_load_n(reg(number_of(ctx), offset), __ATOMIC_ACQUIRE);
}

static void op_reg_write32(void *ctx, uint32_t link, uint32_t offset, uint32_t value)
{
	(void)link;
	if (offset == REG_INTERRUPT) { /* written bits are cleared */
		__atomic_fetch_and(reg(number_of(ctx), offset), ~value, __ATOMIC_ACQ_REL);
		return;
	}
	__atomic_store_n(reg(number_of(ctx), offset), value, __ATOMIC_RELEASE);
	if (offset != REG_COMPLETION_HEAD)
		board_clock_hardware();
}

static void op_dma_barrier(void *ctx)
{
	(void)ctx;
	__asm volatile("dmb" ::: "memory");
}

static uint32_t op_context(void *ctx)
{
	(void)ctx;
	return board_in_interrupt() ? LND_CONTEXT_INTERRUPT : LND_CONTEXT_THREAD;
}

/* --- payload --- */

static uint8_t *place(uint32_t number, uint64_t addr, uint32_t len)
{
	uint64_t base = (uintptr_t)windows[number];

	if (addr < base || addr - base > sizeof(windows[0]) ||
	    sizeof(windows[0]) - (addr - base) < len)
		return NULL;
	return (uint8_t *)(uintptr_t)addr;
}

static uint32_t op_mem_read(void *ctx, uint64_t addr, void *to, uint32_t len)
{
	uint8_t *from = place(number_of(ctx), addr, len);

	if (!from)
		return 1;
	memcpy(to, from, len);
	return 0;
}

static uint32_t op_mem_write(void *ctx, uint64_t addr, const void *from, uint32_t len)
{
	uint8_t *to = place(number_of(ctx), addr, len);

	if (!to)
		return 1;
	memcpy(to, from, len);
	return 0;
}

static uint32_t op_mem_valid(void *ctx, uint64_t addr, uint32_t len)
{
	return place(number_of(ctx), addr, len) != NULL;
}

static volatile uint8_t *memory_of(uint32_t number, enum region region, const struct job *job)
{
	return &windows[number][region * REGION + job->offset];
}

static uint8_t byte_of(const struct job *job, uint32_t at)
{
	return (uint8_t)(at * 7 ^ at >> 8 ^ job->number * 37);
}

void payload_fill(uint32_t number, enum region region, const struct job *job)
{
	for (uint32_t at = 0; at < job->length; at++)
		memory_of(number, region, job)[at] = byte_of(job, at);
}

void payload_empty(uint32_t number, enum region region, const struct job *job)
{
	for (uint32_t at = 0; at < job->length + 16; at++)
		memory_of(number, region, job)[at] = EMPTY;
}

int payload_arrived(uint32_t number, enum region region, const struct job *job)
{
	const volatile uint8_t *memory = memory_of(number, region, job);
	uint32_t at;

	for (at = 0; at < job->length; at++)
		if (memory[at] != byte_of(job, at))
			return 0;
	for (; at < job->length + 16; at++)
		if (memory[at] != EMPTY)
			return 0;
	return 1;
}

struct lnd_frag payload_frag(uint32_t number, enum region region, const struct job *job)
{
	struct lnd_frag frag = {
		.addr = (uintptr_t)memory_of(number, region, job),
		.len = job->length,
	};

	return frag;
}

/* --- for the node --- */

void platform_ops(struct lnd_ops *ops)
{
	ops->context = op_context;
	ops->reg_read32 = op_reg_read32;
	ops->reg_write32 = op_reg_write32;
	ops->dma_barrier = op_dma_barrier;
	ops->ready = op_ready;
	ops->send = op_send;
	ops->mem_read = op_mem_read;
	ops->mem_write = op_mem_write;
	ops->mem_valid = op_mem_valid;
}

struct lnd_ring platform_ring(uint32_t number)
{
	return (struct lnd_ring){ rings[number], sizeof(rings[number]) };
}

struct hw_side platform_side(uint32_t number)
{
	return (struct hw_side){ rings[number], sizeof(rings[number]), windows[number],
				 sizeof(windows[number]) };
}

void platform_cable(uint32_t number, int plugged)
{
	__atomic_store_n(reg(number, REG_LINK), plugged ? 1U : 0U, __ATOMIC_RELEASE);
	board_clock_hardware();
}

const void *platform_frame(uint32_t number, uint32_t lane, uint32_t *len)
{
	struct box *box = &boxes[number][lane];

	if (box->head == box->tail)
		return NULL;
	*len = box->len[box->head % BOX];
	return box->frame[box->head % BOX];
}

void platform_frame_done(uint32_t number, uint32_t lane)
{
	boxes[number][lane].head++;
}
