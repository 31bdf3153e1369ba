// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the program that speaks to fabric managers
 *
 *     /usr/libexec/gpuctl/fabric-redfish <REQUEST >ANSWER
 *
 * gpuctl starts it, so that gpuctl itself neither speaks to the network nor is linked with
 * what does. Request and answer are JSON, see managers/redfish.h; keys and passwords are read
 * from the files that the configuration names, and stand in neither of them. A signal ends it
 * when it is known what became of the request that is under way.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "redfish/action.h"
#include "redfish/job.h"

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

static int action_do(const struct job *job, struct client *client, struct fault *f)
{
	uint32_t lease_ms = 0;
	int ret;

	if (job->verb == JOB_EVICT)
		ret = action_evict(client, job->host, f);
	else
		ret = action_renew(client, job->verb == JOB_RELEASE, &lease_ms, f);
	job_print_action(ret, f, lease_ms);
	return ret;
}

static int job_do(const struct job *job, struct client *client, struct fault *f)
{
	struct change change = {
		.bind = job->verb == JOB_BIND,
		.wishes = job->wishes,
		.n = job->n,
	};
	struct port_view *ports = NULL;
	struct view view;
	int ret = view_open(&view, client, f);

	if (!ret && job->verb == JOB_INVENTORY) {
		ret = view_read_all(&view, f);
		ports = mem_zalloc(client->conf->n_ports + 1, sizeof(*ports));
		if (!ret && !view_has_blocks(&view))
			ret = ports_read(&view, ports, f);
	} else if (!ret) {
		ret = change_make(&view, &change, f);
	}
	job_print(ret, f, job->verb == JOB_INVENTORY ? NULL : &change, &view, ports);
	ports_free(ports, client->conf->n_ports);
	view_free(&view);
	free(change.taker);
	return ret;
}

static int job_run(const struct job *job)
{
	struct manager_conf conf;
	struct client client;
	struct fault f = { "" };
	int err = manager_conf_read(job->file, &conf, &f), ret;

	ret = !err ? CTL_DONE : err == -EPERM || err == -EACCES ? CTL_DENIED : CTL_FAILED;
	if (!ret && job->credentials) {
		free(conf.credentials);
		conf.credentials = mem_strdup(job->credentials);
	}
	if (!ret) {
		ret = client_open(&client, &conf,
				  job->timeout_ms ? job->timeout_ms : conf.timeout_ms, &f);
		if (!ret && job->verb >= JOB_EVICT)
			ret = action_do(job, &client, &f);
		else if (!ret)
			ret = job_do(job, &client, &f);
		else
			job_print(ret, &f, NULL, NULL, NULL);
		client_close(&client);
	} else {
		job_print(ret, &f, NULL, NULL, NULL);
	}
	manager_conf_free(&conf);
	return ret;
}

int main(int argc, char **argv)
{
	struct fault f = { "" };
	struct job job = { 0 };
	char *text;
	size_t len;
	int ret;

	(void)argv;
	keep_private();
	client_catch_signals();
	text = argc == 1 ? input_read(&len) : NULL;
	if (!text) {
		fault_set(&f, EINVAL,
			  "gpuctl starts this program, with a request on standard input");
		job_print(CTL_USAGE, &f, NULL, NULL, NULL);
		return CTL_USAGE;
	}
	if (job_read(text, len, &job, &f)) {
		ret = CTL_USAGE;
		job_print(ret, &f, NULL, NULL, NULL);
	} else {
		ret = job_run(&job);
	}
	job_free(&job);
	free(text);
	return ret;
}
