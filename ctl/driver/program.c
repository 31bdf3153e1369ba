// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: programs that speak to fabric managers
 *
 * gpuctl starts one of them, so that gpuctl itself neither speaks to the network nor is linked with
 * what does. Request and answer are JSON, see managers/program.c; keys and passwords are read
 * from the files that the configuration names, and stand in neither of them. A signal ends it
 * when it is known what became of the request that is under way.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "driver/program.h"

#define MEMORY_MAX (1ull << 30)

/* All of standard input, at most JOB_MAX bytes; NULL for more, or for an error. */
static char *input_read(size_t *len)
{
	char *text = mem_zalloc(JOB_MAX + 1, 1);
	ssize_t n;

	*len = 0;
	do {
		n = read(STDIN_FILENO, text + *len, JOB_MAX - *len);
		*len += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (!n && *len < JOB_MAX)
		return text;
	free(text);
	return NULL;
}

/* Nobody may look at our memory, or get a copy of it on disk. */
static void keep_private(void)
{
	const struct rlimit none = { 0, 0 }, memory = { MEMORY_MAX, MEMORY_MAX };

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_AS, &memory);
	/* Who asked is gone: nobody waits for the answer. */
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
}

static int job_run(const struct job *job, enum manager_driver driver,
		   const struct client_dialect *dialect, driver_fn run)
{
	struct manager_conf conf;
	struct client client;
	struct fault f = { "" };
	int err = manager_conf_read(job->file, &conf, &f), ret;

	ret = !err ? CTL_DONE : err == -EPERM || err == -EACCES ? CTL_DENIED : CTL_FAILED;
	if (!ret && conf.driver != driver) {
		fault_set(&f, EINVAL, "%s: driver: this is the program of another one", job->file);
		ret = CTL_USAGE;
	}
	if (!ret && job->credentials) {
		free(conf.credentials);
		conf.credentials = mem_strdup(job->credentials);
	}
	if (!ret) {
		ret = client_open(&client, &conf, dialect,
				  job->timeout_ms ? job->timeout_ms : conf.timeout_ms, &f);
		if (!ret)
			ret = run(job, &client, &f);
		else
			job_print(ret, &f, NULL, NULL);
		client_close(&client);
	} else {
		job_print(ret, &f, NULL, NULL);
	}
	manager_conf_free(&conf);
	return ret;
}

int driver_main(int argc, enum manager_driver driver, const struct client_dialect *dialect,
		driver_fn run)
{
	struct fault f = { "" };
	struct job job = { 0 };
	char *text;
	size_t len;
	int ret;

	keep_private();
	client_catch_signals();
	text = argc == 1 ? input_read(&len) : NULL;
	if (!text) {
		fault_set(&f, EINVAL,
			  "gpuctl starts this program, with a request on standard input");
		job_print(CTL_USAGE, &f, NULL, NULL);
		return CTL_USAGE;
	}
	if (job_read(text, len, &job, &f)) {
		ret = CTL_USAGE;
		job_print(ret, &f, NULL, NULL);
	} else {
		ret = job_run(&job, driver, dialect, run);
	}
	job_free(&job);
	free(text);
	return ret;
}
