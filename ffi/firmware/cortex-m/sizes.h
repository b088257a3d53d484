/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sizes.h - the sizes of a node's tables, and the memory that they take. */
#ifndef SIZES_H
#define SIZES_H

/* Bytes of payload that travel in a frame. */
#define INLINE 512U

/* Other sizes: -DSLOTS=64U -DPEERS=16U. The macros of lnd.h give the memory for any machine. */
#ifdef SLOTS
#define NI_BYTES LND_NI_BYTES(SLOTS, PEERS, 1, 0, INLINE, 0)
#define RING_BYTES LND_RING_BYTES(SLOTS, 0)
#else
/* What this machine needs, rounded up: lnd_ni_create() and lnd_ring_format() check it. */
#define SLOTS 16U
#define PEERS 4U
#define NI_BYTES 12288U
#define RING_BYTES 2048U
#endif

#endif
