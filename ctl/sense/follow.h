/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what sensors say to a workload's demand. The planner's policy decides what becomes of the
 * demand; here is only what the workload could use. Pure.
 */
#ifndef GPUCTL_SENSE_FOLLOW_H
#define GPUCTL_SENSE_FOLLOW_H

#include "sense/workload.h"

#define FOLLOW_TEXT 256
/* A load this number of times as high as the last one is not believed at once. */
#define FOLLOW_JUMP 100

/**
 * struct reading - what a sensor said
 * @value: its number, whatever that is
 * @dead: why there is none, "" for none
 */
struct reading {
	double value;
	char dead[FOLLOW_TEXT];
};

enum follow_way {
	FOLLOW_STAY,
	FOLLOW_UP,
	FOLLOW_DOWN
};

/* Why demand is what it is, in a word. */
enum follow_reason {
	FOLLOW_USED, /* it is what is used */
	FOLLOW_CHANGED, /* it has just changed */
	FOLLOW_SAMPLES, /* not enough minutes in a row say otherwise */
	FOLLOW_HELD, /* it changed the other way a while ago, or GPUs that came do not serve yet */
	FOLLOW_MAXIMUM, /* something waits, but it has its maximum */
	FOLLOW_SENSOR, /* a sensor is dead or lies */
	FOLLOW_REASONS
};

extern const char *const follow_reason_names[FOLLOW_REASONS];

/**
 * struct follow_memory - what is kept from one minute to the next
 * @way: of the last change
 * @changed: minute of it
 * @wish: what the last minutes in a row asked for
 * @count: number of them
 * @good: last value of each sensor that was believed, negative for none
 * @odd: number of minutes in a row that a sensor's value was not believed
 */
struct follow_memory {
	enum follow_way way, wish;
	uint64_t changed;
	uint32_t count;
	double good[SENSE_SENSORS_MAX];
	uint32_t odd[SENSE_SENSORS_MAX];
};

/**
 * struct follow - one minute of a workload
 * @workload: how it is measured
 * @readings: of each sensor
 * @gpus: number of GPUs that it has
 * @minute: which one
 * @attach_ms: what an attach takes here, 0 where nothing was measured
 * @has_last: there is a demand before
 * @last: that demand
 * @demand: filled: GPUs that it asks for
 * @load: filled: of one GPU, by the sensor that asks for the most; negative where none says
 * @target: filled: of that sensor
 * @waiting: filled: what its queue says; negative where none says
 * @n_faults: filled: number of sensors that are dead or lie
 * @faults: filled: what is wrong with each of them
 * @reason: filled: why demand is what it is
 * @why: filled: the same in words
 */
struct follow {
	const struct sense_workload *workload;
	const struct reading *readings;
	uint32_t gpus;
	uint64_t minute, attach_ms;
	bool has_last;
	uint32_t last;
	uint32_t demand;
	double load, target, waiting;
	size_t n_faults;
	char faults[SENSE_SENSORS_MAX][FOLLOW_TEXT];
	enum follow_reason reason;
	char why[FOLLOW_TEXT];
};

/* Nothing is known. */
void follow_forget(struct follow_memory *memory);
void follow_minute(struct follow *f, struct follow_memory *memory);
/* Minutes for which no opposite change follows one. */
uint64_t follow_hold(const struct sense_workload *workload, uint64_t attach_ms);

#endif /* GPUCTL_SENSE_FOLLOW_H */
