// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/cmd/jobs_alive.c ctl/cli/context.c ctl/module/annotation.c ctl/base/text.c
// packages: libnl-genl-3.0 json-c
/* Lists of jobs that are alive: which are taken, and what follows from one. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/jobs_alive.h"
#include "module/nl.h"
#include "tap.h"

#define LATER UINT64_MAX

/* Nobody interrupts this test. */
const sigset_t *gfc_signal_mask(void)
{
	return NULL;
}

bool gfc_signalled(void)
{
	return false;
}

static int parse(const char *text, size_t len, struct jobs_alive *jobs)
{
	struct ctl_ctx ctx = { 0 };
	int ret = jobs_alive_parse(&ctx, "x", text, len, jobs);

	if (ret)
		ok(ctx.error && strstr(ctx.error, "nothing was released"), "%s", ctx.error);
	free(ctx.error);
	return ret;
}

static void is_refused(const char *text, size_t len, const char *what)
{
	struct jobs_alive jobs;

	ok(parse(text, len, &jobs) == CTL_USAGE, "%s", what);
	jobs_alive_free(&jobs);
}

static void test_lists(void)
{
	struct jobs_alive jobs;

	is_refused("", 0, "an empty list is no list");
	is_refused("1\n2\n", 4, "nor is one without an end");
	is_refused("1\n2\n.", 5, "nor one whose end may have been cut off");
	is_refused("1\n.\n2\n", 6, "nor one that goes on");
	is_refused("1\n\n.\n", 5, "an empty line is no job");
	is_refused("1\0002\n.\n", 6, "nor are bytes");
	is_refused("1\t2\n.\n", 6, "nor are two of them in a line");
	ok(!parse(".\n", 2, &jobs) && !jobs.n, "a list of no jobs that is whole");
	jobs.since = LATER;
	ok(jobs_alive_lack(&jobs, "1", 0), "no job is alive then");
	jobs_alive_free(&jobs);
	ok(!parse("7\n30\na job\n4_1\n.\n", 17, &jobs) && jobs.n == 4, "four jobs");
	jobs.since = LATER;
	ok(!jobs_alive_lack(&jobs, "7", 0) && !jobs_alive_lack(&jobs, "a job", 0), "they are alive");
	ok(!jobs_alive_lack(&jobs, "30", 0) && !jobs_alive_lack(&jobs, "4_1", 0), "in whatever order they came");
	ok(jobs_alive_lack(&jobs, "3", 0) && jobs_alive_lack(&jobs, "300", 0), "others are not");
	ok(!jobs_alive_lack(&jobs, "", 0), "a composition without a job is not looked for");
	jobs.since = 1000;
	ok(jobs_alive_lack(&jobs, "3", 999), "a job of a composition that was there before the list");
	ok(!jobs_alive_lack(&jobs, "3", 1000), "and of one that may be younger");
	jobs_alive_free(&jobs);
}

static void test_files(void)
{
	static char path[] = "/tmp/jobs_alive_test.XXXXXX";
	const struct timespec times[] = { { 500, 0 }, { 500, 0 } };
	int fd = mkstemp(path);
	struct jobs_alive jobs;
	struct ctl_ctx ctx = { 0 };

	ok(fd >= 0 && write(fd, "1\n.\n", 4) == 4 && !futimens(fd, times), "a file of long ago");
	ok(!jobs_alive_read(&ctx, path, &jobs), "is read");
	ok(jobs.since == 440000, "it says nothing of the minute before it was written, nor of later");
	jobs_alive_free(&jobs);
	ok(!ftruncate(fd, 0), "a file that is empty");
	ok(jobs_alive_read(&ctx, path, &jobs) == CTL_USAGE, "is refused");
	close(fd);
	unlink(path);
	ok(jobs_alive_read(&ctx, path, &jobs) == CTL_FAILED, "so is one that is not there");
	free(ctx.error);
}

int main(void)
{
	test_lists();
	test_files();
	return tap_done();
}
