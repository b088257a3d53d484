// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Headers, which say all of an operation: the receiver of one knows from it what to do and what to
 * expect, and the other end of the operation may be in another machine.
 */
#include <linux/bitfield.h>
#include <linux/hash.h>

#include "stub.h"

/* The match bits. */
#define STUB_ID		GENMASK_ULL(19, 0)
#define STUB_TAKEN	GENMASK_ULL(40, 20)
#define STUB_DECISION	GENMASK_ULL(43, 41)
#define STUB_HOLD	GENMASK_ULL(50, 44)
#define STUB_BACK	GENMASK_ULL(57, 51)
#define STUB_ACKED	BIT_ULL(58)
#define STUB_ROUTER	BIT_ULL(59)
#define STUB_LARGE_NID	BIT_ULL(60)
#define STUB_MAY_FAIL	BIT_ULL(61)
#define STUB_LEAVE	BIT_ULL(62)

static u64 stub_match_bits(const struct stub_op *op)
{
	return FIELD_PREP(STUB_ID, op->id) | FIELD_PREP(STUB_TAKEN, op->taken) |
	       FIELD_PREP(STUB_DECISION, op->decision) | FIELD_PREP(STUB_HOLD, op->hold) |
	       FIELD_PREP(STUB_BACK, op->back) | FIELD_PREP(STUB_ACKED, op->ack) |
	       FIELD_PREP(STUB_ROUTER, op->router) | FIELD_PREP(STUB_LARGE_NID, op->large_nid) |
	       FIELD_PREP(STUB_MAY_FAIL, op->may_fail) | FIELD_PREP(STUB_LEAVE, op->leave);
}

/* Beyond a router is the sender: the two NIs are all there is. */
static struct lnet_nid stub_destination(const struct stub_op *op)
{
	struct lnet_nid nid = op->target;

	if (!op->router || op->get)
		return nid;
	nid = op->from->ni.ni_nid;
	if (op->large_nid) {
		nid.nid_size = 12;
		memset(&nid.nid_addr[1], 0xa5, 12);
	}
	return nid;
}

/*
 * stub_header() - The header of one of an operation's messages, as it leaves and as it arrives.
 * @type: enum lnet_msg_type
 *
 * Context: any.
 */
void stub_header(const struct stub_op *op, u32 type, struct lnet_hdr *hdr)
{
	bool there = type == LNET_MSG_PUT || type == LNET_MSG_GET;
	u32 layout = op->offset << 16 | op->fragment;
	u64 bits = stub_match_bits(op);

	memset(hdr, 0, sizeof(*hdr));
	hdr->type = type;
	hdr->dest_nid = there ? stub_destination(op) : op->from->ni.ni_nid;
	hdr->src_nid = there ? op->from->ni.ni_nid : op->to->ni.ni_nid;
	hdr->dest_pid = LNET_PID_LUSTRE;
	hdr->src_pid = LNET_PID_LUSTRE;
	switch (type) {
	case LNET_MSG_PUT:
		hdr->payload_length = op->length;
		hdr->msg.put.match_bits = bits;
		/* Depends on all bits: a header that is changed does not fit what it says. */
		hdr->msg.put.hdr_data = hash_64(bits ^ op->length, 64);
		hdr->msg.put.offset = layout;
		break;
	case LNET_MSG_GET:
		hdr->msg.get.match_bits = bits;
		hdr->msg.get.return_wmd.wh_interface_cookie = hash_64(bits ^ op->length, 64);
		hdr->msg.get.return_wmd.wh_object_cookie = op->id;
		hdr->msg.get.src_offset = layout;
		hdr->msg.get.sink_length = op->length;
		break;
	case LNET_MSG_REPLY:
		hdr->payload_length = op->taken;
		hdr->msg.reply.dst_wmd.wh_object_cookie = op->id;
		break;
	default:
		hdr->msg.ack.dst_wmd.wh_object_cookie = op->id;
		hdr->msg.ack.match_bits = op->id;
		hdr->msg.ack.mlength = op->taken;
		break;
	}
}

/* The operation that a header is of, if it is known here. Context: any. */
struct stub_op *stub_header_op(const struct lnet_hdr *hdr)
{
	switch (hdr->type) {
	case LNET_MSG_PUT:
		return xa_load(&stub.ops, FIELD_GET(STUB_ID, hdr->msg.put.match_bits));
	case LNET_MSG_GET:
		return xa_load(&stub.ops, FIELD_GET(STUB_ID, hdr->msg.get.match_bits));
	case LNET_MSG_REPLY:
		return xa_load(&stub.ops, hdr->msg.reply.dst_wmd.wh_object_cookie);
	case LNET_MSG_ACK:
		return xa_load(&stub.ops, hdr->msg.ack.dst_wmd.wh_object_cookie);
	default:
		return NULL;
	}
}

/*
 * stub_header_read() - What a header says of its operation.
 * @what: gets the plan: id, length, taken, decision and so on
 *
 * Context: any.
 * Return: false: it makes no sense.
 */
bool stub_header_read(const struct lnet_hdr *hdr, struct stub_op *what)
{
	bool get = hdr->type == LNET_MSG_GET;
	u32 length = get ? hdr->msg.get.sink_length : hdr->payload_length;
	u32 layout = get ? hdr->msg.get.src_offset : hdr->msg.put.offset;
	u64 bits = get ? hdr->msg.get.match_bits : hdr->msg.put.match_bits;

	if (!get && hdr->type != LNET_MSG_PUT)
		return false;
	what->id = FIELD_GET(STUB_ID, bits);
	what->get = get;
	what->length = length;
	what->offset = layout >> 16;
	what->fragment = layout & 0xffff;
	what->taken = FIELD_GET(STUB_TAKEN, bits);
	what->decision = FIELD_GET(STUB_DECISION, bits);
	what->hold = FIELD_GET(STUB_HOLD, bits);
	what->back = FIELD_GET(STUB_BACK, bits);
	what->ack = FIELD_GET(STUB_ACKED, bits);
	what->router = FIELD_GET(STUB_ROUTER, bits);
	what->large_nid = FIELD_GET(STUB_LARGE_NID, bits);
	what->may_fail = FIELD_GET(STUB_MAY_FAIL, bits);
	what->leave = FIELD_GET(STUB_LEAVE, bits);
	return length <= LNET_MTU && what->taken <= length && what->decision <= STUB_DISCARD &&
	       what->fragment <= PAGE_SIZE && what->offset <= 4 * PAGE_SIZE;
}
