// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: links below /dev/gpufabric
 *
 *   by-slot/SLOT/NODE           a GPU's own nodes
 *   by-composition/NAME/SLOT    the directories of its slots
 *   char/MAJOR:MINOR            links of /dev/char that were made here
 *
 * Drivers that make their nodes without the kernel's help leave /dev/char
 * without links, and container runtimes then lose the right to open them.
 * What of /dev/char is ours is remembered in char/, nothing else is removed.
 *
 * Every directory is opened as one, never through a link, and has to be ours:
 * whatever somebody puts there leads nobody elsewhere.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"
#include "publish/devlinks.h"

#define DEPTH_MAX 3
#define LOCK ".lock"
#define NEW ".new"
#define TARGET_LEN_MAX 512

static bool devlinks_is_part(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static bool devlinks_wanted(const struct devlinks *links, const char *path)
{
	size_t i;

	for (i = 0; i < links->n; i++)
		if (!strcmp(links->items[i].path, path))
			return true;
	return false;
}

/* Takes over the strings. */
static void devlinks_add(struct devlinks *links, char *path, char *target, char *number)
{
	struct devlink *link;

	if (devlinks_wanted(links, path)) {
		free(path);
		free(target);
		free(number);
		return;
	}
	links->items = mem_grow(links->items, links->n + 1, sizeof(*link));
	link = &links->items[links->n++];
	*link = (struct devlink){ path, target, number };
}

void devlinks_free(struct devlinks *links)
{
	size_t i;

	for (i = 0; i < links->n; i++) {
		free(links->items[i].path);
		free(links->items[i].target);
		free(links->items[i].number);
	}
	free(links->items);
	memset(links, 0, sizeof(*links));
}

/* Does the node exist with that number? Else its link in /dev/char would be wrong. */
static bool devlinks_exists(const struct places *places, const struct gpunode *node)
{
	char *path = mem_printf("%s%s", places->root, node->path);
	struct stat st;
	bool is = !stat(path, &st) && S_ISCHR(st.st_mode) && st.st_rdev == node->rdev;

	free(path);
	return is;
}

static void want_slot(struct devlinks *links, const struct places *places,
		      const struct vendors *vendors, const struct gf_slot *slot)
{
	struct gpunodes nodes = { 0 };
	size_t i;

	gpunodes_add(&nodes, places, vendors, slot);
	for (i = 0; i < nodes.n; i++) {
		const struct gpunode *node = &nodes.items[i];
		const char *below = node->path + strlen("/dev/");
		char *number;

		if (node->alias)
			continue;
		if (!node->shared)
			devlinks_add(links,
				     mem_printf("by-slot/%s/%s", slot->name,
						strrchr(node->path, '/') + 1),
				     mem_printf("../../../%s", below), NULL);
		if (node->block || !devlinks_exists(places, node))
			continue;
		number = mem_printf("%u:%u", major(node->rdev), minor(node->rdev));
		devlinks_add(links, mem_printf("char/%s", number), mem_printf("../../%s", below),
			     number);
	}
	gpunodes_free(&nodes);
}

void devlinks_want(struct devlinks *links, const struct gf_fabric *fabric,
		   const struct places *places, const struct vendors *vendors)
{
	size_t i;

	memset(links, 0, sizeof(*links));
	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];

		if (slot->state != GF_STATE_READY || !devlinks_is_part(slot->name))
			continue;
		want_slot(links, places, vendors, slot);
		if (!slot->composition || !devlinks_is_part(slot->composition))
			continue;
		devlinks_add(links,
			     mem_printf("by-composition/%s/%s", slot->composition, slot->name),
			     mem_printf("../../by-slot/%s", slot->name), NULL);
	}
}

/* A directory of ours in @dir. */
static int open_ours(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 0022) {
		close(fd);
		return -EXDEV;
	}
	return fd;
}

static int make_ours(int dir, const char *name)
{
	int fd;

	if (mkdirat(dir, name, 0755) && errno != EEXIST)
		return -errno;
	fd = open_ours(dir, name);
	/* Whatever the umask was when it was made. */
	if (fd >= 0)
		fchmod(fd, 0755);
	return fd;
}

