// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl watch daemon: tell systemd of every change. */
#include <stdlib.h>

#include "cli/given.h"
#include "cmd/cmd.h"
#include "cmd/watch.h"

static const struct ctl_option options[] = {
	{ "print", 0, NULL, "print changes and do not write them to the journal" },
	{ NULL },
};

static int watch_daemon_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct watch watch = { .journal = !ctl_flag(ctx, "print"), .units = true };
	int ret = ctl_operands(ctx, argc, 0, 0);

	(void)argv;
	if (!ret && watch.journal && ctx->json)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "entries of the journal always have fields: leave -j out");
	if (ret)
		return ret;
	/* systemd says where; of a run by hand nothing is kept. */
	follow_open(&watch.follow, getenv("RUNTIME_DIRECTORY"));
	ret = watch_run(ctx, &watch);
	follow_close(&watch.follow);
	return ret;
}

const struct ctl_command cmd_watch_daemon = {
	.name = "watch daemon",
	.args = "",
	.summary = "write every change to the journal, and start units that follow",
	.help = "Each change becomes an entry of systemd's journal with the fields GPUFABRIC_EVENT, _SEQUENCE, _INSTANCE,\n"
		"_SLOT, _PORT, _STATE, _PREVIOUS, _CAUSE, _COMPOSITION, _TENANT and _JOB, and for operations _OPERATION,\n"
		"_OPERATION_ID, _ERRNO, _UID, _PID, _COMMAND and _REASON. systemd starts gpufabric-fault@SLOT.service for\n"
		"a slot that ends in fault, lost or stuck, gpufabric-detached@SLOT.service after a GPU was detached,\n"
		"gpufabric-changed.service after any change, and gpufabric-reap.service when a lease ends or a client\n"
		"dies. If changes were lost or the daemon did not run, it reports the missed changes once, at the next\n"
		"snapshot: a file in $RUNTIME_DIRECTORY records what was reported. gpufabric-watch.service runs it.",
	.options = { options, watch_options },
	.flags = CTL_NO_DRY_RUN,
	.run = watch_daemon_run,
};
