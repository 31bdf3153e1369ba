// SPDX-License-Identifier: GPL-2.0-only
/* Lines of squeue, and of scontrol -o: pairs KEY=VALUE with blanks between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "slurm/check.h"
#include "slurm/licences.h"

/* The value of a key in one line, and its length; NULL for none. */
static const char *pair_value(const char *line, const char *key, size_t *len)
{
	const size_t key_len = strlen(key), all = strcspn(line, "\n");
	const char *at = line, *end = line + all;

	while (at < end) {
		size_t word = strcspn(at, "\n ");

		if (word > key_len && at[key_len] == '=' && !strncmp(at, key, key_len)) {
			*len = word - key_len - 1;
			return at + key_len + 1;
		}
		at += word + 1;
	}
	return NULL;
}

static long long pair_number(const char *line, const char *key)
{
	size_t len;
	const char *value = pair_value(line, key, &len);

	return value ? strtoll(value, NULL, 10) : 0;
}

/* One of "gf_h100:4,gf_l40s,other:2". */
static int licence_take(const char *item, size_t len, struct licence_job *job, struct fault *f)
{
	const size_t prefix = strlen(SLURM_LICENCE);
	char *text = mem_printf("%.*s", (int)len, item), *colon = strchr(text, ':'), *others;
	uint64_t count = 1;
	int err = 0;

	if (strncmp(text, SLURM_LICENCE, prefix)) {
		others = job->others ? mem_printf("%s,%s", job->others, text) : mem_strdup(text);
		free(job->others);
		job->others = others;
		goto out;
	}
	if (colon)
		*colon++ = '\0';
	if (*job->kind) {
		err = fault_set(f, EINVAL, "the job has GPUs of several kinds");
	} else if ((colon && !text_number(colon, UINT32_MAX, &count)) ||
		   strlen(text + prefix) >= LICENCE_KIND_MAX || !text[prefix]) {
		err = fault_set(f, EINVAL, "cannot read the job's licences");
	} else {
		strcpy(job->kind, text + prefix);
		job->count = (unsigned int)count;
	}
out:
	free(text);
	return err;
}

/* The next field of a line that ends with @end, and its length. */
static const char *field_next(const char **at, const char *end, size_t *len)
{
	const char *field = *at;

	*len = strcspn(field, "|\n");
	if (*len > (size_t)(end - field))
		*len = (size_t)(end - field);
	*at = field + *len < end ? field + *len + 1 : end;
	return field;
}

/* @line is of the job with that id; its list of licences, and the end of the line. */
static const char *line_read(const char *line, const char *id, struct licence_job *job,
			     const char **end)
{
	const char *at = line, *field;
	size_t len;

	*end = line + strcspn(line, "\n");
	field = field_next(&at, *end, &len);
	if (len != strlen(id) || strncmp(field, id, len))
		return NULL;
	field = field_next(&at, *end, &len);
	if (!len || len >= sizeof(job->address))
		return NULL;
	memcpy(job->address, field, len);
	job->address[len] = '\0';
	field = field_next(&at, *end, &len);
	job->nodes = (unsigned int)strtoul(field, NULL, 10);
	return at;
}

int licence_job_read(const char *text, const char *id, struct licence_job *job, struct fault *f)
{
	const char *value = NULL, *end = text, *line;
	int err = 0;

	memset(job, 0, sizeof(*job));
	for (line = text; *line && !value; line = end + (*end == '\n'))
		value = line_read(line, id, job, &end);
	if (!value)
		return fault_set(f, ENOENT, "Slurm has no such job now");
	while (value < end && !err) {
		size_t item = strcspn(value, ",\n");

		err = licence_take(value, item, job, f);
		value += item + 1;
	}
	if (!err && !*job->kind)
		err = fault_set(f, ENOENT, "the job has no licences " SLURM_LICENCE "KIND");
	if (err)
		licence_job_free(job);
	return err;
}

void licence_job_free(struct licence_job *job)
{
	free(job->others);
	job->others = NULL;
}

char *licence_job_text(const struct licence_job *job, unsigned int count)
{
	return mem_printf("%s%s" SLURM_LICENCE "%s:%u", job->others ? job->others : "",
			  job->others ? "," : "", job->kind, count);
}

bool licence_left(const char *text, const char *kind, long long *left)
{
	char *name = mem_printf(SLURM_LICENCE "%s", kind);
	bool found = false;
	const char *line;
	size_t len;

	for (line = text; line && *line && !found; line = strchr(line, '\n')) {
		const char *value;

		line += *line == '\n';
		value = pair_value(line, "LicenseName", &len);
		found = value && len == strlen(name) && !strncmp(value, name, len);
		if (found)
			*left = pair_number(line, "Total") - pair_number(line, "Used") -
				pair_number(line, "Reserved");
	}
	free(name);
	return found;
}
