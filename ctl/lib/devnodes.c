// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: device nodes of a GPU
 *
 * Most nodes hang below the function in sysfs: whatever has a file "dev"
 * there (drm, sound, vfio devices, any class). Three kinds do not, and are
 * looked up by their own rules: the group node of vfio, the nodes of NVIDIA's
 * driver, which makes no class devices, neither for GPUs nor for the parts that one is
 * cut into (MIG), and the one node that all AMD GPUs share for compute.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/devnodes.h"
#include "lib/text.h"

/* Class devices sit a few levels below their function. */
#define DEPTH_MAX 8
#define NVIDIA_MAJOR 195

static struct devnode *add(struct devnodes *nodes, dev_t rdev, const char *name, size_t slot)
{
	struct devnode *node;

	nodes->items = mem_grow(nodes->items, nodes->n + 1, sizeof(*node));
	node = &nodes->items[nodes->n++];
	memset(node, 0, sizeof(*node));
	node->rdev = rdev;
	node->name = mem_strdup(name);
	node->slot = slot;
	return node;
}

void devnodes_free(struct devnodes *nodes)
{
	size_t i;

	for (i = 0; i < nodes->n; i++)
		free(nodes->items[i].name);
	free(nodes->items);
	memset(nodes, 0, sizeof(*nodes));
}

/* First line of a small file, "" when it cannot be read. */
static void read_line(int dir, const char *name, char *buf, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, buf, size - 1);
		close(fd);
	}
	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

/* DEVNAME of a uevent file, else the name of the device itself. */
static char *node_name(int dir, const char *fallback)
{
	char buf[4096];
	char *line, *rest = buf;
	int fd = openat(dir, "uevent", O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, buf, sizeof(buf) - 1);
		close(fd);
	}
	buf[n > 0 ? n : 0] = '\0';
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, "DEVNAME=", 8))
			return mem_printf("/dev/%s", line + 8);
	return mem_printf("/dev/%s", fallback);
}

static bool parse_dev(const char *text, dev_t *rdev)
{
	unsigned int major_number, minor_number;

	if (sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
		return false;
	*rdev = makedev(major_number, minor_number);
	return true;
}

static bool is_block(int dir)
{
	char target[256];
	ssize_t n = readlinkat(dir, "subsystem", target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	return !strcmp(target + (n > 6 ? n - 6 : 0), "/block");
}

/* Takes over @dir. Links are not followed: they lead to other devices. */
static void walk(struct devnodes *nodes, int dir, const char *name, size_t slot, int depth)
{
	char text[64];
	struct dirent *entry;
	dev_t rdev;
	DIR *d;

	read_line(dir, "dev", text, sizeof(text));
	if (parse_dev(text, &rdev)) {
		char *path = node_name(dir, name);

		add(nodes, rdev, path, slot)->block = is_block(dir);
		free(path);
	}
	d = fdopendir(dir);
	if (!d) {
		close(dir);
		return;
	}
	while (depth < DEPTH_MAX && (entry = readdir(d))) {
		int sub;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		sub = openat(dirfd(d), entry->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			walk(nodes, sub, entry->d_name, slot, depth + 1);
	}
	closedir(d);
}

static void add_vfio_group(struct devnodes *nodes, const char *sys, uint32_t group, size_t slot)
{
	char *path = mem_printf("%s/class/vfio/%u", sys, group);
	char *name = mem_printf("/dev/vfio/%u", group);
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[64];
	dev_t rdev;

	if (dir >= 0) {
		read_line(dir, "dev", text, sizeof(text));
		if (parse_dev(text, &rdev))
			add(nodes, rdev, name, slot);
		close(dir);
	}
	free(name);
	free(path);
}

/* The number that the kernel gave a character driver, 0 when there is no such driver. */
static unsigned int major_of(const char *proc, const char *driver)
{
	char *path = mem_printf("%s/devices", proc);
	FILE *f = fopen(path, "re");
	char line[128], name[64];
	unsigned int number, found = 0;

	free(path);
	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%u %63s", &number, name) == 2 && !strcmp(name, driver))
			found = number;
	if (f)
		fclose(f);
	return found;
}

/* The node that opens a part of a GPU, by the file that says so. */
static void add_cap(struct devnodes *nodes, int dir, unsigned int caps, size_t slot)
{
	int fd = openat(dir, "access", O_RDONLY | O_CLOEXEC);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	unsigned int number;
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "DeviceFileMinor: %u", &number) != 1)
			continue;
		char *name = mem_printf("/dev/nvidia-caps/nvidia-cap%u", number);

		add(nodes, makedev(caps, number), name, slot);
		free(name);
		break;
	}
	if (f)
		fclose(f);
}

