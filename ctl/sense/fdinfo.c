// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: fdinfo
 *
 * Counters of a client only grow, so what was used is the difference of two samples. A client that
 * was not there before is not counted: from when its counter is, nobody knows. A file without the
 * number of a client is not counted either, since nothing says which file of the other sample it is.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "host/process.h"
#include "sense/fdinfo.h"

#define FDINFO_BYTES 16384
#define CAPACITY_MAX 1024

/* The value of "key: value" as far as a blank, when the line has this key. */
static const char *value_after(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) || line[n] != ':')
		return NULL;
	return line + n + 1 + strspn(line + n + 1, " \t");
}

/* What follows @prefix in the key of a line, as a word; its value. */
static const char *named_after(const char *line, const char *prefix, char name[FDINFO_WORD])
{
	size_t n = strlen(prefix), len;

	if (strncmp(line, prefix, n))
		return NULL;
	len = strcspn(line + n, ":\n");
	if (!len || len >= FDINFO_WORD || line[n + len] != ':')
		return NULL;
	memcpy(name, line + n, len);
	name[len] = '\0';
	line += n + len + 1;
	return line + strspn(line, " \t");
}

static uint64_t fdinfo_number(const char *value)
{
	return strtoull(value, NULL, 10);
}

static struct fdinfo_use *fdinfo_find(const struct fdinfo *sample, const struct fdinfo_use *like)
{
	size_t i;

	for (i = 0; i < sample->n; i++)
		if (sample->uses[i].client == like->client &&
		    !strcmp(sample->uses[i].address, like->address) &&
		    !strcmp(sample->uses[i].engine, like->engine))
			return &sample->uses[i];
	return NULL;
}

/* The entry of an engine among those of this file, which begin at @from. */
static struct fdinfo_use *fdinfo_engine(struct fdinfo *sample, size_t from, const char *engine)
{
	size_t i;

	for (i = from; i < sample->n; i++)
		if (!strcmp(sample->uses[i].engine, engine))
			return &sample->uses[i];
	sample->uses = mem_push(sample->uses, sample->n, sizeof(*sample->uses));
	memset(&sample->uses[sample->n], 0, sizeof(*sample->uses));
	snprintf(sample->uses[sample->n].engine, FDINFO_WORD, "%s", engine);
	sample->uses[sample->n].capacity = 1;
	return &sample->uses[sample->n++];
}

static void fdinfo_line(struct fdinfo *sample, size_t from, const char *line)
{
	char name[FDINFO_WORD];
	const char *value;
	uint64_t number;

	value = named_after(line, "drm-engine-capacity-", name);
	if (value) {
		number = fdinfo_number(value);
		if (number && number <= CAPACITY_MAX)
			fdinfo_engine(sample, from, name)->capacity = (uint32_t)number;
		return;
	}
	value = named_after(line, "drm-engine-", name);
	if (value) {
		fdinfo_engine(sample, from, name)->ns = fdinfo_number(value);
		return;
	}
	value = named_after(line, "drm-total-cycles-", name);
	if (value) {
		fdinfo_engine(sample, from, name)->total = fdinfo_number(value);
		return;
	}
	value = named_after(line, "drm-cycles-", name);
	if (value)
		fdinfo_engine(sample, from, name)->cycles = fdinfo_number(value);
}

/* Those of this file, or none of them: without GPU or client, or of a client that was seen. */
static void fdinfo_keep(struct fdinfo *sample, size_t from, const char *address, uint64_t client)
{
	size_t i, n = from;
	bool seen = false;

	for (i = from; i < sample->n; i++) {
		const struct fdinfo before = { sample->uses, from };

		snprintf(sample->uses[i].address, FDINFO_WORD, "%s", address);
		sample->uses[i].client = client;
		seen |= !!fdinfo_find(&before, &sample->uses[i]);
	}
	if (*address && client && !seen)
		n = sample->n;
	sample->n = n;
}

void fdinfo_add(struct fdinfo *sample, const char *text)
{
	char address[FDINFO_WORD] = "";
	size_t from = sample->n;
	uint64_t client = 0;
	const char *line, *next, *value;

	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		value = value_after(line, "drm-pdev");
		if (value)
			snprintf(address, sizeof(address), "%.*s", (int)strcspn(value, " \t\n"),
				 value);
		value = value_after(line, "drm-client-id");
		if (value)
			client = fdinfo_number(value);
		fdinfo_line(sample, from, line);
	}
	fdinfo_keep(sample, from, address, client);
}

static bool is_number(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

static void scan_file(struct fdinfo *sample, int fds, int infos, const char *name)
{
	char link[PATH_MAX], *text;
	ssize_t n = readlinkat(fds, name, link, sizeof(link));
	int fd;

	if (n < 5 || strncmp(link, "/dev/", 5))
		return;
	fd = openat(infos, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	text = mem_zalloc(FDINFO_BYTES + 1, 1);
	n = read(fd, text, FDINFO_BYTES);
	close(fd);
	if (n > 0)
		fdinfo_add(sample, text);
	free(text);
}

static void scan_process(struct fdinfo *sample, int proc, const char *pid)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int process = process_open(proc, pid), infos, fds;
	struct dirent *entry;
	DIR *dir;

	if (process < 0)
		return;
	infos = openat(process, "fdinfo", flags);
	fds = infos < 0 ? -1 : openat(process, "fd", flags);
	dir = fds < 0 ? NULL : fdopendir(fds);
	while (dir && (entry = readdir(dir)))
		if (is_number(entry->d_name))
			scan_file(sample, fds, infos, entry->d_name);
	if (dir)
		closedir(dir);
	else if (fds >= 0)
		close(fds);
	if (infos >= 0)
		close(infos);
	close(process);
}

void fdinfo_scan(struct fdinfo *sample, const char *proc)
{
	DIR *dir = opendir(proc);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_number(entry->d_name))
			scan_process(sample, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
}

void fdinfo_free(struct fdinfo *sample)
{
	free(sample->uses);
	memset(sample, 0, sizeof(*sample));
}

/* The part of one engine that a client used, of 1; NaN when its counter went back. */
static double fdinfo_part(const struct fdinfo_use *before, const struct fdinfo_use *after,
			  uint64_t ns)
{
	double used = (double)(after->ns - before->ns), over = (double)ns;

	if (after->ns < before->ns || after->cycles < before->cycles ||
	    after->total < before->total)
		return NAN;
	if (after->total) {
		used = (double)(after->cycles - before->cycles);
		over = (double)(after->total - before->total);
	}
	return over > 0 ? used / over / after->capacity : 0;
}

/* All clients of one engine. */
static double engine_busy(const struct fdinfo *before, const struct fdinfo *after,
			  const struct fdinfo_use *engine, uint64_t ns)
{
	double busy = 0;
	size_t i;

	for (i = 0; i < after->n; i++) {
		const struct fdinfo_use *use = &after->uses[i], *was;

		if (strcmp(use->address, engine->address) || strcmp(use->engine, engine->engine))
			continue;
		was = fdinfo_find(before, use);
		if (was)
			busy += fdinfo_part(was, use, ns);
	}
	return busy;
}

double fdinfo_busy(const struct fdinfo *before, const struct fdinfo *after, const char *address,
		   uint64_t ns)
{
	double most = 0, busy;
	size_t i;

	for (i = 0; i < after->n; i++) {
		if (strcmp(after->uses[i].address, address))
			continue;
		busy = engine_busy(before, after, &after->uses[i], ns);
		if (isnan(busy))
			return NAN;
		if (busy > most)
			most = busy;
	}
	return most < 1 ? 100 * most : 100;
}
