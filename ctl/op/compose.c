// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: composing
 *
 * Choose slots for a request, and have the module claim and attach them. The
 * choice is made on a snapshot, and others may compose at the same time: when the
 * module says that a slot was taken meanwhile, the choice is made anew.
 *
 * A request that waits is tried anew after each change that the module tells of, and what does not
 * fit has changed nothing: so there is nothing to take back when the time is over or a signal comes.
 * It has no claim on what comes back. Fabric managers tell nothing on their own, and are asked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/pool.h"
#include "choose/quota.h"
#include "cli/out.h"
#include "op/compose.h"
#include "op/op.h"
#include "op/supply.h"

/* How often fabric managers are asked whether others have given GPUs back. */
#define MANAGERS_MS 2000

static const struct out_column choice_columns[] = {
	{ "name", NULL },
	{ "choice", NULL },
	{ "slots", NULL },
	{ "limit", NULL },
	{ "arrangement", NULL },
	{ "tensor_parallel", NULL },
	{ "pipeline_parallel", NULL },
	{ "attention_data_parallel", NULL },
	{ "expert_parallel", NULL },
	{ "data_parallel", NULL },
	{ "bytes_per_gpu", NULL },
	{ "usable_bytes", NULL },
	{ "seconds", NULL },
	{ NULL, NULL },
};

/**
 * struct reasons - why a composition is what it is
 * @choice: why these slots
 * @arrangement: of a workload, and which limit decided; all zero without one
 */
struct reasons {
	char *choice;
	struct arrangement arrangement;
};

static void free_reasons(struct reasons *why)
{
	free(why->choice);
	arrangement_free(&why->arrangement);
	memset(why, 0, sizeof(*why));
}

static void say_reasons(struct session *session, const struct reasons *why)
{
	session_say(session, "choosing %s", why->choice);
	if (why->arrangement.why)
		session_say(session, "%s", why->arrangement.why);
}

static void put_reasons(struct out_table *t, const char *name, const struct reasons *why)
{
	const struct size_choice *choice = &why->arrangement.choice;

	out_str(t, "name", name);
	out_str(t, "choice", why->choice);
	if (!why->arrangement.why)
		return;
	out_str(t, "limit", size_limit_names[why->arrangement.limit]);
	out_str(t, "arrangement", why->arrangement.why);
	out_uint(t, "tensor_parallel", choice->fit.layout.tp);
	out_uint(t, "pipeline_parallel", choice->fit.layout.pp);
	if (choice->fit.layout.adp > 1) {
		out_uint(t, "attention_data_parallel", choice->fit.layout.adp);
		out_uint(t, "expert_parallel", choice->fit.layout.tp * choice->fit.layout.adp);
	}
	out_uint(t, "data_parallel", choice->fit.replicas);
	out_uint(t, "bytes_per_gpu", choice->fit.per_gpu);
	out_uint(t, "usable_bytes", choice->fit.usable);
}

static void render_choice(struct session *session, const struct op *op, const struct reasons *why)
{
	const char **names = mem_zalloc(op->n_add, sizeof(*names));
	struct out_table *t = out_table(session->ctx->out, NULL, choice_columns, OUT_SINGLE);
	size_t i;

	for (i = 0; i < op->n_add; i++)
		names[i] = op->add[i]->name;
	put_reasons(t, op->name, why);
	out_list(t, "slots", names, op->n_add);
	free(names);
}

static void say_choice(struct session *session, const struct op *op)
{
	say_reasons(session, op->arg);
	if (session->ctx->dry_run)
		render_choice(session, op, op->arg);
}

static void say_plan(struct session *session, const struct op *op)
{
	struct text names = { 0 };
	size_t i;

	for (i = 0; i < op->n_add; i++)
		text_join(&names, " ", op->add[i]->name);
	out_line(session->ctx->out, "%s would get %s; nothing was changed", op->name, names.text);
	free(names.text);
}

