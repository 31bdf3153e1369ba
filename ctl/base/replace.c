// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: replacing files
 *
 * All happens through a descriptor of the directory, so that it stays the
 * same one whatever its path becomes. The new file gets its mode and reaches
 * the disk before its name does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"

#define TRIES 8

static int replace_write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		left -= (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

/* The directory of a path, and what the file is called in it. */
static int open_directory(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_printf("%.*s/", (int)(slash - path), path) : mem_strdup(".");
	struct stat st;
	int fd;

	*name = slash ? slash + 1 : path;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	if (fd < 0)
		return -errno;
	if (!**name || !strcmp(*name, ".") || !strcmp(*name, "..")) {
		close(fd);
		return -EISDIR;
	}
	/* Root writes for others, who must be able to rely on what they find. */
	if (!geteuid() && (fstat(fd, &st) || (st.st_mode & 01002) == 0002)) {
		close(fd);
		return -EXDEV;
	}
	return fd;
}

/* A file that nobody else has made, under a name that nobody guesses. */
static int open_new(int dir, const char *name, char **temporary)
{
	int fd = -1, tries;

	*temporary = NULL;
	for (tries = 0; tries < TRIES && fd < 0; tries++) {
		uint64_t number;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		free(*temporary);
		*temporary = mem_printf(".%.200s.%016llx", name, (unsigned long long)number);
		fd = openat(dir, *temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

static int replace_in(int dir, const char *name, const char *text, mode_t mode)
{
	char *temporary;
	int fd = open_new(dir, name, &temporary), err;

	if (fd < 0) {
		free(temporary);
		return fd;
	}
	/* Not left to the umask: it is meant for readers. */
	err = fchmod(fd, mode) ? -errno : replace_write_all(fd, text);
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, temporary, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temporary, 0);
	else if (fsync(dir)) /* a name is on the disk once its directory is */
		err = -errno;
	free(temporary);
	return err;
}

int replace_file(const char *path, const char *text, mode_t mode)
{
	const char *name;
	int dir = open_directory(path, &name), err;

	if (dir < 0)
		return dir;
	err = replace_in(dir, name, text, mode);
	close(dir);
	return err;
}

int replace_remove(const char *path)
{
	const char *name;
	int dir = open_directory(path, &name), err = 0;

	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	if (unlinkat(dir, name, 0) && errno != ENOENT)
		err = -errno;
	if (!err && fsync(dir))
		err = -errno;
	close(dir);
	return err;
}

int replace_lock(const char *path)
{
	const char *name;
	int dir = open_directory(path, &name), fd, err;
	char *lock;

	if (dir < 0)
		return dir;
	lock = mem_printf(".%.200s.lock", name);
	fd = openat(dir, lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	err = fd < 0 || flock(fd, LOCK_EX) ? -errno : 0;
	if (err && fd >= 0)
		close(fd);
	free(lock);
	close(dir);
	return err ? err : fd;
}

const char *replace_error(int err)
{
	return err == -EXDEV ? "anybody may rename files in its directory" : strerror(-err);
}
