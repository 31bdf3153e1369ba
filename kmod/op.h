/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_OP_H
#define GPUFABRIC_OP_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include "check.h"
#include "slot.h"

/**
 * struct gf_who - who asked
 * @uid: user
 * @pid: process, referenced, NULL when the kernel itself acts
 * @port: netlink port
 * @comm: command
 * @reason: free text
 */
struct gf_who {
	kuid_t uid;
	struct pid *pid;
	u32 port;
	char comm[TASK_COMM_LEN];
	char reason[GPUFABRIC_REASON_MAX + 1];
};

void gf_who_current(struct gf_who *who, u32 port, const char *reason);
void gf_who_copy(struct gf_who *to, const struct gf_who *from);
void gf_who_drop(struct gf_who *who);

/**
 * struct gf_expect - the identity that a request expects
 * @mask: bit 0 vendor, 1 device, 2 subsystem vendor, 3 subsystem id
 * @id: values in that order
 */
struct gf_expect {
	u32 mask;
	u16 id[4];
};

bool gf_expect_met(const struct gf_expect *expect,
		   const struct gf_identity *identity);

/**
 * struct gf_step - one slot's part of an operation
 * @op: the operation
 * @slot: the slot, referenced until the operation is freed
 * @need: what its worker does; set before the worker is queued
 * @remove: the slot is to be given back, not taken
 * @turn: as in &struct gf_pick
 * @turns: in &gf_switch.turns; under the fabric's lock
 * @waits: its worker is queued when those before it there have gone; under the
 *	fabric's lock
 * @again: its worker is to wait for those before it; the worker's
 * @attached: this operation attached the slot; under the fabric's lock
 * @refused: the slot had changed and was left as it is; under the fabric's lock
 * @running: the operation waits for this step; under the fabric's lock
 * @expired: its deadline passed before its worker returned; under the
 *	fabric's lock
 * @error: how it ended; under the fabric's lock
 * @cause: why it failed; under the fabric's lock
 * @text: @error in words; under the fabric's lock
 * @expect: identity that the GPU must have
 * @start: when its worker began
 * @phase_us: microseconds per phase; the worker's until it ends
 * @work: the worker
 * @watchdog: fires at the deadline
 */
struct gf_step {
	struct gf_op *op;
	struct gf_slot *slot;
	enum gf_need need;
	bool remove;
	unsigned int turn;
	struct list_head turns;
	bool waits;
	bool again;
	bool attached;
	bool refused;
	bool running;
	bool expired;
	int error;
	enum gpufabric_cause cause;
	char text[GF_TEXT_MAX];
	struct gf_expect expect;
	ktime_t start;
	u32 phase_us[GF_PHASES];
	struct work_struct work;
	struct delayed_work watchdog;
};

/**
 * enum gf_stage - how far an operation is
 * @GF_STAGE_ADDING: slots are attached
 * @GF_STAGE_REMOVING: slots are detached
 * @GF_STAGE_UNDOING: what was attached is detached again
 * @GF_STAGE_DONE: the outcome is known
 */
enum gf_stage {
	GF_STAGE_ADDING,
	GF_STAGE_REMOVING,
	GF_STAGE_UNDOING,
	GF_STAGE_DONE
};

/**
 * struct gf_op - an operation: slots to add and slots to remove, all or none
 * @ref: one reference while it is listed, one for each worker
 * @list: in &gf_fabric.operations; under the fabric's lock
 * @id: id
 * @kind: what was asked for
 * @who: who asked
 * @composition: composition that it is about, referenced, or NULL
 * @made: the operation makes @composition
 * @ends: the operation ends @composition
 * @timeout_ms: deadline of each step
 * @turns: how many others a step may have to wait for, each of them for its
 *	deadline; under the fabric's lock
 * @harm: attach even if that harms neighbours
 * @driver_timeout_ms: how long to wait for a driver, 0 when none is expected
 * @driver: the only one that may bind to what is attached, empty for any
 * @started: milliseconds since the epoch
 * @begun: the same as gf_clock_ms()
 * @stage: under the fabric's lock
 * @pending: steps that the present stage waits for; under the fabric's lock
 * @error: 0 or the errno of the step that failed first; under the fabric's lock
 * @text: @error in words; under the fabric's lock
 * @nr_steps: number of steps
 * @steps: one for each slot
 *
 * Attach, detach, compose, resize and release are the same thing with other
 * steps. First all additions run in parallel, but GPUs that need windows moved
 * on their switch get them one after the other, in the order that was judged.
 * When one fails, those that succeeded are undone, started in reverse order.
 * Then all removals run. From its acceptance to its end the operation owns its
 * slots: a drain that it was given ends with it, in a removal or, when that is
 * not to be, with the GPU ready again. An operation holds a reference on the
 * module until its last worker has returned.
 */
struct gf_op {
	struct kref ref;
	struct list_head list;
	u64 id;
	enum gpufabric_operation_kind kind;
	struct gf_who who;
	struct gf_composition *composition;
	bool made;
	bool ends;
	bool harm;
	u32 timeout_ms;
	unsigned int turns;
	u32 driver_timeout_ms;
	char driver[GPUFABRIC_DRIVER_MAX + 1];
	u64 started;
	u64 begun;
	enum gf_stage stage;
	unsigned int pending;
	int error;
	char text[GF_TEXT_MAX + GPUFABRIC_SLOT_NAME_MAX + 8];
	unsigned int nr_steps;
	struct gf_step steps[];
};

#define GF_TIMEOUT_MS 30000

struct gf_op *gf_op_alloc(enum gpufabric_operation_kind kind,
			  unsigned int nr_steps);
struct gf_step *gf_op_add_step(struct gf_op *op, struct gf_slot *slot,
			       enum gf_need need, bool remove,
			       const struct gf_expect *expect);
u64 gf_op_deadline(const struct gf_op *op);
void gf_op_launch(struct gf_op *op);
void gf_op_put(struct gf_op *op);

void gf_step_run(struct work_struct *work);
void gf_step_watchdog(struct work_struct *work);
void gf_step_launch(struct gf_step *step, enum gf_need need, bool undo);
void gf_step_failed(struct gf_step *step);
void gf_step_ended(struct gf_step *step);

#endif /* GPUFABRIC_OP_H */
