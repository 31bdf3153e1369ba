/* SPDX-License-Identifier: GPL-2.0-only */
/* What was brought from the Hub, by endpoint, model and commit. */
#ifndef GPUCTL_HUB_CACHE_H
#define GPUCTL_HUB_CACHE_H

#include <sys/types.h>

#include "hub/name.h"
#include "hub/settings.h"

/**
 * struct hub_cache - the entries of one model
 * @path: its folder, @fd is open there; -1 where there is none, offline
 * @lock: nobody else changes it as long as this is open
 * @suffix: what entries have behind their commit: "" or a file
 */
struct hub_cache {
	char *path;
	int fd;
	int lock;
	char *suffix;
};

/* These return enum ctl_exit, with the reason in @f. Opening waits for who has it. */
int hub_cache_open(struct hub_cache *cache, const struct hub_settings *settings,
		   const struct hub_name *name, struct fault *f);
void hub_cache_close(struct hub_cache *cache);

/* Is all of that commit there? */
bool hub_cache_has(const struct hub_cache *cache, const char *sha);

/* All commits that are there, with blanks between them; caller frees. */
char *hub_cache_list(const struct hub_cache *cache);

/* The commit that a revision was when it was asked for last; false if it never was. */
bool hub_cache_commit(const struct hub_cache *cache, const char *revision,
		      char sha[HUB_SHA_LENGTH + 1]);
int hub_cache_set_commit(const struct hub_cache *cache, const char *revision, const char *sha,
			 struct fault *f);

/* A folder to fill, open in @fd, with a name that hub_cache_drop() or _keep() wants. */
int hub_cache_begin(const struct hub_cache *cache, char **name, int *fd, struct fault *f);
void hub_cache_drop(const struct hub_cache *cache, const char *name);
/* It is whole: @owner filled it. */
int hub_cache_keep(const struct hub_cache *cache, const char *name, int fd, uid_t owner,
		   const char *sha, struct fault *f);

/* What is to be sized: the folder of that commit, or a file in it; caller frees. */
char *hub_cache_path(const struct hub_cache *cache, const char *sha, const char *file);

#endif /* GPUCTL_HUB_CACHE_H */
