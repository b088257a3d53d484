// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Parameters. */
#include <linux/module.h>

#include "stub.h"

unsigned int stub_limit_ms = 5000;
module_param_named(limit_ms, stub_limit_ms, uint, 0644);
MODULE_PARM_DESC(limit_ms, "after how long an operation counts as stuck");

char *stub_interfaces[STUB_NIS] = { "if1", "if2" };
static int stub_interface_count;
module_param_array_named(interfaces, stub_interfaces, charp, &stub_interface_count, 0444);
MODULE_PARM_DESC(interfaces, "two interfaces of the LND that reach each other");

char *stub_bad;
module_param_named(bad, stub_bad, charp, 0444);
MODULE_PARM_DESC(bad, "an interface that the LND must refuse");
