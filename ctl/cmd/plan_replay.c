// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan replay: a trace through the policies, with what none can be better than. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/plan_rates.h"
#include "cmd/plan_replay.h"

#define FILE_MAX (1u << 28)
#define READ_STEP (1u << 20)

static const struct ctl_option options[] = {
	{ "pool", 'p', "COUNT", "GPUs that all tenants share" },
	{ "warm", 0, "TIME", "time at the beginning that is not scored (default 7d)" },
	{ "host", 0, "COUNT", "GPUs of a host in the static division (default 8)" },
	{ "runtimes", 0, "WORD",
	  "whether gpuctl's policy knows runtimes: known or unknown (default)" },
	{ "equal-jct", 0, NULL,
	  "jobs: number of GPUs with which static hosts reach gpuctl's completion time" },
	{ "attach-cost", 0, "MINUTES", "series: cost of an attach in GPU minutes (default 0.5)" },
	{ "hold-cost", 0, "NUMBER", "series: cost of keeping an idle GPU a minute (default 0)" },
	{ "hold", 0, "TIME",
	  "series: time for which a reactive policy keeps GPUs (default 60min)" },
	{ "energy", 'e', NULL, "energy of each tenant and each day as well" },
	{ "svg", 0, "FILE", "draw demand, allocation and moves; - is standard output" },
	{ NULL },
};

static int plan_replay_whole(struct ctl_ctx *ctx, const char *name, uint64_t max, uint32_t *out)
{
	const char *word = ctl_opt(ctx, name);
	uint64_t n;

	if (!word)
		return CTL_DONE;
	if (!text_number(word, max, &n) || !n)
		return ctl_fail(ctx, CTL_USAGE, "--%s: \"%.40s\" is not a number from 1 to %llu",
				name, word, (unsigned long long)max);
	*out = (uint32_t)n;
	return CTL_DONE;
}

static int duration(struct ctl_ctx *ctx, const char *name, int64_t *seconds)
{
	const char *word = ctl_opt(ctx, name);
	uint64_t ms;

	if (!word)
		return CTL_DONE;
	if (!text_parse_duration(word, &ms))
		return ctl_fail(ctx, CTL_USAGE,
				"--%s: \"%.40s\" is not a time: write 7d, 12h or 60min", name,
				word);
	*seconds = (int64_t)(ms / 1000);
	return CTL_DONE;
}

static int plan_replay_read_options(struct ctl_ctx *ctx, struct replay *r)
{
	const char *word = ctl_opt(ctx, "runtimes");
	int64_t hold = 3600;
	int ret;

	*r = (struct replay){ .host = 8, .warm_s = 7 * 86400, .attach_minutes = 0.5 };
	r->equal_jct = ctl_flag(ctx, "equal-jct");
	r->per = ctl_flag(ctx, "energy");
	r->svg = ctl_opt(ctx, "svg");
	if (!ctl_flag(ctx, "pool"))
		return ctl_fail(ctx, CTL_USAGE, "the number of GPUs is missing: add --pool COUNT");
	ret = plan_replay_whole(ctx, "pool", JOBS_GPUS_MAX, &r->pool);
	if (!ret)
		ret = plan_replay_whole(ctx, "host", JOBS_GPUS_MAX, &r->host);
	if (!ret)
		ret = duration(ctx, "warm", &r->warm_s);
	if (!ret)
		ret = duration(ctx, "hold", &hold);
	if (!ret)
		ret = plan_rates_number(ctx, "attach-cost", 0, 1e6, &r->attach_minutes);
	if (!ret)
		ret = plan_rates_number(ctx, "hold-cost", 0, 1e6, &r->hold_cost);
	if (!ret)
		ret = plan_rates(ctx, &r->energy);
	if (ret)
		return ret;
	r->hold_min = (uint32_t)(hold / 60);
	if (word && strcmp(word, "known") && strcmp(word, "unknown"))
		return ctl_fail(ctx, CTL_USAGE,
				"--runtimes: \"%.40s\" is neither known nor unknown", word);
	r->known = word && !strcmp(word, "known");
	return CTL_DONE;
}

