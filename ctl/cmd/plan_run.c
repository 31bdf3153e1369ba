// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl plan run
 *
 * A step each minute: read, plan, move. Nothing is kept between two of them that the next one
 * could not do without: who has what the module says, and since when. So it can be killed at
 * any time. What goes wrong in one minute is a warning, and the next one is tried anew.
 *
 * A workload that announces boundaries is moved at one. When a move waits for that, the next step is
 * made as soon as it is announced.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/plan_input.h"
#include "base/replace.h"
#include "plan/apply.h"
#include "plan/boundary.h"

#define MINUTE_MS 60000
#define LINE_BYTES 32
/* A workload that did not let go of its GPUs keeps them for so long. */
#define REFUSED_MINUTES 10
/* A workload whose move failed is not moved for so long: others are, meanwhile. */
#define FAILED_MINUTES 5

static const struct ctl_option options[] = {
	{ "clock", 0, "FILE", "read minute numbers from this file, and plan at each line" },
	{ NULL },
};

/**
 * struct since - when something was with a workload
 * @name: of the workload
 * @at: by @now of the runner; of boundaries see boundary_last()
 */
struct since {
	char *name;
	uint64_t at;
};

/**
 * struct sinces - of several
 * @items: @n of them
 * @n: how many
 */
struct sinces {
	struct since *items;
	size_t n;
};

/**
 * struct runner - between two steps
 * @ctx: the run
 * @terms: on what terms GPUs are moved
 * @input: how to plan
 * @argc: operands
 * @argv: operands
 * @clock: where minutes come from, -1 for the time of day
 * @now: milliseconds by a clock that nobody sets, or of minutes that come from @clock
 * @line: what was read of the next line
 * @used: bytes of it
 * @lines: lines that were read
 * @moved: who got a GPU by this run
 * @refused: who did not let go of one
 * @failed: whose move failed
 * @heard: latest boundary of each composition that is there, as of the last step
 * @patient: of those, whose moves are to wait for their next one
 * @awaited: whose moves wait for a boundary
 * @ears: tells of boundaries; -1: nothing does
 * @report: of the last step
 * @prices: of the step before
 * @planned: the minute of the step before
 * @fails: that step failed: the next one is that of the next minute
 * @interval_s: length of its intervals
 */
struct runner {
	struct ctl_ctx *ctx;
	struct op_terms terms;
	struct plan_input input;
	int argc;
	char **argv;
	int clock;
	uint64_t now;
	char line[LINE_BYTES];
	size_t used, lines;
	struct sinces moved, refused, failed, heard, patient, awaited;
	int ears;
	struct plan_report report;
	struct plan_prices *prices;
	uint64_t planned;
	bool fails;
	double interval_s;
};

/* What a tick is. */
enum tick {
	TICK,
	TICK_END,
	TICK_ERROR
};

static const struct since *since_of(const struct sinces *all, const char *name)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->items[i].name, name))
			return &all->items[i];
	return NULL;
}

/* The minutes since then. Steps are a minute apart, some a little less. */
static uint64_t minutes_since(const struct runner *r, const struct since *since)
{
	return (r->now - since->at + MINUTE_MS / 2) / MINUTE_MS;
}

/* Has one been announced that a move waits for? */
static bool is_at_boundary(const struct runner *r)
{
	const struct since *heard;
	size_t i;

	for (i = 0; i < r->awaited.n && !r->fails; i++) {
		heard = since_of(&r->heard, r->awaited.items[i].name);
		if (heard && heard->at != boundary_last(r->awaited.items[i].name))
			return true;
	}
	return false;
}

static enum tick wait_minute(struct runner *r)
{
	struct pollfd fd = { .fd = r->ears, .events = POLLIN };
	uint64_t now;

