/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hw.h - the DMA engines of both nodes in software, for a board without.
 *
 * The caller of hw_step() is the hardware; on this board it is the SysTick interrupt.
 */
#ifndef HW_H
#define HW_H

#include <stddef.h>
#include <stdint.h>

/* Bit of hw_step(): step again soon. Below it is a bit for each node with new completions. */
#define HW_MORE 0x100U

/**
 * struct hw_side - The memory of one node.
 * @ring: its link's memory, formatted by lnd_ring_format().
 * @ring_len: bytes.
 * @window: its payload memory.
 * @window_len: bytes.
 */
struct hw_side {
	void *ring;
	size_t ring_len;
	void *window;
	size_t window_len;
};

/* Connects the engines; 0 on success. Both memories stay. Context: thread, once. */
uint32_t hw_begin(const struct hw_side *a, const struct hw_side *b);
/* One step of both engines. Context: the hardware's. */
uint32_t hw_step(uint64_t now);
/* Holds a node's pulls, or lets them continue. Context: any. */
void hw_stall(uint32_t node, uint32_t stalled);
/* Requests that a node's engine stop for ever; and 1 once it has. Context: any. */
void hw_kill(uint32_t node);
uint32_t hw_is_dead(uint32_t node);

#endif
