// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the tree of a host
 *
 * A recorded tree was made by somebody else: links in it, absolute ones too,
 * lead to other files of it and never to ours, and what is no file is not read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "base/tree.h"

#define FILE_LIMIT (64u << 20)
#define OPEN_TRIES 10000
#define NAMES_BYTES 32768

int tree_open(struct tree *tree, const char *dir, struct fault *fault)
{
	tree->fd = open(dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	tree->dir = mem_strdup(dir ? dir : "");
	if (tree->fd < 0)
		return fault_set(fault, errno, "%s: %s", dir ? dir : "/", strerror(errno));
	return 0;
}

void tree_close(struct tree *tree)
{
	if (tree->fd >= 0)
		close(tree->fd);
	free(tree->dir);
	tree->dir = NULL;
	tree->fd = -1;
}

bool tree_is_live(const struct tree *tree)
{
	return !*tree->dir;
}

static int open_in(const struct tree *tree, const char *path, int flags)
{
	struct open_how how = { .resolve = RESOLVE_IN_ROOT };
	unsigned int tries = OPEN_TRIES;
	int fd;

	/* Neither wait for the other end of a FIFO nor get a terminal. */
	flags |= flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	how.flags = (unsigned int)flags;
	if (tree_is_live(tree))
		return openat(tree->fd, path, flags);
	/* A rename anywhere in the system can keep the kernel from following "..": once more. */
	do {
		fd = (int)syscall(SYS_openat2, tree->fd, path, &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN && --tries);
	return fd;
}

/* The path is formatted here, for all functions of this file. */
__attribute__((format(printf, 3, 0))) static int open_path(const struct tree *tree, int flags,
							   const char *fmt, va_list ap)
{
	char *path = mem_vprintf(fmt, ap);
	int fd = open_in(tree, path, flags);
	int saved = errno;

	free(path);
	errno = saved;
	return fd;
}

/* A file that has a size ends where less is read than was asked for; one of proc has none. */
static char *tree_read_all(int fd, bool sized, size_t *len)
{
	char *text = mem_zalloc(1, 1);
	size_t have = 0, room = 0;
	ssize_t n;

	do {
		if (have == room) {
			room = room ? 2 * room : 4096;
			text = mem_grow(text, room + 1, 1);
		}
		n = read(fd, text + have, room - have);
		have += n > 0 ? (size_t)n : 0;
	} while ((n > 0 || (n < 0 && errno == EINTR)) && have < FILE_LIMIT &&
		 !(sized && n > 0 && have < room));
	text[have] = '\0';
	if (len)
		*len = have;
	/* Some files of sysfs can be opened and not read. */
	if (n < 0 && !have) {
		free(text);
		return NULL;
	}
	return text;
}

/* Reads a file and closes it. @end: only this number of bytes at its end; 0 for all. */
static char *tree_read_fd(int fd, size_t *len, size_t end)
{
	char *text = NULL;
	struct stat st;

	if (len)
		*len = 0;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    (!end || st.st_size <= (off_t)end || lseek(fd, -(off_t)end, SEEK_END) >= 0))
		text = tree_read_all(fd, st.st_size, len);
	close(fd);
	return text;
}

char *tree_read(const struct tree *tree, size_t *len, const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_path(tree, O_RDONLY, fmt, ap);
	va_end(ap);
	return tree_read_fd(fd, len, 0);
}

char *tree_begin(const struct tree *tree, size_t max, size_t *len, const char *fmt, ...)
{
	char *text = NULL;
	struct stat st;
	ssize_t n = -1;
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_path(tree, O_RDONLY, fmt, ap);
	va_end(ap);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		text = mem_zalloc(max + 1, 1);
		n = read(fd, text, max);
	}
	if (fd >= 0)
		close(fd);
	*len = n > 0 ? (size_t)n : 0;
	return text;
}

char *tree_end(const struct tree *tree, size_t max, size_t *len, const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_path(tree, O_RDONLY, fmt, ap);
	va_end(ap);
	return tree_read_fd(fd, len, max);
}

char *tree_line(const struct tree *tree, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_path(tree, O_RDONLY, fmt, ap);
	va_end(ap);
	text = tree_read_fd(fd, NULL, 0);
	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

int tree_write(const struct tree *tree, const char *text, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;
	ssize_t n;
	int fd, ret = 0;

	va_start(ap, fmt);
	fd = open_path(tree, O_WRONLY, fmt, ap);
	va_end(ap);
	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	if (n != (ssize_t)len)
		ret = n < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

bool tree_has(const struct tree *tree, const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_path(tree, O_PATH, fmt, ap);
	va_end(ap);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

char *tree_link(const struct tree *tree, const char *fmt, ...)
{
	char *target = NULL, buf[PATH_MAX];
	ssize_t n = -1;
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_path(tree, O_PATH | O_NOFOLLOW, fmt, ap);
	va_end(ap);
	if (fd < 0)
		return NULL;
	n = readlinkat(fd, "", buf, sizeof(buf) - 1);
	close(fd);
	if (n > 0) {
		buf[n] = '\0';
		target = mem_strdup(buf);
	}
	return target;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/*
 * Reads a directory and closes it. Not readdir(): to open a DIR takes three system calls
 * more, and directories of sysfs are read by the dozen.
 */
static char **names_in(int fd, tree_keep_fn keep, size_t *n)
{
	_Alignas(8) char buf[NAMES_BYTES]; /* of struct dirent64 */
	char **names = NULL;
	ssize_t len, at;

	*n = 0;
	if (fd < 0)
		return NULL;
	while ((len = getdents64(fd, buf, sizeof(buf))) > 0) {
		for (at = 0; at < len;) {
			const struct dirent64 *entry = (const struct dirent64 *)(buf + at);

			at += entry->d_reclen;
			if (entry->d_name[0] == '.' || (keep && !keep(entry->d_name)))
				continue;
			names = mem_grow(names, *n + 1, sizeof(*names));
			names[(*n)++] = mem_strdup(entry->d_name);
		}
	}
	close(fd);
	if (*n)
		qsort(names, *n, sizeof(*names), compare_names);
	return names;
}

char **tree_names(const struct tree *tree, size_t *n, const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_path(tree, O_RDONLY | O_DIRECTORY, fmt, ap);
	va_end(ap);
	return names_in(fd, NULL, n);
}

char **tree_names_if(const struct tree *tree, tree_keep_fn keep, size_t *n, const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_path(tree, O_RDONLY | O_DIRECTORY, fmt, ap);
	va_end(ap);
	return names_in(fd, keep, n);
}

void tree_free_names(char **names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
}
