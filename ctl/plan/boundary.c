// SPDX-License-Identifier: GPL-2.0-only
/* DOC: boundaries in files, see boundary.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "plan/boundary.h"

#define FOLDER_MODE 0755
#define FILE_MODE 0644
#define LINE "boundary\n"
#define US_PER_S 1000000ull
#define NS_PER_US 1000

static char *boundary_path(const char *name)
{
	return mem_printf(BOUNDARY_FOLDER "/%s", name);
}

uint64_t boundary_last(const char *name)
{
	char *path = boundary_path(name);
	struct stat st;
	uint64_t at = 0;

	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		at = (uint64_t)st.st_mtim.tv_sec * US_PER_S +
		     (uint64_t)st.st_mtim.tv_nsec / NS_PER_US;
	free(path);
	return at;
}

int boundary_announce(struct ctl_ctx *ctx, const char *name)
{
	char *path = boundary_path(name);
	int fd = -1, ret = CTL_DONE;

	/* Its workload's user may write a file that is there, and make none. */
	mkdir(BOUNDARY_FOLDER, FOLDER_MODE);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd < 0 || write(fd, LINE, strlen(LINE)) != (ssize_t)strlen(LINE))
		ret = ctl_fail(ctx, errno == EACCES ? CTL_DENIED : CTL_FAILED, "%s: %s%s", path,
			       strerror(errno),
			       errno == EACCES ?
				       ": run gpuctl as root, or have root make the file for this user" :
				       "");
	if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}

int boundary_watch(void)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	mkdir(BOUNDARY_FOLDER, FOLDER_MODE);
	if (fd >= 0 &&
	    inotify_add_watch(fd, BOUNDARY_FOLDER,
			      IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_TO) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void boundary_hear(int fd)
{
	char events[4096];

	while (read(fd, events, sizeof(events)) > 0)
		;
}
