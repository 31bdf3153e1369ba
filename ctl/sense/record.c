// SPDX-License-Identifier: GPL-2.0-only
/* DOC: series of demand, and what is remembered beside them, see record.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jread.h"
#include "plan/series.h"
#include "sense/record.h"

#define VALUE_MAX 1e15

static const char *const way_names[] = {
	[FOLLOW_STAY] = "none",
	[FOLLOW_UP] = "up",
	[FOLLOW_DOWN] = "down",
};

#define WAYS (sizeof(way_names) / sizeof(way_names[0]))

void record_make(struct record *record, const struct follow *f, const struct follow_memory *memory)
{
	*record = (struct record){
		.minute = f->minute,
		.gpus = f->gpus,
		.demand = f->demand,
		.min = f->workload->min,
		.max = f->workload->max,
		.load = f->load,
		.target = f->target,
		.waiting = f->waiting,
		.n_faults = f->n_faults,
		.reason = f->reason,
		.memory = *memory,
	};
	memcpy(record->faults, f->faults, sizeof(record->faults));
	memcpy(record->why, f->why, sizeof(record->why));
}

static void record_add_real(struct json_object *to, const char *key, double value)
{
	char text[64];

	if (!isfinite(value) || value < 0)
		return;
	snprintf(text, sizeof(text), "%.9g", value);
	json_object_object_add(to, key, json_object_new_double_s(value, text));
}

static void record_add_whole(struct json_object *to, const char *key, uint64_t value)
{
	json_object_object_add(to, key, json_object_new_int64((int64_t)value));
}

static void record_add_text(struct json_object *to, const char *key, const char *value)
{
	char *tame = mem_strdup(value);

	text_tame(tame, false);
	json_object_object_add(to, key, json_object_new_string(tame));
	free(tame);
}

char *record_text(const struct record *record, const struct sense_workload *workload)
{
	struct json_object *all = json_object_new_object(), *list = json_object_new_array(), *one;
	const struct follow_memory *m = &record->memory;
	char *text;
	size_t i;

	record_add_whole(all, "gpufabric_demand", 1);
	record_add_whole(all, "minute", record->minute);
	record_add_whole(all, "gpus", record->gpus);
	record_add_whole(all, "demand", record->demand);
	record_add_whole(all, "min", record->min);
	record_add_whole(all, "max", record->max);
	record_add_real(all, "load", record->load);
	record_add_real(all, "target", record->target);
	record_add_real(all, "waiting", record->waiting);
	record_add_text(all, "reason", follow_reason_names[record->reason]);
	record_add_text(all, "why", record->why);
	record_add_text(all, "changed_way", way_names[m->way]);
	record_add_whole(all, "changed", m->changed);
	record_add_text(all, "wish", way_names[m->wish]);
	record_add_whole(all, "count", m->count);
	for (i = 0; i < workload->n; i++) {
		one = json_object_new_object();
		record_add_text(one, "sensor", workload->sensors[i].text);
		record_add_real(one, "good", m->good[i]);
		record_add_whole(one, "odd", m->odd[i]);
		json_object_array_add(list, one);
	}
	json_object_object_add(all, "sensors", list);
	list = json_object_new_array();
	for (i = 0; i < record->n_faults; i++) {
		char *tame = mem_strdup(record->faults[i]);

		text_tame(tame, false);
		json_object_array_add(list, json_object_new_string(tame));
		free(tame);
	}
	json_object_object_add(all, "faults", list);
	text = mem_printf("%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN));
	json_object_put(all);
	return text;
}

/* Which of some words stands below a key; where nothing stands it is the first. */
static int record_choice(struct jread *r, const char *key, const char *const *names, size_t n,
			 unsigned int *value)
{
	const char *word = NULL;
	int err = jread_word(r, r->root, key, &word);

	*value = 0;
	if (err || !word)
		return err;
	for (; *value < n; (*value)++)
		if (!strcmp(word, names[*value]))
			return 0;
	*value = 0;
	jread_key(r, key);
	return jread_refuse(r, "this is no word that can stand here");
}

static int record_words(struct jread *r, struct record *record)
{
	unsigned int reason = 0, way = 0, wish = 0;
	int err = record_choice(r, "reason", follow_reason_names, FOLLOW_REASONS, &reason);

	if (!err)
		err = record_choice(r, "changed_way", way_names, WAYS, &way);
	if (!err)
		err = record_choice(r, "wish", way_names, WAYS, &wish);
	record->reason = (enum follow_reason)reason;
	record->memory.way = (enum follow_way)way;
	record->memory.wish = (enum follow_way)wish;
	return err;
}

static int read_sensor(struct jread *r, struct json_object *from, struct record *record,
		       const struct sense_workload *workload)
{
	static const char *const keys[] = { "sensor", "good", "odd", NULL };
	const char *name = NULL;
	uint32_t odd = 0;
	double good = -1;
	size_t i;
	int err = jread_object(r, from, keys);

	if (!err)
		err = jread_word(r, from, "sensor", &name);
	if (!err)
		err = jread_number(r, from, "good", VALUE_MAX, &good);
	if (!err)
		err = jread_whole(r, from, "odd", SENSE_SAMPLES_MAX, &odd);
	for (i = 0; !err && name && workload && i < workload->n; i++) {
		char *tame = mem_strdup(workload->sensors[i].text);

		text_tame(tame, false);
		if (!strcmp(tame, name)) {
			record->memory.good[i] = good;
			record->memory.odd[i] = odd;
		}
		free(tame);
	}
	return err;
}

