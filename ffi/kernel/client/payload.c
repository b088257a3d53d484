// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Pages of payload, filled with a seed's pattern, and verified. */
#include <asm/unaligned.h>
#include <linux/highmem.h>
#include <linux/moduleparam.h>

#include "client.h"

#define CUT	100u	/* bytes of a page that ends early */

static unsigned int gap;
module_param(gap, uint, 0444);
MODULE_PARM_DESC(gap, "payloads leave the end of every so many pages out; 0: none");

/* Grows the vectors to @room; those with pages stay. */
static int lnd_host_payload_grow(struct lnd_host_op *op, unsigned int room, gfp_t gfp)
{
	struct bio_vec *bv = lnd_host_alloc(array_size(room, sizeof(*bv)), gfp,
					    LND_HOST_AT_VECTORS);

	if (!bv)
		return -ENOMEM;
	if (op->held)
		memcpy(bv, op->payload.bv, array_size(op->held, sizeof(*bv)));
	lnd_host_free(op->payload.bv, array_size(op->room, sizeof(*bv)));
	op->payload.bv = bv;
	op->room = room;
	return 0;
}

/**
 * lnd_host_payload_room() - Allocates pages for a later payload.
 * @op: the message; its existing pages stay, also after an error.
 * @pages: least number of pages.
 * @gfp: as in lnd_host_alloc().
 *
 * Context: thread.
 * Return: 0 or -ENOMEM.
 */
int lnd_host_payload_room(struct lnd_host_op *op, unsigned int pages, gfp_t gfp)
{
	if (op->room < pages && lnd_host_payload_grow(op, pages, gfp))
		return -ENOMEM;
	for (; op->held < pages; op->held++) {
		struct page *page = lnd_host_page(gfp);

		if (!page)
			return -ENOMEM;
		op->payload.bv[op->held].bv_page = page;
	}
	return 0;
}

/* The bytes of a payload in its page number @page. */
static u32 lnd_host_payload_part(unsigned int page, u32 offset, u32 left)
{
	u32 room = PAGE_SIZE - offset;

	if (gap && page % gap == 1)
		room -= CUT;
	return min(left, room);
}

static unsigned int lnd_host_payload_pages(u32 offset, u32 left)
{
	unsigned int pages = 0;

	for (; left; offset = 0)
		left -= lnd_host_payload_part(pages++, offset, left);
	return pages;
}

/**
 * lnd_host_payload_get() - Provides pages for a payload.
 * @op: the message; its existing pages are used, and stay also after an error.
 * @length: bytes.
 * @seed: selects the offset of the payload in its first page.
 * @gfp: as in lnd_host_alloc().
 *
 * Context: thread.
 * Return: 0 or -ENOMEM.
 */
int lnd_host_payload_get(struct lnd_host_op *op, u32 length, u64 seed, gfp_t gfp)
{
	u32 offset = seed % PAGE_SIZE, left = length;

	op->payload.pages = 0;
	op->payload.length = 0;
	if (lnd_host_payload_room(op, lnd_host_payload_pages(offset, length), gfp))
		return -ENOMEM;
	op->payload.length = length;
	for (; left; op->payload.pages++) {
		struct bio_vec *bv = &op->payload.bv[op->payload.pages];

		bv->bv_offset = offset;
		bv->bv_len = lnd_host_payload_part(op->payload.pages, offset, left);
		left -= bv->bv_len;
		offset = 0;
	}
	return 0;
}

/**
 * lnd_host_payload_put() - Frees the pages.
 * @op: the message; may have none.
 *
 * Context: thread.
 */
void lnd_host_payload_put(struct lnd_host_op *op)
{
	while (op->held)
		lnd_host_put_page(op->payload.bv[--op->held].bv_page);
	lnd_host_free(op->payload.bv, array_size(op->room, sizeof(*op->payload.bv)));
	op->payload.bv = NULL;
	op->room = 0;
	op->payload.pages = 0;
}

/* Writes, or compares, @len bytes that begin at byte @at of the payload. */
static bool lnd_host_walk(u8 *bytes, u32 at, u32 len, u64 seed, bool write)
{
	while (len) {
		if (at % 8 == 0 && len >= 8) {
			u64 word = lnd_host_word(seed, at);

			if (write)
				put_unaligned(word, (u64 *)bytes);
			else if (get_unaligned((u64 *)bytes) != word)
				return false;
			bytes += 8;
			at += 8;
			len -= 8;
			continue;
		}
		if (write)
			*bytes = lnd_host_byte(seed, at);
		else if (*bytes != lnd_host_byte(seed, at))
			return false;
		bytes++;
		at++;
		len--;
	}
	return true;
}

static bool lnd_host_pages(const struct lnd_host_op *op, u32 length, u64 seed, bool write)
{
	unsigned int i;
	u32 at = 0;

	for (i = 0; i < op->payload.pages && at < length; i++) {
		const struct bio_vec *bv = &op->payload.bv[i];
		u32 len = min_t(u32, bv->bv_len, length - at);
		u8 *page = kmap_local_page(bv->bv_page);
		bool same = lnd_host_walk(page + bv->bv_offset, at, len, seed, write);

		kunmap_local(page);
		if (!same)
			return false;
		at += len;
	}
	return at == length;
}

/**
 * lnd_host_payload_fill() - Fills a payload with a seed's pattern.
 * @op: the message.
 * @seed: the seed.
 *
 * Context: thread.
 */
void lnd_host_payload_fill(struct lnd_host_op *op, u64 seed)
{
	lnd_host_pages(op, op->payload.length, seed, true);
}

/**
 * lnd_host_payload_good() - Whether a payload has a seed's pattern, byte by byte.
 * @op: the message.
 * @length: bytes that arrived.
 * @seed: the seed.
 *
 * Context: thread.
 * Return: true if the first @length bytes are present and right.
 */
bool lnd_host_payload_good(const struct lnd_host_op *op, u32 length, u64 seed)
{
	return lnd_host_pages(op, length, seed, false);
}
