// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: how true the estimates are
 *
 *	build/size-bench DATA.csv [CATALOGUE [-v]]
 *
 * For each task, engine and rule of thumb: error against what was measured,
 * share that is under by more than 5 %, how often p95 held, and how often
 * "fits" or "does not fit" was wrong; the errors of a fit to these rows with whole
 * sources left out; and of engines that were left out, with the policy of their profile
 * but no fit, and as engines that nobody has heard of. The last line is one JSON object, with the
 * throughput of training scored, and inference and GPU-hours row by row.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size/estimate.h"
#include "size/physics.h"
#include "size_times.h"
#include "size_widths.h"

#define ERRORS_MAX 8192

/**
 * struct score - what was found over a group of rows
 * @error: absolute relative errors, @n of them
 * @under: estimates that are more than 5 % below
 * @covered: rows that p95 covers
 */
struct score {
	double error[ERRORS_MAX];
	size_t n;
	size_t under;
	size_t covered;
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(struct score *s, double q)
{
	double at = q * (double)(s->n ? s->n - 1 : 0);
	size_t i = (size_t)at;

	if (!s->n)
		return 0;
	qsort(s->error, s->n, sizeof(s->error[0]), ascending);
	if (i + 1 >= s->n)
		return s->error[s->n - 1];
	return s->error[i] + (at - (double)i) * (s->error[i + 1] - s->error[i]);
}

static void add(struct score *s, double estimate, double p95, double measured)
{
	if (s->n == ERRORS_MAX)
		return;
	s->error[s->n++] = fabs(estimate - measured) / measured;
	s->under += estimate < 0.95 * measured;
	s->covered += measured <= p95;
}

static bool scored(const struct size_row *row)
{
	return !*row->skip && row->measured > 0;
}

typedef bool (*pick_fn)(const struct size_row *row, const void *arg);

static bool of_task(const struct size_row *row, const void *arg)
{
	return row->req.task == *(const enum size_task *)arg;
}

static bool of_engine(const struct size_row *row, const void *arg)
{
	return !strcmp(row->engine_name, arg);
}

static bool of_profile(const struct size_row *row, const void *arg)
{
	const struct engine_fit *fit = &row->req.engine->fit[row->req.task];

	return (fit->rows > 0) == *(const bool *)arg;
}

static bool of_all(const struct size_row *row, const void *arg)
{
	(void)row;
	(void)arg;
	return true;
}

static void score_ours(const struct size_row *rows, size_t n, pick_fn pick, const void *arg,
		       struct score *s)
{
	struct size_estimate e;
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < n; i++) {
		if (!scored(&rows[i]) || !pick(&rows[i], arg))
			continue;
		size_estimate(&rows[i].req, &rows[i].layout, &e);
		add(s, e.memory[rows[i].kind], e.p95[rows[i].kind], rows[i].measured);
	}
}

static void score_method(const struct size_row *rows, size_t n, const struct size_method *method,
			 enum size_task task, struct score *s)
{
	struct size_terms terms;
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < n; i++) {
		struct size_request req = rows[i].req;
		struct fault f;

		if (!scored(&rows[i]) || req.task != task)
			continue;
		req.method = method;
		if (size_request_check(&req, &f))
			continue;
		memset(&terms, 0, sizeof(terms));
		method->terms(&req, &rows[i].layout, &terms);
		add(s, (double)terms.total, (double)terms.total, rows[i].measured);
	}
}

static void print_score(const char *group, const char *name, struct score *s)
{
	if (!s->n)
		return;
	printf("%-8s %-22s n %4zu  median %6.2f %%  p90 %6.2f %%  under %5.1f %%  p95 covers %5.1f %%\n",
	       group, name, s->n, 100 * quantile(s, 0.5), 100 * quantile(s, 0.9),
	       100. * (double)s->under / (double)s->n, 100. * (double)s->covered / (double)s->n);
}

/* Names are from the file: a quote in one must not end the text. */
static void json_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if ((unsigned char)*text >= ' ')
			putchar(*text);
	}
	putchar('"');
}

static void json_score(const char *name, struct score *s, bool *first)
{
	if (!s->n)
		return;
	printf("%s", *first ? "" : ",");
	json_text(name);
	printf(":{\"n\":%zu,\"median\":%.4f,\"p90\":%.4f,\"under5\":%.4f,\"coverage\":%.4f}",
	       s->n, quantile(s, 0.5), quantile(s, 0.9),
	       (double)s->under / (double)s->n, (double)s->covered / (double)s->n);
	*first = false;
}

