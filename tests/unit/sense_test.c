// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/sense/workload.c ctl/sense/follow.c ctl/sense/fdinfo.c ctl/host/process.c ctl/sense/record.c ctl/sense/metrics.c ctl/plan/series.c ctl/base/conf.c ctl/base/csv.c ctl/base/jread.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/*
 * Demand that follows use: load that goes up and down, load that flaps, sensors that are dead or lie,
 * what a file may say, and what is kept from one minute to the next.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "sense/fdinfo.h"
#include "sense/follow.h"
#include "sense/metrics.h"
#include "sense/record.h"
#include "tap.h"

#define BUSY "sensor = fdinfo\ntarget = 50\nmax = 8\nquantum = 2\nmin = 2\nhold = 10min\n"
#define QUEUED \
	"sensor = fdinfo\ntarget = 50\nmax = 8\nhold = 10min\nsamples = 2\n" \
	"queue = prometheus http://127.0.0.1:8000/metrics vllm:num_requests_waiting\n"
#define NO_NUMBER NAN

/**
 * struct run - a workload through time
 */
struct run {
	struct sense_workload workload;
	struct follow_memory memory;
	struct follow f;
	uint32_t demand;
	bool has_last;
	uint64_t minute;
};

static void run_begin(struct run *r, const char *text)
{
	struct fault fault = { "" };

	memset(r, 0, sizeof(*r));
	is_int(sense_workload_parse("d/serve", text, strlen(text), &r->workload, &fault), 0,
	       "the file is good");
	is_str(fault.text, "", "and nothing is said of it");
	follow_forget(&r->memory);
	r->minute = 1000;
}

/* A minute with what its sensors say; the planner gives what is asked for at once. */
static uint32_t run_minute(struct run *r, double load, double waiting)
{
	struct reading readings[SENSE_SENSORS_MAX] = { { .value = load }, { .value = waiting } };

	r->f = (struct follow){
		.workload = &r->workload,
		.readings = readings,
		.gpus = r->has_last ? r->demand : r->workload.min,
		.minute = r->minute++,
		.has_last = r->has_last,
		.last = r->demand,
	};
	follow_minute(&r->f, &r->memory);
	r->demand = r->f.demand;
	r->has_last = true;
	return r->demand;
}

static uint32_t run_minutes(struct run *r, size_t n, double load, double waiting)
{
	while (n--)
		run_minute(r, load, waiting);
	return r->demand;
}

static void test_steps(void)
{
	struct run r;

	run_begin(&r, BUSY);
	is_int(run_minutes(&r, 5, 40, 0), 2, "below its target it keeps its minimum");
	is_int(run_minutes(&r, 2, 90, 0), 2, "one or two busy minutes change nothing");
	is_str(r.f.why, "4 would be needed, for 2 of 3 minutes now", "and say so");
	is_int(run_minute(&r, 90, 0), 4, "three do: 2 * 90 / 50, and then to the quantum");
	is_str(r.f.why, "its load was high for 3 minutes", "and say why");
	is_int(run_minutes(&r, 3, 90, 0), 8, "growing again is no opposite move");
	is_int(run_minutes(&r, 9, 100, 0), 8, "the maximum holds");
	is_int(run_minutes(&r, 3, 10, 0), 2, "a step down: 8 * 10 / 50");
	is_int(run_minutes(&r, 30, 0, 0), 2, "the minimum holds");
	sense_workload_free(&r.workload);
}

static void test_flapping(void)
{
	uint64_t last = 0, closest = UINT64_MAX;
	uint32_t before;
	int way = 0, changes = 0, i;
	struct run r;

	run_begin(&r, BUSY "samples = 1\n");
	before = run_minute(&r, 50, 0);
	for (i = 0; i < 200; i++) {
		uint32_t now = run_minute(&r, i & 1 ? 100 : 5, 0);

		if (now == before)
			continue;
		if (way && way != (now > before ? 1 : -1) && r.minute - last < closest)
			closest = r.minute - last;
		way = now > before ? 1 : -1;
		before = now;
		last = r.minute;
		changes++;
	}
	ok(changes > 2, "load that flaps moves demand: %d changes", changes);
	ok(closest >= 10, "but two opposite changes are %d minutes apart, at least 10",
	   (int)closest);
	sense_workload_free(&r.workload);
}

