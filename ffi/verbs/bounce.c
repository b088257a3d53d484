// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Staged descriptors of more stretches than there are segments. LNet may give 256 pages of which
 * each begins and ends anywhere. Their bytes are copied to pages without gaps, and those are
 * staged. A pull needs none of this: the pieces on its own side may have any gaps.
 *
 * The upper layer does not change what it has lent, so a copy at the post is as good.
 */
#include <linux/highmem.h>

#include "lnd_verbs.h"

/* Bytes of the list of pages that a descriptor of this length needs. */
static size_t lnd_verbs_bounce_list(u32 length)
{
	return array_size(DIV_ROUND_UP(length, PAGE_SIZE), sizeof(struct scatterlist));
}

/* Pages without gaps, in @to. Returns how many, or -ENOBUFS: there is no memory for them now. */
static int lnd_verbs_bounce_pages(struct scatterlist *to, u32 length)
{
	int pages = DIV_ROUND_UP(length, PAGE_SIZE), i;

	sg_init_table(to, pages);
	for (i = 0; i < pages; i++, length -= min_t(u32, length, PAGE_SIZE)) {
		struct page *page = lnd_host_page(LND_HOST_NO_WAIT);

		if (!page) {
			while (i--)
				lnd_host_put_page(sg_page(&to[i]));
			return -ENOBUFS;
		}
		sg_set_page(&to[i], page, min_t(u32, length, PAGE_SIZE), 0);
	}
	return pages;
}

/* The bytes of @from into @to, which has no gaps. */
static void lnd_verbs_bounce_copy(struct scatterlist *to, struct scatterlist *from, int pieces)
{
	u32 at = 0;
	int i;

	for (i = 0; i < pieces; i++) {
		u32 offset = from[i].offset, left = from[i].length;

		while (left) {
			u32 part = min_t(u32, left, PAGE_SIZE - at % PAGE_SIZE);

			/* A piece may be longer than a page, and pages of its folio follow. */
			part = min_t(u32, part, PAGE_SIZE - offset_in_page(offset));
			memcpy_page(sg_page(&to[at / PAGE_SIZE]), at % PAGE_SIZE,
				    nth_page(sg_page(&from[i]), offset / PAGE_SIZE),
				    offset_in_page(offset), part);
			at += part;
			offset += part;
			left -= part;
		}
	}
}

/**
 * lnd_verbs_bounce() - Replaces the pieces of a descriptor by pages of ours with the same bytes.
 * @desc: a descriptor that is being staged, not mapped, without regions.
 *
 * Context: any, with the connection's lock.
 * Return: 0 or -ENOBUFS.
 */
int lnd_verbs_bounce(struct lnd_verbs_desc *desc)
{
	struct scatterlist *to = kmalloc(lnd_verbs_bounce_list(desc->length), LND_HOST_NO_WAIT);
	int pages;

	if (!to)
		return -ENOBUFS;
	pages = lnd_verbs_bounce_pages(to, desc->length);
	if (pages > 0) {
		lnd_verbs_bounce_copy(to, desc->sg, desc->pieces);
		desc->bounce = to;
		desc->pieces = pages;
		lnd_host_hold(LND_HOST_HELD_BYTES, lnd_verbs_bounce_list(desc->length));
		lnd_verbs_count(desc->peer->node, LND_VERBS_BOUNCED);
		return 0;
	}
	kfree(to);
	return pages;
}

/**
 * lnd_verbs_unbounce() - Frees the pages.
 * @desc: a descriptor that is back, or was not staged; not mapped. May have none.
 *
 * Context: any, with the connection's lock.
 */
void lnd_verbs_unbounce(struct lnd_verbs_desc *desc)
{
	int i;

	if (!desc->bounce)
		return;
	for (i = 0; i < desc->pieces; i++)
		lnd_host_put_page(sg_page(&desc->bounce[i]));
	lnd_host_hold(LND_HOST_HELD_BYTES, -(long)lnd_verbs_bounce_list(desc->length));
	kfree(desc->bounce);
	desc->bounce = NULL;
}
