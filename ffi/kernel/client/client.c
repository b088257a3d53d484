// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Makes PUT and GET, and verifies their ends. One job at a time. A job has up to one
 * worker for each CPU, which submits to one of this machine's nodes.
 */
#define pr_fmt(fmt) LND_HOST_NAME ": " fmt
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/seq_file.h>

#include "client.h"

#define WORKERS	8

struct lnd_host_worker {
	struct lnd_host_fabric *fabric;
	struct lnd_host_job job;
	unsigned int number;
	struct task_struct *thread;
	struct semaphore room;	/* further messages that may be under way */
	atomic_t under_way;
	u32 made;
	bool done;
};

static DEFINE_MUTEX(lnd_host_client);	/* protects the workers */
static struct lnd_host_worker lnd_host_worker[WORKERS];
static atomic_long_t lnd_host_counts[LND_HOST_COUNTS];
static atomic_t lnd_host_errno[256];
static atomic_t lnd_host_seeded;
static u64 lnd_host_longest_ns;

/* Counts. Context: any. */
void lnd_host_count(enum lnd_host_count what)
{
	atomic_long_inc(&lnd_host_counts[what]);
}

static void lnd_host_count_errno(int error)
{
	atomic_inc(&lnd_host_errno[min_t(unsigned int, -error, ARRAY_SIZE(lnd_host_errno) - 1)]);
}

/* Lengths around a power of two (one less, equal, one more); or random over all magnitudes. */
static u32 lnd_host_length(const struct lnd_host_worker *worker)
{
	const struct lnd_host_job *job = &worker->job;
	u32 n = worker->made, length, bits;

	if (job->sweep) {
		bits = n / 3 % (ilog2(LND_HOST_LONGEST) + 1);
		length = (1u << bits) + n % 3 - 1;
	} else {
		bits = get_random_u32() % (ilog2(job->max) + 1);
		length = (1u << bits) + (get_random_u32() & ((1u << bits) - 1));
	}
	return clamp(length, job->min, job->max);
}

/* A destination node: not the sender itself. */
static u32 lnd_host_peer(const struct lnd_host_worker *worker, u32 me)
{
	u32 nodes = worker->fabric->nodes;

	if (worker->job.to != LND_HOST_ALL_OTHERS)
		return worker->job.to;
	return (me + 1 + get_random_u32() % (nodes - 1)) % nodes;
}

/* Seeded defect: one byte differs from the seed's pattern. */
static void lnd_host_spoil(struct lnd_host_op *op)
{
	const struct bio_vec *bv = op->payload.bv;
	u8 *page;

	if (!op->payload.length || atomic_cmpxchg(&lnd_host_seeded, 1, 0) != 1)
		return;
	page = kmap_local_page(bv->bv_page);
	page[bv->bv_offset] ^= 0x10;
	kunmap_local(page);
}

/* Gives up a message before it is sent. */
static bool lnd_host_give_up(struct lnd_host_worker *worker, int error)
{
	lnd_host_count(LND_HOST_REFUSED);
	lnd_host_count_errno(error);
	/* The cause of the refusal lasts for a while. */
	usleep_range(1000, 2000);
	up(&worker->room);
	return true;
}

/* Sends one message; false: no room for it now. */
static bool lnd_host_make(struct lnd_host_worker *worker, struct lnd_host_node *node, u32 kind,
			  u32 length)
{
	struct lnd_host_op *op;
	enum lnd_error error;

	if (!node->alive)
		return lnd_host_give_up(worker, -ESHUTDOWN);
	op = lnd_host_op_new(node, worker, kind, length,
			     lnd_soft_nid(lnd_host_peer(worker, node->number)));
	if (!op)
		return false;
	if (kind == LND_PUT) {
		lnd_host_payload_fill(op, op->seed);
		lnd_host_spoil(op);
	}
	if (lnd_host_map(&node->window, &op->map, &op->payload, kind == LND_GET,
			 LND_HOST_MAY_WAIT)) {
		lnd_host_op_end(op);
		return false;
	}
	atomic_inc(&worker->under_way);
	/* After its acceptance the report owns the message. */
	error = lnd_host_fault(LND_HOST_AT_SUBMIT) ? LND_E_PEER_DOWN :
		lnd_host_submit(op, kind, op->peer);
	if (!error) {
		lnd_host_count(LND_HOST_SUBMITTED);
		return true;
	}
	atomic_dec(&worker->under_way);
	lnd_host_op_end(op);
	if (error == LND_E_NO_SLOTS || error == LND_E_NO_LISTS)
		return false;
	return lnd_host_give_up(worker, lnd_error_errno(error));
}

