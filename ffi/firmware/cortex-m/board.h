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

/* This image's interrupts, on unused lines of the board: raised by software. */
#define IRQ_COMPLETIONS 28
#define IRQ_LINK_FAILED 29

/* Starts clock and interrupts. Context: thread, once. */
void board_init(void);
/* Nanoseconds since board_init(). Context: any. */
uint64_t board_now(void);
/* Sleeps until the given time, or until board_wake() is called. Context: thread. */
void board_sleep(uint64_t until);
/* Ends the sleep, or the next one. Context: any. */
void board_wake(void);
/* 1 in an interrupt. */
uint32_t board_in_interrupt(void);
/* Raises one of this image's interrupts. Context: any. */
void board_raise(uint32_t irq);
/* The engines have work: clocks the hardware until there is none. Context: any. */
void board_clock_hardware(void);
/* Text and numbers to the debugger. Context: thread. */
void board_text(const char *text);
void board_number(uint64_t number);
/* Bytes of the stack that were ever used, and its size. */
uint32_t board_stack_used(void);
uint32_t board_stack_size(void);
/* Ends the machine with a status for the host. */
_Noreturn void board_end(int good);

/* The image's main function; 0: success. Context: thread. */
int main(void);
/* The image's handlers. Context: interrupt. */
void on_completions(void);
void on_link_failed(void);
/* One step of the hardware; 1: clock it again. Context: interrupt. */
uint32_t on_hardware(void);

#endif
