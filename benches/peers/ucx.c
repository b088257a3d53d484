// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Peer: UCP tags with many receives posted, and endpoints that are closed. Both sides are two
 * workers of one thread, and its processor time is measured: nothing waits for another processor.
 *
 * posted ORDER N: N receives with tags of their own are posted; messages of 8 bytes meet them in
 * order or at random, and each is posted again. Prints nanoseconds a message.
 * close N: N sends of 1 MiB that no receive meets; then the endpoint is closed by force. Prints
 * nanoseconds a send until all have ended.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>

#define BYTES (1 << 20)

static ucp_worker_h sender, receiver;
static ucp_address_t *address;
static char *source, *sink;
static long received, ended;

static void check(ucs_status_t status, const char *what)
{
	if (status == UCS_OK || status == UCS_INPROGRESS)
		return;
	fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
	exit(1);
}

static void check_request(void *request, const char *what)
{
	if (UCS_PTR_IS_ERR(request))
		check(UCS_PTR_STATUS(request), what);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static void on_receive(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
		       void *user)
{
	(void)info, (void)user, (void)status;
	received++;
	ucp_request_free(request);
}

static void on_sent(void *request, ucs_status_t status, void *user)
{
	(void)user, (void)status;
	ended++;
	ucp_request_free(request);
}

static const ucp_request_param_t at_receive = {
	.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
	.cb.recv = on_receive,
};
static const ucp_request_param_t at_sent = {
	.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
	.cb.send = on_sent,
};

static void progress(void)
{
	ucp_worker_progress(receiver);
	ucp_worker_progress(sender);
}

static ucp_ep_h connected(ucp_err_handling_mode_t mode)
{
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
			      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
		.address = address,
		.err_mode = mode,
	};
	ucp_ep_h endpoint;

	check(ucp_ep_create(sender, &params, &endpoint), "endpoint");
	return endpoint;
}

static void post(uint64_t tag)
{
	check_request(ucp_tag_recv_nbx(receiver, sink, 8, tag, UINT64_MAX, &at_receive), "receive");
}

static void posted(int at_random, long count)
{
	ucp_ep_h endpoint = connected(UCP_ERR_HANDLING_MODE_NONE);
	/* A random one of a million takes many microseconds. */
	long messages = at_random && count > 1000 ? 20000 : 200000;
	uint64_t random = 88172645463325252ull;
	double begin;

	for (long n = 0; n < count; n++)
		post(n);
	begin = now();
	for (long n = 0; n < messages; n++) {
		long before = received;
		uint64_t tag = n % count;

		if (at_random) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			tag = random % count;
		}
		check_request(ucp_tag_send_nbx(endpoint, source, 8, tag, &at_sent), "send");
		while (received == before)
			progress();
		post(tag);
	}
	printf("%.2f\n", (now() - begin) / messages);
}

static void closed(long count)
{
	ucp_ep_h endpoint = connected(UCP_ERR_HANDLING_MODE_PEER);
	ucp_request_param_t force = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = UCP_EP_CLOSE_FLAG_FORCE,
	};
	double begin;
	long left;

	for (long n = 0; n < count; n++) {
		check_request(ucp_tag_send_nbx(endpoint, source, BYTES, n, &at_sent), "send");
		if (n % 16 == 15)
			progress();
	}
	left = count - ended;
	begin = now();
	check_request(ucp_ep_close_nbx(endpoint, &force), "close");
	while (ended < count) {
		progress();
		if (now() - begin > 2e10) {
			fprintf(stderr, "%ld sends have not ended\n", count - ended);
			exit(1);
		}
	}
	printf("%.2f\n", (now() - begin) / left);
}

int main(int count, char **arguments)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_TAG,
	};
	ucp_worker_params_t worker = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};
	ucp_context_h context;
	size_t length;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	check(ucp_init(&params, NULL, &context), "context");
	check(ucp_worker_create(context, &worker, &sender), "worker");
	check(ucp_worker_create(context, &worker, &receiver), "worker");
	check(ucp_worker_get_address(receiver, &address, &length), "address");
	source = malloc(BYTES);
	sink = malloc(BYTES);
	for (long n = 0; n < BYTES; n++)
		source[n] = sink[n] = n * 131 + 7;
	if (count == 4 && !strcmp(arguments[1], "posted"))
		posted(!strcmp(arguments[2], "random"), atol(arguments[3]));
	else if (count == 3 && !strcmp(arguments[1], "close"))
		closed(atol(arguments[2]));
	else
		return 2;
	fflush(stdout);
	/* What is still posted is not taken back: that is not measured, and takes long. */
	_Exit(0);
}