static bool lnd_host_send(struct lnd_host_worker *worker, struct lnd_host_node *node, u32 kind,
			  u32 length)
{
	bool sent;

	/* The node may be killed between two messages, not in the middle of one. */
	down_read(&node->incarnation);
	sent = lnd_host_make(worker, node, kind, length);
	up_read(&node->incarnation);
	return sent;
}

static struct lnd_host_node *lnd_host_my_node(const struct lnd_host_worker *worker)
{
	struct lnd_host_fabric *fabric = worker->fabric;

	return fabric->node[fabric->first + worker->number % fabric->ours];
}

static int lnd_host_work(void *data)
{
	struct lnd_host_worker *worker = data;
	const struct lnd_host_job *job = &worker->job;

	while (!kthread_should_stop() && (!job->count || worker->made < job->count)) {
		struct lnd_host_node *node = lnd_host_my_node(worker);
		u32 kind = !job->get || (job->put && worker->made & 1) ? LND_PUT : LND_GET;
		u32 length = lnd_host_length(worker);

		if (down_timeout(&worker->room, HZ / 20))
			continue;
		while (!lnd_host_send(worker, node, kind, length) && !kthread_should_stop()) {
			lnd_host_count(LND_HOST_RETRIED);
			usleep_range(200, 1000);
		}
		worker->made++;
		cond_resched();
	}
	WRITE_ONCE(worker->done, true);
	while (!kthread_should_stop())
		schedule_timeout_idle(HZ / 20);
	return 0;
}

/* Ends a message under way. */
static void lnd_host_way_over(struct lnd_host_worker *worker)
{
	up(&worker->room);
	/* The last access: at 0 the next job initialises the semaphore again. */
	smp_mb__before_atomic();
	atomic_dec(&worker->under_way);
}

/**
 * lnd_host_client_done() - A message of this host has ended.
 * @op: the message, which the caller frees.
 * @error: 0 or a negative errno.
 * @bytes: bytes moved.
 *
 * Context: thread.
 */
void lnd_host_client_done(struct lnd_host_op *op, int error, u32 bytes)
{
	struct lnd_host_worker *worker = op->worker;
	u64 took = lnd_host_now() - op->begun;

	if (took > READ_ONCE(lnd_host_longest_ns))
		WRITE_ONCE(lnd_host_longest_ns, took);
	lnd_host_count(error ? LND_HOST_ERROR : LND_HOST_OK);
	atomic_long_add(bytes, &lnd_host_counts[LND_HOST_BYTES]);
	if (error)
		lnd_host_count_errno(error);
	lnd_host_way_over(worker);
}

/**
 * lnd_host_client_crashed() - Ends a message of this host whose node was killed.
 * @op: the message, which the caller frees.
 *
 * Context: thread.
 */
void lnd_host_client_crashed(struct lnd_host_op *op)
{
	lnd_host_count(LND_HOST_CRASHED);
	lnd_host_way_over(op->worker);
}

static void lnd_host_workers_stop(struct lnd_host_fabric *fabric)
{
	unsigned int i;

	lockdep_assert_held(&lnd_host_client);
	for (i = 0; i < WORKERS; i++) {
		struct lnd_host_worker *worker = &lnd_host_worker[i];

		if (worker->thread && (!fabric || worker->fabric == fabric)) {
			lnd_host_thread_stop(worker->thread);
			worker->thread = NULL;
		}
	}
}

static int lnd_host_worker_start(struct lnd_host_worker *worker, struct lnd_host_fabric *fabric,
				 const struct lnd_host_job *job, unsigned int number)
{
	struct task_struct *thread;
	unsigned int cpu;

	/* Acquire: partner is lnd_host_way_over(). */
	if (atomic_read_acquire(&worker->under_way))
		return -EBUSY;
	worker->fabric = fabric;
	worker->job = *job;
	worker->number = number;
	worker->made = 0;
	worker->done = false;
	sema_init(&worker->room, job->flight);
	thread = lnd_host_thread(lnd_host_work, worker, "lnd_client", number, 0,
				 LND_HOST_AT_CLIENT_THREAD);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	cpu = cpumask_nth(number % num_online_cpus(), cpu_online_mask);
	/* A CPU may have gone offline meanwhile. */
	if (cpu < nr_cpu_ids)
		kthread_bind(thread, cpu);
	worker->thread = thread;
	wake_up_process(thread);
	return 0;
}

