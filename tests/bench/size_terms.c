// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: how true the terms are
 *
 *	build/size-terms DATA.csv [CATALOGUE [-v]]
 *
 * What engines print of their memory, term by term, against the formulas and the
 * engines' profiles. Errors are absolute and relative; a group's figure is the median
 * over its sources (a file or a thread) of each source's median, so that a source with
 * many rows counts once. Nothing here was fitted to the rows: each source is as good as
 * left out. The last line is one JSON object.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size/kv.h"
#include "size/physics.h"
#include "size_widths.h"

#define ERRORS_MAX 4096
#define GIB_D ((double)(1ull << 30))

/* Models below this are made for tests of engines. */
#define TOY_PARAMS 1e9

/**
 * struct judged - a term of a row
 * @row: whose
 * @term: what of it
 * @group: "weights", "kv.standard", ...
 * @error: absolute, relative to what the engine told
 * @p95: of a sum, what it should not exceed; 0: a term alone has none
 * @left: the same of engines without a fit, by the rows of other sources alone; 0: none
 */
struct judged {
	const struct size_row *row;
	const char *group;
	double told;
	double computed;
	double error;
	double p95;
	double left;
};

static struct judged judged[ERRORS_MAX];
static size_t n_judged;

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(double *v, size_t n, double q)
{
	double at = q * (double)(n ? n - 1 : 0);
	size_t i = (size_t)at;

	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), ascending);
	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

static bool is_engine(const struct size_row *row, const char *name)
{
	return !strcmp(row->req.engine->id, name);
}

static bool plans_buffer(const struct size_row *row)
{
	return row->req.engine->number[ENGINE_COMPUTE_BUFFER] > 0;
}

/* --- what is computed ------------------------------------------------------------- */

/* Engines of ggml print sums over all GPUs, the others one GPU. */
static struct size_layout layout_of(const struct size_row *row)
{
	static const struct size_layout one = { .gpus = 1, .tp = 1, .pp = 1 };

	return plans_buffer(row) ? one : row->layout;
}

static double part_of(const struct size_row *row, enum size_part part)
{
	const struct size_layout layout = layout_of(row);
	struct size_physics p;

	size_physics(&row->req, &layout, &p);
	return p.part[part];
}

static double cache_of(const struct size_row *row)
{
	const struct size_layout layout = layout_of(row);
	double tokens = row->kv_tokens > 0 ? row->kv_tokens : (double)row->req.context;
	uint64_t each = kv_bytes(row->req.model, row->req.kv, (uint64_t)tokens, 1, layout.tp);

	return (double)each / layout.pp;
}

static double states_of(const struct size_row *row)
{
	struct size_physics p;

	size_physics(&row->req, &row->layout, &p);
	return p.part[PART_WEIGHTS] + p.part[PART_GRADIENTS] + p.part[PART_OPTIMIZER] +
	       size_own_buffers(&row->req);
}

/* --- which group a row is in -------------------------------------------------------- */

static bool shaped(const struct size_row *row, const char *shape)
{
	return !strcmp(row->shape, shape);
}

static const char *group_of_weights(const struct size_row *row)
{
	const struct size_request *req = &row->req;

	if (plans_buffer(row) && !req->exact_bytes)
		return NULL;
	if (!row->whole)
		return req->host_layers && !req->model->experts ? "weights.partly" : NULL;
	/* experts that stay in the host's memory: no option of a row tells */
	if (plans_buffer(row) && row->told[TOLD_WEIGHTS] < 0.5 * (double)req->exact_bytes)
		return NULL;
	if (plans_buffer(row))
		return "weights.file";
	if (req->precision->linear >= 16 * SIZE_BIT)
		return "weights.plain";
	return "weights.quantized";
}

static const char *group_of_cache(const struct size_row *row)
{
	if (!row->req.model || (!plans_buffer(row) && row->kv_tokens <= 0) ||
	    (plans_buffer(row) && !row->req.context))
		return NULL;
	if (shaped(row, "mla"))
		return "kv.mla";
	if (shaped(row, "hybrid") || shaped(row, "swa") || row->req.model->state_bytes ||
	    kv_windowed_layers(row->req.model))
		return "kv.other";
	return "kv.standard";
}

static const char *group_of_activations(const struct size_row *row)
{
	/* an encoder has neither a cache nor scores */
	if (!row->req.model || (plans_buffer(row) && (!row->req.context || row->told[TOLD_KV] <= 0)))
		return NULL;
	if (!plans_buffer(row))
		return shaped(row, "dense") || shaped(row, "moe") || shaped(row, "mla")
			? "activations.text" : "activations.other";
	if (shaped(row, "mla") || row->layout.gpus > 1 || !row->whole)
		return "compute.other";
	return "compute.one";
}

