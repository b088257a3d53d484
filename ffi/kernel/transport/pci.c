// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A region that virtual machines share: QEMU's ivshmem-doorbell device. BAR 0 holds the registers,
 * BAR 1 the MSI-X tables, BAR 2 the fabric. The doorbell words of the fabric's node table contain
 * the nodes of each machine and the number for its interrupts (docs/fabric.md); vector v is for a
 * machine's v-th node. Interrupts can merge, so they are never counted: each one makes its node
 * check everything.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "lnd_host.h"
#include "upper.h"

#define IVSHMEM_VENDOR	0x1af4
#define IVSHMEM_DEVICE	0x1110
#define IVSHMEM_POSITION	8
#define IVSHMEM_DOORBELL	12
#define IVSHMEM_REGISTERS	16	/* bytes in use */
#define IVSHMEM_MACHINES	0xffff	/* a doorbell's upper half is a machine's number */

/* The fabric's node table. */
#define TABLE		4096
#define TABLE_ENTRY	64
#define TABLE_DOORBELL	12
#define TABLE_END	(TABLE + LND_HOST_NODES * TABLE_ENTRY)

static unsigned int shards = 1;
module_param(shards, uint, 0444);
MODULE_PARM_DESC(shards, "ivshmem: nodes of each machine");

struct lnd_host_pci {
	struct pci_dev *device;
	void __iomem *registers;
	unsigned int vectors;
};

/* A node's doorbell word: 0, or one more than its machine's number. */
static u32 lnd_host_pci_doorbell(const struct lnd_host_fabric *fabric, u32 node)
{
	return READ_ONCE(*(u32 *)(fabric->base + TABLE + node * TABLE_ENTRY + TABLE_DOORBELL));
}

static void lnd_host_pci_ring(struct lnd_host_fabric *fabric, u32 node)
{
	struct lnd_host_pci *pci = fabric->private;
	u32 number = lnd_host_pci_doorbell(fabric, node);

	/* Writes to the fabric come first: writel orders them. */
	if (number)
		writel((number - 1) << 16 | node % fabric->ours, pci->registers + IVSHMEM_DOORBELL);
}

static void lnd_host_pci_aim(struct lnd_host_node *node)
{
	struct lnd_host_pci *pci = node->fabric->private;
	int irq = pci_irq_vector(pci->device, node->number - node->fabric->first);

	/* The hint is for a daemon that would move it. */
	irq_update_affinity_hint(irq, node->cpus);
	irq_set_affinity(irq, node->cpus ?: cpu_possible_mask);
}

static irqreturn_t lnd_host_pci_irq(int irq, void *data)
{
	/* pci_irq_vector() may sleep, so the vector comes from its registration. */
	lnd_host_node_kick(data);
	return IRQ_HANDLED;
}

static int lnd_host_pci_irqs(struct lnd_host_fabric *fabric)
{
	struct lnd_host_pci *pci = fabric->private;
	unsigned int v;
	int rc;

	rc = lnd_host_fault(LND_HOST_AT_PCI_VECTORS) ? -ENOSPC :
	     pci_alloc_irq_vectors(pci->device, fabric->ours, fabric->ours, PCI_IRQ_MSIX);
	if (rc < 0)
		return rc;
	for (v = 0; v < fabric->ours; v++) {
		rc = lnd_host_fault(LND_HOST_AT_PCI_INTERRUPT) ? -EBUSY :
		     request_irq(pci_irq_vector(pci->device, v), lnd_host_pci_irq, 0,
				 LND_HOST_NAME, fabric->node[fabric->first + v]);
		if (rc)
			return rc;
		lnd_host_hold(LND_HOST_HELD_IRQS, 1);
		pci->vectors++;
	}
	return 0;
}

static void lnd_host_pci_close(struct lnd_host_fabric *fabric)
{
	struct lnd_host_pci *pci = fabric->private;

	while (pci->vectors) {
		int irq = pci_irq_vector(pci->device, --pci->vectors);

		irq_update_affinity_hint(irq, NULL);
		free_irq(irq, fabric->node[fabric->first + pci->vectors]);
		lnd_host_hold(LND_HOST_HELD_IRQS, -1);
	}
	pci_free_irq_vectors(pci->device);
	lnd_host_fabric_detach(fabric);
	if (fabric->base)
		memunmap(fabric->base);
	if (pci->registers)
		pci_iounmap(pci->device, pci->registers);
	pci_release_regions(pci->device);
	pci_disable_device(pci->device);
	lnd_host_free(pci, sizeof(*pci));
	lnd_host_free(fabric, sizeof(*fabric));
}

/* Whether a BAR is memory of at least @bytes bytes. */
static bool lnd_host_pci_bar(struct pci_dev *device, int bar, size_t bytes)
{
	return pci_resource_flags(device, bar) & IORESOURCE_MEM &&
	       pci_resource_len(device, bar) >= bytes;
}

/*
 * Finds this machine's nodes: @shards of them, all with its doorbell. A register that reads all
 * ones is no number: the device has none yet, or is gone.
 */
