// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: changes
 *
 * A change is believed when the manager's inventory says so, not when its answer does. After an
 * answer that did not come (a time-out, a connection that broke, a signal) nobody knows what
 * became of the request: then the inventory is read until it says the one or the other. As long
 * as an endpoint is "Starting" the manager is still at it. Nothing changed is believed when it
 * stays so for a while, since a request may be under way in the manager without being seen.
 * A manager that is busy (503) may say so behind the change as well; so the inventory is read before
 * it is asked again.
 * A GPU that this host has before anything was asked for belongs to another request of it: it is
 * taken, as one of another host is. Who has changed our zone meanwhile makes the manager refuse
 * (412, 428): then it is read again, and asked again if the GPUs are still to be had.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "redfish/change.h"
#include "redfish/link.h"

#define TRIES_MAX 5
#define LOOK_MS 300
/* As long as this the inventory is asked what became of a request. */
#define RESOLVE_MS 60000
/* As long as this a change that is not to be seen was not made. */
#define SETTLE_MS 3000
#define TASK_MS 500

/* What came of one request. */
enum asked {
	ASKED_DONE, /* the manager says so */
	ASKED_STALE, /* our zone is another than when it was read */
	ASKED_BUSY, /* to be asked again, perhaps behind the change; @ret after the wait */
	ASKED_REFUSED, /* not made: @ret and @f say why */
	ASKED_LOST, /* nobody knows */
};

/* What to do after one request. */
enum next {
	NEXT_END,
	NEXT_AGAIN, /* make it once more; there is a limit to that */
	NEXT_TURN, /* the same, as the manager has said */
};

static int change_fault(const struct view *view, int ret, struct fault *f)
{
	fault_prefix(f, "fabric manager %s", view->client->conf->name);
	return ret;
}

/* At the port that was wished for, or nobody says where. */
static bool is_at_port(const struct view *view, const struct endpoint *e, const char *wished)
{
	char *port;
	bool same;

	if (!wished || !e->port)
		return true;
	port = view_port_name(view, e->port);
	same = !strcmp(port, wished);
	free(port);
	return same;
}

bool change_is_met(const struct view *view, const struct change *change, size_t i)
{
	const struct endpoint *e = view_find(view, change->wishes[i].id);

	if (!change->bind)
		return e && !view_is_mine(view, e) && !e->unseen && e->state != GPU_CHANGING;
	return change->asked && e && view_is_mine(view, e) && e->state != GPU_CHANGING &&
	       is_at_port(view, e, change->wishes[i].port);
}

static size_t count_met(const struct view *view, const struct change *change)
{
	size_t n = 0, i;

	for (i = 0; i < change->n; i++)
		n += change_is_met(view, change, i);
	return n;
}

static bool any_moves(const struct view *view, const struct change *change)
{
	size_t i;

	for (i = 0; i < change->n; i++) {
		const struct endpoint *e = view_find(view, change->wishes[i].id);

		if (e && e->state == GPU_CHANGING && (!e->host || view_is_mine(view, e)))
			return true;
		/* It can turn out to be ours. */
		if (e && e->unseen && (change->asked || !change->bind))
			return true;
	}
	return false;
}

static void change_take_note(const struct view *view, struct change *change)
{
	size_t met = count_met(view, change);

	change->outcome = change->bind && !change->asked ? CHANGE_NONE :
			  met == change->n		 ? CHANGE_DONE :
			  any_moves(view, change)	 ? CHANGE_UNKNOWN :
			  met				 ? CHANGE_PARTLY :
							   CHANGE_NONE;
}

static int say_taken(const struct view *view, struct change *change, const struct endpoint *e,
		     size_t i, struct fault *f)
{
	char *port = e->port ? view_port_name(view, e->port) : NULL;

	fault_set(f, EBUSY, "%s belongs to host %s%s%s", e->id, e->host,
		  port && view_is_mine(view, e) ? ", port " : "",
		  port && view_is_mine(view, e) ? port : "");
	free(port);
	change->taken = change->wishes[i].id;
	free(change->taker);
	change->taker = mem_strdup(e->host);
	return change_fault(view, CTL_NO_FIT, f);
}

