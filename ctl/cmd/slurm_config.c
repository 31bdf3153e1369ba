// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl slurm config
 *
 * A slot of this host counts for the kind of the GPU that is in it; a slot at a port of a fabric
 * manager for the kind that the managers have most of. Licences are counted over all of the pool.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/pool_table.h"
#include "session/session.h"
#include "slurm/check.h"

#define HOST_MAX 256

static const struct ctl_option options[] = {
	{ "node", 0, "NAME", "NodeName= of this host (default: its host name)" },
	{ "file", 0, "FILE", "only the lines of slurm.conf, gres.conf or plugstack.conf" },
	{ NULL },
};

/**
 * struct slurm_kind - GPUs of a kind
 * @gpu: of the catalogue
 * @slots: names of this host's slots for them, @n_slots of them
 * @here: GPUs in slots that no manager has
 * @pool: GPUs of managers
 */
struct slurm_kind {
	const struct cat_gpu *gpu;
	const char **slots;
	size_t n_slots;
	size_t here, pool;
};

/**
 * struct slurm_kinds - all of them
 * @items: @n of them
 * @ports: slots at ports of managers, @n_ports of them
 * @left: what is not counted, with the reason, @n_left of them
 */
struct slurm_kinds {
	struct slurm_kind *items;
	size_t n;
	const char **ports;
	size_t n_ports;
	char **left;
	size_t n_left;
};

static struct slurm_kind *kind_of_gpu(struct slurm_kinds *kinds, const struct cat_gpu *gpu)
{
	size_t i;

	for (i = 0; i < kinds->n; i++)
		if (kinds->items[i].gpu == gpu)
			return &kinds->items[i];
	kinds->items = mem_push(kinds->items, kinds->n, sizeof(*kinds->items));
	kinds->items[kinds->n] = (struct slurm_kind){ .gpu = gpu };
	return &kinds->items[kinds->n++];
}

static void kind_add_slot(struct slurm_kind *kind, const char *name)
{
	kind->slots = mem_push(kind->slots, kind->n_slots, sizeof(*kind->slots));
	kind->slots[kind->n_slots++] = name;
}

static void kinds_leave(struct slurm_kinds *kinds, char *why)
{
	kinds->left = mem_push(kinds->left, kinds->n_left, sizeof(*kinds->left));
	kinds->left[kinds->n_left++] = why;
}

/*
 * What may be typed for it: "h100" of h100-pcie-80, where no other kind of the pool begins so and the
 * catalogue knows it by that word, as the Prolog asks gpuctl for it.
 */
static char *kind_word(const struct slurm_kinds *kinds, const struct slurm_kind *kind)
{
	size_t len = strcspn(kind->gpu->id, "-"), i;
	char *word;

	for (i = 0; i < kinds->n; i++) {
		const char *other = kinds->items[i].gpu->id;

		if (&kinds->items[i] != kind && strcspn(other, "-") == len &&
		    !strncmp(other, kind->gpu->id, len))
			return mem_strdup(kind->gpu->id);
	}
	word = mem_printf("%.*s", (int)len, kind->gpu->id);
	if (cat_gpu_answers(kind->gpu, word))
		return word;
	free(word);
	return mem_strdup(kind->gpu->id);
}

static void count_slots_here(const struct session *session, const struct pool_seen *pool,
			     struct slurm_kinds *kinds)
{
	size_t i;

	for (i = 0; i < session->fabric.n_slots; i++) {
		const struct gf_slot *slot = &session->fabric.slots[i];
		struct identity identity;
		struct slurm_kind *kind;

		if (slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED || gf_slot_is_other(slot))
			continue;
		if (managers_of_slot(&pool->managers, slot->name)) {
			kinds->ports =
				mem_push(kinds->ports, kinds->n_ports, sizeof(*kinds->ports));
			kinds->ports[kinds->n_ports++] = slot->name;
			continue;
		}
		if (slot->state == GF_STATE_EMPTY)
			continue;
		identity_of(&session->knowledge, slot, &identity);
		if (!identity.gpu) {
			kinds_leave(kinds,
				    mem_printf("%s: its kind of GPU is not known: gpuctl scan",
					       slot->name));
		} else if (identity.gpus != 1) {
			kinds_leave(kinds,
				    mem_printf("%s: a card with %u GPUs, which are only available together",
					       slot->name, identity.gpus));
		} else {
			kind = kind_of_gpu(kinds, identity.gpu);
			kind_add_slot(kind, slot->name);
			kind->here++;
		}
	}
}

