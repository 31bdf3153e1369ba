// SPDX-License-Identifier: GPL-2.0-only
/* Reading Slurm's files: lines of words and pairs. */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/conf_dir.h"
#include "base/text.h"
#include "slurm/conf.h"

/* Of one name with its ranges, so that a few letters never stand for gigabytes. */
#define NAME_LEN_MAX 255

static void line_free(struct slurm_line *line)
{
	size_t i;

	for (i = 0; i < line->n; i++) {
		free(line->pairs[i].key);
		free(line->pairs[i].value);
	}
	free(line->pairs);
}

/* Does it end with a backslash that goes on? Blanks behind it do not count, two make a sign. */
static bool goes_on(char *text, size_t *len)
{
	size_t n = *len, signs = 0;

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	while (n > signs && text[n - 1 - signs] == '\\')
		signs++;
	if (!(signs % 2))
		return false;
	text[n - 1] = ' ';
	*len = n;
	return true;
}

/* A line with what continues it, without comments; *@at moves behind it. Caller frees. */
static char *line_take(const char **at, const char *end, unsigned int *number)
{
	char *text = mem_zalloc((size_t)(end - *at) + 1, 1);
	const char *s = *at;
	bool comment = false;
	size_t len = 0;

	for (; s < end; s++) {
		if (*s == '\\' && s + 1 < end && s[1] == '#') {
			if (!comment)
				text[len++] = '#';
			s++;
			continue;
		}
		comment = comment || *s == '#';
		if (*s != '\n') {
			if (!comment)
				text[len++] = *s;
			continue;
		}
		++*number;
		if (comment || !goes_on(text, &len))
			break;
	}
	*at = s < end ? s + 1 : end;
	/* At the end of a file there is nothing to go on with. */
	if (s == end && !comment)
		goes_on(text, &len);
	text[len] = '\0';
	return text;
}

static char *slurm_copy(const char *from, size_t len)
{
	char *text = mem_zalloc(len + 1, 1);

	memcpy(text, from, len);
	return text;
}

/* "Key=value", "Key = value", "Key=\"a b\"", or a word; returns what follows. */
static const char *pair_take(const char *s, struct slurm_pair *pair)
{
	const char *start = s, *next;

	while (*s && !isspace((unsigned char)*s) && *s != '=')
		s++;
	pair->key = slurm_copy(start, (size_t)(s - start));
	pair->value = NULL;
	for (next = s; isspace((unsigned char)*next); next++)
		;
	if (*next != '=')
		return s;
	for (s = next + 1; isspace((unsigned char)*s); s++)
		;
	start = s;
	if (*s == '"') {
		start = ++s;
		while (*s && *s != '"')
			s++;
		pair->value = slurm_copy(start, (size_t)(s - start));
		return *s ? s + 1 : s;
	}
	while (*s && !isspace((unsigned char)*s))
		s++;
	pair->value = slurm_copy(start, (size_t)(s - start));
	return s;
}

static void line_parse(const char *s, struct slurm_line *line)
{
	for (;;) {
		while (isspace((unsigned char)*s))
			s++;
		if (!*s)
			return;
		line->pairs = mem_push(line->pairs, line->n, sizeof(*line->pairs));
		s = pair_take(s, &line->pairs[line->n++]);
	}
}

int slurm_conf_parse(struct slurm_conf *conf, const char *file, const char *text, size_t len,
		     struct fault *f)
{
	const char *at = text, *end = text + len;
	unsigned int number = 0;
	char *name;

	if (memchr(text, '\0', len))
		return fault_set(f, EINVAL, "%s: this is no text", file);
	name = mem_strdup(file);
	conf->files = mem_push(conf->files, conf->n_files, sizeof(*conf->files));
	conf->files[conf->n_files++] = name;
	while (at < end) {
		struct slurm_line line = { .file = name, .number = number + 1 };
		char *words = line_take(&at, end, &number);

		line_parse(words, &line);
		free(words);
		if (!line.n)
			continue;
		if (conf->n >= SLURM_LINES_MAX) {
			line_free(&line);
			return fault_set(f, E2BIG, "%s: more than %d lines", file, SLURM_LINES_MAX);
		}
		conf->lines = mem_push(conf->lines, conf->n, sizeof(*conf->lines));
		conf->lines[conf->n++] = line;
	}
	return 0;
}

