// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: GPUs of jobs that are no more
 *
 * After a failure of a node no Epilog runs there, and a slurmctld that ends while a job does may forget
 * to have one run. So slurmd's unit runs this before slurmd (--start), and slurmd runs it as its
 * HealthCheckProgram, which asks nobody while the node has no job with GPUs. It gives back what the
 * machine holds for jobs that Slurm does not have on any node of it any more: a machine can be
 * several nodes, which share its GPUs. A list that may not be whole is none: without an answer of
 * the controller nothing happens. The files of those jobs, and of jobs whose Epilog did not get the
 * lock, become those of jobs that have ended, so that nobody is asked for them again. A lease follows
 * the time limit of its job before that, since a lease that is over has GPUs given back, too.
 *
 * slurmd kills a health check with its process group after a minute, and to give GPUs back may take longer. So that work
 * is done in a session of its own, and whoever finds it under way leaves it alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "base/text.h"
#include "slurm/gres.h"
#include "slurm/job.h"
#include "slurm/node.h"
#include "slurm/over_time.h"

#define REAP_MS 120000
#define SHOW_MS 30000
#define HOST_MAX 256
#define ENDED_S 3600
/* Less than that is how clocks differ. */
#define RENEW_S 30
#define UNTIL_OPEN UINT64_MAX
/* Less than what slurmd waits for a health check. */
#define CHECK_MS 45000

/**
 * struct here - a job with GPUs on this machine, as its file says
 * @id: of the job
 * @since: when its Prolog, the last one, said so
 */
struct here {
	uint32_t id;
	struct timespec since;
};

struct heres {
	struct here *items;
	size_t n;
};

/**
 * struct job_alive - a job that Slurm runs on this machine
 * @id: its id
 * @until: when Slurm ends it, in seconds since the epoch; UNTIL_OPEN without a limit, 0 where it is not known
 */
struct job_alive {
	uint32_t id;
	uint64_t until;
};

struct alive {
	struct job_alive *items;
	size_t n;
};

/* The clock of a job that is stopped stands still: its lease does not end. */
static uint64_t until_of(const slurm_job_info_t *job, const struct over_times *times)
{
	uint32_t over = over_time_of(times, job->partition);

	if (job->time_limit >= NO_VAL || (job->job_state & JOB_STATE_BASE) == JOB_SUSPENDED)
		return UNTIL_OPEN;
	if ((job->job_state & JOB_COMPLETING) || job->end_time <= 0)
		return 0;
	return over == OVER_TIME_OPEN ? UNTIL_OPEN : (uint64_t)job->end_time + 60ull * over;
}

/* Running, or on its way out, or stopped for a while. */
static bool is_alive(const slurm_job_info_t *job)
{
	switch (job->job_state & JOB_STATE_BASE) {
	case JOB_RUNNING:
	case JOB_SUSPENDED:
		return true;
	default:
		return job->job_state & JOB_COMPLETING;
	}
}

/* Has the job one of the nodes that are on this machine? */
static bool is_here(const slurm_job_info_t *job, const node_info_msg_t *nodes, const char *host)
{
	uint32_t i;

	for (i = 0; job->nodes && i < nodes->record_count; i++) {
		const node_info_t *node = &nodes->node_array[i];

		if (node->name && node->node_hostname && !strcmp(node->node_hostname, host) &&
		    host_place(job->nodes, node->name) >= 0)
			return true;
	}
	return false;
}

/* What Slurm calls the machine of a node; a machine may be several nodes. NULL: no such node. */
static const char *host_of(const node_info_msg_t *nodes, const char *name)
{
	uint32_t i;

	for (i = 0; i < nodes->record_count; i++)
		if (nodes->node_array[i].name && !strcmp(nodes->node_array[i].name, name))
			return nodes->node_array[i].node_hostname;
	return NULL;
}

/* -1: the controller does not say. */
static int alive_ask(const char *node, struct alive *alive)
{
	node_info_msg_t *nodes = NULL;
	struct over_times times = { 0 };
	job_info_msg_t *jobs = NULL;
	const char *host;
	uint32_t i;
	int ret = -1;

	memset(alive, 0, sizeof(*alive));
	if (slurm_load_node(0, &nodes, SHOW_ALL))
		return -1;
	host = host_of(nodes, node);
	if (!host || over_times_load(&times) || slurm_load_jobs(0, &jobs, SHOW_ALL))
		goto out;
	for (i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];

		if (!is_alive(job) || !is_here(job, nodes, host))
			continue;
		alive->items = mem_push(alive->items, alive->n, sizeof(*alive->items));
		alive->items[alive->n++] =
			(struct job_alive){ .id = job->job_id, .until = until_of(job, &times) };
	}
	slurm_free_job_info_msg(jobs);
	ret = 0;
