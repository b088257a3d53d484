// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A host, whole: two nodes whose channel is an array and whose engine is memcpy(). A short message
 * travels in a frame; a long one is staged, announced, and pulled by the other node's engine.
 */
#include <lnd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16, MAIL = 32, FRAME = 1024, LONG = 4096, SECOND = 1000000000 };
#define MUST(call) must(#call, call)
static void must(const char *call, enum lnd_error error)
{
	if (error == LND_OK)
		return;
	fprintf(stderr, "%s: %s\n", call, lnd_error_name(error));
	exit(1);
}

static struct node {
	struct lnd_ni *ni;
	char memory[2 * LONG];		/* the second half receives */
	struct lnd_bd posted[SLOTS];	/* .size is 0: not posted */
	char *at[SLOTS];		/* and its memory */
	struct mail { char bytes[FRAME]; size_t len; } mail[2][MAIL];	/* a queue for each lane */
	unsigned int written[2], read[2], stopped;	/* stopped: a bit for each link */
} nodes[2];				/* their NIDs are 1 and 2 */
static uint64_t now = SECOND, reports;

/* The engine. What is posted comes back once: pulled, or invalidated. */
static void back(struct node *node, struct lnd_tag tag, uint32_t returned)
{
	struct lnd_bd *bd = &node->posted[tag.index];
	if (bd->size && bd->tag.generation == tag.generation) {
		bd->size = 0;
		MUST(lnd_completed(node->ni, 0, tag, returned, now));
	}
}
static uint32_t post(void *ctx, const struct lnd_bd *bd)
{
	struct node *node = ctx;
	node->posted[bd->tag.index] = *bd;
	node->at[bd->tag.index] = node->memory + (bd->nfrags ? bd->frags->addr : 0);
	return LND_POST_DONE;
}
static void doorbell(void *ctx, uint32_t link)
{
	struct node *node = ctx, *from = &nodes[ctx == nodes];
	for (unsigned int at = 0; at < SLOTS && !node->stopped && !from->stopped; at++) {
		struct lnd_bd *bd = &node->posted[at];
		struct lnd_bd *source = &from->posted[bd->source.index % SLOTS];
		if (!bd->size || bd->link != link || bd->motion != LND_MOTION_PULL ||
		    !source->size || source->tag.generation != bd->source.generation)
			continue;
		memcpy(node->at[at], from->at[bd->source.index % SLOTS], bd->length);
		back(node, bd->tag, LND_RETURNED_OK);
	}
}
static void invalidate(void *ctx, uint32_t link, struct lnd_tag tag)
{ (void)link; back(ctx, tag, LND_RETURNED_TOUCHED); }
static void stop(void *ctx, uint32_t link) { ((struct node *)ctx)->stopped |= 1u << link; }
static void reset(void *ctx, uint32_t link)
{ struct node *n = ctx; n->stopped &= ~(1u << link), memset(n->posted, 0, sizeof(n->posted)); }
static uint32_t quiesced(void *ctx, uint32_t link) { return ((struct node *)ctx)->stopped >> link; }

/* The channel, and payload that travels in frames. */
static uint32_t send(void *ctx, const struct lnd_frame *frame)
{
	struct node *to = &nodes[ctx == nodes];	/* which has room: MAIL is more than its credits */
	struct mail *mail = &to->mail[frame->lane][to->written[frame->lane]++ % MAIL];
	memcpy(mail->bytes, frame->bytes, mail->len = frame->len);
	return LND_SEND_DONE;
}
static uint32_t get(void *ctx, uint64_t at, void *to, uint32_t len)
{ return !memcpy(to, ((struct node *)ctx)->memory + at, len); }
static uint32_t put(void *ctx, uint64_t at, const void *from, uint32_t len)
{ return !memcpy(((struct node *)ctx)->memory + at, from, len); }
static void finalize(void *ctx, const struct lnd_report *report)
{
	printf("node %d: %u bytes, error %d\n", ctx == nodes ? 1 : 2, report->bytes, report->error);
	reports++;
}
static const struct lnd_ops ops = {
	.size = sizeof(ops), .engine_post = post, .engine_doorbell = doorbell, .engine_stop = stop,
	.engine_invalidate = invalidate, .engine_reset = reset, .engine_quiesced = quiesced,
	.send = send, .mem_read = get, .mem_write = put, .finalize = finalize };

/* What a node's thread does: takes frames in, decides on requests, reports what has ended. */
static void run(struct node *node)
{
	struct lnd_arrival arrival = { .size = sizeof(arrival) };
	uint64_t next, other = node == nodes ? 2 : 1;
	for (unsigned int lane = 2; lane--;)	/* LND_LANE_CONTROL first: it never waits */
		for (; node->read[lane] != node->written[lane]; node->read[lane]++) {
			struct mail *mail = &node->mail[lane][node->read[lane] % MAIL];
			enum lnd_error error = lnd_frame_in(node->ni, 0, other, mail->bytes,
							    mail->len, now, &arrival);
			struct lnd_frag sink = { .addr = LONG, .len = arrival.len };
			struct lnd_decision to = { .size = sizeof(to), .frags = &sink, .nfrags = 1,
				.len = arrival.len, .deadline = now + SECOND };
			if (error == LND_REQUEST)
				error = lnd_recv(node->ni, arrival.request, &to, now, NULL, NULL);
			if (error == LND_E_WAIT)
				break;		/* the frame stays, and is offered again */
			MUST(error);
		}
	MUST(lnd_run(node->ni, now += SECOND / 1000, 64, &next));	/* and wake up at next */
}
int main(void)
{
	static _Alignas(LND_ALIGN) char memory[2][LND_NI_BYTES(SLOTS, 4, 1, 0, 256, 0)];
	struct lnd_frag frag = { .len = 100 };
	struct lnd_send_request request = { .size = sizeof(request), .kind = LND_PUT, .nid = 2,
		.link = LND_ANY_LINK, .header = "bits", .header_len = 4, .frags = &frag,
		.nfrags = 1, .deadline = 5ull * SECOND };
	struct lnd_config config;
	MUST(lnd_config_init(&config, LND_ABI_VERSION, SLOTS, 4, 1));
	config.lists = 0, config.immediate_max = 256;
	config.flags |= LND_RELIABLE | LND_ENDS_AT_ONCE;
	for (config.nid = 1; config.nid <= 2; config.nid++) {
		config.incarnation = config.nid;	/* another one at each start */
		MUST(lnd_ni_create(memory[config.nid - 1], sizeof(*memory), &config, &ops,
				   &nodes[config.nid - 1], &nodes[config.nid - 1].ni));
	}
	for (; frag.len <= LONG; frag.len += LONG - 100) {
		memset(nodes[0].memory, 'a', frag.len);
		MUST(lnd_submit(nodes[0].ni, &request, now, NULL, NULL));
		for (unsigned int step = 0; step < 40; step++)
			run(&nodes[step % 2]);
	}
	/* Two PUTs: each is reported at both nodes. */
	return reports != 4 || memcmp(nodes[0].memory, nodes[1].memory + LONG, LONG) != 0;
}