static const char *compose_tenant_of(const struct compose_request *request)
{
	return *request->note.tenant ? request->note.tenant : NULL;
}

/**
 * struct attempt - what one choice is made from
 * @quota: tenants, and what they hold
 * @pool: slots that can be chosen
 */
struct attempt {
	struct quota quota;
	struct pool pool;
};

/* Choose slots of the pool: *@slots is newly allocated. */
static int choose_slots(struct session *session, const struct compose_request *request,
			struct attempt *from, struct reasons *why, struct gf_slot ***slots,
			size_t *n)
{
	struct pool *pool = &from->pool;
	struct pool_request ask;
	struct choose_result choice;
	int ret;

	ret = pool_request_make(session->ctx, &session->knowledge, pool, request->gpus, &ask);
	if (ret)
		return ret;
	ask.tenant = compose_tenant_of(request);
	ask.room = quota_room(&from->quota, pool, compose_tenant_of(request));
	free_reasons(why);
	ret = pool_choose(session, pool, &ask, &choice, &why->arrangement);
	pool_request_free(&ask);
	if (ret)
		return ret;
	why->choice = mem_strdup(choice.why);
	ret = quota_admit(session, &from->quota, pool, compose_tenant_of(request),
			  choose_gpus(pool->slots, choice.picked, choice.n), 0);
	if (!ret) {
		*slots = pool_slots(session, pool, choice.picked, choice.n);
		*n = choice.n;
	}
	choose_result_free(&choice);
	return ret;
}

/* Choose and ask the module. */
static int compose_try_once(struct session *session, const struct compose_request *request,
			    struct attempt *from, struct op *op, struct reasons *why)
{
	const struct handover_to to = { .tenant = compose_tenant_of(request) };
	const struct pool_terms terms = { op->terms->driver, op->terms->harm,
					  op->terms->dirty ? NULL : &to };
	struct gf_slot **slots = NULL;
	int ret;

	ret = quota_begin(session, compose_tenant_of(request), &from->quota);
	if (ret)
		return ret;
	ret = pool_load(session, &terms, request->gpus, &from->pool);
	if (!ret)
		ret = choose_slots(session, request, from, why, &slots, &op->n_add);
	if (ret)
		goto out;
	op->add = slots;
	op->quota = &from->quota;
	op->pool = &from->pool;
	op->tenant = compose_tenant_of(request);
	op->to = terms.to;
	/* What was chosen by is what must be found after power-on. */
	op_expect(session, op, false);
	ret = op_start(session, op);
	if (!ret && session->ctx->dry_run)
		say_plan(session, op);
out:
	op_forget(op);
	free(slots);
	pool_free(&from->pool);
	quota_end(&from->quota);
	return ret;
}

static void say_ready(struct session *session, const struct op *op, uint64_t ms)
{
	char took[TEXT_QUANTITY];
	size_t gpus = 0, i;

	for (i = 0; i < op->wait.n_slots; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, op->wait.slots[i]);

		gpus += slot ? identity_count(&session->knowledge, slot) : 1;
	}
	out_line(session->ctx->out, "%s: %zu GPU%s ready in %s", op->name, gpus,
		 gpus == 1 ? "" : "s", text_duration(took, ms));
}

static int compose_end(struct session *session, struct op *op, const struct reasons *why)
{
	uint64_t began = op->wait.operation.started, ms;
	struct out_table *t;
	bool stopped;
	int ret;

	ret = op_await_whole(session, op, &stopped);
	if (ret)
		return ret;
	ms = text_now() > began && began ? text_now() - began : 0;
	if (gf_duration(&op->wait.operation, GPUFABRIC_PHASE_TOTAL))
		ms = gf_duration(&op->wait.operation, GPUFABRIC_PHASE_TOTAL) / 1000;
	t = out_table(session->ctx->out, NULL, choice_columns, OUT_SINGLE);
	put_reasons(t, op->name, why);
	out_real(t, "seconds", (double)ms / 1000, 3);
	wait_render(session, &op->wait, 1);
	ret = op_finish(session, op);
	if (!ret)
		say_ready(session, op, ms);
	return ret || !stopped ? ret : op_stopped(session, op);
}

