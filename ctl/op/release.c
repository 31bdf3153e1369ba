// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: releasing
 *
 * The end of a composition, by the contract of every removal: holders stop it, hooks
 * run, and the slots go back to the pool together.
 */
#include <stdlib.h>

#include "base/text.h"
#include "cli/out.h"
#include "op/op.h"
#include "op/release.h"
#include "op/settle.h"

/* The members' slots, in the order of the composition. */
static struct gf_slot **members_of(const struct session *session,
				   const struct gf_composition *composition, size_t *n)
{
	struct gf_slot **slots = mem_zalloc(composition->n_members, sizeof(*slots));
	size_t i;

	*n = 0;
	for (i = 0; i < composition->n_members; i++) {
		struct gf_slot *slot =
			gf_slot_by_id(&session->fabric, composition->members[i].slot_id);

		if (slot)
			slots[(*n)++] = slot;
	}
	return slots;
}

int release_composition(struct session *session, const struct op_terms *terms, const char *name,
			unsigned int flags)
{
	struct gf_composition *composition;
	struct op op = { .kind = OP_RELEASE,
			 .terms = terms,
			 .name = name,
			 .keep = flags & RELEASE_KEEP,
			 .same = flags & RELEASE_SAME };
	struct gf_slot **slots;
	char *failed;
	size_t n;
	int ret = CTL_DONE;

	/* It would be another one then. */
	if (!op.same)
		ret = settle_composition(session, name, !op.keep, terms->wait_ms);
	if (!ret)
		ret = session_composition(session, name, &composition);
	if (ret)
		return ret;
	slots = members_of(session, composition, &n);
	failed = mem_printf("%s was released, but", name);
	op.generation = composition->generation;
	op.remove = slots;
	op.n_remove = n;
	op.failed = failed;
	ret = op_run(session, &op);
	if (!ret && session->ctx->dry_run)
		out_note(session->ctx->out, "would", "would end ", "%s", name);
	else if (!ret)
		out_line(session->ctx->out, "%s: released, %zu slot%s back in the pool", name, n,
			 n == 1 ? "" : "s");
	op_free(&op);
	free(failed);
	free(slots);
	return ret;
}
