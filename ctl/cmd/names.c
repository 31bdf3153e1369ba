// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: names by kind
 *
 * A host without the module simply has no slots and no compositions; what
 * comes from catalogues and tables is there all the same.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/quota.h"
#include "cli/commands.h"
#include "cmd/cmd.h"
#include "cmd/names.h"
#include "hub/name.h"
#include "module/netlink_gen.h"
#include "sense/files.h"
#include "session/render.h"
#include "session/session.h"
#include "size/estimate.h"
#include "size/weights.h"

void names_add(struct names *names, const char *word, const char *fmt, ...)
{
	struct name *name;
	va_list ap;

	names->items = mem_grow(names->items, names->n + 1, sizeof(*names->items));
	name = &names->items[names->n++];
	name->word = mem_strdup(word);
	va_start(ap, fmt);
	name->remark = mem_vprintf(fmt, ap);
	va_end(ap);
}

void names_free(struct names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++) {
		free(names->items[i].word);
		free(names->items[i].remark);
	}
	free(names->items);
	memset(names, 0, sizeof(*names));
}

static void add_slots(const struct session *session, struct names *names)
{
	size_t i;

	for (i = 0; i < session->fabric.n_slots; i++) {
		const struct gf_slot *slot = &session->fabric.slots[i];
		struct identity identity;

		identity_of(&session->knowledge, slot, &identity);
		names_add(names, slot->name, "%s%s%s%s%s", render_state(slot->state),
			  strcmp(identity.label, "-") ? ", " : "",
			  strcmp(identity.label, "-") ? identity.label : "",
			  slot->composition ? ", " : "",
			  slot->composition ? slot->composition : "");
	}
}

static void add_compositions(const struct session *session, struct names *names)
{
	size_t i;

	for (i = 0; i < session->fabric.n_compositions; i++) {
		const struct gf_composition *c = &session->fabric.compositions[i];

		names_add(names, c->name, "%s, %zu GPU%s", render_composition_state(c->state),
			  c->n_members, c->n_members == 1 ? "" : "s");
	}
}

/* Each kind of GPU in the fabric once, with how many of it there are. */
static void add_kinds(const struct session *session, struct names *names)
{
	const struct catalogue *catalogue = &session->knowledge.catalogue;
	size_t *counts = mem_zalloc(catalogue->n_gpus, sizeof(*counts)), i;

	for (i = 0; i < session->fabric.n_slots; i++) {
		struct identity identity;

		identity_of(&session->knowledge, &session->fabric.slots[i], &identity);
		if (identity.gpu)
			counts[identity.gpu - catalogue->gpus]++;
	}
	for (i = 0; i < catalogue->n_gpus; i++)
		if (counts[i])
			names_add(names, catalogue->gpus[i].id, "%s, %zu in the fabric",
				  catalogue->gpus[i].name, counts[i]);
	free(counts);
}

static int add_live(struct ctl_ctx *ctx, struct names *names,
		    void (*add)(const struct session *session, struct names *names))
{
	struct session session;
	int ret;

	ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	add(&session, names);
	session_close(&session);
	return CTL_DONE;
}

static int slots(struct ctl_ctx *ctx, struct names *names)
{
	return add_live(ctx, names, add_slots);
}

static int compositions(struct ctl_ctx *ctx, struct names *names)
{
	return add_live(ctx, names, add_compositions);
}

/* Tenants are configuration: they are known without the module. */
static int tenants(struct ctl_ctx *ctx, struct names *names)
{
	struct session session = { .ctx = ctx };
	struct quota quota;
	size_t i;
	int ret;

	ret = quota_load(&session, &quota);
	if (ret)
		return ret;
	for (i = 0; i < quota.tenants.n; i++)
		names_add(names, quota.tenants.items[i].name, "guarantee %zu",
			  quota.tenants.items[i].guarantee);
	quota_end(&quota);
	return CTL_DONE;
}

static void names_add_gpus(const struct catalogue *catalogue, struct names *names)
{
	size_t i;

	for (i = 0; i < catalogue->n_gpus; i++)
		names_add(names, catalogue->gpus[i].id, "%s", catalogue->gpus[i].name);
}

static void add_models(const struct catalogue *catalogue, struct names *names)
{
	size_t i;

	for (i = 0; i < catalogue->n_models; i++)
		names_add(names, catalogue->models[i].id, "%s", catalogue->models[i].name);
}

static void add_engines(const struct catalogue *catalogue, struct names *names)
{
	size_t i;

	names_add(names, engine_generic.id, "%s", engine_generic.title);
	for (i = 0; i < catalogue->n_engines; i++)
		names_add(names, catalogue->engines[i].id, "%s", catalogue->engines[i].title);
}