static int read_sensors(struct jread *r, struct record *record,
			const struct sense_workload *workload)
{
	struct json_object *list = NULL;
	size_t i;
	int err = jread_array(r, r->root, "sensors", SENSE_SENSORS_MAX, &list);

	if (err || !list)
		return err;
	jread_key(r, "sensors");
	for (i = 0; !err && i < json_object_array_length(list); i++) {
		jread_index(r, i);
		err = read_sensor(r, json_object_array_get_idx(list, i), record, workload);
		if (!err)
			jread_up(r);
	}
	if (!err)
		jread_up(r);
	return err;
}

static int read_faults(struct jread *r, struct record *record)
{
	struct json_object *list = NULL, *one;
	size_t i;
	int err = jread_array(r, r->root, "faults", SENSE_SENSORS_MAX, &list);

	for (i = 0; !err && list && i < json_object_array_length(list); i++) {
		one = json_object_array_get_idx(list, i);
		snprintf(record->faults[record->n_faults++], FOLLOW_TEXT, "%s",
			 json_object_is_type(one, json_type_string) ? json_object_get_string(one) :
								      "?");
	}
	return err;
}

static int read_numbers(struct jread *r, struct record *record)
{
	struct json_object *root = r->root;
	double minute = 0, changed = 0;
	const char *why = NULL;
	int err = jread_number(r, root, "minute", SERIES_MINUTE_MAX, &minute);

	if (!err)
		err = jread_number(r, root, "changed", SERIES_MINUTE_MAX, &changed);
	if (!err)
		err = jread_whole(r, root, "gpus", SENSE_GPUS_MAX, &record->gpus);
	if (!err)
		err = jread_whole(r, root, "demand", SENSE_GPUS_MAX, &record->demand);
	if (!err)
		err = jread_whole(r, root, "min", SENSE_GPUS_MAX, &record->min);
	if (!err)
		err = jread_whole(r, root, "max", SENSE_GPUS_MAX, &record->max);
	if (!err)
		err = jread_whole(r, root, "count", SENSE_SAMPLES_MAX, &record->memory.count);
	if (!err)
		err = jread_number(r, root, "load", VALUE_MAX, &record->load);
	if (!err)
		err = jread_number(r, root, "target", VALUE_MAX, &record->target);
	if (!err)
		err = jread_number(r, root, "waiting", VALUE_MAX, &record->waiting);
	if (!err)
		err = jread_word(r, root, "why", &why);
	record->minute = (uint64_t)minute;
	record->memory.changed = (uint64_t)changed;
	if (why)
		snprintf(record->why, FOLLOW_TEXT, "%s", why);
	return err;
}

int record_read(struct record *record, const struct sense_workload *workload, const char *file,
		const char *text, size_t len, struct fault *fault)
{
	static const char *const keys[] = { "gpufabric_demand",
					    "minute",
					    "gpus",
					    "demand",
					    "min",
					    "max",
					    "load",
					    "target",
					    "waiting",
					    "reason",
					    "why",
					    "changed_way",
					    "changed",
					    "wish",
					    "count",
					    "sensors",
					    "faults",
					    NULL };
	struct jread r;
	int err;

	memset(record, 0, sizeof(*record));
	record->load = -1;
	record->waiting = -1;
	follow_forget(&record->memory);
	err = jread_open(&r, file, text, len, fault);
	if (!err)
		err = jread_object(&r, r.root, keys);
	if (!err)
		err = read_numbers(&r, record);
	if (!err)
		err = record_words(&r, record);
	if (!err)
		err = read_sensors(&r, record, workload);
	if (!err)
		err = read_faults(&r, record);
	jread_close(&r);
	return err;
}

int record_series_read(struct record_series *series, const char *name, const char *text, size_t len,
		       struct fault *fault)
{
	struct series_set set = { 0 };
	int err;

	memset(series, 0, sizeof(*series));
	if (!len)
		return 0;
	err = series_add(&set, name, text, len, SENSE_GPUS_MAX, fault);
	if (!err && set.minutes) {
		series->n = set.minutes;
		series->last = set.first + set.minutes - 1;
		series->demand = (uint32_t)set.of[0].demand[set.minutes - 1];
	}
	series_free(&set);
	return err;
}

/* The lines after the first @n minutes. */
static const char *skip_minutes(const char *text, size_t n)
{
	for (n++; n; n--) {
		text = strchr(text, '\n');
		if (!text)
			return "";
		text++;
	}
	return text;
}

size_t record_series_cut(struct record_series *series, char *text, uint64_t minute)
{
	size_t later = 0;

	if (series->n && series->last > minute)
		later = (size_t)(series->last - minute + 1);
	if (later > series->n)
		later = series->n;
	series->n -= later;
	series->last -= later;
	if (later)
		text[skip_minutes(text, series->n) - text] = '\0';
	return later;
}

char *record_series_add(const struct record_series *series, const char *text, size_t keep,
			const struct record *record)
{
	uint32_t runs = record->gpus < record->demand ? record->gpus : record->demand;
	uint64_t gap = series->n ? record->minute - series->last - 1 : 0;
	struct text all = { 0 };
	uint64_t minute;

	text_add(&all, SERIES_HEADING "\n");
	if (series->n && gap < keep) {
		size_t room = keep - 1 - (size_t)gap;

		text_add(&all, "%s", skip_minutes(text, series->n > room ? series->n - room : 0));
		if (all.text[all.len - 1] != '\n')
			text_add(&all, "\n");
		for (minute = series->last + 1; minute < record->minute; minute++)
			text_add(&all, "%llu,%u,%u,0\n", (unsigned long long)minute, record->max,
				 series->demand);
	}
	text_add(&all, "%llu,%u,%u,%u\n", (unsigned long long)record->minute, record->max, runs,
		 record->demand - runs);
	return all.text;
}