out:
	over_times_free(&times);
	slurm_free_node_info_msg(nodes);
	return ret;
}

static const struct job_alive *alive_find(const struct alive *alive, uint32_t id)
{
	size_t i;

	for (i = 0; i < alive->n; i++)
		if (alive->items[i].id == id)
			return &alive->items[i];
	return NULL;
}

/* gpuctl reap, with the line that says that the list is whole. */
static int reap_others(const struct alive *alive)
{
	static const char *const argv[] = { "reap", "--jobs-alive", "-", NULL };
	struct gpuctl_call call = { .argv = argv, .timeout_ms = REAP_MS };
	struct text list = { 0 };
	char *said;
	size_t i;

	for (i = 0; i < alive->n; i++)
		text_add(&list, "%u\n", alive->items[i].id);
	text_add(&list, ".\n");
	call.input = list.text;
	if (gpuctl_run(&call)) {
		said = gpuctl_said(&call);
		syslog(LOG_WARNING, "%s", said);
		free(said);
	}
	free(list.text);
	gpuctl_free(&call);
	return call.exit != GPUCTL_DONE;
}

/* When did the Prolog of a job say that it is here? */
static bool here_since(uint32_t id, struct timespec *since)
{
	char *path = mem_printf(NODE_RUN "/%u", id);
	struct stat st;
	bool known = !stat(path, &st);

	if (known)
		*since = st.st_mtim;
	free(path);
	return known;
}

static bool has_composition(uint32_t id)
{
	char *name = node_composition(id);
	const char *argv[3] = { "show", name };
	struct gpuctl_call call = { .argv = argv, .timeout_ms = SHOW_MS };
	bool has = gpuctl_run(&call) != GPUCTL_USAGE;

	gpuctl_free(&call);
	free(name);
	return has;
}

/*
 * The file of a job that the controller did not name any more. A Prolog that has run since was not
 * seen then; whoever has the lock says himself what became of the job.
 */
static void settle(const struct here *here, const char *node)
{
	char name[NODE_NAME_MAX];
	struct timespec since;
	bool new;
	int lock = node_job_lock(here->id, 0, &new);

	if (lock < 0)
		return;
	if (new)
		node_job_forget(here->id);
	else if (node_job_state(here->id, name, sizeof(name)) == NODE_JOB_HERE &&
		 here_since(here->id, &since) && since.tv_sec == here->since.tv_sec &&
		 since.tv_nsec == here->since.tv_nsec && !has_composition(here->id))
		node_job_note(lock, NODE_JOB_ENDED, *name ? name : node, 0);
	close(lock);
}

/* A lease that is as long as it was is left alone: to change it is an event for all who listen. */
static bool is_renewed(const struct job_alive *job)
{
	uint64_t noted = node_job_until(job->id);

	return noted <= job->until ? job->until - noted <= RENEW_S : noted - job->until <= RENEW_S;
}

/* The lease of a job whose time limit is not what it was. */
static void renew(const struct job_alive *job, const char *node)
{
	const uint64_t now = (uint64_t)time(NULL), left = job->until > now ? job->until - now : 0;
	char *name = node_composition(job->id), there[NODE_NAME_MAX];
	char *lease = mem_printf("%" PRIu64 "s", left + LEASE_MORE_S);
	const char *argv[5] = { "annotate", name, "--for", lease };
	struct gpuctl_call call = { .argv = argv, .timeout_ms = SHOW_MS };
	bool new;
	int lock = node_job_lock(job->id, 0, &new);

	if (job->until == UNTIL_OPEN) {
		argv[2] = "--no-lease";
		argv[3] = NULL;
	}
	if (lock >= 0 && new)
		node_job_forget(job->id);
	else if (lock >= 0 && node_job_state(job->id, there, sizeof(there)) == NODE_JOB_HERE &&
		 gpuctl_run(&call) == GPUCTL_DONE)
		node_job_note(lock, NODE_JOB_HERE, *there ? there : node, job->until);
	if (lock >= 0)
		close(lock);
	gpuctl_free(&call);
	free(lease);
	free(name);
}

