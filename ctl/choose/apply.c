// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: making moves
 *
 * A step is a compose, resize or release as an admin would type it: the same options, filled
 * in here, and the same functions behind them. So hooks, holders, tenants and feasibility have
 * their say, and a step is made whole or not at all. Nothing is written down: what was made
 * before is seen from what the compositions have. A signal ends it between two steps, so that
 * what hooks began is not left in the middle.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "choose/apply.h"
#include "choose/compose.h"
#include "choose/planned.h"
#include "choose/pool.h"
#include "choose/resize.h"
#include "lib/holders.h"
#include "lib/release.h"
#include "lib/remove.h"
#include "lib/text.h"
#include "lib/wait.h"
#include "size/options.h"

#define LOCK_FILE "/run/gpuctl-plan.lock"
#define LOCK_MODE 0600
#define REASON "gpuctl plan"

const char *const apply_outcome_names[APPLY_OUTCOMES] = {
	"not reached", "done", "done before", "on another host", "failed",
	"to be done"
};

/* The rows whose options a step fills in; --force and --signal are never among what is given. */
static const struct ctl_command rows[PLAN_ACTIONS] = {
	[PLAN_COMPOSE] = { .name = "compose", .args = "",
			   .options = { pool_options, compose_options, size_workload_options,
					session_options } },
	[PLAN_RESIZE] = { .name = "resize", .args = "",
			  .options = { pool_options, resize_options, remove_options,
				       session_options } },
	[PLAN_RELEASE] = { .name = "release", .args = "",
			   .options = { remove_options, session_options } },
};

/**
 * struct typed - a command line that is made up
 * @row: the command
 * @given: its options
 * @n: how many
 * @values: their values, owned
 */
struct typed {
	const struct ctl_command *row;
	struct ctl_given *given;
	size_t n;
	char **values;
};

static void give(struct typed *typed, const char *name, const char *value)
{
	const struct ctl_option *o;
	size_t g;

	for (g = 0; g < CTL_OPTION_GROUPS; g++) {
		for (o = typed->row->options[g]; o && o->name; o++) {
			if (strcmp(o->name, name))
				continue;
			typed->given = mem_grow(typed->given, typed->n + 1, sizeof(*typed->given));
			typed->values = mem_grow(typed->values, typed->n + 1, sizeof(char *));
			typed->values[typed->n] = mem_strdup(value);
			typed->given[typed->n] =
				(struct ctl_given){ o, typed->values[typed->n] };
			typed->n++;
			return;
		}
	}
	abort();
}

static void typed_free(struct typed *typed)
{
	size_t i;

	for (i = 0; i < typed->n; i++)
		free(typed->values[i]);
	free(typed->values);
	free(typed->given);
}

/* Do what was typed, without what it prints. */
static int obey(struct session *session, const struct move *move, const struct typed *typed)
{
	struct ctl_ctx *ctx = session->ctx, before = *ctx;
	FILE *nowhere = fopen("/dev/null", "we");
	int ret;

	if (!nowhere)
		return ctl_fail(ctx, CTL_FAILED, "/dev/null: %s", strerror(errno));
	ctx->command = typed->row;
	ctx->given = typed->given;
	ctx->n_given = typed->n;
	ctx->out = out_new(nowhere);
	switch (move->action) {
	case PLAN_COMPOSE:
		ret = compose(session, move->workload, 0);
		break;
	case PLAN_RESIZE:
		ret = resize(session, move->workload);
		break;
	default:
		ret = release_composition(session, move->workload, false);
		break;
	}
	out_free(ctx->out);
	fclose(nowhere);
	ctx->command = before.command;
	ctx->given = before.given;
	ctx->n_given = before.n_given;
	ctx->out = before.out;
	return ret;
}

