// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the intervals of engines that nobody has fitted
 *
 * One rule for all tasks: a quantile of what is left of measured rows when nothing is fitted,
 * in which a table of fifty near duplicates weighs as much as seven rows of other engines.
 * How well it covers is told by sources that are left out of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "size_widths.h"

static bool told(const struct size_row *row, bool logs)
{
	if (*row->skip || row->oom || row->measured <= 0)
		return false;
	return !logs || (row->req.task != SIZE_INFER && row->context_told && row->layout_told);
}

void widths_add(struct widths *widths, const struct size_row *rows, size_t n, bool logs)
{
	struct width_row *w;
	size_t i;

	for (i = 0; i < n && widths->n < sizeof(widths->row) / sizeof(widths->row[0]); i++) {
		if (!told(&rows[i], logs))
			continue;
		w = &widths->row[widths->n++];
		w->row = &rows[i];
		w->off[WIDTH_POLICY] = rows[i].profiled ? regress_plain(&rows[i]) : NAN;
		w->off[WIDTH_UNKNOWN] = regress_unknown(&rows[i]);
	}
}

static bool counts(const struct width_row *w, enum size_task task, enum width_kind kind,
		   const char *but)
{
	return w->row->req.task == task && !isnan(w->off[kind]) &&
	       (!but || strcmp(w->row->source, but));
}

static bool same_source(const struct width_row *a, const struct width_row *b)
{
	return !strcmp(a->row->engine_name, b->row->engine_name) &&
	       !strcmp(a->row->source, b->row->source);
}

/*
 * One over the roots of the rows of its source and of the sources of its engine, as in the
 * fit: neither a long table nor a single row of an engine decides alone.
 */
static double weight_of(const struct widths *widths, size_t at, enum width_kind kind,
			const char *but)
{
	const struct width_row *row = widths->row, *own = &row[at];
	size_t rows = 0, sources = 0, i, j;

	for (i = 0; i < widths->n; i++) {
		if (!counts(&row[i], own->row->req.task, kind, but) ||
		    strcmp(row[i].row->engine_name, own->row->engine_name))
			continue;
		rows += same_source(&row[i], own);
		for (j = 0; j < i; j++)
			if (counts(&row[j], own->row->req.task, kind, but) &&
			    same_source(&row[j], &row[i]))
				break;
		sources += j == i;
	}
	return 1. / sqrt((double)rows * (double)sources);
}

double widths_of(struct widths *widths, enum size_task task, enum width_kind kind, const char *but)
{
	static struct weighed pool[2 * REGRESS_ROWS_MAX];
	double all = 0;
	size_t i, n = 0;

	for (i = 0; i < widths->n; i++) {
		if (!counts(&widths->row[i], task, kind, but))
			continue;
		pool[n].residual = widths->row[i].off[kind];
		pool[n].weight = weight_of(widths, i, kind, but);
		all += pool[n++].weight;
	}
	return n ? fmax(exp(regress_weighed(pool, n, 0.95 * all)), REGRESS_P95_MIN) : 0;
}

double widths_shipped(struct widths *widths, enum size_task task, enum width_kind kind)
{
	double width = widths_of(widths, task, WIDTH_POLICY, NULL);

	/* who knows less of an engine is not surer */
	return kind == WIDTH_POLICY ? width : fmax(width, widths_of(widths, task, kind, NULL));
}
