/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The test client's wire format and counts. */
#ifndef LND_HOST_CLIENT_H
#define LND_HOST_CLIENT_H

#include <linux/types.h>

#define LND_HOST_MAGIC	0x74736554u	/* "Test" */

/* What the client says in the upper layer's header; little-endian. */
struct lnd_host_header {
	__le32 magic;
	__le32 kind;	/* enum lnd_kind */
	__le32 length;
	__le32 reserved;
	__le64 seed;	/* says what the payload is */
};

/* The 8 bytes from @at on, a multiple of 8, of the payload that @seed says. */
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
	LND_HOST_RETRIED,	/* not accepted for now, tried again */
	LND_HOST_REQUESTED,	/* peers' requests that we took */
	LND_HOST_REQUESTED_OK,
	LND_HOST_REQUESTED_ERROR,
	LND_HOST_UNWANTED,	/* a REPLY that nobody waits for any more */
	LND_HOST_DENIED,	/* peers' requests that we refused */
	LND_HOST_NONSENSE,	/* peers' requests that made no sense */
	LND_HOST_VERIFIED,	/* payloads that were right, byte by byte */
	LND_HOST_CORRUPT,	/* payloads that were wrong */
	LND_HOST_BYTES,	/* of our own messages that ended well */
	LND_HOST_COUNTS
};

#ifdef __KERNEL__
void lnd_host_count(enum lnd_host_count what);
#endif

#endif
