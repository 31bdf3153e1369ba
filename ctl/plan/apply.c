// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: making moves
 *
 * A step is a compose, resize or release by the same functions that those commands call. So
 * hooks, holders, tenants and feasibility have their say, and a step is made whole or not at
 * all. Nothing is written down: what was made
 * before is seen from what the compositions have. A signal ends it between two steps, so that
 * what hooks began is not left in the middle.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/out.h"
#include "host/holders.h"
#include "op/compose.h"
#include "op/release.h"
#include "op/resize.h"
#include "op/wait.h"
#include "plan/apply.h"
#include "plan/planned.h"

#define LOCK_FILE "/run/gpuctl-plan.lock"
#define LOCK_MODE 0600
#define REASON "gpuctl plan"

const char *const apply_outcome_names[APPLY_OUTCOMES] = { "not reached", "done",
							  "done before", "on another host",
							  "failed",	 "to be done" };

/**
 * struct step - a move as the operation that makes it
 * @add: number of GPUs that come
 * @from: ids of the slots that they come from
 * @n_from: number of @from
 * @remove: names of the slots that go, owned: the snapshot may be another by then
 * @n_remove: number of @remove
 */
struct step {
	size_t add;
	uint32_t *from;
	size_t n_from;
	char **remove;
	size_t n_remove;
};

static void apply_step_free(struct step *step)
{
	size_t i;

	for (i = 0; i < step->n_remove; i++)
		free(step->remove[i]);
	free(step->from);
	free(step->remove);
}

/* The operation; GPUs that somebody holds are never taken. */
static int step_run(struct session *session, const struct op_terms *terms, const struct move *move,
		    const struct step *step)
{
	struct gpu_request gpus = GPU_REQUEST_NONE;
	struct compose_request compose_it = { .name = move->workload, .gpus = &gpus };
	struct resize_request resize_it = { .name = move->workload, .gpus = &gpus };

	gpus.from = step->from;
	gpus.n_from = step->n_from;
	switch (move->action) {
	case PLAN_COMPOSE:
		gpus.gpus = step->add;
		if (move->tenant)
			snprintf(compose_it.note.tenant, sizeof(compose_it.note.tenant), "%s",
				 move->tenant);
		return compose(session, terms, &compose_it);
	case PLAN_RESIZE:
		resize_it.relative = true;
		resize_it.number = (long)step->add;
		resize_it.remove = (const char **)step->remove;
		resize_it.n_remove = step->n_remove;
		return resize(session, terms, &resize_it);
	default:
		return release_composition(session, terms, move->workload, 0);
	}
}

/* The same, without what it prints. */
static int step_run_quietly(struct session *session, const struct op_terms *terms,
			    const struct move *move, const struct step *step)
{
	struct ctl_ctx *ctx = session->ctx;
	FILE *nowhere = fopen("/dev/null", "we");
	struct out *own = ctx->out;
	int ret;

	if (!nowhere)
		return ctl_fail(ctx, CTL_FAILED, "/dev/null: %s", strerror(errno));
	ctx->out = out_new(nowhere);
	ret = step_run(session, terms, move, step);
	out_free(ctx->out);
	ctx->out = own;
	fclose(nowhere);
	return ret;
}

static bool apply_is_of(const struct session *session, const struct gf_slot *slot,
			const struct move_gpus *of)
{
	char kind[PLANNED_KIND];

	return !strcmp(planned_switch(session, slot), of->sw) &&
	       !strcmp(planned_kind(session, slot, kind), of->kind);
}

static bool is_member(const struct gf_slot *slot, const char *name)
{
	return slot->composition && !strcmp(slot->composition, name);
}

/* Name members of one pool to go; those that nobody holds first. */
static void remove_some(const struct session *session, const char *name, const struct move_gpus *of,
			uint32_t count, struct step *step)
{
	const struct gf_fabric *fabric = &session->fabric;
	const struct gf_slot **slots = mem_zalloc(fabric->n_slots, sizeof(*slots));
	struct holders holders;
	size_t i, n = 0;
	int held;

	for (i = 0; i < fabric->n_slots; i++)
		if (is_member(&fabric->slots[i], name) &&
		    apply_is_of(session, &fabric->slots[i], of))
			slots[n++] = &fabric->slots[i];
	holders_scan(&holders_system, slots, n, &holders);
	for (held = 0; held < 2; held++)
		for (i = n; i-- && count;) {
			uint32_t gpus = identity_count(&session->knowledge, slots[i]);

			/* A card goes whole; of one that is too large the plan is wrong. */
			if (holders_has(&holders, slots[i]->name) == (bool)held && gpus <= count) {
				step->remove = mem_grow(step->remove, step->n_remove + 1,
							sizeof(*step->remove));
				step->remove[step->n_remove++] = mem_strdup(slots[i]->name);
				count -= gpus;
			}
		}
	holders_free(&holders);
	free(slots);
}

