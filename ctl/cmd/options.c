// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: options that several commands have
 *
 * The words of a command line end here: what is below the commands gets structures, so that
 * a planner or a service asks for the same without having typed anything.
 */
#include <signal.h>
#include <string.h>

#include "base/text.h"
#include "choose/driver.h"
#include "cli/given.h"
#include "cmd/options.h"
#include "op/remove.h"
#include "session/session.h"

/* What --signal alone waits. */
#define SIGNAL_WAIT_MS 10000
#define LEASE_MIN_MS 1000
#define LEASE_MAX_MS (3650ull * 86400 * 1000)

const struct ctl_option session_options[] = {
	{ "timeout", 't', "TIME", "deadline of each slot's operation (default 30s)" },
	{ "reason", 'r', "TEXT", "free text for the history" },
	{ NULL },
};

const struct ctl_option remove_options[] = {
	{ "wait", 'w', "TIME", "announce the removal and wait this time for holders to let go" },
	{ "signal", 0, "SIGNAL",
	  "send this signal to holders; they have 10s, or the time of --wait",
	  "TERM INT HUP USR1 USR2 KILL" },
	{ "force", 'f', NULL, "continue even if processes hold a GPU" },
	{ NULL },
};

int duration_read(struct ctl_ctx *ctx, const char *option, uint64_t fallback, uint64_t min,
		  uint64_t max, uint64_t *ms)
{
	const char *value = ctl_opt(ctx, option);
	char low[TEXT_QUANTITY], high[TEXT_QUANTITY];

	*ms = fallback;
	if (!value)
		return CTL_DONE;
	if (!text_parse_duration(value, ms))
		return ctl_fail(ctx, CTL_USAGE,
				"--%s %s: write a time with its unit, such as 30s, 5min or 8h",
				option, value);
	if (*ms < min || *ms > max)
		return ctl_fail(ctx, CTL_USAGE, "--%s %s: must be between %s and %s", option, value,
				text_duration(low, min), text_duration(high, max));
	return CTL_DONE;
}

int lease_read(struct ctl_ctx *ctx, uint64_t *ms)
{
	return duration_read(ctx, "for", 0, LEASE_MIN_MS, LEASE_MAX_MS, ms);
}

int reason_read(struct ctl_ctx *ctx, const char **reason)
{
	*reason = ctl_opt(ctx, "reason");
	if (*reason && strlen(*reason) > GPUFABRIC_REASON_MAX)
		return ctl_fail(ctx, CTL_USAGE, "--reason: at most %d bytes", GPUFABRIC_REASON_MAX);
	return CTL_DONE;
}

/* "TERM", "SIGTERM" or a number. */
static int read_signal(struct ctl_ctx *ctx, int *number)
{
	const char *text = ctl_opt(ctx, "signal"), *name = text;
	uint64_t value;
	int i;

	*number = 0;
	if (!text)
		return CTL_DONE;
	if (text_number(text, (uint64_t)SIGRTMAX, &value) && value) {
		*number = (int)value;
		return CTL_DONE;
	}
	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (i = 1; i < SIGRTMAX && !*number; i++)
		if (sigabbrev_np(i) && !strcmp(sigabbrev_np(i), name))
			*number = i;
	if (!*number)
		return ctl_fail(ctx, CTL_USAGE,
				"--signal %s: no such signal; write TERM, INT or HUP", text);
	return CTL_DONE;
}

static int read_removal(struct ctl_ctx *ctx, uint64_t wait_ms, struct op_terms *terms)
{
	int ret = read_signal(ctx, &terms->signal);

	if (ret)
		return ret;
	if (terms->signal && !wait_ms)
		wait_ms = SIGNAL_WAIT_MS;
	terms->force = ctl_flag(ctx, "force");
	return duration_read(ctx, "wait", wait_ms, 1, REMOVAL_WAIT_MAX_MS, &terms->wait_ms);
}

int terms_read(struct ctl_ctx *ctx, unsigned int of, uint64_t wait_ms, struct op_terms *terms)
{
	int ret;

	memset(terms, 0, sizeof(*terms));
	ret = duration_read(ctx, "timeout", 0, GPUFABRIC_TIMEOUT_MIN, GPUFABRIC_TIMEOUT_MAX,
			    &terms->timeout_ms);
	if (!ret)
		ret = reason_read(ctx, &terms->reason);
	if (!ret && of & TERMS_REMOVE)
		ret = read_removal(ctx, wait_ms, terms);
	terms->dirty = of & TERMS_GIVE && ctl_flag(ctx, "dirty");
	if (ret || !(of & TERMS_ADD))
		return ret;
	terms->driver = ctl_opt(ctx, "driver");
	terms->harm = ctl_flag(ctx, "no-fit-check");
	return driver_check(ctx, terms->driver);
}

/* --tenant and --label are names; schedulers number their jobs, those need not be. */
static int options_read_text(struct ctl_ctx *ctx, const char *option,
			     char to[GPUFABRIC_NAME_MAX + 1], bool name)
{
	const char *value = ctl_opt(ctx, option);

	if (!value)
		return CTL_DONE;
	if (name && !text_name_valid(value))
		return session_check_name(ctx, option, value);
	if (!name && !annotation_job_valid(value))
		return ctl_fail(ctx, CTL_USAGE, "--%s: write one line of 1 to %d bytes", option,
				GPUFABRIC_NAME_MAX);
	strcpy(to, value);
	return CTL_DONE;
}

int note_read(struct ctl_ctx *ctx, bool tenant, struct annotation *note)
{
	int ret = CTL_DONE;

	if (tenant)
		ret = options_read_text(ctx, "tenant", note->tenant, true);
	if (!ret)
		ret = options_read_text(ctx, "label", note->label, true);
	if (!ret)
		ret = options_read_text(ctx, "job", note->job, false);
	return ret;
}
