// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do a node's gres, the files of gres.conf and the licences of the pool go together? slurmd sets
 * a node that has fewer files than gres aside, and a kind without a licence is counted by nobody.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "slurm/check.h"

#define KIND_MAX 63

/**
 * struct gres_line - a line of gres.conf about GPUs
 * @line: it
 * @hosts: whom it is for, sorted, @n of them; @all: for everybody
 * @kind: Type=, "" for none
 * @files: number of them
 */
struct gres_line {
	const struct slurm_line *line;
	char **hosts;
	size_t n;
	bool all;
	const char *kind;
	size_t files;
};

/**
 * struct gres_lines - those of a gres.conf
 * @items: @n of them
 */
struct gres_lines {
	struct gres_line *items;
	size_t n;
};

static int host_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_vendor_file(const char *file)
{
	static const char *const vendors[] = { "/dev/nvidia", "/dev/dri/", "/dev/kfd" };
	size_t i;

	for (i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (!strncmp(file, vendors[i], strlen(vendors[i])))
			return true;
	return false;
}

static void gres_line_files(struct gres_line *gres, struct slurm_findings *findings)
{
	const char *file = slurm_line_value(gres->line, "File");
	char **files;

	if (!file) {
		slurm_find(findings, SLURM_ERROR, "gres.conf", gres->line,
			   "GPUs without File= are thrown away by slurmd, and the node is drained\n"
			   "File=: a device node of each slot");
		return;
	}
	files = slurm_hosts(file, &gres->files);
	if (!files)
		slurm_find(findings, SLURM_ERROR, "gres.conf", gres->line,
			   "File=%s is no list of files\nFile=/dev/gpufabric/SLOT", file);
	else if (is_vendor_file(files[0]))
		slurm_find(findings, SLURM_ERROR, "gres.conf", gres->line,
			   "%s is a GPU that is here now: slots are to be counted, which stay\n"
			   "File=: a device node of each slot",
			   files[0]);
	slurm_hosts_free(files, gres->files);
}

static void gres_line_add(const struct slurm_line *line, struct gres_lines *lines,
			  struct slurm_findings *findings)
{
	const char *nodes = slurm_line_value(line, "NodeName"),
		   *kind = slurm_line_value(line, "Type");
	struct gres_line gres = { .line = line, .all = !nodes, .kind = kind ? kind : "" };

	if (nodes)
		gres.hosts = slurm_hosts(nodes, &gres.n);
	if (nodes && !gres.hosts)
		slurm_find(findings, SLURM_ERROR, "gres.conf", line,
			   "NodeName=%s is no list of hosts\nNodeName=n[1-4]", nodes);
	if (gres.n)
		qsort(gres.hosts, gres.n, sizeof(*gres.hosts), host_compare);
	gres_line_files(&gres, findings);
	lines->items = mem_push(lines->items, lines->n, sizeof(*lines->items));
	lines->items[lines->n++] = gres;
}

static void gres_lines_read(const struct slurm_conf *conf, struct gres_lines *lines,
			    struct slurm_findings *findings)
{
	size_t i;

	for (i = 0; i < conf->n; i++) {
		const struct slurm_line *line = &conf->lines[i];
		const char *detect = slurm_line_value(line, "AutoDetect"),
			   *name = slurm_line_value(line, "Name");

		if (detect && strcasecmp(detect, "off"))
			slurm_find(findings, SLURM_ERROR, "gres.conf", line,
				   "AutoDetect=%s counts the GPUs that are here when slurmd starts\nAutoDetect=off",
				   detect);
		if (name && !strcasecmp(name, "gpu"))
			gres_line_add(line, lines, findings);
	}
}

static void gres_lines_free(struct gres_lines *lines)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		slurm_hosts_free(lines->items[i].hosts, lines->items[i].n);
	free(lines->items);
}

/* How many files of a kind a host has. */
static size_t files_of(const struct gres_lines *lines, const char *host, const char *kind)
{
	size_t n = 0, i;

	for (i = 0; i < lines->n; i++) {
		const struct gres_line *gres = &lines->items[i];

		if (strcasecmp(gres->kind, kind))
			continue;
		if (gres->all || (gres->n && bsearch(&host, gres->hosts, gres->n,
						     sizeof(*gres->hosts), host_compare)))
			n += gres->files;
	}
	return n;
}

