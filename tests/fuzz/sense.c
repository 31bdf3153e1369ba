// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/sense/workload.c ctl/sense/follow.c ctl/sense/fdinfo.c ctl/host/process.c ctl/sense/record.c ctl/sense/gather.c ctl/probe/exposition.c ctl/plan/series.c ctl/base/program.c ctl/base/trust.c ctl/base/conf.c ctl/base/csv.c ctl/base/jread.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/*
 * What sensors of workloads are read from. The first byte says what: w, a file of workloads.d; r, what a minute
 * left for the next one; s, a series; f, fdinfo of two samples with 0xff between them; p, a metric and behind 0xff a page of
 * metrics; n, what a program printed; l, loads, of which none moves demand out of its bounds.
 */
#include <errno.h>
#include <math.h>

#include "base/text.h"
#include "fuzz.h"
#include "probe/exposition.h"
#include "sense/fdinfo.h"
#include "sense/gather.h"
#include "sense/record.h"

static const char file_text[] = "sensor = command /a\ntarget = 3\nqueue = command /b\nmax = 8\n"
				"quantum = 2\nmin = 2\nsamples = 2\n";

static void fuzz_workload(const char *text, size_t size)
{
	struct sense_workload w;
	struct fault f = { "" };
	size_t i;

	if (sense_workload_parse("d/w", text, size, &w, &f)) {
		must(fuzz_is_line(f.text));
	} else {
		must(w.n && w.n <= SENSE_SENSORS_MAX && w.quantum && w.samples && w.max);
		must(w.min <= w.max && !(w.min % w.quantum) && !(w.max % w.quantum));
		for (i = 0; i < w.n; i++)
			must(w.sensors[i].queue || w.sensors[i].target > 0);
	}
	sense_workload_free(&w);
}

static void fuzz_record(const char *text, size_t size)
{
	struct sense_workload w;
	struct record record, again;
	struct fault f = { "" };
	char *json;

	must(!sense_workload_parse("w", file_text, sizeof(file_text) - 1, &w, &f));
	if (record_read(&record, &w, "r", text, size, &f)) {
		must(fuzz_is_line(f.text));
	} else {
		json = record_text(&record, &w);
		must(!record_read(&again, &w, "r", json, strlen(json), &f));
		must(again.demand == record.demand && again.memory.count == record.memory.count);
		free(json);
	}
	sense_workload_free(&w);
}

static void fuzz_series(const char *text, size_t size)
{
	struct record record = { .demand = 3, .gpus = 1, .max = 4 };
	struct record_series series, again;
	struct fault f = { "" };
	char *more, *copy = fuzz_text(text, size);

	if (record_series_read(&series, "w.csv", copy, strlen(copy), &f)) {
		must(fuzz_is_line(f.text));
	} else if (series.last < 100000000 - 3) {
		record.minute = series.last + 3;
		more = record_series_add(&series, copy, 5, &record);
		must(!record_series_read(&again, "w.csv", more, strlen(more), &f));
		must(again.n <= 5 && again.last == record.minute && again.demand == 3);
		free(more);
	}
	free(copy);
}

/* The text in front of 0xff, and the one behind it. */
static char *both(const char *text, size_t size, char **behind)
{
	const char *at = memchr(text, 0xff, size);
	size_t n = at ? (size_t)(at - text) : size;

	*behind = at ? fuzz_text(at + 1, size - n - 1) : fuzz_text("", 0);
	return fuzz_text(text, n);
}

static void fuzz_fdinfo(const char *text, size_t size)
{
	struct fdinfo a = { 0 }, b = { 0 };
	char *behind, *front = both(text, size, &behind);
	double busy;
	size_t i;

	fdinfo_add(&a, front);
	fdinfo_add(&b, behind);
	fdinfo_add(&b, front);
	for (i = 0; i < b.n; i++) {
		must(b.uses[i].client && *b.uses[i].address && b.uses[i].capacity);
		busy = fdinfo_busy(&a, &b, b.uses[i].address, 1000000000);
		must(isnan(busy) || (busy >= 0 && busy <= 100));
	}
	fdinfo_free(&a);
	fdinfo_free(&b);
	free(front);
	free(behind);
}

static void fuzz_page(const char *text, size_t size)
{
	struct exposition_metric metric;
	struct fault f = { "" };
	char *page, *wanted = both(text, size, &page);
	double value;
	int err = exposition_metric_read(&metric, wanted, &f);

	if (!err)
		err = exposition_find(page, &metric, size & 1, &value, &f);
	must(!err || err == -EINVAL || err == -ENOENT);
	must(!err == !f.text[0]);
	exposition_metric_free(&metric);
	free(wanted);
	free(page);
}

static void fuzz_number(const char *text, size_t size)
{
	char *copy = fuzz_text(text, size);
	struct reading reading;

	gather_number(copy, &reading);
	must(fuzz_is_line(reading.dead) || !*reading.dead);
	free(copy);
}

static void fuzz_loads(const char *text, size_t size)
{
	struct follow_memory memory;
	struct sense_workload w;
	struct fault f = { "" };
	uint32_t last = 0;
	uint64_t minute;

	must(!sense_workload_parse("w", file_text, sizeof(file_text) - 1, &w, &f));
	follow_forget(&memory);
	for (minute = 0; minute + 2 <= size; minute += 2) {
		struct reading readings[SENSE_SENSORS_MAX] = {
			{ .value = text[minute] == 127 ? NAN : text[minute] },
			{ .value = text[minute + 1] },
		};
		struct follow step = {
			.workload = &w,
			.readings = readings,
			.gpus = last,
			.minute = minute,
			.has_last = minute,
			.last = last,
		};

		follow_minute(&step, &memory);
		must(step.demand >= w.min && step.demand <= w.max && !(step.demand % w.quantum));
		must(fuzz_is_line(step.why));
		must(!minute || !step.n_faults || step.demand == last);
		last = step.demand;
	}
	sense_workload_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parts[])(const char *text, size_t size) = {
		['w'] = fuzz_workload, ['r'] = fuzz_record, ['s'] = fuzz_series, ['f'] = fuzz_fdinfo,
		['p'] = fuzz_page,     ['n'] = fuzz_number, ['l'] = fuzz_loads,
	};
	char *copy;

	if (!size || data[0] >= sizeof(parts) / sizeof(parts[0]) || !parts[data[0]])
		return 0;
	copy = fuzz_behind(data, size--);
	parts[data[0]](copy, size);
	free(copy);
	return 0;
}
