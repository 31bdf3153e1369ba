// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the cache
 *
 *     HOST/OWNER--NAME/COMMIT/             files of a commit, as far as sizing reads them
 *     HOST/OWNER--NAME/COMMIT--FILE/       the same for one file of it
 *     HOST/OWNER--NAME/ref--REVISION       the commit that a revision was last
 *
 * An entry is made under another name and renamed when it is whole; it is never changed
 * then. It has the version of who made it: another one may read more of the files.
 */
#include <dirent.h>
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
#include "cli/ctl.h"
#include "hub/cache.h"

#define MARK ".complete"
#define UNFINISHED ".new-"
#define NAME_LENGTH_MAX 250

static int cache_fail(const char *path, int err, struct fault *f)
{
	fault_set(f, err, "the cache %.300s: %s; XDG_CACHE_HOME names another place", path,
		  strerror(err));
	return err == EACCES || err == EPERM ? CTL_DENIED : CTL_FAILED;
}

static int make_path(const char *path)
{
	char *copy = mem_strdup(path), *slash = copy;
	int err = 0;

	while (!err && slash) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(copy, 0700) && errno != EEXIST)
			err = errno;
		if (slash)
			*slash = '/';
	}
	free(copy);
	return err;
}

static bool is_unfinished(const char *name)
{
	return !strncmp(name, UNFINISHED, strlen(UNFINISHED));
}

/* Everything below @name in @dir; links are removed, not followed. */
static int remove_tree(int dir, const char *name)
{
	struct dirent *entry;
	DIR *open;
	int fd;

	if (!unlinkat(dir, name, 0) || errno == ENOENT)
		return 0;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	open = fd < 0 ? NULL : fdopendir(fd);
	if (!open) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while ((entry = readdir(open)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			remove_tree(fd, entry->d_name);
	closedir(open);
	return unlinkat(dir, name, AT_REMOVEDIR) ? -errno : 0;
}

/* What runs that were killed have left; under the lock they are nobody's. */
static void sweep(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *open = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (open && (entry = readdir(open)))
		if (is_unfinished(entry->d_name))
			remove_tree(dir, entry->d_name);
	if (open)
		closedir(open);
}

static int cache_lock(struct hub_cache *cache, struct fault *f)
{
	struct stat st;
	int err = 0;

	cache->fd = open(cache->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cache->fd < 0)
		return cache_fail(cache->path, errno, f);
	if (fstat(cache->fd, &st))
		return cache_fail(cache->path, errno, f);
	if (st.st_uid != geteuid() || st.st_mode & 0022) {
		fault_set(f, EPERM,
			  "the cache %.300s is not used: others may write there; XDG_CACHE_HOME names another place",
			  cache->path);
		return CTL_DENIED;
	}
	cache->lock = openat(cache->fd, ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (cache->lock < 0)
		return cache_fail(cache->path, errno, f);
	while (flock(cache->lock, LOCK_EX)) {
		err = errno;
		if (err != EINTR)
			return cache_fail(cache->path, err, f);
	}
	sweep(cache->fd);
	return CTL_DONE;
}

int hub_cache_open(struct hub_cache *cache, const struct hub_settings *settings,
		   const struct hub_name *name, struct fault *f)
{
	char *slash, *repo = mem_strdup(name->repo), *file = hub_quote(name->file);
	int err;

	slash = strchr(repo, '/');
	if (slash)
		*slash = '\0';
	cache->path = mem_printf("%s/%s/%s%s%s", settings->cache, settings->key, repo,
				 slash ? "--" : "", slash ? slash + 1 : "");
	cache->suffix = mem_printf("%s%s", *file ? "--" : "", file);
	cache->fd = -1;
	cache->lock = -1;
	free(repo);
	free(file);
	if (strlen(cache->suffix) + HUB_SHA_LENGTH > NAME_LENGTH_MAX)
		return cache_fail(cache->path, ENAMETOOLONG, f);
	err = settings->offline ? 0 : make_path(cache->path);
	if (settings->offline && access(cache->path, F_OK) && errno == ENOENT)
		return CTL_DONE;
	return err ? cache_fail(cache->path, err, f) : cache_lock(cache, f);
}

void hub_cache_close(struct hub_cache *cache)
{
	if (cache->lock >= 0)
		close(cache->lock);
	if (cache->fd >= 0)
		close(cache->fd);
	free(cache->path);
	free(cache->suffix);
}

/* The first @n - 1 bytes of a small file of ours. */
static bool read_small(int dir, const char *name, char *text, size_t n)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, n - 1);

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

bool hub_cache_has(const struct hub_cache *cache, const char *sha)
{
	char *name = mem_printf("%s%s/" MARK, sha, cache->suffix), version[64];
	bool has = read_small(cache->fd, name, version, sizeof(version)) &&
		   !strcmp(version, GPUCTL_VERSION);

	free(name);
	return has;
}

char *hub_cache_list(const struct hub_cache *cache)
{
	int fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *open = fd < 0 ? NULL : fdopendir(fd);
	char sha[HUB_SHA_LENGTH + 1];
	struct text list = { 0 };
	struct dirent *entry;

	while (open && (entry = readdir(open))) {
		snprintf(sha, sizeof(sha), "%.*s", HUB_SHA_LENGTH, entry->d_name);
		if (hub_is_sha(sha) && !strcmp(entry->d_name + HUB_SHA_LENGTH, cache->suffix) &&
		    hub_cache_has(cache, sha))
			text_join(&list, " ", sha);
	}
	if (open)
		closedir(open);
	return list.text ? list.text : mem_strdup("");
}

bool hub_cache_commit(const struct hub_cache *cache, const char *revision,
		      char sha[HUB_SHA_LENGTH + 1])
{
	char *quoted = hub_quote(revision), *name = mem_printf("ref--%s", quoted);
	bool known = read_small(cache->fd, name, sha, HUB_SHA_LENGTH + 1) && hub_is_sha(sha);

	free(name);
	free(quoted);
	return known;
}

int hub_cache_set_commit(const struct hub_cache *cache, const char *revision, const char *sha,
			 struct fault *f)
{
	char *quoted = hub_quote(revision);
	char *path = mem_printf("%s/ref--%s", cache->path, quoted);
	char old[HUB_SHA_LENGTH + 1];
	int err = 0;

	if (!hub_cache_commit(cache, revision, old) || strcmp(old, sha))
		err = replace_file(path, sha, 0600);
	free(path);
	free(quoted);
	return err ? cache_fail(cache->path, -err, f) : CTL_DONE;
}

int hub_cache_begin(const struct hub_cache *cache, char **name, int *fd, struct fault *f)
{
	uint64_t number;

	*name = NULL;
	*fd = -1;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return cache_fail(cache->path, EIO, f);
	*name = mem_printf(UNFINISHED "%016llx", (unsigned long long)number);
	if (mkdirat(cache->fd, *name, 0700))
		return cache_fail(cache->path, errno, f);
	*fd = openat(cache->fd, *name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *fd < 0 ? cache_fail(cache->path, errno, f) : CTL_DONE;
}

void hub_cache_drop(const struct hub_cache *cache, const char *name)
{
	if (name)
		remove_tree(cache->fd, name);
}

static int adopt_tree(int dir, uid_t owner, unsigned int depth);

/*
 * Takes one entry over from who filled the folder, and has it reach the disk. It may be
 * nothing but a file of one name, or a folder, that @owner has made.
 */
static int adopt(int dir, const char *name, uid_t owner, unsigned int depth)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_uid != owner || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) ||
		 (S_ISREG(st.st_mode) && st.st_nlink != 1))
		err = -EPERM;
	else if ((owner != geteuid() && fchown(fd, geteuid(), getegid())) ||
		 fchmod(fd, S_ISDIR(st.st_mode) ? 0700 : 0600) || fsync(fd))
		err = -errno;
	else if (S_ISDIR(st.st_mode))
		err = adopt_tree(fd, owner, depth + 1);
	close(fd);
	return err;
}

