// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A device that does not answer: its registers read all ones, and writes are lost. That is no proof
 * that it has stopped and no event; what it has stays lent until it identifies itself and says
 * stopped, or until the platform asserts that it has.
 */
#include "world.h"

#include <string.h>

#define TRANSFERS 8u

static struct world world;
static struct lnd_ops usual;
static const struct node *cut;	/* whose link 0 does not answer */

static uint32_t reg_read32(void *ctx, uint32_t link, uint32_t offset)
{
	return ctx == cut && link == 0 ? 0xffffffff : usual.reg_read32(ctx, link, offset);
}

static void reg_write32(void *ctx, uint32_t link, uint32_t offset, uint32_t value)
{
	if (ctx != cut || link != 0)
		usual.reg_write32(ctx, link, offset, value);
}

static int has_said(struct node *node, uint32_t what, const char *wanted)
{
	char text[8192];
	uint32_t cursor = 0;
	size_t written;

	FAILS(LND_E_END, lnd_dump(node->ni, what, &cursor, text, sizeof(text), &written));
	text[written] = 0;
	return strstr(text, wanted) != NULL;
}

static uint32_t state_of(struct node *node)
{
	uint32_t state;

	MUST(lnd_link_state_get(node->ni, 0, &state));
	return state;
}

static uint32_t kept(struct node *node)
{
	uint32_t transfers;

	MUST(lnd_quarantine_get(node->ni, 0, &transfers));
	return transfers;
}

int main(void)
{
	struct node *a = &world.node[0];
	struct lnd_ops ops;
	uint32_t more, transfers = 0;
	unsigned int at, held;
	int asserted;

	usual = ops = world_ops();
	ops.reg_read32 = reg_read32;
	ops.reg_write32 = reg_write32;
	for (asserted = 0; asserted <= 1; asserted++) {
		cut = NULL;
		world_open(&world, &ops);
		MUST(node_put(a, 0, 0, 100, NULL));
		CHECK(world_run(&world, 1000 * MS, &a->reports, 1));
		for (at = 0; at < TRANSFERS; at++)
			MUST(node_put(a, at * 32768, at * 32768, 30000, NULL));
		if (asserted) /* Without its clock the device moves nothing: so much is true. */
			MUST(lnd_soft_link_set(world.fabric, a->number, 0, 0, NULL));
		cut = a;

		/* An interrupt status of all ones is counted; no completion, nothing written. */
		MUST(lnd_interrupt(a->ni, 0, 8, world.now, &more));
		CHECK(!more && has_said(a, LND_DUMP_COUNTERS, "impossible_status 1\n"));
		world_run(&world, 5000 * MS, NULL, 0);
		CHECK(state_of(a) == LND_LINK_FAILED && a->link_state[0] == LND_LINK_FAILED);
		CHECK(has_said(a, LND_DUMP_LINKS, "link 0 failed quarantined "));
		held = kept(a);
		CHECK(held > 0 && held + a->reports == 1 + TRANSFERS);
		FAILS(LND_E_LINK, lnd_quarantine_get(a->ni, LINKS, &transfers));
		FAILS(LND_E_NULL, lnd_quarantine_get(a->ni, 0, NULL));
		FAILS(LND_E_LINK, lnd_assert_stopped(a->ni, LINKS, world.now));
		FAILS(LND_E_RUNNING, lnd_assert_stopped(a->ni, 1, world.now));
		CHECK(a->link_state[1] == LND_LINK_UP);

		if (asserted) {
			MUST(lnd_assert_stopped(a->ni, 0, world.now));
			FAILS(LND_E_RUNNING, lnd_assert_stopped(a->ni, 0, world.now));
			CHECK(world_run(&world, 1000 * MS, &a->reports, 1 + TRANSFERS));
			CHECK(kept(a) == 0 && state_of(a) == LND_LINK_DOWN);
			CHECK(has_said(a, LND_DUMP_COUNTERS, "stops_asserted 1\n"));
			MUST(lnd_soft_link_set(world.fabric, a->number, 0, 1, NULL));
		}
		/* It is back: stopped by what it says itself, reset, and in service. */
		cut = NULL;
		CHECK(world_run(&world, 1000 * MS, &a->reports, 1 + TRANSFERS));
		world_run(&world, 1000 * MS, NULL, 0);
		CHECK(kept(a) == 0 && state_of(a) == LND_LINK_UP);
		at = a->failures;
		/* What the device did behind the dead bus is told as it was. */
		CHECK(asserted ? at == held : at == 0);
		MUST(node_put(a, 0, 0, 30000, NULL));
		MUST(node_put(a, 0, 0, 30000, NULL));
		CHECK(world_run(&world, 1000 * MS, &a->reports, 3 + TRANSFERS));
		CHECK(a->failures == at && !a->bugs);
		world_close(&world);
		printf("device_gone: %u of %u transfers waited for a proof%s\n", held, TRANSFERS,
		       asserted ? ", which the platform gave" : "");
	}
	return 0;
}
