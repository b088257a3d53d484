// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The client's file, the messages under way, and commands. */
#include <linux/seq_file.h>

#include "client.h"

const char *const lnd_upper_name = "client";

/* Context: thread. */
void lnd_upper_show(struct seq_file *file, struct lnd_host_fabric *fabric)
{
	lnd_host_client_show(file);
}

/* Context: thread; the node is alive. */
void lnd_upper_transfers(struct seq_file *file, struct lnd_host_node *node)
{
	struct lnd_host_op *op;

	spin_lock(&node->upper->lock);
	list_for_each_entry(op, &node->upper->ops, list)
		seq_printf(file, "%s %s %llu bytes %u fragments %u age_ms %llu\n",
			   op->worker ? "ours" : "peer's", op->kind == LND_GET ? "get" : "put",
			   op->peer, READ_ONCE(op->payload.length), READ_ONCE(op->map.nfrags),
			   div_u64(lnd_host_now() - op->begun, NSEC_PER_MSEC));
	spin_unlock(&node->upper->lock);
}

/* seed WHAT. Context: thread, with fabric->control; the node is alive. */
int lnd_upper_control(struct lnd_host_node *node, char *line)
{
	char word[8] = "";

	return sscanf(line, "seed %7s", word) == 1 ? lnd_host_seed(node, word) : -EINVAL;
}

static int lnd_host_job_word(struct lnd_host_job *job, char *word)
{
	const struct {
		const char *name;
		u32 *value;
	} numbers[] = {
		{ "min", &job->min }, { "max", &job->max }, { "workers", &job->workers },
		{ "flight", &job->flight }, { "count", &job->count }, { "to", &job->to },
	};
	char *value = strchr(word, '=');
	unsigned int i;

	if (!strcmp(word, "put"))
		job->put = true;
	else if (!strcmp(word, "get"))
		job->get = true;
	else if (!strcmp(word, "sweep"))
		job->sweep = true;
	else if (!value)
		return -EINVAL;
	if (!value)
		return 0;
	*value++ = '\0';
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!strcmp(word, numbers[i].name))
			return kstrtou32(value, 0, numbers[i].value);
	}
	return -EINVAL;
}

/* start WORD…, stop, reset, spoil. Context: thread. */
int lnd_upper_command(struct lnd_host_fabric *fabric, char *line)
{
	struct lnd_host_job job = {
		.min = 1, .max = LND_HOST_LONGEST, .workers = 1, .flight = 4,
		.to = LND_HOST_ALL_OTHERS,
	};
	char *word = strsep(&line, " ");
	int rc = 0;

	if (!strcmp(word, "stop")) {
		lnd_host_client_stop(fabric);
	} else if (!strcmp(word, "reset")) {
		lnd_host_client_reset();
	} else if (!strcmp(word, "spoil")) {
		lnd_host_client_seed();
	} else if (!strcmp(word, "start")) {
		while (!rc && (word = strsep(&line, " ")))
			rc = lnd_host_job_word(&job, word);
		rc = rc ?: lnd_host_client_start(fabric, &job);
	} else {
		rc = -EINVAL;
	}
	return rc;
}
