// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: claims under way
 *
 * Jobs of one claim run one after the other. A result that nobody was told yet is kept for who
 * asks next, because whoever waited may have gone. One that was told is told to nobody who comes
 * later: to prepare again is fast, and finds out whether it still holds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dra/object.h"
#include "dra/work.h"

#define THREADS_MAX 64
#define KEPT_MAX 256
#define KEPT_MS 300000

enum job_state {
	JOB_QUEUED,
	JOB_RUNNING,
	JOB_DONE,
};

/**
 * struct job - one thing to do for a claim
 * @told: somebody knows its result
 * @waiting: number of those who wait
 * @ended: when, of clock_ms()
 */
struct job {
	struct job *next;
	struct work *work;
	enum work_kind kind;
	enum job_state state;
	char *namespace, *name, *uid;
	bool told;
	size_t waiting;
	uint64_t ended;
	struct work_result result;
};

void work_open(struct work *work)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&work->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&work->changed, &attr);
	pthread_condattr_destroy(&attr);
	work->jobs = NULL;
	work->threads = 0;
	work->ending = false;
}

void work_end(struct work *work)
{
	pthread_mutex_lock(&work->lock);
	work->ending = true;
	pthread_cond_broadcast(&work->changed);
	pthread_mutex_unlock(&work->lock);
}

void work_result_free(struct work_result *result)
{
	while (result->n) {
		struct work_device *device = &result->devices[--result->n];

		free(device->request);
		free(device->pool);
		free(device->device);
		free(device->cdi);
	}
}

static void job_free(struct job *job)
{
	work_result_free(&job->result);
	free(job->namespace);
	free(job->name);
	free(job->uid);
	free(job);
}

/* With the lock: wait for a change; false if none came until then. */
static bool wait_until(struct work *work, uint64_t until)
{
	struct timespec when = { (time_t)(until / 1000), (long)(until % 1000) * 1000000 };

	return pthread_cond_timedwait(&work->changed, &work->lock, &when) != ETIMEDOUT;
}

/* With the lock: drop what nobody will ask for any more. */
static void work_prune(struct work *work)
{
	struct job **at = &work->jobs, *job;
	uint64_t now = clock_ms();
	size_t kept = 0;

	for (job = work->jobs; job; job = job->next)
		kept += job->state == JOB_DONE;
	while ((job = *at)) {
		if (job->state == JOB_DONE && !job->waiting &&
		    (job->told || kept > KEPT_MAX || now - job->ended > KEPT_MS)) {
			*at = job->next;
			kept--;
			job_free(job);
		} else {
			at = &job->next;
		}
	}
}

void work_settle(struct work *work, uint64_t until)
{
	pthread_mutex_lock(&work->lock);
	while (work->threads && wait_until(work, until))
		;
	pthread_mutex_unlock(&work->lock);
}

bool work_close(struct work *work, uint64_t until)
{
	struct job *job;
	bool ended;

	work_settle(work, until);
	pthread_mutex_lock(&work->lock);
	ended = !work->threads;
	pthread_mutex_unlock(&work->lock);
	if (!ended)
		return false;
	while ((job = work->jobs)) {
		work->jobs = job->next;
		job_free(job);
	}
	pthread_cond_destroy(&work->changed);
	pthread_mutex_destroy(&work->lock);
	return true;
}

/* The claim as the API server has it, which has to be the one that was asked for. */
static bool claim_get(const struct job *job, struct claim *claim, struct reason *reason)
{
	struct json_object *object = NULL;
	int status = object_claim(&job->work->api, job->namespace, job->name, &object, reason);
	bool good = false;

	memset(claim, 0, sizeof(*claim));
	if (status == API_NOT_FOUND)
		refuse(reason, "claim %s/%s does not exist any more", job->namespace, job->name);
	else if (status == API_OK)
		good = claim_read(object, claim, reason);
	if (good && strcmp(claim->uid, job->uid))
		good = refuse(reason, "claim %s/%s was deleted and made again since",
			      job->namespace, job->name);
	json_object_put(object);
	return good;
}

/* Is it certain that nobody will ask to give the claim back? */
static bool claim_is_gone(const struct job *job)
{
	struct json_object *object = NULL, *metadata;
	struct reason other = { "" };
	int status = object_claim(&job->work->api, job->namespace, job->name, &object, &other);
	const char *uid;
	bool gone;

	metadata = json_member(object, "metadata", json_type_object);
	uid = json_text(metadata, "uid");
	gone = status == API_NOT_FOUND || (status == API_OK && uid && strcmp(uid, job->uid));
	json_object_put(object);
	return gone;
}

static bool one_request(const struct claim *claim)
{
	size_t i;

	for (i = 1; i < claim->n; i++)
		if (strcmp(claim->devices[i].request, claim->devices[0].request))
			return false;
	return true;
}

/* Containers name requests, and the kubelet compares names: an alternative's is left out. */
static char *request_name(const char *request)
{
	return format("%.*s", (int)strcspn(request, "/"), request);
}

/*
 * A claim with one request has the composition as one container device; with several, each
 * container may have a request of its own, and so each GPU is a container device. Whichever it is, the
 * composition has what was allocated: the claim can have been allocated anew since it was composed.
 */
