// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: changes of a machine
 *
 * A machine is put into edit mode, GPUs are related to it or no longer, and the fabric is
 * reprogrammed: all of them or none. Up to the reprogram, whatever goes wrong ends with
 * fabric/edit/cancel, which takes back what was related. fabric/reprogram/cancel is never asked
 * for: it leaves the machine without any device, also without those of other requests.
 *
 * One at a time can edit a machine. Requests of this host wait for each other by a lock on their
 * file. So a command that is pending although we have that lock, and that our own account began,
 * was left by a program that was killed: it is given time to end, and cancelled then. For
 * one of anybody else we wait as long as the request has time.
 *
 * A change is believed when the director's lists say so. After an answer that did not come they are
 * read until nothing is pending any more; what is pending for too long is an edit mode whose
 * reprogram never arrived, and is cancelled.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "liqid/change.h"

#define LOOK_MS 300
/* What a killed program left may be a reprogram that ends. */
#define LEFT_MS 5000
/* As long as this, or as long as the request, the lists are asked what became of it. */
#define RESOLVE_MS 50000
/* As long as this everything has to be as before, to be believed to stay so. */
#define SETTLE_MS 3000
/* Time of its own for what takes a change back. */
#define UNDO_MS 20000
#define TRIES_MAX 5

static const struct liqid_gpu *gpu_of(const struct edit *edit, size_t i)
{
	return liqid_find(&edit->seen, edit->wishes[i].id);
}

/* What is pending was begun by somebody else, as far as the director says who. */
static bool is_others(const struct edit *edit)
{
	const char *us = edit->name ? edit->name : edit->client->login.user;

	return us && edit->seen.editor && strcmp(us, edit->seen.editor);
}

static bool is_pending(const struct edit *edit)
{
	return edit->seen.pending && !is_others(edit);
}

static bool is_met(const struct edit *edit, size_t i)
{
	const struct liqid_gpu *gpu = gpu_of(edit, i);

	return gpu && gpu->mine == edit->bind && !is_pending(edit);
}

/* What became of it, by what was read last. */
static void edit_note(struct edit *edit)
{
	size_t met = 0, todo = 0, i;

	for (i = 0; i < edit->n && edit->todo; i++) {
		todo += edit->todo[i];
		met += edit->todo[i] && is_met(edit, i);
	}
	edit->outcome = !edit->todo	 ? CHANGE_NONE :
			met == todo	 ? CHANGE_DONE :
			is_pending(edit) ? CHANGE_UNKNOWN :
			met		 ? CHANGE_PARTLY :
					   CHANGE_NONE;
}

static int edit_read(struct edit *edit, struct fault *f)
{
	int ret = director_read(edit->client, &edit->seen, f);

	if (!ret)
		edit_note(edit);
	return ret;
}

/* One that cannot be had; also one that another request of this host has bound. */
static int check_one(struct edit *edit, size_t i, struct fault *f)
{
	const struct liqid_gpu *gpu = gpu_of(edit, i);

	if (!gpu) {
		fault_set(f, ENOENT, "it has no GPU %s", edit->wishes[i].id);
		return director_fault(edit->client, CTL_USAGE, f);
	}
	if (!edit->bind) {
		edit->todo[i] = gpu->mine;
		return CTL_DONE;
	}
	edit->todo[i] = true;
	if (!gpu->host && gpu->state == GPU_FREE)
		return CTL_DONE;
	edit->taken = edit->wishes[i].id;
	free(edit->taker);
	edit->taker = gpu->host ? mem_strdup(gpu->host) : NULL;
	if (gpu->host)
		fault_set(f, EBUSY, "%s belongs to host %s", gpu->id, gpu->host);
	else
		fault_set(f, EIO, "%s cannot be used: %s", gpu->id,
			  gpu->why ? gpu->why : "no reason given");
	return director_fault(edit->client, CTL_NO_FIT, f);
}

static int check_all(struct edit *edit, struct fault *f)
{
	int ret = CTL_DONE;
	size_t i;

	if (!edit->todo)
		edit->todo = mem_zalloc(edit->n + 1, sizeof(*edit->todo));
	for (i = 0; i < edit->n && !ret; i++)
		ret = check_one(edit, i, f);
	return ret;
}

static enum step step_machine(struct edit *edit, const char *path, int *ret, struct fault *f)
{
	return director_step(edit->client, "POST", path, json_object_get(edit->seen.machine), ret,
			     f);
}

/* Did a program of this host begin it that is no more? We have the lock. */
static bool is_left(const struct edit *edit)
{
	const char *user = edit->client->login.user;

	return user && edit->seen.editor && !strcmp(edit->seen.editor, user);
}