/* Who else has one of them? Also another request of this host. */
static int check_takers(struct view *view, struct change *change, struct fault *f)
{
	size_t i;

	for (i = 0; i < change->n && change->bind; i++) {
		const struct endpoint *e = view_find(view, change->wishes[i].id);

		if (!e || change_is_met(view, change, i))
			continue;
		/* What we have asked for and is under way has no port yet. */
		if (change->asked && view_is_mine(view, e) && e->state == GPU_CHANGING)
			continue;
		if (change->asked && e->unseen)
			continue;
		if (e->state == GPU_UNUSABLE) {
			fault_set(f, EIO, "%s cannot be used: %s", e->id,
				  e->why ? e->why : "no reason given");
			change->taken = change->wishes[i].id;
			return change_fault(view, CTL_NO_FIT, f);
		}
		if (e->host)
			return say_taken(view, change, e, i, f);
	}
	return CTL_DONE;
}

/* Read until nothing moves any more, or the deadline. */
static int await_still(struct view *view, const struct change *change, struct fault *f)
{
	int ret = view_refresh(view, f);

	while (!ret && count_met(view, change) < change->n && any_moves(view, change)) {
		ret = client_wait(view->client, LOOK_MS, f);
		if (!ret)
			ret = view_refresh(view, f);
	}
	return ret;
}

/*
 * Nobody knows what became of it: look until it is known. Signals have to wait, and there is time
 * of its own for this.
 */
static void resolve_until_known(struct view *view, struct change *change)
{
	uint64_t seen_same = 0, now;
	struct fault ignored = { "" };

	client_insist(view->client, RESOLVE_MS);
	change->outcome = CHANGE_UNKNOWN;
	for (;;) {
		now = text_monotonic();
		if (view_refresh(view, &ignored)) {
			seen_same = 0;
		} else {
			change_take_note(view, change);
			if (change->outcome == CHANGE_DONE)
				return;
			if (change->outcome == CHANGE_UNKNOWN)
				seen_same = 0;
			else if (!seen_same)
				seen_same = now;
			else if (now - seen_same >= SETTLE_MS)
				return;
		}
		if (client_wait(view->client, LOOK_MS, &ignored)) {
			change->outcome = CHANGE_UNKNOWN;
			return;
		}
	}
}

/* The same; what was left of the request's time is there again afterwards. */
static void change_resolve(struct view *view, struct change *change)
{
	struct web *web = &view->client->web;
	uint64_t deadline = web->deadline;
	bool (*stop)(void) = web->stop;

	resolve_until_known(view, change);
	web->deadline = deadline;
	web->stop = stop;
}

static bool is_word(const char *text, const char *const *words)
{
	for (; text && *words; words++)
		if (!strcmp(text, *words))
			return true;
	return false;
}

/* What a task says: ASKED_LOST with *@goes_on as long as it runs. */
static enum asked task_judge(struct view *view, const struct answer *answer, bool *goes_on,
			     int *ret, struct fault *f)
{
	static const char *const failed[] = { "Exception",   "Killed",	 "Cancelled",
					      "Interrupted", "Stopping", NULL };
	const char *state = doc_text(answer->body, "TaskState"), *said = NULL;
	struct json_object *messages = doc_array(answer->body, "Messages");
	char *words;

	*goes_on = false;
	if (is_word(state, failed)) {
		if (messages && json_object_array_length(messages))
			said = doc_text(json_object_array_get_idx(messages, 0), "Message");
		words = mem_printf("%.200s", said ? said : "");
		text_tame(words, false);
		fault_set(f, EIO, "the manager's task ended as %s%s%s", state, *words ? ": " : "",
			  words);
		free(words);
		*ret = change_fault(view, CTL_FAILED, f);
		return ASKED_REFUSED;
	}
	*goes_on = state && strcmp(state, "Completed");
	return *goes_on ? ASKED_LOST : ASKED_DONE;
}

/* A change that takes long is a task, which is looked at until its end. */
static enum asked task_await(struct view *view, struct change *change, const char *path, int *ret,
			     struct fault *f)
{
	enum asked asked = ASKED_LOST;
	bool goes_on = true, missing;

	change->under_way = true;
	while (goes_on) {
		struct answer answer = { 0 };
		uint64_t pause;

		*ret = client_get(view->client, path, &missing, &answer, f);
		pause = answer.retry_ms ? answer.retry_ms : TASK_MS;
		if (!*ret && missing) {
			/* It may have ended, and was forgotten. */
			fault_set(f, ENOENT, "the manager's task %s is gone", path);
			*ret = change_fault(view, CTL_FAILED, f);
			change->under_way = false;
		}
		asked = *ret ? ASKED_LOST : task_judge(view, &answer, &goes_on, ret, f);
		answer_free(&answer);
		if (asked != ASKED_LOST)
			change->under_way = false;
		if (asked != ASKED_LOST || *ret)
			return asked;
		*ret = client_wait(view->client, pause, f);
		if (*ret)
			return ASKED_LOST;
	}
	return asked;
}

