// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl udev: properties of a device, for a rule's IMPORT{program}. */
#include <stdlib.h>
#include <string.h>

#include "cli/ctl.h"
#include "publish/publish.h"
#include "publish/udev_slot.h"

#define SYS "/sys"

static int udev_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *path = getenv("DEVPATH");
	struct knowledge knowledge;
	struct udev_slot found;
	char *text;
	int ret;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (ret)
		return ret;
	if (argc)
		path = strncmp(argv[0], SYS "/", 5) ? argv[0] : argv[0] + 4;
	if (!path || strncmp(path, "/devices/", 9))
		return ctl_fail(ctx, CTL_USAGE,
				"no device: give a path below /sys/devices, or DEVPATH as udev does");
	/* A GPU that is in no slot is none of ours, and no error of the rule. */
	if (!udev_slot_find(path, &found))
		return CTL_DONE;
	ret = knowledge_load(ctx, &knowledge, false);
	if (!ret) {
		text = udev_slot_print(&found, &knowledge);
		ret = publish(ctx, NULL, text);
		free(text);
		knowledge_free(&knowledge);
	}
	gf_slot_free(&found.slot);
	return ret;
}

const struct ctl_command cmd_udev = {
	.name = "udev",
	.group = CTL_PLUMBING,
	.args = "[PATH]",
	.summary = "properties of a slot or GPU, for udev's rules",
	.help = "PATH is the path of a device below /sys/devices; the default is the variable DEVPATH of an event. Prints\n"
		"ID_GPUFABRIC_SLOT, _MODEL and _MEMORY (bytes), and for devices of class gpufabric _STATE and _COMPOSITION;\n"
		"nothing for a device that is in no slot. The command reads sysfs and does not ask the module.",
	.flags = CTL_NO_DRY_RUN,
	.run = udev_run,
};
