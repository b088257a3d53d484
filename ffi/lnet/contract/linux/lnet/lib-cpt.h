/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* CPU partitions. */
#ifndef LND_CONTRACT_LIB_CPT_H
#define LND_CONTRACT_LIB_CPT_H

#include <linux/cpumask.h>
#include <linux/types.h>

#define CFS_CPT_ANY (-1)

struct cfs_cpt_table;
extern struct cfs_cpt_table *cfs_cpt_tab;

int cfs_cpt_number(struct cfs_cpt_table *cptab);
int cfs_cpt_weight(struct cfs_cpt_table *cptab, int cpt);
cpumask_var_t *cfs_cpt_cpumask(struct cfs_cpt_table *cptab, int cpt);
int cfs_cpt_current(struct cfs_cpt_table *cptab, int remap);
int cfs_cpt_of_cpu(struct cfs_cpt_table *cptab, int cpu);
int cfs_cpt_bind(struct cfs_cpt_table *cptab, int cpt);
/* A NUMA node of the partition, for allocations. */
int cfs_cpt_spread_node(struct cfs_cpt_table *cptab, int cpt);

#endif
