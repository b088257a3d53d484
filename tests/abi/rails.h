/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Two interfaces of ours and two of a peer, for tests of health's ABI. */
#ifndef RAILS_H
#define RAILS_H

#include "world.h"

#include <string.h>

#define SECOND (1000 * MS)
/* Our incarnation. */
#define OWN 3

static struct lnd_health *health;
static void *block;
static struct lnd_health_peer peer;
static struct lnd_health_ni local[2], peer_ni[2];

/* Names that name nothing: an entry that was never used, and nothing at all. */
static inline struct lnd_health_ni no_such_ni(void)
{
	struct lnd_health_ni ni = peer_ni[0];

	ni.index = 999;
	return ni;
}

static inline struct lnd_health_peer no_such_peer(void)
{
	struct lnd_health_peer other = peer;

	other.index = 999;
	return other;
}

static inline int same(struct lnd_health_ni a, struct lnd_health_ni b)
{
	return !memcmp(&a, &b, sizeof(a));
}

/* Two interfaces of ours, one peer with two, room for @attempts and @actions. */
static void start(uint32_t attempts, uint32_t actions, uint32_t profile)
{
	struct lnd_health_config config;
	uint32_t at;
	size_t len;

	MUST(lnd_health_config_init(&config, LND_ABI_VERSION, 2, 2, 4));
	config.attempts = attempts;
	config.actions = actions;
	config.profile = profile;
	config.incarnation = OWN;
	len = lnd_health_size(&config);
	CHECK(len > 0);
	block = memory(len);
	memset(block, 0, len);
	MUST(lnd_health_create(block, len, &config, SECOND, &health));
	MUST(lnd_health_add_peer(health, 0, 1, &peer));
	for (at = 0; at < 2; at++) {
		MUST(lnd_health_add_local(health, 10 + at, &local[at]));
		MUST(lnd_health_add_peer_ni(health, peer, 20 + at, &peer_ni[at]));
	}
	MUST(lnd_health_peer_incarnation(health, peer, 1));
}

static void stop(void)
{
	uint32_t left = 1;

	MUST(lnd_health_shutdown(health, &left));
	CHECK(left == 0);
	MUST(lnd_health_destroy(health));
	free(block);
}

#endif
