// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/devnodes.c ctl/base/text.c
// packages: libudev
/*
 * Device nodes of a function: what hangs below it in sysfs, and the three kinds
 * that do not: vfio's group, NVIDIA's own nodes, and the one that AMD GPUs share.
 */
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"
#include "host/devnodes.h"
#include "sysroot.h"
#include "tap.h"

#define DEVICE "sys/bus/pci/devices/0000:41:00.0"

static char dir[] = "/tmp/devnodes_test.XXXXXX";
static char *proc;

static void put(const char *path, const char *content)
{
	tree_put(dir, path, content);
}

static void device(const char *path, const char *subsystem, const char *uevent)
{
	sysroot_device(dir, path, subsystem, uevent);
}

#define NO_GROUP (-1)

static void collect(struct devnodes *nodes, const char *driver, int group)
{
	const struct gf_function function = {
		.address = "0000:41:00.0", .driver = (char *)driver,
		.iommu_group = (uint32_t)group, .has.iommu_group = group >= 0,
	};

	memset(nodes, 0, sizeof(*nodes));
	devnodes_add(nodes, proc, &function, 5);
}

static const struct devnode *by_name(const struct devnodes *nodes, const char *name)
{
	size_t i;

	for (i = 0; i < nodes->n; i++)
		if (!strcmp(nodes->items[i].name, name))
			return &nodes->items[i];
	return NULL;
}

static void test_below(void)
{
	const struct devnode *node;
	struct devnodes nodes;

	device(DEVICE, "pci", "");
	device(DEVICE "/drm/card1", "drm", "MAJOR=226\nMINOR=1\nDEVNAME=dri/card1\nDEVTYPE=drm_minor\n");
	device(DEVICE "/disk/nvme0", "block", "MAJOR=259\nMINOR=0\nDEVNAME=nvme0\n");
	device(DEVICE "/disk/nvme0/hwmon1", "hwmon", "");
	device(DEVICE "/broken", "misc", "MAJOR=ten\nMINOR=60\n");
	device("sys/bus/pci/devices/0000:41:00.1/card2", "drm", "MAJOR=226\nMINOR=2\nDEVNAME=dri/card2\n");
	/* of a device on a bus only the number is read: a stuck driver holds its uevent up */
	device(DEVICE "/usb1", "usb", "MAJOR=189\nMINOR=0\nDEVNAME=bus/usb/001/001\n");
	collect(&nodes, NULL, NO_GROUP);
	is_int((intmax_t)nodes.n, 3, "nodes below the function");
	node = by_name(&nodes, "189:0");
	ok(node && node->rdev == makedev(189, 0), "by its number");
	node = by_name(&nodes, "/dev/dri/card1");
	ok(node && node->rdev == makedev(226, 1) && !node->block && !node->shared, "by the kernel's name");
	ok(node && node->slot == 5, "with the slot that was asked for");
	node = by_name(&nodes, "/dev/nvme0");
	ok(node && node->block, "a block device is one");
	devnodes_free(&nodes);
}

static void test_vfio(void)
{
	struct devnodes nodes;

	collect(&nodes, "vfio-pci", 17);
	ok(!by_name(&nodes, "/dev/vfio/17"), "no group without its class device");
	devnodes_free(&nodes);
	device("sys/class/vfio/17", "vfio", "MAJOR=242\nMINOR=3\nDEVNAME=vfio/17\n");
	collect(&nodes, "vfio-pci", 17);
	ok(by_name(&nodes, "/dev/vfio/17"), "the group's node");
	devnodes_free(&nodes);
	collect(&nodes, "vfio-pci", 18);
	ok(!by_name(&nodes, "/dev/vfio/17"), "of another group it is not");
	devnodes_free(&nodes);
}

static void test_nvidia(void)
{
	const struct devnode *node;
	struct devnodes nodes;

	collect(&nodes, "nvidia", NO_GROUP);
	is_int((intmax_t)nodes.n, 3, "nothing more while the driver tells nothing");
	devnodes_free(&nodes);
	put("proc/driver/nvidia/gpus/0000:41:00.0/information",
	    "Model: \t\t NVIDIA H100 PCIe\nIRQ:   \t\t 120\nDevice Minor: \t 3\nGPU Excluded:\t No\n");
	collect(&nodes, "nvidia", NO_GROUP);
	node = by_name(&nodes, "/dev/nvidia3");
	ok(node && node->rdev == makedev(195, 3), "the node that the driver's minor says");
	devnodes_free(&nodes);
	collect(&nodes, "nouveau", NO_GROUP);
	ok(!by_name(&nodes, "/dev/nvidia3"), "only of that driver");
	devnodes_free(&nodes);
}

