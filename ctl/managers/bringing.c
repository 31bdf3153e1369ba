// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests that bring GPUs
 *
 * Between the bind at a manager and the card in its slot, and between the end of a card and its
 * unbind, a slot looks as if nobody cared for it. So whoever brings or removes a GPU locks a file
 * of the slot for that time. Slots are locked and never managers: requests for other slots go on.
 * The kernel drops a lock with the process that has it, and the files stay. Looking at a lock takes
 * none, so nobody is refused because somebody looks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "managers/bringing.h"

#define LOCK_DIR "/run/gpuctl-slots"
#define LOCK_DIR_MODE 0700
#define LOCK_MODE 0600
#define SLOTS "sys/bus/pci/slots"

/* The whole file, by this descriptor alone. */
static int lock_file(int fd, int cmd, short *type)
{
	struct flock lock = { .l_type = *type, .l_whence = SEEK_SET };

	if (fcntl(fd, cmd, &lock))
		return errno == EAGAIN || errno == EACCES ? -EWOULDBLOCK : -errno;
	*type = lock.l_type;
	return 0;
}

int bringing_take(const char *dir, const char *name)
{
	short type = F_WRLCK;
	int at, fd, err = 0;

	if (!*name || strchr(name, '/'))
		return -EINVAL;
	if (mkdir(dir, LOCK_DIR_MODE) && errno != EEXIST)
		return -errno;
	at = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0)
		return -errno;
	fd = openat(at, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE);
	err = fd < 0 ? -errno : lock_file(fd, F_OFD_SETLK, &type);
	close(at);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Slots that this process has: it is no other request. */
static char **own;
static size_t n_own;

static void own_add(const char *name)
{
	own = mem_push(own, n_own, sizeof(*own));
	own[n_own++] = mem_strdup(name);
}

static bool own_has(const char *name, size_t *at)
{
	for (*at = 0; *at < n_own && strcmp(own[*at], name) != 0;)
		++*at;
	return *at < n_own;
}

static void own_remove(const char *name)
{
	size_t at;

	if (!own_has(name, &at))
		return;
	free(own[at]);
	own[at] = own[--n_own];
	if (n_own)
		return;
	free(own);
	own = NULL;
}

int bringing_begin(struct ctl_ctx *ctx, struct bringing *bringing, char *const *names,
		   const bool *which, size_t n)
{
	size_t i;
	int fd, ret = CTL_DONE;

	*bringing = (struct bringing){ .fds = mem_zalloc(n + 1, sizeof(*bringing->fds)),
				       .names = mem_zalloc(n + 1, sizeof(*bringing->names)),
				       .n = n };
	for (i = 0; i < n; i++) {
		bringing->fds[i] = -1;
		bringing->names[i] = mem_strdup(names[i]);
	}
	for (i = 0; i < n && !ret; i++) {
		if (which && !which[i])
			continue;
		fd = bringing_take(LOCK_DIR, names[i]);
		bringing->fds[i] = fd;
		if (fd >= 0)
			own_add(names[i]);
		if (fd == -EWOULDBLOCK)
			ret = ctl_fail(ctx, CTL_BUSY,
				       "slot %s: another request is bringing or removing its GPU",
				       names[i]);
		else if (fd < 0)
			ret = ctl_fail(ctx, fd == -EACCES ? CTL_DENIED : CTL_FAILED,
				       "slot %s cannot be locked: " LOCK_DIR "/%s: %s", names[i],
				       names[i], strerror(-fd));
	}
	if (ret)
		bringing_end(bringing);
	return ret;
}

void bringing_end(struct bringing *bringing)
{
	while (bringing->n) {
		char *name = bringing->names[--bringing->n];

		if (bringing->fds[bringing->n] >= 0) {
			own_remove(name);
			close(bringing->fds[bringing->n]);
		}
		free(name);
	}
	free(bringing->fds);
	free(bringing->names);
	*bringing = (struct bringing){ 0 };
}

/* Without making it. */
static int lock_open(const char *dir, const char *name)
{
	int at = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd;

	if (at < 0)
		return -errno;
	fd = openat(at, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(at);
	return fd;
}

bool bringing_look(const char *dir, const char *name)
{
	int fd = lock_open(dir, name);
	short type = F_RDLCK;
	bool locked;

	if (fd < 0)
		return true;
	locked = !lock_file(fd, F_OFD_GETLK, &type) && type != F_UNLCK;
	close(fd);
	return !locked;
}

int bringing_share(const char *dir, const char *name)
{
	int fd = lock_open(dir, name), err;
	short type = F_RDLCK;

	if (fd < 0)
		return fd;
	err = lock_file(fd, F_OFD_SETLK, &type);
	if (err)
		close(fd);
	return err ? err : fd;
}

bool bringing_is_free(const char *name)
{
	size_t at;

	return own_has(name, &at) || bringing_look(LOCK_DIR, name);
}

int bringing_keep(struct ctl_ctx *ctx, struct bringing *bringing, const char *name)
{
	size_t at;
	int fd;

	if (own_has(name, &at))
		return CTL_DONE;
	fd = bringing_share(LOCK_DIR, name);
	if (fd == -EWOULDBLOCK)
		return ctl_fail(ctx, CTL_BUSY,
				"slot %s: another request is bringing or removing its GPU", name);
	if (fd < 0)
		return CTL_DONE;
	bringing->fds = mem_grow(bringing->fds, bringing->n + 1, sizeof(*bringing->fds));
	bringing->names = mem_grow(bringing->names, bringing->n + 1, sizeof(*bringing->names));
	bringing->fds[bringing->n] = fd;
	bringing->names[bringing->n++] = mem_strdup(name);
	return CTL_DONE;
}

static bool file_says_yes(const struct tree *tree, const struct gf_slot *slot, const char *file)
{
	char *line = tree_line(tree, SLOTS "/%s/%s", slot->name, file);
	bool yes = line && *line == '1';

	free(line);
	return yes;
}

bool bringing_is_coming(const struct tree *tree, const struct gf_slot *slot)
{
	/* Without a controller power is always on. Not all slots have Slot Capabilities. */
	bool control = !slot->caps || slot->caps & GPUFABRIC_SLOT_CAP_POWER_CONTROLLER;

	if (slot->state == GF_STATE_EMPTY)
		return file_says_yes(tree, slot, "adapter");
	return slot->state == GF_STATE_OFF && control && file_says_yes(tree, slot, "adapter") &&
	       file_says_yes(tree, slot, "power");
}