/* The clock is set back after demand has changed. */
static void test_clock(void)
{
	struct run r;

	run_begin(&r, BUSY "samples = 1\n");
	is_int(run_minutes(&r, 2, 90, 0), 8, "demand has grown");
	r.minute -= 600;
	is_int(run_minutes(&r, 10, 5, 0), 8, "after the clock is set back it is held");
	is_int(run_minute(&r, 5, 0), 2, "for no longer than the hold");
	sense_workload_free(&r.workload);
}

static void test_hold(void)
{
	struct sense_workload w = { .hold_ms = 60000, .load_ms = 240000 };

	is_int(follow_hold(&w, 0), 4, "a hold is not shorter than loading takes");
	is_int(follow_hold(&w, 61000), 6, "with the attach that was measured before it");
	w.hold_ms = 600000;
	is_int(follow_hold(&w, 61000), 10, "but may be longer");
}

static void test_queue(void)
{
	struct run r;

	run_begin(&r, QUEUED);
	is_int(run_minutes(&r, 5, 100, 0), 0, "without a queue a load is no reason to grow");
	is_int(run_minute(&r, 0, 3), 0, "one minute with a queue is none either");
	is_int(run_minute(&r, 0, 3), 1, "two are");
	is_str(r.f.why, "something waited for 2 minutes", "and are named");
	is_int(run_minutes(&r, 9, 100, 3), 1, "what came for the queue gets time to serve it");
	is_int(run_minutes(&r, 1, 100, 3), 2, "and then more comes: 1 * 100 / 50");
	is_int(run_minutes(&r, 20, 1, 1), 4, "while something waits nothing goes, whatever the load");
	is_int(run_minutes(&r, 12, 30, 0), 2, "when nothing waits demand follows the load, twice");
	is_int(run_minutes(&r, 4, 0, 0), 0, "down to the minimum");
	sense_workload_free(&r.workload);
}

static void test_dead(void)
{
	struct reading readings[2] = { { .dead = "no end within 5 s" }, { .value = 9 } };
	struct run r;

	run_begin(&r, QUEUED);
	r.demand = 4;
	r.has_last = true;
	run_minute(&r, 99, 1);
	r.f = (struct follow){ .workload = &r.workload, .readings = readings, .gpus = 4,
			       .minute = r.minute++, .has_last = true, .last = 4 };
	follow_minute(&r.f, &r.memory);
	is_int(r.f.demand, 4, "a dead sensor holds the demand");
	is_int(r.f.n_faults, 1, "and is one fault");
	is_str(r.f.faults[0], "sensor fdinfo is dead: no end within 5 s", "which names it");
	run_minute(&r, 99, 1);
	is_int(r.demand, 4, "minutes before it do not count as in a row");
	is_int(run_minute(&r, 99, 1), 8, "those behind it do");
	sense_workload_free(&r.workload);
}

static void test_lies(void)
{
	static const double lies[] = { NAN, -1, INFINITY, 101 };
	struct run r;
	size_t i;

	run_begin(&r, QUEUED);
	r.demand = 3;
	r.has_last = true;
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		is_int(run_minutes(&r, 5, lies[i], 5), 3, "what cannot be a load holds the demand");
		ok(strstr(r.f.why, "sensor fdinfo lies"), "and is named: %s", r.f.why);
	}
	run_minute(&r, 50, 2);
	is_int(run_minute(&r, 100, 250), 3, "a queue 100 times as long is not believed");
	ok(strstr(r.f.why, "lies: 250 after 2"), "and is named: %s", r.f.why);
	run_minute(&r, 100, 260);
	is_int(run_minute(&r, 100, 255), 6, "but when it stays it is");
	sense_workload_free(&r.workload);
}

static void refused(const char *name, const char *text, const char *why)
{
	struct sense_workload w;
	struct fault fault = { "" };
	int err = sense_workload_parse(name, text, strlen(text), &w, &fault);

	ok(err == -EINVAL && strstr(fault.text, why), "%s: %s", why, fault.text);
	sense_workload_free(&w);
}

