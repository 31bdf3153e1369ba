// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/slurm/conf.c ctl/slurm/check.c ctl/slurm/nodes.c ctl/base/conf_dir.c ctl/base/fault.c ctl/base/text.c
/*
 * Slurm's configuration: slurm.conf, and behind a form feed gres.conf, then cgroup.conf. Whatever
 * stands there, what is found is a line with a remedy, and what was read can be written and read again.
 */
#include "base/text.h"
#include "fuzz.h"
#include "slurm/check.h"

static void parse_part(struct slurm_conf *conf, const char *name, const char **at, const char *end)
{
	const char *stop = memchr(*at, '\f', (size_t)(end - *at));
	struct fault fault = { "" };

	if (!stop)
		stop = end;
	if (slurm_conf_parse(conf, name, *at, (size_t)(stop - *at), &fault))
		must(fuzz_is_line(fault.text));
	*at = stop < end ? stop + 1 : end;
}

/* Ranges name at least one host each, and no name has a range in it. */
static void hosts(const char *text)
{
	size_t n, i;
	char **names = slurm_hosts(text, &n);

	must(!names == !n && n <= SLURM_RANGE_MAX);
	for (i = 0; i < n; i++)
		must(!strpbrk(names[i], "[],"));
	slurm_hosts_free(names, n);
}

static void lines(const struct slurm_conf *conf)
{
	unsigned int before = 0;
	size_t i, j;

	for (i = 0; i < conf->n; i++) {
		must(conf->lines[i].n && conf->lines[i].number > before);
		before = conf->lines[i].number;
		for (j = 0; j < conf->lines[i].n; j++) {
			must(!strpbrk(conf->lines[i].pairs[j].key, " \t\n="));
			if (conf->lines[i].pairs[j].value)
				hosts(conf->lines[i].pairs[j].value);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slurm_findings findings;
	struct slurm_files files = { 0 };
	const char *at, *end;
	size_t i;
	char *text;

	if (size > 4096)
		return 0;
	text = mem_zalloc(size + 1, 1);
	if (size)
		memcpy(text, data, size);
	at = text;
	end = text + size;
	parse_part(&files.slurm, "slurm.conf", &at, end);
	parse_part(&files.gres, "gres.conf", &at, end);
	parse_part(&files.cgroup, "cgroup.conf", &at, end);
	lines(&files.slurm);
	lines(&files.gres);
	slurm_check(&files, &findings);
	for (i = 0; i < findings.n; i++) {
		must(fuzz_is_line(findings.items[i].where));
		must(fuzz_is_line(findings.items[i].text));
		must(fuzz_is_line(findings.items[i].remedy));
	}
	slurm_findings_free(&findings);
	slurm_files_free(&files);
	free(text);
	return 0;
}
