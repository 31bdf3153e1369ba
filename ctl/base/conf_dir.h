/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories of .conf files. */
#ifndef GPUCTL_CATALOGUE_CONF_DIR_H
#define GPUCTL_CATALOGUE_CONF_DIR_H

#include <stdbool.h>
#include <stddef.h>

#include "fault.h"

/*
 * One file: @len bytes of @text and a NUL. Returns 0, or a negative errno
 * after fault_set().
 */
typedef int (*conf_file_fn)(const char *file, const char *text, size_t len, void *arg,
			    struct fault *f);

/* The path of one file. */
typedef void (*conf_path_fn)(const char *file, void *arg);

/* Call @fn for one file. */
int conf_file_read(const char *path, conf_file_fn fn, void *arg, struct fault *f);

/*
 * Call @fn for each *.conf file of @base/@sub, in the order of their names; stops at the first
 * error. A directory that does not exist is an error when @needed.
 */
int conf_dir_read(const char *base, const char *sub, bool needed, conf_file_fn fn, void *arg,
		  struct fault *f);

/* Call @fn for the path of each, in that order; 0 or a negative errno of the directory. */
int conf_dir_each(const char *base, const char *sub, conf_path_fn fn, void *arg, struct fault *f);

#endif