/*
 * Who binds the composition gives it back, and can do so only once its GPUs are there: a signal
 * waits until then.
 */
static int compose_finish(struct session *session, struct op *op, const struct reasons *why)
{
	int ret;

	if (!op->bind)
		return compose_end(session, op, why);
	gfc_hold_signals();
	ret = compose_end(session, op, why);
	gfc_release_signals();
	return ret;
}

/* From what this host has. */
static int compose_here(struct session *session, const struct op_terms *terms,
			struct compose_request *request)
{
	struct reasons why = { 0 };
	struct op_race race = { 0 };
	struct attempt from;
	struct op op;
	char *failed;
	int ret;

	failed = mem_printf("%s was not composed, its claims are given back", request->name);
	do {
		op = (struct op){ .kind = OP_COMPOSE,
				  .terms = terms,
				  .name = request->name,
				  .bind = request->bind,
				  .note = &request->note,
				  .lease_ms = request->lease_ms,
				  .anew = true,
				  .failed = failed,
				  .say = say_choice,
				  .arg = &why };
		ret = compose_try_once(session, request, &from, &op, &why);
	} while (op_try_again(session, &race, &op, &ret));
	request->accepted = !ret && !session->ctx->dry_run;
	if (request->accepted)
		ret = compose_finish(session, &op, &why);
	op_free(&op);
	free(failed);
	free_reasons(&why);
	return ret;
}

static int compose_again(struct session *session, const struct op_terms *terms, void *request)
{
	return compose_here(session, terms, request);
}

/* Would it fit here, if compositions and operations had ended? */
static bool compose_would_fit(struct session *session, const struct op_terms *terms,
			      const struct compose_request *request)
{
	const struct handover_to to = { .tenant = compose_tenant_of(request) };
	const struct pool_terms fit = { terms->driver, terms->harm, terms->dirty ? NULL : &to };
	char *before = session->ctx->error;
	struct gf_slot **slots = NULL;
	struct reasons why = { 0 };
	struct attempt from;
	size_t n;
	int ret;

	session->ctx->error = NULL;
	ret = quota_begin(session, compose_tenant_of(request), &from.quota);
	if (!ret) {
		quota_suppose_free(&from.quota);
		ret = pool_load(session, &fit, request->gpus, &from.pool);
		pool_suppose_free(&from.pool);
		if (!ret)
			ret = choose_slots(session, request, &from, &why, &slots, &n);
		free(slots);
		pool_free(&from.pool);
		quota_end(&from.quota);
	}
	free_reasons(&why);
	free(session->ctx->error);
	session->ctx->error = before;
	return !ret;
}

/**
 * struct patience - a request that waits
 * @end: of the wait, by text_monotonic()
 * @ask: when managers are asked the next time
 * @outlook: what they said
 * @supply: managers are asked for GPUs in the next attempt
 * @seen: the last change that the attempt knew of
 * @said: people know that it waits
 */
struct patience {
	uint64_t end;
	uint64_t ask;
	enum supply_outlook outlook;
	uint64_t seen;
	bool supply;
	bool said;
};

static bool is_leaving(const struct session *session, const char *name)
{
	const struct gf_composition *composition = gf_composition_by_name(&session->fabric, name);

	return composition && composition->state == GPUFABRIC_COMPOSITION_STATE_RELEASING;
}

/* Once in a while; a manager that has just refused is not asked for the same at once. */
static int patience_ask(struct session *session, const struct op_terms *terms,
			const struct compose_request *request, struct patience *patience)
{
	const struct handover_to to = { .tenant = compose_tenant_of(request) };
	const struct supply_for lacks = { terms, request->gpus, &to, request->name, true };
	bool refused = patience->supply;
	char *before = session->ctx->error;
	int ret;

	patience->supply = false;
	if (text_monotonic() < patience->ask)
		return CTL_DONE;
	session->ctx->error = NULL;
	ret = supply_look(session, &lacks, &patience->outlook);
	patience->ask = text_monotonic() + MANAGERS_MS;
	patience->supply = !ret && patience->outlook == SUPPLY_NOW && !refused;
	if (ret) {
		free(before);
	} else {
		free(session->ctx->error);
		session->ctx->error = before;
	}
	return ret;
}