/*
 * The chooser has all free slots of the one pool that GPUs come from, so that it can choose
 * well; of several pools it has as many slots of each as that has to give.
 */
static void offer_slots(const struct session *session, const struct move *move, const uint32_t *add,
			size_t pools, struct step *step)
{
	const struct gf_fabric *fabric = &session->fabric;
	uint32_t left[MOVE_POOLS];
	size_t i, j;

	memcpy(left, add, sizeof(left));
	step->from = mem_zalloc(fabric->n_slots + 1, sizeof(*step->from));
	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];
		bool taken = false;

		for (j = 0; j < move->to.n && planned_free(session, slot) && !taken; j++) {
			if (!left[j] || !apply_is_of(session, slot, &move->to.of[j]))
				continue;
			taken = true;
			if (pools > 1) {
				uint32_t gpus = identity_count(&session->knowledge, slot);

				left[j] -= gpus < left[j] ? gpus : left[j];
			}
		}
		if (taken)
			step->from[step->n_from++] = slot->id;
	}
}

static void step_add(const struct session *session, const struct move *move, struct step *step)
{
	uint32_t add[MOVE_POOLS] = { 0 };
	size_t i, pools = 0;

	for (i = 0; i < move->to.n; i++) {
		const struct move_gpus *of = &move->to.of[i];
		uint32_t has = move_has_of(&move->from, of->sw, of->kind);

		if (of->gpus <= has)
			continue;
		add[i] = of->gpus - has;
		step->add += add[i];
		pools++;
	}
	if (step->add)
		offer_slots(session, move, add, pools, step);
}

static void step_remove(const struct session *session, const struct move *move, struct step *step)
{
	size_t i;

	for (i = 0; i < move->from.n; i++) {
		const struct move_gpus *of = &move->from.of[i];
		uint32_t keeps = move_has_of(&move->to, of->sw, of->kind);

		if (keeps < of->gpus)
			remove_some(session, move->workload, of, of->gpus - keeps, step);
	}
}

static int make_step(struct session *session, const struct op_terms *terms, const struct move *move)
{
	struct step step = { 0 };
	int ret;

	if (move->action == PLAN_RESIZE)
		step_remove(session, move, &step);
	if (move->action != PLAN_RELEASE)
		step_add(session, move, &step);
	ret = step_run_quietly(session, terms, move, &step);
	apply_step_free(&step);
	return ret;
}

/* Whoever asked before may have been killed: the module goes on, and that is awaited. */
static int await_quiet(struct session *session, const char *name)
{
	const struct gf_composition *composition = gf_composition_by_name(&session->fabric, name);
	struct wait wait = { 0 };
	int ret;

	if (!composition || !gf_operation_is_under_way(&composition->operation))
		return CTL_DONE;
	session_say(session, "%s is being changed: waiting for the end of that", name);
	wait.operation.id = composition->operation.id;
	wait.operation.kind = composition->operation.kind;
	wait.operation.started = composition->operation.started;
	wait.operation.deadline = composition->operation.deadline;
	ret = wait_all(session, &wait, 1);
	wait_free(&wait);
	return ret ? ret : session_refresh(session);
}

static int astray(struct session *session, const struct move *move, const struct move_has *now)
{
	char *has = move_has_text(now), *from = move_has_text(&move->from);
	int ret =
		ctl_fail(session->ctx, CTL_FAILED,
			 "%s has %s, and not %s: it was changed since the plan was made, make a new one",
			 move->workload, has, from);

	free(has);
	free(from);
	return ret;
}

static int reach(struct session *session, const struct op_terms *terms,
		 const struct move_list *list, size_t i, enum apply_outcome *outcome)
{
	const struct move *move = &list->items[i];
	struct move_has now;
	int ret;

	ret = session->ctx->dry_run ? CTL_DONE : await_quiet(session, move->workload);
	if (ret)
		return ret;
	if (!planned_has(session, move->workload, &now))
		return ctl_fail(session->ctx, CTL_FAILED, "%s is not whole: see gpuctl show %s",
				move->workload, move->workload);
	switch (move_place(list, i, &now)) {
	case MOVE_DONE:
		*outcome = APPLY_BEFORE;
		break;
	case MOVE_ASTRAY:
		ret = astray(session, move, &now);
		break;
	default:
		/* Each step has the room that those before it made: none can be tried alone. */
		*outcome = session->ctx->dry_run ? APPLY_WOULD : APPLY_DONE;
		if (session->ctx->dry_run)
			break;
		ret = make_step(session, terms, move);
		if (!ret)
			ret = session_refresh(session);
		break;
	}
	move_has_free(&now);
	return ret;
}

