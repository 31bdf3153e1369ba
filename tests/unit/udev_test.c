// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/publish/udev_slot.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/session/identity.c ctl/cli/out.c ctl/cli/out_print.c ctl/cli/context.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
// packages: json-c libnl-3.0 libudev
/*
 * Properties for udev, from a sysfs of the test's own: two slots, of which one
 * is below a card in the other.
 */
#include <unistd.h>

#include "publish/udev_slot.h"
#include "sysroot.h"
#include "tap.h"

static char dir[] = "/tmp/udev_test.XXXXXX";
static struct cat_gpu gpus[1];
static struct gpu_pci_id h100 = { .vendor = 0x10de, .device = 0x2331 };
static struct knowledge knowledge;

static void prints(const char *devpath, const char *want, const char *name)
{
	struct udev_slot found;
	char *text = NULL;

	if (udev_slot_find(devpath, &found)) {
		text = udev_slot_print(&found, &knowledge);
		gf_slot_free(&found.slot);
	}
	is_str(text, want, name);
	free(text);
}

/* A device of class gpufabric. */
static void slot(const char *path, const char *uevent)
{
	char *below = mem_printf("devices/virtual/gpufabric/%s", path), *link, *target;

	sysroot_device(dir, below, "gpufabric", uevent);
	link = mem_printf("%s/class/gpufabric/%s", dir, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	target = mem_printf("../../%s", below);
	tree_put(dir, "class/gpufabric/.keep", "");
	if (symlink(target, link))
		perror(link);
	free(target);
	free(link);
	free(below);
}

#define PORT "/devices/pci0000:00/0000:00:01.0/0000:01:00.0"

static void device(const char *devpath)
{
	sysroot_device(dir, devpath + 1, "pci", "");
}

int main(void)
{
	char *command, *longer = mem_zalloc(1, 400);

	if (!mkdtemp(dir))
		return 1;
	gpus[0] = (struct cat_gpu){ .id = (char *)"h100", .brief = (char *)"H100 PCIe", .name = (char *)"H100",
				    .pci = &h100, .n_pci = 1, .known_verified = 1 << GPU_MEMORY_MIB };
	gpus[0].verified[GPU_MEMORY_MIB] = 81559;
	knowledge.catalogue.gpus = gpus;
	knowledge.catalogue.n_gpus = 1;

	ok(sysroot_mount(dir), "a sysfs");
	slot("slot0", "GPUFABRIC_SLOT=3-1\nGPUFABRIC_OCCUPANCY=unknown\nGPUFABRIC_POWER=off\nGPUFABRIC_ACTIVITY=none\nGPUFABRIC_PORT=0000:01:00.0\n");
	slot("slot1", "GPUFABRIC_SLOT=3-2\nGPUFABRIC_OCCUPANCY=gpu\nGPUFABRIC_POWER=on\nGPUFABRIC_ACTIVITY=none\nGPUFABRIC_HEALTH=ok\nGPUFABRIC_COMPOSITION=train70b\n"
	     "GPUFABRIC_MODALIAS=pci:v000010DEd00002331sv000010DEsd00001626bc03sc02i00\n");
	slot("slot1/slot1!gpu", "GPUFABRIC_SLOT=3-2\nGPUFABRIC_OCCUPANCY=gpu\nGPUFABRIC_POWER=on\nGPUFABRIC_ACTIVITY=none\nGPUFABRIC_HEALTH=ok\nGPUFABRIC_COMPOSITION=train70b\n"
	     "GPUFABRIC_MODALIAS=pci:v000010DEd00002331sv000010DEsd00001626bc03sc02i00\n");
	ok(tree_point(dir, PORT "/gpufabric", "../../../virtual/gpufabric/slot0"), "a port");
	ok(tree_point(dir, PORT "/0000:02:00.0/0000:03:00.0/gpufabric",
		      "../../../../../virtual/gpufabric/slot1"), "one on a card in its slot");
	device(PORT);
	device(PORT "/0000:02:00.0");
	device(PORT "/0000:02:00.0/0000:03:00.0");
	device(PORT "/0000:02:00.0/0000:03:00.0/0000:04:00.0");
	device("/devices/pci0000:00/0000:00:02.0");
	device("/devices/pci0000:00/0000:00:01.0/0000:01:00.01/0000:02:00.0");

	prints("/devices/virtual/gpufabric/slot0", "ID_GPUFABRIC_SLOT=3-1\nID_GPUFABRIC_STATE=off\n",
	       "a slot that is off");
	prints("/devices/virtual/gpufabric/slot1/slot1!gpu",
	       "ID_GPUFABRIC_SLOT=3-2\nID_GPUFABRIC_STATE=ready\nID_GPUFABRIC_COMPOSITION=train70b\n"
	       "ID_GPUFABRIC_MODEL=H100 PCIe\nID_GPUFABRIC_MEMORY=85520809984\n", "the GPU of one that is on");
	prints(PORT "/0000:02:00.0", "ID_GPUFABRIC_SLOT=3-1\n", "a PCI device below a port");
	prints(PORT "/0000:02:00.0/0000:03:00.0/0000:04:00.0",
	       "ID_GPUFABRIC_SLOT=3-2\nID_GPUFABRIC_MODEL=H100 PCIe\nID_GPUFABRIC_MEMORY=85520809984\n",
	       "below two ports the nearer one counts, and no state is told");
	prints(PORT, NULL, "the port itself is in no slot");
	prints("/devices/pci0000:00/0000:00:02.0", NULL, "nor is a device elsewhere");
	prints("/devices/pci0000:00/0000:00:01.0/0000:01:00.01/0000:02:00.0", NULL, "names are compared whole");
	prints("/devices/virtual/gpufabric/slot7", NULL, "a slot that is gone");
	prints("/devices/virtual/gpufabric/../../x", NULL, "a path that leads elsewhere");
	prints("relative", NULL, "what is no path");

	slot("slot2", "GPUFABRIC_SLOT=a\tID_X=\033[1m\nGPUFABRIC_OCCUPANCY=unknown\nGPUFABRIC_POWER=off\nGPUFABRIC_ACTIVITY=none\nnonsense\n=\n");
	prints("/devices/virtual/gpufabric/slot2", "ID_GPUFABRIC_SLOT=a?ID_X=?[1m\nID_GPUFABRIC_STATE=off\n",
	       "control characters do no harm");
	memset(longer, 'x', 399);
	command = mem_printf("GPUFABRIC_SLOT=%s\n", longer);
	slot("slot3", command);
	prints("/devices/virtual/gpufabric/slot3", NULL, "a name that is too long is none");
	free(command);
	free(longer);

	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "cleaned up");
	free(command);
	return tap_done();
}
