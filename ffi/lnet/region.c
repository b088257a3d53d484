// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Interfaces over regions of memory. */
#include <linux/module.h>

#include "lnet.h"

/**
 * lnd_lnet_find() - The node of an interface.
 * @fabrics: LND_LNET_FABRICS of them; NULL: none. They stay during the call.
 * @interface: "loop0", "ivshmem2".
 *
 * Context: thread.
 * Return: the node, in use or not; NULL: it is not one of this host's.
 */
struct lnd_host_node *lnd_lnet_find(struct lnd_host_fabric *const *fabrics, const char *interface)
{
	size_t name = 0;
	unsigned int i, number;
	char rest;

	while (interface[name] >= 'a')
		name++;
	/* a number and nothing behind it */
	if (name >= sizeof(fabrics[0]->name) ||
	    sscanf(interface + name, "%3u%c", &number, &rest) != 1)
		return NULL;
	for (i = 0; i < LND_LNET_FABRICS; i++) {
		struct lnd_host_fabric *fabric = fabrics[i];

		if (fabric && number < LND_HOST_NODES && fabric->node[number] &&
		    !memcmp(fabric->name, interface, name) && fabric->name[name] < 'a')
			return fabric->node[number];
	}
	return NULL;
}
