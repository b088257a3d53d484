// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A plugin of QEMU's, which counts what a virtual machine executes: instructions, by where their
 * code lies. The counts are in a file that can be read at any time (tests/kernel/executed).
 *
 *   qemu-system-x86_64 -plugin executed.so,counts=FILE
 *
 * FILE is an array of 64-bit counts: the first is of all code outside of the kernel's last two GiB
 * of addresses, the others are of 16 bytes of code each, from the address KERNEL on. QEMU counts a
 * block of instructions when it begins, and adds without a lock: the counts of a machine are exact
 * but for blocks that a fault ends, if it has one processor.
 *
 * QEMU's header for plugins is in no package: what is used of it is declared here.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define KERNEL 0xffffffff80000000u
#define BLOCK 16
#define COUNTS ((UINT64_MAX - KERNEL) / BLOCK + 2)

struct qemu_plugin_tb;
typedef void (*translated)(uint64_t id, struct qemu_plugin_tb *block);
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated call);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, enum qemu_plugin_op op,
					      void *count, uint64_t added);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);

EXPORT int qemu_plugin_version = 1;

static uint64_t *counts;

static void block_translated(uint64_t id, struct qemu_plugin_tb *block)
{
	uint64_t at = qemu_plugin_tb_vaddr(block);
	uint64_t *count = counts;

	(void)id;
	if (at >= KERNEL)
		count += 1 + (at - KERNEL) / BLOCK;
	qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, count,
						 qemu_plugin_tb_n_insns(block));
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	const char *word = "counts=";
	int file = -1;

	(void)info;
	if (argc == 1 && !strncmp(argv[0], word, strlen(word)))
		file = open(argv[0] + strlen(word), O_RDWR | O_CREAT | O_TRUNC, 0644);
	/* Nearly all of it stays a hole. */
	if (file < 0 || ftruncate(file, COUNTS * sizeof(*counts))) {
		perror("executed: counts=FILE");
		return -1;
	}
	counts = mmap(NULL, COUNTS * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (counts == MAP_FAILED) {
		perror("executed: mmap");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	return 0;
}
