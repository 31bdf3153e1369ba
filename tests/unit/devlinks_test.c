// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/publish/devlinks.c ctl/host/gpunodes.c ctl/host/vendor.c ctl/host/devnodes.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/text.c ctl/base/conf.c ctl/base/fault.c ctl/base/conf_dir.c
// packages: libnl-3.0 libudev
/*
 * Links below a /dev of the test's own: made, kept, removed; what others made
 * stays, and nothing they put there leads elsewhere.
 */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "publish/devlinks.h"
#include "sysroot.h"
#include "tap.h"

static char dir[] = "/tmp/devlinks_test.XXXXXX";
static char *sys, *dev;
static struct places places;
static struct vendors vendors;

static struct gf_function function = { .address = (char *)"0000:41:00.0", .class = 0x030200 };
static struct gf_slot slots[] = {
	{ .id = 1, .name = (char *)"3-1", .state = GF_STATE_READY, .functions = &function,
	  .n_functions = 1, .composition = (char *)"train" },
	{ .id = 2, .name = (char *)"../x", .state = GF_STATE_READY, .functions = &function,
	  .n_functions = 1 },
};

static struct gf_fabric fabric = { slots, 2, NULL, 0, NULL, 0 };

static void leads(const char *path, const char *want)
{
	char target[PATH_MAX], *full = mem_printf("%s/%s", dev, path);
	ssize_t n = readlink(full, target, sizeof(target) - 1);

	target[n < 0 ? 0 : n] = '\0';
	is_str(n < 0 ? NULL : target, want, path);
	free(full);
}

static void links(const char *target, const char *path)
{
	char *full = mem_printf("%s/%s", dev, path);

	ok(!symlink(target, full), "%s is made", path);
	free(full);
}

static bool there(const char *path)
{
	char *full = mem_printf("%s/%s", dev, path);
	bool is = !access(full, F_OK);

	free(full);
	return is;
}

/* "made removed" or an errno. */
static void applied(bool dry, const char *want, const char *name)
{
	struct devlinks_done done = { 0 };
	struct devlinks wanted;
	char is[64];
	int fd, lock, err;

	devlinks_want(&wanted, &fabric, &places, &vendors);
	fd = devlinks_open(dev, dry, &lock);
	err = fd < 0 && !(dry && fd == -ENOENT) ? fd : devlinks_apply(fd, dev, &wanted, dry, &done);
	if (err)
		snprintf(is, sizeof(is), "%s", strerror(-err));
	else
		snprintf(is, sizeof(is), "%zu %zu", done.made, done.removed);
	is_str(is, want, name);
	if (fd >= 0)
		close(fd);
	if (lock >= 0)
		close(lock);
	devlinks_free(&wanted);
}

static void test_links(void)
{
	applied(true, "3 0", "a dry run tells");
	ok(!there("gpufabric"), "and makes nothing");
	applied(false, "3 0", "three links are made");
	leads("gpufabric/by-slot/3-1/node", "../../../node");
	leads("gpufabric/by-composition/train/3-1", "../../by-slot/3-1");
	leads("char/1:3", "../node");
	ok(there("gpufabric/by-composition/train/3-1/node"), "they lead to the node");
	ok(there("gpufabric/char/1:3"), "as does the one that remembers");
	applied(false, "0 0", "once more changes nothing");

	slots[0].composition = (char *)"other";
	applied(false, "1 1", "another composition");
	ok(!there("gpufabric/by-composition/train"), "the one before has no directory");
	leads("gpufabric/by-composition/other/3-1", "../../by-slot/3-1");

	slots[0].state = GF_STATE_DRAINING;
	applied(true, "0 3", "a dry run of the end");
	leads("char/1:3", "../node");
	applied(false, "0 3", "a GPU that is about to go has no links");
	leads("char/1:3", NULL);
	ok(!there("gpufabric/by-slot") && !there("gpufabric/by-composition") && !there("gpufabric/char"),
	   "nor directories");
	slots[0].state = GF_STATE_READY;
}

static void test_others(void)
{
	links("../other", "char/1:3");
	applied(false, "2 0", "where /dev/char has a link it stays");
	leads("char/1:3", "../other");
	slots[0].state = GF_STATE_OFF;
	applied(false, "0 2", "ours are removed");
	leads("char/1:3", "../other");
	slots[0].state = GF_STATE_READY;
}

static void test_hostile(void)
{
	char *path = mem_printf("%s/gpufabric", dev), *command;

	tree_put(dir, "elsewhere/file", "");
	links("../../elsewhere", "gpufabric/by-slot");
	applied(false, "2 1", "a link in the place of a directory is replaced");
	command = mem_printf("%s/elsewhere/3-1", dir);
	ok(access(command, F_OK), "and not followed");
	free(command);

	if (!geteuid()) {
		command = mem_printf("%s/by-slot", path);
		ok(!chown(command, 1, 1), "a directory of somebody else");
		applied(false, strerror(EXDEV), "is not used");
		ok(!chown(command, 0, 0), "as before");
		free(command);
	}
	ok(!chmod(path, 0777), "a directory that all can write to");
	applied(false, strerror(EXDEV), "is not used");
	command = mem_printf("rm -r %s", path);
	ok(!system(command), "without it");
	free(command);
	ok(!symlink("../elsewhere", path), "a link leads elsewhere");
	ok(devlinks_open(dev, false, &(int){ 0 }) < 0, "and is not used");
	unlink(path);
	free(path);
}

int main(void)
{
	static const char data[] = "[any]\nskip = none\n";
	struct fault fault = { "" };
	char *command;

	if (!mkdtemp(dir))
		return 1;
	sys = mem_printf("%s/sys", dir);
	dev = mem_printf("%s/dev", dir);
	places = (struct places){ dir, dir };
	sysroot_device(dir, "sys/bus/pci/devices/0000:41:00.0", "pci", "");
	sysroot_device(dir, "sys/bus/pci/devices/0000:41:00.0/x/node", "misc",
		       "MAJOR=1\nMINOR=3\nDEVNAME=node\n");
	ok(sysroot_mount(sys), "a sysfs");
	tree_put(dir, "dev/char/.keep", "");
	links("/dev/null", "node");
	is_int(vendors_parse(&vendors, "data", data, strlen(data), &fault), 0, "nodes.d");

	test_links();
	test_others();
	test_hostile();

	vendors_free(&vendors);
	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "cleaned up");
	free(command);
	free(sys);
	free(dev);
	return tap_done();
}
