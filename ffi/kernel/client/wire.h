/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The wire format of the test client, also for processes. */
#ifndef LND_HOST_WIRE_H
#define LND_HOST_WIRE_H

#include <linux/types.h>

#define LND_HOST_MAGIC	0x74736554u	/* "Test" */

/* The client's data in the upper layer's header; little-endian. */
struct lnd_host_header {
	__le32 magic;
	__le32 kind;	/* enum lnd_kind */
	__le32 length;
	__le32 reserved;
	__le64 seed;	/* of the payload */
};

/* The 8 bytes at @at, a multiple of 8, of @seed's payload. */
static inline __u64 lnd_host_word(__u64 seed, __u32 at)
{
	__u64 word = (seed + at) * 0x9e3779b97f4a7c15ull;

	return word ^ word >> 29;
}

static inline __u8 lnd_host_byte(__u64 seed, __u32 at)
{
	return lnd_host_word(seed, at & ~7u) >> (at % 8 * 8);
}

enum lnd_host_count {
	LND_HOST_SUBMITTED,	/* messages that the library has accepted */
	LND_HOST_OK,	/* of these, ended well */
	LND_HOST_ERROR,	/* of these, ended with an error */
	LND_HOST_CRASHED,	/* of these, gone with a killed node */
	LND_HOST_REFUSED,	/* not accepted; counted once for each message given up */
	LND_HOST_RETRIED,	/* not accepted at first, tried again */
	LND_HOST_REQUESTED,	/* peers' requests that were accepted */
	LND_HOST_REQUESTED_OK,
	LND_HOST_REQUESTED_ERROR,
	LND_HOST_UNWANTED,	/* a REPLY that is no longer awaited */
	LND_HOST_DENIED,	/* peers' requests that were refused */
	LND_HOST_NONSENSE,	/* peers' requests that were not valid */
	LND_HOST_VERIFIED,	/* payloads that were right, byte by byte */
	LND_HOST_CORRUPT,	/* payloads that were wrong */
	LND_HOST_BYTES,	/* of our own messages that ended well */
	LND_HOST_COUNTS
};

#endif
