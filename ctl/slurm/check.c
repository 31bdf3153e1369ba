// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what Slurm has to be told
 *
 * Jobs ask for gres gpu:KIND. The gres of a node are its slots, a constant; the licences
 * gf_KIND are what the whole pool has, and job_submit adds as many to each job. A Prolog
 * composes, an Epilog releases. Each rule here stands for something that went wrong with Slurm's
 * own daemons where it was not kept.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "slurm/check.h"

/* A Prolog that waits for GPUs and for their drivers takes as long. */
#define COMPOSE_S 120
#define BATCH_START_S 10 /* Slurm's own */

void slurm_find(struct slurm_findings *findings, enum slurm_level level, const char *file,
		const struct slurm_line *line, const char *fmt, ...)
{
	struct slurm_finding *finding;
	char *text, *newline;
	va_list ap;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	text_tame(text, true);
	newline = strchr(text, '\n');
	if (newline)
		*newline = '\0';
	findings->items = mem_push(findings->items, findings->n, sizeof(*findings->items));
	finding = &findings->items[findings->n++];
	*finding = (struct slurm_finding){
		.level = level,
		.where = line ? mem_printf("%s:%u", line->file, line->number) : mem_strdup(file),
		.text = text,
		.remedy = mem_strdup(newline ? newline + 1 : ""),
	};
	text_tame(finding->where, false);
}

/* A key of slurm.conf that has to have a word in its list. */
static void needs_word(const struct slurm_conf *conf, const char *key, const char *word,
		       enum slurm_level level, const char *why, struct slurm_findings *findings)
{
	const struct slurm_line *line;
	const char *value = slurm_conf_value(conf, key, &line);

	if (!slurm_list_has(value, word))
		slurm_find(findings, level, "slurm.conf", line, "%s lacks %s: %s\n%s=%s%s%s", key,
			   word, why, key, value ? value : "", value && *value ? "," : "", word);
}

static void check_scheduler(const struct slurm_conf *conf, struct slurm_findings *findings)
{
	const struct slurm_line *line;
	const char *value = slurm_conf_value(conf, "SchedulerParameters", &line);

	if (slurm_list_has(value, "bf_licenses"))
		slurm_find(findings, SLURM_WARNING, "slurm.conf", line,
			   "bf_licenses has backfill start a job while the job before still keeps its GPUs\n"
			   "take it out, or have the Prolog wait: gpuctl compose --wait 60s");
	needs_word(conf, "SchedulerParameters", "nohold_on_prolog_fail", SLURM_WARNING,
		   "a job whose Prolog fails is held until an administrator releases it", findings);
	value = slurm_conf_value(conf, "JobRequeue", &line);
	if (value && !strcmp(value, "0"))
		slurm_find(findings, SLURM_WARNING, "slurm.conf", line,
			   "no job can be requeued: one whose node is short of GPUs is cancelled\nJobRequeue=1");
	value = slurm_conf_value(conf, "SelectType", &line);
	if (!value)
		slurm_find(findings, SLURM_WARNING, "slurm.conf", NULL,
			   "SelectType is not said, and before Slurm 23.02 it is one without GPUs\nSelectType=select/cons_tres");
	else if (strcasecmp(value, "select/cons_tres"))
		slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
			   "%s does not know GPUs\nSelectType=select/cons_tres", value);
}

static void check_prolog_flags(const struct slurm_conf *conf, struct slurm_findings *findings)
{
	const struct slurm_line *line;
	const char *value = slurm_conf_value(conf, "PrologFlags", &line);

	/* Those that Slurm lets follow from others. */
	if (!slurm_list_has(value, "Alloc") && !slurm_list_has(value, "Contain") &&
	    !slurm_list_has(value, "X11"))
		slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
			   "PrologFlags lacks Alloc: the Prolog runs with the first step of a job, not before it\nPrologFlags=Alloc");
	if (slurm_list_has(value, "DeferBatch"))
		slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
			   "DeferBatch: when slurmctld ends during a Prolog, the batch script is never started and the job keeps its GPUs\nPrologFlags=Alloc");
	if (slurm_list_has(value, "NoHold"))
		slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
			   "NoHold: srun starts tasks before the Prolog has composed their GPUs\nPrologFlags=Alloc");
}

/* @fallback: what Slurm takes where nothing is said; 0: it is long enough. */
static void check_time(const struct slurm_conf *conf, const char *key, uint64_t fallback,
		       const char *what, struct slurm_findings *findings)
{
	const struct slurm_line *line;
	const char *text = slurm_conf_value(conf, key, &line);
	uint64_t seconds = fallback;

	if (!text && !fallback)
		return;
	if (text && !text_number(text, UINT32_MAX, &seconds))
		slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
			   "%s=%s is not a number of seconds\n%s=600", key, text, key);
	else if (seconds < COMPOSE_S)
		slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
			   "%s is %u s: %s, which may take %d s\n%s=600", key,
			   (unsigned int)seconds, what, COMPOSE_S, key);
}

