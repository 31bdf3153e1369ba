// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/hwdb.c ctl/base/text.c
// packages: libudev
/* Names of functions from a hardware database that systemd-hwdb compiles for this test. */
#include <unistd.h>

#include "host/hwdb.h"
#include "sysroot.h"
#include "tap.h"

static char dir[] = "/tmp/hwdb_test.XXXXXX";

static void is_named(unsigned int device, unsigned int subsystem, const char *want)
{
	const struct gf_function function = {
		.vendor = 0x10de, .device = device, .subsystem_vendor = 0x10de,
		.subsystem_device = subsystem, .class = 0x030200,
	};
	char *name = hwdb_name(&function);

	is_str(name, want, want ? want : "unknown");
	free(name);
}

int main(void)
{
	char *command;

	if (!mkdtemp(dir))
		return 1;
	tree_put(dir, "etc/udev/hwdb.d/10-test.hwdb",
		 "pci:v000010DE*\n ID_VENDOR_FROM_DATABASE=NVIDIA Corporation\n\n"
		 "pci:v000010DEd000022BA*\n ID_MODEL_FROM_DATABASE=AD102 High Definition Audio\n\n"
		 "pci:v000010DEd00002331*\n ID_MODEL_FROM_DATABASE=GH100\n\n"
		 "pci:v000010DEd00002331sv000010DEsd00001626*\n ID_GPUFABRIC_NAME=NVIDIA H100 PCIe\n");
	command = mem_printf("systemd-hwdb --root=%s update", dir);
	ok(!system(command), "a database");
	free(command);
	command = mem_printf("%s/etc/udev", dir);
	ok(namespace_mount(command, "/etc/udev"), "in its place");
	free(command);

	is_named(0x2331, 0x1626, "NVIDIA H100 PCIe");
	is_named(0x2331, 0x1111, "NVIDIA Corporation GH100");
	is_named(0x22ba, 0, "NVIDIA Corporation AD102 High Definition Audio");
	is_named(0x9999, 0, NULL);

	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "cleaned up");
	free(command);
	return tap_done();
}
