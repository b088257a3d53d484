/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* NIDs and headers: what crosses the wire. The layouts are the protocol's. */
#ifndef LND_CONTRACT_LNET_IDL_H
#define LND_CONTRACT_LNET_IDL_H

#include <linux/types.h>

/* A NID with an address of 4 bytes: network type and number in the upper half. */
typedef __u64 lnet_nid_t;
typedef __u32 lnet_pid_t;

/* A NID with an address of 4 to 16 bytes. Type 0xff: any NID. */
struct lnet_nid {
	__u8 nid_size;	/* bytes of the address above 4 */
	__u8 nid_type;
	__be16 nid_num;
	__be32 nid_addr[4];
} __packed;

#define NID_BYTES(nid) ((nid)->nid_size + 8)
#define NID_ADDR_BYTES(nid) ((nid)->nid_size + 4)

enum lnet_msg_type {
	LNET_MSG_ACK = 0,
	LNET_MSG_PUT = 1,
	LNET_MSG_GET = 2,
	LNET_MSG_REPLY = 3,
	LNET_MSG_HELLO = 4,
};

struct lnet_handle_wire {
	__u64 wh_interface_cookie;
	__u64 wh_object_cookie;
} __packed;

/* The part of a header that depends on the type: an LND carries it and reads nothing of it. */
struct lnet_ack {
	struct lnet_handle_wire dst_wmd;
	__u64 match_bits;
	__u32 mlength;
} __packed;

struct lnet_put {
	struct lnet_handle_wire ack_wmd;
	__u64 match_bits;
	__u64 hdr_data;
	__u32 ptl_index;
	__u32 offset;
} __packed;

struct lnet_get {
	struct lnet_handle_wire return_wmd;
	__u64 match_bits;
	__u32 ptl_index;
	__u32 src_offset;
	__u32 sink_length;
} __packed;

struct lnet_reply {
	struct lnet_handle_wire dst_wmd;
} __packed;

struct lnet_hello {
	__u64 incarnation;
	__u32 type;
} __packed;

union lnet_cmd_hdr {
	struct lnet_ack ack;
	struct lnet_put put;
	struct lnet_get get;
	struct lnet_reply reply;
	struct lnet_hello hello;
} __packed;

/* A header in memory: the fields before msg are in the processor's byte order. */
struct lnet_hdr {
	struct lnet_nid dest_nid;
	struct lnet_nid src_nid;
	lnet_pid_t dest_pid;
	lnet_pid_t src_pid;
	__u32 type;
	__u32 payload_length;
	union lnet_cmd_hdr msg;
} __packed;

/* The same on the wire: 72 bytes with NIDs of 8 bytes, more with large ones. */
struct lnet_hdr_nid4 {
	char _bytes[32 + sizeof(union lnet_cmd_hdr)];
} __packed;

struct lnet_hdr_nid16 {
	char _bytes[sizeof(struct lnet_hdr)];
} __packed;

#endif
