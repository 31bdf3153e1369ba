/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations. Attach, detach, compose, resize and release are one thing with other slots:
 * a command fills a struct op, and what is around the request is the same for all.
 */
#ifndef GPUCTL_OP_H
#define GPUCTL_OP_H

#include "choose/handover.h"
#include "module/annotation.h"
#include "op/arrival.h"
#include "op/remove.h"
#include "op/told.h"
#include "op/wait.h"

struct pool;
struct quota;

enum op_kind {
	OP_ATTACH,
	OP_DETACH,
	OP_COMPOSE,
	OP_RESIZE,
	OP_RELEASE,
};

/**
 * struct op - an operation, from what is asked for to what came of it
 * @kind: which
 * @terms: on what terms its GPUs come and go
 * @name: of the composition, NULL for attach and detach
 * @add: slots that get their GPU, of the session's snapshot
 * @ids: what must be found in each of them, vendor 0 for anything; NULL: in none is it known.
 *	Owned, see op_expect()
 * @n_add: number of slots in @add
 * @remove: slots that lose their GPU, of the session's snapshot
 * @n_remove: number of slots in @remove
 * @left: those in @remove lose what is left of a GPU, too
 * @keep: release: the GPUs stay attached
 * @bind: compose: the composition is orphaned when this client ends
 * @probe: a look into slots that are put back as they were: no driver is awaited, no hook
 *	is told of an arrival, and no slot is given back to a fabric
 * @absent: -n: cards of some slots in @add would be brought first, so the module is not asked
 * @note: what the composition is annotated with; NULL: with nothing, or what it has stays
 * @same: release: only while the composition has @generation
 * @generation: of the composition: resize: when @note was read
 * @lease_ms: the lease in @note, from the request on; 0: as it stands in @note
 * @bytes: of an annotation as it was saved, in place of @note; NULL for none
 * @n_bytes: length of @bytes
 * @owner: compose: user that the composition is of, NULL for who asks
 * @quota: what @tenant is held to, NULL: nobody is. Of a choice from @pool
 * @pool: see @quota
 * @tenant: whose GPUs these are, NULL for nobody's
 * @to: whom @add goes to: no data of others may be there. NULL: that does not matter
 * @cleaned: it was, and no longer is: the caller looks at the slots anew and asks again
 * @anew: the slots were chosen: where windows have changed the caller chooses anew
 * @failed: what is said before the error of an operation that failed
 * @say: called once before anything changes, with -n too; may be NULL
 * @arg: for @say
 * @error: errno of a request that was refused, 0 otherwise
 * @removal: of @remove, from op_start() on
 * @arrival: of @add
 * @gone: what the workload is told of @remove
 * @come: what it is told of @add
 * @wait: the operation
 */
struct op {
	enum op_kind kind;
	const struct op_terms *terms;
	const char *name;
	struct gf_slot *const *add;
	struct gf_ids *ids;
	size_t n_add;
	struct gf_slot *const *remove;
	size_t n_remove;
	bool left, keep, same, bind, probe, absent;
	struct annotation *note;
	uint32_t generation;
	uint64_t lease_ms;
	const uint8_t *bytes;
	size_t n_bytes;
	const uint32_t *owner;
	struct quota *quota;
	const struct pool *pool;
	const char *tenant;
	const struct handover_to *to;
	bool cleaned;
	bool anew;
	const char *failed;
	void (*say)(struct session *session, const struct op *op);
	const void *arg;
	int error;
	struct removal removal;
	struct arrival arrival;
	struct told gone, come;
	struct wait wait;
};

/*
 * Have what is known of the GPUs in @add be what must be found after power-on; @declared:
 * only what the admin has declared, since a card that was swapped is no error.
 */
void op_expect(const struct session *session, struct op *op, bool declared);

/*
 * All before the request, and the request: room for the GPUs is judged, holders are looked
 * for, slots drained, hooks called, the tenant's share held. What was done is undone when any
 * of it fails; what failed is in the context. With -n it is said what would be done, and the
 * end is CTL_DONE as well. op_free() in any case.
 */
int op_start(struct session *session, struct op *op);

/*
 * Wait until all of them have ended, whatever their outcome; CTL_TIMEOUT or CTL_FAILED
 * (interrupted) otherwise. The snapshot is new afterwards: slots are to be looked up again.
 */
int op_await(struct session *session, struct op *ops, size_t n);

/*
 * The same of one, which goes on to its end although a first signal came if hooks or a fabric are
 * still to hear of it: @stopped then.
 */
int op_await_whole(struct session *session, struct op *op, bool *stopped);
/* What such a one fails with after its end. */
int op_stopped(struct session *session, const struct op *op);

/* Call the hooks that follow; CTL_DONE, or the operation's error. */
int op_finish(struct session *session, struct op *op);

/* After op_start(): all of these, with a row for each slot in between unless it is a probe. */
int op_end(struct session *session, struct op *op);

/* All of it. */
int op_run(struct session *session, struct op *op);
void op_free(struct op *op);

/* After op_start(): what was borrowed goes, and nothing that follows needs it. */
void op_forget(struct op *op);

/**
 * struct op_race - how often others were faster
 * @tries: choices that were made anew
 * @stale: those of them for windows that had changed
 */
struct op_race {
	unsigned int tries;
	unsigned int stale;
};

/*
 * Others compose, attach and annotate at the same time. True when @ret of op_start() comes of
 * that and not too often: then it was said, the snapshot is new, @op is freed, and the choice
 * is to be made anew.
 */
bool op_try_again(struct session *session, struct op_race *race, struct op *op, int *ret);

#endif /* GPUCTL_OP_H */
