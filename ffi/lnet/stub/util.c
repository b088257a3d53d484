// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The rest of what an LND calls: text, headers, payloads, CPU partitions. All CPUs are one. */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/highmem.h>
#include <linux/topology.h>

#include "stub.h"

int libcfs_setup(void)
{
	return 0;
}
EXPORT_SYMBOL(libcfs_setup);

static cpumask_var_t stub_cpus;

bool stub_util_init(void)
{
	return zalloc_cpumask_var(&stub_cpus, GFP_KERNEL);
}

void stub_util_exit(void)
{
	free_cpumask_var(stub_cpus);
}

struct cfs_cpt_table *cfs_cpt_tab;
EXPORT_SYMBOL(cfs_cpt_tab);

int cfs_cpt_number(struct cfs_cpt_table *cptab)
{
	return 1;
}
EXPORT_SYMBOL(cfs_cpt_number);

int cfs_cpt_weight(struct cfs_cpt_table *cptab, int cpt)
{
	return num_online_cpus();
}
EXPORT_SYMBOL(cfs_cpt_weight);

cpumask_var_t *cfs_cpt_cpumask(struct cfs_cpt_table *cptab, int cpt)
{
	cpumask_copy(stub_cpus, cpu_online_mask);
	return &stub_cpus;
}
EXPORT_SYMBOL(cfs_cpt_cpumask);

int cfs_cpt_current(struct cfs_cpt_table *cptab, int remap)
{
	return 0;
}
EXPORT_SYMBOL(cfs_cpt_current);

int cfs_cpt_of_cpu(struct cfs_cpt_table *cptab, int cpu)
{
	return 0;
}
EXPORT_SYMBOL(cfs_cpt_of_cpu);

int cfs_cpt_bind(struct cfs_cpt_table *cptab, int cpt)
{
	return 0;
}
EXPORT_SYMBOL(cfs_cpt_bind);

int cfs_cpt_spread_node(struct cfs_cpt_table *cptab, int cpt)
{
	return numa_node_id();
}
EXPORT_SYMBOL(cfs_cpt_spread_node);

int lnet_cpt_of_nid(lnet_nid_t nid, struct lnet_ni *ni)
{
	return 0;
}
EXPORT_SYMBOL(lnet_cpt_of_nid);

int lnet_nid2cpt(struct lnet_nid *nid, struct lnet_ni *ni)
{
	return 0;
}
EXPORT_SYMBOL(lnet_nid2cpt);

unsigned int lnet_get_lnd_timeout(void)
{
	return max(stub_limit_ms / 2000, 1U);
}
EXPORT_SYMBOL(lnet_get_lnd_timeout);

__u32 lnet_set_link_fatal_state(struct lnet_ni *ni, unsigned int fatal)
{
	return atomic_xchg(&ni->ni_fatal_error_on, fatal);
}
EXPORT_SYMBOL(lnet_set_link_fatal_state);

void lnet_mark_ping_buffer_for_update(void)
{
	stub.relisted++;
}
EXPORT_SYMBOL(lnet_mark_ping_buffer_for_update);

int lnet_notify(struct lnet_ni *ni, struct lnet_nid *peer, bool alive, bool reset, time64_t when)
{
	if (stub_check_context())
		stub.notified++;
	return 0;
}
EXPORT_SYMBOL(lnet_notify);

char *libcfs_nidstr_r(const struct lnet_nid *nid, char *buf, size_t size)
{
	if (LNET_NID_IS_ANY(nid))
		snprintf(buf, size, "<?>");
	else
		snprintf(buf, size, "%u@<%u:%u>", be32_to_cpu(nid->nid_addr[0]), nid->nid_type,
			 be16_to_cpu(nid->nid_num));
	return buf;
}
EXPORT_SYMBOL(libcfs_nidstr_r);

char *libcfs_nidstr(const struct lnet_nid *nid)
{
	static char text[8][LNET_NIDSTR_SIZE];
	static atomic_t next;
	unsigned int turn = atomic_inc_return(&next);

	return libcfs_nidstr_r(nid, text[turn % ARRAY_SIZE(text)], LNET_NIDSTR_SIZE);
}
EXPORT_SYMBOL(libcfs_nidstr);

unsigned int lnet_kiov_nob(unsigned int niov, struct bio_vec *iov)
{
	unsigned int bytes = 0;

	while (niov--)
		bytes += iov++->bv_len;
	return bytes;
}
EXPORT_SYMBOL(lnet_kiov_nob);

