// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: files of workloads
 *
 * workloads.d/NAME says how a workload is measured. FOLDER/NAME.csv is its demand, minute by
 * minute, as the planner reads it, and FOLDER/NAME.json what the next minute has to know. The second is
 * written first: a change that is remembered and not in the series is one that holds for longer.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf_dir.h"
#include "base/replace.h"
#include "base/trust.h"
#include "sense/files.h"

#define MODE 0644
#define SERIES_BYTES (64u << 20)
#define SUFFIX ".conf"

/* Names with dots and the like are what editors and packages leave behind. */
static int is_workload(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return sense_is_name(entry->d_name) ||
	       (n > strlen(SUFFIX) && *entry->d_name != '.' &&
		!strcmp(entry->d_name + n - strlen(SUFFIX), SUFFIX));
}

int sense_names(struct ctl_ctx *ctx, char ***names, size_t *n)
{
	char *dir = mem_printf("%s/workloads.d", ctx->config_dir);
	struct dirent **entries = NULL;
	int found = scandir(dir, &entries, is_workload, alphasort), i, ret = CTL_DONE;

	*names = NULL;
	*n = 0;
	if (found < 0 && errno != ENOENT)
		ret = ctl_fail(ctx, CTL_FAILED, "%s: %s", dir, strerror(errno));
	for (i = 0; i < found; i++) {
		*names = mem_push(*names, *n, sizeof(**names));
		(*names)[(*n)++] = mem_strdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	free(dir);
	return ret;
}

void sense_names_free(char **names, size_t n)
{
	while (n)
		free(names[--n]);
	free(names);
}

static int files_parse(const char *file, const char *text, size_t len, void *arg, struct fault *f)
{
	return sense_workload_parse(file, text, len, arg, f);
}

int sense_workload_read(struct ctl_ctx *ctx, const char *name, struct sense_workload *workload)
{
	char *path = mem_printf("%s/workloads.d/%s", ctx->config_dir, name);
	struct fault fault = { "" };
	int err, ret = CTL_DONE;

	memset(workload, 0, sizeof(*workload));
	err = trust_path(path, &fault);
	if (err == -EPERM)
		ret = ctl_fail(ctx, CTL_DENIED, "%s is not used: %s", path, fault.text);
	else if (err)
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	if (!ret && conf_file_read(path, files_parse, workload, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	free(path);
	return ret;
}

/* The whole file, "" where there is none; NULL with errno. The caller frees. */
static char *files_text(const char *path, size_t most)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 4096, len = 0, n = 1;
	int err;

	if (!file)
		return errno == ENOENT ? mem_strdup("") : NULL;
	while (n && len <= most) {
		room *= 2;
		text = mem_grow(text, room + 1, 1);
		n = fread(text + len, 1, room - len, file);
		len += n;
	}
	err = ferror(file) ? EIO : len > most ? EFBIG : 0;
	fclose(file);
	text[len] = '\0';
	if (!err)
		return text;
	free(text);
	errno = err;
	return NULL;
}

int sense_record_read(struct ctl_ctx *ctx, const char *folder,
		      const struct sense_workload *workload, struct record *record,
		      struct record_series *series, char **text)
{
	char *csv = mem_printf("%s/%s.csv", folder, workload->name);
	char *json = mem_printf("%s/%s.json", folder, workload->name), *last;
	struct fault fault = { "" };
	int ret = CTL_DONE;

	*text = files_text(csv, SERIES_BYTES);
	if (!*text)
		ret = ctl_fail(ctx, CTL_FAILED, "%s: %s", csv, strerror(errno));
	else if (record_series_read(series, csv, *text, strlen(*text), &fault))
		ret = ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	last = files_text(json, RECORD_FILE_MAX);
	if (!last || !*last || record_read(record, workload, json, last, strlen(last), &fault)) {
		if (!last)
			ctl_warn(ctx, "%s: %s", json, strerror(errno));
		else if (*last)
			ctl_warn(ctx, "%s: gpuctl starts without the past values of sensors",
				 fault.text);
		memset(record, 0, sizeof(*record));
		follow_forget(&record->memory);
	}
	free(last);
	free(json);
	free(csv);
	return ret;
}

static int files_replace(struct ctl_ctx *ctx, const char *path, const char *text)
{
	int err = replace_file(path, text, MODE);

	return err ? ctl_fail(ctx, CTL_FAILED, "%s: %s", path, replace_error(err)) : CTL_DONE;
}

int sense_record_write(struct ctl_ctx *ctx, const char *folder,
		       const struct sense_workload *workload, const struct record *record,
		       const char *series)
{
	char *csv = mem_printf("%s/%s.csv", folder, workload->name);
	char *json = mem_printf("%s/%s.json", folder, workload->name);
	char *text = record_text(record, workload);
	int ret = files_replace(ctx, json, text);

	if (!ret)
		ret = files_replace(ctx, csv, series);
	free(text);
	free(json);
	free(csv);
	return ret;
}

static bool shown_read(const char *name, struct record *record)
{
	char *json = mem_printf(SENSE_FOLDER "/%s.json", name);
	char *text = files_text(json, RECORD_FILE_MAX);
	struct fault fault = { "" };
	bool found = text && *text && !record_read(record, NULL, json, text, strlen(text), &fault);

	free(text);
	free(json);
	return found;
}

void sense_show(const char *config_dir, struct sense_shown *shown)
{
	char *dir = mem_printf("%s/workloads.d", config_dir);
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, is_workload, alphasort), i;
	struct record record;

	memset(shown, 0, sizeof(*shown));
	for (i = 0; i < n; i++) {
		if (sense_is_name(entries[i]->d_name) && shown_read(entries[i]->d_name, &record)) {
			shown->names = mem_push(shown->names, shown->n, sizeof(*shown->names));
			shown->records =
				mem_push(shown->records, shown->n, sizeof(*shown->records));
			shown->names[shown->n] = mem_strdup(entries[i]->d_name);
			shown->records[shown->n++] = record;
		}
		free(entries[i]);
	}
	free(entries);
	free(dir);
}

void sense_shown_free(struct sense_shown *shown)
{
	sense_names_free(shown->names, shown->n);
	free(shown->records);
	memset(shown, 0, sizeof(*shown));
}

const struct record *sense_shown_find(const struct sense_shown *shown, const char *name)
{
	size_t i;

	for (i = 0; i < shown->n; i++)
		if (!strcmp(shown->names[i], name))
			return &shown->records[i];
	return NULL;
}