static enum asked change_judge(struct view *view, struct change *change,
			       const struct answer *answer, int *ret, struct fault *f)
{
	switch (answer->status) {
	case 200:
	case 201:
	case 204:
		return ASKED_DONE;
	case 202:
		if (answer->location)
			return task_await(view, change, answer->location, ret, f);
		/* It is under way, and where to look is not said. */
		change->under_way = true;
		fault_set(f, ETIMEDOUT, "the manager has not made the change yet");
		*ret = change_fault(view, CTL_TIMEOUT, f);
		return ASKED_LOST;
	case 503:
		client_refused(view->client, "the change", answer, f);
		*ret = client_await_turn(view->client, answer, f);
		return ASKED_BUSY;
	case 412:
	case 428:
		*ret = client_refused(view->client, "the change", answer, f);
		return ASKED_STALE;
	default:
		*ret = client_refused(view->client, "the change", answer, f);
		/* A fault in the manager may have come behind the change. */
		return answer->status >= 500 ? ASKED_LOST : ASKED_REFUSED;
	}
}

static enum asked change_ask(struct view *view, struct change *change, int *ret, struct fault *f)
{
	struct answer answer = { 0 };
	enum asked asked;

	*ret = way_ask(view, change, &answer, f);
	if (*ret)
		asked = answer.lost ? ASKED_LOST : ASKED_REFUSED;
	else
		asked = change_judge(view, change, &answer, ret, f);
	answer_free(&answer);
	change->asked |= asked == ASKED_DONE || asked == ASKED_LOST || asked == ASKED_BUSY;
	change->lost |= asked == ASKED_LOST;
	return asked;
}

/* One of them came to this host, but not where it was to come; NULL for none. */
static const struct endpoint *find_elsewhere(const struct view *view, const struct change *change,
					     size_t *i)
{
	for (*i = 0; *i < change->n && change->bind; (*i)++) {
		const struct endpoint *e = view_find(view, change->wishes[*i].id);

		if (e && view_is_mine(view, e) && !is_at_port(view, e, change->wishes[*i].port))
			return e;
	}
	return NULL;
}

/* The manager says that it was done: is it? */
static int change_verify(struct view *view, struct change *change, struct fault *f)
{
	int ret = await_still(view, change, f);
	const struct endpoint *e;
	char *port;
	size_t i;

	if (ret) {
		change_resolve(view, change);
		return change->outcome == CHANGE_DONE ? CTL_DONE : ret;
	}
	change_take_note(view, change);
	if (change->outcome == CHANGE_DONE)
		return CTL_DONE;
	e = find_elsewhere(view, change, &i);
	if (e) {
		port = view_port_name(view, e->port);
		fault_set(f, EIO, "%s is at port %s instead of %s", e->id, port,
			  change->wishes[i].port);
		free(port);
		change->outcome = CHANGE_PARTLY;
		return change_fault(view, CTL_FAILED, f);
	}
	/* Managers are behind with their inventory. */
	change->lost = true;
	change_resolve(view, change);
	if (change->outcome == CHANGE_DONE)
		return CTL_DONE;
	fault_set(f, EIO, "it said that the change was made, but its inventory does not show it");
	return change_fault(view, CTL_FAILED, f);
}

/* A refusal: is it that somebody else has the GPU? */
static int change_refused(struct view *view, struct change *change, int ret, struct fault *f)
{
	struct fault taken = { "" }, ignored = { "" };
	int who;

	if (view_refresh(view, &ignored)) {
		/* What was asked for before may be there, whatever was refused now. */
		if (change->asked)
			change_resolve(view, change);
		return change->outcome == CHANGE_DONE && !client_told() ? CTL_DONE : ret;
	}
	change_take_note(view, change);
	who = check_takers(view, change, &taken);
	if (!who)
		return ret;
	*f = taken;
	return who;
}

static int change_read(struct view *view, const struct change *change, struct fault *f)
{
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < change->n && !ret; i++)
		ret = view_read_one(view, change->wishes[i].id, f);
	return ret;
}

/* An action was done, but there are more GPUs to come. */
static bool is_to_go_on(const struct view *view, const struct change *change)
{
	return view->client->conf->way == MANAGER_ACTIONS && change->outcome == CHANGE_PARTLY;
}

/* A connection that broke before the manager did anything: there is time to try once more. */
static bool is_worth_another(const struct view *view, const struct change *change, int ret)
{
	return change->outcome == CHANGE_NONE && ret == CTL_FAILED && !change->under_way &&
	       !client_told() && text_monotonic() < view->client->web.deadline;
}