static void test_files(void)
{
	struct sense_workload w;
	struct fault fault = { "" };
	const char *text = "# a service\nsensor = prometheus unix:/run/s.sock:/metrics m{a=\"b c\"}\n"
			   "measure = sum\ntarget = 2.5\nsensor = command /bin/echo 1 2\n"
			   "target = 1\nsensor = nvml sm\nmax = 4\nload-time = 90s\n";

	is_int(sense_workload_parse("x/serve-1", text, strlen(text), &w, &fault), 0, "a file");
	is_str(w.name, "serve-1", "is called as its workload");
	is_int(w.n, 3, "has sensors");
	is_str(w.sensors[0].words[1], "m{a=\"b c\"}", "a metric takes the rest of the line");
	ok(w.sensors[0].sum && !w.sensors[1].sum, "a sum, and a mean");
	is_int(w.sensors[1].n_words, 3, "a command has its words");
	ok(w.sensors[2].target > 69 && w.sensors[2].target < 71, "percents have a target");
	sense_workload_free(&w);
	refused("a/b.c", "sensor = fdinfo\nmax = 1\n", "called as its workload");
	refused("w", "", "sensor is missing");
	refused("w", "sensor = fdinfo\n", "max is missing");
	refused("w", "sensor = gpu\nmax = 1\n", "w:1: gpu: sensors are");
	refused("w", "sensor = nvml mem\nmax = 1\n", "nvml sm");
	refused("w", "sensor = command echo\nmax = 1\n", "whole path");
	refused("w", "sensor = prometheus https://x/ m\nmax = 1\n", "http://");
	refused("w", "target = 3\nmax = 1\n", "below the sensor");
	refused("w", "sensor = fdinfo\ntarget = 0\nmax = 1\n", "more than 0");
	refused("w", "sensor = fdinfo\nmeasure = sum\nmax = 1\n", "always a mean of GPUs");
	refused("w", "sensor = fdinfo\nmax = 3\nquantum = 2\n", "multiples of quantum");
	refused("w", "sensor = fdinfo\nmin = 3\nmax = 2\n", "min is more than max");
	refused("w", "sensor = fdinfo\nmax = 2\nmax = 2\n", "given twice");
	refused("w", "queue = fdinfo\nmax = 2\n", "does not count requests that wait");
	refused("w", "sensor = command /x\nmax = 2\n", "has no target");
	refused("w", "hold = 3\n", "write a time");
}

#define CLIENT(id, engine) \
	"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t" id "\n" engine

static double busy(const char *const *before, const char *const *after)
{
	struct fdinfo a = { NULL }, b = { NULL };
	double value;

	for (; *before; before++)
		fdinfo_add(&a, *before);
	for (; *after; after++)
		fdinfo_add(&b, *after);
	value = fdinfo_busy(&a, &b, "0000:03:00.0", 1000);
	fdinfo_free(&a);
	fdinfo_free(&b);
	return value;
}

#define BEFORE(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_fdinfo(void)
{
	const char *zero = CLIENT("7", "drm-engine-gfx:\t0 ns\ndrm-engine-dec:\t0 ns\n");
	const char *half = CLIENT("7", "drm-engine-gfx:\t500 ns\ndrm-engine-dec:\t100 ns\n");
	const char *other = CLIENT("8", "drm-engine-gfx:\t100 ns\n");
	const char *other2 = CLIENT("8", "drm-engine-gfx:\t300 ns\n");
	const char *two = CLIENT("9", "drm-engine-gfx:\t0 ns\ndrm-engine-capacity-gfx:\t2\n");
	const char *two2 = CLIENT("9", "drm-engine-gfx:\t500 ns\ndrm-engine-capacity-gfx:\t2\n");
	const char *xe = CLIENT("7", "drm-cycles-ccs:\t100\ndrm-total-cycles-ccs:\t1000\n");
	const char *xe2 = CLIENT("7", "drm-cycles-ccs:\t400\ndrm-total-cycles-ccs:\t2000\n");
	const char *mali = CLIENT("7", "drm-engine-frag:\t0 ns\ndrm-cycles-frag:\t900\n");
	const char *mali2 = CLIENT("7", "drm-engine-frag:\t250 ns\ndrm-cycles-frag:\t9900\n");

	is_near(busy(BEFORE(zero), BEFORE(half)), 50, 1e-9, "the busiest engine counts");
	is_near(busy(BEFORE(zero, zero), BEFORE(half, half)), 50, 1e-9,
		"several files of a client count once");
	is_near(busy(BEFORE(zero, other), BEFORE(half, other2)), 70, 1e-9, "clients add up");
	is_near(busy(BEFORE(zero), BEFORE(half, other2)), 50, 1e-9,
		"one that was not there before is not counted");
	is_near(busy(BEFORE(two), BEFORE(two2)), 25, 1e-9, "of two engines 500 ns are a quarter");
	is_near(busy(BEFORE(xe), BEFORE(xe2)), 30, 1e-9, "cycles of cycles");
	is_near(busy(BEFORE(mali), BEFORE(mali2)), 25, 1e-9, "cycles alone say nothing of time");
	ok(isnan(busy(BEFORE(half), BEFORE(zero))), "a counter that goes back is no number");
	is_near(busy(BEFORE("drm-pdev:\t0000:03:00.0\n"), BEFORE("pos: 0\n")), 0, 0,
		"without clients it is idle");
}

