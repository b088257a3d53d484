/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* NIDs taken apart and put together. */
#ifndef LND_CONTRACT_LNET_TYPES_H
#define LND_CONTRACT_LNET_TYPES_H

#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include <uapi/linux/lnet/lnet-idl.h>

#define LNET_NID_ANY (~(lnet_nid_t)0)
#define LNET_PID_ANY (~(lnet_pid_t)0)
#define LNET_PID_LUSTRE 12345

/* What peers read of an interface. */
#define LNET_NI_STATUS_UP 0x15aac0de
#define LNET_NI_STATUS_DOWN 0xdeadface

/* The most that one message carries. */
#define LNET_MTU_BITS 20
#define LNET_MTU 0x100000U

struct lnet_processid {
	struct lnet_nid nid;
	lnet_pid_t pid;
};

static inline __u32 LNET_NIDADDR(lnet_nid_t nid)
{
	return (__u32)nid;
}

static inline __u32 LNET_NIDNET(lnet_nid_t nid)
{
	return (__u32)(nid >> 32);
}

static inline __u32 LNET_NETNUM(__u32 net)
{
	return net & 0xffff;
}

static inline __u32 LNET_NETTYP(__u32 net)
{
	return net >> 16 & 0xff;
}

static inline __u32 LNET_MKNET(__u32 type, __u32 num)
{
	return type << 16 | num;
}

static inline lnet_nid_t LNET_MKNID(__u32 net, __u32 addr)
{
	return (lnet_nid_t)net << 32 | addr;
}

static inline int LNET_NID_IS_ANY(const struct lnet_nid *nid)
{
	return !nid || nid->nid_type == 0xff;
}

static inline bool nid_is_nid4(const struct lnet_nid *nid)
{
	return !nid->nid_size;
}

static inline __u32 LNET_NID_NET(const struct lnet_nid *nid)
{
	if (LNET_NID_IS_ANY(nid))
		return LNET_NIDNET(LNET_NID_ANY);
	return LNET_MKNET(nid->nid_type, be16_to_cpu(nid->nid_num));
}

static inline void lnet_nid4_to_nid(lnet_nid_t nid4, struct lnet_nid *nid)
{
	memset(nid, 0, sizeof(*nid));
	if (nid4 == LNET_NID_ANY) {
		memset(nid, 0xff, sizeof(*nid));
		return;
	}
	nid->nid_type = LNET_NETTYP(LNET_NIDNET(nid4));
	nid->nid_num = cpu_to_be16(LNET_NETNUM(LNET_NIDNET(nid4)));
	nid->nid_addr[0] = cpu_to_be32(LNET_NIDADDR(nid4));
}

static inline lnet_nid_t lnet_nid_to_nid4(const struct lnet_nid *nid)
{
	if (LNET_NID_IS_ANY(nid))
		return LNET_NID_ANY;
	return LNET_MKNID(LNET_NID_NET(nid), be32_to_cpu(nid->nid_addr[0]));
}

static inline int nid_same(const struct lnet_nid *a, const struct lnet_nid *b)
{
	return !memcmp(a, b, sizeof(*a));
}

#endif
