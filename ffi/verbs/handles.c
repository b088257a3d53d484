// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Payloads as fragments, and memory that is watched after it was given back.
 *
 * A fragment's address is no bus address: behind an IOMMU a page has one for each device, and the
 * CPU reads nothing by it. It is a handle of the payload's pages and an offset in them. Pages are
 * mapped for a device when a descriptor is posted.
 *
 * With the parameter "watch_ms" the pages of each payload are overwritten with a pattern when the
 * upper layer frees them, which it does after the report, and are kept for so long. A READ of ours
 * that lands late changes the pattern, or a WRITE of the peer's. What is fetched late is the
 * pattern, and no payload.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/bitmap.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#include "lnd_verbs.h"

#define POISON	0xa7

/* A page of a payload, behind the fragments of a map. */
struct lnd_verbs_piece {
	struct page *page;
	u32 offset;
	u32 len;
};

/* Pages that are watched. */
struct lnd_verbs_watched {
	struct list_head list;
	unsigned long until;
	unsigned int room;
	struct lnd_verbs_piece piece[];
};

static u64 lnd_verbs_address_of(unsigned int handle, u32 offset)
{
	return (u64)(handle + 1) << 32 | offset;
}

/**
 * lnd_verbs_payload() - The payload of a fragment.
 * @node: the node.
 * @addr: the fragment's address.
 * @len: its length.
 *
 * The payload is lent to the library as long as the library uses its fragments.
 *
 * Context: any.
 * Return: the payload; NULL if not all of the fragment is mapped.
 */
const struct lnd_host_payload *lnd_verbs_payload(struct lnd_verbs_node *node, u64 addr, u32 len)
{
	const struct lnd_host_payload *payload = NULL;
	u64 handle = (addr >> 32) - 1;

	if (handle < LND_VERBS_HANDLES)
		payload = READ_ONCE(node->handles[handle]);
	return payload && lower_32_bits(addr) + (u64)len <= payload->length ? payload : NULL;
}

/* The vector of a payload at a byte, and the byte's place in it. */
static const struct bio_vec *lnd_verbs_at(const struct lnd_host_payload *payload, u32 *at)
{
	const struct bio_vec *bv = payload->bv;

	for (; *at >= bv->bv_len; bv++)
		*at -= bv->bv_len;
	return bv;
}

/**
 * lnd_verbs_copy() - Copies from a payload, or into it.
 * @node: the node.
 * @addr: address of the first byte.
 * @bytes: the other memory.
 * @len: bytes.
 * @into: into the payload.
 *
 * Context: any.
 * Return: 0, or 1 if not all of it is mapped.
 */
u32 lnd_verbs_copy(struct lnd_verbs_node *node, u64 addr, void *bytes, u32 len, bool into)
{
	const struct lnd_host_payload *payload = lnd_verbs_payload(node, addr, len);
	const struct bio_vec *bv;
	u32 at = lower_32_bits(addr), part;

	if (!payload)
		return 1;
	if (!len)
		return 0;
	for (bv = lnd_verbs_at(payload, &at); len; bv++, at = 0) {
		u8 *page = kmap_local_page(bv->bv_page);

		part = min(len, bv->bv_len - at);
		if (into)
			memcpy(page + bv->bv_offset + at, bytes, part);
		else
			memcpy(bytes, page + bv->bv_offset + at, part);
		kunmap_local(page);
		bytes += part;
		len -= part;
	}
	return 0;
}

/**
 * lnd_verbs_pieces() - The pages of fragments as a scatter list.
 * @node: the node.
 * @frags: the fragments.
 * @nfrags: their number.
 * @length: bytes, no more than the fragments hold.
 * @sg: filled in; was initialised once.
 * @room: entries of @sg.
 *
 * Context: any.
 * Return: entries in use, or -EINVAL if not all is mapped, -E2BIG.
 */
int lnd_verbs_pieces(struct lnd_verbs_node *node, const struct lnd_frag *frags, u32 nfrags,
		     u32 length, struct scatterlist *sg, unsigned int room)
{
	unsigned int used = 0;

	for (; nfrags && length; frags++, nfrags--) {
		u32 left = min(frags->len, length), at = lower_32_bits(frags->addr);
		const struct lnd_host_payload *payload = lnd_verbs_payload(node, frags->addr, left);
		const struct bio_vec *bv;

		if (!payload)
			return -EINVAL;
		length -= left;
		for (bv = lnd_verbs_at(payload, &at); left; bv++, at = 0) {
			u32 part = min(left, bv->bv_len - at);

			if (used == room)
				return -E2BIG;
			sg_unmark_end(&sg[used]);
			sg_set_page(&sg[used++], bv->bv_page, part, bv->bv_offset + at);
			left -= part;
		}
	}
	if (length || !used)
		return -EINVAL;
	sg_mark_end(&sg[used - 1]);
	return used;
}