	/* The first step is not waited for, nor is a clock that was set back. */
	while (r->planned && !gfc_signalled() && (now = text_now()) / MINUTE_MS == r->planned &&
	       !is_at_boundary(r)) {
		uint64_t wait = (r->planned + 1) * MINUTE_MS - now;
		struct timespec ts = { .tv_sec = (time_t)(wait / 1000),
				       .tv_nsec = (long)(wait % 1000) * 1000000 };

		if (ppoll(&fd, 1, &ts, gfc_signal_mask()) > 0)
			boundary_hear(r->ears);
	}
	if (gfc_signalled())
		return TICK_END;
	r->input.minute = text_now() / MINUTE_MS;
	r->now = text_uptime();
	return TICK;
}

static enum tick bad_line(struct runner *r, const char *why)
{
	ctl_fail(r->ctx, CTL_USAGE, "%s:%zu:1: %s", ctl_opt(r->ctx, "clock"), r->lines, why);
	return TICK_ERROR;
}

static enum tick plan_run_take_line(struct runner *r)
{
	uint64_t minute;

	r->line[r->used] = '\0';
	r->used = 0;
	r->lines++;
	if (!text_number(r->line, SERIES_MINUTE_MAX, &minute))
		return bad_line(r, "a line is the number of a minute");
	if (r->lines > 1 && minute < r->input.minute)
		return bad_line(r, "this minute is over");
	r->input.minute = minute;
	r->now = minute * MINUTE_MS;
	return TICK;
}

/* A signal ends the wait, which is why this is no getline(). */
static enum tick plan_run_read_minute(struct runner *r)
{
	struct pollfd fd = { .fd = r->clock, .events = POLLIN };
	ssize_t n;
	char c;

	for (;;) {
		if (gfc_signalled())
			return TICK_END;
		if (ppoll(&fd, 1, NULL, gfc_signal_mask()) < 0)
			continue;
		n = read(r->clock, &c, 1);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return r->used ? plan_run_take_line(r) : TICK_END;
		if (c == '\n')
			return plan_run_take_line(r);
		if (r->used == LINE_BYTES - 1) {
			r->lines++;
			return bad_line(r, "a line is the number of a minute");
		}
		r->line[r->used++] = c;
	}
}

static void since_note(struct sinces *all, const char *name, uint64_t at)
{
	struct since *item = (struct since *)(uintptr_t)since_of(all, name);

	if (!item) {
		all->items = mem_grow(all->items, all->n + 1, sizeof(*all->items));
		item = &all->items[all->n++];
		item->name = mem_strdup(name);
	}
	item->at = at;
}

static void sinces_free(struct sinces *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		free(all->items[i].name);
	free(all->items);
	memset(all, 0, sizeof(*all));
}

/* Minutes for which a move of it still waits for a boundary, of which @last was the latest. */
static uint32_t patience(const struct runner *r, const char *name, uint64_t last)
{
	const struct since *heard = since_of(&r->heard, name), *awaited;
	uint64_t now = text_now() * 1000, waited;
	bool fresh = heard ? heard->at != last : last + BOUNDARY_FRESH_US > now;

	if (!last || fresh)
		return 0;
	awaited = since_of(&r->awaited, name);
	waited = awaited ? minutes_since(r, awaited) : 0;
	return waited < r->input.boundary_wait ? (uint32_t)(r->input.boundary_wait - waited) : 0;
}

/* Names come and go: only those that are there are remembered. */
static void set_patience(struct runner *r, struct plan_ahead *ahead)
{
	struct sinces heard = { 0 };
	size_t i;

	sinces_free(&r->patient);
	for (i = 0; i < ahead->n_sets; i++) {
		struct plan_set *set = &ahead->sets[i];
		uint64_t last = boundary_last(set->name);

		set->patience = patience(r, set->name, last);
		since_note(&heard, set->name, last);
		if (set->patience)
			since_note(&r->patient, set->name, r->now);
	}
	sinces_free(&r->heard);
	r->heard = heard;
}

static void set_failed(const struct runner *r, struct plan_ahead *ahead)
{
	size_t i;

	ahead->failed = mem_zalloc(r->failed.n, sizeof(*ahead->failed));
	for (i = 0; i < r->failed.n; i++)
		if (minutes_since(r, &r->failed.items[i]) < FAILED_MINUTES)
			ahead->failed[ahead->n_failed++] = r->failed.items[i].name;
}

