// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: sensors
 *
 * What needs a network or a library of a vendor is in a program of its own, which ends after one
 * answer: NVML holds GPUs as long as it is open, and who measures must never be the holder that
 * keeps a GPU from being detached. All programs run side by side, between the two samples of fdinfo.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/program.h"
#include "base/text.h"
#include "base/trust.h"
#include "sense/fdinfo.h"
#include "sense/gather.h"

#define OUTPUT_BYTES 4096
#define VALUE_BYTES 32
#define PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/**
 * struct asked - programs that are asked
 * @programs: @n of them
 * @readings: what each of them answers
 * @n: number of both
 */
struct asked {
	struct program *programs;
	struct reading **readings;
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void dead(struct reading *reading, const char *fmt,
						       ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reading->dead, sizeof(reading->dead), fmt, ap);
	va_end(ap);
	text_tame(reading->dead, false);
}

/* Words that strtod() takes and a number is not: hexadecimal ones. */
static bool is_decimal(const char *text)
{
	return !strpbrk(text, "xXpP");
}

void gather_number(const char *output, struct reading *reading)
{
	size_t n = output ? strlen(output) : 0, from;
	char *line, *end;

	*reading = (struct reading){ .value = 0 };
	while (n && strchr(" \t\r\n", output[n - 1]))
		n--;
	for (from = n; from && output[from - 1] != '\n';)
		from--;
	line = mem_printf("%.*s", (int)(n - from), n ? output + from : "");
	reading->value = strtod(line, &end);
	if (end == line || *end || !is_decimal(line))
		dead(reading, *line ? "\"%.80s\" is no number" : "it printed nothing", line);
	free(line);
}

/* argv is owned by who frees it, but for its last NULL. */
static void gather_ask(struct asked *asked, struct reading *reading, char **argv)
{
	static char *const env[] = { (char *)(uintptr_t)PATH, NULL };

	asked->programs = mem_push(asked->programs, asked->n, sizeof(*asked->programs));
	asked->readings = mem_push(asked->readings, asked->n, sizeof(*asked->readings));
	asked->programs[asked->n] = (struct program){
		.argv = argv,
		.env = env,
		.output_max = OUTPUT_BYTES,
	};
	asked->readings[asked->n++] = reading;
}

static void ask_probe(struct asked *asked, const struct gather_roots *roots, struct gathered *one,
		      size_t i)
{
	const struct sensor *sensor = &one->workload.sensors[i];
	char **argv = mem_zalloc(one->n_addresses + 6, sizeof(*argv));
	size_t n = 0, j;

	argv[n++] = mem_strdup(roots->probe);
	argv[n++] = mem_strdup(sensor_kind_names[sensor->kind]);
	if (sensor->kind == SENSOR_PROMETHEUS)
		argv[n++] = mem_strdup(sensor->sum ? "sum" : "mean");
	for (j = 0; j < sensor->n_words; j++)
		argv[n++] = mem_strdup(sensor->words[j]);
	for (j = 0; sensor->kind == SENSOR_NVML && j < one->n_addresses; j++)
		argv[n++] = mem_strdup(one->addresses[j]);
	gather_ask(asked, &one->readings[i], argv);
}

/* It runs with our rights, as hooks do. */
static void ask_command(struct asked *asked, struct gathered *one, size_t i)
{
	const struct sensor *sensor = &one->workload.sensors[i];
	struct fault fault = { "" };
	char **argv;
	size_t j;

	if (trust_path(sensor->words[0], &fault)) {
		dead(&one->readings[i], "%s", fault.text);
		return;
	}
	argv = mem_zalloc(sensor->n_words + 1, sizeof(*argv));
	for (j = 0; j < sensor->n_words; j++)
		argv[j] = mem_strdup(sensor->words[j]);
	gather_ask(asked, &one->readings[i], argv);
}

static void asked_take(struct asked *asked)
{
	const struct program_limits limits = { .timeout_ms = GATHER_MS };
	size_t i, j;

	programs_run(asked->programs, asked->n, &limits);
	for (i = 0; i < asked->n; i++) {
		struct program *program = &asked->programs[i];
		char *why;

		if (program_succeeded(program)) {
			gather_number(program->output, asked->readings[i]);
		} else {
			why = program_complaint(program, &limits);
			dead(asked->readings[i], "%s", why);
			free(why);
		}
		for (j = 0; program->argv[j]; j++)
			free(program->argv[j]);
		free((char **)(uintptr_t)program->argv);
		program_free(program);
	}
	free(asked->programs);
	free(asked->readings);
}

/* amdgpu's own figure, in percent; the mean of the GPUs. */
static void read_busy(const struct gather_roots *roots, const struct gathered *one,
		      struct reading *reading)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < one->n_addresses && !*reading->dead; i++) {
		char *path = mem_printf("%s/bus/pci/devices/%s/gpu_busy_percent", roots->sys,
					one->addresses[i]);
		char text[VALUE_BYTES] = "";
		FILE *file = fopen(path, "re");

		if (!file || !fgets(text, sizeof(text), file))
			dead(reading, "%s: %s", path, strerror(errno ? errno : EIO));
		else
			gather_number(text, reading);
		sum += reading->value;
		if (file)
			fclose(file);
		free(path);
	}
	reading->value = one->n_addresses ? sum / one->n_addresses : 0;
}

static void take_fdinfo(const struct gathered *one, const struct fdinfo *before,
			const struct fdinfo *after, uint64_t ns, struct reading *reading)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < one->n_addresses; i++)
		sum += fdinfo_busy(before, after, one->addresses[i], ns);
	reading->value = one->n_addresses ? sum / one->n_addresses : 0;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sensors that a program answers are put into @asked; is there one of fdinfo? */
static bool begin(const struct gather_roots *roots, struct gathered *one, struct asked *asked)
{
	bool counts = false;
	size_t i;

	for (i = 0; i < one->workload.n; i++) {
		one->readings[i] = (struct reading){ .value = 0 };
		switch (one->workload.sensors[i].kind) {
		case SENSOR_NVML:
			/* Without a GPU there is nothing to be busy. */
			if (one->n_addresses)
				ask_probe(asked, roots, one, i);
			break;
		case SENSOR_PROMETHEUS:
			ask_probe(asked, roots, one, i);
			break;
		case SENSOR_COMMAND:
			ask_command(asked, one, i);
			break;
		case SENSOR_AMDGPU:
			read_busy(roots, one, &one->readings[i]);
			break;
		default:
			counts = true;
		}
	}
	return counts;
}

void gather(const struct gather_roots *roots, struct gathered *all, size_t n)
{
	struct fdinfo before = { 0 }, after = { 0 };
	struct asked asked = { 0 };
	uint64_t from = 0, to = 0;
	bool counts = false;
	size_t i, j;

	for (i = 0; i < n; i++)
		counts |= begin(roots, &all[i], &asked);
	if (counts) {
		fdinfo_scan(&before, roots->proc);
		from = clock_ns();
	}
	asked_take(&asked);
	if (counts) {
		uint64_t ms = (clock_ns() - from) / 1000000;

		if (ms < GATHER_APART_MS)
			poll(NULL, 0, (int)(GATHER_APART_MS - ms));
		fdinfo_scan(&after, roots->proc);
		to = clock_ns();
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < all[i].workload.n; j++)
			if (all[i].workload.sensors[j].kind == SENSOR_FDINFO)
				take_fdinfo(&all[i], &before, &after, to - from,
					    &all[i].readings[j]);
	fdinfo_free(&before);
	fdinfo_free(&after);
}