/**
 * struct fits - decisions about fitting
 * @false_fit: of @oom rows that ran out of memory, how many were said to fit
 * @false_oom: of @fits rows that ran, how many were said not to
 */
struct fits {
	unsigned int false_fit;
	unsigned int oom;
	unsigned int false_oom;
	unsigned int fits;
};

static void decide(const struct size_row *rows, size_t n, struct fits *d)
{
	struct size_estimate e;
	size_t i;

	memset(d, 0, sizeof(*d));
	for (i = 0; i < n; i++) {
		double room = rows[i].gpu_bytes;
		bool fits;

		if (*rows[i].skip || room <= 0 || !(rows[i].oom || rows[i].measured > 0))
			continue;
		size_estimate(&rows[i].req, &rows[i].layout, &e);
		fits = e.p95[MEMORY_DEVICE] <= room;
		d->oom += rows[i].oom;
		d->fits += !rows[i].oom;
		d->false_fit += rows[i].oom && fits;
		d->false_oom += !rows[i].oom && !fits;
	}
}

/* Wilson's interval of k of n at 95 %, in percent. */
static void interval(unsigned int k, unsigned int n, double *low, double *high)
{
	double z = 1.96, p = n ? (double)k / n : 0, m = n ? n : 1;
	double mid = (p + z * z / (2 * m)) / (1 + z * z / m);
	double half = z * sqrt(p * (1 - p) / m + z * z / (4 * m * m)) / (1 + z * z / m);

	*low = 100 * (mid > half ? mid - half : 0);
	*high = 100 * (mid + half);
}

static void print_decisions(const struct fits *d)
{
	double low, high;

	interval(d->false_fit, d->oom, &low, &high);
	printf("false fits  %u of %u rows that ran out of memory (95 %%: %.1f to %.1f %%)\n",
	       d->false_fit, d->oom, low, high);
	interval(d->false_oom, d->fits, &low, &high);
	printf("false OOMs  %u of %u rows that ran (95 %%: %.1f to %.1f %%)\n", d->false_oom,
	       d->fits, low, high);
}

static void print_skipped(const struct size_row *rows, size_t n)
{
	size_t i, j, k;

	for (i = 0; i < n; i++) {
		const char *why = *rows[i].skip ? rows[i].skip : "no memory published";

		if (scored(&rows[i]))
			continue;
		for (j = 0; j < i; j++)
			if (!scored(&rows[j]) &&
			    !strcmp(*rows[j].skip ? rows[j].skip : "no memory published", why))
				break;
		if (j < i)
			continue;
		for (k = 0; j < n; j++)
			k += !scored(&rows[j]) &&
			     !strcmp(*rows[j].skip ? rows[j].skip : "no memory published", why);
		printf("skipped  %4zu  %s\n", k, why);
	}
}

static void print_row(const struct size_row *row, const struct size_request *req, const char *engine)
{
	struct size_physics p;
	struct size_estimate e;
	int k;

	size_estimate(req, &row->layout, &e);
	size_physics(req, &row->layout, &p);
	printf("row %s %s %s %s %s", row->id, row->model_name, engine, size_task_name(req->task),
	       engine_memory_names[row->kind]);
	printf(" measured %.2f estimate %.2f off %+.1f%% |", row->measured / (1 << 30),
	       e.memory[row->kind] / (1 << 30),
	       100 * (e.memory[row->kind] / row->measured - 1));
	for (k = 0; k < SIZE_PARTS; k++)
		printf(" %s %.2f", engine_part_keys[k], p.part[k] / (1 << 30));
	printf("\n");
}

/* Each row with its profile, and as if nobody had heard of its engine. */
static void print_rows(const struct size_row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct size_request req;

		if (!scored(&rows[i]))
			continue;
		print_row(&rows[i], &rows[i].req, rows[i].engine_name);
		if (regress_generic(&rows[i], &req))
			print_row(&rows[i], &req, engine_generic.id);
	}
}

/* Each engine once, in the order of the file; returns the next or NULL. */
static const char *next_engine(const struct size_row *rows, size_t n, size_t *at)
{
	size_t i, j;

	for (i = *at; i < n; i++) {
		if (!scored(&rows[i]))
			continue;
		for (j = 0; j < i; j++)
			if (scored(&rows[j]) && !strcmp(rows[j].engine_name, rows[i].engine_name))
				break;
		if (j == i) {
			*at = i + 1;
			return rows[i].engine_name;
		}
	}
	return NULL;
}

