// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: fences
 *
 * The program is made here, instruction by instruction, since no host has a compiler for it. It
 * reads the type and the number of a device, and answers 1 for yes. A cgroup holds a list
 * of such programs; ours is found again by its name, and exchanged at once: at no moment is there none.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "host/fence.h"

#define FENCE_NAME "gpufabric"
#define ATTACHED_MAX 64
#define LOG_SIZE 4096

#define INSN(c, dst, src, o, i)                                                                    \
	((struct bpf_insn){                                                                        \
		.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i) })
#define LOAD(to, field)                                                                            \
	INSN(BPF_LDX | BPF_MEM | BPF_W, to, BPF_REG_1, offsetof(struct bpf_cgroup_dev_ctx, field), \
	     0)
#define UNLESS(reg, value, skip) INSN(BPF_JMP | BPF_JNE | BPF_K, reg, 0, skip, (int32_t)(value))
#define AND(reg, value) INSN(BPF_ALU | BPF_AND | BPF_K, reg, 0, 0, value)
#define ANSWER(value) INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

size_t fence_majors(const char *devices, const char *const *drivers, size_t n,
		    uint32_t majors[FENCE_MAJORS_MAX])
{
	const char *line = devices;
	size_t count = 0, len, i;

	/* Numbers of block devices are others. */
	for (; *line && strncmp(line, "Block", 5); line += len + !!line[len]) {
		char *name;
		unsigned long major = strtoul(line, &name, 10);

		len = strcspn(line, "\n");
		if (name == line || *name != ' ')
			continue;
		name++;
		for (i = 0; i < n && count < FENCE_MAJORS_MAX; i++) {
			size_t wanted = strlen(drivers[i]);

			if (wanted == (size_t)(line + len - name) &&
			    !memcmp(name, drivers[i], wanted))
				majors[count++] = (uint32_t)major;
		}
	}
	return count;
}

size_t fence_program(const struct fence *fence, struct bpf_insn **insns)
{
	struct bpf_insn *to;
	size_t n = 0, i;

	*insns = NULL;
	if (fence->n_majors > FENCE_MAJORS_MAX || fence->n_nodes > FENCE_NODES_MAX)
		return 0;
	to = mem_zalloc(9 + 3 * fence->n_majors + 4 * fence->n_nodes, sizeof(*to));
	to[n++] = LOAD(BPF_REG_2, access_type);
	to[n++] = LOAD(BPF_REG_3, major);
	to[n++] = LOAD(BPF_REG_4, minor);
	/* The upper half says whether it is read, written or made. */
	to[n++] = AND(BPF_REG_2, 0xffff);
	to[n++] = INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_2, 0, 2, BPF_DEVCG_DEV_CHAR);
	to[n++] = ANSWER(1);
	to[n++] = EXIT;
	for (i = 0; i < fence->n_nodes; i++) {
		to[n++] = UNLESS(BPF_REG_3, fence->nodes[i].major, 3);
		to[n++] = UNLESS(BPF_REG_4, fence->nodes[i].minor, 2);
		to[n++] = ANSWER(1);
		to[n++] = EXIT;
	}
	for (i = 0; i < fence->n_majors; i++) {
		to[n++] = UNLESS(BPF_REG_3, fence->majors[i], 2);
		to[n++] = ANSWER(0);
		to[n++] = EXIT;
	}
	to[n++] = ANSWER(1);
	to[n++] = EXIT;
	*insns = to;
	return n;
}

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A descriptor of the program in the kernel, or a negative errno with the verifier's last words. */
static int fence_load(const struct fence *fence, struct fault *f)
{
	static const char licence[] = "GPL";
	struct bpf_insn *insns;
	size_t n = fence_program(fence, &insns);
	char log[LOG_SIZE] = "";
	union bpf_attr attr;
	int fd;

	if (!n)
		return fault_set(f, E2BIG, "more than %d devices", FENCE_NODES_MAX);
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = (uint32_t)n;
	attr.license = (uintptr_t)licence;
	memcpy(attr.prog_name, FENCE_NAME, sizeof(FENCE_NAME));
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0 && errno == EINVAL) {
		attr.log_buf = (uintptr_t)log;
		attr.log_size = sizeof(log);
		attr.log_level = 1;
		fd = bpf(BPF_PROG_LOAD, &attr);
	}
	if (fd < 0)
		fd = fault_set(f, errno, "the kernel takes no program for devices: %s %s",
			       strerror(errno), log);
	free(insns);
	return fd;
}

/* Ours among the programs of a cgroup: a descriptor, -ENOENT for none. */
static int fence_find(int cgroup)
{
	uint32_t ids[ATTACHED_MAX] = { 0 };
	union bpf_attr attr;
	size_t i, n;

	memset(&attr, 0, sizeof(attr));
	attr.query.target_fd = (uint32_t)cgroup;
	attr.query.attach_type = BPF_CGROUP_DEVICE;
	attr.query.prog_ids = (uintptr_t)ids;
	attr.query.prog_cnt = ATTACHED_MAX;
	if (bpf(BPF_PROG_QUERY, &attr))
		return -errno;
	n = attr.query.prog_cnt;
	for (i = 0; i < n; i++) {
		struct bpf_prog_info info;
		int fd;

		memset(&attr, 0, sizeof(attr));
		attr.prog_id = ids[i];
		fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		memset(&attr, 0, sizeof(attr));
		attr.info.bpf_fd = (uint32_t)fd;
		attr.info.info_len = sizeof(info);
		attr.info.info = (uintptr_t)&info;
		if (!bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) && !strcmp(info.name, FENCE_NAME))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

int fence_set(int cgroup, const struct fence *fence, struct fault *f)
{
	union bpf_attr attr;
	int own, before, err = 0;

	own = fence_load(fence, f);
	if (own < 0)
		return own;
	before = fence_find(cgroup);
	if (before < 0 && before != -ENOENT) {
		err = fault_set(f, -before, "cannot read the programs of the cgroup: %s",
				strerror(-before));
		goto out;
	}
	memset(&attr, 0, sizeof(attr));
	attr.target_fd = (uint32_t)cgroup;
	attr.attach_bpf_fd = (uint32_t)own;
	attr.attach_type = BPF_CGROUP_DEVICE;
	attr.attach_flags = BPF_F_ALLOW_MULTI;
	if (before >= 0) {
		attr.attach_flags |= BPF_F_REPLACE;
		attr.replace_bpf_fd = (uint32_t)before;
	}
	if (bpf(BPF_PROG_ATTACH, &attr))
		err = fault_set(f, errno, "cannot hold the cgroup to its devices: %s",
				strerror(errno));
	if (before >= 0)
		close(before);
out:
	close(own);
	return err;
}
