// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Staged and exposed descriptors of more stretches than there are segments. LNet may give 256 pages
 * of which each begins and ends anywhere. Their bytes are copied to pages without gaps, and those
 * are lent to the peer. What it has written is copied back before the library has the descriptor
 * again. A pull or push needs none of this: the pieces on its own side may have any gaps.
 *
 * The upper layer does not change what it has lent, so a copy at the post is as good. That of an
 * exposed descriptor keeps the bytes that the peer does not write.
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

/* The bytes of a descriptor's pieces into its pages without gaps, or back. */
static void lnd_verbs_bounce_copy(struct lnd_verbs_desc *desc, bool back)
{
	struct scatterlist *sg;
	u32 at = 0;

	for (sg = desc->sg; at < desc->length; sg++) {
		u32 offset = sg->offset, left = sg->length;

		while (left) {
			/* A piece may be longer than a page, and pages of its folio follow. */
			struct page *piece = nth_page(sg_page(sg), offset / PAGE_SIZE);
			struct page *page = sg_page(&desc->bounce[at / PAGE_SIZE]);
			u32 in_piece = offset_in_page(offset), in_page = offset_in_page(at);
			u32 part = min_t(u32, left, PAGE_SIZE - max(in_piece, in_page));

			if (back)
				memcpy_page(piece, in_piece, page, in_page, part);
			else
				memcpy_page(page, in_page, piece, in_piece, part);
			at += part;
			offset += part;
			left -= part;
		}
	}
}

/**
 * lnd_verbs_bounce() - Replaces the pieces of a descriptor by pages of ours with the same bytes.
 * @desc: a descriptor that is being staged or exposed, not mapped, without regions.
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
		desc->bounce = to;
		lnd_verbs_bounce_copy(desc, false);
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

/**
 * lnd_verbs_bounce_back() - Copies what the peer has written into the pieces, and frees the pages.
 * @desc: a descriptor that nothing moves any more, and that the library does not have yet; not
 *        mapped. May have no pages.
 *
 * Also after a failure: the peer may have said before that all is written.
 *
 * Context: any, with the connection's lock.
 */
void lnd_verbs_bounce_back(struct lnd_verbs_desc *desc)
{
	if (desc->bounce && desc->direction == DMA_FROM_DEVICE && !lnd_verbs_defect("uncopied"))
		lnd_verbs_bounce_copy(desc, true);
	lnd_verbs_unbounce(desc);
}