/*
 * By a clock that is not the time of day the module's times say nothing. Who refused just now is not
 * told again each minute, nor are the moves that come after it held up by that.
 */
static void set_ages(struct plan_ahead *ahead, void *arg)
{
	struct runner *r = arg;
	const struct since *since;
	size_t i, j;

	set_patience(r, ahead);
	set_failed(r, ahead);
	for (i = 0; i < ahead->n_sets; i++) {
		struct plan_set *set = &ahead->sets[i];

		since = since_of(&r->moved, set->name);
		if (r->clock >= 0)
			set->age = since ? (uint32_t)minutes_since(r, since) : UINT32_MAX;
		since = since_of(&r->refused, set->name);
		set->refused = since && minutes_since(r, since) < REFUSED_MINUTES;
		for (j = 0; set->refused && j < set->n; j++)
			set->held[j] = set->has[j].gpus;
	}
}

static bool gets(const struct move *move)
{
	size_t i;

	for (i = 0; i < move->to.n; i++)
		if (move->to.of[i].gpus >
		    move_has_of(&move->from, move->to.of[i].sw, move->to.of[i].kind))
			return true;
	return false;
}

static void note_moves(struct runner *r, const struct move_list *list,
		       const enum apply_outcome *outcomes, int ret)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (outcomes[i] == APPLY_DONE && gets(&list->items[i]))
			since_note(&r->moved, list->items[i].workload, r->now);
		if (outcomes[i] == APPLY_FAILED && ret == CTL_BUSY)
			since_note(&r->refused, list->items[i].workload, r->now);
		if (outcomes[i] == APPLY_FAILED)
			since_note(&r->failed, list->items[i].workload, r->now);
		if (outcomes[i] == APPLY_FAILED)
			plan_report_add(&r->report, list->items[i].workload, PLAN_OFF_FAILED,
					r->ctx->error);
	}
}

/*
 * Who waits for a boundary now; since when is kept of those who waited before. The end of an epoch is
 * known in advance: nothing announces it.
 */
static void note_awaited(struct runner *r)
{
	struct sinces awaited = { 0 };
	size_t i;

	for (i = 0; i < r->report.n; i++) {
		const struct plan_reported *off = &r->report.off[i];
		const struct since *before = since_of(&r->awaited, off->workload);

		if (off->reason == PLAN_OFF_BOUNDARY && since_of(&r->patient, off->workload))
			since_note(&awaited, off->workload, before ? before->at : r->now);
	}
	sinces_free(&r->awaited);
	r->awaited = awaited;
}

/* For gpuctl top and gpuctl metrics, which do without it. */
static void publish(struct runner *r)
{
	int err;

	r->report.time = text_now();
	err = r->ctx->dry_run ? 0 : plan_report_write(&r->report);
	if (err)
		ctl_warn(r->ctx, PLAN_REPORT_FILE ": %s", replace_error(err));
}

static int move(struct runner *r, struct session *session, const struct move_list *list)
{
	enum apply_outcome *outcomes = mem_zalloc(list->n, sizeof(*outcomes));
	int ret;

	ret = apply_moves(session, &r->terms, r->input.host, list, outcomes);
	apply_render(r->ctx, list, outcomes);
	note_moves(r, list, outcomes, ret);
	free(outcomes);
	return ret;
}

static int plan_run_step(struct runner *r)
{
	struct plan_prices *prices = NULL;
	struct session session;
	struct move_list list;
	int ret;

	ret = session_open(r->ctx, &session, SESSION_CHOOSE);
	if (ret)
		return ret;
	if (r->prices && r->interval_s > 0 && r->input.minute > r->planned)
		plan_prices_shift(r->prices, (size_t)((double)(r->input.minute - r->planned) * 60 /
						      r->interval_s));
	r->input.warm = r->prices;
	r->input.keep = &prices;
	ret = plan_input_step(r->ctx, &session, &r->input, r->argc, r->argv, &list, &r->interval_s);
	if (!ret) {
		note_awaited(r);
		ret = move(r, &session, &list);
		publish(r);
		move_list_free(&list);
	}
	if (prices) {
		plan_prices_free(r->prices);
		r->prices = prices;
	}
	session_close(&session);
	return ret;
}

