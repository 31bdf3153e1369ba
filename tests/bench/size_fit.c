// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: fitting the profiles
 *
 *	build/size-fit DATA.csv CATALOGUE [-n | TERMS.csv]
 *
 * Fits the coefficients of each engine and task (size_regress.h), prints how far estimates
 * are off for models and for sources that were held out, and writes the profiles behind
 * their marker line; -n only prints. With rows of engines' logs it also writes the intervals
 * of engines that nobody has fitted (size_widths.h), from the rows of both files.
 */
#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size_widths.h"

#define MARKER "# --- written by make fit; do not edit below ---"

static void print_task(const struct group *groups, size_t n, int task)
{
	static double error[REGRESS_ROWS_MAX], foreign[REGRESS_ROWS_MAX];
	size_t i, j, m = 0, covered = 0;
	double median, r;

	for (i = 0; i < n; i++) {
		for (j = 0; (int)groups[i].task == task && j < groups[i].n; j++) {
			r = groups[i].sample[j].foreign;
			foreign[m] = fabs(exp(-r) - 1);
			covered += r <= log(groups[i].p95);
			error[m++] = fabs(exp(-groups[i].sample[j].residual) - 1);
		}
	}
	if (!m)
		return;
	median = regress_quantile(error, m, 0.5);
	printf("%-8s n %4zu  models held out: median %5.2f %%  p90 %5.2f %%\n",
	       size_task_name((enum size_task)task), m, 100 * median,
	       100 * regress_quantile(error, m, 0.9));
	median = regress_quantile(foreign, m, 0.5);
	printf("%-8s n %4zu  sources held out: median %5.2f %%  p90 %5.2f %%  p95 covers %5.1f %%\n",
	       size_task_name((enum size_task)task), m, 100 * median,
	       100 * regress_quantile(foreign, m, 0.9), 100. * (double)covered / (double)m);
}

static void print_group(const struct group *g)
{
	static double error[REGRESS_ROWS_MAX];
	double median;
	size_t i;
	int k;

	for (i = 0; i < g->n; i++)
		error[i] = fabs(exp(-g->sample[i].residual) - 1);
	median = regress_quantile(error, g->n, 0.5);
	printf("%-20s %-6s n %3zu  models %2u  sources %2u  ridge %6.2f  held out: median %5.2f %%  p90 %5.2f %%  p95 x %.3f\n   ",
	       g->engine->id, size_task_name(g->task), g->n, g->models, g->sources, g->lambda, 100 * median,
	       100 * regress_quantile(error, g->n, 0.9), g->p95);
	for (k = 0; k < SIZE_PARTS; k++)
		printf(" %s %.3f", engine_part_keys[k], g->coef[k]);
	printf("\n");
}

/* --- the files ---------------------------------------------------------------- */

static bool seen(const struct group *g, int part)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (g->sample[i].x[part] > 0.005)
			return true;
	return false;
}

static void write_group(FILE *file, const struct group *g)
{
	static double error[REGRESS_ROWS_MAX];
	double median;
	size_t i;
	int k;

	for (i = 0; i < g->n; i++)
		error[i] = fabs(exp(-g->sample[i].residual) - 1);
	median = regress_quantile(error, g->n, 0.5);
	fprintf(file, "\n# held out by model: median %.1f %%, p90 %.1f %%\n", 100 * median,
		100 * regress_quantile(error, g->n, 0.9));
	fprintf(file, "[%s.%s]\nrows = %zu\nmodels = %u\n", g->engine->id,
		size_task_name(g->task), g->n, g->models);
	for (k = 0; k < SIZE_PARTS; k++)
		if (seen(g, k))
			fprintf(file, "%s = %.4f\n", engine_part_keys[k], g->coef[k]);
	fprintf(file, "p95 = %.4f\n", g->p95);
}

/* Everything that was fitted of an engine. */
static void write_engine(FILE *file, const struct size_engine *engine, const struct group *groups,
			 size_t n)
{
	size_t i;
	int task;

	for (task = 0; task < SIZE_TASKS; task++) {
		for (i = 0; i < n; i++)
			if ((int)groups[i].task == task && groups[i].engine == engine)
				break;
		if (i == n)
			continue;
		write_group(file, &groups[i]);
	}
}

