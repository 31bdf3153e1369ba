// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: directories of configuration
 *
 * Which files are read, and in what order: those that end in .conf, by name in the
 * C locale, so that it is the same on every host. One of them in error fails the whole.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf_dir.h"

#define FILE_SIZE_MAX (1 << 20)
#define PATH_LENGTH_MAX 4096

static int conf_dir_read_all(int fd, char *buf, size_t size, size_t *len)
{
	ssize_t n;

	*len = 0;
	while (*len < size) {
		n = read(fd, buf + *len, size - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		*len += (size_t)n;
	}
	return 0;
}

static int parse_fd(int fd, const char *path, conf_file_fn fn, void *arg, struct fault *f)
{
	struct stat st;
	size_t len;
	char *buf;
	int err;

	if (fstat(fd, &st))
		return fault_set(f, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_SIZE_MAX)
		return fault_set(f, EINVAL, "%s: not a plain file of at most %d bytes", path,
				 FILE_SIZE_MAX);
	buf = malloc(FILE_SIZE_MAX + 1);
	if (!buf)
		return fault_set(f, ENOMEM, "out of memory");
	err = conf_dir_read_all(fd, buf, FILE_SIZE_MAX, &len);
	if (err)
		fault_set(f, -err, "%s: %s", path, strerror(-err));
	buf[len] = '\0';
	if (!err)
		err = fn(path, buf, len, arg, f);
	free(buf);
	return err;
}

int conf_file_read(const char *path, conf_file_fn fn, void *arg, struct fault *f)
{
	int fd, err;

	/* never wait for a writer of a fifo that somebody put there */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fault_set(f, errno, "%s: %s", path, strerror(errno));
	err = parse_fd(fd, path, fn, arg, f);
	close(fd);
	return err;
}

static int is_conf(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return d->d_name[0] != '.' && len > 5 && !strcmp(d->d_name + len - 5, ".conf");
}

static int conf_dir_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int conf_dir_each(const char *base, const char *sub, conf_path_fn fn, void *arg, struct fault *f)
{
	char dir[PATH_LENGTH_MAX], path[PATH_LENGTH_MAX + NAME_MAX + 2];
	struct dirent **names;
	int n, i;

	if (snprintf(dir, sizeof(dir), "%s/%s", base, sub) >= (int)sizeof(dir))
		return fault_set(f, ENAMETOOLONG, "%s: name too long", base);
	n = scandir(dir, &names, is_conf, conf_dir_by_name);
	if (n < 0)
		return fault_set(f, errno, "%s: %s", dir, strerror(errno));
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		fn(path, arg);
		free(names[i]);
	}
	free(names);
	return 0;
}

/**
 * struct dir_reading - files that are read until one fails
 */
struct dir_reading {
	conf_file_fn fn;
	void *arg;
	struct fault *f;
	int err;
};

static void read_next(const char *file, void *arg)
{
	struct dir_reading *r = arg;

	if (!r->err)
		r->err = conf_file_read(file, r->fn, r->arg, r->f);
}

int conf_dir_read(const char *base, const char *sub, bool needed, conf_file_fn fn, void *arg,
		  struct fault *f)
{
	struct dir_reading r = { fn, arg, f, 0 };
	struct fault missing = { "" };
	int err = conf_dir_each(base, sub, read_next, &r, &missing);

	if (err == -ENOENT && !needed)
		return 0;
	if (err)
		*f = missing;
	return err ? err : r.err;
}