/* What is wrong with the files at the beginning is the admin's mistake, later it is news. */
static int plan_run_follow(struct runner *r)
{
	enum tick tick;
	bool began = false;
	int ret;

	for (;;) {
		tick = r->clock < 0 ? wait_minute(r) : plan_run_read_minute(r);
		if (tick == TICK_END)
			return CTL_DONE;
		if (tick == TICK_ERROR)
			return CTL_USAGE;
		ret = plan_run_step(r);
		if (out_flush(r->ctx->out) == -EPIPE)
			return CTL_DONE;
		if (ret && !began &&
		    (ret == CTL_USAGE || ret == CTL_DENIED || ret == CTL_NO_MODULE))
			return ret;
		if (ret && !gfc_signalled())
			ctl_warn(r->ctx, "minute %llu: %s", (unsigned long long)r->input.minute,
				 r->ctx->error);
		began = true;
		r->fails = ret;
		r->planned = r->input.minute;
	}
}

static int open_clock(struct runner *r)
{
	const char *name = ctl_opt(r->ctx, "clock");

	r->clock = -1;
	r->input.aged = set_ages;
	r->input.arg = r;
	r->input.report = &r->report;
	if (!name)
		return CTL_DONE;
	r->clock = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (r->clock < 0)
		return ctl_fail(r->ctx, CTL_USAGE, "%s: %s", name, strerror(errno));
	return CTL_DONE;
}

static int plan_run_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct runner r = { .ctx = ctx, .argc = argc, .argv = argv, .ears = -1 };
	int ret, lock = -1;

	ret = ctl_operands(ctx, argc, 1, -1);
	if (!ret)
		ret = terms_read(ctx, 0, 0, &r.terms);
	if (!ret)
		ret = plan_input_options_read(ctx, &r.input);
	if (!ret && !r.input.module)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--state file: this command moves GPUs of the module; use gpuctl plan step");
	if (!ret)
		ret = open_clock(&r);
	if (!ret && !ctx->dry_run)
		ret = apply_lock(ctx, &lock);
	if (!ret) {
		gfc_catch_signals();
		r.ears = boundary_watch();
		out_stream(ctx->out);
		ret = plan_run_follow(&r);
	}
	sinces_free(&r.moved);
	sinces_free(&r.refused);
	sinces_free(&r.failed);
	sinces_free(&r.heard);
	sinces_free(&r.patient);
	sinces_free(&r.awaited);
	plan_report_free(&r.report);
	if (r.ears >= 0)
		close(r.ears);
	plan_prices_free(r.prices);
	if (r.clock > STDIN_FILENO)
		close(r.clock);
	if (lock >= 0)
		close(lock);
	return ret;
}

const struct ctl_command cmd_plan_run = {
	.name = "plan run",
	.args = "DEMAND [SERIES...]",
	.summary = "plan and move GPUs every minute",
	.help = "Each minute the command does the work of gpuctl plan step and gpuctl plan apply; with\n"
		"-n it moves nothing. It reads DEMAND and SERIES again each time. A failure is a warning,\n"
		"and the next minute plans again. A workload's hold, --margin and the cost of moves keep\n"
		"GPUs from going back and forth. A workload that was told to let go of GPUs and did not\n"
		"keeps them for ten minutes. A workload whose move failed stays as it is for five minutes,\n"
		"and the others are planned without it. A move of a workload that announces boundaries\n"
		"(gpuctl notify) waits for its next one, at most for --boundary-wait. You may kill it at\n"
		"any time: the next run continues from the state of the module. gpufabric-plan.service\n"
		"runs it for /etc/gpuctl/plan.json.",
	.options = { options, plan_input_options, plan_host_options, session_options },
	.run = plan_run_run,
};
