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

/* Numbers: who reads the event's format from user space does not know the names of an enum. */
#define lnd_host_kinds \
	{ 1, "accepted" }, { 2, "step" }, { 3, "stale" }, { 4, "posted" }, \
	{ 5, "invalidated" }, { 6, "reclaimed" }, { 7, "sent" }, { 8, "received" }, \
	{ 9, "peer" }, { 10, "link" }, { 11, "finalized" }, { 12, "ended" }, \
	{ 13, "connection" }
static_assert(LND_TRACE_ACCEPTED == 1 && LND_TRACE_STEP == 2 && LND_TRACE_STALE == 3 &&
	      LND_TRACE_POSTED == 4 && LND_TRACE_INVALIDATED == 5 && LND_TRACE_RECLAIMED == 6 &&
	      LND_TRACE_SENT == 7 && LND_TRACE_RECEIVED == 8 && LND_TRACE_PEER == 9 &&
	      LND_TRACE_LINK == 10 && LND_TRACE_FINALIZED == 11 && LND_TRACE_ENDED == 12 &&
	      LND_TRACE_CONNECTION == 13);

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
	TP_printk("node=%u %s nid=%llu transfer=%u/%u link=%d a=%x b=%x c=%x d=%x",
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
