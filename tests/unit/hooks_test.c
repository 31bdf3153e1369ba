// SPDX-License-Identifier: GPL-2.0-only
// sources: $(filter-out ctl/main.c,$(wildcard ctl/*.c ctl/*/*.c ctl/*/*/*.c))
// packages: libnl-3.0 libnl-genl-3.0 json-c libudev libsystemd
/*
 * Hooks of a fabric: called once for all slots of a request, and what is said when one of them
 * fails, is killed or does not end. Hooks that are called for each slot are in the case hooks.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ctl.h"
#include "op/hooks.h"
#include "tap.h"
#include "tree.h"

static char dir[] = "/tmp/hooks_test.XXXXXX";
static struct ctl_ctx ctx = { .config_dir = dir };
static char *names[] = { "101", "102", "103" };
static char *slot_101[] = { "GPUFABRIC_PORT=0000:02:00.0", "GPUFABRIC_REASON=by hand", NULL };
static char *slot_102[] = { "GPUFABRIC_PORT=0000:02:01.0", "GPUFABRIC_REASON=by hand", NULL };
static char *slot_103[] = { "GPUFABRIC_PORT=", "GPUFABRIC_REASON=by hand", NULL };
static char **envs[] = { slot_101, slot_102, slot_103 };
static const struct hook_slots about = { .names = names, .env = envs, .n = 3 };

/* Writes what it is told to a log, then does @command. */
static void hook(const char *name, const char *command)
{
	char *path = mem_printf("hooks.d/%s", name), *full = mem_printf("%s/%s", dir, path);
	char *text = mem_printf("#!/bin/sh\necho \"${0##*/} $* [$GPUFABRIC_PORTS] [$GPUFABRIC_REASON]\" >>%s/log\n%s\n",
				dir, command);

	tree_put(dir, path, text);
	chmod(full, 0755);
	free(text);
	free(full);
	free(path);
}

/* What was logged since the last look. */
static char *told(void)
{
	char *path = mem_printf("%s/log", dir), *text = NULL;
	FILE *f = fopen(path, "r");
	size_t n = 0;

	if (!f || getdelim(&text, &n, '\0', f) < 0) {
		free(text);
		text = mem_strdup("");
	}
	if (f)
		fclose(f);
	unlink(path);
	free(path);
	return text;
}

static void was_told(const char *want, const char *what)
{
	char *got = told();

	is_str(got, want, what);
	free(got);
}

static void no_hooks(void)
{
	char *command = mem_printf("rm -rf %s/hooks.d", dir);

	ok(!system(command), "no hooks");
	free(command);
	free(ctx.error);
	ctx.error = NULL;
}

/* In text without the directory, which is another each time. */
static void said(const char *text, const char *want, const char *what)
{
	struct text short_text = { 0 };
	const char *at;

	for (; text && (at = strstr(text, dir)); text = at + strlen(dir))
		text_add(&short_text, "%.*sDIR", (int)(at - text), text);
	text_add(&short_text, "%s", text ? text : "nothing");
	is_str(short_text.text, want, what);
	free(short_text.text);
}

static int assign(const bool *which)
{
	struct hooks hooks;
	int ret = hooks_find(&ctx, HOOK_ASSIGN, &hooks);

	if (!ret)
		ret = hooks_run(&ctx, &hooks, &about, which, HOOKS_STOP);
	hooks_free(&hooks);
	return ret;
}

static char *give_back(const bool *which)
{
	struct hooks hooks;
	char *kept = NULL;

	if (!hooks_find(&ctx, HOOK_UNASSIGN, &hooks))
		kept = hooks_give_back(&ctx, &hooks, &about, which);
	hooks_free(&hooks);
	return kept;
}

static void test_together(void)
{
	static const bool two[] = { true, false, true }, none[3];

	hook("assign.d/10-one", "");
	hook("assign.d/20-two", "");
	is_int(assign(NULL), CTL_DONE, "a request of three slots");
	was_told("10-one assign 101 102 103 [0000:02:00.0 0000:02:01.0 -] [by hand]\n"
		 "20-two assign 101 102 103 [0000:02:00.0 0000:02:01.0 -] [by hand]\n",
		 "is one call of each program, with the ports in the order of the slots");
	is_int(assign(two), CTL_DONE, "two slots of it");
	was_told("10-one assign 101 103 [0000:02:00.0 -] [by hand]\n"
		 "20-two assign 101 103 [0000:02:00.0 -] [by hand]\n",
		 "are those that it is told");
	is_int(assign(none), CTL_DONE, "no slot of it");
	was_told("", "calls nobody");
	no_hooks();
}

static void test_failure(void)
{
	hook("assign.d/10-refuse", "echo '409: 102 is in zone b' >&2; exit 3");
	hook("assign.d/20-never", "");
	is_int(assign(NULL), CTL_FAILED, "one that fails");
	said(ctx.error, "hook DIR/hooks.d/assign.d/10-refuse assign: status 3: 409: 102 is in zone b",
	     "is named with its last words, and without a slot");
	was_told("10-refuse assign 101 102 103 [0000:02:00.0 0000:02:01.0 -] [by hand]\n",
		 "and is the last");
	no_hooks();

	hook("assign.d/10-killed", "kill -9 $$");
	is_int(assign(NULL), CTL_FAILED, "one that is killed");
	said(ctx.error, "hook DIR/hooks.d/assign.d/10-killed assign: killed by signal 9",
	     "is said to be so");
	no_hooks();

	setenv("GPUCTL_HOOK_TIMEOUT", "200ms", true);
	hook("assign.d/10-hang", "exec sleep 1000");
	is_int(assign(NULL), CTL_TIMEOUT, "one that does not end");
	said(ctx.error, "hook DIR/hooks.d/assign.d/10-hang assign: no end within 0.20 s",
	     "is ended");
	unsetenv("GPUCTL_HOOK_TIMEOUT");
	no_hooks();
	free(told());
}

static void test_give_back(void)
{
	static const bool two[] = { true, false, true };
	char *kept;

	hook("unassign.d/10-one", "");
	ctx.error = mem_strdup("the cause");
	kept = give_back(NULL);
	said(kept, "nothing", "cards that are given back leave nothing to say");
	was_told("10-one unassign 101 102 103 [0000:02:00.0 0000:02:01.0 -] [by hand]\n",
		 "all of them in one call");
	free(kept);

	hook("unassign.d/05-broken", "exit 1");
	hook("unassign.d/20-dead", "kill -9 $$");
	kept = give_back(two);
	was_told("05-broken unassign 101 103 [0000:02:00.0 -] [by hand]\n"
		 "10-one unassign 101 103 [0000:02:00.0 -] [by hand]\n"
		 "20-dead unassign 101 103 [0000:02:00.0 -] [by hand]\n",
		 "one that fails does not keep the others from it");
	said(kept,
	     "hook DIR/hooks.d/unassign.d/05-broken unassign: status 1\n"
	     "by hand: DIR/hooks.d/unassign.d/05-broken unassign 101 103\n"
	     "hook DIR/hooks.d/unassign.d/20-dead unassign: killed by signal 9\n"
	     "by hand: DIR/hooks.d/unassign.d/20-dead unassign 101 103",
	     "each that failed is named, with what the admin can do");
	is_str(ctx.error, "the cause", "and the error is what it was");
	free(kept);
	no_hooks();
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_together();
	test_failure();
	test_give_back();
	ok(!rmdir(dir), "nothing is left");
	return tap_done();
}
