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

struct nlattr;

/* Who asked. */
struct gf_who {
	kuid_t uid;
	struct pid *pid; /* referenced, NULL when the kernel itself acts */
	char comm[TASK_COMM_LEN];
	char reason[GPUFABRIC_REASON_MAX + 1];
};

void gf_who_current(struct gf_who *who, const struct nlattr *reason);
void gf_who_drop(struct gf_who *who);

/* The identity that a request expects. */
struct gf_expect {
	u32 mask; /* bit N: ids.id[N] is expected */
	struct gf_ids ids;
};

bool gf_expect_met(const struct gf_expect *expect, const struct gf_ids *found);

/* One slot's part of an operation. */
struct gf_step {
	struct gf_op *op;
	struct gf_slot *slot; /* referenced until the operation is freed */
	enum gf_need need; /* what its worker does; set before that is queued */
	bool remove; /* the slot is to be given back, not taken */
	struct gf_expect expect; /* identity that the GPU must have */
	bool occupied; /* there were functions in the slot when it was launched */
	bool ordered; /* it waits for those before it to their switch */

	/* Under the fabric's lock. */
	struct list_head turns; /* in &gf_switch.turns */
	bool waits; /* its worker is queued when those before it there have gone */
	u32 attached; /* the incarnation of the GPU that it powered on, or 0 */
	bool refused; /* the slot was left as it is */
	bool running; /* the operation waits for this step */
	bool expired; /* its deadline passed before its worker returned */
	struct gf_result result; /* how it ended; its durations are the worker's until it ends */

	/* The worker's, until it ends. */
	bool again; /* it is to wait for those before it */
	bool found; /* the GPU was brought up by somebody else */
	struct gf_functions *card; /* the functions that it is about, referenced, or NULL */
	ktime_t start;
	struct work_struct work;
	struct delayed_work watchdog; /* fires at the deadline */
};

enum gf_stage {
	GF_STAGE_ADDING, /* slots are attached */
	GF_STAGE_REMOVING, /* slots are detached */
	GF_STAGE_UNDOING, /* what was attached is detached again */
	GF_STAGE_DONE
};

/*
 * An operation: slots to add and slots to remove, all or none.
 *
 * Attach, detach, compose, resize and release are the same thing with other steps. First all
 * additions run in parallel, but GPUs that need windows moved on their switch get them one after
 * the other, in the order that was judged. When one fails, those that succeeded are undone,
 * started in reverse order. Then all removals run. From its acceptance to its end the operation
 * owns its slots: a drain that it was given ends with it, in a removal or, when that is not to
 * be, with the GPU ready again. It holds the module until its last worker has returned.
 */
struct gf_op {
	struct kref ref; /* one while it is under way, one for each worker */
	u64 id;
	enum gpufabric_operation_kind kind;
	struct gf_who who;
	struct gf_composition *composition; /* that it is about, referenced, or NULL */
	bool made; /* the operation makes @composition */
	bool ends; /* the operation ends @composition */
	bool harm; /* attach even if that harms neighbours */
	u32 timeout_ms; /* deadline of each step */
	u32 driver_timeout_ms; /* how long to wait for a driver, 0 when none is expected */
	char driver[GPUFABRIC_DRIVER_MAX + 1]; /* the only one that may bind, empty for any */
	u64 started; /* milliseconds since the epoch */
	u64 begun; /* the same as gf_clock_ms() */

	/* Under the fabric's lock. */
	unsigned int turns; /* others that a step may have to wait for, each for its deadline */
	enum gf_stage stage;
	unsigned int pending; /* steps that the present stage waits for */
	const struct gf_step *failed; /* the step that failed first, or NULL */
	struct gf_failure failure; /* of that step */

	/* Not changed after the launch. */
	unsigned int nr_steps;
	struct gf_step steps[];
};

#define GF_TIMEOUT_MS 30000

