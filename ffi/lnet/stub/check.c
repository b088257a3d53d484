// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The checks that need no message: violations, contexts, payload. */
#include <linux/highmem.h>
#include <linux/slab.h>
#include <linux/stdarg.h>

#include "stub.h"

struct stub stub;

#define STUB_STRING(name) #name,
static const char * const stub_names[] = { STUB_VIOLATIONS(STUB_STRING) };

/* Bytes that no payload has: a payload's are below 0x80. */
#define STUB_SOURCE_ENDED 0xf1	/* a source after the end of its message */
#define STUB_SINK_EMPTY 0xe2	/* a sink before anything has come */
#define STUB_SINK_ENDED 0xd3	/* a sink after the end of its message */

const char *stub_violation_name(enum stub_violation which)
{
	return stub_names[which];
}

/*
 * stub_violation() - Counts and prints that the LND has broken the contract.
 *
 * Context: any.
 */
void stub_violation(enum stub_violation which, const char *format, ...)
{
	struct va_format text;
	va_list arguments;
	unsigned long flags;
	unsigned int count;

	spin_lock_irqsave(&stub.lock, flags);
	count = ++stub.seen[which];
	spin_unlock_irqrestore(&stub.lock, flags);
	/* One LND's mistake may show at each of a thousand messages. */
	if (count > 3)
		return;
	va_start(arguments, format);
	text.fmt = format;
	text.va = &arguments;
	pr_notice("CONFORMANCE violation %s: %s: %pV\n", stub_names[which],
		  stub.case_name ?: "no case", &text);
	va_end(arguments);
}

/*
 * stub_check_context() - Is this a context in which an LND may call LNet?
 *
 * preempt_count() tells of spin locks where the kernel counts them (CONFIG_PREEMPT_COUNT, which
 * kernels with CONFIG_PREEMPT_DYNAMIC have).
 *
 * Context: any.
 * Return: false, after counting the violation, if not.
 */
bool stub_check_context(void)
{
	if (in_interrupt()) {
		stub_violation(STUB_FINALIZED_IN_INTERRUPT, "called in interrupt context");
		return false;
	}
	if (preempt_count() || irqs_disabled()) {
		stub_violation(STUB_FINALIZED_ATOMIC, "called with preemption disabled");
		return false;
	}
	return true;
}

static u8 stub_byte(u32 seed, unsigned int at)
{
	u32 x = (at ^ seed) * 2654435761U;

	return x >> 25;
}

/* Calls what for each byte of the payload. False: it has said so of a byte. */
static bool stub_each(struct stub_memory *memory, unsigned int from, unsigned int to,
		      bool (*what)(u8 *byte, u32 seed, unsigned int at), u32 seed)
{
	unsigned int at = 0, i, k;

	for (i = 0; i < memory->md.md_niov; i++) {
		struct bio_vec *vec = &memory->md.md_kiov[i];
		u8 *page = kmap_local_page(vec->bv_page), *bytes = page + vec->bv_offset;
		bool fine = true;

		for (k = 0; k < vec->bv_len && fine; k++, at++)
			fine = at < from || at >= to || what(bytes + k, seed, at - from);
		kunmap_local(page);
		if (!fine)
			return false;
	}
	return true;
}

static bool stub_write(u8 *byte, u32 seed, unsigned int at)
{
	*byte = stub_byte(seed, at);
	return true;
}

static bool stub_set(u8 *byte, u32 seed, unsigned int at)
{
	*byte = seed;
	return true;
}

static bool stub_is(u8 *byte, u32 seed, unsigned int at)
{
	return *byte == seed;
}

static bool stub_right(u8 *byte, u32 seed, unsigned int at)
{
	u8 is = *byte, shall = stub_byte(seed, at);

	if (is == shall)
		return true;
	if (is == STUB_SOURCE_ENDED)
		stub_violation(STUB_FINALIZED_EARLY, "byte %u was read after lnet_finalize()", at);
	else if (is == STUB_SINK_EMPTY)
		stub_violation(STUB_DATA_SHORT, "byte %u has not come, and the status is 0", at);
	else
		stub_violation(STUB_DATA_WRONG, "byte %u is %#x, not %#x", at, is, shall);
	return false;
}

/*
 * stub_memory_new() - Pages for a payload.
 * @length: bytes of the payload
 * @offset: of the payload in the fragments, as msg_offset
 * @fragment: bytes of the first fragment, which ends at the end of its page; 0: a page
 *
 * Context: thread.
 * Return: the memory, or NULL.
 */
struct stub_memory *stub_memory_new(unsigned int length, unsigned int offset, unsigned int fragment,
				    u32 seed, bool source)
{
	struct stub_memory *memory = kvzalloc(sizeof(*memory), GFP_KERNEL);
	unsigned int left = length + offset, here;

	if (!memory)
		return NULL;
	memory->length = length;
	memory->offset = offset;
	memory->seed = seed;
	memory->md.md_length = left;
	here = fragment ?: PAGE_SIZE;
	while (left && memory->md.md_niov < LNET_MAX_IOV) {
		struct bio_vec *vec = &memory->md.md_kiov[memory->md.md_niov];

		vec->bv_page = alloc_page(GFP_KERNEL);
		if (!vec->bv_page)
			break;
		memory->md.md_niov++;
		vec->bv_offset = PAGE_SIZE - here;
		vec->bv_len = min(here, left);
		left -= vec->bv_len;
		here = PAGE_SIZE;
	}
	if (left) {
		stub_memory_free(memory);
		return NULL;
	}
	stub_each(memory, 0, UINT_MAX, stub_set, STUB_SINK_EMPTY);
	if (source)
		stub_each(memory, offset, UINT_MAX, stub_write, seed);
	return memory;
}

/* Context: thread. */
void stub_memory_free(struct stub_memory *memory)
{
	unsigned int i;

	if (!memory)
		return;
	for (i = 0; i < memory->md.md_niov; i++)
		__free_page(memory->md.md_kiov[i].bv_page);
	kvfree(memory);
}

/* A message has ended: what is read of its memory now is wrong, and so is what is written. */
void stub_memory_poison(struct stub_memory *memory)
{
	if (!memory)
		return;
	memory->poisoned = true;
	stub_each(memory, 0, UINT_MAX, stub_set, STUB_SINK_ENDED);
	stub_each(memory, memory->offset, UINT_MAX, stub_set, STUB_SOURCE_ENDED);
}

/*
 * stub_memory_verify() - Has the payload come, all of it, and nothing beyond?
 *
 * Context: thread.
 */
void stub_memory_verify(struct stub_memory *sink, u32 seed, unsigned int length, const char *who)
{
	unsigned int end = sink->offset + length;

	if (!stub_each(sink, sink->offset, end, stub_right, seed))
		return;
	if (!stub_each(sink, 0, sink->offset, stub_is, STUB_SINK_EMPTY) ||
	    !stub_each(sink, end, UINT_MAX, stub_is, STUB_SINK_EMPTY))
		stub_violation(STUB_DATA_BEYOND, "%s: outside of %u bytes", who, length);
}

/* After everything: has the LND written to memory whose message had ended? */
void stub_memory_watch(struct stub_memory *memory, const char *who)
{
	if (memory && memory->poisoned &&
	    !(stub_each(memory, 0, memory->offset, stub_is, STUB_SINK_ENDED) &&
	      stub_each(memory, memory->offset, UINT_MAX, stub_is, STUB_SOURCE_ENDED)))
		stub_violation(STUB_WRITTEN_LATE, "%s: written after lnet_finalize()", who);
}
