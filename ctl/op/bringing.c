// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests that bring GPUs
 *
 * Between the bind at a manager and the card in its slot, and between the end of a card and its
 * unbind, a slot looks as if nobody cared for it. So whoever brings or removes a GPU locks a file
 * of the slot for that time. Slots are locked and never managers: requests for other slots go on.
 * The kernel drops a lock with the process that has it, and the files stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "op/bringing.h"

#define LOCK_DIR "/run/gpuctl-slots"
#define LOCK_DIR_MODE 0700
#define LOCK_MODE 0600
#define SLOTS "sys/bus/pci/slots"

int bringing_take(const char *dir, const char *name)
{
	int at, fd, err = 0;

	if (!*name || strchr(name, '/'))
		return -EINVAL;
	if (mkdir(dir, LOCK_DIR_MODE) && errno != EEXIST)
		return -errno;
	at = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0)
		return -errno;
	fd = openat(at, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		err = -errno;
	close(at);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

int bringing_begin(struct ctl_ctx *ctx, struct bringing *bringing, char *const *names,
		   const bool *which, size_t n)
{
	size_t i;
	int fd, ret = CTL_DONE;

	*bringing = (struct bringing){ .fds = mem_zalloc(n + 1, sizeof(*bringing->fds)), .n = n };
	for (i = 0; i < n; i++)
		bringing->fds[i] = -1;
	for (i = 0; i < n && !ret; i++) {
		if (which && !which[i])
			continue;
		fd = bringing_take(LOCK_DIR, names[i]);
		bringing->fds[i] = fd;
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
	while (bringing->n)
		if (bringing->fds[--bringing->n] >= 0)
			close(bringing->fds[bringing->n]);
	free(bringing->fds);
	bringing->fds = NULL;
}

bool bringing_is_free(const char *name)
{
	int fd = bringing_take(LOCK_DIR, name);

	if (fd >= 0)
		close(fd);
	return fd != -EWOULDBLOCK;
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