struct gf_op *gf_op_alloc(enum gpufabric_operation_kind kind, unsigned int nr_steps);
struct gf_step *gf_op_add_step(struct gf_op *op, struct gf_slot *slot,
			       enum gf_need need, bool remove, const struct gf_expect *expect);
u64 gf_op_deadline(const struct gf_op *op);
void gf_op_launch(struct gf_op *op);
void gf_op_put(struct gf_op *op);

void gf_step_run(struct work_struct *work);
void gf_step_watchdog(struct work_struct *work);
void gf_step_launch(struct gf_step *step, enum gf_need need, bool undo);
void gf_step_begin(struct gf_step *step);
void gf_step_failed(struct gf_step *step);
void gf_step_ended(struct gf_step *step);

/* A set of slots held for one workload. While it is listed unloading the module is refused. */
struct gf_composition {
	struct kref ref; /* one for being listed, one for each operation and &gf_slot.former */
	u32 id;
	char name[GPUFABRIC_NAME_MAX + 1]; /* unique */
	kuid_t owner; /* that it is held for */
	u64 created; /* milliseconds since the epoch */

	/* Under the fabric's lock. */
	enum gpufabric_composition_state state;
	u32 flags; /* GPUFABRIC_COMPOSITION_FLAG_* */
	u32 port; /* netlink port that it is bound to, 0 when not */
	u32 generation; /* changes with @members and @annotation, likewise */
	u8 annotation[GPUFABRIC_ANNOTATION_MAX]; /* user space's, never looked into */
	unsigned int annotation_len;
	struct list_head members; /* slots, referenced, by &gf_slot.member */
	unsigned int nr_members;
	struct gf_op *op; /* under way */
};

struct gf_composition *gf_composition_alloc(const char *name);
int gf_composition_list(struct gf_composition *composition);
void gf_composition_unlist(struct gf_composition *composition);
struct gf_composition *gf_composition_find_name(const char *name);
void gf_composition_put(struct gf_composition *composition);
void gf_composition_annotate(struct gf_composition *composition, const struct nlattr *annotation);
void gf_composition_state(struct gf_composition *composition,
			  enum gpufabric_composition_state state);
void gf_composition_claim(struct gf_composition *composition, struct gf_slot *slot);
void gf_composition_unclaim(struct gf_slot *slot);
void gf_composition_judge(struct gf_composition *composition);
void gf_composition_inherit(struct gf_slot *heir);
void gf_composition_bequeath(struct gf_slot *slot);
void gf_composition_port_closed(u32 port);

#define GF_HISTORY_SIZE 4096

/* One thing that happened to a slot. */
struct gf_history_entry {
	u64 sequence; /* from 1 */
	u64 time; /* milliseconds since the epoch */
	u32 slot_id;
	char slot_name[GPUFABRIC_SLOT_NAME_MAX + 1];
	char composition[GPUFABRIC_NAME_MAX + 1]; /* that it was about, may be empty */
	struct gf_condition condition; /* of the slot after it */
	struct gf_result result; /* its id is 0 when nobody asked */
	struct gf_who who; /* its pid is referenced */
};

void gf_history_add(struct gf_slot *slot, const struct gf_who *who, const struct gf_result *result);
void gf_history_step(const struct gf_step *step);
void gf_history_state(struct gf_slot *slot);
u32 gf_history_count(void);
const struct gf_history_entry *gf_history_at(unsigned long *at);
void gf_history_free(void);

/* Buckets double from 1 ms on; the last one has no bound. */
#define GF_BUCKETS 18
#define GF_BUCKET_FIRST_US 1000

/* How long a phase took. */
struct gf_histogram {
	enum gpufabric_operation_kind kind; /* of this operation */
	enum gpufabric_phase phase; /* which phase */
	u64 count; /* how many were measured */
	u64 us; /* their sum in microseconds */
	u64 buckets[GF_BUCKETS]; /* how many fell below the bound of each, and above the last */
};

void gf_stats_step(const struct gf_step *step);
const struct gf_histogram *gf_stats_at(unsigned long *index);

#endif /* GPUFABRIC_OP_H */
