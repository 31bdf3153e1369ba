/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of a host: of this one, or of a copy that was recorded elsewhere. */
#ifndef GPUCTL_HOST_TREE_H
#define GPUCTL_HOST_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/**
 * struct tree - a host's files
 * @dir: where they are, "" for this host
 * @fd: that directory; what is looked up does not lead out of it
 */
struct tree {
	char *dir;
	int fd;
};

/* @dir NULL: this host. 0 or a negative errno with the reason. */
int tree_open(struct tree *tree, const char *dir, struct fault *fault);
void tree_close(struct tree *tree);
bool tree_is_live(const struct tree *tree);

/*
 * Paths are as on the host, without the slash in front. Contents are newly
 * allocated and end with a NUL, whatever else is in them.
 */
char *tree_read(const struct tree *tree, size_t *len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* No more than the first @max bytes, in one read. */
char *tree_begin(const struct tree *tree, size_t max, size_t *len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* No more than the last @max bytes. */
char *tree_end(const struct tree *tree, size_t max, size_t *len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The first line; NULL when there is no such file. */
char *tree_line(const struct tree *tree, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Write a file of this host that is there, in one write; 0 or a negative errno. */
int tree_write(const struct tree *tree, const char *text, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool tree_has(const struct tree *tree, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What a symbolic link says, NULL when there is none. */
char *tree_link(const struct tree *tree, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Names in a directory, sorted; free with tree_free_names(). */
char **tree_names(const struct tree *tree, size_t *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
typedef bool (*tree_keep_fn)(const char *name);
/* The same of those names that @keep wants. */
char **tree_names_if(const struct tree *tree, tree_keep_fn keep, size_t *n, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void tree_free_names(char **names, size_t n);

#endif /* GPUCTL_HOST_TREE_H */
