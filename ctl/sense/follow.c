// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: demand follows use
 *
 * A workload needs GPUs * load / target. Demand grows when it was higher for some minutes in a
 * row, and falls when it was lower for as long. Where there is a queue, the load alone says
 * nothing of growth: a GPU that has all the work it can do shows the same load however much
 * waits. Then demand grows while something waits, and falls only while nothing does.
 *
 * A sensor that says nothing, or nothing that can be true, holds the demand: what cannot be
 * measured is no reason to move GPUs.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sense/follow.h"

#define MINUTE_MS 60000
#define PERCENT_MAX 100.0
#define ROUNDING 0.000001

const char *const follow_reason_names[FOLLOW_REASONS] = {
	[FOLLOW_USED] = "used", [FOLLOW_CHANGED] = "changed", [FOLLOW_SAMPLES] = "samples",
	[FOLLOW_HELD] = "held", [FOLLOW_MAXIMUM] = "maximum", [FOLLOW_SENSOR] = "sensor",
};

void follow_forget(struct follow_memory *memory)
{
	size_t i;

	memset(memory, 0, sizeof(*memory));
	for (i = 0; i < SENSE_SENSORS_MAX; i++)
		memory->good[i] = -1;
}

uint64_t follow_hold(const struct sense_workload *workload, uint64_t attach_ms)
{
	uint64_t needed = attach_ms + workload->load_ms;
	uint64_t ms = workload->hold_ms > needed ? workload->hold_ms : needed;

	return (ms + MINUTE_MS - 1) / MINUTE_MS;
}

static bool is_percent(const struct sensor *sensor)
{
	return sensor->kind != SENSOR_PROMETHEUS && sensor->kind != SENSOR_COMMAND;
}

static void follow_fault(struct follow *f, size_t sensor, const char *why)
{
	snprintf(f->faults[f->n_faults++], FOLLOW_TEXT, "sensor %.100s %.140s",
		 f->workload->sensors[sensor].text, why);
}

/* Can this be true? A jump is believed when it stays. */
static void judge_reading(struct follow *f, struct follow_memory *memory, size_t i)
{
	const struct sensor *sensor = &f->workload->sensors[i];
	double value = f->readings[i].value;
	char why[FOLLOW_TEXT];

	if (*f->readings[i].dead) {
		snprintf(why, sizeof(why), "is dead: %.120s", f->readings[i].dead);
		follow_fault(f, i, why);
		return;
	}
	if (!isfinite(value) || value < 0 || (is_percent(sensor) && value > PERCENT_MAX)) {
		snprintf(why, sizeof(why), "lies: %g", value);
		follow_fault(f, i, why);
		return;
	}
	if (!is_percent(sensor) && memory->good[i] > 0 && value >= FOLLOW_JUMP * memory->good[i] &&
	    ++memory->odd[i] < f->workload->samples) {
		snprintf(why, sizeof(why), "lies: %g after %g", value, memory->good[i]);
		follow_fault(f, i, why);
		return;
	}
	memory->odd[i] = 0;
	memory->good[i] = value;
}

static uint32_t round_up(const struct sense_workload *w, double gpus)
{
	double n = ceil(gpus / w->quantum - ROUNDING) * w->quantum;

	if (n <= w->min)
		return w->min;
	return n < w->max ? (uint32_t)n : w->max;
}

/* GPUs that the loads ask for; which of them asks for the most is kept for people. */
static double measure_loads(struct follow *f)
{
	double most = 0, need, each;
	size_t i;

	for (i = 0; i < f->workload->n; i++) {
		const struct sensor *sensor = &f->workload->sensors[i];
		double value = f->readings[i].value;

		if (sensor->queue) {
			f->waiting = value;
			continue;
		}
		need = sensor->sum ? value / sensor->target : f->gpus * value / sensor->target;
		each = sensor->sum && f->gpus ? value / f->gpus : value;
		if (f->load < 0 || need > most) {
			f->load = each;
			f->target = sensor->target;
		}
		if (need > most)
			most = need;
	}
	return most;
}

static bool has_load(const struct sense_workload *w)
{
	return w->n > (w->has_queue ? 1u : 0u);
}