static int add_catalogue(struct ctl_ctx *ctx, struct names *names,
			 int (*load)(struct catalogue *catalogue, const char *data_dir,
				     const char *config_dir, struct fault *fault),
			 void (*add)(const struct catalogue *catalogue, struct names *names))
{
	struct catalogue catalogue;
	struct fault fault = { "" };

	if (load(&catalogue, ctx->data_dir, ctx->config_dir, &fault))
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	add(&catalogue, names);
	catalogue_free(&catalogue);
	return CTL_DONE;
}

static int gpus(struct ctl_ctx *ctx, struct names *names)
{
	return add_catalogue(ctx, names, catalogue_load_gpus, names_add_gpus);
}

static int load_names(struct catalogue *catalogue, const char *data_dir, const char *config_dir,
		      struct fault *fault)
{
	memset(catalogue, 0, sizeof(*catalogue));
	return catalogue_load_models(catalogue, data_dir, config_dir, fault);
}

static int models(struct ctl_ctx *ctx, struct names *names)
{
	return add_catalogue(ctx, names, load_names, add_models);
}

static int engines(struct ctl_ctx *ctx, struct names *names)
{
	return add_catalogue(ctx, names, load_names, add_engines);
}

static int kinds(struct ctl_ctx *ctx, struct names *names)
{
	int ret = add_live(ctx, names, add_kinds);

	return names->n ? ret : gpus(ctx, names);
}

static int methods(struct ctl_ctx *ctx, struct names *names)
{
	const struct size_method *const *m;

	(void)ctx;
	for (m = size_methods; *m; m++)
		names_add(names, (*m)->name, "%s", (*m)->rule);
	return CTL_DONE;
}

static int precisions(struct ctl_ctx *ctx, struct names *names)
{
	const struct size_precision *p;

	(void)ctx;
	for (p = size_precisions; p->name; p++)
		names_add(names, p->name, "%s", p->text);
	return CTL_DONE;
}

static int tasks(struct ctl_ctx *ctx, struct names *names)
{
	unsigned int i;

	(void)ctx;
	for (i = 0; i < SIZE_TASKS; i++)
		names_add(names, size_task_name((enum size_task)i), "%s", "");
	return CTL_DONE;
}

static int events(struct ctl_ctx *ctx, struct names *names)
{
	unsigned int i;

	(void)ctx;
	for (i = 0; gfnl_event_kind_name(i); i++)
		names_add(names, gfnl_event_kind_name(i), "%s", "");
	return CTL_DONE;
}

static int loaded_drivers(struct ctl_ctx *ctx, struct names *names)
{
	DIR *dir = opendir("/sys/bus/pci/drivers");
	struct dirent *entry;

	(void)ctx;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			names_add(names, entry->d_name, "%s", "");
	if (dir)
		closedir(dir);
	return CTL_DONE;
}

static int commands(struct ctl_ctx *ctx, struct names *names)
{
	const struct ctl_command *const *c;

	(void)ctx;
	for (c = ctl_commands; *c; c++)
		if (!((*c)->flags & CTL_HIDDEN))
			names_add(names, (*c)->name, "%s", (*c)->summary);
	return CTL_DONE;
}

/* How names of the Hub begin; the rest is not known here. */
static int described(struct ctl_ctx *ctx, struct names *names)
{
	char **found;
	size_t n, i;
	int ret = sense_names(ctx, &found, &n);

	for (i = 0; i < n; i++)
		names_add(names, found[i], "workloads.d");
	sense_names_free(found, n);
	return ret;
}

static int hub(struct ctl_ctx *ctx, struct names *names)
{
	(void)ctx;
	names_add(names, HUB_PREFIX, "a model of the Hugging Face Hub");
	return CTL_DONE;
}

static const struct {
	const char *kind;
	int (*add)(struct ctl_ctx *ctx, struct names *names);
} sources[] = {
	{ "slots", slots },
	{ "compositions", compositions },
	{ "tenants", tenants },
	{ "kinds", kinds },
	{ "gpus", gpus },
	{ "models", models },
	{ "engines", engines },
	{ "methods", methods },
	{ "precisions", precisions },
	{ "tasks", tasks },
	{ "events", events },
	{ "commands", commands },
	{ "drivers", loaded_drivers },
	{ "workloads", described },
	{ "hub", hub },
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

int names_of_kind(struct ctl_ctx *ctx, const char *kind, struct names *names)
{
	char *known;
	size_t i;

	for (i = 0; i < SOURCES; i++)
		if (!strcmp(sources[i].kind, kind))
			return sources[i].add(ctx, names);
	known = names_kinds();
	ctl_fail(ctx, CTL_USAGE, "there is no kind %s: the kinds are %s", kind, known);
	free(known);
	return CTL_USAGE;
}

char *names_kinds(void)
{
	struct text text = { 0 };
	size_t i;

	for (i = 0; i < SOURCES; i++)
		text_join(&text, ", ", sources[i].kind);
	return text.text;
}