static struct lnd_verbs_piece *lnd_verbs_map_pieces(const struct lnd_host_map *map)
{
	return (void *)&map->frags[map->room];
}

static size_t lnd_verbs_map_bytes(unsigned int room)
{
	return array_size(room, sizeof(struct lnd_frag) + sizeof(struct lnd_verbs_piece));
}

/* See lnd_host.h. Context: thread. */
int lnd_host_map_room(struct lnd_host_map *map, unsigned int pages, gfp_t gfp)
{
	/* As many fragments as pages are more than enough, and are never none. */
	unsigned int room = max(pages, 1u);

	if (map->room >= room)
		return 0;
	lnd_host_map_free(map);
	map->frags = lnd_host_alloc(lnd_verbs_map_bytes(room), gfp, LND_HOST_AT_FRAGMENTS);
	if (!map->frags)
		return -ENOMEM;
	map->room = room;
	return 0;
}

static void lnd_verbs_fill(const struct lnd_verbs_piece *piece)
{
	u8 *page = kmap_local_page(piece->page);

	memset(page + piece->offset, POISON, piece->len);
	kunmap_local(page);
}

static bool lnd_verbs_untouched(const struct lnd_verbs_piece *piece)
{
	u8 *page = kmap_local_page(piece->page);
	bool same = !memchr_inv(page + piece->offset, POISON, piece->len);

	kunmap_local(page);
	return same;
}

/* Frees pages that were watched long enough; all of them, if the node ends. Context: thread. */
static void lnd_verbs_watch_over(struct lnd_verbs_node *node, bool all)
{
	struct lnd_verbs_watched *watched, *next;
	LIST_HEAD(over);

	spin_lock(&node->watch_lock);
	list_for_each_entry_safe(watched, next, &node->watched, list) {
		if (all || time_after(jiffies, watched->until))
			list_move_tail(&watched->list, &over);
	}
	spin_unlock(&node->watch_lock);
	list_for_each_entry_safe(watched, next, &over, list) {
		bool same = true;
		unsigned int i;

		for (i = 0; i < watched->room && watched->piece[i].page; i++) {
			same &= lnd_verbs_untouched(&watched->piece[i]);
			put_page(watched->piece[i].page);
		}
		if (!same) {
			pr_err("node %u: memory was written after its report\n",
			       node->host.number);
			lnd_verbs_count(node, LND_VERBS_TOUCHED);
			WRITE_ONCE(node->host.link[LND_VERBS_LINK].violations,
				   node->host.link[LND_VERBS_LINK].violations + 1);
		}
		lnd_host_free(watched, struct_size(watched, piece, watched->room));
	}
}

static void lnd_verbs_watcher(struct work_struct *work)
{
	struct lnd_verbs_node *node = container_of(to_delayed_work(work), struct lnd_verbs_node,
						   watcher);

	lnd_verbs_watch_over(node, false);
	queue_delayed_work(system_unbound_wq, &node->watcher, HZ / 20);
}

/* The node of this module, while it watches. */
static struct lnd_verbs_node *lnd_verbs_watching;

/* Takes over a map's pages, poisoned. Without memory for that they are not watched. */
static void lnd_verbs_watch(struct lnd_host_map *map)
{
	struct lnd_verbs_node *node = READ_ONCE(lnd_verbs_watching);
	struct lnd_verbs_piece *piece = lnd_verbs_map_pieces(map);
	struct lnd_verbs_watched *watched = NULL;
	unsigned int i;

	if (!piece[0].page)
		return;
	if (node)
		watched = lnd_host_alloc(struct_size(watched, piece, map->room), LND_HOST_NO_WAIT,
					 LND_HOST_AT_FRAGMENTS);
	for (i = 0; i < map->room && piece[i].page; i++) {
		lnd_verbs_fill(&piece[i]);
		if (watched)
			watched->piece[i] = piece[i];
		else
			put_page(piece[i].page);
		piece[i].page = NULL;
	}
	if (!watched)
		return;
	watched->room = map->room;
	watched->until = jiffies + msecs_to_jiffies(lnd_verbs_watch_ms);
	spin_lock(&node->watch_lock);
	list_add_tail(&watched->list, &node->watched);
	spin_unlock(&node->watch_lock);
	lnd_verbs_count(node, LND_VERBS_WATCHED);
}

/* See lnd_host.h. Context: thread. Not mapped. */
void lnd_host_map_free(struct lnd_host_map *map)
{
	if (map->frags)
		lnd_verbs_watch(map);
	lnd_host_free(map->frags, lnd_verbs_map_bytes(map->room));
	map->frags = NULL;
	map->room = 0;
}

