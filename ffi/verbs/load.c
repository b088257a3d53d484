// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Loading, unloading, and this transport's parameters. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "lnd_verbs.h"
#include "upper.h"

/* o2iblnd has 987. */
unsigned short lnd_verbs_port = 986;
module_param_named(port, lnd_verbs_port, ushort, 0444);
MODULE_PARM_DESC(port, "rdma_cm's port");

unsigned int lnd_verbs_connect_ms = 2000;
module_param_named(connect_ms, lnd_verbs_connect_ms, uint, 0444);
MODULE_PARM_DESC(connect_ms, "ms within which a connection must be made");

unsigned int lnd_verbs_probe_ms = 5000;
module_param_named(probe_ms, lnd_verbs_probe_ms, uint, 0444);
MODULE_PARM_DESC(probe_ms, "ms without a sign of the peer after which it is probed; 0: never");

unsigned int lnd_verbs_timeout = 14;
module_param_named(timeout, lnd_verbs_timeout, uint, 0444);
MODULE_PARM_DESC(timeout, "acknowledge timeout, 4.096 us * 2^timeout: 8 to 21");

unsigned int lnd_verbs_retries = 6;
module_param_named(retries, lnd_verbs_retries, uint, 0444);
MODULE_PARM_DESC(retries, "how often an unacknowledged packet is sent again: 0 to 6");

unsigned int lnd_verbs_chain = 2;
module_param_named(chain, lnd_verbs_chain, uint, 0444);
MODULE_PARM_DESC(chain, "registrations in front of their frames: 0: no, 1: yes, 2: by the device");

unsigned int lnd_verbs_inv = 2;
module_param_named(inv, lnd_verbs_inv, uint, 0444);
MODULE_PARM_DESC(inv, "a pull's end invalidates the peer's key: 0: no, 1: yes, 2: by the device");

unsigned int lnd_verbs_watch_ms;
module_param_named(watch_ms, lnd_verbs_watch_ms, uint, 0444);
MODULE_PARM_DESC(watch_ms, "ms for which memory is watched after its report; 0: not at all");

#ifdef LND_HOST_SEEDS
static char *defect = "";
module_param(defect, charp, 0644);
MODULE_PARM_DESC(defect, "a seeded defect; tests/parts/verbs has their names");

bool lnd_verbs_defect(const char *name)
{
	return sysfs_streq(READ_ONCE(defect), name);
}
#endif

static struct lnd_host_fabric *lnd_verbs_fabric;

static int __init lnd_verbs_check(void)
{
	if (!lnd_verbs_connect_ms || lnd_verbs_timeout < 8 || lnd_verbs_timeout > 21 ||
	    lnd_verbs_retries > 6 || lnd_verbs_chain > 2 || lnd_verbs_inv > 2)
		return -EINVAL;
	return lnd_verbs_nodes_check() ?: lnd_host_params_check();
}

static void lnd_verbs_detach(void)
{
	struct lnd_host_fabric *fabric = lnd_verbs_fabric;

	if (fabric->node[fabric->first])
		lnd_host_node_free(fabric->node[fabric->first]);
	lnd_host_free(fabric, sizeof(*fabric));
}

static int __init lnd_verbs_attach(void)
{
	struct lnd_host_fabric *fabric = lnd_host_alloc(sizeof(*fabric), LND_HOST_MAY_WAIT,
							LND_HOST_AT_FABRIC);
	int rc = -ENOMEM;

	if (!fabric)
		return -ENOMEM;
	lnd_verbs_fabric = fabric;
	strscpy(fabric->name, "verbs", sizeof(fabric->name));
	mutex_init(&fabric->control);
	lnd_verbs_nodes(fabric);
	fabric->links = 1;
	fabric->ours = 1;
	fabric->node[fabric->first] = lnd_host_node_alloc(fabric, fabric->first);
	if (fabric->node[fabric->first])
		rc = lnd_upper_add(fabric);
	if (rc)
		lnd_verbs_detach();
	else
		lnd_verbs_state_add(fabric);
	return rc;
}

static int __init lnd_verbs_init(void)
{
	int rc = lnd_verbs_check();

	if (rc)
		return rc;
	if (lnd_abi_version() != LND_ABI_VERSION) {
		pr_err("library has ABI version %u, header %u\n", lnd_abi_version(),
		       LND_ABI_VERSION);
		return -EINVAL;
	}
	lnd_host_debugfs_init();
	rc = lnd_upper_init();
	if (!rc) {
		rc = lnd_verbs_attach();
		if (!rc)
			return 0;
		lnd_upper_exit();
	}
	lnd_host_debugfs_exit();
	lnd_host_balance("not loaded");
	return rc;
}

static void __exit lnd_verbs_exit(void)
{
	lnd_upper_remove(lnd_verbs_fabric);
	lnd_verbs_detach();
	lnd_upper_exit();
	lnd_host_debugfs_exit();
	lnd_host_balance("unloaded");
}

module_init(lnd_verbs_init);
module_exit(lnd_verbs_exit);
