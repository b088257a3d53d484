/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Seeded violations: seed=NAME breaks one rule of the contract, and the case and violation beside
 * it must say so. tests/parts/conformance reads this list.
 */
#ifndef REFERENCE_SEEDS_H
#define REFERENCE_SEEDS_H

/* name, case, violation */
#define REF_SEEDS(X) \
	X(twice, "put.sizes", "FINALIZED_TWICE") \
	X(never, "put.sizes", "FINALIZED_NEVER") \
	X(early, "put.sizes", "FINALIZED_EARLY") \
	X(irq, "put.sizes", "FINALIZED_IN_INTERRUPT") \
	X(atomic, "put.sizes", "FINALIZED_ATOMIC") \
	X(health, "put.sizes", "HEALTH_STATUS") \
	X(status, "put.sizes", "STATUS_ERROR") \
	X(gone, "put.sizes", "FINALIZED_UNKNOWN") \
	X(kiov, "put.fragments", "KIOV_CHANGED") \
	X(short, "put.sizes", "DATA_SHORT") \
	X(wrong, "put.fragments", "DATA_WRONG") \
	X(beyond, "put.truncated", "DATA_BEYOND") \
	X(late_write, "put.sizes", "WRITTEN_LATE") \
	X(lost, "put.no_match", "LOST") \
	X(parse_twice, "put.sizes", "PARSED_TWICE") \
	X(parse_atomic, "put.sizes", "PARSE_CONTEXT") \
	X(parse_refused, "put.refused", "PARSED_REFUSED") \
	X(header, "put.ack", "HEADER_WRONG") \
	X(reply_length, "get.short", "REPLY_LENGTH") \
	X(reply_ok, "get.no_match", "STATUS_OK") \
	X(routed, "get.router", "REPLY_ROUTED") \
	X(refused, "error.unreachable", "FINALIZED_REFUSED") \
	X(simulation, "error.simulated", "SIMULATION_IGNORED") \
	X(eager, "recv.eager", "EAGER_FAILED") \
	X(credit_drop, "credits.dropped", "CREDITS_LOST") \
	X(credit_refuse, "credits.refused", "CREDITS_LOST") \
	X(credit_eager, "credits.eager", "CREDITS_LOST") \
	X(blocks, "send.prompt", "SEND_BLOCKS") \
	X(no_credits, "ni.cycles", "NI_CREDITS") \
	X(nid, "ni.cycles", "NI_NID") \
	X(residue, "ni.cycles", "NI_RESIDUE") \
	X(any_credits, "ni.credits", "NI_CREDITS") \
	X(tunable, "ni.tunables", "TUNABLES") \
	X(any_number, "ni.tunables", "TUNABLES") \
	X(any_name, "ni.bad", "NI_START") \
	X(late, "shutdown.held", "AFTER_SHUTDOWN") \
	X(left, "shutdown.held", "SHUTDOWN_LEFT")

#define REF_SEED_NAME(name, in, violation) REF_SEED_##name,
enum ref_seed { REF_SEED_none, REF_SEEDS(REF_SEED_NAME) };

extern enum ref_seed ref_seed;
#define REF_SEEDED(name) unlikely(ref_seed == REF_SEED_##name)

struct lnet_msg;
struct iov_iter;

void ref_seeds_init(const char *name);
void ref_seed_finalize(struct lnet_msg *msg, int status);
void ref_seed_late(struct lnet_msg *msg);
void ref_seeds_exit(void);

#endif
