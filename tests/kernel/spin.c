// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * spin FILE: counts rounds of a loop into the first eight bytes of FILE, whenever the processor has
 * nothing else to do. On a processor whose clock counts instructions the rounds say how many
 * instructions were left over: also those of interrupts, which no account of a thread has.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sched_param none = { 0 };
	volatile uint64_t *rounds;
	int fd;

	if (argc != 2)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 4096) || sched_setscheduler(0, SCHED_IDLE, &none)) {
		perror(argv[1]);
		return 1;
	}
	rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (rounds == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (;;) {
		for (volatile int i = 0; i < 1000; i++)
			;
		(*rounds)++;
	}
}
