// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: cleaning
 *
 * Between two tenants a GPU loses what is in its memory. Where its slot has power control it
 * is detached by the contract of every removal, and the request that follows attaches it.
 * Elsewhere it is reset while its slot is drained: nobody gets it meanwhile, and the end of
 * the drain tells the module what was done. A link that is down clears nothing, so a GPU that
 * is off without power control is attached first.
 *
 * Each call does one of these, for all slots that need it. What was done shows in the slots.
 */
#include <stdlib.h>

#include "base/text.h"
#include "cli/out.h"
#include "host/reset.h"
#include "op/clean.h"
#include "op/op.h"
#include "op/submit.h"

/**
 * struct cleaning - slots to which the same is done
 * @way: what
 * @slots: of the session's snapshot
 * @n: number of @slots
 * @n_done: to the first so many it was done
 * @names: of each
 * @formers: whose data it may hold, in words
 */
struct cleaning {
	enum handover way;
	struct gf_slot **slots;
	size_t n, n_done;
	char **names;
	char **formers;
};

static void cleaning_find(struct session *session, const struct handover_to *to,
			  struct gf_slot *const *slots, size_t n, enum handover way,
			  struct cleaning *cleaning)
{
	size_t i;

	*cleaning = (struct cleaning){ .way = way };
	cleaning->slots = mem_zalloc(n, sizeof(struct gf_slot *));
	cleaning->names = mem_zalloc(n, sizeof(char *));
	cleaning->formers = mem_zalloc(n, sizeof(char *));
	for (i = 0; i < n; i++) {
		if (handover_of(&session->judge->tree, slots[i], to) != way)
			continue;
		cleaning->slots[cleaning->n] = slots[i];
		cleaning->names[cleaning->n] = mem_strdup(slots[i]->name);
		cleaning->formers[cleaning->n++] = handover_former(slots[i]);
	}
}

static void cleaning_free(struct cleaning *cleaning)
{
	while (cleaning->n--) {
		free(cleaning->names[cleaning->n]);
		free(cleaning->formers[cleaning->n]);
	}
	free(cleaning->names);
	free(cleaning->formers);
	free(cleaning->slots);
}

static void cleaning_say(struct session *session, const struct cleaning *cleaning)
{
	static const char *const would[HANDOVERS] = {
		[HANDOVER_POWER_CYCLE] = "power-cycle",
		[HANDOVER_RESET] = "reset",
		[HANDOVER_ATTACH] = "attach and reset",
	};
	static const char *const did[HANDOVERS] = {
		[HANDOVER_POWER_CYCLE] = "power-cycled",
		[HANDOVER_RESET] = "reset",
		[HANDOVER_ATTACH] = "attached",
	};
	bool dry = session->ctx->dry_run;
	size_t i;

	for (i = 0; i < (dry ? cleaning->n : cleaning->n_done); i++)
		out_note(session->ctx->out, dry ? "would" : "cleaned", dry ? "would " : "",
			 "%s %s, which may %s data of %s",
			 dry ? would[cleaning->way] : did[cleaning->way], cleaning->names[i],
			 dry ? "hold" : "have held", cleaning->formers[i]);
}

/* Its card stays this host's: nothing is given back to a fabric. */
static int clean_by_op(struct session *session, const struct op_terms *terms,
		       const struct cleaning *cleaning)
{
	struct op op = { .terms = terms, .probe = true, .failed = "not cleaned" };
	int ret;

	if (cleaning->way == HANDOVER_ATTACH) {
		op.kind = OP_ATTACH;
		op.add = cleaning->slots;
		op.n_add = cleaning->n;
	} else {
		op.kind = OP_DETACH;
		op.remove = cleaning->slots;
		op.n_remove = cleaning->n;
	}
	ret = op_run(session, &op);
	op_free(&op);
	return ret;
}

static int clean_by_reset(struct session *session, const struct op_terms *terms,
			  struct cleaning *cleaning)
{
	struct fault fault = { "" };
	struct removal removal;
	size_t i;
	int ret, err;

	ret = removal_init(session, &removal, terms, cleaning->slots, cleaning->n, false);
	if (ret)
		return ret;
	removal.n_reset = cleaning->n;
	ret = removal_drain(session, &removal);
	if (!ret)
		ret = removal_empty(session, &removal);
	if (ret)
		goto out;
	for (i = 0; i < cleaning->n; i++) {
		/* After the drain the GPU may be somebody else's. */
		if (text_monotonic() + RESET_MS > removal.drain_end)
			break;
		if (!reset_gpus(&session->judge->tree, cleaning->slots[i], &fault))
			continue;
		ret = ctl_fail(session->ctx, CTL_NO_FIT,
			       "slot %s may hold data of %s, and %s: leave it out with --exclude, or take it as it is with --dirty",
			       cleaning->names[i], cleaning->formers[i], fault.text);
		break;
	}
	if (!i && !ret)
		ret = ctl_fail(session->ctx, CTL_FAILED,
			       "slot %s: too little of its drain is left to reset its GPU: try again",
			       cleaning->names[0]);
	/* The others are for the next call. */
	cleaning->n_done = i;
	err = removal_end_reset(session, &removal, i);
	ret = ret ? ret : err;
out:
	removal_free(&removal);
	return ret;
}

static int cleaning_run(struct session *session, const struct op_terms *terms,
			struct cleaning *cleaning)
{
	cleaning->n_done = cleaning->n;
	switch (cleaning->way) {
	case HANDOVER_POWER_CYCLE:
	case HANDOVER_ATTACH:
		return clean_by_op(session, terms, cleaning);
	case HANDOVER_RESET:
		return clean_by_reset(session, terms, cleaning);
	default:
		return ctl_fail(session->ctx, CTL_NO_FIT,
				"slot %s may hold data of %s, and can be neither power-cycled nor reset: --dirty takes it as it is",
				cleaning->names[0], cleaning->formers[0]);
	}
}

int clean_slots(struct session *session, const struct op_terms *terms, const struct handover_to *to,
		struct gf_slot *const *slots, size_t n, bool *changed)
{
	/* What cannot be done at all comes before what is done. */
	static const enum handover ways[] = { HANDOVER_NEVER, HANDOVER_ATTACH, HANDOVER_POWER_CYCLE,
					      HANDOVER_RESET };
	/* --force, --signal and --wait are about the request's own GPUs; who holds one of these is somebody else. */
	const struct op_terms own = { .timeout_ms = terms->timeout_ms,
				      .reason = terms->reason,
				      .driver = terms->driver,
				      .harm = terms->harm };
	struct cleaning cleaning;
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < sizeof(ways) / sizeof(*ways) && !ret && !*changed; i++) {
		cleaning_find(session, to, slots, n, ways[i], &cleaning);
		if (cleaning.n && (ways[i] == HANDOVER_NEVER || !session->ctx->dry_run)) {
			ret = cleaning_run(session, &own, &cleaning);
			*changed = !ret;
		}
		if (!ret)
			cleaning_say(session, &cleaning);
		cleaning_free(&cleaning);
	}
	return ret;
}
