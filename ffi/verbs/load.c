// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Loading and unloading. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/module.h>

#include "lnd_verbs.h"
#include "upper.h"

static struct lnd_host_fabric *lnd_verbs_fabric;

static void lnd_verbs_discard(void)
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
		lnd_verbs_discard();
	else
		lnd_verbs_state_add(fabric);
	return rc;
}

static int __init lnd_verbs_init(void)
{
	int rc = lnd_verbs_settings_check() ?: lnd_verbs_nodes_check() ?:
		 lnd_host_params_check();

	if (rc) {
		pr_err("a parameter is out of its bounds, or this node is not one of the peers\n");
		return rc;
	}
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
	lnd_verbs_discard();
	lnd_upper_exit();
	lnd_host_debugfs_exit();
	lnd_host_balance("unloaded");
}

module_init(lnd_verbs_init);
module_exit(lnd_verbs_exit);