int devlinks_open(const char *dev, bool dry, int *lock)
{
	int above = open(dev, O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir;

	*lock = -1;
	if (above < 0)
		return -errno;
	dir = dry ? open_ours(above, "gpufabric") : make_ours(above, "gpufabric");
	close(above);
	if (dir < 0 || dry)
		return dir;
	/* A file that only we can open, or anybody could keep us waiting. */
	*lock = openat(dir, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*lock < 0 || flock(*lock, LOCK_EX)) {
		int err = -errno;

		if (*lock >= 0)
			close(*lock);
		*lock = -1;
		close(dir);
		return err;
	}
	return dir;
}

static bool leads_to(int dir, const char *name, const char *target)
{
	char is[TARGET_LEN_MAX];
	ssize_t n = readlinkat(dir, name, is, sizeof(is) - 1);

	if (n < 0)
		return false;
	is[n] = '\0';
	return !strcmp(is, target);
}

/* The link of /dev/char that a link of char/ stands for, if it is still that one. */
static void remove_char(int dir, const char *name, const char *dev)
{
	char target[TARGET_LEN_MAX], *path = mem_printf("%s/char", dev);
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
	int chars = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (n > 3 && chars >= 0) {
		target[n] = '\0';
		/* One directory less between it and the node. */
		if (!strncmp(target, "../", 3) && leads_to(chars, name, target + 3))
			unlinkat(chars, name, 0);
	}
	if (chars >= 0)
		close(chars);
	free(path);
}

/**
 * struct sweep - removing what is not wanted
 * @dev: where /dev is
 * @want: what stays
 * @dry: only count
 * @done: the count
 */
struct sweep {
	const char *dev;
	const struct devlinks *want;
	bool dry;
	struct devlinks_done *done;
};

static void sweep_link(struct sweep *sweep, int dir, const char *name, const char *path)
{
	size_t i;

	for (i = 0; i < sweep->want->n; i++)
		if (!strcmp(sweep->want->items[i].path, path) &&
		    leads_to(dir, name, sweep->want->items[i].target))
			return;
	sweep->done->removed++;
	if (sweep->dry)
		return;
	if (!strncmp(path, "char/", 5))
		remove_char(dir, name, sweep->dev);
	unlinkat(dir, name, 0);
}

/* Takes over @dir. */
static void sweep_directory(struct sweep *sweep, int dir, const char *prefix, int depth)
{
	struct dirent *entry;
	DIR *d = fdopendir(dir);

	if (!d) {
		close(dir);
		return;
	}
	while ((entry = readdir(d))) {
		char *path;
		int sub;

		if (entry->d_name[0] == '.')
			continue;
		path = mem_printf("%s%s", prefix, entry->d_name);
		if (entry->d_type == DT_LNK) {
			sweep_link(sweep, dirfd(d), entry->d_name, path);
		} else if (entry->d_type == DT_DIR && depth < DEPTH_MAX) {
			char *below = mem_printf("%s/", path);

			sub = open_ours(dirfd(d), entry->d_name);
			if (sub >= 0)
				sweep_directory(sweep, sub, below, depth + 1);
			free(below);
			/* Goes when nothing is left in it. */
			if (!sweep->dry)
				unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR);
		}
		free(path);
	}
	closedir(d);
}

/* Puts a link in the place of whatever link was there. 1 when it was made, 0 when it was there. */
static int devlinks_put_link(int dir, const char *name, const char *target, bool dry)
{
	if (leads_to(dir, name, target))
		return 0;
	if (dry)
		return 1;
	unlinkat(dir, NEW, 0);
	if (symlinkat(target, dir, NEW))
		return -errno;
	if (renameat(dir, NEW, dir, name)) {
		int err = -errno;

		unlinkat(dir, NEW, 0);
		return err;
	}
	return 1;
}

/*
 * /dev/char: only what is not there. -EEXIST when somebody else has made it,
 * so that it is not remembered as ours.
 */
static int put_char(int dir, const char *dev, const struct devlink *link, bool dry)
{
	char *path = mem_printf("%s/char", dev);
	int chars = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ours, err = 0;
	struct stat st;
	bool there;

	free(path);
	if (chars < 0)
		return errno == ENOENT ? -EEXIST : -errno;
	there = !fstatat(chars, link->number, &st, AT_SYMLINK_NOFOLLOW);
	ours = dir < 0 ? -1 : openat(dir, "char", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (there && (ours < 0 || !leads_to(ours, link->number, link->target)))
		err = -EEXIST;
	else if (!there && !dry && symlinkat(link->target + 3, chars, link->number))
		err = -errno;
	if (ours >= 0)
		close(ours);
	close(chars);
	return err;
}

/* Makes the directories of a path below @dir; a descriptor of the last one. */
static int open_parent(int dir, const char *path, const char **name, bool dry)
{
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	while (at >= 0 && (slash = strchr(path, '/'))) {
		char *part = mem_printf("%.*s", (int)(slash - path), path);
		int next = dry ? open_ours(at, part) : make_ours(at, part);

		free(part);
		close(at);
		at = next;
		path = slash + 1;
	}
	*name = path;
	return at;
}

static int apply_one(int dir, const char *dev, const struct devlink *link, bool dry)
{
	const char *name;
	int parent, ret;

	if (link->number) {
		ret = put_char(dir, dev, link, dry);
		if (ret)
			return ret == -EEXIST ? 0 : ret;
	}
	parent = dir < 0 ? -ENOENT : open_parent(dir, link->path, &name, dry);
	if (parent < 0)
		return dry && parent == -ENOENT ? 1 : parent;
	ret = devlinks_put_link(parent, name, link->target, dry);
	close(parent);
	return ret;
}

int devlinks_apply(int dir, const char *dev, const struct devlinks *want, bool dry,
		   struct devlinks_done *done)
{
	struct sweep sweep = { dev, want, dry, done };
	int err = 0, ret, copy;
	size_t i;

	memset(done, 0, sizeof(*done));
	/* Reads its own position: not that of @dir. */
	copy = dir < 0 ? -1 : openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy >= 0)
		sweep_directory(&sweep, copy, "", 0);
	for (i = 0; i < want->n; i++) {
		ret = apply_one(dir, dev, &want->items[i], dry);
		if (ret > 0)
			done->made++;
		else if (ret < 0 && !err)
			err = ret;
	}
	return err;
}
