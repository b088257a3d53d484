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

/* The timers' interrupts: start.c's table names their handlers. */
#define IRQ_ALARM 8
#define IRQ_CLOCK 9
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
/* The engines have no work: the hardware stands until it is clocked again. Context: interrupt. */
void board_hardware_idle(void);
/* The timers' handlers. Context: interrupt. */
void board_on_alarm(void);
void board_on_clock(void);
/* Text and numbers to the debugger. Context: thread. */
void board_text(const char *text);
void board_number(uint64_t number);
/* Bytes of the stack that were ever used, and its size. */
uint32_t board_stack_used(void);
uint32_t board_stack_size(void);
/* Ends the machine with a status for the host. */
_Noreturn void board_end(int good);

#endif