/* Without regard to how long it has been so. */
static uint32_t wanted(struct follow *f)
{
	const struct sense_workload *w = f->workload;
	uint32_t want = round_up(w, measure_loads(f)), more;

	if (!w->has_queue)
		return want;
	if (f->waiting > 0) {
		more = round_up(w, (double)f->gpus + w->quantum);
		want = want > more ? want : more;
		return want > f->last ? want : f->last;
	}
	/* Of a queue alone nobody knows how much less would do: one step. */
	if (!has_load(w))
		want = f->last > w->quantum ? round_up(w, (double)f->last - w->quantum) : w->min;
	return want < f->last ? want : f->last;
}

/* Minutes that are left of the time in which it may not go that way. */
static uint64_t held_for(const struct follow *f, const struct follow_memory *memory,
			 enum follow_way way)
{
	uint64_t hold = follow_hold(f->workload, f->attach_ms);
	uint64_t since = f->minute > memory->changed ? f->minute - memory->changed : 0;

	if (memory->way == FOLLOW_STAY || since >= hold)
		return 0;
	/* What came for the queue does not serve it yet. */
	if (memory->way == way && !(way == FOLLOW_UP && f->workload->has_queue))
		return 0;
	return hold - since;
}

static void follow_decide(struct follow *f, struct follow_memory *memory, uint32_t want)
{
	enum follow_way way = want > f->last ? FOLLOW_UP :
			      want < f->last ? FOLLOW_DOWN :
					       FOLLOW_STAY;
	uint64_t held = held_for(f, memory, way);

	memory->count = way == memory->wish ? memory->count + 1 : 1;
	memory->wish = way;
	if (memory->count > f->workload->samples)
		memory->count = f->workload->samples;
	if (way == FOLLOW_STAY) {
		memory->count = 0;
		f->reason = f->waiting > 0 && want == f->workload->max ? FOLLOW_MAXIMUM :
									 FOLLOW_USED;
		snprintf(f->why, sizeof(f->why), "%s",
			 f->reason == FOLLOW_MAXIMUM ? "it has its maximum, and something waits" :
						       "this is what it uses");
		return;
	}
	if (memory->count < f->workload->samples) {
		f->reason = FOLLOW_SAMPLES;
		snprintf(f->why, sizeof(f->why), "%u would be needed, for %u of %u minutes now",
			 want, memory->count, f->workload->samples);
		return;
	}
	if (held) {
		f->reason = FOLLOW_HELD;
		snprintf(f->why, sizeof(f->why),
			 "%u would be needed, but it %s at minute %llu: held for %llu more", want,
			 memory->way == FOLLOW_UP ? "grew" : "shrank",
			 (unsigned long long)memory->changed, (unsigned long long)held);
		return;
	}
	f->demand = want;
	f->reason = FOLLOW_CHANGED;
	memory->way = way;
	memory->changed = f->minute;
	memory->count = 0;
	snprintf(f->why, sizeof(f->why), "%s for %u minutes",
		 way == FOLLOW_UP ? (f->waiting > 0 ? "something waited" : "its load was high") :
				    "its load was low",
		 f->workload->samples);
}

void follow_minute(struct follow *f, struct follow_memory *memory)
{
	const struct sense_workload *w = f->workload;
	size_t i;

	f->load = -1;
	f->waiting = -1;
	f->target = 0;
	f->n_faults = 0;
	/* By a clock that was ahead. */
	if (memory->changed > f->minute)
		memory->changed = f->minute;
	if (!f->has_last)
		f->last = f->gpus;
	/* What the file says now, whatever it said before. */
	f->last = round_up(w, f->last);
	f->demand = f->last;
	for (i = 0; i < w->n; i++)
		judge_reading(f, memory, i);
	if (f->n_faults) {
		memory->count = 0;
		memory->wish = FOLLOW_STAY;
		f->reason = FOLLOW_SENSOR;
		snprintf(f->why, sizeof(f->why), "held: %.240s", f->faults[0]);
		return;
	}
	follow_decide(f, memory, wanted(f));
}