/* Files of a process as /proc has them. */
static void test_scan(void)
{
	char dir[] = "/tmp/sense_test.XXXXXX", *path, *fdinfo;
	struct fdinfo sample = { NULL };
	FILE *file;

	ok(mkdtemp(dir), "a folder");
	path = mem_printf("cd %s && mkdir -p 42/fd 42/fdinfo self/fd && "
			  "ln -s /dev/dri/renderD128 42/fd/5 && ln -s /etc/passwd 42/fd/6",
			  dir);
	is_int(system(path), 0, "a process");
	free(path);
	fdinfo = mem_printf("%s/42/fdinfo/5", dir);
	file = fopen(fdinfo, "w");
	fputs(CLIENT("7", "drm-engine-gfx:\t5 ns\n"), file);
	fclose(file);
	free(fdinfo);
	fdinfo_scan(&sample, dir);
	is_int(sample.n, 1, "one device node is open");
	ok(sample.n == 1 && sample.uses[0].ns == 5 && sample.uses[0].client == 7,
	   "and what was used of it is there");
	fdinfo_free(&sample);
	path = mem_printf("cd %s && mkdir -p 42/task && echo '42 (a) b) Z 1 1 1 0 -1 64' >42/stat && "
			  "mkdir 42/task/43 && mv 42/fd 42/fdinfo 42/task/43 && "
			  "echo '43 (a) b) S 1 1 1 0 -1 64' >42/task/43/stat",
			  dir);
	is_int(system(path), 0, "its first thread ends, and another goes on");
	free(path);
	fdinfo_scan(&sample, dir);
	ok(sample.n == 1 && sample.uses[0].client == 7, "what was used of it is there still");
	fdinfo_free(&sample);
	path = mem_printf("rm -rf %s", dir);
	is_int(system(path), 0, "gone");
	free(path);
}

/* A series whose clock was ahead. */
static void test_ahead(struct record *record)
{
	static const char four[] = "minute,quota_gpus,running_gpus,pending_gpus\n1001,8,2,0\n1002,8,2,0\n1003,8,2,0\n"
				   "1004,8,2,3\n";
	struct record_series series;
	struct fault fault = { "" };
	char *text = mem_strdup(four), *more;

	record_series_read(&series, "serve.csv", text, strlen(text), &fault);
	is_int((int)record_series_cut(&series, text, 1004), 0, "the last minute may be this one");
	is_int((int)record_series_cut(&series, text, 5000), 0, "or an earlier one");
	is_str(text, four, "which changes nothing");
	is_int((int)record_series_cut(&series, text, 1003), 2, "what is later goes, with this minute");
	ok(series.n == 2 && series.last == 1002 && series.demand == 5, "the demand was the last");
	record->minute = 1003;
	more = record_series_add(&series, text, 4, record);
	is_str(more, "minute,quota_gpus,running_gpus,pending_gpus\n1001,8,2,0\n1002,8,2,0\n1003,8,2,3\n",
	       "the series goes on");
	free(text);
	record_series_read(&series, "serve.csv", more, strlen(more), &fault);
	is_int((int)record_series_cut(&series, more, 7), 3, "all of it may be later");
	record->minute = 7;
	text = record_series_add(&series, more, 4, record);
	is_str(text, "minute,quota_gpus,running_gpus,pending_gpus\n7,8,2,3\n", "then it begins anew");
	free(text);
	free(more);
}