static const char *group_of_states(const struct size_row *row)
{
	if (!is_engine(row, "megatron") || !row->req.model || row->req.task != SIZE_TRAIN)
		return NULL;
	if (row->req.zero > 0 && !row->replicas_told)
		return NULL;
	if (row->req.model->experts)
		return "states.experts";
	return (double)row->req.params.total < TOY_PARAMS ? "states.toy" : "states.dense";
}

static void judge(const struct size_row *row, enum size_told told, const char *group,
		  double computed, double p95)
{
	struct judged *j = &judged[n_judged];

	if (n_judged == ERRORS_MAX || !group || row->told[told] <= 0 || computed <= 0)
		return;
	j->row = row;
	j->group = group;
	j->told = row->told[told];
	j->computed = computed;
	j->error = fabs(computed / j->told - 1);
	j->p95 = p95;
	n_judged++;
}

static struct widths widths;

static void judge_sum(const struct size_row *row, const struct size_request *req,
		      const char *group, enum width_kind kind)
{
	size_t before = n_judged;
	struct size_estimate e;

	size_estimate(req, &row->layout, &e);
	judge(row, TOLD_TOTAL, group, e.memory[row->kind], e.p95[row->kind]);
	if (n_judged > before && !req->engine->fit[req->task].rows)
		judged[before].left = e.memory[row->kind] *
				      widths_of(&widths, req->task, kind, row->source);
}

/* Sums twice: with the engine's profile, and as if nobody had heard of the engine. */
static void judge_row(const struct size_row *row)
{
	struct size_request unseen;

	if (!row->usable || row->oom)
		return;
	if (row->req.task == SIZE_INFER && row->profiled) {
		judge(row, TOLD_WEIGHTS, group_of_weights(row), part_of(row, PART_WEIGHTS), 0);
		judge(row, TOLD_KV, group_of_cache(row),
		      row->req.model ? cache_of(row) : 0, 0);
		judge(row, TOLD_ACTIVATIONS, group_of_activations(row),
		      part_of(row, PART_ACTIVATIONS), 0);
	}
	judge(row, TOLD_STATES, group_of_states(row), states_of(row), 0);
	if (row->req.task == SIZE_INFER || !row->context_told || !row->layout_told)
		return;
	judge_sum(row, &row->req, "total", WIDTH_POLICY);
	if (regress_generic(row, &unseen))
		judge_sum(row, &unseen, "unseen", WIDTH_UNKNOWN);
}

/* --- figures ------------------------------------------------------------------------ */

/**
 * struct figure - a group of terms
 * @n: terms
 * @sources: of how many sources
 * @median: over sources of each one's median
 * @p90: over all terms
 * @covered: of sums, the mean over sources of the share that P95 covers
 * @left: of engines without a fit, the share within the interval by other sources; of @n_left
 */
struct figure {
	size_t n;
	size_t sources;
	double median;
	double p90;
	double covered;
	double left;
	size_t n_left;
};

/* Is @j of the group, and of the engine where one is named? "kv" has "kv.mla". */
static bool belongs(const struct judged *j, const char *group, const char *engine)
{
	size_t n = strlen(group);

	return !strncmp(j->group, group, n) && (!j->group[n] || j->group[n] == '.') &&
	       (!engine || !strcmp(j->row->req.engine->id, engine));
}

static void figure_of(const char *group, const char *engine, struct figure *out)
{
	static double error[ERRORS_MAX], median[ERRORS_MAX], all[ERRORS_MAX];
	size_t i, j, n, covered;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < n_judged; i++) {
		if (!belongs(&judged[i], group, engine))
			continue;
		all[out->n++] = judged[i].error;
		out->n_left += judged[i].left > 0;
		out->left += judged[i].left > 0 && judged[i].told <= judged[i].left;
		for (j = 0; j < i; j++)
			if (belongs(&judged[j], group, engine) &&
			    !strcmp(judged[j].row->source, judged[i].row->source))
				break;
		if (j < i)
			continue;
		for (n = 0, covered = 0; j < n_judged; j++) {
			if (!belongs(&judged[j], group, engine) ||
			    strcmp(judged[j].row->source, judged[i].row->source))
				continue;
			error[n++] = judged[j].error;
			covered += judged[j].told <= judged[j].p95;
		}
		out->covered += (double)covered / (double)n;
		median[out->sources++] = quantile(error, n, 0.5);
	}
	out->left /= out->n_left ? (double)out->n_left : 1;
	out->covered /= out->sources ? (double)out->sources : 1;
	out->median = quantile(median, out->sources, 0.5);
	out->p90 = quantile(all, out->n, 0.9);
}