/* All of a file, or of standard input; caller frees. */
static int slurp(struct ctl_ctx *ctx, const char *path, char **text, size_t *len)
{
	bool standard = !strcmp(path, "-");
	FILE *f = standard ? stdin : fopen(path, "re");
	size_t n = 0, got;
	int err;

	*text = NULL;
	if (!f)
		return ctl_fail(ctx, CTL_USAGE, "%s: %s", path, strerror(errno));
	do {
		*text = mem_grow(*text, n + READ_STEP, 1);
		got = fread(*text + n, 1, READ_STEP, f);
		n += got;
	} while (got && n < FILE_MAX);
	err = ferror(f);
	if (!standard)
		fclose(f);
	*len = n;
	if (!err && n < FILE_MAX)
		return CTL_DONE;
	free(*text);
	*text = NULL;
	return ctl_fail(ctx, CTL_USAGE, "%s: %s", path,
			err ? "cannot be read" : "is larger than 256 MiB, so it is not a trace");
}

static bool plan_replay_is_series(const char *text, size_t len)
{
	return len >= 6 && !memcmp(text, "minute", 6);
}

static int run_jobs(struct ctl_ctx *ctx, const struct replay *r, const char *path, const char *text,
		    size_t len)
{
	struct fault f = { "" };
	struct jobs jobs;
	int ret;

	if (jobs_parse(&jobs, path, text, len, r->pool, &f))
		return ctl_fail(ctx, CTL_USAGE, "%s", f.text);
	ret = replay_jobs(ctx, r, &jobs);
	jobs_free(&jobs);
	return ret;
}

/* A trace of jobs is one file; demand is one file a tenant. */
static int plan_replay_read_all(struct ctl_ctx *ctx, const struct replay *r, int argc, char **argv)
{
	struct series_set set = { 0 };
	struct fault f = { "" };
	int ret = CTL_DONE, i;

	for (i = 0; !ret && i < argc; i++) {
		const char *name = strcmp(argv[i], "-") ? argv[i] : "stdin";
		char *text;
		size_t len = 0;

		ret = slurp(ctx, argv[i], &text, &len);
		if (ret)
			break;
		if (argc == 1 && !plan_replay_is_series(text, len))
			ret = run_jobs(ctx, r, name, text, len);
		else if (series_add(&set, name, text, len, r->pool, &f))
			ret = ctl_fail(ctx, CTL_USAGE, "%s", f.text);
		free(text);
	}
	if (!ret && set.n)
		ret = replay_series(ctx, r, &set);
	series_free(&set);
	return ret;
}

void replay_energy_note(struct ctl_ctx *ctx, const struct replay *r)
{
	const struct energy_rates *e = &r->energy;

	out_note(ctx->out, "remarks", "",
		 "energy is modelled, nothing is measured: %g W busy, %g W idle, %g W off, %g W host a GPU (options or an H100's); PUE %g, %g g CO2 a kWh (options or assumed)",
		 e->busy_w, e->idle_w, e->off_w, e->host_w, e->pue, e->carbon);
}

int replay_draw(struct ctl_ctx *ctx, const struct replay *r, char *svg)
{
	bool standard = !strcmp(r->svg, "-");
	FILE *f = standard ? stdout : fopen(r->svg, "we");
	bool bad;

	if (!f) {
		free(svg);
		return ctl_fail(ctx, CTL_FAILED, "%s: %s", r->svg, strerror(errno));
	}
	bad = fputs(svg, f) < 0;
	if (standard)
		bad |= fflush(f) != 0;
	else
		bad |= fclose(f) != 0;
	free(svg);
	return bad ? ctl_fail(ctx, CTL_FAILED, "%s: cannot be written", r->svg) : CTL_DONE;
}

static int plan_replay_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct replay r;
	int ret = ctl_operands(ctx, argc, 1, -1);

	if (!ret)
		ret = plan_replay_read_options(ctx, &r);
	return ret ? ret : plan_replay_read_all(ctx, &r, argc, argv);
}

const struct ctl_command cmd_plan_replay = {
	.name = "plan replay",
	.args = "TRACE...",
	.summary = "run a trace through policies and compare them with a bound",
	.help = "TRACE is a file of jobs (submit_s,duration_s,gpus,tenant), or one file of demand for each tenant\n"
		"(minute,quota_gpus,running_gpus,pending_gpus); - is standard input. Every policy runs on the same trace,\n"
		"and the bound holds for all policies. gpuctl's policy for jobs does not know their runtimes: it learns\n"
		"them from jobs that have ended. It never stops or moves a job. The scheduler of static hosts knows all\n"
		"runtimes. Static hosts belong to one tenant each, in proportion to its use in the scored time. Both are\n"
		"advantages for static hosts. For demand, a missing GPU costs 1 per minute, and an attach costs\n"
		"--attach-cost.",
	.options = { options, plan_rates_options },
	.flags = CTL_NO_DRY_RUN,
	.run = plan_replay_run,
};