static bool job_devices(struct job *job, const struct claim *claim,
			const struct inventory *inventory, struct work_result *result)
{
	char *cdi[CLAIM_DEVICES_MAX] = { NULL };
	char name[CLAIM_NAME_MAX];
	size_t i;

	claim_composition(job->uid, name);
	if (!fabric_members(&job->work->fabric, claim, inventory, cdi, &result->reason))
		return false;
	for (i = 0; one_request(claim) && i < claim->n; i++) {
		free(cdi[i]);
		cdi[i] = i ? NULL : format(CDI_KIND "=%s", name);
	}
	for (i = 0; i < claim->n; i++)
		result->devices[i] = (struct work_device){ request_name(claim->devices[i].request),
							   copy_of(claim->devices[i].pool),
							   copy_of(claim->devices[i].device),
							   cdi[i] };
	result->n = claim->n;
	return true;
}

static bool job_prepare(struct job *job, struct work_result *result)
{
	struct inventory inventory = { .root = NULL };
	struct claim claim;
	bool good = claim_get(job, &claim, &result->reason) &&
		    fabric_compose(&job->work->fabric, &claim, &inventory, &result->reason);

	if (good && claim_is_gone(job)) {
		good = false;
		if (fabric_release(&job->work->fabric, job->uid, &result->reason))
			refuse(&result->reason,
			       "claim %s/%s was deleted while its GPUs were attached: they were given back",
			       job->namespace, job->name);
	}
	good = good && job_devices(job, &claim, &inventory, result);
	inventory_free(&inventory);
	claim_free(&claim);
	return good;
}

static void job_run(struct job *job, struct work_result *result)
{
	result->good = job->kind == WORK_PREPARE ?
			       job_prepare(job, result) :
			       fabric_release(&job->work->fabric, job->uid, &result->reason);
}

/* With the lock: the oldest job of the claim that has not begun. */
static struct job *job_next(struct work *work, const char *uid)
{
	struct job *job;

	for (job = work->jobs; job; job = job->next)
		if (job->state == JOB_QUEUED && !strcmp(job->uid, uid))
			return job;
	return NULL;
}

static void *job_thread(void *arg)
{
	struct job *job = arg, *next;
	struct work *work = job->work;

	for (; job; job = next) {
		struct work_result result = { .good = false };

		job_run(job, &result);
		pthread_mutex_lock(&work->lock);
		job->result = result;
		job->state = JOB_DONE;
		job->ended = clock_ms();
		next = job_next(work, job->uid);
		if (next)
			next->state = JOB_RUNNING;
		pthread_cond_broadcast(&work->changed);
		pthread_mutex_unlock(&work->lock);
	}
	pthread_mutex_lock(&work->lock);
	work->threads--;
	pthread_cond_broadcast(&work->changed);
	pthread_mutex_unlock(&work->lock);
	return NULL;
}

/* With the lock. */
static void job_begin(struct job *job)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool started = false;

	if (job->work->threads < THREADS_MAX) {
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		started = !pthread_create(&thread, &attr, job_thread, job);
		pthread_attr_destroy(&attr);
	}
	if (started) {
		job->state = JOB_RUNNING;
		job->work->threads++;
	} else {
		refuse(&job->result.reason, "too many claims are under way on this node");
		job->state = JOB_DONE;
		job->ended = clock_ms();
	}
}

struct job *work_start(struct work *work, enum work_kind kind, const char *namespace,
		       const char *name, const char *uid)
{
	struct job *job, *last = NULL, **end;

	pthread_mutex_lock(&work->lock);
	work_prune(work);
	for (end = &work->jobs; (job = *end); end = &job->next)
		if (!job->told && !strcmp(job->uid, uid))
			last = job;
	if (last && last->kind == kind) {
		job = last;
	} else {
		job = zalloc(1, sizeof(*job));
		job->work = work;
		job->kind = kind;
		job->namespace = copy_of(namespace);
		job->name = copy_of(name);
		job->uid = copy_of(uid);
		*end = job;
		if (!last || last->state == JOB_DONE)
			job_begin(job);
	}
	/* What was before is of no interest any more. */
	if (last && last != job && last->state == JOB_DONE)
		last->told = true;
	job->waiting++;
	pthread_mutex_unlock(&work->lock);
	return job;
}

bool work_wait(struct work *work, struct job *job, uint64_t until, struct work_result *result)
{
	bool ended;
	size_t i;

	memset(result, 0, sizeof(*result));
	pthread_mutex_lock(&work->lock);
	while (job->state != JOB_DONE && !work->ending && wait_until(work, until))
		;
	ended = job->state == JOB_DONE;
	if (ended) {
		*result = job->result;
		for (i = 0; i < result->n; i++) {
			const struct work_device *from = &job->result.devices[i];

			result->devices[i] =
				(struct work_device){ copy_of(from->request), copy_of(from->pool),
						      copy_of(from->device),
						      from->cdi ? copy_of(from->cdi) : NULL };
		}
		job->told = true;
	}
	job->waiting--;
	pthread_mutex_unlock(&work->lock);
	return ended;
}