/* The time is over, for a request that ended with @ret and its error. */
static int patience_end(struct session *session, const struct compose_request *request, int ret)
{
	char *why = session->ctx->error, took[TEXT_QUANTITY];

	session->ctx->error = NULL;
	ctl_fail(session->ctx, (enum ctl_exit)ret, "%s; waited %s", why,
		 text_duration(took, request->wait_ms));
	free(why);
	return ret;
}

/*
 * After an attempt that ended with @ret: wait until another one is worth while. CTL_DONE then,
 * else what the request ends with.
 */
static int patience_wait(struct session *session, const struct op_terms *terms,
			 const struct compose_request *request, struct patience *patience, int ret)
{
	char most[TEXT_QUANTITY];
	uint64_t now, until;
	int err;

	err = patience_ask(session, terms, request, patience);
	if (err || patience->supply)
		return err;
	if (patience->outlook == SUPPLY_NEVER && !is_leaving(session, request->name) &&
	    !compose_would_fit(session, terms, request))
		return ret;
	now = text_monotonic();
	if (now >= patience->end)
		return patience_end(session, request, ret);
	if (!patience->said)
		session_say(session, "%s; waiting up to %s", session->ctx->error,
			    text_duration(most, request->wait_ms));
	patience->said = true;
	/* Whoever was asked meanwhile took his time, and the snapshot is another one. */
	if (session->mirror.last != patience->seen)
		return session_refresh(session);
	until = patience->end;
	if (patience->outlook != SUPPLY_NEVER && patience->ask < until)
		until = patience->ask > now ? patience->ask : now;
	err = session_hear(session, (int)(until - now));
	if (gfc_signalled())
		return ctl_fail(session->ctx, CTL_FAILED,
				"interrupted while it waited: nothing was changed");
	return err ? err : session_refresh(session);
}

/* With -n nothing is waited for. */
static bool compose_waits(const struct session *session, const struct compose_request *request)
{
	return request->wait_ms && !session->ctx->dry_run;
}

static int compose_once(struct session *session, const struct op_terms *terms,
			struct compose_request *request, bool supply)
{
	const struct handover_to to = { .tenant = compose_tenant_of(request) };
	const struct supply_for lacks = { terms, request->gpus, &to, request->name,
					  compose_waits(session, request) };
	int ret;

	if (gf_composition_by_name(&session->fabric, request->name))
		return ctl_fail(session->ctx, CTL_FAILED,
				"composition %s exists already: choose another name, or gpuctl release %s",
				request->name, request->name);
	ret = compose_here(session, terms, request);
	if (ret == CTL_NO_FIT && supply && !request->accepted)
		ret = supply_serve(session, &lacks, compose_again, request);
	return ret;
}

int compose(struct session *session, const struct op_terms *terms, struct compose_request *request)
{
	struct patience patience = { .end = text_monotonic() + request->wait_ms, .supply = true };
	bool waits = compose_waits(session, request);
	int ret;

	do {
		patience.seen = session->mirror.last;
		ret = compose_once(session, terms, request, patience.supply);
		/* What was tried with power and does not fit does not fit a second later. */
		if (!ret || !waits || request->accepted ||
		    (ret != CTL_NO_FIT && !is_leaving(session, request->name)))
			return ret;
		ret = patience_wait(session, terms, request, &patience, ret);
		/* What was said below the error of one attempt is nothing to the next. */
		if (!ret) {
			free(session->ctx->more);
			session->ctx->more = NULL;
		}
	} while (!ret);
	return ret;
}