static void print_figure(const char *engine, const char *group, const struct figure *f)
{
	printf("%-14s %-20s n %4zu  sources %3zu  median over sources %7.3f %%  p90 %7.2f %%",
	       engine ? engine : "all", group, f->n, f->sources, 100 * f->median, 100 * f->p90);
	if (f->covered > 0)
		printf("  p95 covers %5.1f %%", 100 * f->covered);
	if (f->n_left)
		printf("  by other sources %5.1f %%", 100 * f->left);
	printf("\n");
}

static void json_figure(const char *group, const struct figure *f, bool *first)
{
	printf("%s\"%s\":{\"n\":%zu,\"sources\":%zu,\"median\":%.5f,\"p90\":%.5f",
	       *first ? "" : ",", group, f->n, f->sources, f->median, f->p90);
	if (f->covered > 0)
		printf(",\"coverage\":%.4f", f->covered);
	if (f->n_left)
		printf(",\"coverage_by_other_sources\":%.4f", f->left);
	printf("}");
	*first = false;
}

static const char *const groups[] = {
	"weights", "weights.plain", "weights.quantized", "weights.file",
	"weights.partly",
	"kv", "kv.standard", "kv.mla", "kv.other", "activations.text", "activations.other",
	"compute.one", "compute.other", "states", "states.dense", "states.toy", "states.experts", "total",
	"unseen", NULL,
};

static void print_all(const struct catalogue *cat)
{
	const char *const *group;
	struct figure f;
	size_t i;

	for (i = 0; i <= cat->n_engines; i++) {
		const char *engine = i < cat->n_engines ? cat->engines[i].id : NULL;

		for (group = groups; *group; group++) {
			figure_of(*group, engine, &f);
			if (f.n)
				print_figure(engine, *group, &f);
		}
	}
}

static void json_groups(const char *engine)
{
	const char *const *group;
	bool first = true;
	struct figure f;

	for (group = groups; *group; group++) {
		figure_of(*group, engine, &f);
		if (f.n)
			json_figure(*group, &f, &first);
	}
}

static void print_json(const struct catalogue *cat, size_t rows)
{
	bool first = true;
	size_t i, j;

	printf("{\"rows\":%zu,\"judged\":%zu,\"terms\":{", rows, n_judged);
	json_groups(NULL);
	printf("},\"engines\":{");
	for (i = 0; i < cat->n_engines; i++) {
		for (j = 0; j < n_judged; j++)
			if (!strcmp(judged[j].row->req.engine->id, cat->engines[i].id))
				break;
		if (j == n_judged)
			continue;
		printf("%s\"%s\":{", first ? "" : ",", cat->engines[i].id);
		first = false;
		json_groups(cat->engines[i].id);
		printf("}");
	}
	printf("}}\n");
}

static void print_rows(const struct size_row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!rows[i].usable)
			printf("skipped %s %s %s: %s\n", rows[i].id, rows[i].engine_name,
			       rows[i].model_name, rows[i].skip);
	for (i = 0; i < n_judged; i++)
		printf("row %s %s %s %s told %.4f computed %.4f off %+.2f%% | %s\n",
		       judged[i].row->id, judged[i].row->req.engine->id,
		       judged[i].row->model_name, judged[i].group, judged[i].told / GIB_D,
		       judged[i].computed / GIB_D,
		       100 * (judged[i].computed / judged[i].told - 1), judged[i].row->source);
}

int main(int argc, char **argv)
{
	struct size_row *rows;
	struct catalogue cat;
	struct fault f;
	size_t n, i;

	if (argc < 2) {
		fprintf(stderr, "usage: size-terms DATA.csv [CATALOGUE [-v]]\n");
		return 2;
	}
	if (catalogue_load(&cat, argc > 2 ? argv[2] : "ctl/catalogue", NULL, &f)) {
		fprintf(stderr, "size-terms: %s\n", f.text);
		return 1;
	}
	rows = size_rows_read(argv[1], &cat, &n);
	if (!rows)
		return 1;
	widths_add(&widths, rows, n, true);
	for (i = 0; i < n; i++)
		judge_row(&rows[i]);
	if (argc > 3)
		print_rows(rows, n);
	print_all(&cat);
	print_json(&cat, n);
	free(rows);
	catalogue_free(&cat);
	return 0;
}
