// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: measured costs of moves
 *
 * The module counts how long each phase of each attach and detach took, and all phases
 * together as "total". Its mean is the cost of a move, in seconds of a GPU. The module cannot
 * say how long somebody holds on to a GPU: a plan that waits for that has it in load_s.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/jread.h"
#include "plan/costs.h"

#define ROWS_MAX 1000
#define COUNT_MAX 9e15

void plan_costs_add(struct plan_costs *costs, const char *operation, const char *phase,
		    uint64_t count, double microseconds)
{
	if (strcmp(phase, "total"))
		return;
	if (!strcmp(operation, "attach")) {
		costs->attaches += count;
		costs->attach_s += microseconds / 1e6;
	} else if (!strcmp(operation, "detach")) {
		costs->detaches += count;
		costs->detach_s += microseconds / 1e6;
	}
}

static int read_row(struct jread *r, struct json_object *from, struct plan_costs *costs)
{
	const char *operation = NULL, *phase = NULL;
	double count = -1, us = -1;
	int err;

	if (!json_object_is_type(from, json_type_object))
		return jread_refuse(r, "an object is expected here");
	err = jread_word(r, from, "operation", &operation);
	if (!err)
		err = jread_word(r, from, "phase", &phase);
	if (!err)
		err = jread_number(r, from, "count", COUNT_MAX, &count);
	if (!err)
		err = jread_number(r, from, "microseconds", COUNT_MAX, &us);
	if (err)
		return err;
	if (!operation || !phase || count < 0 || us < 0)
		return jread_refuse(r, "operation, phase, count and microseconds are needed");
	if (count > 0 && us / count / 1e6 > PLAN_SECONDS_MAX)
		return jread_refuse(r, "%g seconds for one operation is not possible",
				    us / count / 1e6);
	plan_costs_add(costs, operation, phase, (uint64_t)count, count > 0 ? us : 0);
	return 0;
}

int plan_costs_read(struct plan_costs *costs, const char *file, const char *text, size_t len,
		    struct fault *fault)
{
	struct json_object *rows = NULL;
	struct jread r;
	size_t i;
	int err;

	memset(costs, 0, sizeof(*costs));
	err = jread_open(&r, file, text, len, fault);
	if (!err && !json_object_is_type(r.root, json_type_object))
		err = jread_refuse(&r, "an object is expected here");
	if (!err)
		err = jread_array(&r, r.root, "stats", ROWS_MAX, &rows);
	if (!err && !rows)
		err = jread_refuse(&r, "\"stats\" is missing: \"gpuctl stats -j\" writes it");
	jread_key(&r, "stats");
	for (i = 0; !err && i < json_object_array_length(rows); i++) {
		jread_index(&r, i);
		err = read_row(&r, json_object_array_get_idx(rows, i), costs);
		if (!err)
			jread_up(&r);
	}
	jread_close(&r);
	return err;
}

void plan_costs_apply(const struct plan_costs *costs, struct plan_instance *in)
{
	size_t q;

	for (q = 0; q < in->n_pools; q++) {
		if (costs->attaches)
			in->pools[q].attach_s = costs->attach_s / (double)costs->attaches;
		if (costs->detaches)
			in->pools[q].detach_s = costs->detach_s / (double)costs->detaches;
	}
}