static struct score s;

static void print_text(const struct size_row *rows, size_t n)
{
	const struct size_method *const *m;
	const char *engine;
	size_t at = 0;
	bool with;
	int t;

	for (t = 0; t < SIZE_TASKS; t++) {
		enum size_task task = (enum size_task)t;

		score_ours(rows, n, of_task, &task, &s);
		print_score(size_task_name(task), "gpuctl", &s);
		for (m = size_methods; *m; m++) {
			if (!(*m)->terms || *m == &size_method_engine)
				continue;
			score_method(rows, n, *m, task, &s);
			print_score(size_task_name(task), (*m)->name, &s);
		}
	}
	score_ours(rows, n, of_all, NULL, &s);
	print_score("all", "gpuctl", &s);
	with = true;
	score_ours(rows, n, of_profile, &with, &s);
	print_score("all", "with a profile", &s);
	with = false;
	score_ours(rows, n, of_profile, &with, &s);
	print_score("all", "without a profile", &s);
	while ((engine = next_engine(rows, n, &at))) {
		score_ours(rows, n, of_engine, engine, &s);
		print_score("engine", engine, &s);
	}
}

static void json_times(const char *name, const struct size_time *time, size_t n)
{
	size_t i;

	printf(",\"%s\":[", name);
	for (i = 0; i < n; i++) {
		printf("%s{\"row\":", i ? "," : "");
		json_text(time[i].row->id);
		printf(",\"model\":");
		json_text(time[i].row->model_name);
		printf(",\"gpu\":\"%s\",\"published\":%.2f,\"computed\":%.2f}",
		       time[i].gpu->id, time[i].published, time[i].computed);
	}
	printf("]");
}

/* Training is scored; inference and whole trainings go row by row. */
static void json_speed(const struct catalogue *cat, const struct size_row *rows, size_t n)
{
	static struct size_time time[ERRORS_MAX];
	size_t found = size_times(cat, rows, n, TIME_TRAIN, time, ERRORS_MAX), i;

	memset(&s, 0, sizeof(s));
	for (i = 0; i < found; i++)
		add(&s, time[i].computed, time[i].computed, time[i].published);
	printf("\"train\":{\"n\":%zu,\"median\":%.4f,\"p90\":%.4f}", s.n, quantile(&s, 0.5),
	       quantile(&s, 0.9));
	json_times("infer", time, size_times(cat, rows, n, TIME_INFER, time, ERRORS_MAX));
	json_times("gpu_hours", time, size_times(cat, rows, n, TIME_HOURS, time, ERRORS_MAX));
}

/* What is left out of the fit. */
enum left_out {
	LEFT_SOURCES,
	LEFT_FITS,
	LEFT_ENGINES,
	LEFT_OUTS
};

static const struct {
	const char *text;
	const char *key;
} left_outs[LEFT_OUTS] = {
	[LEFT_SOURCES] = { "sources left out", "sources_left_out" },
	[LEFT_FITS] = { "engines not fitted", "engines_not_fitted" },
	[LEFT_ENGINES] = { "unseen engines", "unseen_engines" },
};

static struct widths widths;

/* The interval without a source, once for rows of one source that follow each other. */
static double width_without(const struct size_row *row, enum width_kind kind)
{
	static const struct size_row *last[WIDTH_KINDS];
	static double width[WIDTH_KINDS];

	if (!last[kind] || last[kind]->req.task != row->req.task ||
	    strcmp(last[kind]->source, row->source))
		width[kind] = widths_of(&widths, row->req.task, kind, row->source);
	last[kind] = row;
	return width[kind];
}

static void add_held_out(const struct group *g, const struct sample *sample, enum left_out left,
			 struct score *score)
{
	double residual = left == LEFT_SOURCES ? sample->foreign
			  : left == LEFT_FITS  ? sample->plain : sample->unknown;
	double p95 = left == LEFT_SOURCES ? g->p95
		     : width_without(sample->row, left == LEFT_FITS ? WIDTH_POLICY : WIDTH_UNKNOWN);

	add(score, exp(-residual), exp(-residual) * p95, 1);
}

