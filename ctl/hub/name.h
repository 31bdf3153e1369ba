/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of models, files and revisions of the Hugging Face Hub. Pure. */
#ifndef GPUCTL_HUB_NAME_H
#define GPUCTL_HUB_NAME_H

#include <stdbool.h>

#include "base/fault.h"

#define HUB_PREFIX "hf:"
#define HUB_REPO_MAX 200
#define HUB_REVISION_MAX 81
#define HUB_FILE_MAX 256
#define HUB_SHA_LENGTH 40
/* Folders that a file may be below. */
#define HUB_DEPTH_MAX 8

/**
 * struct hub_name - what was asked for
 * @repo: OWNER/NAME, or NAME for the few that have no owner
 * @file: one file of it, "" for all
 * @revision: branch, tag or commit
 */
struct hub_name {
	char repo[HUB_REPO_MAX];
	char file[HUB_FILE_MAX];
	char revision[HUB_REVISION_MAX];
};

/* "hf:OWNER/NAME[/FILE][@REVISION]"; 0 or -EINVAL. */
int hub_name_read(const char *text, struct hub_name *name, struct fault *f);

/* Is this a path below a folder, which cannot leave it? Also of names that a server sent. */
bool hub_file_is_safe(const char *file);

/* Could it be part of a model: not hidden, not deep in folders, nothing to decode? */
bool hub_file_is_plain(const char *file);

/* Forty lower-case hexadecimal digits: a commit. */
bool hub_is_sha(const char *text);

/* As a part of a URL or a file name: all but letters, digits and "-._" as %XX; caller frees. */
char *hub_quote(const char *text);
/* The same of each part of a path. */
char *hub_quote_path(const char *path);

#endif /* GPUCTL_HUB_NAME_H */
