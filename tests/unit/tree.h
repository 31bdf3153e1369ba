/* SPDX-License-Identifier: GPL-2.0-only */
/* A small sysfs of the test's own. */
#ifndef TESTS_UNIT_TREE_H
#define TESTS_UNIT_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static inline void tree_folders(const char *dir, char *full)
{
	char *slash;

	for (slash = strchr(full + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
}

/* Write a file of @dir/@path, with the directories that it takes. */
static inline void tree_put(const char *dir, const char *path, const char *content)
{
	char *full = mem_printf("%s/%s", dir, path);
	FILE *f;

	tree_folders(dir, full);
	f = fopen(full, "w");
	if (f) {
		fputs(content, f);
		fclose(f);
	}
	free(full);
}

/* Make a symbolic link @dir/@path, with the directories that it takes; whether it is there. */
static inline bool tree_point(const char *dir, const char *path, const char *target)
{
	char *full = mem_printf("%s/%s", dir, path);
	int err;

	tree_folders(dir, full);
	err = symlink(target, full);
	free(full);
	return !err;
}

#endif /* TESTS_UNIT_TREE_H */
