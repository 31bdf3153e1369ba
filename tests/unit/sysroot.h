/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sysfs of the test's own, where libudev reads: mounted at /sys, seen by this process and
 * its children alone.
 */
#ifndef TESTS_UNIT_SYSROOT_H
#define TESTS_UNIT_SYSROOT_H

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tree.h"

static inline void sysroot_map(const char *file, unsigned int id)
{
	char *line = mem_printf("%u %u 1", id, id);
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, line, strlen(line)) < 0)
			perror(file);
		close(fd);
	}
	free(line);
}

/* Mount @dir at @at. Users other than root do it in a user namespace. */
static inline bool namespace_mount(const char *dir, const char *at)
{
	unsigned int uid = getuid(), gid = getgid();

	if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS))
		return false;
	if (uid) {
		tree_put("/proc/self", "setgroups", "deny");
		sysroot_map("/proc/self/uid_map", uid);
		sysroot_map("/proc/self/gid_map", gid);
	}
	return !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount(dir, at, NULL, MS_BIND, NULL);
}

/* Mount @dir at /sys. libudev wants a file system of type sysfs, unless told otherwise. */
static inline bool sysroot_mount(const char *dir)
{
	return !setenv("SYSTEMD_DEVICE_VERIFY_SYSFS", "0", 1) && namespace_mount(dir, "/sys");
}

/* The number of a device with a node is in a file of its own, too. */
static inline void sysroot_number(const char *dir, const char *path, const char *uevent)
{
	char *file = mem_printf("%s/dev", path), *text;
	unsigned int high, low;

	if (sscanf(uevent, "MAJOR=%u\nMINOR=%u", &high, &low) == 2) {
		text = mem_printf("%u:%u\n", high, low);
		tree_put(dir, file, text);
		free(text);
	}
	free(file);
}

/* Subsystems are classes, but for those that are buses. */
static inline void sysroot_class(const char *dir, const char *path, const char *subsystem)
{
	char *file = mem_printf("%sclass/%s/.is", strncmp(path, "sys/", 4) ? "" : "sys/", subsystem);

	if (strcmp(subsystem, "pci") && strcmp(subsystem, "usb"))
		tree_put(dir, file, "");
	free(file);
}

/* A device of sysfs: @dir/@path with its subsystem and the lines of its uevent file. */
static inline void sysroot_device(const char *dir, const char *path, const char *subsystem,
				  const char *uevent)
{
	char *file = mem_printf("%s/uevent", path), *link = mem_printf("%s/%s/subsystem", dir, path);
	char *target = mem_printf("/sys/class/%s", subsystem);

	tree_put(dir, file, uevent);
	sysroot_number(dir, path, uevent);
	sysroot_class(dir, path, subsystem);
	if (symlink(target, link))
		perror(link);
	free(target);
	free(link);
	free(file);
}

#endif /* TESTS_UNIT_SYSROOT_H */
