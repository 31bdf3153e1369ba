// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl fabric lease
 *
 * A manager whose entry for this host says fence = lease gives the host's GPUs to others when the lease
 * is over and the host does not answer. So this host must not use them any more by then: what cannot
 * be renewed is detached in time, and a host that cannot even do that is restarted.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/service.h"
#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "managers/lease.h"
#include "managers/manager.h"
#include "module/nl.h"
#include "op/vacate.h"

#define ASK_MAX_MS 5000
#define ASK_MIN_MS 500
#define VACATE_MAX_MS 20000
#define AGAIN_MS 500
#define WATCHDOG_MAX_MS 60000
#define WATCHDOG_MIN_MS 2000

static const struct ctl_option options[] = {
	{ "no-reboot", 0, NULL,
	  "do not restart this host if a slot stays on: two hosts may use one GPU" },
	{ NULL },
};

/**
 * struct keeper - one manager's lease
 * @record: path of what the next start has to know
 * @alarm: a timer that goes on while the host sleeps
 * @none: the manager gives no lease to this host
 * @vacated: the lease is over, and no slot has power
 */
struct keeper {
	struct ctl_ctx *ctx;
	const struct manager_conf *conf;
	struct host_lease lease;
	char *record;
	int alarm;
	bool none, vacated;
};

static void record_read(struct keeper *k)
{
	char line[80] = "";
	FILE *file = fopen(k->record, "re");

	if (file && fgets(line, sizeof(line), file))
		host_lease_parse(line, text_uptime(), &k->lease);
	if (file)
		fclose(file);
}

/* It has to be there before the GPUs are used on the strength of it. */
static int record_write(struct keeper *k, const struct host_lease *lease)
{
	char *text = host_lease_text(lease);
	int err;

	mkdir(LEASE_DIR, 0700);
	err = lease->length ? replace_file(k->record, text, 0600) : replace_remove(k->record);
	free(text);
	return err ? ctl_fail(k->ctx, CTL_FAILED, "%s: %s", k->record, replace_error(err)) : 0;
}

/*
 * systemd kills a service that hangs. The next one has to have the third quarter of the lease for
 * GPUs, so it is told how soon: a quarter, and @more_ms for what is begun now.
 */
static void keeper_lives(const struct keeper *k, uint64_t more_ms)
{
	uint64_t ms = k->lease.length ? k->lease.length / 4 : WATCHDOG_MAX_MS;

	ms = ms > WATCHDOG_MAX_MS ? WATCHDOG_MAX_MS : ms;
	ms = ms < WATCHDOG_MIN_MS ? WATCHDOG_MIN_MS : ms;
	service_notify("WATCHDOG=1\nWATCHDOG_USEC=%llu", (unsigned long long)(ms + more_ms) * 1000);
}

static uint32_t ask_limit(const struct keeper *k)
{
	uint64_t ms = k->lease.length / 6, now = text_uptime();

	ms = !ms || ms > ASK_MAX_MS ? ASK_MAX_MS : ms;
	/* An answer that does not come must not take from the time to detach. */
	if (host_lease_judge(&k->lease, now) == LEASE_TO_RENEW &&
	    host_lease_next(&k->lease, now) - now < ms)
		ms = host_lease_next(&k->lease, now) - now;
	return (uint32_t)(ms < ASK_MIN_MS ? ASK_MIN_MS : ms);
}

static void keeper_say(struct keeper *k, const char *text)
{
	out_line(k->ctx->out, "fabric manager %s: %s", k->conf->name, text);
	out_flush(k->ctx->out);
}

static int keeper_renew(struct keeper *k)
{
	const struct manager_request request = {
		.verb = MANAGER_RENEW,
		.timeout_ms = ask_limit(k),
	};
	struct host_lease lease = { .asked = text_uptime() };
	struct manager_reply reply;
	bool first = !k->lease.length || k->vacated;
	int ret = manager_ask(k->ctx, k->conf, &request, &reply);

	lease.length = reply.lease_ms;
	manager_reply_free(&reply);
	if (!ret)
		ret = record_write(k, &lease);
	if (ret) {
		ctl_warn(k->ctx, "the lease is not renewed: %s", k->ctx->error);
		return ret;
	}
	if (first && lease.length)
		keeper_say(k, "this host has a lease");
	if (!lease.length && !k->none)
		keeper_say(k, "it gives this host no lease");
	k->none = !lease.length;
	k->lease = lease;
	k->vacated = false;
	keeper_lives(k, 0);
	return CTL_DONE;
}

/* It is over: nothing may be used any more. Returns whether it makes sense to try again. */
static bool keeper_vacate(struct keeper *k)
{
	uint64_t now = text_uptime(), end = host_lease_next(&k->lease, now), limit = VACATE_MAX_MS;
	const char *then;
	bool restart;
	size_t left;
	int ret;

	if (end != UINT64_MAX && end - now < limit)
		limit = end - now;
	keeper_lives(k, limit);
	ret = vacate(k->ctx, k->conf, limit, &left);
	keeper_lives(k, 0);
	if (ret)
		ctl_warn(k->ctx, "the lease is over: %s", k->ctx->error);
	else if (!left && !k->vacated)
		keeper_say(k, "the lease is over, and no slot has power");
	k->vacated = !ret && !left;
	/* Who never had a lease has powered nothing on; a module that is unloaded leaves GPUs on. */
	if (!left || (ret == CTL_NO_MODULE && !(k->lease.length && vacate_has_gpu(k->conf))))
		return false;
	if (host_lease_judge(&k->lease, text_uptime()) != LEASE_TOO_LATE)
		return true;
	restart = !ctl_flag(k->ctx, "no-reboot");
	then = restart ? ": this host is restarted" : "";
	if (ret)
		ctl_warn(k->ctx, "nobody knows which slots have power%s", then);
	else
		ctl_warn(k->ctx, "the lease is over, and %zu slots have power%s", left, then);
	if (restart)
		reboot(RB_AUTOBOOT);
	return false;
}

