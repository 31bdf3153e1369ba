// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/holders.c ctl/host/process.c ctl/host/vfs.c ctl/host/vm.c ctl/host/kernel_holders.c ctl/host/devnodes.c ctl/cli/out.c ctl/cli/out_print.c ctl/base/fault.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c
// packages: json-c libudev
/*
 * Files of /proc and /sys, which other users and drivers write: a process with
 * a command line, a control group, mappings and an open file, and the device
 * nodes of a function that one of three drivers drives. The parts of the input
 * are the contents of the files below, in that order.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "fuzz.h"
#include "host/holders.h"
#include "../unit/sysroot.h"

#define FUNCTION "0000:41:00.0"

static const char *const files[] = {
	"proc/77/cmdline",
	"proc/77/cgroup",
	"proc/77/maps",
	"sys/bus/pci/devices/" FUNCTION "/uevent",
	"sys/bus/pci/devices/" FUNCTION "/drm/card0/uevent",
	"sys/bus/pci/devices/" FUNCTION "/sriov_numvfs",
	"proc/driver/nvidia/gpus/" FUNCTION "/information",
	"sys/class/kfd/kfd/uevent",
	"sys/class/kfd/kfd/topology/nodes/0/gpu_id",
	"sys/class/kfd/kfd/topology/nodes/0/properties",
	"sys/class/kfd/kfd/proc/77/vram_7",
	"sys/class/vfio/5/uevent",
	"proc/77/comm",
	"proc/77/stat",
};

#define FILES (sizeof(files) / sizeof(files[0]))

static char dir[] = "/tmp/gpuctl-fuzz.XXXXXX";
static int fds[FILES];
static struct holders_roots roots;
static FILE *sink;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_all(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static char *make_path(const char *name)
{
	char *path = mem_printf("%s/%s", dir, name), *slash;

	for (slash = strchr(path + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	return path;
}

static void prepare(void)
{
	char *path;
	size_t i;

	must(mkdtemp(dir));
	atexit(remove_all);
	for (i = 0; i < FILES; i++) {
		path = make_path(files[i]);
		fds[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		must(fds[i] >= 0);
		free(path);
	}
	path = make_path("proc/77/fd/3");
	must(!symlink("/dev/null", path));
	free(path);
	path = make_path("proc/77/fd/4");
	must(!symlink("/nowhere/" FUNCTION "/resource1", path));
	free(path);
	path = mem_printf("%s/sys", dir);
	must(sysroot_mount(path));
	free(path);
	path = make_path("sys/bus/pci/devices/" FUNCTION "/drm/card0/subsystem");
	must(!symlink("/sys/class/drm", path));
	free(path);
	roots.proc = mem_printf("%s/proc", dir);
	roots.sys = mem_printf("%s/sys", dir);
	sink = fopen("/dev/null", "w");
	must(sink);
}

static void write_files(struct fuzz_parts *parts)
{
	size_t i, size;

	for (i = 0; i < FILES; i++) {
		const uint8_t *part = fuzz_part(parts, &size);

		must(!ftruncate(fds[i], 0));
		must(pwrite(fds[i], part, size, 0) == (ssize_t)size);
	}
}

static void check(const struct holders *holders)
{
	struct out *out = out_new(sink);
	size_t i;

	for (i = 0; i < holders->n; i++) {
		const struct holder *holder = &holders->items[i];

		must(holder->command && holder->where && holder->paths);
		must(!holder->pid || strlen(holder->command) <= 40);
		must(!strpbrk(holder->command, "\n\033"));
	}
	holders_render(out, holders);
	free(out_render_text(out));
	out_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *const drivers[] = { "nvidia", "amdgpu", "vfio-pci", NULL };
	struct fuzz_parts parts = { data, size };
	size_t i;

	if (!roots.proc)
		prepare();
	write_files(&parts);
	for (i = 0; i < 4; i++) {
		struct gf_function function = {
			.address = FUNCTION, .driver = drivers[i],
			.iommu_group = 5, .has.iommu_group = i == 2,
		};
		const struct gf_slot slot = { .name = "3-2", .functions = &function, .n_functions = 1 };
		const struct gf_slot *const slots[] = { &slot };
		struct holders holders;

		holders_scan(&roots, slots, 1, &holders);
		check(&holders);
		holders_free(&holders);
	}
	return 0;
}