static void count_pool(const struct pool_seen *pool, struct slurm_kinds *kinds)
{
	size_t i, j;

	for (i = 0; i < pool->managers.n; i++)
		for (j = 0; j < pool->asked[i].reply.inventory.n; j++) {
			const struct pool_gpu *gpu = &pool->asked[i].reply.inventory.gpus[j];

			if (gpu->gpu)
				kind_of_gpu(kinds, gpu->gpu)->pool++;
			else
				kinds_leave(kinds,
					    mem_printf("%s of fabric manager %s: its kind is not known",
						       gpu->id, pool->managers.conf[i].name));
		}
}

/* Each slot at a port counts once, for one kind. */
static void share_ports(struct slurm_kinds *kinds)
{
	struct slurm_kind *most = NULL;
	size_t i, others = 0;

	for (i = 0; i < kinds->n; i++) {
		others += kinds->items[i].pool > 0;
		if (kinds->items[i].pool && (!most || kinds->items[i].pool > most->pool))
			most = &kinds->items[i];
	}
	for (i = 0; most && i < kinds->n_ports; i++)
		kind_add_slot(most, kinds->ports[i]);
	if (kinds->n_ports && others > 1)
		kinds_leave(kinds,
			    mem_printf("all slots of fabric managers are for %s: give some to other kinds",
				       most->gpu->id));
}

/* The name of a file, NULL where only another one is wanted. */
static const char *file_wanted(const char *file, const char *only)
{
	return !only || !strcmp(only, file) ? file : NULL;
}

/* A line of a file: "slurm.conf"; NULL for one that is not wanted. */
static void __attribute__((format(printf, 4, 5)))
put_line(struct out *out, struct out_table *t, const char *file, const char *fmt, ...)
{
	va_list ap;
	char *line;

	if (!file)
		return;
	va_start(ap, fmt);
	line = mem_vprintf(fmt, ap);
	va_end(ap);
	if (t) {
		out_row(t);
		out_str(t, "file", file);
		out_str(t, "line", line);
	} else {
		out_line(out, "%s", line);
	}
	free(line);
}

static void render_config(struct out *out, const struct slurm_kinds *kinds, const char *node,
			  const char *programs, const char *only)
{
	static const struct out_column columns[] = { { "file", NULL }, { "line", NULL }, { NULL } };
	struct out_table *t = out_is_json(out) ? out_table(out, "lines", columns, OUT_TABLE) : NULL;
	struct text licences = { 0 }, gres = { 0 }, tres = { 0 };
	const char *slurm = file_wanted("slurm.conf", only),
		   *slots = file_wanted("gres.conf", only),
		   *plugins = file_wanted("plugstack.conf", only);
	size_t i, j;

	for (i = 0; i < kinds->n; i++) {
		const struct slurm_kind *kind = &kinds->items[i];
		char *word = kind_word(kinds, kind);

		text_add(&licences, "%s" SLURM_LICENCE "%s:%zu", licences.len ? "," : "", word,
			 kind->here + kind->pool);
		text_add(&tres, ",license/" SLURM_LICENCE "%s", word);
		if (kind->n_slots)
			text_add(&gres, "%sgpu:%s:%zu", gres.len ? "," : "", word, kind->n_slots);
		free(word);
	}
	put_line(out, t, slurm,
		 "# slurm.conf, the same on all machines. Licences: GPUs of the pool");
	put_line(out, t, slurm, "GresTypes=gpu");
	put_line(out, t, slurm, "Licenses=%s", licences.text);
	/* slurmctld does not start with them where nobody records. */
	put_line(out, t, slurm,
		 "# with slurmdbd: AccountingStorageType=accounting_storage/slurmdbd");
	put_line(out, t, slurm, "# with slurmdbd: AccountingStorageTRES=gres/gpu%s", tres.text);
	put_line(out, t, slurm, "# with slurmdbd: AccountingStorageEnforce=limits");
	put_line(out, t, slurm, "SelectType=select/cons_tres");
	put_line(out, t, slurm, "ProctrackType=proctrack/cgroup");
	put_line(out, t, slurm, "TaskPlugin=task/cgroup,task/affinity");
	put_line(out, t, slurm, "SchedulerParameters=nohold_on_prolog_fail");
	put_line(out, t, slurm, "JobSubmitPlugins=lua");
	/* Where make install-slurm puts them. */
	put_line(out, t, slurm, "Prolog=%s/slurm/prolog", programs);
	put_line(out, t, slurm, "Epilog=%s/slurm/epilog", programs);
	put_line(out, t, slurm, "EpilogSlurmctld=%s/slurm/epilog-slurmctld", programs);
	put_line(out, t, slurm, "HealthCheckProgram=%s/slurm/reap", programs);
	put_line(out, t, slurm, "HealthCheckInterval=120");
	put_line(out, t, slurm, "PrologFlags=Alloc");
	put_line(out, t, slurm, "BatchStartTimeout=600");
	put_line(out, t, slurm, "PrologEpilogTimeout=600");
	if (gres.len)
		put_line(out, t, slurm, "NodeName=%s Gres=%s", node, gres.text);
	for (i = 0; i < kinds->n_left; i++)
		put_line(out, t, slurm, "# not counted: %s", kinds->left[i]);
	put_line(out, t, slots, "# gres.conf. Slots of this host");
	put_line(out, t, slots, "AutoDetect=off");
	for (i = 0; i < kinds->n; i++) {
		char *word = kind_word(kinds, &kinds->items[i]);

		for (j = 0; j < kinds->items[i].n_slots; j++)
			put_line(out, t, slots,
				 "NodeName=%s Name=gpu Type=%s File=/dev/gpufabric/%s", node, word,
				 kinds->items[i].slots[j]);
		free(word);
	}
	put_line(out, t, plugins,
		 "# plugstack.conf. On all machines with this line the package has to be installed");
	put_line(out, t, plugins, "required spank_gpufabric.so");
	free(licences.text);
	free(gres.text);
	free(tres.text);
}

