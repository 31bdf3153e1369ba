// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest in small: opens the container, the group and the device of vfio, says so, and
 * holds them until its input ends.
 *
 *   gfvfio [-name NAME] GROUP ADDRESS
 *
 * The name is there to be read from the command line, as that of a guest is.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "gfvfio: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	char path[64], rest[64];
	int container, group;

	if (argc > 2 && !strcmp(argv[1], "-name")) {
		argc -= 2;
		argv += 2;
	}
	if (argc != 3) {
		fputs("usage: see the first lines of gfvfio.c\n", stderr);
		return 2;
	}
	container = open("/dev/vfio/vfio", O_RDWR);
	snprintf(path, sizeof(path), "/dev/vfio/%s", argv[1]);
	group = open(path, O_RDWR);
	if (container < 0 || group < 0)
		return fail(path);
	if (ioctl(group, VFIO_GROUP_GET_STATUS, &status))
		return fail("status");
	if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE)) {
		fputs("gfvfio: the group is not viable\n", stderr);
		return 1;
	}
	if (ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) ||
	    ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU))
		return fail("container");
	if (ioctl(group, VFIO_GROUP_GET_DEVICE_FD, argv[2]) < 0)
		return fail(argv[2]);
	puts("held");
	fflush(stdout);
	while (read(STDIN_FILENO, rest, sizeof(rest)) > 0)
		;
	return 0;
}
