// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: metrics of workloads
 *
 * As those of the fabric, in publish/metrics.c. Names of workloads need no quoting. What no sensor has
 * said is absent; a reason is there with 0 as well.
 */
#include "sense/metrics.h"

#define MINUTE_S 60

static void metric_head(struct text *t, const char *name, const char *help)
{
	text_add(t, "# HELP gpufabric_workload_%s %s\n# TYPE gpufabric_workload_%s gauge\n", name,
		 help, name);
}

/* One number of each workload; a negative one was not said. */
static void metric_each(struct text *t, const struct sense_shown *shown, const char *name,
			const char *help, double (*value)(const struct record *record))
{
	size_t i;

	metric_head(t, name, help);
	for (i = 0; i < shown->n; i++)
		if (value(&shown->records[i]) >= 0)
			text_add(t, "gpufabric_workload_%s{workload=\"%s\"} %.10g\n", name,
				 shown->names[i], value(&shown->records[i]));
}

static double metric_gpus(const struct record *record)
{
	return record->gpus;
}

static double metric_demand(const struct record *record)
{
	return record->demand;
}

static double metric_load(const struct record *record)
{
	return record->load;
}

static double metric_target(const struct record *record)
{
	return record->load < 0 ? -1 : record->target;
}

static double metric_waiting(const struct record *record)
{
	return record->waiting;
}

static double metric_faults(const struct record *record)
{
	return (double)record->n_faults;
}

static double metric_time(const struct record *record)
{
	return (double)record->minute * MINUTE_S;
}

static void metric_reasons(struct text *t, const struct sense_shown *shown)
{
	unsigned int reason;
	size_t i;

	metric_head(t, "reason", "Why demand is what it is.");
	for (i = 0; i < shown->n; i++)
		for (reason = 0; reason < FOLLOW_REASONS; reason++)
			text_add(t, "gpufabric_workload_reason{workload=\"%s\",reason=\"%s\"} %d\n",
				 shown->names[i], follow_reason_names[reason],
				 shown->records[i].reason == reason);
}

void sense_metrics(struct text *t, const struct sense_shown *shown)
{
	if (!shown->n)
		return;
	metric_each(t, shown, "gpus", "GPUs that the workload had when it was measured.",
		    metric_gpus);
	metric_each(t, shown, "demand_gpus", "GPUs that it asks for.", metric_demand);
	metric_each(t, shown, "load", "Load of one GPU, in the unit of its sensor.", metric_load);
	metric_each(t, shown, "target", "Load of one GPU that is aimed at.", metric_target);
	metric_each(t, shown, "waiting", "What waits in its queue.", metric_waiting);
	metric_each(t, shown, "sensor_faults", "Sensors that are dead or lie.", metric_faults);
	metric_each(t, shown, "measured_timestamp_seconds", "Minute that was measured last.",
		    metric_time);
	metric_reasons(t, shown);
}