static void lnd_verbs_note_pages(struct lnd_host_map *map, const struct lnd_host_payload *payload)
{
	struct lnd_verbs_piece *piece = lnd_verbs_map_pieces(map);
	unsigned int i;

	if (!lnd_verbs_watch_ms || piece[0].page)
		return;
	for (i = 0; i < payload->pages && i < map->room; i++) {
		piece[i].page = payload->bv[i].bv_page;
		piece[i].offset = payload->bv[i].bv_offset;
		piece[i].len = payload->bv[i].bv_len;
		get_page(piece[i].page);
	}
}

/* See lnd_host.h; handles are the pages of this window. Context: thread. */
int lnd_host_map(struct lnd_host_window *window, struct lnd_host_map *map,
		 const struct lnd_host_payload *payload, bool written, gfp_t gfp)
{
	struct lnd_verbs_node *node = lnd_verbs_of(window->node);
	unsigned int handle;
	u32 at;

	if (lnd_host_map_room(map, payload->pages, gfp))
		return -ENOMEM;
	map->nfrags = 0;
	map->written = written;
	spin_lock(&window->lock);
	handle = find_first_zero_bit(window->used, window->pages);
	if (handle < window->pages && lnd_host_share(window, map, 1))
		__set_bit(handle, window->used);
	else
		handle = window->pages;
	spin_unlock(&window->lock);
	if (handle >= window->pages)
		return -EAGAIN;
	for (at = 0; at < payload->length; at += map->frags[map->nfrags++].len) {
		struct lnd_frag *frag = &map->frags[map->nfrags];

		frag->addr = lnd_verbs_address_of(handle, at);
		frag->len = min_t(u32, payload->length - at, SZ_1M);
		frag->reserved = 0;
	}
	WRITE_ONCE(node->handles[handle], payload);
	/* A payload of no bytes has a handle, and no fragment that would name it. */
	if (!map->nfrags)
		map->frags[0].addr = lnd_verbs_address_of(handle, 0);
	map->mapped = true;
	lnd_verbs_note_pages(map, payload);
	return 0;
}

/* See lnd_host.h. The device has written to the pages themselves. Context: thread. */
void lnd_host_unmap(struct lnd_host_window *window, struct lnd_host_map *map,
		    const struct lnd_host_payload *payload, bool copy)
{
	unsigned int handle;

	if (!map->mapped)
		return;
	map->mapped = false;
	handle = (map->frags[0].addr >> 32) - 1;
	WRITE_ONCE(lnd_verbs_of(window->node)->handles[handle], NULL);
	spin_lock(&window->lock);
	__clear_bit(handle, window->used);
	lnd_host_unshare(window, map);
	spin_unlock(&window->lock);
}

/**
 * lnd_verbs_handles_init() - A node's table of handles.
 * @node: the node.
 *
 * Context: thread.
 * Return: 0 or -ENOMEM; lnd_verbs_handles_exit() in both cases.
 */
int lnd_verbs_handles_init(struct lnd_verbs_node *node)
{
	struct lnd_host_window *window = &node->host.window;

	spin_lock_init(&window->lock);
	spin_lock_init(&node->watch_lock);
	INIT_LIST_HEAD(&node->watched);
	INIT_DELAYED_WORK(&node->watcher, lnd_verbs_watcher);
	window->node = &node->host;
	window->pages = LND_VERBS_HANDLES;
	window->used = lnd_host_alloc(BITS_TO_LONGS(LND_VERBS_HANDLES) * sizeof(long),
				      LND_HOST_MAY_WAIT, LND_HOST_AT_WINDOW_MAP);
	node->handles = lnd_host_alloc(LND_VERBS_HANDLES * sizeof(*node->handles),
				       LND_HOST_MAY_WAIT, LND_HOST_AT_WINDOW);
	if (!window->used || !node->handles)
		return -ENOMEM;
	if (lnd_verbs_watch_ms) {
		WRITE_ONCE(lnd_verbs_watching, node);
		queue_delayed_work(system_unbound_wq, &node->watcher, HZ / 20);
	}
	return 0;
}

/**
 * lnd_verbs_handles_exit() - Ends it, and looks at what is still watched.
 * @node: the node, in which nothing is mapped any more.
 *
 * Context: thread.
 */
void lnd_verbs_handles_exit(struct lnd_verbs_node *node)
{
	struct lnd_host_window *window = &node->host.window;

	WRITE_ONCE(lnd_verbs_watching, NULL);
	cancel_delayed_work_sync(&node->watcher);
	lnd_verbs_watch_over(node, true);
	if (window->used)
		WARN_ON(!bitmap_empty(window->used, window->pages));
	lnd_host_free(window->used, BITS_TO_LONGS(LND_VERBS_HANDLES) * sizeof(long));
	lnd_host_free(node->handles, LND_VERBS_HANDLES * sizeof(*node->handles));
	window->used = NULL;
	node->handles = NULL;
}