static uint64_t keeper_next(const struct keeper *k)
{
	uint64_t now = text_uptime();

	/* What was refused is asked for again soon. */
	if (k->none || host_lease_judge(&k->lease, now) != LEASE_HOLDS)
		return now + (k->none ? ASK_MAX_MS : AGAIN_MS);
	return host_lease_next(&k->lease, now);
}

static void keeper_wait(const struct keeper *k, uint64_t next)
{
	struct pollfd event = { .fd = k->alarm, .events = POLLIN };
	struct itimerspec when = { 0 };

	when.it_value = (struct timespec){ (time_t)(next / 1000), (long)(next % 1000) * 1000000 };
	/* A host that has slept is told at once, while a timeout of poll() would not have moved. */
	timerfd_settime(k->alarm, TFD_TIMER_ABSTIME, &when, NULL);
	ppoll(&event, 1, NULL, gfc_signal_mask());
}

static int keeper_release(struct keeper *k)
{
	const struct manager_request request = {
		.verb = MANAGER_RELEASE,
		.timeout_ms = ASK_MAX_MS,
		.patient = true,
	};
	struct manager_reply reply;
	int ret = manager_ask(k->ctx, k->conf, &request, &reply);

	manager_reply_free(&reply);
	return ret;
}

/*
 * The service ends: either time says nothing of this host any more, or it uses nothing. A GPU that
 * does not go now may go before it is too late, and nobody else restarts the host then.
 */
static int keeper_end(struct keeper *k)
{
	bool said = false, again;
	int ret;

	do {
		service_notify("EXTEND_TIMEOUT_USEC=%llu",
			       2ULL * (ASK_MAX_MS + VACATE_MAX_MS) * 1000);
		ret = keeper_release(k);
		if (!ret)
			return record_write(k, &(struct host_lease){ 0 });
		if (!said)
			ctl_warn(k->ctx, "the lease is not given up: %s", k->ctx->error);
		said = true;
		/* Of a lease that is not known nobody can say when it is too late. */
		again = keeper_vacate(k) && k->lease.length;
		if (again)
			keeper_wait(k, text_uptime() + AGAIN_MS);
	} while (again);
	return k->vacated ? CTL_DONE : ret;
}

static bool keeper_is_over(const struct keeper *k)
{
	return !k->none && host_lease_judge(&k->lease, text_uptime()) >= LEASE_OVER;
}

static int keeper_run(struct keeper *k)
{
	bool ready = false;

	record_read(k);
	gfc_catch_signals();
	while (!gfc_signalled()) {
		keeper_lives(k, 0);
		/* There is no time left to ask first; of one that is not known there may be. */
		if (keeper_is_over(k) && k->lease.length && !k->vacated)
			keeper_vacate(k);
		if (host_lease_judge(&k->lease, text_uptime()) != LEASE_HOLDS)
			keeper_renew(k);
		if (keeper_is_over(k) && !gfc_signalled())
			keeper_vacate(k);
		if (!ready)
			service_notify("READY=1");
		ready = true;
		keeper_wait(k, keeper_next(k));
	}
	return k->none ? CTL_DONE : keeper_end(k);
}

static int fabric_lease_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct keeper keeper = { .ctx = ctx, .alarm = -1 };
	struct managers managers;
	size_t i;
	int ret = ctl_operands(ctx, argc, 1, 1);

	if (ret)
		return ret;
	managers_load(ctx, &managers);
	for (i = 0; i < managers.n; i++)
		if (!strcmp(managers.conf[i].name, argv[0]))
			keeper.conf = &managers.conf[i];
	if (!keeper.conf)
		ret = managers_check(ctx, &managers);
	if (!keeper.conf && !ret)
		ret = ctl_fail(ctx, CTL_USAGE, "no fabric manager %s: gpuctl fabric lists them",
			       argv[0]);
	if (keeper.conf) {
		keeper.record = mem_printf("%s/%s", LEASE_DIR, keeper.conf->name);
		keeper.alarm = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
		ret = keeper.alarm < 0 ?
			      ctl_fail(ctx, CTL_FAILED, "no timer: %s", strerror(errno)) :
			      keeper_run(&keeper);
		if (keeper.alarm >= 0)
			close(keeper.alarm);
		free(keeper.record);
	}
	managers_free(&managers);
	return ret;
}

const struct ctl_command cmd_fabric_lease = {
	.name = "fabric lease",
	.args = "MANAGER",
	.summary = "renew this host's lease, and detach the GPUs if that fails",
	.help = "The command is for managers that have fence = lease for this host; gpufabric-lease@MANAGER.service runs\n"
		"it. When half of the lease has passed without a renewal, it detaches all slots of the manager by force.\n"
		"If a slot still has power when a quarter of the lease is left, it restarts the host at once, without an\n"
		"orderly shutdown. After a boot, the host uses no GPU of the manager before the first renewal. On SIGTERM\n"
		"the command gives the lease up; if it cannot reach the manager, it detaches the slots first, and tries\n"
		"both until one succeeds or the lease is nearly over.\n"
		"gpufabric-lease-sleep@MANAGER.service does the same before the host sleeps.",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.run = fabric_lease_run,
};
