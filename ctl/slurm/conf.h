/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slurm's configuration files as Slurm reads them: names of keys in any case, continued lines,
 * comments, quotes, included files, ranges of hosts. No library of Slurm is needed.
 */
#ifndef GPUCTL_SLURM_CONF_H
#define GPUCTL_SLURM_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/* Files that include each other, and hosts and files that one range names. */
#define SLURM_DEPTH_MAX 8
#define SLURM_RANGE_MAX 16384
#define SLURM_LINES_MAX 65536

/**
 * struct slurm_pair - KEY=VALUE
 * @key: as it was typed
 * @value: without its quotes; NULL for a word alone
 */
struct slurm_pair {
	char *key;
	char *value;
};

/**
 * struct slurm_line - what stands in a line, with what continues it
 * @file: one of the names of the configuration
 * @number: of the first line, from 1
 * @pairs: @n of them, at least one
 */
struct slurm_line {
	const char *file;
	unsigned int number;
	struct slurm_pair *pairs;
	size_t n;
};

/**
 * struct slurm_conf - a file and those that it includes
 * @lines: @n of them, in the order in which Slurm reads them
 * @files: @n_files names
 */
struct slurm_conf {
	struct slurm_line *lines;
	size_t n;
	char **files;
	size_t n_files;
};

/* Append a text, without what it includes: such lines stay lines. 0 or a negative errno. */
int slurm_conf_parse(struct slurm_conf *conf, const char *file, const char *text, size_t len,
		     struct fault *f);

/* Read @folder/@name, or @name where that is a path, and what is included; 0 or a negative errno. */
int slurm_conf_read(struct slurm_conf *conf, const char *folder, const char *name, struct fault *f);
void slurm_conf_free(struct slurm_conf *conf);

/* The value of a key in a line, NULL for none. */
const char *slurm_line_value(const struct slurm_line *line, const char *key);

/* The last value of a key that stands for itself, with its line; NULL for none. */
const char *slurm_conf_value(const struct slurm_conf *conf, const char *key,
			     const struct slurm_line **line);

/* Is a word in a list with commas? What follows = or : there does not count. */
bool slurm_list_has(const char *list, const char *word);

/* All names of "n[1-3,07],m", or NULL where that is no such list, or too long a one. */
char **slurm_hosts(const char *text, size_t *n);
void slurm_hosts_free(char **hosts, size_t n);

#endif /* GPUCTL_SLURM_CONF_H */
