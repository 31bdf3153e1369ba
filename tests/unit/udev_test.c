// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/lib/udev_slot.c ctl/lib/text.c ctl/lib/model.c ctl/lib/state.c ctl/lib/object.c ctl/lib/netlink_gen.c ctl/lib/identity.c ctl/lib/out.c ctl/context.c ctl/catalogue/catalogue.c ctl/size/engine.c ctl/catalogue/conf.c ctl/catalogue/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/catalogue/conf_dir.c
// packages: json-c libnl-3.0
/*
 * Properties for udev, from a sysfs of the test's own: two slots, of which one
 * is below a card in the other.
 */
#include <unistd.h>

#include "lib/udev_slot.h"
#include "tap.h"
#include "tree.h"

static char dir[] = "/tmp/udev_test.XXXXXX";
static struct cat_gpu gpus[1];
static struct gpu_pci_id h100 = { .vendor = 0x10de, .device = 0x2331 };
static struct knowledge knowledge;

static void prints(const char *devpath, const char *want, const char *name)
{
	struct udev_slot found;
	char *text = NULL;

	if (udev_slot_find(dir, devpath, &found)) {
		text = udev_slot_print(&found, &knowledge);
		gf_slot_free(&found.slot);
	}
	is_str(text, want, name);
	free(text);
}

#define PORT "/devices/pci0000:00/0000:00:01.0/0000:01:00.0"

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

	tree_put(dir, "class/gpufabric/slot0/address", "0000:01:00.0\n");
	tree_put(dir, "class/gpufabric/slot0/uevent",
		 "GPUFABRIC_SLOT=3-1\nGPUFABRIC_OCCUPANCY=unknown\nGPUFABRIC_POWER=off\nGPUFABRIC_ACTIVITY=none\nGPUFABRIC_PORT=0000:01:00.0\n");
	tree_put(dir, "class/gpufabric/slot1/address", "0000:03:00.0\n");
	tree_put(dir, "class/gpufabric/slot1/uevent",
		 "GPUFABRIC_SLOT=3-2\nGPUFABRIC_OCCUPANCY=gpu\nGPUFABRIC_POWER=on\nGPUFABRIC_ACTIVITY=none\nGPUFABRIC_HEALTH=ok\nGPUFABRIC_COMPOSITION=train70b\n"
		 "GPUFABRIC_MODALIAS=pci:v000010DEd00002331sv000010DEsd00001626bc03sc02i00\n");
	tree_put(dir, "class/gpufabric/slot1!gpu/address", "0000:04:00.0\n");
	tree_put(dir, "class/gpufabric/slot1!gpu/uevent",
		 "GPUFABRIC_SLOT=3-2\nGPUFABRIC_OCCUPANCY=gpu\nGPUFABRIC_POWER=on\nGPUFABRIC_ACTIVITY=none\nGPUFABRIC_HEALTH=ok\nGPUFABRIC_COMPOSITION=train70b\n"
		 "GPUFABRIC_MODALIAS=pci:v000010DEd00002331sv000010DEsd00001626bc03sc02i00\n");

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

	tree_put(dir, "class/gpufabric/slot2/uevent", "GPUFABRIC_SLOT=a\rID_X=\033[1m\nGPUFABRIC_OCCUPANCY=unknown\nGPUFABRIC_POWER=off\nGPUFABRIC_ACTIVITY=none\nnonsense\n=\n");
	prints("/devices/virtual/gpufabric/slot2", "ID_GPUFABRIC_SLOT=a?ID_X=?[1m\nID_GPUFABRIC_STATE=off\n",
	       "control characters do no harm");
	memset(longer, 'x', 399);
	command = mem_printf("GPUFABRIC_SLOT=%s\n", longer);
	tree_put(dir, "class/gpufabric/slot3/uevent", command);
	prints("/devices/virtual/gpufabric/slot3", NULL, "a name that is too long is none");
	free(command);
	free(longer);

	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "cleaned up");
	free(command);
	return tap_done();
}
