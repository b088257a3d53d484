// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Loading and unloading. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "lnd_host.h"
#include "upper.h"

static char *transport = "loop";
module_param(transport, charp, 0444);
MODULE_PARM_DESC(transport, "loop (this kernel) or ivshmem (PCI)");

static bool lnd_host_is_loop(void)
{
	return !strcmp(transport, "loop");
}

static int __init lnd_host_init(void)
{
	int rc = lnd_host_params_check();

	if (rc)
		return rc;
	if (lnd_host_fault(LND_HOST_AT_ABI) || lnd_abi_version() != LND_ABI_VERSION) {
		pr_err("library has ABI version %u, header %u\n", lnd_abi_version(),
		       LND_ABI_VERSION);
		return -EINVAL;
	}
	lnd_host_debugfs_init();
	rc = lnd_upper_init();
	if (rc)
		goto failed;
	if (lnd_host_is_loop())
		rc = lnd_host_loop_init();
	else if (!strcmp(transport, "ivshmem"))
		rc = lnd_host_pci_init();
	else
		rc = -EINVAL;
	if (!rc)
		return 0;
	lnd_upper_exit();
failed:
	lnd_host_debugfs_exit();
	lnd_host_balance("not loaded");
	return rc;
}

static void __exit lnd_host_exit(void)
{
	if (lnd_host_is_loop())
		lnd_host_loop_exit();
	else
		lnd_host_pci_exit();
	lnd_upper_exit();
	lnd_host_debugfs_exit();
	lnd_host_balance("unloaded");
}

module_init(lnd_host_init);
module_exit(lnd_host_exit);