/**
 * struct reading - a file that is read
 * @conf: where it goes
 * @folder: what names without a path are in
 * @depth: files that included it
 */
struct reading {
	struct slurm_conf *conf;
	const char *folder;
	unsigned int depth;
};

static int conf_read_one(const struct reading *reading, const char *path, struct fault *f);

/* plugstack.conf takes patterns. A pattern that finds nothing is as in Slurm no error. */
static int slurm_include(const struct reading *reading, const char *name, struct fault *f)
{
	const struct reading below = { reading->conf, reading->folder, reading->depth + 1 };
	char *path = *name == '/' ? mem_strdup(name) : mem_printf("%s/%s", reading->folder, name);
	glob_t found = { 0 };
	int err = 0, magic;
	size_t i;

	magic = !!strpbrk(name, "*?");
	if (below.depth > SLURM_DEPTH_MAX) {
		err = fault_set(f, ELOOP, "%s: files include each other", path);
	} else if (!magic) {
		err = conf_read_one(&below, path, f);
	} else if (!glob(path, 0, NULL, &found)) {
		for (i = 0; i < found.gl_pathc && !err; i++)
			err = conf_read_one(&below, found.gl_pathv[i], f);
		globfree(&found);
	}
	free(path);
	return err;
}

/* Lines of one file go to the whole in their order, included ones in between. */
static int conf_take_text(const char *file, const char *text, size_t len, void *arg,
			  struct fault *f)
{
	const struct reading *reading = arg;
	struct slurm_conf *conf = reading->conf, own = { 0 };
	int err = slurm_conf_parse(&own, file, text, len, f);
	size_t i;

	for (i = 0; i < own.n_files; i++) {
		conf->files = mem_push(conf->files, conf->n_files, sizeof(*conf->files));
		conf->files[conf->n_files++] = own.files[i];
	}
	for (i = 0; i < own.n; i++) {
		struct slurm_line *line = &own.lines[i];
		bool includes = line->n == 2 && !line->pairs[0].value && !line->pairs[1].value &&
				!strcasecmp(line->pairs[0].key, "include");

		if (includes && !err) {
			err = slurm_include(reading, line->pairs[1].key, f);
			if (err)
				fault_prefix(f, "%s:%u", line->file, line->number);
			/* That one is missing says nothing of the file that names it. */
			err = err == -ENOENT ? -EINVAL : err;
		}
		if (includes || err || conf->n >= SLURM_LINES_MAX) {
			line_free(line);
			continue;
		}
		conf->lines = mem_push(conf->lines, conf->n, sizeof(*conf->lines));
		conf->lines[conf->n++] = *line;
	}
	free(own.lines);
	free(own.files);
	return err;
}

static int conf_read_one(const struct reading *reading, const char *path, struct fault *f)
{
	return conf_file_read(path, conf_take_text, (void *)reading, f);
}

int slurm_conf_read(struct slurm_conf *conf, const char *folder, const char *name, struct fault *f)
{
	const struct reading reading = { conf, folder, 0 };
	char *path = *name == '/' ? mem_strdup(name) : mem_printf("%s/%s", folder, name);
	int err = conf_read_one(&reading, path, f);

	free(path);
	return err;
}

void slurm_conf_free(struct slurm_conf *conf)
{
	size_t i;

	for (i = 0; i < conf->n; i++)
		line_free(&conf->lines[i]);
	for (i = 0; i < conf->n_files; i++)
		free(conf->files[i]);
	free(conf->lines);
	free(conf->files);
	memset(conf, 0, sizeof(*conf));
}

