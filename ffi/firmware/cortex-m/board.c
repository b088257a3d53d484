// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "board.h"

#include <stddef.h>

#define REG(address) (*(volatile uint32_t *)(uintptr_t)(address))

/* CMSDK timers, down-counters at 25 MHz: timer 0 is the alarm, timer 1 the clock. */
#define ALARM 0x40000000U
#define CLOCK 0x40001000U
#define TIMER_CTRL 0x0U
#define TIMER_VALUE 0x4U
#define TIMER_RELOAD 0x8U
#define TIMER_INT 0xcU
#define TIMER_ON 0x9U /* enabled, with its interrupt */
#define NS_PER_TICK 40U

#define SYSTICK_CTRL 0xe000e010U
#define SYSTICK_LOAD 0xe000e014U
#define SYSTICK_VALUE 0xe000e018U
#define HARDWARE_TICKS 500U /* 20 us between two steps */
#define NVIC_ENABLE 0xe000e100U
#define NVIC_PEND 0xe000e200U
#define NVIC_PRIORITY 0xe000e400U
#define SCB_ICSR 0xe000ed04U
#define SCB_ICSR_PENDSTSET (1U << 26)
#define SCB_SHPR3 0xe000ed20U

#define PAINT 0x5ac45ac4U /* start.c's */

extern uint32_t stack_end[], stack_start[];

static volatile uint32_t wraps; /* of the clock */
static volatile uint32_t woken;

static void barrier(void)
{
	__asm volatile("dmb" ::: "memory");
}

static uint32_t mask(void)
{
	uint32_t before;

	__asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(before)::"memory");
	return before;
}

static void unmask(uint32_t before)
{
	__asm volatile("msr primask, %0" ::"r"(before) : "memory");
}

/* --- interrupts of the timers --- */

void board_on_alarm(void)
{
	REG(ALARM + TIMER_CTRL) = 0;
	REG(ALARM + TIMER_INT) = 1;
	woken = 1;
}

void board_on_clock(void)
{
	REG(CLOCK + TIMER_INT) = 1;
	wraps++;
}

static void enable(uint32_t irq, uint8_t priority)
{
	((volatile uint8_t *)(uintptr_t)NVIC_PRIORITY)[irq] = priority;
	REG(NVIC_ENABLE) = 1U << irq;
}

void board_init(void)
{
	REG(CLOCK + TIMER_RELOAD) = 0xffffffffU;
	REG(CLOCK + TIMER_VALUE) = 0xffffffffU;
	REG(CLOCK + TIMER_CTRL) = TIMER_ON;
	enable(IRQ_CLOCK, 0x00);
	enable(IRQ_COMPLETIONS, 0x40);
	enable(IRQ_LINK_FAILED, 0x40);
	enable(IRQ_ALARM, 0x80);
	REG(SCB_SHPR3) = 0xc0U << 24; /* SysTick: the hardware */
	REG(SYSTICK_LOAD) = HARDWARE_TICKS;
}

/* --- time --- */

uint64_t board_now(void)
{
	uint32_t before = mask(), value = REG(CLOCK + TIMER_VALUE), high = wraps;

	if (REG(CLOCK + TIMER_INT) & 1) { /* wrapped, and not counted yet */
		value = REG(CLOCK + TIMER_VALUE);
		high++;
	}
	unmask(before);
	return (((uint64_t)high << 32) + (0xffffffffU - value)) * NS_PER_TICK;
}

void board_sleep(uint64_t until)
{
	uint32_t before = mask();
	uint64_t now = board_now(), ticks = until > now ? (until - now) / NS_PER_TICK + 1 : 0;

	/* Nothing comes between the check and the sleep: a pending interrupt still ends it. */
	if (!woken && ticks) {
		REG(ALARM + TIMER_VALUE) = ticks < 0xffffffffU ? (uint32_t)ticks : 0xffffffffU;
		REG(ALARM + TIMER_CTRL) = TIMER_ON;
		__asm volatile("dsb\n\twfi" ::: "memory");
		REG(ALARM + TIMER_CTRL) = 0;
	}
	woken = 0;
	unmask(before);
}

void board_wake(void)
{
	woken = 1;
}

/* --- interrupts --- */

uint32_t board_in_interrupt(void)
{
	uint32_t number;

	__asm volatile("mrs %0, ipsr" : "=r"(number));
	return number != 0;
}

void board_raise(uint32_t irq)
{
	barrier();
	REG(NVIC_PEND) = 1U << irq;
}

void board_clock_hardware(void)
{
	barrier();
	REG(SYSTICK_CTRL) = 7;
	REG(SCB_ICSR) = SCB_ICSR_PENDSTSET;
}

void board_hardware_idle(void)
{
	REG(SYSTICK_CTRL) = 4;
}

/* --- the debugger's console (semihosting) --- */

static void debugger(uint32_t operation, const void *parameter)
{
	register uint32_t r0 __asm("r0") = operation;
	register const void *r1 __asm("r1") = parameter;

	__asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_text(const char *text)
{
	debugger(0x04, text); /* SYS_WRITE0 */
}

void board_number(uint64_t number)
{
	char digits[21], *at = digits + 20;

	*at = 0;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	board_text(at);
}

uint32_t board_stack_used(void)
{
	const volatile uint32_t *at = stack_end;

	while (at < stack_start && *at == PAINT)
		at++;
	return (uint32_t)((uintptr_t)stack_start - (uintptr_t)at);
}

uint32_t board_stack_size(void)
{
	return (uint32_t)((uintptr_t)stack_start - (uintptr_t)stack_end);
}

_Noreturn void board_end(int good)
{
	board_text(good ? "end: good\n" : "end: bad\n");
	/* SYS_EXIT: "the application ends", or "a run-time error". */
	debugger(0x18, (const void *)(uintptr_t)(good ? 0x20026U : 0x20023U));
	for (;;)
		__asm volatile("wfi");
}
