// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request of gpuctl without its module, for "make storm-rack": the code of gpuctl's pool
 * (ctl/managers, ctl/op/bringer_manager.c), linked as it is, chooses GPUs, has the program
 * fabric-redfish bind them to slots, and gives them back. A stand-in for the module
 * (tests/fm/slots.c) powers the slots.
 *
 *	mover CONFIG DATA PROGRAMS HOST LEDGER take|give SLOT...
 *
 * HOST is the folder of the host's slots, which are named 0.0 and so on. Prints "manager MS" for
 * each bind and unbind that was asked for, and "moved MS" when a take is ready. The exit status is
 * that of gpuctl.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/out.h"
#include "module/nl.h"
#include "op/bringer.h"
#include "session/session.h"

static const char *host, *ledger;

int __real_manager_ask(struct ctl_ctx *ctx, const struct manager_conf *conf,
		       const struct manager_request *request, struct manager_reply *reply);
int __wrap_manager_ask(struct ctl_ctx *ctx, const struct manager_conf *conf,
		       const struct manager_request *request, struct manager_reply *reply);

/* The linker has gpuctl's code call this one. */
int __wrap_manager_ask(struct ctl_ctx *ctx, const struct manager_conf *conf,
		       const struct manager_request *request, struct manager_reply *reply)
{
	uint64_t begun = text_monotonic();
	int ret = __real_manager_ask(ctx, conf, request, reply);

	if (request->verb != MANAGER_INVENTORY && !ret)
		printf("manager %llu\n", (unsigned long long)(text_monotonic() - begun));
	return ret;
}

static bool slot_serial(const char *slot, char serial[17])
{
	char *path = mem_printf("%s/%s/card", host, slot);
	FILE *file = fopen(path, "re");
	bool there = file && fscanf(file, "%16s", serial) == 1;

	if (file)
		fclose(file);
	free(path);
	return there;
}

/* What the module does with a slot. False: there is no card, or the slot is on already. */
static bool slot_power(const char *slot, bool on)
{
	char *path = mem_printf("%s/%s/power", host, slot), *lock = mem_printf("%s.lock", ledger);
	int held = open(lock, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), fd;
	bool changed, good;
	char serial[17];
	FILE *file;

	flock(held, LOCK_EX);
	if (on) {
		fd = slot_serial(slot, serial) ?
			     open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) :
			     -1;
		changed = good = fd >= 0;
		if (changed)
			close(fd);
	} else {
		changed = slot_serial(slot, serial) && !unlink(path);
		good = changed || access(path, F_OK);
	}
	file = changed ? fopen(ledger, "ae") : NULL;
	if (file) {
		fprintf(file, "%s %s %s\n", on ? "on" : "off", strrchr(host, '/') + 1, serial);
		fclose(file);
	}
	close(held);
	free(path);
	free(lock);
	return good;
}

static int take(struct session *session, struct bringer *bringer, const struct hook_slots *about)
{
	uint64_t begun = text_monotonic();
	int ret = bringer->driver->bring(session, bringer, about, NULL);
	char *kept;
	size_t i;

	for (i = 0; !ret && i < about->n; i++)
		if (!slot_power(about->names[i], true))
			ret = ctl_fail(session->ctx, CTL_FAILED, "slot %s: no card",
				       about->names[i]);
	if (!ret)
		printf("moved %llu\n", (unsigned long long)(text_monotonic() - begun));
	if (!ret || !bringer->begun)
		return ret;
	for (i = 0; i < about->n; i++)
		slot_power(about->names[i], false);
	kept = bringer->driver->give_back(session, bringer, about, bringer->which);
	if (kept)
		fprintf(stderr, "mover: %s\n", kept);
	free(kept);
	return ret;
}

static int give(struct session *session, struct bringer *bringer, const struct hook_slots *about)
{
	char *kept;
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < about->n; i++)
		if (!slot_power(about->names[i], false))
			return ctl_fail(session->ctx, CTL_FAILED, "slot %s stays on",
					about->names[i]);
	kept = bringer->driver->give_back(session, bringer, about, bringer->which);
	if (kept)
		ret = ctl_fail(session->ctx, CTL_FAILED, "%s", kept);
	free(kept);
	return ret;
}

int main(int argc, char **argv)
{
	struct ctl_ctx ctx = { 0 };
	struct session session = { .ctx = &ctx };
	struct managers managers;
	struct bringer bringer = { .driver = &bringer_manager };
	struct hook_slots about = { 0 };
	size_t i;
	int ret;

	if (argc < 8 || (strcmp(argv[6], "take") && strcmp(argv[6], "give")))
		return CTL_USAGE;
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	ctx.config_dir = argv[1];
	ctx.data_dir = argv[2];
	ctx.libexec_dir = argv[3];
	host = argv[4];
	ledger = argv[5];
	ctx.out = out_new(stdout);
	about.names = argv + 7;
	about.n = bringer.n = (size_t)argc - 7;
	bringer.which = mem_zalloc(bringer.n + 1, sizeof(*bringer.which));
	bringer.gpus = mem_zalloc(bringer.n + 1, sizeof(*bringer.gpus));
	for (i = 0; i < bringer.n; i++)
		bringer.which[i] = true;
	managers_load(&ctx, &managers);
	ret = managers_check(&ctx, &managers);
	if (!ret)
		bringer.conf = managers_of_slot(&managers, about.names[0]);
	if (!ret && !bringer.conf)
		ret = ctl_fail(&ctx, CTL_USAGE, "no manager has slot %s", about.names[0]);
	gfc_catch_signals();
	if (!ret)
		ret = *argv[6] == 't' ? take(&session, &bringer, &about) :
					give(&session, &bringer, &about);
	if (ret && ctx.error)
		fprintf(stderr, "mover: %s\n", ctx.error);
	return ret;
}