/* As a host shows it that has cut its GPU 3 into two instances, one of them into two more. */
static void test_instances(void)
{
	const struct devnode *node;
	struct devnodes nodes;

	put("proc/driver/nvidia/capabilities/mig/config", "DeviceFileMinor: 1\nDeviceFileMode: 256\nDeviceFileModify: 1\n");
	put("proc/driver/nvidia/capabilities/gpu3/mig/gi1/access", "DeviceFileMinor: 30\nDeviceFileMode: 292\nDeviceFileModify: 1\n");
	put("proc/driver/nvidia/capabilities/gpu3/mig/gi1/ci0/access", "DeviceFileMinor: 31\nDeviceFileMode: 292\n");
	put("proc/driver/nvidia/capabilities/gpu3/mig/gi1/ci1/access", "DeviceFileMinor: 32\nDeviceFileMode: 292\n");
	put("proc/driver/nvidia/capabilities/gpu3/mig/gi2/access", "DeviceFileMinor: 39\nDeviceFileMode: 292\n");
	put("proc/driver/nvidia/capabilities/gpu4/mig/gi1/access", "DeviceFileMinor: 165\nDeviceFileMode: 292\n");
	collect(&nodes, "nvidia", NO_GROUP);
	is_int((intmax_t)nodes.n, 4, "no instances while their driver has no number");
	devnodes_free(&nodes);
	put("proc/devices", "Character devices:\n  1 mem\n195 nvidia-frontend\n237 nvidia-caps\n509 nvidia-caps-imex-channels\n\nBlock devices:\n  8 sd\n");
	collect(&nodes, "nvidia", NO_GROUP);
	is_int((intmax_t)nodes.n, 8, "four nodes of instances");
	node = by_name(&nodes, "/dev/nvidia-caps/nvidia-cap30");
	ok(node && node->rdev == makedev(237, 30) && node->slot == 5, "of a GPU instance");
	node = by_name(&nodes, "/dev/nvidia-caps/nvidia-cap32");
	ok(node && node->rdev == makedev(237, 32), "of a compute instance in it");
	ok(!by_name(&nodes, "/dev/nvidia-caps/nvidia-cap165"), "of another GPU they are not");
	ok(!by_name(&nodes, "/dev/nvidia-caps/nvidia-cap1"), "nor is what configures all GPUs");
	devnodes_free(&nodes);
}

static void test_amd(void)
{
	const struct devnode *node;
	struct devnodes nodes;

	device("sys/class/kfd/kfd", "kfd", "MAJOR=240\nMINOR=0\nDEVNAME=kfd\n");
	put("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
	put("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\ndomain 0\nlocation_id 0\n");
	put("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51111\n");
	put("sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 304\nlocation_id 16640\ndomain 0\n");
	put("sys/class/kfd/kfd/topology/nodes/2/gpu_id", "52222\n");
	put("sys/class/kfd/kfd/topology/nodes/2/properties", "simd_count 304\nlocation_id 16640\ndomain 1\n");
	collect(&nodes, "amdgpu", NO_GROUP);
	is_int((intmax_t)nodes.n, 4, "one node of the topology is this function");
	node = by_name(&nodes, "/dev/kfd");
	ok(node && node->shared, "the node is shared");
	is_int(node ? node->gpu_id : 0, 51111, "and told apart by the GPU's id");
	devnodes_free(&nodes);
}

static void test_gone(void)
{
	const struct gf_function gone = { .address = "0000:99:00.0" };
	const struct gf_function nameless = { 0 };
	struct devnodes nodes = { 0 };

	devnodes_add(&nodes, proc, &gone, 0);
	devnodes_add(&nodes, proc, &nameless, 0);
	is_int((intmax_t)nodes.n, 0, "a function that is gone has none");
	devnodes_free(&nodes);
}

int main(void)
{
	char *command, *sys;

	if (!mkdtemp(dir)) {
		ok(false, "a temporary directory");
		return tap_done();
	}
	sys = mem_printf("%s/sys", dir);
	ok(!mkdir(sys, 0755) && sysroot_mount(sys), "a sysfs");
	proc = mem_printf("%s/proc", dir);
	test_below();
	test_vfio();
	test_nvidia();
	test_instances();
	test_amd();
	test_gone();
	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "clean up");
	free(command);
	free(sys);
	free(proc);
	return tap_done();
}
