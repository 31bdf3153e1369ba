// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/fence.c ctl/base/fault.c ctl/base/text.c
/*
 * What a cgroup may open. As root, in a cgroup of its own, with the devices of memory for those of
 * a driver of GPUs: 1:3 null, 1:5 zero, 1:7 full, 1:8 random, 1:9 urandom. Elsewhere only the program is looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "host/fence.h"
#include "tap.h"

static char dir[] = "/tmp/fence_test.XXXXXX";
static char *later;

static void test_majors(void)
{
	static const char devices[] = "Character devices:\n  1 mem\n195 nvidia\n226 drm\n510 nvidia-uvm\n511 nvidia-caps\n\n"
				      "Block devices:\n  7 loop\n259 nvidia\n";
	static const char *const drivers[] = { "nvidia", "nvidia-uvm", "kfd", "drm" };
	uint32_t majors[FENCE_MAJORS_MAX];

	ok(fence_majors(devices, drivers, 4, majors) == 3, "three of four drivers are loaded");
	ok(majors[0] == 195 && majors[1] == 226 && majors[2] == 510, "with these numbers");
	ok(!fence_majors("", drivers, 4, majors), "without any");
}

static void test_limits(void)
{
	static struct fence_node nodes[FENCE_NODES_MAX + 1];
	static const uint32_t majors[FENCE_MAJORS_MAX + 1];
	struct fence fence = { .majors = majors, .nodes = nodes, .n_nodes = FENCE_NODES_MAX + 1 };
	struct bpf_insn *insns;

	ok(!fence_program(&fence, &insns) && !insns, "more devices than there can be");
	fence.n_nodes = 0;
	fence.n_majors = FENCE_MAJORS_MAX + 1;
	ok(!fence_program(&fence, &insns) && !insns, "more drivers");
	fence.n_majors = 0;
	ok(fence_program(&fence, &insns) == 9, "none at all: nothing is denied");
	free(insns);
}

/* Errno of opening a device by a process of the cgroup, 0 for none. */
static int opened(int cgroup, const char *path)
{
	int status, fd;
	pid_t pid;

	pid = fork();
	if (!pid) {
		fd = openat(cgroup, "cgroup.procs", O_WRONLY);
		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(255);
		fd = open(path, O_RDONLY);
		_exit(fd < 0 ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 255;
	return WEXITSTATUS(status);
}

static void test_job(int cgroup, int below)
{
	static const uint32_t majors[] = { 1 };
	static const struct fence_node own[] = { { 1, 3 }, { 1, 9 } }, more[] = { { 1, 3 }, { 1, 9 }, { 1, 5 } };
	struct fence fence = { majors, 1, own, 2 };
	struct fault fault = { "" };

	is_int(opened(cgroup, "/dev/zero"), 0, "before it, a job may have all");
	ok(!fence_set(cgroup, &fence, &fault), "it is set %s", fault.text);
	is_int(opened(cgroup, "/dev/null"), 0, "its own");
	is_int(opened(cgroup, "/dev/urandom"), 0, "a control node that all share");
	is_int(opened(cgroup, "/dev/zero"), EPERM, "that of another job");
	ok(opened(cgroup, "/dev/tty") != EPERM, "what is of no such driver is not denied");
	ok(!mknod(later, S_IFCHR | 0666, makedev(1, 7)), "a device that comes later");
	is_int(opened(cgroup, later), EPERM, "is denied without a change");
	is_int(opened(below, "/dev/zero"), EPERM, "a cgroup of a step is held to it as well");
	is_int(opened(below, "/dev/null"), 0, "and has what the job has");
	fence.nodes = more;
	fence.n_nodes = 3;
	ok(!fence_set(cgroup, &fence, &fault), "the job gets one more %s", fault.text);
	is_int(opened(cgroup, "/dev/zero"), 0, "and may open it");
	is_int(opened(cgroup, later), EPERM, "and no other");
	fence.n_nodes = 1;
	ok(!fence_set(below, &fence, &fault), "a step may have less %s", fault.text);
	is_int(opened(below, "/dev/zero"), EPERM, "than its job");
	is_int(opened(cgroup, "/dev/zero"), 0, "which keeps it");
	fence = (struct fence){ majors, 1, more, 3 };
	ok(!fence_set(below, &fence, &fault), "and as much again %s", fault.text);
	is_int(opened(below, "/dev/zero"), 0, "as its job");
}

/* Those that are given, as many as there may be: does the kernel take such a program? */
static void test_many(int cgroup)
{
	struct fence_node *nodes = mem_zalloc(FENCE_NODES_MAX, sizeof(*nodes));
	uint32_t majors[FENCE_MAJORS_MAX];
	struct fence fence = { majors, FENCE_MAJORS_MAX, nodes, FENCE_NODES_MAX };
	struct fault fault = { "" };
	uint32_t i;

	for (i = 0; i < FENCE_MAJORS_MAX; i++)
		majors[i] = i + 1;
	for (i = 0; i < FENCE_NODES_MAX; i++)
		nodes[i] = (struct fence_node){ 1, i + 4 };
	ok(!fence_set(cgroup, &fence, &fault), "as many as there may be %s", fault.text);
	is_int(opened(cgroup, "/dev/zero"), 0, "one of them");
	is_int(opened(cgroup, "/dev/null"), EPERM, "and none");
	free(nodes);
}

/* In a hierarchy that is mounted for it, so that it does not matter where this system has it. */
static void test_in_cgroup(void)
{
	char *mounted = mem_printf("%s/cgroup", dir), *job = mem_printf("%s/fence_test.%d", mounted, (int)getpid());
	char *step = mem_printf("%s/step", job);
	int cgroup = -1, below = -1;

	mkdir(mounted, 0700);
	if (!geteuid() && !mount("none", mounted, "cgroup2", 0, NULL) && !mkdir(job, 0700) && !mkdir(step, 0700)) {
		cgroup = open(job, O_RDONLY | O_DIRECTORY);
		below = open(step, O_RDONLY | O_DIRECTORY);
	}
	if (cgroup >= 0 && below >= 0) {
		test_job(cgroup, below);
		test_many(cgroup);
	} else {
		ok(true, "no cgroup of our own here # SKIP");
	}
	close(cgroup);
	close(below);
	rmdir(step);
	rmdir(job);
	umount(mounted);
	ok(!rmdir(mounted), "the cgroups are gone");
	free(mounted);
	free(job);
	free(step);
}

int main(void)
{
	test_majors();
	test_limits();
	if (!mkdtemp(dir))
		return 1;
	later = mem_printf("%s/later", dir);
	test_in_cgroup();
	unlink(later);
	ok(!rmdir(dir), "cleaned up");
	free(later);
	return tap_done();
}
