// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl fence
 *
 * For who starts the processes of a job in a cgroup: which drivers have devices of GPUs, and which
 * nodes the job's own GPUs need, is known from nodes.d and sysfs; host/fence.h does the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"
#include "base/tree.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/fence.h"
#include "host/fence.h"
#include "host/gpunodes.h"
#include "session/session.h"

/**
 * struct fence_input - what a fence is made of
 * @majors: @n_majors of them
 * @nodes: what is allowed, @n_nodes of them
 */
struct fence_input {
	uint32_t majors[FENCE_MAJORS_MAX];
	size_t n_majors;
	struct fence_node nodes[FENCE_NODES_MAX];
	size_t n_nodes;
};

static int fence_denied(struct ctl_ctx *ctx, const struct vendors *vendors,
			struct fence_input *input)
{
	const char **names = NULL;
	struct fault fault = { "" };
	char *devices = NULL;
	struct tree tree;
	size_t n = 0, i, j;
	int err;

	for (i = 0; i < vendors->n; i++)
		for (j = 0; j < vendors->items[i].n[VENDOR_DEVICES]; j++) {
			names = mem_push(names, n, sizeof(*names));
			names[n++] = vendors->items[i].lists[VENDOR_DEVICES][j];
		}
	err = tree_open(&tree, NULL, &fault);
	if (!err) {
		devices = tree_read(&tree, NULL, "proc/devices");
		tree_close(&tree);
	}
	if (devices)
		input->n_majors = fence_majors(devices, names, n, input->majors);
	free(names);
	if (!devices)
		return ctl_fail(ctx, CTL_FAILED, "/proc/devices cannot be read");
	free(devices);
	return CTL_DONE;
}

static int fence_allowed(struct ctl_ctx *ctx, const struct vendors *vendors, const char *name,
			 struct fence_input *input)
{
	static const struct places places = { "/proc", "" };
	struct gf_composition *composition;
	struct gpunodes nodes = { 0 };
	struct session session;
	size_t i;
	int ret = session_open(ctx, &session, SESSION_LOOK);

	if (ret)
		return ret;
	ret = session_composition(&session, name, &composition);
	for (i = 0; !ret && i < composition->n_members; i++) {
		const struct gf_slot *slot =
			gf_slot_by_id(&session.fabric, composition->members[i].slot_id);

		if (slot)
			gpunodes_add(&nodes, &places, vendors, slot);
	}
	for (i = 0; i < nodes.n; i++) {
		if (nodes.items[i].block || nodes.items[i].alias)
			continue;
		if (input->n_nodes == FENCE_NODES_MAX) {
			ret = ctl_fail(ctx, CTL_FAILED, "%s has more than %d device nodes", name,
				       FENCE_NODES_MAX);
			break;
		}
		input->nodes[input->n_nodes++] =
			(struct fence_node){ .major = major(nodes.items[i].rdev),
					     .minor = minor(nodes.items[i].rdev) };
	}
	gpunodes_free(&nodes);
	session_close(&session);
	return ret;
}

static int fence_apply(struct ctl_ctx *ctx, const char *cgroup, const struct fence_input *input)
{
	const struct fence fence = { .majors = input->majors,
				     .n_majors = input->n_majors,
				     .nodes = input->nodes,
				     .n_nodes = input->n_nodes };
	struct fault fault = { "" };
	int dir = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (dir < 0)
		return ctl_fail(ctx, errno == EACCES ? CTL_DENIED : CTL_FAILED, "%s: %s", cgroup,
				strerror(errno));
	err = ctx->dry_run ? 0 : fence_set(dir, &fence, &fault);
	close(dir);
	if (err)
		return ctl_fail(ctx, err == -EPERM ? CTL_DENIED : CTL_FAILED, "%s: %s", cgroup,
				fault.text);
	return CTL_DONE;
}

int fence_around(struct ctl_ctx *ctx, const char *cgroup, const char *name, struct fence_made *made)
{
	struct fence_input input = { .n_majors = 0 };
	struct fault fault = { "" };
	struct vendors vendors;
	int ret;

	if (vendors_load(&vendors, ctx->data_dir, ctx->config_dir, &fault))
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	ret = fence_denied(ctx, &vendors, &input);
	if (!ret && name)
		ret = fence_allowed(ctx, &vendors, name, &input);
	vendors_free(&vendors);
	if (!ret)
		ret = fence_apply(ctx, cgroup, &input);
	*made = (struct fence_made){ input.n_majors, input.n_nodes };
	return ret;
}

static int fence_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	static const struct out_column columns[] = { { "denied_majors", NULL },
						     { "allowed_nodes", NULL },
						     { NULL, NULL } };
	struct fence_made made;
	struct out_table *t;
	int ret = ctl_operands(ctx, argc, 1, 2);

	if (!ret)
		ret = fence_around(ctx, argv[0], argc == 2 ? argv[1] : NULL, &made);
	if (ret)
		return ret;
	t = out_table(ctx->out, "fence", columns, OUT_SINGLE);
	out_uint(t, "denied_majors", made.denied);
	out_uint(t, "allowed_nodes", made.allowed);
	return CTL_DONE;
}

const struct ctl_command cmd_fence = {
	.name = "fence",
	.group = CTL_PLUMBING,
	.args = "CGROUP [NAME]",
	.summary = "let a cgroup open only the GPUs of a composition",
	.help = "CGROUP is a directory below /sys/fs/cgroup, of version 2. Its processes, and those of cgroups below it,\n"
		"cannot open devices of GPU drivers, including GPUs that are attached later. The exceptions are the\n"
		"device nodes of the GPUs of NAME, and those that all GPUs of their driver share. Without NAME there is\n"
		"no exception. The list of drivers is in nodes.d: see gpuctl-catalogue(5). Another call replaces the\n"
		"fence at once; the fence ends with the cgroup. BPF programs for devices that other software attached\n"
		"to the cgroup stay.",
	.run = fence_run,
};