/* Errors of a task, or of all (SIZE_TASKS), and what the intervals cover. */
static void score_left_out(const struct group *groups, size_t n, int task, enum left_out left,
			   struct score *score)
{
	size_t i, j;

	memset(score, 0, sizeof(*score));
	for (i = 0; i < n; i++)
		for (j = 0; j < groups[i].n; j++)
			if (task == SIZE_TASKS || (int)groups[i].task == task)
				add_held_out(&groups[i], &groups[i].sample[j], left, score);
}

static const char *task_or_all(int task)
{
	return task == SIZE_TASKS ? "all" : size_task_name((enum size_task)task);
}

static void print_left_out(const struct group *groups, size_t n)
{
	int t, left;

	for (left = 0; left < LEFT_OUTS; left++) {
		for (t = 0; t <= SIZE_TASKS; t++) {
			score_left_out(groups, n, t, (enum left_out)left, &s);
			print_score(task_or_all(t), left_outs[left].text, &s);
		}
	}
}

static void json_left_out(const struct group *groups, size_t n)
{
	int t, left;
	bool first;

	for (left = 0; left < LEFT_OUTS; left++) {
		printf(",\"%s\":{", left_outs[left].key);
		for (first = true, t = 0; t <= SIZE_TASKS; t++) {
			score_left_out(groups, n, t, (enum left_out)left, &s);
			json_score(task_or_all(t), &s, &first);
		}
		printf("}");
	}
}

static void print_json(const struct catalogue *cat, const struct size_row *rows, size_t n,
		       const struct fits *d, const struct group *groups, size_t n_groups)
{
	const struct size_method *const *m;
	bool first = true, inner;
	const char *engine;
	size_t at = 0, all = 0, i;
	int t;

	for (i = 0; i < n; i++)
		all += scored(&rows[i]);
	printf("{\"rows\":%zu,\"tasks\":{", all);
	for (t = 0; t < SIZE_TASKS; t++) {
		enum size_task task = (enum size_task)t;

		score_ours(rows, n, of_task, &task, &s);
		json_score(size_task_name(task), &s, &first);
	}
	score_ours(rows, n, of_all, NULL, &s);
	printf("},\"coverage\":%.4f,\"false_fit\":[%u,%u],\"false_oom\":[%u,%u],\"engines\":{",
	       s.n ? (double)s.covered / (double)s.n : 0, d->false_fit, d->oom, d->false_oom,
	       d->fits);
	first = true;
	while ((engine = next_engine(rows, n, &at))) {
		score_ours(rows, n, of_engine, engine, &s);
		json_score(engine, &s, &first);
	}
	printf("},\"methods\":{");
	first = true;
	for (m = size_methods; *m; m++) {
		if (!(*m)->terms || *m == &size_method_engine)
			continue;
		printf("%s\"%s\":{", first ? "" : ",", (*m)->name);
		first = false;
		inner = true;
		for (t = 0; t < SIZE_TASKS; t++) {
			score_method(rows, n, *m, (enum size_task)t, &s);
			json_score(size_task_name((enum size_task)t), &s, &inner);
		}
		printf("}");
	}
	printf("},\"speed\":{");
	json_speed(cat, rows, n);
	printf("}");
	json_left_out(groups, n_groups);
	printf("}\n");
}

int main(int argc, char **argv)
{
	static struct group groups[REGRESS_GROUPS_MAX];
	struct size_row *rows;
	struct catalogue cat;
	struct fits fits;
	struct fault f;
	size_t n, n_groups;

	if (argc < 2) {
		fprintf(stderr, "usage: size-bench DATA.csv [CATALOGUE [-v]]\n");
		return 2;
	}
	if (catalogue_load(&cat, argc > 2 ? argv[2] : "ctl/catalogue", NULL, &f)) {
		fprintf(stderr, "size-bench: %s\n", f.text);
		return 1;
	}
	rows = size_rows_read(argv[1], &cat, &n);
	if (!rows)
		return 1;
	if (argc > 3)
		print_rows(rows, n);
	print_skipped(rows, n);
	print_text(rows, n);
	decide(rows, n, &fits);
	n_groups = regress_groups(&cat, rows, n, groups);
	widths_add(&widths, rows, n, false);
	print_decisions(&fits);
	print_left_out(groups, n_groups);
	print_json(&cat, rows, n, &fits, groups, n_groups);
	regress_free(groups, n_groups);
	free(rows);
	catalogue_free(&cat);
	return 0;
}
