// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: device nodes of a GPU
 *
 * libudev enumerates the devices below the function (drm, sound, vfio devices, any class)
 * and names their nodes. Three kinds of nodes are elsewhere and have rules of their own: the
 * group node of vfio; the nodes of NVIDIA's driver, which makes class devices neither for
 * GPUs nor for their instances (MIG); and the node that all AMD GPUs share for compute.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"
#include "host/devnodes.h"

/* Compute instances are below GPU instances. */
#define DEPTH_MAX 8
#define NVIDIA_MAJOR 195

static struct devnode *devnode_new(struct devnodes *nodes, dev_t rdev, const char *name,
				   size_t slot)
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

/*
 * Is it a device of a class? Only these are asked for their name: it is in the attribute
 * "uevent", which waits for the device's lock, and a driver that never ends its removal of a
 * device on a bus holds that for ever. Devices of a class have no drivers.
 */
static bool is_of_class(const char *subsystem)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/%s", subsystem);
	return strcmp(subsystem, "block") == 0 || !access(path, F_OK);
}

/* The node of a device on a bus, as udev's links by number tell; its number without them. */
static char *bus_node_name(dev_t rdev)
{
	char *link = mem_printf("/dev/char/%u:%u", major(rdev), minor(rdev));
	char *name = realpath(link, NULL);

	if (!name)
		name = mem_printf("%u:%u", major(rdev), minor(rdev));
	free(link);
	return name;
}

static void devnodes_add_device(struct devnodes *nodes, struct udev_device *device, size_t slot)
{
	const char *number = udev_device_get_sysattr_value(device, "dev");
	const char *subsystem = udev_device_get_subsystem(device), *name;
	unsigned int high, low;
	char *found;

	if (!number || !subsystem || sscanf(number, "%u:%u", &high, &low) != 2)
		return;
	if (!is_of_class(subsystem)) {
		found = bus_node_name(makedev(high, low));
		devnode_new(nodes, makedev(high, low), found, slot);
		free(found);
		return;
	}
	name = udev_device_get_devnode(device);
	if (name)
		devnode_new(nodes, makedev(high, low), name, slot)->block =
			!strcmp(subsystem, "block");
}

/* Whatever has a node below @parent, of any class. */
static void devnodes_add_below(struct devnodes *nodes, struct udev *udev,
			       struct udev_device *parent, size_t slot)
{
	struct udev_enumerate *below = udev_enumerate_new(udev);
	struct udev_list_entry *entry;

	udev_enumerate_add_match_parent(below, parent);
	udev_enumerate_scan_devices(below);
	for (entry = udev_enumerate_get_list_entry(below); entry;
	     entry = udev_list_entry_get_next(entry)) {
		struct udev_device *device =
			udev_device_new_from_syspath(udev, udev_list_entry_get_name(entry));

		if (device)
			devnodes_add_device(nodes, device, slot);
		udev_device_unref(device);
	}
	udev_enumerate_unref(below);
}

static void add_vfio_group(struct devnodes *nodes, struct udev *udev, uint32_t group, size_t slot)
{
	char name[16];
	struct udev_device *device;

	snprintf(name, sizeof(name), "%u", group);
	device = udev_device_new_from_subsystem_sysname(udev, "vfio", name);
	if (device)
		devnodes_add_device(nodes, device, slot);
	udev_device_unref(device);
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

		devnode_new(nodes, makedev(caps, number), name, slot);
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

		devnode_new(nodes, makedev(NVIDIA_MAJOR, number), name, slot);
		free(name);
		add_instances(nodes, proc, number, slot);
		break;
	}
	if (f)
		fclose(f);
}

/* Does node @number of the topology describe the function at @address? */
static bool kfd_node_is(struct udev_device *kfd, unsigned int number, const char *address)
{
	unsigned long long value, location = 0, node_domain = 0;
	unsigned int domain, bus, device, function;
	char name[64], key[64];
	const char *line;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return false;
	snprintf(name, sizeof(name), "topology/nodes/%u/properties", number);
	line = udev_device_get_sysattr_value(kfd, name);
	while (line && *line) {
		if (sscanf(line, "%63s %llu", key, &value) == 2) {
			if (!strcmp(key, "location_id"))
				location = value;
			if (!strcmp(key, "domain"))
				node_domain = value;
		}
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return node_domain == domain && location == (bus << 8 | device << 3 | function);
}

/* The nodes of the topology are numbered from 0 without a gap. */
static void add_kfd(struct devnodes *nodes, struct udev *udev, const char *address, size_t slot)
{
	struct udev_device *kfd = udev_device_new_from_subsystem_sysname(udev, "kfd", "kfd");
	const char *id, *path = kfd ? udev_device_get_devnode(kfd) : NULL;
	char name[64];
	unsigned int i;

	for (i = 0; path; i++) {
		struct devnode *node;

		snprintf(name, sizeof(name), "topology/nodes/%u/gpu_id", i);
		id = udev_device_get_sysattr_value(kfd, name);
		if (!id)
			break;
		if (!kfd_node_is(kfd, i, address))
			continue;
		node = devnode_new(nodes, udev_device_get_devnum(kfd), path, slot);
		node->shared = true;
		node->gpu_id = (unsigned int)strtoul(id, NULL, 10);
	}
	udev_device_unref(kfd);
}

void devnodes_add(struct devnodes *nodes, const char *proc, const struct gf_function *function,
		  size_t slot)
{
	struct udev_device *device;
	struct udev *udev;

	if (!function->address)
		return;
	udev = udev_new();
	device = udev_device_new_from_subsystem_sysname(udev, "pci", function->address);
	if (device)
		devnodes_add_below(nodes, udev, device, slot);
	udev_device_unref(device);

	if (function->has.iommu_group)
		add_vfio_group(nodes, udev, function->iommu_group, slot);
	if (function->driver && !strcmp(function->driver, "nvidia"))
		add_nvidia(nodes, proc, function->address, slot);
	if (function->driver && !strcmp(function->driver, "amdgpu"))
		add_kfd(nodes, udev, function->address, slot);
	udev_unref(udev);
}
