// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/iommu.c ctl/host/vfs.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/text.c
/*
 * IOMMU groups and virtual functions as sysfs has them: a GPU with sound in a group of
 * their own and the port above, one that shares its group with another slot's GPU.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "host/iommu.h"
#include "host/vfs.h"
#include "tap.h"
#include "tree.h"

static char dir[] = "/tmp/iommu_test.XXXXXX";

/* @path is a link to @target. */
static void put_link(const char *path, const char *target)
{
	char *full = mem_printf("%s/%s", dir, path), *slash;

	tree_put(dir, path, "");
	unlink(full);
	slash = strrchr(full, '/');
	ok(slash && !symlink(target, full), "link %s", path);
	free(full);
}

static void test_groups(void)
{
	struct gf_function alone[] = {
		{ .address = "0000:41:00.0", .class = 0x030200, .iommu_group = 7, .has.iommu_group = true },
		{ .address = "0000:41:00.1", .class = 0x040300, .iommu_group = 7, .has.iommu_group = true },
	};
	struct gf_function shared[] = {
		{ .address = "0000:42:00.0", .class = 0x030200, .iommu_group = 8, .has.iommu_group = true },
		{ .address = "0000:42:00.1", .class = 0x030200, .iommu_group = 8, .has.iommu_group = true },
	};
	struct gf_slot a = { .name = "1", .functions = alone, .n_functions = 2 };
	struct gf_slot b = { .name = "2", .functions = shared, .n_functions = 2 };
	char **members, *others;
	size_t n;

	ok(!iommu_is_on(dir), "no groups: the IOMMU is off");
	tree_put(dir, "kernel/iommu_groups/7/devices/0000:41:00.1", "");
	tree_put(dir, "kernel/iommu_groups/7/devices/0000:41:00.0", "");
	tree_put(dir, "kernel/iommu_groups/7/devices/0000:40:01.0", "");
	tree_put(dir, "bus/pci/devices/0000:40:01.0/class", "0x060400\n");
	tree_put(dir, "kernel/iommu_groups/8/devices/0000:42:00.0", "");
	tree_put(dir, "kernel/iommu_groups/8/devices/0000:42:00.1", "");
	tree_put(dir, "kernel/iommu_groups/8/devices/0000:43:00.0", "");
	tree_put(dir, "bus/pci/devices/0000:43:00.0/class", "0x030200\n");
	ok(iommu_is_on(dir), "with groups it is on");

	members = iommu_members(dir, 7, &n);
	is_int((intmax_t)n, 3, "members of a group");
	is_str(n ? members[0] : NULL, "0000:40:01.0", "in order");
	iommu_free(members, n);
	members = iommu_members(dir, 99, &n);
	is_int((intmax_t)n, 0, "of a group that is not there, none");
	iommu_free(members, n);

	others = iommu_others(dir, &a);
	is_str(others, NULL, "what is in the slot, and ports above it, are no others");
	free(others);
	others = iommu_others(dir, &b);
	is_str(others, "0000:43:00.0", "a GPU of another slot is, named once");
	free(others);
	alone[0].has.iommu_group = false;
	others = iommu_others(dir, &a);
	is_str(others, NULL, "without a group there are none");
	free(others);
}

static void test_vfs(void)
{
	struct gf_function *vfs;
	size_t n;

	vfs = vfs_of(dir, "0000:42:00.0", &n);
	is_int((intmax_t)n, 0, "no virtual functions");
	vfs_free(vfs, n);
	put_link("bus/pci/devices/0000:42:00.0/virtfn0", "../0000:42:02.0");
	put_link("bus/pci/devices/0000:42:00.0/virtfn1", "../0000:42:02.1");
	put_link("bus/pci/devices/0000:42:02.1/driver", "../../../bus/pci/drivers/vfio-pci");
	put_link("bus/pci/devices/0000:42:02.1/iommu_group", "../../kernel/iommu_groups/12");
	vfs = vfs_of(dir, "0000:42:00.0", &n);
	is_int((intmax_t)n, 2, "two");
	if (n == 2) {
		is_str(vfs[0].address, "0000:42:02.0", "with its address");
		ok(!vfs[0].driver && !vfs[0].has.iommu_group, "one has neither driver nor group");
		is_str(vfs[1].driver, "vfio-pci", "the other is for a guest");
		ok(vfs[1].has.iommu_group && vfs[1].iommu_group == 12, "in its group");
	}
	vfs_free(vfs, n);
}

int main(void)
{
	char *command;

	if (!mkdtemp(dir)) {
		ok(false, "a temporary directory");
		return tap_done();
	}
	test_groups();
	test_vfs();
	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "clean up");
	free(command);
	return tap_done();
}
