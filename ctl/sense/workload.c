// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: files of workloads.d
 *
 *	sensor = prometheus http://127.0.0.1:8000/metrics vllm:num_requests_running
 *	measure = sum
 *	target = 16
 *	queue = prometheus http://127.0.0.1:8000/metrics vllm:num_requests_waiting
 *	min = 2
 *	max = 8
 *	quantum = 2
 *
 * A target and a measure belong to the sensor above them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/text.h"
#include "sense/workload.h"

#define TARGET_MAX 1000000000
#define HOLD_MAX_MS (24ull * 3600 * 1000)
#define QUANTUM 1
#define SAMPLES 3
#define HOLD_MS 300000
#define WORDS_MAX 32

const char *const sensor_kind_names[SENSOR_KINDS] = {
	[SENSOR_PROMETHEUS] = "prometheus", [SENSOR_FDINFO] = "fdinfo",
	[SENSOR_AMDGPU] = "amdgpu",	    [SENSOR_NVML] = "nvml",
	[SENSOR_COMMAND] = "command",
};

/* What a busy GPU is aimed at, in percent, where the file does not say. */
#define TARGET_PERCENT 70

/* Keys that may stand once. */
enum sense_once {
	ONCE_MIN,
	ONCE_MAX,
	ONCE_QUANTUM,
	ONCE_SAMPLES,
	ONCE_HOLD,
	ONCE_LOAD,
	ONCES
};

static const char *const sense_once_keys[ONCES] = {
	"min", "max", "quantum", "samples", "hold", "load-time",
};

/**
 * struct sense_reading - a file that is read
 * @workload: what it becomes
 * @seen: lines of the keys that may stand once
 * @measured: the last sensor has its measure
 */
struct sense_reading {
	struct sense_workload *workload;
	unsigned int seen[ONCES];
	bool measured;
};

bool sense_is_name(const char *name)
{
	return text_name_valid(name) && !strchr(name, '.');
}

static void sensor_free(struct sensor *sensor)
{
	size_t i;

	for (i = 0; i < sensor->n_words; i++)
		free(sensor->words[i]);
	free(sensor->words);
	free(sensor->text);
	memset(sensor, 0, sizeof(*sensor));
}

/* Words at blanks; the last of @most takes the rest of the line. */
static int sensor_split(struct sensor *sensor, const char *text, size_t most, struct fault *f)
{
	sensor->words = mem_zalloc(WORDS_MAX + 1, sizeof(*sensor->words));
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t n = sensor->n_words + 1 == most ? strlen(text) : strcspn(text, " \t");

		if (sensor->n_words == WORDS_MAX)
			return fault_set(f, EINVAL, "more than %d words", WORDS_MAX);
		sensor->words[sensor->n_words++] = mem_printf("%.*s", (int)n, text);
		text += n;
	}
	return 0;
}

static bool is_one_of(const struct sensor *sensor, const char *const *words)
{
	size_t i;

	for (i = 0; words[i]; i++)
		if (sensor->n_words == 1 && !strcmp(sensor->words[0], words[i]))
			return true;
	return false;
}

static int check_prometheus(const struct sensor *sensor, struct fault *f)
{
	if (sensor->n_words != 2)
		return fault_set(f, EINVAL, "prometheus needs an address and a metric");
	if (strncmp(sensor->words[0], "http://", 7) && strncmp(sensor->words[0], "unix:/", 6))
		return fault_set(f, EINVAL, "%s: write http://HOST:PORT/PATH or unix:SOCKET:/PATH",
				 sensor->words[0]);
	return 0;
}

static int check_words(const struct sensor *sensor, struct fault *f)
{
	static const char *const amdgpu[] = { "busy", NULL };
	static const char *const nvml[] = { "sm", "util", NULL };

	switch (sensor->kind) {
	case SENSOR_PROMETHEUS:
		return check_prometheus(sensor, f);
	case SENSOR_FDINFO:
		return sensor->n_words ? fault_set(f, EINVAL, "fdinfo takes no words") : 0;
	case SENSOR_AMDGPU:
		return is_one_of(sensor, amdgpu) ?
			       0 :
			       fault_set(f, EINVAL, "amdgpu: write amdgpu busy");
	case SENSOR_NVML:
		return is_one_of(sensor, nvml) ?
			       0 :
			       fault_set(f, EINVAL, "nvml: write nvml sm or nvml util");
	default:
		if (!sensor->n_words || *sensor->words[0] != '/')
			return fault_set(f, EINVAL, "command needs the whole path of a program");
		return 0;
	}
}