static void kinds_free(struct slurm_kinds *kinds)
{
	size_t i;

	for (i = 0; i < kinds->n; i++)
		free(kinds->items[i].slots);
	for (i = 0; i < kinds->n_left; i++)
		free(kinds->left[i]);
	free(kinds->items);
	free(kinds->ports);
	free(kinds->left);
}

/* Names of nodes go into a line of pairs. */
static int node_name(struct ctl_ctx *ctx, char node[HOST_MAX])
{
	const char *given = ctl_opt(ctx, "node");

	memset(node, 0, HOST_MAX);
	if (!given && gethostname(node, HOST_MAX - 1))
		return ctl_fail(ctx, CTL_FAILED, "host name: %s", strerror(errno));
	if (given && strlen(given) < HOST_MAX)
		strcpy(node, given);
	else if (!given)
		node[strcspn(node, ".")] = '\0';
	if (!*node ||
	    strspn(node, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
		    strlen(node))
		return ctl_fail(ctx, CTL_USAGE, "--node: letters, digits, -, _ and . make a name");
	return CTL_DONE;
}

static int pool_known(struct ctl_ctx *ctx, const struct pool_seen *pool)
{
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < pool->managers.n && !ret; i++)
		ret = pool->asked[i].ret;
	if (!ret && pool->managers.n_bad)
		ret = pool->managers.bad[0].exit;
	return ret ? ctl_fail(ctx, (enum ctl_exit)ret,
			      "not all fabric managers could be asked: the number of licences is not known") :
		     CTL_DONE;
}

static int slurm_config_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *file = ctl_opt(ctx, "file");
	struct slurm_kinds kinds = { 0 };
	struct pool_seen pool = { 0 };
	struct session session;
	char node[HOST_MAX];
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret && file && !file_wanted("slurm.conf", file) && !file_wanted("gres.conf", file) &&
	    !file_wanted("plugstack.conf", file))
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--file: there are lines of slurm.conf, gres.conf and plugstack.conf");
	if (!ret)
		ret = node_name(ctx, node);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	pool_seen_read(ctx, &session.knowledge.catalogue, &pool);
	ret = pool_known(ctx, &pool);
	if (!ret) {
		count_slots_here(&session, &pool, &kinds);
		count_pool(&pool, &kinds);
		share_ports(&kinds);
		if (kinds.n)
			render_config(ctx->out, &kinds, node, ctx->libexec_dir, file);
		else
			ret = ctl_fail(ctx, CTL_FAILED, "no GPU has a known kind: run gpuctl scan");
	}
	kinds_free(&kinds);
	pool_seen_free(&pool);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_slurm_config = {
	.name = "slurm config",
	.args = "",
	.summary = "print lines for slurm.conf, gres.conf and plugstack.conf",
	.help = "The gres of this host are its slots, and the licences are the GPUs of this host and of all its fabric\n"
		"managers, by kind: hosts that share a pool print the same licences. The name of a kind is its first\n"
		"word, such as h100, if no other kind of the pool has the same first word. Prolog, Epilog and the plugin\n"
		"are those of the package gpufabric-slurm. The files in gres.conf have to exist before slurmd starts.\n"
		"Lines of slurm.conf that need slurmdbd are comments: \"# with slurmdbd: \".",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.run = slurm_config_run,
};
