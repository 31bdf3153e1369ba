// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: lists of moves
 *
 * Each step says what its workload has before and after it, so what is still to be done can
 * be told from what the workload has: the state of the module is the only record.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/jread.h"
#include "base/text.h"
#include "plan/move_list.h"

#define FORMAT_KEY "gpufabric_moves"
#define FORMAT 1
/* Names of switches and kinds are whatever the module and the catalogue have. */
#define NAME_MAX_BYTES 63

void move_has_free(struct move_has *has)
{
	size_t i;

	for (i = 0; i < has->n; i++) {
		free(has->of[i].sw);
		free(has->of[i].kind);
	}
	memset(has, 0, sizeof(*has));
}

bool move_has_add(struct move_has *has, const char *sw, const char *kind, uint32_t gpus)
{
	size_t i;

	for (i = 0; i < has->n; i++) {
		if (strcmp(has->of[i].sw, sw) || strcmp(has->of[i].kind, kind))
			continue;
		has->of[i].gpus += gpus;
		return true;
	}
	if (i == MOVE_POOLS)
		return false;
	has->of[has->n++] = (struct move_gpus){ mem_strdup(sw), mem_strdup(kind), gpus };
	return true;
}

uint32_t move_has_of(const struct move_has *has, const char *sw, const char *kind)
{
	size_t i;

	for (i = 0; i < has->n; i++)
		if (!strcmp(has->of[i].sw, sw) && !strcmp(has->of[i].kind, kind))
			return has->of[i].gpus;
	return 0;
}

bool move_has_same(const struct move_has *a, const struct move_has *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (move_has_of(b, a->of[i].sw, a->of[i].kind) != a->of[i].gpus)
			return false;
	return true;
}

char *move_has_text(const struct move_has *has)
{
	struct text t = { 0 };
	size_t i;

	for (i = 0; i < has->n; i++)
		text_add(&t, "%s%u %s behind %s", i ? ", " : "", has->of[i].gpus, has->of[i].kind,
			 has->of[i].sw);
	return t.text ? t.text : mem_strdup("nothing");
}

static void take_has(struct move_has *has, const struct plan_instance *in,
		     const struct plan_held *held, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct plan_pool *p = &in->pools[held[i].pool];

		move_has_add(has, in->switches[p->sw].name, in->kinds[p->kind].name, held[i].gpus);
	}
}

void move_list_make(struct move_list *list, const struct plan_instance *in,
		    const struct plan_moves *moves)
{
	size_t i;

	list->n = moves->n;
	list->items = mem_zalloc(moves->n, sizeof(*list->items));
	for (i = 0; i < moves->n; i++) {
		const struct plan_move *from = &moves->items[i];
		const struct plan_workload *w = &in->workloads[from->workload];
		struct move *to = &list->items[i];

		to->host = mem_strdup(in->hosts[w->host].name);
		to->workload = mem_strdup(w->name);
		to->tenant = w->tenant == PLAN_NONE ? NULL :
						      mem_strdup(in->tenants[w->tenant].name);
		to->action = from->action;
		take_has(&to->from, in, from->from, from->n_from);
		take_has(&to->to, in, from->to, from->n_to);
		to->why = mem_strdup(from->why);
	}
}

void move_list_free(struct move_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		struct move *move = &list->items[i];

		free(move->host);
		free(move->workload);
		free(move->tenant);
		free(move->why);
		move_has_free(&move->from);
		move_has_free(&move->to);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}

/* A text below a key that nothing else can be made of than a name. */
static int read_name(struct jread *r, struct json_object *from, const char *key, const char **name)
{
	const char *s = NULL, *at;
	int err;

	err = jread_word(r, from, key, &s);
	if (err)
		return err;
	*name = s;
	if (!s)
		return 0;
	for (at = s; (unsigned char)*at >= ' ' && *at != 0x7f;)
		at++;
	if (!*s || *at || strlen(s) > NAME_MAX_BYTES) {
		jread_key(r, key);
		return jread_refuse(r, "a name has 1 to %d bytes, and no control characters",
				    NAME_MAX_BYTES);
	}
	return 0;
}

static int move_list_need_name(struct jread *r, struct json_object *from, const char *key,
			       const char **name)
{
	int err = read_name(r, from, key, name);

	if (!err && !*name)
		return jread_refuse(r, "\"%s\" is missing here", key);
	return err;
}

static int move_list_read_gpus(struct jread *r, struct json_object *from, struct move_has *has)
{
	static const char *const keys[] = { "switch", "kind", "gpus", NULL };
	const char *sw = NULL, *kind = NULL;
	uint32_t gpus = 0;
	int err;

	err = jread_object(r, from, keys);
	if (!err)
		err = move_list_need_name(r, from, "switch", &sw);
	if (!err)
		err = move_list_need_name(r, from, "kind", &kind);
	if (!err)
		err = jread_whole(r, from, "gpus", PLAN_GPUS_MAX, &gpus);
	if (err)
		return err;
	if (!gpus)
		return jread_refuse(r, "no GPUs: leave it out");
	if (move_has_of(has, sw, kind))
		return jread_refuse(r, "%s behind %s is listed twice", kind, sw);
	move_has_add(has, sw, kind, gpus);
	return 0;
}

static int read_has(struct jread *r, struct json_object *from, const char *key,
		    struct move_has *has)
{
	struct json_object *array;
	size_t i;
	int err;

	err = jread_array(r, from, key, MOVE_POOLS, &array);
	if (err || !array)
		return err;
	jread_key(r, key);
	for (i = 0; i < json_object_array_length(array); i++) {
		jread_index(r, i);
		err = move_list_read_gpus(r, json_object_array_get_idx(array, i), has);
		if (err)
			return err;
		jread_up(r);
	}
	jread_up(r);
	return 0;
}

