// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a disk that fails late
 *
 * As long as the file $FAILING_DISK exists, no directory reaches the disk: what was renamed or removed is
 * so, and whoever did it is told that it failed.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int fsync(int fd)
{
	const char *fails = getenv("FAILING_DISK");
	struct stat st;

	if (fails && !access(fails, F_OK) && !fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}