static int fail_step(struct session *session, const struct move_list *list, size_t i, int ret)
{
	const struct move *move = &list->items[i];

	return ctl_fail(session->ctx, ret, "step %zu, %s %s: %s", i + 1,
			plan_action_names[move->action], move->workload,
			session->ctx->error ? session->ctx->error : "failed");
}

int apply_moves(struct session *session, const struct op_terms *terms, const char *host,
		const struct move_list *list, enum apply_outcome *outcomes)
{
	struct op_terms named = *terms;
	size_t i;
	int ret = CTL_DONE;

	if (!named.reason)
		named.reason = REASON;
	memset(outcomes, 0, list->n * sizeof(*outcomes));
	for (i = 0; i < list->n && !ret; i++) {
		if (strcmp(list->items[i].host, host)) {
			outcomes[i] = APPLY_ELSEWHERE;
			continue;
		}
		if (gfc_signalled())
			return ctl_fail(session->ctx, CTL_FAILED,
					"interrupted before step %zu: apply the plan again to continue",
					i + 1);
		gfc_hold_signals();
		ret = reach(session, &named, list, i, &outcomes[i]);
		gfc_release_signals();
		if (ret) {
			outcomes[i] = APPLY_FAILED;
			ret = fail_step(session, list, i, ret);
		}
	}
	return ret;
}

int apply_lock(struct ctl_ctx *ctx, int *fd)
{
	int err;

	*fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE);
	if (*fd < 0)
		return ctl_fail(ctx, errno == EACCES ? CTL_DENIED : CTL_FAILED, LOCK_FILE ": %s",
				strerror(errno));
	if (!flock(*fd, LOCK_EX | LOCK_NB))
		return CTL_DONE;
	err = errno;
	close(*fd);
	*fd = -1;
	if (err != EWOULDBLOCK)
		return ctl_fail(ctx, CTL_FAILED, LOCK_FILE ": %s", strerror(err));
	return ctl_fail(ctx, CTL_BUSY,
			"another gpuctl plan moves GPUs on this host: wait for it, or stop gpufabric-plan.service");
}

static void put_has(struct out_table *t, const char *column, const struct move_has *has)
{
	struct json_object *array = json_object_new_array();
	char *text = move_has_text(has);
	size_t i;

	for (i = 0; i < has->n; i++) {
		struct json_object *of = json_object_new_object();

		json_object_object_add(of, "switch", json_object_new_string(has->of[i].sw));
		json_object_object_add(of, "kind", json_object_new_string(has->of[i].kind));
		json_object_object_add(of, "gpus", json_object_new_int64(has->of[i].gpus));
		json_object_array_add(array, of);
	}
	out_cell(t, column, array, "%s", text);
	free(text);
}

void apply_render(struct ctl_ctx *ctx, const struct move_list *list,
		  const enum apply_outcome *outcomes)
{
	static const struct out_column columns[] = {
		{ "step", "STEP", OUT_RIGHT },
		{ "host", "HOST" },
		{ "workload", "WORKLOAD" },
		{ "tenant", "TENANT", OUT_OPTIONAL },
		{ "action", "ACTION" },
		{ "from", "FROM" },
		{ "to", "TO" },
		{ "outcome", "OUTCOME", OUT_OPTIONAL },
		{ "why", "WHY" },
		{ NULL, NULL },
	};
	struct out_table *t = out_table(ctx->out, "steps", columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < list->n; i++) {
		const struct move *move = &list->items[i];

		out_row(t);
		out_uint(t, "step", i + 1);
		out_str(t, "host", move->host);
		out_str(t, "workload", move->workload);
		if (move->tenant)
			out_str(t, "tenant", move->tenant);
		out_str(t, "action", plan_action_names[move->action]);
		put_has(t, "from", &move->from);
		put_has(t, "to", &move->to);
		if (outcomes)
			out_str(t, "outcome", apply_outcome_names[outcomes[i]]);
		out_str(t, "why", move->why);
	}
}
