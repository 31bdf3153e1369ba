// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: metrics as text
 *
 *	# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
 *	vllm:num_requests_waiting{model_name="m",engine="0"} 3.0
 *
 * A line of another metric may have any form: who writes the page writes for others as well.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/exposition.h"

static size_t name_length(const char *text, bool colons)
{
	size_t n = 0;

	if (isdigit((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_' || (colons && text[n] == ':'))
		n++;
	return n;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* What stands between quotes, without its backslashes; NULL where the end is missing. */
static char *quoted(const char **at)
{
	struct text value = { 0 };
	const char *c = *at;

	if (*c++ != '"')
		return NULL;
	text_add(&value, "%s", "");
	for (; *c && *c != '"' && *c != '\n'; c++) {
		char one = *c;

		if (one == '\\' && c[1] && c[1] != '\n')
			one = *++c == 'n' ? '\n' : *c;
		text_add(&value, "%c", one);
	}
	if (*c != '"') {
		free(value.text);
		return NULL;
	}
	*at = c + 1;
	return value.text;
}

/* The next label behind "{" or ","; false at the end or at a mistake, which @wrong says. */
static bool next_label(const char **at, struct exposition_label *label, bool *wrong)
{
	size_t n;

	*at = skip_blanks(*at);
	if (**at == '}') {
		(*at)++;
		return false;
	}
	n = name_length(*at, false);
	*wrong = true;
	if (!n)
		return false;
	label->name = mem_printf("%.*s", (int)n, *at);
	*at = skip_blanks(*at + n);
	if (**at == '=') {
		*at = skip_blanks(*at + 1);
		label->value = quoted(at);
	}
	if (!label->value) {
		free(label->name);
		label->name = NULL;
		return false;
	}
	*at = skip_blanks(*at);
	if (**at == ',')
		(*at)++;
	*wrong = **at != '}' && (*at)[-1] != ',';
	return true;
}

static void label_free(struct exposition_label *label)
{
	free(label->name);
	free(label->value);
	*label = (struct exposition_label){ 0 };
}

int exposition_metric_read(struct exposition_metric *metric, const char *text, struct fault *f)
{
	size_t n = name_length(text, true);
	const char *at = skip_blanks(text + n);
	struct exposition_label label = { 0 };
	bool wrong = false;

	memset(metric, 0, sizeof(*metric));
	metric->name = mem_printf("%.*s", (int)n, text);
	if (*at == '{') {
		at++;
		while (!wrong && metric->n < EXPOSITION_LABELS_MAX &&
		       next_label(&at, &label, &wrong)) {
			metric->labels[metric->n++] = label;
			label = (struct exposition_label){ 0 };
		}
		wrong |= metric->n == EXPOSITION_LABELS_MAX;
	}
	if (!n || wrong || *skip_blanks(at))
		return fault_set(f, EINVAL,
				 "\"%.200s\": write METRIC or METRIC{LABEL=\"VALUE\",...}", text);
	return 0;
}

void exposition_metric_free(struct exposition_metric *metric)
{
	while (metric->n)
		label_free(&metric->labels[--metric->n]);
	free(metric->name);
	metric->name = NULL;
}

/* Does the line have all labels that are wanted? @at: behind its name; then behind its labels. */
static bool labels_match(const struct exposition_metric *metric, const char **at, bool *wrong)
{
	struct exposition_label label = { 0 };
	size_t matched = 0, i;

	*at = skip_blanks(*at);
	if (**at != '{')
		return !metric->n;
	(*at)++;
	*wrong = false;
	while (!*wrong && next_label(at, &label, wrong)) {
		for (i = 0; i < metric->n; i++)
			matched += !strcmp(label.name, metric->labels[i].name) &&
				   !strcmp(label.value, metric->labels[i].value);
		label_free(&label);
	}
	return matched >= metric->n;
}

static bool take_value(const char *at, double *value)
{
	char *end;

	at = skip_blanks(at);
	if (*at == '\n')
		return false;
	*value = strtod(at, &end);
	/* A time may stand behind it. */
	return end != at && (!*end || strchr(" \t\r\n", *end));
}

int exposition_find(const char *text, const struct exposition_metric *metric, bool sum,
		    double *value, struct fault *f)
{
	size_t n = strlen(metric->name), found = 0, number = 0;
	const char *line, *next, *at;
	double one;

	*value = 0;
	for (line = text; line && *line; line = next) {
		bool wrong = false;

		number++;
		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		if (strncmp(line, metric->name, n) || name_length(line, true) != n)
			continue;
		at = line + n;
		if (!labels_match(metric, &at, &wrong) && !wrong)
			continue;
		if (wrong || !take_value(at, &one))
			return fault_set(f, EINVAL, "line %zu of the page is no metric", number);
		*value += one;
		found++;
	}
	if (!found)
		return fault_set(f, ENOENT, "the page has no such metric");
	if (!sum)
		*value /= (double)found;
	return 0;
}
