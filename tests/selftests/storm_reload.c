// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unloading the module in the middle of it, and loading it again. As long as
 * somebody holds GPUs it is refused, which is tried first; then the clients are
 * asked to take no more of them, while they go on asking and reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "storm.h"

#define TRIES_UNDER_LOAD 3

static int unload(void)
{
	int err = syscall(SYS_delete_module, "gpufabric", O_NONBLOCK) ? -errno : 0;

	atomic_fetch_add(&storm->tried, 1);
	if (err == -EWOULDBLOCK || err == -EBUSY)
		atomic_fetch_add(&storm->kept, 1);
	else if (err)
		storm_problem("unload: %s", strerror(-err));
	return err;
}

/* A client that asked for the family may have brought the module before us. */
static int load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)) {
		err = -errno;
		storm_problem("load: %s", strerror(-err));
	}
	if (fd >= 0)
		close(fd);
	return err;
}

static int unload_at_ebb(void)
{
	int err;

	pthread_mutex_lock(&storm->lock);
	storm->ebb = true;
	do {
		while (storm->live && storm_goes_on())
			storm_wait(1000);
		/* The last operation holds the module a moment longer than its last event. */
		storm_wait(1);
		pthread_mutex_unlock(&storm->lock);
		err = unload();
		pthread_mutex_lock(&storm->lock);
	} while ((err == -EWOULDBLOCK || err == -EBUSY) && storm_goes_on());
	storm->gone = !err;
	pthread_mutex_unlock(&storm->lock);
	return err;
}

static bool reload(const char *module)
{
	int err = -EWOULDBLOCK;

	atomic_fetch_add(&storm->reload, 1);
	for (int i = 0; i < TRIES_UNDER_LOAD && err; i++)
		err = unload();
	if (err && storm_goes_on())
		err = unload_at_ebb();
	if (!err && !load(module))
		atomic_fetch_add(&storm->loads, 1);
	pthread_mutex_lock(&storm->lock);
	storm->ebb = false;
	storm->gone = false;
	atomic_fetch_add(&storm->reload, 1);
	pthread_cond_broadcast(&storm->changed);
	pthread_mutex_unlock(&storm->lock);
	return !err;
}

/**
 * reload_again_and_again() - so many times, spread over the operations
 * @reloads: how many
 * @module: file of the module
 */
void reload_again_and_again(unsigned int reloads, const char *module)
{
	for (unsigned int i = 1; i <= reloads && storm_goes_on(); i++) {
		pthread_mutex_lock(&storm->lock);
		storm->next_reload = storm->wanted * i / (reloads + 1);
		while (storm->operations < storm->next_reload && storm_goes_on())
			storm_wait(1000);
		pthread_mutex_unlock(&storm->lock);
		if (!reload(module))
			break;
		atomic_fetch_sub(&storm->reloads, 1);
	}
	storm->reloads = 0;
}