static int say_edited(struct edit *edit, struct fault *f)
{
	const struct liqid_seen *seen = &edit->seen;

	fault_set(f, EBUSY, "machine %s is being changed%s%s%s%s: try again when that has ended",
		  edit->client->conf->host, seen->editor ? " by " : "",
		  seen->editor ? seen->editor : "", seen->since ? " since " : "",
		  seen->since ? seen->since : "");
	return director_fault(edit->client, CTL_BUSY, f);
}

/* Until nobody edits the machine; then what is there is fresh. */
static int await_idle(struct edit *edit, struct fault *f)
{
	uint64_t since = text_monotonic();
	int ret = edit_read(edit, f), ignored;

	while (!ret && edit->seen.pending) {
		struct fault late = { "" };

		if (is_left(edit) && text_monotonic() - since >= LEFT_MS)
			step_machine(edit, "/fabric/edit/cancel", &ignored, &late);
		ret = client_wait(edit->client, LOOK_MS, f);
		if (!ret)
			ret = edit_read(edit, f);
	}
	/* What was read last stays when there is no time to read it again. */
	return ret == CTL_TIMEOUT && edit->seen.pending ? say_edited(edit, f) : ret;
}

/* What is done while something is pending. */
enum meanwhile {
	MEANWHILE_WAIT,
	MEANWHILE_CANCEL,
};

/*
 * Ends an edit that is ours. When nobody could read who edits now, it is ours only if edit mode was
 * granted to us and has not ended since.
 */
static void edit_cancel(struct edit *edit, bool known)
{
	struct fault ignored = { "" };
	int ret;

	if (known || edit->open)
		if (step_machine(edit, "/fabric/edit/cancel", &ret, &ignored) == STEP_DONE)
			edit->open = false;
}

/*
 * Reads until it is known, in time of its own. @settle: as before has to stay so for a while, since
 * a step may be on its way.
 */
static bool await_known(struct edit *edit, uint64_t ms, bool settle, enum meanwhile meanwhile)
{
	uint64_t same = 0, now;
	struct fault ignored = { "" };
	bool known;

	client_insist(edit->client, ms);
	for (;;) {
		now = text_monotonic();
		known = !edit_read(edit, &ignored);
		if (!known || is_pending(edit)) {
			same = 0;
			if (meanwhile == MEANWHILE_CANCEL)
				edit_cancel(edit, known);
		} else {
			same = same ? same : now;
			if (!settle || edit->outcome == CHANGE_DONE || now - same >= SETTLE_MS)
				return true;
		}
		if (client_wait(edit->client, LOOK_MS, &ignored))
			break;
	}
	edit->outcome = CHANGE_UNKNOWN;
	return false;
}

/* Takes back what was related. @lost: a step may still be on its way. */
static void edit_undo(struct edit *edit, bool lost)
{
	await_known(edit, UNDO_MS, lost, MEANWHILE_CANCEL);
}

static struct json_object *relator(const struct edit *edit, size_t i)
{
	struct json_object *whole = json_object_new_object(), *in = json_object_new_object();

	json_object_object_add(in, "deviceStatus", json_object_get(gpu_of(edit, i)->status));
	json_object_object_add(in, "group", json_object_get(edit->seen.group));
	json_object_object_add(whole, "groupDeviceRelator", in);
	json_object_object_add(whole, "machine", json_object_get(edit->seen.machine));
	return whole;
}

static enum step relate_all(struct edit *edit, int *ret, struct fault *f)
{
	enum step step = STEP_DONE;
	size_t i;

	for (i = 0; i < edit->n && step == STEP_DONE; i++)
		if (edit->todo[i])
			step = director_step(edit->client, edit->bind ? "POST" : "DELETE",
					     "/relate/gpu", relator(edit, i), ret, f);
	return step;
}

/* Nobody knows what became of the reprogram. */
static int edit_resolve(struct edit *edit, int ret)
{
	uint64_t most = edit->client->conf->timeout_ms;

	if (!await_known(edit, most < RESOLVE_MS ? most : RESOLVE_MS, true, MEANWHILE_WAIT))
		edit_undo(edit, true);
	return edit->outcome == CHANGE_DONE && !client_told() ? CTL_DONE : ret;
}

/* The director says that it was done: do its lists? */
static int edit_verify(struct edit *edit, struct fault *f)
{
	int ret = edit_read(edit, f);

	while (!ret && is_pending(edit)) {
		ret = client_wait(edit->client, LOOK_MS, f);
		if (!ret)
			ret = edit_read(edit, f);
	}
	if (ret)
		return edit_resolve(edit, ret);
	if (edit->outcome == CHANGE_DONE)
		return CTL_DONE;
	await_known(edit, UNDO_MS, true, MEANWHILE_WAIT);
	if (edit->outcome == CHANGE_DONE)
		return CTL_DONE;
	fault_set(f, EIO, "it said that the change was made, but its lists do not show it");
	return director_fault(edit->client, CTL_FAILED, f);
}

