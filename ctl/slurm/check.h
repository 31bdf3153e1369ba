/* SPDX-License-Identifier: GPL-2.0-only */
/* What Slurm's configuration lacks for GPUs of a fabric, or where it contradicts itself. Pure. */
#ifndef GPUCTL_SLURM_CHECK_H
#define GPUCTL_SLURM_CHECK_H

#include "slurm/conf.h"

/* Licences of the GPUs of a pool: gf_KIND. */
#define SLURM_LICENCE "gf_"

enum slurm_level {
	SLURM_ERROR, /* jobs with GPUs fail, or get none */
	SLURM_WARNING, /* that works, but not always or not well */
};

/**
 * struct slurm_finding - something that is wrong
 * @level: how bad it is
 * @where: "slurm.conf:12", or the file that lacks something; owned
 * @text: what; owned
 * @remedy: what to write there; owned
 */
struct slurm_finding {
	enum slurm_level level;
	char *where;
	char *text;
	char *remedy;
};

struct slurm_findings {
	struct slurm_finding *items;
	size_t n;
};

/**
 * struct slurm_files - a configuration
 * @slurm: slurm.conf
 * @gres: gres.conf
 * @plugstack: plugstack.conf, or what PlugStackConfig= names
 * @cgroup: cgroup.conf
 * @has_gres, @has_plugstack, @has_cgroup: there is such a file
 */
struct slurm_files {
	struct slurm_conf slurm, gres, plugstack, cgroup;
	bool has_gres, has_plugstack, has_cgroup;
};

/* Read them from a folder; only slurm.conf has to be there. 0 or a negative errno. */
int slurm_files_read(struct slurm_files *files, const char *folder, struct fault *f);
void slurm_files_free(struct slurm_files *files);

/*
 * Add a finding, of a line or, for @line NULL, of what @file lacks. Text and remedy are one
 * format: a newline parts them.
 */
void slurm_find(struct slurm_findings *findings, enum slurm_level level, const char *file,
		const struct slurm_line *line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* gres of nodes, their files, and the licences that go with them; slurm_check() does it, too. */
void slurm_check_nodes(const struct slurm_files *files, struct slurm_findings *findings);

void slurm_check(const struct slurm_files *files, struct slurm_findings *findings);
void slurm_findings_free(struct slurm_findings *findings);

#endif /* GPUCTL_SLURM_CHECK_H */