static int lnd_host_pci_place(struct lnd_host_fabric *fabric, u32 position)
{
	u32 node;

	if (position >= IVSHMEM_MACHINES)
		return -ENODEV;
	for (node = 0; lnd_host_pci_doorbell(fabric, node) != position + 1; node++) {
		if (node + shards >= LND_HOST_NODES)
			return -ENODEV;
	}
	fabric->first = node;
	fabric->ours = shards;
	/* A doorbell's vector is a node's number modulo @shards. */
	if (node % shards)
		return -EINVAL;
	for (; node < fabric->first + shards; node++) {
		if (lnd_host_pci_doorbell(fabric, node) != position + 1)
			return -EINVAL;
	}
	return 0;
}

static int lnd_host_pci_map(struct lnd_host_fabric *fabric)
{
	struct lnd_host_pci *pci = fabric->private;
	struct pci_dev *device = pci->device;

	if (lnd_host_fault(LND_HOST_AT_PCI_BARS) ||
	    !lnd_host_pci_bar(device, 0, IVSHMEM_REGISTERS) ||
	    !lnd_host_pci_bar(device, 2, TABLE_END))
		return -ENODEV;
	pci->registers = lnd_host_fault(LND_HOST_AT_PCI_REGISTERS) ? NULL : pci_iomap(device, 0, 0);
	if (!pci->registers)
		return -ENOMEM;
	/* The region is ordinary memory of the host: cached, and not I/O. */
	fabric->bytes = pci_resource_len(device, 2);
	fabric->base = lnd_host_fault(LND_HOST_AT_PCI_MEMORY) ? NULL :
		       memremap(pci_resource_start(device, 2), fabric->bytes, MEMREMAP_WB);
	return fabric->base ? 0 : -ENOMEM;
}

static int lnd_host_pci_open(struct lnd_host_fabric *fabric)
{
	struct lnd_host_pci *pci = fabric->private;
	u32 position;
	int rc;

	rc = lnd_host_pci_map(fabric);
	if (rc)
		return rc;
	position = lnd_host_fault(LND_HOST_AT_PCI_NUMBER) ? U32_MAX :
		   readl(pci->registers + IVSHMEM_POSITION);
	rc = lnd_host_pci_place(fabric, position);
	if (rc)
		return rc;
	pci_set_master(pci->device);
	fabric->ring_out = lnd_host_pci_ring;
	fabric->aim = lnd_host_pci_aim;
	snprintf(fabric->name, sizeof(fabric->name), "ivshmem%u", fabric->first);
	return lnd_host_fabric_attach(fabric) ?: lnd_host_pci_irqs(fabric);
}

static int lnd_host_pci_probe(struct pci_dev *device, const struct pci_device_id *id)
{
	struct lnd_host_fabric *fabric;
	struct lnd_host_pci *pci;
	int rc = -ENOMEM;

	fabric = lnd_host_alloc(sizeof(*fabric), LND_HOST_MAY_WAIT, LND_HOST_AT_PCI_FABRIC);
	pci = lnd_host_alloc(sizeof(*pci), LND_HOST_MAY_WAIT, LND_HOST_AT_PCI_STATE);
	if (!fabric || !pci)
		goto free;
	rc = lnd_host_fault(LND_HOST_AT_PCI_DEVICE) ? -EIO : pci_enable_device(device);
	if (rc)
		goto free;
	rc = lnd_host_fault(LND_HOST_AT_PCI_REGIONS) ? -EBUSY :
	     pci_request_regions(device, LND_HOST_NAME);
	if (rc) {
		pci_disable_device(device);
		goto free;
	}
	pci->device = device;
	fabric->private = pci;
	rc = lnd_host_pci_open(fabric) ?: lnd_upper_add(fabric);
	if (rc) {
		lnd_host_pci_close(fabric);
		return rc;
	}
	pci_set_drvdata(device, fabric);
	return 0;
free:
	lnd_host_free(pci, sizeof(*pci));
	lnd_host_free(fabric, sizeof(*fabric));
	return rc;
}

static void lnd_host_pci_remove(struct pci_dev *device)
{
	struct lnd_host_fabric *fabric = pci_get_drvdata(device);

	lnd_upper_remove(fabric);
	lnd_host_pci_close(fabric);
}

static const struct pci_device_id lnd_host_pci_ids[] = {
	{ PCI_DEVICE(IVSHMEM_VENDOR, IVSHMEM_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, lnd_host_pci_ids);

static struct pci_driver lnd_host_pci_driver = {
	.name = LND_HOST_NAME,
	.id_table = lnd_host_pci_ids,
	.probe = lnd_host_pci_probe,
	.remove = lnd_host_pci_remove,
};

/* Context: thread. */
int __init lnd_host_pci_init(void)
{
	if (!shards || shards > LND_HOST_NODES / 2)
		return -EINVAL;
	return lnd_host_fault(LND_HOST_AT_PCI_DRIVER) ? -ENOMEM :
	       pci_register_driver(&lnd_host_pci_driver);
}

/* Context: thread. */
void lnd_host_pci_exit(void)
{
	pci_unregister_driver(&lnd_host_pci_driver);
}
