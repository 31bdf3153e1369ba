// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl compose: give a workload a set of GPUs, all or none. */
#include "cli/ctl.h"
#include "cmd/request.h"
#include "session/session.h"
#include "cmd/size_options.h"

#define WAIT_MAX_MS (7ull * 86400 * 1000)

static const struct ctl_option options[] = {
	{ "wait", 'w', "TIME", "wait this time for GPUs that others have or that change" },
	{ NULL },
};

static int compose_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct compose_request request;
	struct session session;
	struct op_terms terms;
	uint64_t wait_ms = 0;
	struct asked asked;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = session_check_name(ctx, "name", argv[0]);
	if (!ret)
		ret = terms_read(ctx, TERMS_ADD | TERMS_GIVE, 0, &terms);
	if (!ret)
		ret = duration_read(ctx, "wait", 0, 1, WAIT_MAX_MS, &wait_ms);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	ret = compose_read(ctx, &session.knowledge.catalogue, argv[0], &asked, &request);
	request.wait_ms = wait_ms;
	if (!ret)
		ret = compose(&session, &terms, &request);
	asked_free(&asked);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_compose = {
	.name = "compose",
	.group = CTL_COMPOSITIONS,
	.args = "NAME",
	.summary = "give a workload a set of GPUs, all or none",
	.help = "Ask for GPUs by number (--gpus), by kind (--gpu, repeatable), by total memory (--memory), or by\n"
		"workload (--model and its options): gpuctl sizes the workload first. It prefers slots behind one\n"
		"switch, then those of one NUMA node, then those of the fewest switches, and prints the reason.\n"
		"Free GPUs that are already attached are taken as they are, but those that another tenant had are\n"
		"power-cycled or reset first: see TENANTS in gpuctl(8). If one slot fails, all slots go back to their\n"
		"state before.\n"
		"For a workload gpuctl takes the kind that needs the fewest free GPUs, and the number of GPUs that gpuctl\n"
		"size prints. A line says which limit decided: memory, heads, power-of-two (--round pow2), degrees, count,\n"
		"pool or tenant. Kinds are mixed only with --mixed, or if --gpu names them.\n"
		"If the GPUs of this host are not enough, gpuctl binds the missing ones from the pools of fabric managers\n"
		"to empty slots, all or none. It chooses among the free GPUs of this host and of the managers together;\n"
		"between GPUs that serve equally, it takes those of this host. A request that fails gives the bound GPUs\n"
		"back, and so does gpuctl release: see gpuctl-fabric(5).\n"
		"With --wait gpuctl tries a request that does not fit again after each change: a composition ends, a\n"
		"slot changes, or another host gives a GPU back to a fabric manager. When the time is over, or at once\n"
		"if all GPUs together would not be enough, the exit code is 3 with the reason. A waiting request\n"
		"reserves nothing, so a later request may get the GPUs first. A signal ends the wait, and nothing has\n"
		"changed.",
	.options = { options, pool_options, compose_options, size_workload_options,
		     session_options },
	.run = compose_run,
};