/* "gpu:h100:4(S:0-1)": false for other gres. @kind is "" where none is named. */
static bool gres_take(const char *item, size_t len, char kind[KIND_MAX + 1], uint64_t *count)
{
	char text[2 * KIND_MAX + 2], *colon, *bracket;

	if (len >= sizeof(text))
		return false;
	memcpy(text, item, len);
	text[len] = '\0';
	bracket = strchr(text, '(');
	if (bracket)
		*bracket = '\0';
	*kind = '\0';
	*count = 1;
	if (strncasecmp(text, "gpu", 3) || (text[3] && text[3] != ':'))
		return false;
	if (!text[3])
		return true;
	colon = strrchr(text, ':');
	if (text_number(colon + 1, UINT32_MAX, count)) {
		if (colon == text + 3)
			return true;
		*colon = '\0';
	}
	if (strlen(text + 4) > KIND_MAX)
		return false;
	strcpy(kind, text + 4);
	return true;
}

/* The count of a licence, -1 where there is none; "gf_h100:6", "gf_h100@db:6", "gf_h100". */
static long long licence_count(const char *list, const char *kind)
{
	const size_t prefix = strlen(SLURM_LICENCE), len = strlen(kind);
	const char *s;

	for (s = list; s && *s; s += strcspn(s, ",;"), s += !!*s) {
		const char *colon = s + strcspn(s, ":,;");

		if (strncmp(s, SLURM_LICENCE, prefix) || strncmp(s + prefix, kind, len) ||
		    strcspn(s + prefix, "@:,;") != len)
			continue;
		return *colon == ':' ? strtoll(colon + 1, NULL, 10) : 1;
	}
	return -1;
}

static void node_check(const struct slurm_files *files, const struct gres_lines *lines,
		       const struct slurm_line *line, char *const *hosts, size_t n,
		       const char *kind, uint64_t count, struct slurm_findings *findings)
{
	const struct slurm_line *of;
	const char *licences = slurm_conf_value(&files->slurm, "Licenses", &of);
	long long have = licence_count(licences, kind);
	size_t i, found;

	if (have <= 0)
		slurm_find(findings, SLURM_ERROR, "slurm.conf", of,
			   "there is no licence " SLURM_LICENCE
			   "%s: no licence counts the GPUs of the pool\n"
			   "Licenses=%s%s" SLURM_LICENCE "%s:COUNT",
			   kind, licences ? licences : "", licences && *licences ? "," : "", kind);
	for (i = 0; i < n; i++) {
		found = files_of(lines, hosts[i], kind);
		if (found >= count)
			continue;
		slurm_find(findings, SLURM_ERROR, "gres.conf", NULL,
			   "%s has gpu:%s:%llu in slurm.conf and %zu file%s here: slurmd sets the node aside (%s:%u)\n"
			   "NodeName=%s Name=gpu Type=%s File=/dev/gpufabric/SLOT",
			   hosts[i], kind, (unsigned long long)count, found, found == 1 ? "" : "s",
			   line->file, line->number, hosts[i], kind);
		return;
	}
}

static void node_line(const struct slurm_files *files, const struct gres_lines *lines,
		      const struct slurm_line *line, const char *gres, bool *any,
		      struct slurm_findings *findings)
{
	char kind[KIND_MAX + 1], **hosts;
	uint64_t count;
	size_t len, n;

	hosts = slurm_hosts(slurm_line_value(line, "NodeName"), &n);
	if (!hosts) {
		slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
			   "NodeName=%s is no list of hosts\nNodeName=n[1-4]",
			   slurm_line_value(line, "NodeName"));
		return;
	}
	for (; gres && *gres; gres += len + (gres[len] == ',')) {
		len = strcspn(gres, ",");
		if (!gres_take(gres, len, kind, &count))
			continue;
		*any = true;
		if (*kind)
			node_check(files, lines, line, hosts, n, kind, count, findings);
		else
			slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
				   "%.*s names no kind: it is not known which licences such a job takes\n"
				   "Gres=gpu:KIND:%llu",
				   (int)len, gres, (unsigned long long)count);
	}
	slurm_hosts_free(hosts, n);
}

void slurm_check_nodes(const struct slurm_files *files, struct slurm_findings *findings)
{
	const struct slurm_conf *conf = &files->slurm;
	struct gres_lines lines = { 0 };
	const char *fallback = NULL;
	bool any = false;
	size_t i;

	gres_lines_read(&files->gres, &lines, findings);
	for (i = 0; i < conf->n; i++) {
		const struct slurm_line *line = &conf->lines[i];
		const char *name = slurm_line_value(line, "NodeName"),
			   *gres = slurm_line_value(line, "Gres");

		if (!name || strcasecmp(line->pairs[0].key, "NodeName"))
			continue;
		/* What follows has it unless it says otherwise. */
		if (!strcasecmp(name, "DEFAULT"))
			fallback = gres ? gres : fallback;
		else
			node_line(files, &lines, line, gres ? gres : fallback, &any, findings);
	}
	if (!any)
		slurm_find(findings, SLURM_ERROR, "slurm.conf", NULL,
			   "no node has slots for GPUs\nNodeName=NODE Gres=gpu:KIND:COUNT");
	gres_lines_free(&lines);
}
