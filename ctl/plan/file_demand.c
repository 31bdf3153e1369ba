// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: demand in files
 *
 * A workload of a demand file may say what it asked for so far, what is known to come, and when
 * it can be moved, in place of what it needs in each interval.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/file_private.h"

#define PHASES_MAX 1000
#define EPOCHS_MAX 100000

static int read_history(struct reader *rd, struct json_object *from, struct plan_past *past)
{
	struct json_object *array;
	size_t i, n, first;
	int err;

	err = jread_array(&rd->r, from, "history", SERIES_MINUTE_MAX, &array);
	if (err || !array)
		return err;
	n = json_object_array_length(array);
	first = n > AHEAD_HISTORY ? n - AHEAD_HISTORY : 0;
	past->values = mem_zalloc(n, sizeof(*past->values));
	jread_key(&rd->r, "history");
	for (i = 0; i < n; i++) {
		double v = 0;

		jread_index(&rd->r, i);
		err = jread_take_number(&rd->r, json_object_array_get_idx(array, i), PLAN_GPUS_MAX,
					&v);
		if (err)
			return err;
		jread_up(&rd->r);
		if (i >= first)
			past->values[past->n++] = v;
	}
	jread_up(&rd->r);
	return 0;
}

static int file_read_minute(struct reader *rd, struct json_object *from, const uint64_t *before,
			    uint64_t *minute)
{
	uint32_t n = 0;
	int err = jread_take_whole(&rd->r, from, SERIES_MINUTE_MAX, &n);

	if (err)
		return err;
	if (before && n <= *before)
		return jread_refuse(&rd->r, "minute %u is not after %llu", n,
				    (unsigned long long)*before);
	*minute = n;
	return 0;
}

static int read_phase(struct reader *rd, struct json_object *from, struct plan_past *past)
{
	static const char *const keys[] = { "phase", "minute", "gpus", NULL };
	static const char *const names[] = { "start", "middle", "end" };
	struct plan_phase *last = past->n_phases ? &past->phases[past->n_phases - 1] : NULL;
	struct plan_phase *phase = &past->phases[past->n_phases];
	struct json_object *minute;
	const char *name = NULL;
	size_t i;
	int err;

	err = jread_object(&rd->r, from, keys);
	if (!err)
		err = jread_word(&rd->r, from, "phase", &name);
	if (err)
		return err;
	for (i = 0; name && i < 3 && strcmp(name, names[i]);)
		i++;
	if (name && i == 3) {
		jread_key(&rd->r, "phase");
		return jread_refuse(&rd->r, "a phase is start, middle or end");
	}
	if (!json_object_object_get_ex(from, "minute", &minute) ||
	    !json_object_object_get_ex(from, "gpus", NULL))
		return jread_refuse(&rd->r, "a phase needs \"minute\" and \"gpus\"");
	jread_key(&rd->r, "minute");
	err = file_read_minute(rd, minute, last ? &last->minute : NULL, &phase->minute);
	if (err)
		return err;
	jread_up(&rd->r);
	err = jread_number(&rd->r, from, "gpus", PLAN_GPUS_MAX, &phase->gpus);
	if (!err)
		past->n_phases++;
	return err;
}

static int read_phases(struct reader *rd, struct json_object *from, struct plan_past *past)
{
	struct json_object *array;
	size_t i;
	int err;

	err = jread_array(&rd->r, from, "phases", PHASES_MAX, &array);
	if (err || !array)
		return err;
	past->phases = mem_zalloc(json_object_array_length(array), sizeof(*past->phases));
	jread_key(&rd->r, "phases");
	for (i = 0; i < json_object_array_length(array); i++) {
		jread_index(&rd->r, i);
		err = read_phase(rd, json_object_array_get_idx(array, i), past);
		if (err)
			return err;
		jread_up(&rd->r);
	}
	jread_up(&rd->r);
	return 0;
}

static int read_epochs(struct reader *rd, struct json_object *from, struct plan_asked *asked)
{
	struct json_object *array;
	size_t i, n;
	int err;

	err = jread_array(&rd->r, from, "epochs", EPOCHS_MAX, &array);
	if (err || !array)
		return err;
	n = json_object_array_length(array);
	asked->epochs = mem_zalloc(n, sizeof(*asked->epochs));
	jread_key(&rd->r, "epochs");
	for (i = 0; i < n; i++) {
		jread_index(&rd->r, i);
		err = file_read_minute(rd, json_object_array_get_idx(array, i),
				       i ? &asked->epochs[i - 1] : NULL, &asked->epochs[i]);
		if (err)
			return err;
		jread_up(&rd->r);
	}
	jread_up(&rd->r);
	asked->n_epochs = n;
	return 0;
}

int plan_parse_demand(struct reader *rd, struct json_object *from, struct plan_asked *asked)
{
	const char *name = rd->in->workloads[rd->in->n_workloads - 1].name;
	int err;

	if (asked->demand && (json_object_object_get_ex(from, "history", NULL) ||
			      json_object_object_get_ex(from, "phases", NULL)))
		return jread_refuse(&rd->r, "workload %s: its demand is given, and forecast too",
				    name);
	err = read_history(rd, from, &asked->past);
	if (!err)
		err = read_phases(rd, from, &asked->past);
	return err ? err : read_epochs(rd, from, asked);
}