/* Takes over @dir: GPU instances, and compute instances below them. */
static void walk_caps(struct devnodes *nodes, int dir, unsigned int caps, size_t slot, int depth)
{
	struct dirent *entry;
	DIR *d;

	add_cap(nodes, dir, caps, slot);
	d = fdopendir(dir);
	if (!d) {
		close(dir);
		return;
	}
	while (depth < DEPTH_MAX && (entry = readdir(d))) {
		int sub;

		/* Files of proc do not always tell their kind. */
		if (entry->d_name[0] == '.')
			continue;
		sub = openat(dirfd(d), entry->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			walk_caps(nodes, sub, caps, slot, depth + 1);
	}
	closedir(d);
}

/* A GPU that is cut into instances (MIG): each has a node of its own. */
static void add_instances(struct devnodes *nodes, const char *proc, unsigned int gpu, size_t slot)
{
	char *path = mem_printf("%s/driver/nvidia/capabilities/gpu%u/mig", proc, gpu);
	unsigned int caps = major_of(proc, "nvidia-caps");
	int dir = caps ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (dir >= 0)
		walk_caps(nodes, dir, caps, slot, 0);
	free(path);
}

/* NVIDIA's driver tells the minor of a GPU in a file of its own. */
static void add_nvidia(struct devnodes *nodes, const char *proc, const char *address, size_t slot)
{
	char *path = mem_printf("%s/driver/nvidia/gpus/%s/information", proc, address);
	FILE *f = fopen(path, "re");
	char line[256];
	unsigned int number;

	free(path);
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Device Minor: %u", &number) != 1)
			continue;
		char *name = mem_printf("/dev/nvidia%u", number);

		add(nodes, makedev(NVIDIA_MAJOR, number), name, slot);
		free(name);
		add_instances(nodes, proc, number, slot);
		break;
	}
	if (f)
		fclose(f);
}

/* Does a node of the kfd's topology describe the function at @address? */
static bool kfd_node_is(int dir, const char *address)
{
	unsigned int domain, bus, device, function;
	unsigned long long value, location = 0, node_domain = 0;
	char line[128], key[64];
	FILE *f;
	int fd;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return false;
	fd = openat(dir, "properties", O_RDONLY | O_CLOEXEC);
	f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %llu", key, &value) != 2)
			continue;
		if (!strcmp(key, "location_id"))
			location = value;
		if (!strcmp(key, "domain"))
			node_domain = value;
	}
	fclose(f);
	return node_domain == domain && location == (bus << 8 | device << 3 | function);
}

static void add_kfd(struct devnodes *nodes, const char *sys, const char *address, size_t slot)
{
	char *path = mem_printf("%s/class/kfd/kfd/topology/nodes", sys);
	char *dev = mem_printf("%s/class/kfd/kfd/dev", sys);
	char text[64];
	struct dirent *entry;
	dev_t rdev;
	DIR *d;

	read_line(AT_FDCWD, dev, text, sizeof(text));
	d = opendir(path);
	while (d && parse_dev(text, &rdev) && (entry = readdir(d))) {
		char id[32];
		int dir;

		if (entry->d_name[0] == '.')
			continue;
		dir = openat(dirfd(d), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			continue;
		read_line(dir, "gpu_id", id, sizeof(id));
		if (kfd_node_is(dir, address)) {
			struct devnode *node = add(nodes, rdev, "/dev/kfd", slot);

			node->shared = true;
			node->gpu_id = (unsigned int)strtoul(id, NULL, 10);
		}
		close(dir);
	}
	if (d)
		closedir(d);
	free(dev);
	free(path);
}

void devnodes_add(struct devnodes *nodes, const char *sys, const char *proc,
		  const struct gf_function *function, size_t slot)
{
	char *path;
	int dir;

	if (!function->address)
		return;
	path = mem_printf("%s/bus/pci/devices/%s", sys, function->address);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		walk(nodes, dir, function->address, slot, 0);
	free(path);

	if (function->has.iommu_group)
		add_vfio_group(nodes, sys, function->iommu_group, slot);
	if (function->driver && !strcmp(function->driver, "nvidia"))
		add_nvidia(nodes, proc, function->address, slot);
	if (function->driver && !strcmp(function->driver, "amdgpu"))
		add_kfd(nodes, sys, function->address, slot);
}