static int take_sensor(struct sense_reading *r, const char *value, bool queue, struct fault *f)
{
	struct sense_workload *w = r->workload;
	struct sensor *sensor;
	size_t n = strcspn(value, " \t"), kind;

	for (kind = 0; kind < SENSOR_KINDS; kind++)
		if (strlen(sensor_kind_names[kind]) == n &&
		    !strncmp(value, sensor_kind_names[kind], n))
			break;
	if (kind == SENSOR_KINDS)
		return fault_set(f, EINVAL,
				 "%.*s: sensors are prometheus, fdinfo, amdgpu, nvml and command",
				 (int)n, value);
	if (queue && kind != SENSOR_PROMETHEUS && kind != SENSOR_COMMAND)
		return fault_set(f, EINVAL, "queue: %s does not count requests that wait",
				 sensor_kind_names[kind]);
	if (queue && w->has_queue)
		return fault_set(f, EINVAL, "queue is given twice");
	if (w->n == SENSE_SENSORS_MAX)
		return fault_set(f, EINVAL, "more than %d sensors", SENSE_SENSORS_MAX);
	sensor = &w->sensors[w->n++];
	*sensor = (struct sensor){ .kind = (enum sensor_kind)kind, .queue = queue, .sum = queue };
	sensor->text = mem_strdup(value);
	w->has_queue |= queue;
	r->measured = false;
	if (sensor_split(sensor, value + n, kind == SENSOR_PROMETHEUS ? 2 : 0, f))
		return -EINVAL;
	return check_words(sensor, f);
}

/* The sensor that a target or a measure is for. */
static struct sensor *last_load(const struct sense_reading *r, const char *key, struct fault *f)
{
	struct sense_workload *w = r->workload;

	if (w->n && !w->sensors[w->n - 1].queue)
		return &w->sensors[w->n - 1];
	fault_set(f, EINVAL, "%s belongs below the sensor that it is for", key);
	return NULL;
}

static int take_target(struct sense_reading *r, const char *value, struct fault *f)
{
	struct sensor *sensor = last_load(r, "target", f);
	double target;

	if (!sensor)
		return -EINVAL;
	if (sensor->target > 0)
		return fault_set(f, EINVAL, "this sensor has a target already");
	if (conf_decimal(value, 0, TARGET_MAX, &target, f))
		return -EINVAL;
	if (target <= 0)
		return fault_set(f, EINVAL, "target must be more than 0");
	sensor->target = target;
	return 0;
}

static int take_measure(struct sense_reading *r, const char *value, struct fault *f)
{
	struct sensor *sensor = last_load(r, "measure", f);

	if (!sensor)
		return -EINVAL;
	if (r->measured)
		return fault_set(f, EINVAL, "this sensor has a measure already");
	if (sensor->kind != SENSOR_PROMETHEUS && sensor->kind != SENSOR_COMMAND)
		return fault_set(f, EINVAL, "%s is always a mean of GPUs: leave measure out",
				 sensor_kind_names[sensor->kind]);
	if (strcmp(value, "mean") && strcmp(value, "sum"))
		return fault_set(f, EINVAL, "measure: write mean or sum");
	sensor->sum = *value == 's';
	r->measured = true;
	return 0;
}

static int take_number(const char *value, uint32_t least, uint32_t most, uint32_t *number,
		       struct fault *f)
{
	unsigned long long n;

	if (conf_whole(value, least, most, &n, f))
		return -EINVAL;
	*number = (uint32_t)n;
	return 0;
}