/**
 * lnd_host_client_start() - Begins a job and replaces the one before.
 * @fabric: the fabric of the nodes.
 * @job: the job; checked.
 *
 * Context: thread.
 * Return: 0, -EINVAL, -EBUSY if messages of the job before are still under way, or -ENOMEM.
 */
int lnd_host_client_start(struct lnd_host_fabric *fabric, const struct lnd_host_job *job)
{
	unsigned int i;
	int rc = 0;

	if (!(job->put || job->get) || job->min > job->max || !job->max ||
	    job->max > LND_HOST_LONGEST || !job->workers || job->workers > WORKERS ||
	    !job->flight || (job->to != LND_HOST_ALL_OTHERS && job->to >= fabric->nodes))
		return -EINVAL;
	mutex_lock(&lnd_host_client);
	lnd_host_workers_stop(NULL);
	for (i = 0; i < job->workers && !rc; i++)
		rc = lnd_host_worker_start(&lnd_host_worker[i], fabric, job, i);
	if (rc)
		lnd_host_workers_stop(NULL);
	mutex_unlock(&lnd_host_client);
	return rc;
}

/**
 * lnd_host_client_stop() - Makes no more messages; those under way end by themselves.
 * @fabric: the fabric of the job.
 *
 * Context: thread.
 */
void lnd_host_client_stop(struct lnd_host_fabric *fabric)
{
	mutex_lock(&lnd_host_client);
	lnd_host_workers_stop(fabric);
	mutex_unlock(&lnd_host_client);
}

/* Seeded defect: one byte of the next PUT will be wrong. Context: any. */
void lnd_host_client_seed(void)
{
	atomic_set(&lnd_host_seeded, 1);
}

/* Resets the counts. Context: any. */
void lnd_host_client_reset(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lnd_host_counts); i++)
		atomic_long_set(&lnd_host_counts[i], 0);
	for (i = 0; i < ARRAY_SIZE(lnd_host_errno); i++)
		atomic_set(&lnd_host_errno[i], 0);
	WRITE_ONCE(lnd_host_longest_ns, 0);
}

static const char *const lnd_host_count_names[LND_HOST_COUNTS] = {
	[LND_HOST_SUBMITTED] = "submitted",
	[LND_HOST_OK] = "ok",
	[LND_HOST_ERROR] = "error",
	[LND_HOST_CRASHED] = "crashed",
	[LND_HOST_REFUSED] = "refused",
	[LND_HOST_RETRIED] = "retried",
	[LND_HOST_REQUESTED] = "requested",
	[LND_HOST_REQUESTED_OK] = "requested_ok",
	[LND_HOST_REQUESTED_ERROR] = "requested_error",
	[LND_HOST_UNWANTED] = "unwanted",
	[LND_HOST_DENIED] = "denied",
	[LND_HOST_NONSENSE] = "nonsense",
	[LND_HOST_VERIFIED] = "verified",
	[LND_HOST_CORRUPT] = "corrupt",
	[LND_HOST_BYTES] = "bytes",
};

/**
 * lnd_host_client_show() - Writes all counts, a name and a number per line.
 * @file: the output.
 *
 * Context: thread.
 */
void lnd_host_client_show(struct seq_file *file)
{
	unsigned int i, working = 0, under_way = 0;

	mutex_lock(&lnd_host_client);
	for (i = 0; i < WORKERS; i++) {
		const struct lnd_host_worker *worker = &lnd_host_worker[i];

		working += worker->thread && !READ_ONCE(worker->done);
		under_way += atomic_read(&worker->under_way);
	}
	mutex_unlock(&lnd_host_client);
	seq_printf(file, "working %u\nunder_way %u\n", working, under_way);
	for (i = 0; i < LND_HOST_COUNTS; i++)
		seq_printf(file, "%s %ld\n", lnd_host_count_names[i],
			   atomic_long_read(&lnd_host_counts[i]));
	seq_printf(file, "longest_ms %llu\n",
		   div_u64(READ_ONCE(lnd_host_longest_ns), NSEC_PER_MSEC));
	for (i = 0; i < ARRAY_SIZE(lnd_host_errno); i++) {
		if (atomic_read(&lnd_host_errno[i]))
			seq_printf(file, "errno_%u %d\n", i, atomic_read(&lnd_host_errno[i]));
	}
}
