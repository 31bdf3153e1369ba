/* SPDX-License-Identifier: GPL-2.0-only */
/* A small sysfs of the test's own. */
#ifndef TESTS_UNIT_TREE_H
#define TESTS_UNIT_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/text.h"

/* Write a file of @dir/@path, with the directories that it takes. */
static inline void tree_put(const char *dir, const char *path, const char *content)
{
	char *full = mem_printf("%s/%s", dir, path), *slash;
	FILE *f;

	for (slash = strchr(full + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	if (f) {
		fputs(content, f);
		fclose(f);
	}
	free(full);
}

#endif /* TESTS_UNIT_TREE_H */
