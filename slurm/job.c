// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: asking the controller
 *
 * The environment of a Prolog in Slurm 22.05 has neither the kinds of GPUs nor account and time
 * limit of a job. So a Prolog of a job with GPUs, and no other, asks for them: one request.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "base/text.h"
#include "slurm/job.h"
#include "slurm/over_time.h"

#define AGAIN_MS 500
#define REASON "gpufabric: "

static void pause_ms(long ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

static char *copy_of(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

int host_place(const char *list, const char *host)
{
	/* The type of lists of hosts is not the same in all versions. */
	__auto_type hosts = slurm_hostlist_create(list);
	int place = hosts ? slurm_hostlist_find(hosts, host) : -1;

	if (hosts)
		slurm_hostlist_destroy(hosts);
	return place;
}

static bool has_text(const char *text)
{
	return text && *text;
}

static int job_take(const slurm_job_info_t *info, const char *node, struct job *job,
		    struct fault *f)
{
	int place = info->nodes ? host_place(info->nodes, node) : -1, n;

	if (place < 0 || (uint32_t)place >= info->gres_detail_cnt)
		return fault_set(f, ENOENT, "job %u has no GPUs on %s", info->job_id, node);
	n = gres_read(info->gres_detail_str[place], job->kinds);
	if (n < 0)
		return fault_set(f, EINVAL, "job %u: cannot read its gres %s", info->job_id,
				 info->gres_detail_str[place]);
	job->n_kinds = (size_t)n;
	job->id = info->job_id;
	job->uid = info->user_id;
	job->minutes = info->time_limit;
	job->nodes = info->num_nodes;
	job->account = copy_of(info->account);
	job->user = copy_of(info->user_name);
	job->partition = copy_of(info->partition);
	job->excluded = copy_of(info->exc_nodes);
	job->licences = copy_of(info->licenses);
	job->bound = has_text(info->req_nodes) || has_text(info->features) ||
		     has_text(info->resv_name);
	return 0;
}

/* Errors of the way to the controller, not of its answer. */
static bool unreachable(int err)
{
	switch (err) {
	case ESLURM_INVALID_JOB_ID:
	case ESLURM_ACCESS_DENIED:
	case ESLURM_USER_ID_MISSING:
	case ESLURM_ALREADY_DONE:
	case ESLURM_BATCH_ONLY:
	case ESLURM_DISABLED:
	case ESLURM_INVALID_NODE_NAME:
	case ESLURM_JOB_PENDING:
		return false;
	case ESLURM_IN_STANDBY_MODE:
	case ESLURM_TRANSITION_STATE_NO_UPDATE:
	/* It was killed while it answered. */
	case SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH:
	case SLURM_PROTOCOL_SOCKET_IMPL_NEGATIVE_RECV_LENGTH:
	case SLURM_PROTOCOL_SOCKET_IMPL_NOT_ALL_DATA_SENT:
	case SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT:
	case SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT:
		return true;
	default:
		/* From 2000 on they are of the controller. */
		return err < 2000;
	}
}

/* All licences of the cluster as a list, "" for none; NULL where the controller does not say. Caller frees. */
static char *licences_load(uint64_t until)
{
	license_info_msg_t *answer = NULL;
	struct text list = { 0 };
	uint32_t i;

	while (slurm_load_licenses(0, &answer, SHOW_ALL)) {
		if (!unreachable(errno) || text_monotonic() >= until)
			return NULL;
		pause_ms(AGAIN_MS);
	}
	for (i = 0; i < answer->num_lic; i++)
		if (answer->lic_array[i].name)
			text_add(&list, "%s%s", list.len ? "," : "", answer->lic_array[i].name);
	slurm_free_license_info_msg(answer);
	return list.text ? list.text : mem_strdup("");
}

/*
 * Only the kinds that the job has licences for are left. GPUs of which there are no licences are the node's own; slots
 * without a licence come from whole nodes, and their GPUs are other jobs'.
 */
static int job_check_licences(struct job *job, uint64_t until, struct fault *f)
{
	size_t i, kept = 0;
	char *pool = NULL;
	int err = 0;

	for (i = 0; i < job->n_kinds && !err; i++) {
		struct gres_gpus *gpus = &job->kinds[i];
		uint32_t licences = gres_licences(job->licences, gpus->kind);

		if (licences) {
			gpus->count = gres_covered(gpus->count, licences, job->nodes);
			job->kinds[kept++] = *gpus;
			continue;
		}
		if (!pool)
			pool = licences_load(until);
		if (!pool)
			err = fault_set(f, EIO, "cannot ask for licences: %s",
					slurm_strerror(errno));
		else if (gres_licences(pool, gpus->kind))
			err = fault_set(f, EPERM,
					"the job has %u slots of the pool and no licence " GRES_LICENCE
					"%s: whole nodes (--exclusive)?",
					gpus->count, *gpus->kind ? gpus->kind : "KIND");
	}
	job->n_kinds = kept;
	free(pool);
	return err;
}

/* A job that has a time limit may be allowed to go on after it. */
static int job_add_over_time(struct job *job, uint64_t until, struct fault *f)
{
	struct over_times times;
	uint32_t minutes;

	if (job->minutes >= NO_VAL)
		return 0;
	while (over_times_load(&times)) {
		if (!unreachable(errno) || text_monotonic() >= until)
			return fault_set(f, EIO, "cannot ask for OverTimeLimit: %s",
					 slurm_strerror(errno));
		pause_ms(AGAIN_MS);
	}
	minutes = over_time_of(&times, job->partition);
	over_times_free(&times);
	job->minutes = minutes < NO_VAL - job->minutes ? job->minutes + minutes : INFINITE;
	return 0;
}

int job_load(uint32_t id, const char *node, uint64_t wait_ms, struct job *job, struct fault *f)
{
	const uint64_t until = text_monotonic() + wait_ms;
	job_info_msg_t *answer = NULL;
	uint32_t i;
	int err;

	memset(job, 0, sizeof(*job));
	while (slurm_load_job(&answer, id, SHOW_DETAIL)) {
		err = errno;
		if (!unreachable(err) || text_monotonic() >= until)
			return fault_set(f, err == ESLURM_INVALID_JOB_ID ? ENOENT : EIO,
					 "cannot ask for job %u: %s", id, slurm_strerror(err));
		pause_ms(AGAIN_MS);
	}
	err = fault_set(f, ENOENT, "the controller does not know job %u", id);
	for (i = 0; i < answer->record_count; i++)
		if (answer->job_array[i].job_id == id)
			err = job_take(&answer->job_array[i], node, job, f);
	slurm_free_job_info_msg(answer);
	if (!err)
		err = job_check_licences(job, until, f);
	if (!err && job->n_kinds)
		err = job_add_over_time(job, until, f);
	if (err)
		job_free(job);
	return err;
}

/* Also while its nodes are still made ready: its Prolog may have composed by then. */
static bool is_running(uint32_t state)
{
	return (state & JOB_STATE_BASE) == JOB_RUNNING && !(state & JOB_COMPLETING);
}

enum job_place job_place(uint32_t id, const char *node)
{
	enum job_place place = JOB_PLACE_AWAY;
	job_info_msg_t *answer = NULL;
	uint32_t i;

	if (slurm_load_job(&answer, id, SHOW_ALL))
		return errno == ESLURM_INVALID_JOB_ID ? JOB_PLACE_AWAY : JOB_PLACE_UNKNOWN;
	for (i = 0; i < answer->record_count; i++) {
		const slurm_job_info_t *job = &answer->job_array[i];

		if (job->job_id == id && is_running(job->job_state) && job->nodes &&
		    host_place(job->nodes, node) >= 0)
			place = JOB_PLACE_HERE;
	}
	slurm_free_job_info_msg(answer);
	return place;
}

void job_free(struct job *job)
{
	free(job->account);
	free(job->user);
	free(job->partition);
	free(job->excluded);
	free(job->licences);
	memset(job, 0, sizeof(*job));
}

static char *nodes_of_partition(const char *name)
{
	partition_info_msg_t *answer = NULL;
	char *nodes = NULL;
	uint32_t i;

	if (!name || slurm_load_partitions(0, &answer, SHOW_ALL))
		return NULL;
	for (i = 0; i < answer->record_count && !nodes; i++)
		if (answer->partition_array[i].name &&
		    !strcmp(answer->partition_array[i].name, name))
			nodes = copy_of(answer->partition_array[i].nodes);
	slurm_free_partition_info_msg(answer);
	return nodes;
}

/* How many other nodes could have the job, as far as their slots go. */
static uint32_t others_for(const struct job *job, const char *node)
{
	char *partition = nodes_of_partition(job->partition);
	node_info_msg_t *answer = NULL;
	uint32_t count = 0, i;

	if (!partition || slurm_load_node(0, &answer, SHOW_ALL)) {
		free(partition);
		return 0;
	}
	for (i = 0; i < answer->record_count; i++) {
		const node_info_t *other = &answer->node_array[i];
		uint32_t base = other->node_state & NODE_STATE_BASE;

		if (!other->name || !strcmp(other->name, node) ||
		    host_place(partition, other->name) < 0 ||
		    (job->excluded && host_place(job->excluded, other->name) >= 0))
			continue;
		if (base != NODE_STATE_DOWN && !(other->node_state & NODE_STATE_DRAIN) &&
		    gres_holds(other->gres, job->kinds, job->n_kinds))
			count++;
	}
	slurm_free_node_info_msg(answer);
	free(partition);
	return count;
}

/*
 * Not on this node the next time; a job that could run on no other one keeps it, and Slurm tries
 * it again two minutes later.
 */
static void job_exclude(const struct job *job, const char *node)
{
	job_desc_msg_t update;

	/* Whether another node has what such a job needs is not known here. */
	if (job->bound || others_for(job, node) < job->nodes)
		return;
	slurm_init_job_desc_msg(&update);
	update.job_id = job->id;
	update.exc_nodes = job->excluded && *job->excluded ?
				   mem_printf("%s,%s", job->excluded, node) :
				   mem_strdup(node);
	slurm_update_job(&update);
	free(update.exc_nodes);
}

/* Ask until it was heard. */
static int insist(int (*ask)(uint32_t id), uint32_t id)
{
	int tries = 60, err = 0;

	while (ask(id)) {
		err = errno;
		if (!unreachable(err) || !tries--)
			return err;
		pause_ms(AGAIN_MS);
	}
	return 0;
}

/* Only while it runs: one that was cancelled meanwhile would be queued again. */
static int ask_requeue(uint32_t id)
{
	return slurm_requeue(id, JOB_RUNNING);
}

static int ask_kill(uint32_t id)
{
	return slurm_kill_job(id, SIGKILL, 0);
}

int job_end(const struct job *job, const char *why, struct fault *f)
{
	char *message = mem_printf(REASON "%s", why);
	int err;

	/* Nobody may listen. */
	slurm_notify_job(job->id, message);
	free(message);
	err = insist(ask_kill, job->id);
	if (err && err != ESLURM_ALREADY_DONE && err != ESLURM_INVALID_JOB_ID)
		return fault_set(f, EIO, "cannot end job %u: %s", job->id, slurm_strerror(err));
	return 0;
}

int job_give_back(const struct job *job, const char *node, const char *why, struct fault *f)
{
	int err = insist(ask_requeue, job->id);

	/* It waits already: somebody else was first, or the answer to the first request was lost. */
	if (err && err != ESLURM_JOB_PENDING)
		return job_end(job, why, f);
	job_exclude(job, node);
	return 0;
}

int node_drain(const char *node, const char *why, struct fault *f)
{
	char *reason = mem_printf(REASON "%s", why), *name = mem_strdup(node);
	update_node_msg_t update;
	int tries = 20, err = 0;

	slurm_init_update_node_msg(&update);
	update.node_names = name;
	update.node_state = NODE_STATE_DRAIN;
	update.reason = reason;
	while (slurm_update_node(&update)) {
		err = errno;
		if (!unreachable(err) || !tries--)
			break;
		err = 0;
		pause_ms(AGAIN_MS);
	}
	if (err)
		err = fault_set(f, EIO, "cannot drain %s: %s", node, slurm_strerror(err));
	free(reason);
	free(name);
	return err;
}