/* The GPUs are there; whether they speak to each other directly is one more request. */
static int set_p2p(struct edit *edit, struct fault *f)
{
	const char *wanted = edit->client->conf->p2p;
	const char *now = doc_text(edit->seen.machine, "p2p");
	int ret = CTL_DONE;

	if (!edit->bind || !wanted || (now && !strcmp(now, wanted)))
		return CTL_DONE;
	json_object_object_add(edit->seen.machine, "p2p", json_object_new_string(wanted));
	if (step_machine(edit, "/machine/p2p", &ret, f) == STEP_DONE)
		return CTL_DONE;
	fault_add(f, "; the GPUs are bound, but p2p could not be turned %s", wanted);
	return ret;
}

/* Nobody else can edit any more: who are we there, and is everything still to be had? */
static int edit_begun(struct edit *edit, struct fault *f)
{
	int ret = edit_read(edit, f);

	if (!ret && edit->seen.editor && !edit->name)
		edit->name = mem_strdup(edit->seen.editor);
	return ret ? ret : check_all(edit, f);
}

/* From edit mode to the end. @again: edit mode was refused, as when somebody else was faster. */
static int edit_try(struct edit *edit, bool *again, struct fault *f)
{
	enum step step;
	int ret = CTL_DONE;

	*again = false;
	step = step_machine(edit, "/fabric/edit", &ret, f);
	if (step == STEP_REFUSED) {
		*again = ret != CTL_DENIED;
		return ret;
	}
	edit->open = step == STEP_DONE;
	if (step == STEP_DONE)
		ret = edit_begun(edit, f);
	if (step == STEP_DONE && !ret)
		step = relate_all(edit, &ret, f);
	if (step == STEP_DONE && !ret) {
		step = step_machine(edit, "/fabric/reprogram", &ret, f);
		edit->open = step == STEP_REFUSED;
		if (step == STEP_DONE)
			return edit_verify(edit, f);
		edit->tried = step == STEP_LOST;
	}
	if (edit->tried)
		return edit_resolve(edit, ret);
	edit_undo(edit, step == STEP_LOST);
	return ret;
}

/* After a refusal: is it that somebody else has one of them now? */
static int edit_refused(struct edit *edit, int ret, struct fault *f)
{
	struct fault taken = { "" };
	int who;

	if (edit->outcome != CHANGE_NONE || !edit->bind || ret == CTL_DENIED || client_told())
		return ret;
	who = check_all(edit, &taken);
	if (who != CTL_NO_FIT)
		return ret;
	*f = taken;
	return who;
}

static int edit_run(struct edit *edit, struct fault *f)
{
	bool again = true;
	int ret = CTL_DONE, why, tries;

	for (tries = 0; again && tries < TRIES_MAX; tries++) {
		why = tries ? client_wait(edit->client, LOOK_MS, f) : CTL_DONE;
		if (!why)
			why = await_idle(edit, f);
		if (!why)
			why = check_all(edit, f);
		if (why) {
			edit->outcome = CHANGE_NONE;
			return why;
		}
		edit_note(edit);
		if (edit->outcome == CHANGE_DONE)
			return CTL_DONE;
		ret = edit_try(edit, &again, f);
	}
	if (again)
		edit->outcome = CHANGE_NONE;
	if (ret)
		return again ? ret : edit_refused(edit, ret, f);
	return set_p2p(edit, f);
}

/* One request of this host at a time. */
static int edit_lock(struct edit *edit, int *fd, struct fault *f)
{
	int ret = CTL_DONE;

	*fd = open(edit->client->conf->file, O_RDONLY | O_CLOEXEC);
	while (!ret && flock(*fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK) {
			fault_set(f, errno, "%s: cannot be locked", edit->client->conf->file);
			return CTL_FAILED;
		}
		ret = client_wait(edit->client, LOOK_MS, f);
	}
	return ret;
}

int edit_make(struct edit *edit, struct fault *f)
{
	int fd = -1, ret;

	edit->outcome = CHANGE_NONE;
	ret = edit_lock(edit, &fd, f);
	if (!ret)
		ret = edit_run(edit, f);
	if (fd >= 0)
		close(fd);
	if (ret && edit->outcome == CHANGE_UNKNOWN)
		fault_add(f, "; what became of the request is not known");
	return ret;
}

void edit_free(struct edit *edit)
{
	liqid_seen_clear(&edit->seen);
	free(edit->todo);
	free(edit->name);
	free(edit->taker);
}
