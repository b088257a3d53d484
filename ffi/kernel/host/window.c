// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Pages of bio vectors, mapped into a node's payload window.
 *
 * The engines of this fabric reach the windows and nothing else, as a device behind an IOMMU
 * reaches only what is mapped for it. Mapping finds room in the window, in pieces as long as
 * possible, and copies what the engine will read. Unmapping copies back what the engine has
 * written.
 */
#include <linux/bitmap.h>
#include <linux/highmem.h>

#include "lnd_host.h"

#define PIECE	(SZ_1M / PAGE_SIZE)	/* pages of the longest fragment */

static size_t lnd_host_bitmap_bytes(const struct lnd_host_window *window)
{
	return BITS_TO_LONGS(window->pages) * sizeof(long);
}

/**
 * lnd_host_window_init() - Initialises a window.
 * @window: the window.
 * @node: its node, which has joined.
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int lnd_host_window_init(struct lnd_host_window *window, struct lnd_host_node *node)
{
	void *base;
	u64 bytes;

	if (lnd_host_fault(LND_HOST_AT_WINDOW) ||
	    lnd_soft_window(node->fabric->region, node->number, &base, &bytes))
		return -EIO;
	spin_lock_init(&window->lock);
	window->node = node;
	window->base = base;
	window->pages = bytes / PAGE_SIZE;
	window->used = lnd_host_alloc(lnd_host_bitmap_bytes(window), LND_HOST_MAY_WAIT,
				      LND_HOST_AT_WINDOW_MAP);
	return window->used ? 0 : -ENOMEM;
}

/**
 * lnd_host_window_exit() - Ends a window's use.
 * @window: the window; may be unused.
 *
 * Context: thread.
 */
void lnd_host_window_exit(struct lnd_host_window *window)
{
	if (!window->used)
		return;
	WARN_ON(!bitmap_empty(window->used, window->pages));
	lnd_host_free(window->used, lnd_host_bitmap_bytes(window));
	window->used = NULL;
}

/* Takes up to @want pages in one piece; returns how many, 0 if there are none. */
static unsigned int lnd_host_take(struct lnd_host_window *window, unsigned int want,
				  unsigned long *at)
{
	unsigned int pages;

	spin_lock(&window->lock);
	for (pages = min_t(unsigned int, want, PIECE); pages; pages /= 2) {
		*at = bitmap_find_next_zero_area(window->used, window->pages, 0, pages, 0);
		if (*at < window->pages) {
			bitmap_set(window->used, *at, pages);
			break;
		}
	}
	spin_unlock(&window->lock);
	return pages;
}

static void lnd_host_drop(struct lnd_host_window *window, struct lnd_host_map *map)
{
	unsigned int i;

	spin_lock(&window->lock);
	for (i = 0; i < map->nfrags; i++) {
		const struct lnd_frag *frag = &map->frags[i];
		u64 first = frag->addr / PAGE_SIZE;

		bitmap_clear(window->used, first,
			     DIV_ROUND_UP(frag->addr + frag->len, PAGE_SIZE) - first);
	}
	lnd_host_unshare(window, map);
	spin_unlock(&window->lock);
	map->nfrags = 0;
}

/* Reports to the memory oracle what is lent to engines, or no longer lent. */
static void lnd_host_lend(struct lnd_host_window *window, const struct lnd_host_map *map,
			  bool lend)
{
	struct lnd_soft_fabric *region = window->node->fabric->region;
	u32 number = window->node->number;
	unsigned int i;

	for (i = 0; i < map->nfrags; i++) {
		const struct lnd_frag *frag = &map->frags[i];

		if (lend)
			lnd_soft_lend(region, number, frag->addr, frag->len, map->written);
		else
			lnd_soft_take_back(region, number, frag->addr, frag->len, map->written);
	}
}

