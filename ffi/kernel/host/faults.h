/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Every exit path of the module's start, stop and lnd_upper_request(), in one list.
 *
 * A point is a call that may fail, or an exit path that no failing call leads to. Each of its words
 * is a circumstance in which the point must be shown to work:
 *
 *   load      at load, loop or PCI device	parse   in a node's thread
 *   loop      at load, loop			supply  in the work that waits for memory
 *   ivshmem   at load, PCI device		client  in a client's thread
 *   verbs     at load, over verbs		job     where a client's job begins
 *   stop      at unload			connect where a connection is made, over verbs
 *
 * A call that may fail asks lnd_host_fault() first; an exit path of stop calls lnd_host_taken().
 * tests/kernel/guest/inject.sh, inject_pci.sh and verbs_pair.sh read this list from a build for
 * tests (parameter "points"), and fail if a point was not taken in each of its circumstances.
 */
#ifndef LND_HOST_FAULTS_H
#define LND_HOST_FAULTS_H

#include <linux/gfp.h>
#include <linux/types.h>

#ifdef LND_HOST_OBSERVE
#define LND_HOST_OBSERVED(P) P(OBSERVER, "observer", "load")
#else
#define LND_HOST_OBSERVED(P)
#endif

#ifdef LND_OVER_VERBS
#define LND_HOST_CONNECTED(P) \
	P(DESC_LIST,		"desc_list",		"verbs") \
	P(FRAME_POOL,		"frame_pool",		"verbs") \
	P(FRAME_HEAD,		"frame_head",		"verbs") \
	P(WORKERS,		"workers",		"verbs") \
	P(PEER_TABLE,		"peer_table",		"verbs") \
	P(NETDEVS,		"netdevs",		"verbs") \
	P(ADDRESSES,		"addresses",		"verbs") \
	P(DEVICES,		"devices",		"verbs") \
	P(LISTENER,		"listener",		"verbs") \
	P(LISTEN,		"listen",		"verbs") \
	P(CM_ID,		"cm_id",		"connect") \
	P(CM_ADDRESS,		"cm_address",		"connect") \
	P(CM_ROUTE,		"cm_route",		"connect") \
	P(CM_CONNECT,		"cm_connect",		"connect") \
	P(CM_ACCEPT,		"cm_accept",		"connect") \
	P(DOMAIN,		"domain",		"connect") \
	P(CQ,			"cq",			"connect") \
	P(QP,			"qp",			"connect") \
	P(REGION,		"region",		"connect") \
	P(REGION_KEY,		"region_key",		"connect") \
	P(LOCAL_QP,		"local_qp",		"connect") \
	P(LOCAL_UP,		"local_up",		"connect") \
	P(RECEIVES,		"receives",		"connect")
#else
#define LND_HOST_CONNECTED(P)
#endif

#define LND_HOST_POINTS(P) \
	LND_HOST_OBSERVED(P) \
	LND_HOST_CONNECTED(P) \
	P(ABI,			"abi",			"load") \
	P(LOOP_FABRIC,		"loop_fabric",		"loop") \
	P(LOOP_SHAPE,		"loop_shape",		"loop") \
	P(LOOP_SIZE,		"loop_size",		"loop") \
	P(LOOP_REGION,		"loop_region",		"loop") \
	P(LOOP_FORMAT,		"loop_format",		"loop") \
	P(PCI_DRIVER,		"pci_driver",		"ivshmem") \
	P(PCI_FABRIC,		"pci_fabric",		"ivshmem") \
	P(PCI_STATE,		"pci_state",		"ivshmem") \
	P(PCI_DEVICE,		"pci_device",		"ivshmem") \
	P(PCI_REGIONS,		"pci_regions",		"ivshmem") \
	P(PCI_BARS,		"pci_bars",		"ivshmem") \
	P(PCI_REGISTERS,	"pci_registers",	"ivshmem") \
	P(PCI_MEMORY,		"pci_memory",		"ivshmem") \
	P(PCI_NUMBER,		"pci_number",		"ivshmem") \
	P(PCI_VECTORS,		"pci_vectors",		"ivshmem") \
	P(PCI_INTERRUPT,	"pci_interrupt",	"ivshmem") \
	P(FABRIC,		"fabric",		"load verbs") \
	P(ATTACH,		"attach",		"load") \
	P(SHAPE,		"shape",		"load") \
	P(NODE,			"node",			"load verbs") \
	P(UPPER,		"upper",		"load verbs") \
	P(SOFT_NODE,		"soft_node",		"load") \
	P(JOIN,			"join",			"load") \
	P(PREPARE,		"prepare",		"load") \
	P(WINDOW,		"window",		"load verbs") \
	P(WINDOW_MAP,		"window_map",		"load verbs") \
	P(FRAME,		"frame",		"load verbs") \
	P(CONFIG,		"config",		"load") \
	P(RINGS,		"rings",		"load") \
	P(NI_MEMORY,		"ni_memory",		"load verbs") \
	P(NI,			"ni",			"load verbs") \
	P(ENGINE_MEMORY,	"engine_memory",	"load verbs") \
	P(ENGINE,		"engine",		"load verbs") \
	P(ENGINE_THREAD,	"engine_thread",	"load") \
	P(NODE_THREAD,		"node_thread",		"load verbs") \
	P(ANNOUNCE,		"announce",		"load") \
	P(STOP_IDLE,		"stop_idle",		"stop") \
	P(STOP_HUNGRY,		"stop_hungry",		"stop") \
	P(STOP_FAILED,		"stop_failed",		"stop") \
	P(STOP_DOWN,		"stop_down",		"stop") \
	P(HEADER,		"header",		"parse") \
	P(REPLY_MATCH,		"reply_match",		"parse") \
	P(REPLY_ACCEPT,		"reply_accept",		"parse") \
	P(REPLY_SUBMIT,		"reply_submit",		"parse") \
	P(SPARE,		"spare",		"parse") \
	P(MESSAGE,		"memory_message",	"parse supply client") \
	P(VECTORS,		"memory_vectors",	"parse supply client") \
	P(PAGE,			"memory_page",		"parse supply client") \
	P(FRAGMENTS,		"memory_fragments",	"parse supply client") \
	P(ROOM,			"room",			"parse supply client") \
	P(ACCEPT,		"accept",		"parse supply") \
	P(STALE,		"stale",		"parse supply") \
	P(SUBMIT,		"submit",		"client") \
	P(SUPPLY_LATE,		"supply_late",		"supply") \
	P(CLIENT_THREAD,	"client_thread",	"job")

enum lnd_host_point {
#define LND_HOST_POINT(id, name, where) LND_HOST_AT_##id,
	LND_HOST_POINTS(LND_HOST_POINT)
#undef LND_HOST_POINT
	LND_HOST_POINT_COUNT
};

#ifdef LND_HOST_SEEDS
bool lnd_host_fault(enum lnd_host_point point);
bool lnd_host_starves(gfp_t gfp, enum lnd_host_point point);
void lnd_host_taken(enum lnd_host_point point);
bool lnd_host_loses(const char *what);
#else
static inline bool lnd_host_fault(enum lnd_host_point point)
{
	return false;
}

static inline bool lnd_host_starves(gfp_t gfp, enum lnd_host_point point)
{
	return false;
}

static inline void lnd_host_taken(enum lnd_host_point point)
{
}

static inline bool lnd_host_loses(const char *what)
{
	return false;
}
#endif

#endif
