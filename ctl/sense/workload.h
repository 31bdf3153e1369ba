/* SPDX-License-Identifier: GPL-2.0-only */
/* How a workload's demand is measured: a file of workloads.d, in gpuctl-workloads(5). Pure. */
#ifndef GPUCTL_SENSE_WORKLOAD_H
#define GPUCTL_SENSE_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Sensors of one workload, its queue included. */
#define SENSE_SENSORS_MAX 8
#define SENSE_GPUS_MAX 100000
#define SENSE_SAMPLES_MAX 60

enum sensor_kind {
	SENSOR_PROMETHEUS,
	SENSOR_FDINFO,
	SENSOR_AMDGPU,
	SENSOR_NVML,
	SENSOR_COMMAND,
	SENSOR_KINDS
};

extern const char *const sensor_kind_names[SENSOR_KINDS];

/**
 * struct sensor - one number about a workload
 * @kind: where it comes from
 * @queue: it counts what waits, and is no load
 * @sum: it is of all GPUs together, and not of one of them on average
 * @target: load of one GPU that is aimed at; a queue has none
 * @text: what the file says of it, for people
 * @words: what follows the kind, ends with NULL; the last word of a prometheus sensor has the
 *	metric with its labels
 * @n_words: number of @words
 */
struct sensor {
	enum sensor_kind kind;
	bool queue, sum;
	double target;
	char *text;
	char **words;
	size_t n_words;
};

/**
 * struct sense_workload - a file of workloads.d
 * @name: of the workload and its composition: the file's
 * @sensors: @n of them
 * @n: number of @sensors
 * @has_queue: one of them is a queue
 * @min: GPUs that it never goes below
 * @max: GPUs that it never goes above
 * @quantum: its demand is a multiple of this
 * @samples: number of minutes in a row that have to say the same before the demand changes
 * @hold_ms: how long after a change there is no opposite one
 * @load_ms: how long a GPU that came is of no use yet, beyond its attach
 */
struct sense_workload {
	char *name;
	struct sensor sensors[SENSE_SENSORS_MAX];
	size_t n;
	bool has_queue;
	uint32_t min, max, quantum, samples;
	uint64_t hold_ms, load_ms;
};

/* Can a file of workloads.d be called so? No dots: editors and packages leave such files. */
bool sense_is_name(const char *name);

/* Parse; -EINVAL with "file:line: reason". Free in either case. */
int sense_workload_parse(const char *file, const char *text, size_t len,
			 struct sense_workload *workload, struct fault *f);
void sense_workload_free(struct sense_workload *workload);

#endif /* GPUCTL_SENSE_WORKLOAD_H */