/* Copies between pages and window, across the boundaries of both. */
static void lnd_host_copy(struct lnd_host_window *window, const struct lnd_host_map *map,
			  const struct lnd_host_payload *payload, bool into_window)
{
	u32 left = payload->length, in_frag = 0, in_bv = 0, len;
	const struct lnd_frag *frag = map->frags;
	const struct bio_vec *bv = payload->bv;

	for (; left; left -= len) {
		u8 *there = window->base + frag->addr + in_frag, *page;

		len = min3(left, frag->len - in_frag, bv->bv_len - in_bv);
		page = kmap_local_page(bv->bv_page);
		if (into_window)
			memcpy(there, page + bv->bv_offset + in_bv, len);
		else
			memcpy(page + bv->bv_offset + in_bv, there, len);
		kunmap_local(page);
		in_frag += len;
		in_bv += len;
		if (in_frag == frag->len) {
			frag++;
			in_frag = 0;
		}
		if (in_bv == bv->bv_len) {
			bv++;
			in_bv = 0;
		}
	}
}

/**
 * lnd_host_map_room() - Allocates the fragments of a payload.
 * @map: not mapped.
 * @pages: pages of the payload.
 * @gfp: as in lnd_host_alloc().
 *
 * Context: thread.
 * Return: 0 or -ENOMEM.
 */
int lnd_host_map_room(struct lnd_host_map *map, unsigned int pages, gfp_t gfp)
{
	unsigned int room = clamp_t(unsigned int, pages, 1, LND_MAX_FRAGMENTS);

	if (map->room >= room)
		return 0;
	lnd_host_map_free(map);
	map->frags = lnd_host_alloc(array_size(room, sizeof(*map->frags)), gfp,
				    LND_HOST_AT_FRAGMENTS);
	if (!map->frags)
		return -ENOMEM;
	map->room = room;
	return 0;
}

/* Context: thread. Not mapped. */
void lnd_host_map_free(struct lnd_host_map *map)
{
	lnd_host_free(map->frags, array_size(map->room, sizeof(*map->frags)));
	map->frags = NULL;
	map->room = 0;
}

/**
 * lnd_host_map() - Maps pages, so that engines reach them.
 * @window: the node's window.
 * @map: their place, as fragments for the library.
 * @payload: the pages.
 * @written: engines write them; else they read them.
 * @gfp: as in lnd_host_alloc().
 *
 * Context: thread.
 * Return: 0, -ENOMEM, or -EAGAIN if the window, or the half for what is our own, is full.
 */
int lnd_host_map(struct lnd_host_window *window, struct lnd_host_map *map,
		 const struct lnd_host_payload *payload, bool written, gfp_t gfp)
{
	u32 left = payload->length;
	u32 offset = payload->pages ? payload->bv[0].bv_offset : 0;
	bool room;

	if (lnd_host_map_room(map, payload->pages, gfp))
		return -ENOMEM;
	map->nfrags = 0;
	map->written = written;
	spin_lock(&window->lock);
	room = lnd_host_share(window, map, DIV_ROUND_UP(offset + left, PAGE_SIZE));
	spin_unlock(&window->lock);
	if (!room)
		return -EAGAIN;
	while (left) {
		struct lnd_frag *frag = &map->frags[map->nfrags];
		unsigned int pages = 0;
		unsigned long at;

		if (map->nfrags < map->room && !lnd_host_fault(LND_HOST_AT_ROOM))
			pages = lnd_host_take(window, DIV_ROUND_UP(offset + left, PAGE_SIZE), &at);
		if (!pages) {
			lnd_host_drop(window, map);
			return -EAGAIN;
		}
		/* The offset in the page is kept, as an IOMMU keeps it. */
		frag->addr = at * PAGE_SIZE + offset;
		frag->len = min_t(u32, left, pages * PAGE_SIZE - offset);
		frag->reserved = 0;
		left -= frag->len;
		offset = 0;
		map->nfrags++;
	}
	if (!written)
		lnd_host_copy(window, map, payload, true);
	map->mapped = true;
	lnd_host_lend(window, map, true);
	return 0;
}

/**
 * lnd_host_unmap() - Takes pages back from the engines.
 * @window: the node's window.
 * @map: their place.
 * @payload: the pages.
 * @copy: copy back what the engine has written.
 *
 * Context: thread.
 */
void lnd_host_unmap(struct lnd_host_window *window, struct lnd_host_map *map,
		    const struct lnd_host_payload *payload, bool copy)
{
	if (!map->mapped)
		return;
	map->mapped = false;
	lnd_host_lend(window, map, false);
	if (copy)
		lnd_host_copy(window, map, payload, false);
	lnd_host_drop(window, map);
}