const char *slurm_line_value(const struct slurm_line *line, const char *key)
{
	size_t i;

	for (i = 0; i < line->n; i++)
		if (line->pairs[i].value && !strcasecmp(line->pairs[i].key, key))
			return line->pairs[i].value;
	return NULL;
}

/* Lines of nodes, partitions and the like have keys of their own. */
static bool is_record(const struct slurm_line *line)
{
	static const char *const first[] = { "NodeName",     "PartitionName", "DownNodes",
					     "FrontendName", "NodeSet",	      "SlurmctldHost",
					     "NodeGroup" };
	size_t i;

	for (i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (!strcasecmp(line->pairs[0].key, first[i]))
			return true;
	return false;
}

const char *slurm_conf_value(const struct slurm_conf *conf, const char *key,
			     const struct slurm_line **line)
{
	const char *value = NULL;
	size_t i;

	*line = NULL;
	for (i = 0; i < conf->n; i++) {
		const char *found =
			is_record(&conf->lines[i]) ? NULL : slurm_line_value(&conf->lines[i], key);

		if (!found)
			continue;
		value = found;
		*line = &conf->lines[i];
	}
	return value;
}

bool slurm_list_has(const char *list, const char *word)
{
	size_t len = strlen(word), n;

	for (; list && *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (strcspn(list, ",=:") == len && !strncasecmp(list, word, len))
			return true;
	}
	return false;
}

void slurm_hosts_free(char **hosts, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(hosts[i]);
	free(hosts);
}

/* "07-12" of a range: with the zeros that it begins with. */
static bool slurm_range_take(const char *s, const char *end, unsigned long *low,
			     unsigned long *high, int *width)
{
	const char *dash = memchr(s, '-', (size_t)(end - s));
	const char *stop = dash ? dash : end, *c;

	for (c = s; c < end; c++)
		if (c != dash && !isdigit((unsigned char)*c))
			return false;
	if (stop == s || stop - s > 9 || (dash && (end - dash < 2 || end - dash > 10)))
		return false;
	*low = strtoul(s, NULL, 10);
	*high = dash ? strtoul(dash + 1, NULL, 10) : *low;
	*width = *s == '0' ? (int)(stop - s) : 0;
	return *low <= *high && *high - *low < SLURM_RANGE_MAX;
}

/* What stands before a range, each number of it, and all that follows. */
static bool expand(const char *before, const char *s, size_t len, char ***hosts, size_t *n)
{
	const char *end = s + len, *open = memchr(s, '[', len), *close, *part;
	bool good = true;

	if (!open) {
		if (memchr(s, ']', len) || *n >= SLURM_RANGE_MAX)
			return false;
		*hosts = mem_push(*hosts, *n, sizeof(**hosts));
		(*hosts)[(*n)++] = mem_printf("%s%.*s", before, (int)len, s);
		return true;
	}
	close = memchr(s, ']', len);
	if (!close || close < open)
		return false;
	for (part = open + 1; good && part <= close;) {
		const char *stop = part;
		unsigned long low, high;
		int width;

		while (stop < close && *stop != ',')
			stop++;
		good = slurm_range_take(part, stop, &low, &high, &width);
		for (; good && low <= high; low++) {
			char *name =
				mem_printf("%s%.*s%0*lu", before, (int)(open - s), s, width, low);

			good = expand(name, close + 1, (size_t)(end - close - 1), hosts, n);
			free(name);
		}
		part = stop + 1;
	}
	return good;
}

char **slurm_hosts(const char *text, size_t *n)
{
	const char *s = text;
	char **hosts = NULL;

	*n = 0;
	while (*s) {
		size_t len = 0;
		bool inside = false;

		for (; s[len] && (inside || s[len] != ','); len++)
			inside = s[len] == '[' || (inside && s[len] != ']');
		if (!len || len > NAME_LEN_MAX || !expand("", s, len, &hosts, n)) {
			slurm_hosts_free(hosts, *n);
			*n = 0;
			return NULL;
		}
		s += len + (s[len] == ',');
	}
	return hosts;
}
