// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The image's start, and what each exception calls. */
#include "board.h"
#include "main.h"

#define SCB_CPACR (*(volatile uint32_t *)0xe000ed88U)

extern uint32_t data_load[], data_begin[], data_end[], bss_begin[], bss_end[];
extern uint32_t stack_start[];

void reset(void);

void reset(void)
{
	uint32_t *to, *from = data_load;

	for (to = data_begin; to < data_end; to++)
		*to = *from++;
	for (to = bss_begin; to < bss_end; to++)
		*to = 0;
	SCB_CPACR |= 0xfU << 20; /* the compiler's calling convention has the FPU */
	__asm volatile("dsb\n\tisb" ::: "memory");
	board_end(main() == 0);
}

/* The stack is painted before its first use. */
__attribute__((naked)) static void start(void)
{
	__asm volatile("ldr r0, =stack_end\n\t"
		       "ldr r1, =stack_start\n\t"
		       "ldr r2, =0x5ac45ac4\n"
		       "1:\tstr r2, [r0], #4\n\t"
		       "cmp r0, r1\n\t"
		       "blo 1b\n\t"
		       "b reset");
}

static void unexpected(void)
{
	board_text("wrong: exception\n");
	board_end(0);
}

static void on_systick(void)
{
	if (!on_hardware())
		board_hardware_idle();
}

typedef void (*vector)(void);
#define SKIP unexpected

__attribute__((section(".vectors"), used)) static const vector vectors[16 + 32] = {
	(vector)stack_start, start, SKIP, SKIP, SKIP, SKIP, SKIP, SKIP,
	SKIP, SKIP, SKIP, SKIP, SKIP, SKIP, SKIP, on_systick,
	[16 ... 23] = SKIP,
	[16 + IRQ_ALARM] = board_on_alarm,
	[16 + IRQ_CLOCK] = board_on_clock,
	[26 ... 43] = SKIP,
	[16 + IRQ_COMPLETIONS] = on_completions,
	[16 + IRQ_LINK_FAILED] = on_link_failed,
	[46 ... 47] = SKIP,
};