/* It was not made, or not seen to be made, and may be made now. */
static int change_again(struct view *view, struct change *change, enum next again, enum next *next,
			int ret, struct fault *f)
{
	int why = view_refresh(view, f);

	change_take_note(view, change);
	*next = why ? NEXT_END : again;
	return why ? why : ret;
}

/* One request and what becomes of it. */
static int change_try(struct view *view, struct change *change, enum next *next, struct fault *f)
{
	int ret = CTL_DONE;

	*next = NEXT_END;
	switch (change_ask(view, change, &ret, f)) {
	case ASKED_DONE:
		ret = change_verify(view, change, f);
		*next = ret && is_to_go_on(view, change) ? NEXT_AGAIN : NEXT_END;
		return ret;
	case ASKED_BUSY:
		if (!ret)
			return change_again(view, change, NEXT_TURN, next, CTL_BUSY, f);
		change_resolve(view, change);
		return change->outcome == CHANGE_DONE && !client_told() ? CTL_DONE : ret;
	case ASKED_STALE:
		return change_again(view, change, NEXT_AGAIN, next, ret, f);
	case ASKED_REFUSED:
		return change_refused(view, change, ret, f);
	default:
		change_resolve(view, change);
		if (change->outcome == CHANGE_DONE && !client_told())
			return CTL_DONE;
		*next = is_worth_another(view, change, ret) ? NEXT_AGAIN : NEXT_END;
		return ret;
	}
}

/*
 * A whole list without a precondition undoes what another request of this host has bound since it
 * was read. Then one at a time, by the file that all of them have.
 */
static int change_lock(struct view *view, int *fd, struct fault *f)
{
	const struct manager_conf *conf = view->client->conf;
	int ret = CTL_DONE;

	if (conf->way == MANAGER_ACTIONS || (conf->way != MANAGER_COMPOSE && *view->etag))
		return CTL_DONE;
	*fd = open(conf->file, O_RDONLY | O_CLOEXEC);
	while (!ret && *fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			break;
		ret = client_wait(view->client, LOOK_MS, f);
	}
	return ret ? ret : view_refresh(view, f);
}

/* A GPU that is nowhere because the manager has just started is not given back by that. */
static int await_seen(struct view *view, const struct change *change, struct fault *f)
{
	size_t i = 0;
	int ret = CTL_DONE;

	while (!ret && i < change->n && !change->bind) {
		const struct endpoint *e = view_find(view, change->wishes[i].id);

		if (!e || !e->unseen) {
			i++;
			continue;
		}
		ret = client_wait(view->client, LOOK_MS, f);
		if (ret == CTL_TIMEOUT) {
			fault_set(f, ETIMEDOUT, "it does not know which host has %s", e->id);
			ret = change_fault(view, ret, f);
		}
		if (!ret)
			ret = view_refresh(view, f);
	}
	return ret;
}

static int change_run(struct view *view, struct change *change, struct fault *f)
{
	char etag[CLIENT_ETAG_MAX] = "";
	enum next next = NEXT_TURN;
	int tries = 0, ret;

	ret = change_read(view, change, f);
	if (!ret)
		ret = await_seen(view, change, f);
	while (!ret && next != NEXT_END) {
		struct fault before = *f;

		/* What other requests of this host do meanwhile costs no try. */
		tries = strcmp(etag, view->etag) ? 0 : tries + (next == NEXT_AGAIN);
		strcpy(etag, view->etag);

		ret = check_takers(view, change, f);
		if (ret)
			break;
		change_take_note(view, change);
		if (change->outcome == CHANGE_DONE)
			return CTL_DONE;
		if (tries >= TRIES_MAX + (int)change->n) {
			*f = before;
			return CTL_BUSY;
		}
		ret = change_try(view, change, &next, f);
		if (next != NEXT_END)
			ret = CTL_DONE;
	}
	return ret;
}

int change_make(struct view *view, struct change *change, struct fault *f)
{
	int fd = -1, ret;

	change->outcome = CHANGE_NONE;
	ret = change_lock(view, &fd, f);
	if (!ret)
		ret = change_run(view, change, f);
	if (fd >= 0)
		close(fd);
	/* A request that is on its way to the manager can be made when nobody looks any more. */
	if (change->lost && change->outcome == CHANGE_NONE && !change->taken)
		change->outcome = CHANGE_UNKNOWN;
	if (ret && change->outcome == CHANGE_UNKNOWN)
		fault_add(f, "; what became of the request is not known");
	return ret;
}