static void check_programs(const struct slurm_conf *conf, struct slurm_findings *findings)
{
	static const struct {
		const char *key;
		enum slurm_level level;
		const char *why;
	} needs[] = {
		{ "Prolog", SLURM_ERROR, "no program composes the GPUs of a job" },
		{ "Epilog", SLURM_ERROR, "no program releases the GPUs of a job" },
		{ "EpilogSlurmctld", SLURM_WARNING,
		  "a node that dies keeps its GPUs, and their licences are free at once" },
	};
	const struct slurm_line *line;
	const char *value;
	size_t i;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		value = slurm_conf_value(conf, needs[i].key, &line);
		if (!value || !*value)
			slurm_find(findings, needs[i].level, "slurm.conf", line,
				   "there is no %s: %s\n%s=PROGRAM", needs[i].key, needs[i].why,
				   needs[i].key);
	}
	check_time(conf, "BatchStartTimeout", BATCH_START_S,
		   "a batch script that has not started then is given up while its Prolog composes",
		   findings);
	check_time(conf, "PrologEpilogTimeout", 0, "the Prolog is killed while it composes",
		   findings);
	needs_word(conf, "JobSubmitPlugins", "lua", SLURM_ERROR,
		   "no script adds the licences of the pool to a job", findings);
	value = slurm_conf_value(conf, "SlurmdTimeout", &line);
	if (value && !strcmp(value, "0"))
		slurm_find(findings, SLURM_WARNING, "slurm.conf", line,
			   "a node that dies is never noticed, and keeps its GPUs\nSlurmdTimeout=300");
}

/* All that is lacking is one line to write. */
static void check_recorded(const struct slurm_conf *conf, const char *tres,
			   const struct slurm_line *line, struct slurm_findings *findings)
{
	const struct slurm_line *where;
	const char *licences = slurm_conf_value(conf, "Licenses", &where), *at = licences;
	struct text lacks = { 0 };
	size_t len;

	if (!slurm_list_has(tres, "gres/gpu"))
		text_join(&lacks, ",", "gres/gpu");
	for (; at && *at; at += len + (at[len] == ',')) {
		char *word;

		len = strcspn(at, ",");
		if (strncmp(at, SLURM_LICENCE, strlen(SLURM_LICENCE)))
			continue;
		word = mem_printf("license/%.*s", (int)strcspn(at, ",:*"), at);
		if (!slurm_list_has(tres, word))
			text_join(&lacks, ",", word);
		free(word);
	}
	if (lacks.text)
		slurm_find(findings, SLURM_WARNING, "slurm.conf", line,
			   "AccountingStorageTRES lacks %s: sacct does not show them, and no limit can be set on them\n"
			   "AccountingStorageTRES=%s%s%s",
			   lacks.text, tres ? tres : "", tres && *tres ? "," : "", lacks.text);
	free(lacks.text);
}

/* Each of the three words has limits enforced. */
static void check_limits(const struct slurm_conf *conf, struct slurm_findings *findings)
{
	const struct slurm_line *line;
	const char *value = slurm_conf_value(conf, "AccountingStorageEnforce", &line);

	if (!slurm_list_has(value, "safe") && !slurm_list_has(value, "all"))
		needs_word(conf, "AccountingStorageEnforce", "limits", SLURM_WARNING,
			   "limits of accounts have no effect", findings);
}

static void check_accounting(const struct slurm_conf *conf, struct slurm_findings *findings)
{
	const struct slurm_line *line;
	const char *type = slurm_conf_value(conf, "AccountingStorageType", &line), *tres;
	bool recorded = type && !strcasecmp(type, "accounting_storage/slurmdbd");

	tres = slurm_conf_value(conf, "AccountingStorageTRES", &line);
	if (!recorded && tres && (strcasestr(tres, "gres/") || strcasestr(tres, "license/")))
		slurm_find(findings, SLURM_ERROR, "slurm.conf", line,
			   "AccountingStorageTRES=%s without slurmdbd: slurmctld does not start\n"
			   "AccountingStorageType=accounting_storage/slurmdbd, or no such line",
			   tres);
	if (recorded) {
		check_recorded(conf, tres, line, findings);
		check_limits(conf, findings);
	}
}

/* Slurm gives a whole node all its slots, whatever a job asks for. */
static void check_partitions(const struct slurm_conf *conf, struct slurm_findings *findings)
{
	size_t i;

	for (i = 0; i < conf->n; i++) {
		const struct slurm_line *line = &conf->lines[i];
		const char *name = slurm_line_value(line, "PartitionName"),
			   *shared = slurm_line_value(line, "OverSubscribe");

		if (name && shared && !strcasecmp(shared, "EXCLUSIVE"))
			slurm_find(findings, SLURM_WARNING, "slurm.conf", line,
				   "%s gives whole nodes, with all their slots: its jobs are refused if its nodes have any\n"
				   "OverSubscribe=NO",
				   name);
	}
}

