/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * board.h - QEMU's mps2-an386 (Cortex-M4F): clock, interrupts, text, end.
 *
 * NVIC priorities: the completions' interrupt above the hardware's, the thread below all. So a
 * completion interrupts the engine, which interrupts the thread.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Interrupts of ours, on lines that the board does not use: raised by software. */
#define IRQ_COMPLETIONS 28
#define IRQ_LINK_FAILED 29

/* Starts clock and interrupts. Context: thread, once. */
void board_init(void);
/* Nanoseconds since board_init(). Context: any. */
uint64_t board_now(void);
/* Sleeps until then, or until board_wake() was called. Context: thread. */
void board_sleep(uint64_t until);
/* Ends the sleep, or the next one. Context: any. */
void board_wake(void);
/* 1 in an interrupt. */
uint32_t board_in_interrupt(void);
/* Raises one of our interrupts. Context: any. */
void board_raise(uint32_t irq);
/* The engines have work: clocks the hardware until it has not. Context: any. */
void board_clock_hardware(void);
/* Text and numbers to the debugger. Context: thread. */
void board_text(const char *text);
void board_number(uint64_t number);
/* Bytes of the stack that were ever used, and all of them. */
uint32_t board_stack_used(void);
uint32_t board_stack_size(void);
/* Ends the machine with a status that the host sees. */
_Noreturn void board_end(int good);

/* The image's own. What runs after the start; 0: all was well. Context: thread. */
int main(void);
/* Its handlers. Context: interrupt. */
void on_completions(void);
void on_link_failed(void);
/* One step of the hardware; 1: clock it again. Context: interrupt. */
uint32_t on_hardware(void);

#endif