static bool is_of(const struct session *session, const struct gf_slot *slot,
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
static void remove_some(const struct session *session, const char *name,
			const struct move_gpus *of, uint32_t count, struct typed *typed)
{
	const struct gf_fabric *fabric = &session->fabric;
	const struct gf_slot **slots = mem_zalloc(fabric->n_slots, sizeof(*slots));
	struct holders holders;
	size_t i, n = 0;
	int held;

	for (i = 0; i < fabric->n_slots; i++)
		if (is_member(&fabric->slots[i], name) && is_of(session, &fabric->slots[i], of))
			slots[n++] = &fabric->slots[i];
	holders_scan(&holders_system, slots, n, &holders);
	for (held = 0; held < 2; held++)
		for (i = n; i-- && count;) {
			uint32_t gpus = identity_count(&session->knowledge, slots[i]);

			/* A card goes whole; of one that is too large the plan is wrong. */
			if (holders_has(&holders, slots[i]->name) == (bool)held && gpus <= count) {
				give(typed, "remove", slots[i]->name);
				count -= gpus;
			}
		}
	holders_free(&holders);
	free(slots);
}

/*
 * The chooser takes what is not excluded: all free slots of the one pool that GPUs come from,
 * so that it can choose well; of several pools so many slots as each has to give.
 */
static void exclude_others(const struct session *session, const struct move *move,
			   const uint32_t *add, size_t pools, struct typed *typed)
{
	const struct gf_fabric *fabric = &session->fabric;
	uint32_t left[MOVE_POOLS];
	size_t i, j;

	memcpy(left, add, sizeof(left));
	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];
		bool taken = false;

		for (j = 0; j < move->to.n && planned_free(session, slot) && !taken; j++) {
			if (!left[j] || !is_of(session, slot, &move->to.of[j]))
				continue;
			taken = true;
			if (pools > 1) {
				uint32_t gpus = identity_count(&session->knowledge, slot);

				left[j] -= gpus < left[j] ? gpus : left[j];
			}
		}
		if (!taken)
			give(typed, "exclude", slot->name);
	}
}

static void type_additions(const struct session *session, const struct move *move,
			   struct typed *typed)
{
	uint32_t add[MOVE_POOLS] = { 0 }, sum = 0;
	size_t i, pools = 0;
	char *number;

	for (i = 0; i < move->to.n; i++) {
		const struct move_gpus *of = &move->to.of[i];
		uint32_t has = move_has_of(&move->from, of->sw, of->kind);

		if (of->gpus <= has)
			continue;
		add[i] = of->gpus - has;
		sum += add[i];
		pools++;
	}
	if (!sum)
		return;
	exclude_others(session, move, add, pools, typed);
	number = mem_printf("%s%u", move->action == PLAN_RESIZE ? "+" : "", sum);
	give(typed, "gpus", number);
	free(number);
}

static void type_removals(const struct session *session, const struct move *move,
			  struct typed *typed)
{
	size_t i;

	for (i = 0; i < move->from.n; i++) {
		const struct move_gpus *of = &move->from.of[i];
		uint32_t keeps = move_has_of(&move->to, of->sw, of->kind);

		if (keeps < of->gpus)
			remove_some(session, move->workload, of, of->gpus - keeps, typed);
	}
}

static int make_step(struct session *session, const struct move *move)
{
	struct typed typed = { .row = &rows[move->action] };
	const char *timeout = ctl_opt(session->ctx, "timeout");
	const char *reason = ctl_opt(session->ctx, "reason");
	int ret;

	give(&typed, "reason", reason ? reason : REASON);
	if (timeout)
		give(&typed, "timeout", timeout);
	if (move->action == PLAN_COMPOSE && move->tenant)
		give(&typed, "tenant", move->tenant);
	if (move->action == PLAN_RESIZE)
		type_removals(session, move, &typed);
	if (move->action != PLAN_RELEASE)
		type_additions(session, move, &typed);
	ret = obey(session, move, &typed);
	typed_free(&typed);
	return ret;
}

/* Whoever asked before may have been killed: the module goes on, and that is awaited. */
static int await_quiet(struct session *session, const char *name)
{
	const struct gf_composition *composition =
		gf_composition_by_name(&session->fabric, name);
	struct wait wait = { 0 };
	int ret;

	if (!composition || !composition->operation.id || composition->operation.has.error)
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
	int ret = ctl_fail(session->ctx, CTL_FAILED,
			   "%s has %s, and not %s: it was changed since the plan was made, make a new one",
			   move->workload, has, from);

	free(has);
	free(from);
	return ret;
}

static int reach(struct session *session, const struct move_list *list, size_t i,
		 enum apply_outcome *outcome)
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
		ret = make_step(session, move);
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

int apply_moves(struct session *session, const char *host, const struct move_list *list,
		enum apply_outcome *outcomes)
{
	size_t i;
	int ret = CTL_DONE;

	memset(outcomes, 0, list->n * sizeof(*outcomes));
	for (i = 0; i < list->n && !ret; i++) {
		if (strcmp(list->items[i].host, host)) {
			outcomes[i] = APPLY_ELSEWHERE;
			continue;
		}
		if (gfc_signalled())
			return ctl_fail(session->ctx, CTL_FAILED,
					"interrupted before step %zu: apply the plan again to go on",
					i + 1);
		gfc_hold_signals();
		ret = reach(session, list, i, &outcomes[i]);
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