static void test_record(void)
{
	struct record_series series;
	struct record record, again;
	struct fault fault = { "" };
	struct run r;
	char *text, *more, *json;

	run_begin(&r, QUEUED);
	r.demand = 2;
	r.has_last = true;
	run_minute(&r, 25, 0);
	run_minute(&r, NO_NUMBER, 0);
	record_make(&record, &r.f, &r.memory);
	json = record_text(&record, &r.workload);
	is_int(record_read(&again, &r.workload, "j", json, strlen(json), &fault), 0, "a record");
	is_str(fault.text, "", "what was written can be read");
	ok(again.minute == 1001 && again.demand == 2 && again.n_faults == 1 &&
		   again.reason == FOLLOW_SENSOR &&
		   !strcmp(again.why, record.why),
	   "it says the same: %s", again.why);
	ok(again.memory.good[0] > 24 && again.memory.good[0] < 26 && !again.memory.good[1],
	   "and has the last good values");
	is_int(record_read(&again, NULL, "j", json, strlen(json), &fault), 0, "also for who shows it");
	ok(again.memory.good[0] < 0, "who needs no sensors");
	is_int(record_read(&again, NULL, "j", "{\"minute\":-1}", 13, &fault), -EINVAL, "nonsense");
	is_str(fault.text, "j:1:11: -1 is outside 0 to 1e+08", "is refused with its place");
	free(json);

	is_int(record_series_read(&series, "serve.csv", "", 0, &fault), 0, "no series yet");
	text = record_series_add(&series, "", 4, &record);
	is_str(text, "minute,quota_gpus,running_gpus,pending_gpus\n1001,8,2,0\n", "begins");
	is_int(record_series_read(&series, "serve.csv", text, strlen(text), &fault), 0, "is read");
	ok(series.n == 1 && series.last == 1001 && series.demand == 2, "its end is known");
	record.minute = 1004;
	record.demand = 5;
	more = record_series_add(&series, text, 4, &record);
	is_str(more,
	       "minute,quota_gpus,running_gpus,pending_gpus\n1001,8,2,0\n1002,8,2,0\n1003,8,2,0\n"
	       "1004,8,2,3\n",
	       "minutes that were missed are what they were");
	free(text);
	record_series_read(&series, "serve.csv", more, strlen(more), &fault);
	record.minute = 1005;
	text = record_series_add(&series, more, 2, &record);
	is_str(text, "minute,quota_gpus,running_gpus,pending_gpus\n1004,8,2,3\n1005,8,2,3\n",
	       "the oldest go");
	free(more);
	record_series_read(&series, "serve.csv", text, strlen(text), &fault);
	record.minute = 2000;
	more = record_series_add(&series, text, 4, &record);
	is_str(more, "minute,quota_gpus,running_gpus,pending_gpus\n2000,8,2,3\n",
	       "after a long time it begins anew");
	free(text);
	free(more);
	test_ahead(&record);
	sense_workload_free(&r.workload);
}

/* Is this a line of the text? */
static bool has_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	return at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}

static void test_metrics(void)
{
	char *names[] = { "serve", "batch" };
	struct record records[2];
	struct sense_shown shown = { names, records, 2 };
	struct text text = { 0 };
	struct run r;

	run_begin(&r, BUSY);
	run_minutes(&r, 2, 90.5, 0);
	record_make(&records[0], &r.f, &r.memory);
	run_minute(&r, NO_NUMBER, 0);
	record_make(&records[1], &r.f, &r.memory);
	sense_metrics(&text, &shown);
	ok(has_line(text.text, "gpufabric_workload_load{workload=\"serve\"} 90.5"), "a load");
	ok(has_line(text.text, "gpufabric_workload_target{workload=\"serve\"} 50"), "its target");
	ok(has_line(text.text, "gpufabric_workload_demand_gpus{workload=\"serve\"} 2"), "a demand");
	ok(has_line(text.text,
		    "gpufabric_workload_reason{workload=\"serve\",reason=\"samples\"} 1"),
	   "why it did not grow");
	ok(has_line(text.text, "gpufabric_workload_reason{workload=\"serve\",reason=\"held\"} 0"),
	   "and why not");
	ok(!strstr(text.text, "load{workload=\"batch\"}"), "what nobody said is absent");
	ok(has_line(text.text, "gpufabric_workload_sensor_faults{workload=\"batch\"} 1"),
	   "a sensor that lies counts");
	ok(has_line(text.text,
		    "gpufabric_workload_measured_timestamp_seconds{workload=\"batch\"} 60120"),
	   "a minute as a time");
	free(text.text);
	text = (struct text){ 0 };
	shown.n = 0;
	sense_metrics(&text, &shown);
	ok(!text.text, "without workloads nothing is added");
	sense_workload_free(&r.workload);
}

int main(void)
{
	test_steps();
	test_flapping();
	test_hold();
	test_clock();
	test_queue();
	test_dead();
	test_lies();
	test_files();
	test_fdinfo();
	test_scan();
	test_record();
	test_metrics();
	return tap_done();
}