static bool rewrite(const char *path, const struct catalogue *cat, const struct group *groups,
		    size_t n)
{
	char *line = NULL, *kept = NULL;
	size_t size = 0, length = 0, i;
	FILE *file = fopen(path, "r"), *copy;

	if (!file)
		return false;
	copy = open_memstream(&kept, &length);
	while (getline(&line, &size, file) > 0 && strncmp(line, MARKER, strlen(MARKER)))
		fputs(line, copy);
	fclose(file);
	fclose(copy);
	while (length && kept[length - 1] == '\n')
		length--;
	file = fopen(path, "w");
	if (!file)
		return false;
	fprintf(file, "%.*s\n\n%s\n", (int)length, kept, MARKER);
	for (i = 0; i < cat->n_engines; i++) {
		char section[80];

		snprintf(section, sizeof(section), "[%s]\n", cat->engines[i].id);
		if (strstr(kept, section))
			write_engine(file, &cat->engines[i], groups, n);
	}
	free(line);
	free(kept);
	return !fclose(file);
}

/* All profiles of the catalogue but the speeds, which have a fit of their own. */
static bool rewrite_all(const char *folder, const struct catalogue *cat,
			const struct group *groups, size_t n)
{
	char path[4096];
	glob_t found;
	bool done = true;
	size_t i;

	snprintf(path, sizeof(path), "%s/engines.d/*.conf", folder);
	if (glob(path, 0, NULL, &found))
		return false;
	for (i = 0; i < found.gl_pathc && done; i++) {
		if (strstr(found.gl_pathv[i], "/speed.conf"))
			continue;
		done = rewrite(found.gl_pathv[i], cat, groups, n);
		if (!done)
			fprintf(stderr, "size-fit: %s cannot be written\n", found.gl_pathv[i]);
	}
	globfree(&found);
	return done;
}

/* --- engines that nobody has fitted ------------------------------------------- */

static struct widths widths;

static void write_widths(FILE *file, const char *name, enum width_kind kind)
{
	const char *c;
	int task;

	fprintf(file, "\n");
	for (task = SIZE_TRAIN; task < SIZE_TASKS; task++) {
		fprintf(file, "#define %s_", name);
		for (c = size_task_name((enum size_task)task); *c; c++)
			fputc(toupper(*c), file);
		fprintf(file, "_P95 %.3f\n", widths_shipped(&widths, (enum size_task)task, kind));
	}
}

static bool rewrite_widths(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fprintf(file, "/* SPDX-License-Identifier: GPL-2.0-only */\n"
		"/*\n * P95 over P50 of trainings with engines that nobody has fitted: with a policy of\n"
		" * their own, and with the generic one. Written by \"make fit\" with TERMS; do not edit.\n */\n"
		"#ifndef GPUCTL_CATALOGUE_WIDTHS_H\n#define GPUCTL_CATALOGUE_WIDTHS_H\n");
	write_widths(file, "UNFITTED", WIDTH_POLICY);
	write_widths(file, "UNKNOWN", WIDTH_UNKNOWN);
	fprintf(file, "\n#endif\n");
	return !fclose(file);
}

int main(int argc, char **argv)
{
	static struct group groups[REGRESS_GROUPS_MAX];
	struct size_row *rows, *logs;
	struct catalogue cat;
	struct fault f;
	size_t n, count, i;
	int task;

	if (argc < 3) {
		fprintf(stderr, "usage: size-fit DATA.csv CATALOGUE [-n | TERMS.csv]\n");
		return 2;
	}
	if (catalogue_load(&cat, argv[2], NULL, &f)) {
		fprintf(stderr, "size-fit: %s\n", f.text);
		return 1;
	}
	rows = size_rows_read(argv[1], &cat, &n);
	if (!rows || n > REGRESS_ROWS_MAX)
		return 1;
	count = regress_groups(&cat, rows, n, groups);
	for (i = 0; i < count; i++)
		print_group(&groups[i]);
	for (task = 0; task < SIZE_TASKS; task++)
		print_task(groups, count, task);
	if ((argc == 3 || strcmp(argv[3], "-n")) && !rewrite_all(argv[2], &cat, groups, count))
		return 1;
	if (argc > 3 && strcmp(argv[3], "-n")) {
		widths_add(&widths, rows, n, false);
		logs = size_rows_read(argv[3], &cat, &n);
		if (!logs)
			return 1;
		widths_add(&widths, logs, n, true);
		if (!rewrite_widths("ctl/catalogue/widths.h"))
			return 1;
		free(logs);
	}
	regress_free(groups, count);
	free(rows);
	catalogue_free(&cat);
	return 0;
}