static int adopt_tree(int dir, uid_t owner, unsigned int depth)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *open = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!open)
		return -errno;
	if (depth > HUB_DEPTH_MAX + 1)
		err = -ELOOP;
	while (!err && (entry = readdir(open)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err = adopt(dir, entry->d_name, owner, depth);
	closedir(open);
	return err;
}

static int write_mark(int dir)
{
	static const char version[] = GPUCTL_VERSION;
	int fd = openat(dir, MARK, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, version, strlen(version)) != (ssize_t)strlen(version) || fsync(fd))
		err = -EIO;
	close(fd);
	return err;
}

int hub_cache_keep(const struct hub_cache *cache, const char *name, int fd, uid_t owner,
		   const char *sha, struct fault *f)
{
	char *entry = mem_printf("%s%s", sha, cache->suffix);
	int err = 0;

	/* first the folder itself: nobody else can change what is in it from here on */
	if (owner != geteuid() && fchown(fd, geteuid(), getegid()))
		err = -errno;
	if (!err)
		err = adopt_tree(fd, owner, 0);
	if (!err)
		err = write_mark(fd);
	if (!err)
		err = remove_tree(cache->fd, entry);
	if (!err && (renameat(cache->fd, name, cache->fd, entry) || fsync(cache->fd)))
		err = -errno;
	free(entry);
	return err ? cache_fail(cache->path, -err, f) : CTL_DONE;
}

char *hub_cache_path(const struct hub_cache *cache, const char *sha, const char *file)
{
	return mem_printf("%s/%s%s%s%s", cache->path, sha, cache->suffix, *file ? "/" : "", file);
}
