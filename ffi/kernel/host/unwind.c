// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Back-traces through this module: each function has a frame pointer before it calls another one,
 * which objtool checks, so that one line of ORC describes them all.
 */
#include <linux/compiler.h>

#ifdef CONFIG_UNWINDER_ORC
#include <linux/objtool.h>
#include <asm/orc_types.h>

#ifndef ORC_TYPE_CALL	/* before 6.4 */
#define ORC_TYPE_CALL	UNWIND_HINT_TYPE_CALL
#endif

static const struct orc_entry lnd_host_frame __used __section(".orc_unwind") = {
	.sp_reg = ORC_REG_BP,
	.sp_offset = 16,
	.bp_reg = ORC_REG_PREV_SP,
	.bp_offset = -16,
	.type = ORC_TYPE_CALL,
};

/* The start of its range; as the only entry, it also covers what lies before it. */
asm(".pushsection .orc_unwind_ip, \"a\"\n"
	"\t.long lnd_host_ring - .\n"
	".popsection");
#endif
