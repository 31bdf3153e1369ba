/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is kept of a workload's demand: the series that the planner reads, and beside it what the
 * next minute has to know. Pure.
 */
#ifndef GPUCTL_SENSE_RECORD_H
#define GPUCTL_SENSE_RECORD_H

#include "base/text.h"
#include "sense/follow.h"

/* A file beside the series, as JSON. */
#define RECORD_FILE_MAX 65536
#define RECORD_SENSOR_MAX 256

/**
 * struct record - the last minute of a workload, as it was written
 * @minute: which one
 * @gpus: that it had
 * @demand: that it asked for
 * @min: of its file
 * @max: of its file
 * @load: of one GPU, negative where nothing said
 * @target: of that load
 * @waiting: negative where nothing said
 * @faults: what was wrong with sensors, @n_faults of them
 * @n_faults: number of @faults
 * @reason: why demand was what it was
 * @why: the same in words
 * @memory: for the next minute
 */
struct record {
	uint64_t minute;
	uint32_t gpus, demand, min, max;
	double load, target, waiting;
	char faults[SENSE_SENSORS_MAX][FOLLOW_TEXT];
	size_t n_faults;
	enum follow_reason reason;
	char why[FOLLOW_TEXT];
	struct follow_memory memory;
};

void record_make(struct record *record, const struct follow *f, const struct follow_memory *memory);
/* As JSON; the caller frees. */
char *record_text(const struct record *record, const struct sense_workload *workload);
/*
 * Read it; -EINVAL with "file:line:column: reason". What was remembered of sensors that @workload no
 * longer has is forgotten; without a @workload all of it is.
 */
int record_read(struct record *record, const struct sense_workload *workload, const char *file,
		const char *text, size_t len, struct fault *fault);

/**
 * struct record_series - a workload's series so far
 * @n: number of minutes
 * @last: number of the last one
 * @demand: of it
 */
struct record_series {
	size_t n;
	uint64_t last;
	uint32_t demand;
};

/* What the text of a series says; an empty one has no minutes. -EINVAL with a reason. */
int record_series_read(struct record_series *series, const char *name, const char *text, size_t len,
		       struct fault *fault);
/*
 * Minutes that are still to come at @minute, from a clock that was ahead: they leave the series and
 * its text. Returns the number of them.
 */
size_t record_series_cut(struct record_series *series, char *text, uint64_t minute);
/*
 * The text of the series with one more minute, of which the newest @keep stay. Minutes that nobody
 * measured have the demand of the one before them. The caller frees.
 */
char *record_series_add(const struct record_series *series, const char *text, size_t keep,
			const struct record *record);

#endif /* GPUCTL_SENSE_RECORD_H */
