// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: metrics
 *
 * Prometheus' text format 0.0.4: durations in seconds, states with 0 as well, so that a rule can
 * tell zero from absent. Counters go on over a reload and begin anew with a restart.
 */
#include <stddef.h>

#include "base/text.h"
#include "fm/metrics.h"

#define BUCKET_FIRST_MS 250

void metrics_step(struct metrics *metrics, bool bind, bool done, uint64_t ms)
{
	uint64_t bound = BUCKET_FIRST_MS;
	int i = 0;

	metrics->steps[bind][done]++;
	if (!done)
		return;
	while (i < METRICS_BUCKETS - 1 && ms >= bound) {
		bound *= 2;
		i++;
	}
	metrics->buckets[bind][i]++;
	metrics->ms[bind] += ms;
}

static void family(struct text *t, const char *name, const char *type, const char *help)
{
	text_add(t, "# HELP gpufabric_fm_%s %s\n# TYPE gpufabric_fm_%s %s\n", name, help, name,
		 type);
}

static void print_gpus(struct text *t, const struct fabric *fabric)
{
	static const char *const names[] = {
		[GPU_UNKNOWN] = "unknown", [GPU_FREE] = "free", [GPU_BINDING] = "binding",
		[GPU_BOUND] = "bound",	   [GPU_GONE] = "gone", [GPU_UNBINDING] = "unbinding",
		[GPU_TWICE] = "twice",
	};
	size_t state;
	int i, n;

	family(t, "gpus", "gauge", "GPUs of the pool by state.");
	for (state = 0; state < sizeof(names) / sizeof(names[0]); state++) {
		for (n = 0, i = 0; i < fabric->gpu_count; i++)
			n += fabric->gpus[i].state == state;
		text_add(t, "gpufabric_fm_gpus{state=\"%s\"} %d\n", names[state], n);
	}
}

/* Names of hosts are plain: config_name_valid(). */
static void print_hosts(struct text *t, const struct fabric *fabric)
{
	int i, gpu, n;

	family(t, "host_gpus", "gauge", "GPUs in the zone of a host.");
	for (i = 0; i < fabric->host_count; i++) {
		for (n = 0, gpu = 0; gpu < fabric->gpu_count; gpu++)
			n += fabric->gpus[gpu].owner == i;
		text_add(t, "gpufabric_fm_host_gpus{host=\"%s\"} %d\n", fabric->hosts[i].name, n);
	}
	family(t, "host_up", "gauge", "1 while the host answers.");
	for (i = 0; i < fabric->host_count; i++)
		text_add(t, "gpufabric_fm_host_up{host=\"%s\"} %d\n", fabric->hosts[i].name,
			 fabric->hosts[i].state == HOST_UP);
}

static void print_durations(struct text *t, const struct metrics *metrics, bool bind)
{
	const char *what = bind ? "bind" : "unbind";
	uint64_t bound = BUCKET_FIRST_MS, n = 0;
	int i;

	for (i = 0; i < METRICS_BUCKETS; i++, bound *= 2) {
		n += metrics->buckets[bind][i];
		text_add(t, "gpufabric_fm_step_seconds_bucket{step=\"%s\",le=\"", what);
		if (i < METRICS_BUCKETS - 1)
			text_add(t, "%g", (double)bound / 1000);
		else
			text_add(t, "+Inf");
		text_add(t, "\"} %llu\n", (unsigned long long)n);
	}
	text_add(t, "gpufabric_fm_step_seconds_sum{step=\"%s\"} %.3f\n", what,
		 (double)metrics->ms[bind] / 1000);
	text_add(t, "gpufabric_fm_step_seconds_count{step=\"%s\"} %llu\n", what,
		 (unsigned long long)n);
}

static void print_refusals(struct text *t, const struct metrics *metrics)
{
	static const char *const names[METRICS_REFUSALS] = {
		[REFUSED_IN_USE] = "in-use",
		[REFUSED_UNKNOWN] = "unknown",
		[REFUSED_TWICE] = "twice",
		[REFUSED_BUSY] = "busy",
		[REFUSED_AWAY] = "away",
		[REFUSED_NO_PORT] = "no-port",
		[REFUSED_PORT_TAKEN] = "port-taken",
		[REFUSED_PORT_FOREIGN] = "port-foreign",
		[REFUSED_ELSEWHERE] = "elsewhere",
	};
	int i;

	family(t, "refused_total", "counter", "Requests for zones that were refused, by reason.");
	for (i = REFUSED_NOT + 1; i < METRICS_REFUSALS; i++)
		text_add(t, "gpufabric_fm_refused_total{reason=\"%s\"} %llu\n", names[i],
			 (unsigned long long)metrics->refused[i]);
}

char *metrics_text(const struct metrics *metrics, const struct fabric *fabric)
{
	struct text t = { 0 };
	int bind, done;

	print_gpus(&t, fabric);
	print_hosts(&t, fabric);
	family(&t, "steps_total", "counter", "Binds and unbinds at the switch that have ended.");
	for (bind = 0; bind < 2; bind++)
		for (done = 0; done < 2; done++)
			text_add(&t, "gpufabric_fm_steps_total{step=\"%s\",end=\"%s\"} %llu\n",
				 bind ? "bind" : "unbind", done ? "done" : "failed",
				 (unsigned long long)metrics->steps[bind][done]);
	family(&t, "step_seconds", "histogram", "How long binds and unbinds took at the switch.");
	print_durations(&t, metrics, false);
	print_durations(&t, metrics, true);
	print_refusals(&t, metrics);
	return t.text;
}
