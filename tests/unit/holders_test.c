// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/holders.c ctl/host/process.c ctl/host/vfs.c ctl/host/vm.c ctl/host/kernel_holders.c ctl/host/devnodes.c ctl/cli/out.c ctl/cli/out_print.c ctl/base/fault.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c
// packages: json-c libudev
/*
 * Holders: a small sysfs says that /dev/null, /dev/zero and /dev/full belong to
 * GPUs, and children of this test hold them open, mapped, or not at all.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "host/holders.h"
#include "sysroot.h"
#include "tap.h"

static char dir[] = "/tmp/holders_test.XXXXXX";
static struct holders_roots roots = { .proc = "/proc" };

static void put(const char *path, const char *content)
{
	tree_put(dir, path, content);
}

/* A child that does something and then waits; it tells by a byte that it is ready. */
static pid_t child(void (*prepare)(void))
{
	int pipes[2];
	pid_t pid;
	char byte;

	if (pipe(pipes))
		return -1;
	pid = fork();
	if (!pid) {
		close(pipes[0]);
		prepare();
		if (write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		byte = 0;
	close(pipes[0]);
	return pid;
}

static void *thread_pauses(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* A process whose first thread has ended: it is a zombie, and the other one has the file. */
static pid_t child_without_first_thread(void)
{
	char path[64], line[256] = "";
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		if (open("/dev/full", O_RDONLY) < 0 ||
		    pthread_create(&thread, NULL, thread_pauses, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (!strstr(line, ") Z")) {
		FILE *f = fopen(path, "r");

		if (!f || !fgets(line, sizeof(line), f))
			line[0] = '\0';
		if (f)
			fclose(f);
		sched_yield();
	}
	return pid;
}

static void hold_open(void)
{
	if (open("/dev/full", O_RDONLY) < 0)
		_exit(1);
}

static void hold_mapped(void)
{
	int fd = open("/dev/zero", O_RDWR);

	/* Private: a shared mapping of this node becomes anonymous memory. */
	if (mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
}

static void hold_resource(void)
{
	char *path = mem_printf("%s/bus/pci/devices/0000:41:00.0/resource1", dir);

	if (open(path, O_RDONLY) < 0)
		_exit(1);
}

/* What lspci and gpuctl itself read of each device: texts, which lead to no GPU. */
static void read_texts(void)
{
	static const char *const names[] = { "resource", "resource1_resize" };
	size_t i;

	for (i = 0; i < 2; i++) {
		char *path = mem_printf("%s/bus/pci/devices/0000:41:00.0/%s", dir, names[i]);

		if (open(path, O_RDONLY) < 0)
			_exit(1);
	}
}

/* As udev sets the owner of a node: the file is named and not opened. */
static void name_node(void)
{
	if (open("/dev/full", O_PATH) < 0)
		_exit(1);
}

static void hold_combining(void)
{
	char *path = mem_printf("%s/bus/pci/devices/0000:41:00.0/resource1_wc", dir);

	if (open(path, O_RDONLY) < 0)
		_exit(1);
}

static const struct holder *by_pid(const struct holders *holders, pid_t pid)
{
	size_t i;

	for (i = 0; i < holders->n; i++)
		if (holders->items[i].pid == pid)
			return &holders->items[i];
	return NULL;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static struct gf_function functions_a[] = {
	{ .address = "0000:41:00.0", .class = 0x030200, .driver = "some", .iommu_group = 7,
	  .has.iommu_group = true },
	{ .address = "0000:41:00.1", .class = 0x040300 },
};
static struct gf_function functions_b[] = {
	{ .address = "0000:42:00.0",
	  .class = 0x030200,
	  .driver = "some" },
};
static struct gf_slot a = { .id = 1, .name = "3-0", .functions = functions_a, .n_functions = 2 };
static struct gf_slot b = { .id = 2, .name = "3-1", .functions = functions_b, .n_functions = 1 };

static void test_scan(void)
{
	const struct gf_slot *both[] = { &a, &b }, *only_b[] = { &b };
	pid_t opens = child(hold_open), maps = child(hold_mapped), reads = child(hold_resource),
	      texts = child(read_texts), combining = child(hold_combining),
	      names = child(name_node), rest = child_without_first_thread();
	const struct holder *holder;
	struct holders holders;

	holders_scan(&roots, both, 2, &holders);
	holder = by_pid(&holders, opens);
	ok(holder, "an open node is found");
	if (holder) {
		is_str(holder->slot, "3-0", "of the sibling function, with its slot");
		is_str(holder->paths, "/dev/snd/full", "under the name that the kernel gives");
		ok(strstr(holder->command, "holders_test"), "with its command: %s",
		   holder->command);
		is_int(holder->uid, getuid(), "and its user");
		is_int((intmax_t)holder->mapped, 0, "nothing mapped");
	}
	holder = by_pid(&holders, maps);
	ok(holder, "a mapping without an open file is found");
	if (holder)
		is_int((intmax_t)holder->mapped, 1 << 20, "with its size");
	holder = by_pid(&holders, reads);
	ok(holder, "an open resource file is found");
	if (holder)
		is_str(holder->paths, "0000:41:00.0/resource1", "named by function and file");
	ok(by_pid(&holders, combining), "so is one with write combining");
	holder = by_pid(&holders, rest);
	ok(holder, "a process whose first thread has ended holds what its others have open");
	if (holder)
		ok(strstr(holder->command, "holders_test"), "and is named: %s", holder->command);
	ok(!by_pid(&holders, names), "who has only named a node has not opened it");
	ok(!by_pid(&holders, texts), "who reads what sysfs says of the BARs holds nothing");
	ok(!by_pid(&holders, getpid()), "this process itself is left out");
	holders_free(&holders);

	holders_scan(&roots, only_b, 1, &holders);
	ok(!by_pid(&holders, opens) && by_pid(&holders, maps), "only the slots that are asked for");
	holders_free(&holders);

	end(opens);
	end(maps);
	end(texts);
	end(names);
	end(rest);
	end(combining);
	holders_scan(&roots, both, 2, &holders);
	ok(!by_pid(&holders, opens) && !by_pid(&holders, maps) && by_pid(&holders, reads),
	   "who let go is gone");
	holders_free(&holders);
	end(reads);
}

/* Of a process that ends, and hangs in that, /proc tells no program, but its files. */
static void test_tasks(void)
{
	const struct gf_slot *both[] = { &a, &b };
	char *proc = mem_printf("%s/proc", dir), *link = mem_printf("%s/77/fd/3", proc);
	const struct holders_roots own = { .proc = proc, .sys = roots.sys };
	struct holders holders;

	put("proc/77/stat", "77 (a) Z b) D 1 77 77 0 -1 4194560 0");
	put("proc/77/fd/none", "");
	ok(!symlink("/dev/full", link), "a process without a program");
	holders_scan(&own, both, 2, &holders);
	ok(by_pid(&holders, 77), "holds what it has open");
	holders_free(&holders);
	put("proc/77/stat", "77 (a) Z b) D 1 77 77 0 -1 2129984 0");
	holders_scan(&own, both, 2, &holders);
	ok(!by_pid(&holders, 77), "a thread of the kernel is not looked at");
	holders_free(&holders);
	put("proc/77/stat", "");
	holders_scan(&own, both, 2, &holders);
	ok(by_pid(&holders, 77), "but whoever says nothing is");
	holders_free(&holders);
	free(link);
	free(proc);
}

/* As a guest that holds a virtual function; by its arguments it is one. */
static void test_guest(void)
{
	const struct gf_slot *slots[] = { &b };
	const struct holder *holder;
	struct holders holders;
	char *path = mem_printf("%s/bus/pci/devices/0000:42:00.0/virtfn0", dir);
	int pipes[2];
	char byte;
	pid_t pid;

	sysroot_device(dir, "bus/pci/devices/0000:42:02.0", "pci", "");
	sysroot_device(dir, "bus/pci/devices/0000:42:02.0/vfio-dev/vfio0", "vfio-dev",
		       "MAJOR=1\nMINOR=7\nDEVNAME=vfio/devices/vfio0\n");
	ok(!symlink("../0000:42:02.0", path), "a virtual function");
	if (pipe(pipes))
		return;
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		hold_open();
		execl("/bin/sh", "qemu-system-x86_64", "-c", "echo; kill -STOP $$", "-name",
		      "guest=train-a,debug-threads=on", (char *)NULL);
		_exit(1);
	}
	close(pipes[1]);
	ok(read(pipes[0], &byte, 1) == 1, "it runs");
	holders_scan(&roots, slots, 1, &holders);
	holder = by_pid(&holders, pid);
	ok(holder, "who holds a virtual function holds the GPU");
	if (holder) {
		is_str(holder->paths, "/dev/vfio/devices/vfio0", "by the node of that function");
		is_str(holder->where, "VM train-a", "and is named");
	}
	holders_free(&holders);
	end(pid);
	close(pipes[0]);
	unlink(path);
	free(path);
}

/* What is listed for a GPU that no process holds; "" for nothing. Caller frees. */
static char *listed(void)
{
	const struct gf_slot *slots[] = { &b };
	struct holders holders;
	struct text text = { 0 };
	size_t i;

	holders_scan(&roots, slots, 1, &holders);
	for (i = 0; i < holders.n; i++)
		text_add(&text, "%s%d %s", i ? "; " : "", (int)holders.items[i].pid,
			 holders.items[i].paths);
	holders_free(&holders);
	return text.text ? text.text : mem_strdup("");
}

static void lists(const char *want, const char *name)
{
	char *text = listed();

	is_str(text, want, name);
	free(text);
}

static void test_kernel(void)
{
	const char *driver = functions_b[0].driver;
	char *target;
	char *link;

	put("bus/pci/devices/0000:42:00.0/sriov_numvfs", "2\n");
	lists("0 2 virtual functions of 0000:42:00.0 (no open file)",
	      "virtual functions hold without a process");
	put("bus/pci/devices/0000:42:00.0/sriov_numvfs", "0\n");
	lists("", "none do not");

	put("bus/pci/devices/0000:42:00.0/7c5a/mdev_type", "");
	lists("0 mediated device 7c5a of 0000:42:00.0 (no open file)", "a mediated device");
	target = mem_printf("%s/bus/pci/devices/0000:42:00.0/7c5a/mdev_type", dir);
	unlink(target);
	free(target);

	put("class/graphics/fb0/name", "x");
	target = mem_printf("%s/bus/pci/devices/0000:42:00.0", dir);
	link = mem_printf("%s/class/graphics/fb0/device", dir);
	ok(!symlink(target, link), "a frame buffer of the GPU");
	lists("", "that no console draws on");
	put("class/vtconsole/vtcon0/name", "(S) VGA+\n");
	put("class/vtconsole/vtcon0/bind", "1\n");
	put("class/vtconsole/vtcon1/name", "(M) frame buffer device\n");
	put("class/vtconsole/vtcon1/bind", "0\n");
	lists("", "while the console is another");
	put("class/vtconsole/vtcon1/bind", "1\n");
	lists("0 text console on fb0 of 0000:42:00.0 (no open file)", "a console that does");
	unlink(link);
	free(link);
	free(target);

	put("bus/pci/devices/0000:42:00.0/users", "1\n");
	lists("", "a file of that name says nothing by itself");
	functions_b[0].driver = "gpufabric-sim-gpu";
	lists("0 gpufabric-sim-gpu counts 1 of its own on 0000:42:00.0 (no open file)",
	      "a driver that is known to count");
	put("bus/pci/devices/0000:42:00.0/users", "0\n");
	lists("", "none");
	functions_b[0].driver = (char *)driver;
}

static void test_rendering(void)
{
	const struct gf_slot *slots[] = { &b };
	struct holders holders;
	struct out *out;
	char *text;

	put("bus/pci/devices/0000:42:00.0/sriov_numvfs", "2\n");
	holders_scan(&roots, slots, 1, &holders);
	out = out_new(NULL);
	holders_render(out, &holders);
	text = out_render_text(out);
	ok(strstr(text, "2 virtual functions of 0000:42:00.0 (no open file)"),
	   "who is no process is listed:\n%s", text);
	free(text);
	out_free(out);
	holders_free(&holders);
	put("bus/pci/devices/0000:42:00.0/sriov_numvfs", "0\n");
}

static void test_at_risk(void)
{
	struct gf_slot slots[] = { a, b, { .id = 3, .name = "3-2" } };
	struct gf_fabric fabric = { .slots = slots, .n_slots = 3 };
	const struct gf_slot *removed[] = { &a };
	char *names = holders_at_risk(&fabric, removed, 1);

	is_str(names, "3-1", "a GPU of the same driver is at risk");
	free(names);
	functions_b[0].driver = "other";
	names = holders_at_risk(&fabric, removed, 1);
	ok(!names, "one of another driver is not");
	free(names);
}

int main(void)
{
	char *command;

	if (!mkdtemp(dir)) {
		ok(false, "a temporary directory");
		return tap_done();
	}
	roots.sys = dir;
	ok(sysroot_mount(dir), "a sysfs");
	sysroot_device(dir, "bus/pci/devices/0000:41:00.0", "pci", "");
	sysroot_device(dir, "bus/pci/devices/0000:41:00.1", "pci", "");
	sysroot_device(dir, "bus/pci/devices/0000:42:00.0", "pci", "");
	sysroot_device(dir, "bus/pci/devices/0000:41:00.0/drm/card0", "drm", "MAJOR=x\nMINOR=0\n");
	put("bus/pci/devices/0000:41:00.0/resource1", "");
	put("bus/pci/devices/0000:41:00.0/resource1_wc", "");
	put("bus/pci/devices/0000:41:00.0/resource1_resize", "");
	put("bus/pci/devices/0000:41:00.0/resource", "");
	sysroot_device(dir, "bus/pci/devices/0000:41:00.1/sound/card0/pcmC0D0p", "sound",
		       "MAJOR=1\nMINOR=7\nDEVNAME=snd/full\n");
	sysroot_device(dir, "bus/pci/devices/0000:42:00.0/class/node", "misc",
		       "MAJOR=1\nMINOR=5\nDEVNAME=node\n");
	test_scan();
	test_tasks();
	test_guest();
	test_kernel();
	test_rendering();
	test_at_risk();
	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "clean up");
	free(command);
	return tap_done();
}
