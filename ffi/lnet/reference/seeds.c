// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Seeded violations that take more than a line. */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/lnet/lib-lnet.h>

#include "seeds.h"

enum ref_seed ref_seed;

#define REF_SEED_STRING(name, in, violation) #name,

void ref_seeds_init(const char *name)
{
	static const char * const names[] = { REF_SEEDS(REF_SEED_STRING) };
	int i = name ? match_string(names, ARRAY_SIZE(names), name) : -1;

	ref_seed = i < 0 ? REF_SEED_none : i + 1;
}

struct ref_interrupt {
	struct irq_work work;
	struct lnet_msg *msg;
	int status;
};

static void ref_interrupt(struct irq_work *work)
{
	struct ref_interrupt *interrupt = container_of(work, struct ref_interrupt, work);

	lnet_finalize(interrupt->msg, interrupt->status);
}

/* Ends a message in one of the wrong ways, or in the right one. */
void ref_seed_finalize(struct lnet_msg *msg, int status)
{
	struct ref_interrupt interrupt = { .msg = msg, .status = status };
	bool put = msg->msg_sending && msg->msg_type == LNET_MSG_PUT;

	if (REF_SEEDED(never) && put)
		return;
	if (REF_SEEDED(irq)) {
		interrupt.work = IRQ_WORK_INIT_HARD(ref_interrupt);
		irq_work_queue(&interrupt.work);
		irq_work_sync(&interrupt.work);
		return;
	}
	if (REF_SEEDED(atomic))
		preempt_disable();
	if (REF_SEEDED(health))
		msg->msg_health_status = LNET_MSG_STATUS_REMOTE_ERROR;
	if (REF_SEEDED(status) && put) {
		status = -EIO;
		msg->msg_health_status = LNET_MSG_STATUS_REMOTE_ERROR;
	}
	if (REF_SEEDED(kiov) && put)
		msg->msg_kiov[0].bv_len--;
	lnet_finalize(msg, status);
	if (REF_SEEDED(atomic))
		preempt_enable();
	if (REF_SEEDED(twice) && put)
		lnet_finalize(msg, status);
	if (REF_SEEDED(gone) && put)
		lnet_finalize(msg + 1, status);
}

static struct lnet_msg *ref_late_msg;

static void ref_late(struct work_struct *unused)
{
	ref_late_msg->msg_health_status = LNET_MSG_STATUS_LOCAL_ERROR;
	lnet_finalize(ref_late_msg, -ESHUTDOWN);
}

static DECLARE_DELAYED_WORK(ref_late_work, ref_late);

/* The message will end after lnd_shutdown() has returned. */
void ref_seed_late(struct lnet_msg *msg)
{
	ref_late_msg = msg;
	schedule_delayed_work(&ref_late_work, msecs_to_jiffies(30));
}

void ref_seeds_exit(void)
{
	flush_delayed_work(&ref_late_work);
}
