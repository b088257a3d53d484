/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the sketches of the book leave to their reader: a host's own names. */
#include <lnd.h>
#include <lnd_soft.h>

/* Sizes, memory, time. */
static uint32_t slots, peers, links, link, budget, number, returned;
static uint64_t nid, incarnation, sender, now, grace, next, deadline, cookie;
static size_t bytes, ring_bytes, len;
static uint32_t more, state;
static void *memory, *mem, *ring, *base, *ctx;
static const void *frame;
static struct lnd_ni *ni;
static struct lnd_ops ops;
static struct lnd_config config;
static struct lnd_send_request request;
static struct lnd_transfer transfer;
static struct lnd_tag tag;
static const struct lnd_bd *bd;
void *alloc(size_t bytes);
void decide(const struct lnd_arrival *arrival);
void sleep_until_wake_or(uint64_t time);
void msleep(unsigned int ms);

/* The operations of struct lnd_ops, as functions of a host. */
uint32_t engine_post(void *ctx, const struct lnd_bd *bd);
void engine_doorbell(void *ctx, uint32_t link);
void engine_invalidate(void *ctx, uint32_t link, struct lnd_tag tag);
void engine_stop(void *ctx, uint32_t link);
uint32_t engine_quiesced(void *ctx, uint32_t link);
uint32_t engine_reclaim(void *ctx, uint32_t link, struct lnd_tag tag);
void engine_reset(void *ctx, uint32_t link);
uint32_t connection(void *ctx, uint32_t link, uint64_t nid);
void connection_stop(void *ctx, uint32_t link, uint64_t nid, uint32_t number);
uint32_t connection_quiesced(void *ctx, uint32_t link, uint64_t nid, uint32_t number);
void connection_reset(void *ctx, uint32_t link, uint64_t nid, uint32_t number);

/* Health: several NIs, and a message for one of a peer's interfaces. */
static struct lnd_ni **nis;
static struct lnd_health *health;
static struct lnd_health_peer peer;
static struct lnd_attempts attempts;
static struct lnd_path path;
static struct lnd_outcome result;
static const struct lnd_report *report;
static enum lnd_error error;
const struct lnd_send_request *request_to(uint64_t nid);

/* The fabric in shared memory. */
static struct lnd_soft_fabric *fabric;
static struct lnd_soft_join_args args;
static struct lnd_soft_node *node;
static struct lnd_soft_engine *engine;
static uint64_t whom;