static int take_time(const char *value, uint64_t *ms, struct fault *f)
{
	if (!text_parse_duration(value, ms) || *ms > HOLD_MAX_MS)
		return fault_set(f, EINVAL, "%s: write a time of up to 1d, such as 5min", value);
	return 0;
}

static int sense_take_once(struct sense_reading *r, enum sense_once once, const char *value,
			   struct fault *f)
{
	struct sense_workload *w = r->workload;

	switch (once) {
	case ONCE_MIN:
		return take_number(value, 0, SENSE_GPUS_MAX, &w->min, f);
	case ONCE_MAX:
		return take_number(value, 1, SENSE_GPUS_MAX, &w->max, f);
	case ONCE_QUANTUM:
		return take_number(value, 1, SENSE_GPUS_MAX, &w->quantum, f);
	case ONCE_SAMPLES:
		return take_number(value, 1, SENSE_SAMPLES_MAX, &w->samples, f);
	case ONCE_HOLD:
		return take_time(value, &w->hold_ms, f);
	default:
		return take_time(value, &w->load_ms, f);
	}
}

static int sense_take(const struct conf_item *item, void *arg, struct fault *f)
{
	struct sense_reading *r = arg;
	size_t i;

	if (!strcmp(item->key, "sensor"))
		return take_sensor(r, item->value, false, f);
	if (!strcmp(item->key, "queue"))
		return take_sensor(r, item->value, true, f);
	if (!strcmp(item->key, "target"))
		return take_target(r, item->value, f);
	if (!strcmp(item->key, "measure"))
		return take_measure(r, item->value, f);
	for (i = 0; i < ONCES; i++)
		if (!strcmp(item->key, sense_once_keys[i]))
			break;
	if (i == ONCES)
		return fault_set(f, EINVAL,
				 "unknown key \"%s\": the keys are sensor, target, measure, queue, min, max, quantum, samples, hold and load-time",
				 item->key);
	if (r->seen[i])
		return fault_set(f, EINVAL, "%s is given twice", item->key);
	r->seen[i] = item->line;
	return sense_take_once(r, (enum sense_once)i, item->value, f);
}

/* What belongs together. */
static int sense_check(const struct sense_reading *r, const char *file, struct fault *f)
{
	struct sense_workload *w = r->workload;
	size_t i;

	if (!w->n)
		return fault_set(f, EINVAL, "%s: sensor is missing", file);
	if (!r->seen[ONCE_MAX])
		return fault_set(f, EINVAL, "%s: max is missing", file);
	if (w->min > w->max)
		return fault_set(f, EINVAL, "%s: min is more than max", file);
	if (w->min % w->quantum || w->max % w->quantum)
		return fault_set(f, EINVAL, "%s: min and max are multiples of quantum", file);
	for (i = 0; i < w->n; i++) {
		struct sensor *s = &w->sensors[i];

		if (s->queue || s->target > 0)
			continue;
		if (s->kind == SENSOR_PROMETHEUS || s->kind == SENSOR_COMMAND)
			return fault_set(f, EINVAL, "%s: sensor %s has no target", file, s->text);
		s->target = TARGET_PERCENT;
	}
	return 0;
}

int sense_workload_parse(const char *file, const char *text, size_t len,
			 struct sense_workload *workload, struct fault *f)
{
	struct sense_reading r = { .workload = workload };
	const char *base = strrchr(file, '/');
	int err;

	base = base ? base + 1 : file;
	*workload = (struct sense_workload){
		.name = mem_strdup(base),
		.quantum = QUANTUM,
		.samples = SAMPLES,
		.hold_ms = HOLD_MS,
	};
	if (!sense_is_name(base))
		return fault_set(f, EINVAL,
				 "%.200s: a file is called as its workload: letters, digits, _ and -, a letter first",
				 file);
	err = conf_parse_keys(file, text, len, sense_take, &r, f);
	return err ? err : sense_check(&r, file, f);
}

void sense_workload_free(struct sense_workload *workload)
{
	size_t i;

	for (i = 0; i < workload->n; i++)
		sensor_free(&workload->sensors[i]);
	free(workload->name);
	memset(workload, 0, sizeof(*workload));
}