static int read_action(struct jread *r, struct json_object *from, struct move *move)
{
	const char *name = NULL;
	int err;
	size_t i;

	err = move_list_need_name(r, from, "action", &name);
	if (err)
		return err;
	for (i = 0; i < PLAN_ACTIONS && strcmp(name, plan_action_names[i]);)
		i++;
	if (i == PLAN_ACTIONS) {
		jread_key(r, "action");
		return jread_refuse(r, "an action is compose, resize or release");
	}
	move->action = (enum plan_action)i;
	return 0;
}

/* Composing begins with nothing, releasing ends with it, and a resize has both. */
static int check_step(struct jread *r, const struct move *move)
{
	bool from = move->action != PLAN_COMPOSE, to = move->action != PLAN_RELEASE;

	if (from != !!move->from.n)
		return jread_refuse(r, "%s: \"from\" does not go with %s", move->workload,
				    plan_action_names[move->action]);
	if (to != !!move->to.n)
		return jread_refuse(r, "%s: \"to\" does not go with %s", move->workload,
				    plan_action_names[move->action]);
	if (move_has_same(&move->from, &move->to))
		return jread_refuse(r, "%s: \"from\" and \"to\" are the same", move->workload);
	return 0;
}

/* The last step of the same workload before this one. */
static const struct move *before(const struct move_list *list, size_t i)
{
	size_t j = i;

	while (j--)
		if (!strcmp(list->items[j].workload, list->items[i].workload) &&
		    !strcmp(list->items[j].host, list->items[i].host))
			return &list->items[j];
	return NULL;
}

static int read_step(struct jread *r, struct json_object *from, struct move_list *list)
{
	static const char *const keys[] = { "step", "host", "workload", "tenant", "action",
					    "from", "to",   "why",	NULL };
	const char *host = NULL, *workload = NULL, *tenant = NULL, *why = NULL;
	uint32_t number = (uint32_t)list->n + 1;
	struct move *move = &list->items[list->n];
	const struct move *last;
	int err;

	err = jread_object(r, from, keys);
	if (!err)
		err = jread_whole(r, from, "step", MOVE_STEPS_MAX, &number);
	if (!err && number != list->n + 1)
		return jread_refuse(r, "step %u where %zu is due", number, list->n + 1);
	if (!err)
		err = move_list_need_name(r, from, "host", &host);
	if (!err)
		err = move_list_need_name(r, from, "workload", &workload);
	if (!err)
		err = read_name(r, from, "tenant", &tenant);
	if (!err)
		err = jread_word(r, from, "why", &why);
	if (err)
		return err;
	if (!text_name_valid(workload))
		return jread_refuse(r, "%s is not the name of a composition", workload);
	if (tenant && !text_name_valid(tenant))
		return jread_refuse(r, "%s is not the name of a tenant", tenant);
	list->n++;
	move->host = mem_strdup(host);
	move->workload = mem_strdup(workload);
	move->tenant = tenant ? mem_strdup(tenant) : NULL;
	move->why = mem_strdup(why ? why : "");
	err = read_action(r, from, move);
	if (!err)
		err = read_has(r, from, "from", &move->from);
	if (!err)
		err = read_has(r, from, "to", &move->to);
	if (!err)
		err = check_step(r, move);
	last = err ? NULL : before(list, list->n - 1);
	if (last && !move_has_same(&last->to, &move->from))
		return jread_refuse(r, "%s: this is not what an earlier step left", workload);
	return err;
}

int move_list_read(struct move_list *list, const char *file, const char *text, size_t len,
		   struct fault *fault)
{
	static const char *const keys[] = { FORMAT_KEY, "minute",  "cost",    "bound",
					    "gap",	"waiting", "kept",    "steps",
					    "put_off",	"left",	   "remarks", NULL };
	struct json_object *array = NULL;
	uint32_t format = 0;
	struct jread r;
	size_t i;
	int err;

	memset(list, 0, sizeof(*list));
	err = jread_open(&r, file, text, len, fault);
	if (!err)
		err = jread_object(&r, r.root, keys);
	if (!err)
		err = jread_whole(&r, r.root, FORMAT_KEY, PLAN_NONE, &format);
	if (!err && format != FORMAT)
		err = jread_refuse(&r, "\"" FORMAT_KEY "\" is %u, not %u", format, FORMAT);
	if (!err)
		err = jread_array(&r, r.root, "steps", MOVE_STEPS_MAX, &array);
	if (!err && array) {
		list->items = mem_zalloc(json_object_array_length(array), sizeof(*list->items));
		jread_key(&r, "steps");
		for (i = 0; i < json_object_array_length(array) && !err; i++) {
			jread_index(&r, i);
			err = read_step(&r, json_object_array_get_idx(array, i), list);
			if (!err)
				jread_up(&r);
		}
	}
	jread_close(&r);
	return err;
}

enum move_place move_place(const struct move_list *list, size_t i, const struct move_has *now)
{
	const struct move *step = &list->items[i], *other;
	const struct move *first = NULL;
	size_t j, at = SIZE_MAX;

	for (j = 0; j < list->n; j++) {
		other = &list->items[j];
		if (strcmp(other->workload, step->workload) || strcmp(other->host, step->host))
			continue;
		if (!first)
			first = other;
		if (move_has_same(&other->to, now))
			at = j;
	}
	if (at != SIZE_MAX)
		return i <= at ? MOVE_DONE : MOVE_TO_DO;
	return move_has_same(&first->from, now) ? MOVE_TO_DO : MOVE_ASTRAY;
}
