// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: memory lines of logs
 *
 * Each known line is a phrase, then a number with a unit. Lines are cut out
 * one at a time, so that a log of any length and content can be fed. Decimal
 * units are taken as printed: GB of vLLM and PyTorch are GiB in truth.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

#define LINE_KEPT 1024

enum what {
	WHAT_ALLOCATED,
	WHAT_RESERVED,
	WHAT_WEIGHTS,
	WHAT_KV,
	WHAT_WORK
};

/**
 * struct phrase - a line that says something
 * @text: what stands before the number
 * @sum: lines of several devices add up
 */
static const struct phrase {
	const char *text;
	enum what what;
	int sum;
} phrases[] = {
	/* PyTorch: out of memory; torchtune, torchtitan, LitGPT, Trainer */
	{ "Of the allocated memory ", WHAT_ALLOCATED, 0 },
	{ "max_memory_allocated: ", WHAT_ALLOCATED, 0 },
	{ "max_memory_reserved: ", WHAT_RESERVED, 0 },
	{ "peak_memory_alloc:", WHAT_ALLOCATED, 0 },
	{ "peak_memory_reserved:", WHAT_RESERVED, 0 },
	{ "Memory used: ", WHAT_ALLOCATED, 0 },
	{ " memory: ", WHAT_RESERVED, 0 },
	/* vLLM */
	{ "Loading model weights took ", WHAT_WEIGHTS, 0 },
	{ "Model loading took ", WHAT_WEIGHTS, 0 },
	{ "model weights take ", WHAT_WEIGHTS, 0 },
	{ "PyTorch activation peak memory takes ", WHAT_WORK, 0 },
	/* llama.cpp */
	{ " model buffer size = ", WHAT_WEIGHTS, 1 },
	{ " KV buffer size = ", WHAT_KV, 1 },
	{ " compute buffer size = ", WHAT_WORK, 1 },
};

/* "14.96 GiB", "4095.05 MiB", "12.6GB", or bytes; 0 if it is none. */
static double amount(const char *s)
{
	static const char units[] = "KMGT";
	const char *unit;
	double n = 0, scale = 1;

	while (*s == ' ')
		s++;
	if (!isdigit((unsigned char)*s))
		return 0;
	for (; isdigit((unsigned char)*s); s++)
		n = n * 10 + (*s - '0');
	if (*s == '.')
		for (s++; isdigit((unsigned char)*s); s++)
			n += (*s - '0') * (scale /= 10);
	while (*s == ' ')
		s++;
	for (scale = 1, unit = units; *unit; unit++) {
		scale *= 1024;
		if (toupper((unsigned char)*s) == *unit)
			return n * scale;
	}
	/* bytes, or torchtune's GiB without a word */
	return n < 4096 ? n * 1024 * 1024 * 1024 : n;
}

static void one_line(const char *line, struct size_log *log)
{
	double *const to[] = {
		[WHAT_ALLOCATED] = &log->allocated, [WHAT_RESERVED] = &log->reserved,
		[WHAT_WEIGHTS] = &log->weights,	    [WHAT_KV] = &log->kv,
		[WHAT_WORK] = &log->work,
	};
	const char *at;
	size_t i;
	double n;

	for (i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		at = strstr(line, phrases[i].text);
		n = at ? amount(at + strlen(phrases[i].text)) : 0;
		/* no GPU has so much, nor so little */
		if (n < 1024 * 1024 || n > 1e15)
			continue;
		/* buffers on the host are not ours */
		if (phrases[i].sum && (strstr(line, "CPU") || strstr(line, "Host")))
			continue;
		if (phrases[i].sum)
			*to[phrases[i].what] += n;
		else if (n > *to[phrases[i].what] || phrases[i].what == WHAT_WEIGHTS)
			*to[phrases[i].what] = n;
		log->lines++;
	}
}

void size_log_parse(const char *text, size_t len, struct size_log *log)
{
	char line[LINE_KEPT];
	const char *end = text + len;

	memset(log, 0, sizeof(*log));
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((nl ? nl : end) - text);
		size_t kept = n < LINE_KEPT - 1 ? n : LINE_KEPT - 1;

		memcpy(line, text, kept);
		line[kept] = '\0';
		one_line(line, log);
		text += n + (nl ? 1 : 0);
	}
}