static void check_cgroup(const struct slurm_files *files, struct slurm_findings *findings)
{
	const struct slurm_line *line;
	const char *value = slurm_conf_value(&files->slurm, "ProctrackType", &line);
	bool constrained;

	if (value && strcasecmp(value, "proctrack/cgroup"))
		slurm_find(findings, SLURM_WARNING, "slurm.conf", line,
			   "%s: a job has no cgroup in which the GPUs of others could be denied\nProctrackType=proctrack/cgroup",
			   value);
	value = slurm_conf_value(&files->cgroup, "CgroupPlugin", &line);
	if (value && !strcasecmp(value, "cgroup/v1"))
		slurm_find(findings, SLURM_WARNING, "slurm.conf", line,
			   "cgroup/v1: GPUs of others cannot be denied there\nCgroupPlugin=autodetect");
	value = slurm_conf_value(&files->cgroup, "ConstrainDevices", &line);
	constrained = value && !strcasecmp(value, "yes");
	if (!constrained)
		slurm_find(findings, SLURM_WARNING, "cgroup.conf", line,
			   "devices are not constrained: jobs are not kept from the slots of others\nConstrainDevices=yes");
	value = slurm_conf_value(&files->slurm, "TaskPlugin", &line);
	if (constrained && !slurm_list_has(value, "task/cgroup") &&
	    !slurm_list_has(value, "cgroup"))
		slurm_find(findings, SLURM_WARNING, "slurm.conf", line,
			   "TaskPlugin lacks task/cgroup: ConstrainDevices has no effect\nTaskPlugin=task/cgroup,task/affinity");
}

static void check_plugstack(const struct slurm_files *files, struct slurm_findings *findings)
{
	const struct slurm_line *line;
	size_t i, j;

	for (i = 0; i < files->plugstack.n; i++)
		for (j = 0; j < files->plugstack.lines[i].n; j++)
			if (strstr(files->plugstack.lines[i].pairs[j].key, "spank_gpufabric"))
				return;
	if (slurm_conf_value(&files->slurm, "TaskProlog", &line))
		return;
	slurm_find(findings, SLURM_ERROR, "plugstack.conf", NULL,
		   "neither spank_gpufabric.so nor a TaskProlog: tasks see the numbers of slots in CUDA_VISIBLE_DEVICES, not their GPUs\n"
		   "required spank_gpufabric.so");
}

int slurm_files_read(struct slurm_files *files, const char *folder, struct fault *f)
{
	const struct slurm_line *line;
	const char *plugstack;
	int err;

	memset(files, 0, sizeof(*files));
	err = slurm_conf_read(&files->slurm, folder, "slurm.conf", f);
	if (err)
		return err;
	plugstack = slurm_conf_value(&files->slurm, "PlugStackConfig", &line);
	err = slurm_conf_read(&files->gres, folder, "gres.conf", f);
	files->has_gres = !err;
	if (err && err != -ENOENT)
		return err;
	err = slurm_conf_read(&files->cgroup, folder, "cgroup.conf", f);
	files->has_cgroup = !err;
	if (err && err != -ENOENT)
		return err;
	err = slurm_conf_read(&files->plugstack, folder, plugstack ? plugstack : "plugstack.conf",
			      f);
	files->has_plugstack = !err;
	return err == -ENOENT ? 0 : err;
}

void slurm_files_free(struct slurm_files *files)
{
	slurm_conf_free(&files->slurm);
	slurm_conf_free(&files->gres);
	slurm_conf_free(&files->plugstack);
	slurm_conf_free(&files->cgroup);
}

void slurm_check(const struct slurm_files *files, struct slurm_findings *findings)
{
	memset(findings, 0, sizeof(*findings));
	needs_word(&files->slurm, "GresTypes", "gpu", SLURM_ERROR, "no node has GPUs", findings);
	check_scheduler(&files->slurm, findings);
	check_prolog_flags(&files->slurm, findings);
	check_programs(&files->slurm, findings);
	slurm_check_nodes(files, findings);
	check_cgroup(files, findings);
	check_plugstack(files, findings);
	check_accounting(&files->slurm, findings);
	check_partitions(&files->slurm, findings);
}

void slurm_findings_free(struct slurm_findings *findings)
{
	size_t i;

	for (i = 0; i < findings->n; i++) {
		free(findings->items[i].where);
		free(findings->items[i].text);
		free(findings->items[i].remedy);
	}
	free(findings->items);
	memset(findings, 0, sizeof(*findings));
}
