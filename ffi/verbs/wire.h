/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What goes over the wire, as one node says it to another one. */
#ifndef LND_VERBS_WIRE_H
#define LND_VERBS_WIRE_H

#include <linux/types.h>

/* Lanes on the wire: those of enum lnd_lane, and one of the channel's own. */
#define LND_VERBS_NOTE		2
#define LND_VERBS_LANES		3

/* Before each frame on the wire; little-endian. */
struct lnd_verbs_head {
	__le16 granted[LND_VERBS_LANES];	/* receives since the connection is up */
	u8 lane;
	u8 reserved;
};

/* The key of a staged descriptor on the wire; little-endian. */
struct lnd_verbs_key {
	__le64 address;
	__le32 rkey;
	__le32 length;
	__le32 cookie;	/* of the connection on which it is valid */
	__le32 segments;	/* 0: the bytes are at address; else so many segments are there */
};

/* A part of a descriptor, in the memory of the one that has staged it; little-endian. */
struct lnd_verbs_segment {
	__le64 address;
	__le32 rkey;
	__le32 length;
};

/* What each side says of itself in the private data of REQ and REP; big-endian. */
struct lnd_verbs_hello {
	__be32 magic;
	__be32 version;
	__be64 from;
	__be64 to;
	__be64 incarnation;
	__be32 cookie;
	__be16 granted[LND_VERBS_LANES];	/* receives that are there from the start */
	__be16 longest;	/* longest frame that fits into them */
};

#endif
