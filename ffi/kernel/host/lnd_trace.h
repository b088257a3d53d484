/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The library's trace as a tracepoint: one event, one record for each trace record. System and
 * event are called like the module, LND_HOST_EVENT.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM LND_HOST_EVENT

#if !defined(LND_HOST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LND_HOST_TRACE_H

#include <linux/tracepoint.h>

#define lnd_host_kinds				\
	{ LND_TRACE_ACCEPTED, "accepted" },	\
	{ LND_TRACE_STEP, "step" },		\
	{ LND_TRACE_STALE, "stale" },		\
	{ LND_TRACE_POSTED, "posted" },		\
	{ LND_TRACE_INVALIDATED, "invalidated" }, \
	{ LND_TRACE_RECLAIMED, "reclaimed" },		\
	{ LND_TRACE_SENT, "sent" },		\
	{ LND_TRACE_RECEIVED, "received" },		\
	{ LND_TRACE_PEER, "peer" },		\
	{ LND_TRACE_LINK, "link" },		\
	{ LND_TRACE_FINALIZED, "finalized" }, \
	{ LND_TRACE_ENDED, "ended" },		\
	{ LND_TRACE_CONNECTION, "connection" }

#define lnd_host_paste_(a, b)	a##b
#define lnd_host_paste(a, b)	lnd_host_paste_(a, b)
#define lnd_host_record		lnd_host_paste(trace_, LND_HOST_EVENT)

/* Not 0 while the event is read: the first member of the tracepoint's key counts its readers. */
#if defined(CONFIG_TRACEPOINTS) && !defined(LND_HOST_OBSERVE)
static_assert(offsetof(struct static_key, enabled) == 0);
#define lnd_host_tracing	((const u32 *)&lnd_host_paste(__tracepoint_, LND_HOST_EVENT).key)
#else
#define lnd_host_tracing	NULL
#endif

TRACE_EVENT(LND_HOST_EVENT,
	TP_PROTO(u32 node, const struct lnd_trace *record),
	TP_ARGS(node, record),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, kind)
		__field(u64, nid)
		__field(u32, index)
		__field(u32, generation)
		__field(u32, link)
		__field(u32, a)
		__field(u32, b)
		__field(u32, c)
		__field(u32, d)
	),
	TP_fast_assign(
		__entry->node = node;
		__entry->kind = record->kind;
		__entry->nid = record->nid;
		__entry->index = record->index;
		__entry->generation = record->generation;
		__entry->link = record->link;
		__entry->a = record->a;
		__entry->b = record->b;
		__entry->c = record->c;
		__entry->d = record->d;
	),
	TP_printk("node=%u %s nid=%llu transfer=%u.%u link=%d a=%x b=%x c=%x d=%x",
		  __entry->node, __print_symbolic(__entry->kind, lnd_host_kinds), __entry->nid,
		  __entry->index, __entry->generation, (int)__entry->link, __entry->a, __entry->b,
		  __entry->c, __entry->d)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lnd_trace
#include <trace/define_trace.h>