static int reap(const char *node, const struct heres *heres)
{
	const struct job_alive *job;
	struct alive alive;
	size_t i;
	int ret;

	if (alive_ask(node, &alive)) {
		syslog(LOG_WARNING, "the controller does not say which jobs run on %s", node);
		return 1;
	}
	for (i = 0; i < heres->n; i++) {
		job = alive_find(&alive, heres->items[i].id);
		if (job && job->until && !is_renewed(job))
			renew(job, node);
	}
	ret = reap_others(&alive);
	for (i = 0; i < heres->n; i++)
		if (!alive_find(&alive, heres->items[i].id))
			settle(&heres->items[i], node);
	free(alive.items);
	return ret;
}

/* One at a time: @wait for the one that is under way, or leave it alone. */
static int reap_alone(const char *node, const struct heres *heres, bool wait)
{
	int lock = open(NODE_RUN, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;

	/* Where no job ever had GPUs there is nothing to lock. */
	if (lock < 0 || !flock(lock, LOCK_EX | (wait ? 0 : LOCK_NB)))
		ret = reap(node, heres);
	if (lock >= 0)
		close(lock);
	return ret;
}

/* slurmd reads what a check prints, until all who could print have ended. */
static void reap_apart(const char *node, const struct heres *heres)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), fd, ret;

	setsid();
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO && nothing >= 0; fd++)
		dup2(nothing, fd);
	slurm_init(NULL);
	ret = reap_alone(node, heres, false);
	slurm_fini();
	_exit(ret);
}

/* Its exit status, or 0 while it is not over. */
static int reap_checked(const char *node, const struct heres *heres)
{
	pid_t pid = fork();
	struct pollfd end = { .events = POLLIN };
	int status = 0;

	if (!pid)
		reap_apart(node, heres);
	end.fd = pid < 0 ? -1 : pidfd_open(pid, 0);
	if (end.fd < 0) {
		syslog(LOG_WARNING, "cannot begin to give GPUs back: %s", strerror(errno));
		return 1;
	}
	if (poll(&end, 1, CHECK_MS) > 0 && waitpid(pid, &status, 0) == pid)
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	close(end.fd);
	return status;
}

/* Slurm starts a job again within minutes, or never. */
static void ended_forget(uint32_t id, const char *path)
{
	struct stat st;
	bool new;
	int lock;

	if (stat(path, &st) || time(NULL) - st.st_mtime < ENDED_S)
		return;
	lock = node_job_lock(id, 0, &new);
	if (lock < 0)
		return;
	node_job_forget(id);
	close(lock);
}

/* Jobs with GPUs on this machine. What is left of those that ended long ago is removed. */
static void heres_find(struct heres *heres)
{
	DIR *dir = opendir(NODE_RUN);
	char name[NODE_NAME_MAX], *path;
	struct here here;
	struct dirent *entry;
	uint32_t id;

	while (dir && (entry = readdir(dir))) {
		if (!node_job_id(entry->d_name, &id))
			continue;
		path = mem_printf(NODE_RUN "/%u", id);
		here.id = id;
		if (node_job_state(id, name, sizeof(name)) != NODE_JOB_HERE) {
			ended_forget(id, path);
		} else if (here_since(id, &here.since)) {
			heres->items = mem_push(heres->items, heres->n, sizeof(*heres->items));
			heres->items[heres->n++] = here;
		}
		free(path);
	}
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	const bool start = argc > 1 && !strcmp(argv[1], "--start");
	const char *node = start && argc > 2 ? argv[2] : getenv("SLURMD_NODENAME");
	char host[HOST_MAX] = "";
	struct heres heres = { 0 };
	int ret;

	heres_find(&heres);
	if (!start && !heres.n)
		return 0;
	openlog("gpufabric-reap", LOG_PID, LOG_DAEMON);
	if (!node && !gethostname(host, sizeof(host) - 1)) {
		host[strcspn(host, ".")] = '\0';
		node = host;
	}
	if (!node || !*node)
		return 1;
	if (start) {
		slurm_init(NULL);
		ret = reap_alone(node, &heres, true);
		slurm_fini();
	} else {
		ret = reap_checked(node, &heres);
	}
	free(heres.items);
	return ret;
}