int lnet_extract_kiov(int dst_niov, struct bio_vec *dst, int src_niov, const struct bio_vec *src,
		      unsigned int offset, unsigned int len)
{
	int count = 0;

	for (; len && src_niov; src_niov--, src++) {
		unsigned int here;

		if (offset >= src->bv_len) {
			offset -= src->bv_len;
			continue;
		}
		if (count == dst_niov)
			return -EMSGSIZE;
		here = min(src->bv_len - offset, len);
		dst[count].bv_page = src->bv_page;
		dst[count].bv_offset = src->bv_offset + offset;
		dst[count++].bv_len = here;
		offset = 0;
		len -= here;
	}
	return len ? -EMSGSIZE : count;
}
EXPORT_SYMBOL(lnet_extract_kiov);

void lnet_copy_kiov2iter(struct iov_iter *to, unsigned int nkiov, const struct bio_vec *kiov,
			 unsigned int kiovoffset, unsigned int nob)
{
	for (; nob && nkiov; nkiov--, kiov++) {
		size_t here;

		if (kiovoffset >= kiov->bv_len) {
			kiovoffset -= kiov->bv_len;
			continue;
		}
		here = min(kiov->bv_len - kiovoffset, nob);
		here = copy_page_to_iter(kiov->bv_page, kiov->bv_offset + kiovoffset, here, to);
		if (!here)
			return;
		kiovoffset = 0;
		nob -= here;
	}
}
EXPORT_SYMBOL(lnet_copy_kiov2iter);

/* On the wire: the fields before the last in little-endian order, NIDs of 8 bytes as one number. */
struct stub_wire4 {
	__le64 dest_nid, src_nid;
	__le32 dest_pid, src_pid, type, payload_length;
	union lnet_cmd_hdr msg;
} __packed;

struct stub_wire16 {
	struct lnet_nid dest_nid, src_nid;
	__le32 dest_pid, src_pid, type, payload_length;
	union lnet_cmd_hdr msg;
} __packed;

void lnet_hdr_from_nid4(struct lnet_hdr *hdr, const struct lnet_hdr_nid4 *vhdr)
{
	const struct stub_wire4 *wire = (const void *)vhdr;

	lnet_nid4_to_nid(le64_to_cpu(wire->dest_nid), &hdr->dest_nid);
	lnet_nid4_to_nid(le64_to_cpu(wire->src_nid), &hdr->src_nid);
	hdr->dest_pid = le32_to_cpu(wire->dest_pid);
	hdr->src_pid = le32_to_cpu(wire->src_pid);
	hdr->type = le32_to_cpu(wire->type);
	hdr->payload_length = le32_to_cpu(wire->payload_length);
	hdr->msg = wire->msg;
}
EXPORT_SYMBOL(lnet_hdr_from_nid4);

void lnet_hdr_to_nid4(const struct lnet_hdr *hdr, struct lnet_hdr_nid4 *vhdr)
{
	struct stub_wire4 *wire = (void *)vhdr;

	BUILD_BUG_ON(sizeof(*wire) != 72 || sizeof(*vhdr) != 72);
	wire->dest_nid = cpu_to_le64(lnet_nid_to_nid4(&hdr->dest_nid));
	wire->src_nid = cpu_to_le64(lnet_nid_to_nid4(&hdr->src_nid));
	wire->dest_pid = cpu_to_le32(hdr->dest_pid);
	wire->src_pid = cpu_to_le32(hdr->src_pid);
	wire->type = cpu_to_le32(hdr->type);
	wire->payload_length = cpu_to_le32(hdr->payload_length);
	wire->msg = hdr->msg;
}
EXPORT_SYMBOL(lnet_hdr_to_nid4);

void lnet_hdr_from_nid16(struct lnet_hdr *hdr, const struct lnet_hdr_nid16 *vhdr)
{
	const struct stub_wire16 *wire = (const void *)vhdr;

	hdr->dest_nid = wire->dest_nid;
	hdr->src_nid = wire->src_nid;
	hdr->dest_pid = le32_to_cpu(wire->dest_pid);
	hdr->src_pid = le32_to_cpu(wire->src_pid);
	hdr->type = le32_to_cpu(wire->type);
	hdr->payload_length = le32_to_cpu(wire->payload_length);
	hdr->msg = wire->msg;
}
EXPORT_SYMBOL(lnet_hdr_from_nid16);

void lnet_hdr_to_nid16(const struct lnet_hdr *hdr, struct lnet_hdr_nid16 *vhdr)
{
	struct stub_wire16 *wire = (void *)vhdr;

	wire->dest_nid = hdr->dest_nid;
	wire->src_nid = hdr->src_nid;
	wire->dest_pid = cpu_to_le32(hdr->dest_pid);
	wire->src_pid = cpu_to_le32(hdr->src_pid);
	wire->type = cpu_to_le32(hdr->type);
	wire->payload_length = cpu_to_le32(hdr->payload_length);
	wire->msg = hdr->msg;
}
EXPORT_SYMBOL(lnet_hdr_to_nid16);
