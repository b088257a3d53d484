// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The file "send" of each fabric, which takes a word and shows nothing. */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/kernel.h>

#include "skeleton.h"

const char *const lnd_upper_name = "send";

/* "put BYTES": from this host's first node to its second. Context: thread. */
int lnd_upper_command(struct lnd_host_fabric *fabric, char *line)
{
	struct lnd_host_node *node = fabric->node[fabric->first];
	struct lnd_send_request request = {
		.size = sizeof(request),
		.kind = LND_PUT,
		.nid = lnd_soft_nid(fabric->first + 1),
		.link = LND_ANY_LINK,
		.header = "skeleton",
		.header_len = 8,
		.deadline = lnd_host_now() + LND_SKELETON_DEADLINE,
	};
	struct lnd_skeleton_message *message;
	enum lnd_error error;
	u32 length;

	if (strcmp(strsep(&line, " "), "put") || !line || kstrtou32(line, 0, &length) ||
	    length > PAGE_SIZE)
		return -EINVAL;
	message = lnd_skeleton_new(node, length, false, LND_HOST_MAY_WAIT);
	if (!message)
		return -ENOMEM;
	request.frags = message->map.frags;
	request.nfrags = message->map.nfrags;
	request.user = (uintptr_t)message;
	error = lnd_submit(node->ni, &request, lnd_host_now(), NULL, NULL);
	if (!error)
		return 0;	/* the report owns the message */
	lnd_skeleton_free(node, message);
	pr_err("lnd_submit: error %d\n", error);
	return -EIO;
}

void lnd_upper_show(struct seq_file *file, struct lnd_host_fabric *fabric)
{
}

void lnd_upper_transfers(struct seq_file *file, struct lnd_host_node *node)
{
}

int lnd_upper_control(struct lnd_host_node *node, char *line)
{
	return -EINVAL;
}
