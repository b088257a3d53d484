// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Parameters. */
#include <linux/jiffies.h>
#include <linux/module.h>

#include "stub.h"

unsigned int stub_limit_ms = 5000;
module_param_named(limit_ms, stub_limit_ms, uint, 0644);
MODULE_PARM_DESC(limit_ms, "after how long an operation counts as stuck");

char *stub_interfaces[STUB_NIS] = { "if1", "if2" };
int stub_interface_count = STUB_NIS;
module_param_array_named(interfaces, stub_interfaces, charp, &stub_interface_count, 0444);
MODULE_PARM_DESC(interfaces, "two interfaces that reach each other; with two machines, one");

char *stub_bad;
module_param_named(bad, stub_bad, charp, 0444);
MODULE_PARM_DESC(bad, "an interface that the LND must refuse");

/* How long an operation may take: the LND's own limit does not count. */
unsigned long stub_limit(void)
{
	return msecs_to_jiffies(stub_limit_ms);
}
