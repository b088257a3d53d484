/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* main.h - What start.c calls. */
#ifndef MAIN_H
#define MAIN_H

#include <stdint.h>

/* The image's main function; 0: success. Context: thread. */
int main(void);
/* The image's handlers. Context: interrupt. */
void on_completions(void);
void on_link_failed(void);
/* One step of the hardware; 1: clock it again. Context: interrupt. */
uint32_t on_hardware(void);

#endif
