// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* This machine's halves of the operations that another machine has begun. */
#include "stub.h"

static void stub_mirror_back(struct stub_op *op)
{
	stub_op_back(op, NULL);
}

/*
 * stub_mirror() - This machine's half of an operation, made of the first header that comes.
 * @ni: where it has arrived
 *
 * Context: thread.
 * Return: the operation, or NULL: the header says nothing that makes sense.
 */
struct stub_op *stub_mirror(struct stub_ni *ni, const struct lnet_hdr *hdr)
{
	struct stub_op *op, what = { };

	if (!stub_between() || ni->remote || !stub.nis[1] || !stub_header_read(hdr, &what) ||
	    (what.id & 1) == stub.far)
		return NULL;
	op = stub_op_add(what.id, stub.nis[1], ni, what.get, what.length);
	if (!op)
		return NULL;
	op->mirror = true;
	op->taken = what.taken;
	op->decision = what.decision;
	op->hold = what.hold;
	op->back = what.back;
	op->ack = what.ack;
	op->router = what.router;
	op->large_nid = what.large_nid;
	op->may_fail = what.may_fail;
	op->leave = what.leave;
	if (op->back)
		op->on_parse = stub_mirror_back;
	return stub_op_memory(op, what.offset, what.fragment) ? op : NULL;
}
