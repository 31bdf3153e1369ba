// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: events
 *
 * The last events are kept once for all listeners, each of which has a place in them. What is kept
 * is bounded, and so is how far a listener can be behind: one whose next event is no longer there
 * is dropped. It comes back with the number of the last event that it has seen, and is sent what it
 * has missed, or is told that this is no longer there.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "base/text.h"
#include "fm/events.h"

#define BEAT_MS 5000

/* Lines that say nothing: the first has the headers sent, others find out who has left. */
static const char beat[] = ":\n\n";

/**
 * struct listener - somebody who listens
 * @text: what is being sent, owned; NULL for nothing
 * @at: bytes of @text that were sent
 * @behind: number of the event that comes next
 * @waits: its link is parked
 * @over: it is to be sent nothing any more
 */
struct listener {
	struct events *events;
	struct listener_info info;
	void *link;
	char *text;
	size_t at;
	uint64_t behind;
	bool waits, over;
	struct listener *next;
};

void events_init(struct events *events, const struct events_link *link)
{
	*events = (struct events){ .link = link };
	pthread_mutex_init(&events->lock, NULL);
	/* a listener may come back with a number of an earlier run */
	events->last = text_now() * 1000;
	events->first = events->last + 1;
	/* as may be a client with the URI of a listener of an earlier run */
	events->last_listener = text_now();
}

void events_free(struct events *events)
{
	size_t i;

	for (i = 0; i < EVENTS_KEPT; i++)
		free(events->kept[i]);
	pthread_mutex_destroy(&events->lock);
}

static void add_text(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

static void add_now(struct json_object *to, const char *key)
{
	time_t now = (time_t)(text_now() / 1000);
	char text[40];
	struct tm tm;

	if (gmtime_r(&now, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		add_text(to, key, text);
}

static struct json_object *record_of(enum message message, const char *id, const char *origin,
				     const char *const *arguments)
{
	struct json_object *record = json_object_new_object(), *list = json_object_new_array(),
			   *link;
	char *name = registry_id(message), *text = registry_text(message, arguments);
	size_t i, n = registry_arguments(message);

	add_text(record, "EventId", id);
	add_text(record, "MemberId", "0");
	add_text(record, "EventType", "Other");
	add_now(record, "EventTimestamp");
	add_text(record, "MessageId", name);
	add_text(record, "Message", text);
	add_text(record, "MessageSeverity", registry[message].severity);
	for (i = 0; i < n; i++)
		json_object_array_add(list, json_object_new_string(arguments[i]));
	json_object_object_add(record, "MessageArgs", list);
	if (origin) {
		link = json_object_new_object();
		add_text(link, "@odata.id", origin);
		json_object_object_add(record, "OriginOfCondition", link);
	}
	free(name);
	free(text);
	return record;
}

/* An event as it is sent. */
static char *event_text(enum message message, uint64_t number, const char *origin,
			const char *const *arguments)
{
	const int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
	struct json_object *event = json_object_new_object(), *list = json_object_new_array();
	char *id = mem_printf("%llu", (unsigned long long)number), *text;

	add_text(event, "@odata.type", "#Event.v1_7_0.Event");
	add_text(event, "Id", id);
	add_text(event, "Name", "gpufabric-fm");
	json_object_array_add(list, record_of(message, id, origin, arguments));
	json_object_object_add(event, "Events", list);
	text = mem_printf("id: %s\ndata: %s\n\n", id, json_object_to_json_string_ext(event, flags));
	json_object_put(event);
	free(id);
	return text;
}

/* Lock held. */
static void listener_wake(struct listener *l)
{
	if (!l->waits)
		return;
	l->waits = false;
	l->events->link->wake(l->link);
}

/* Lock held. Its transport tells when it is gone. */
static void listener_drop(struct listener *l)
{
	if (l->over)
		return;
	l->over = true;
	if (l->waits)
		listener_wake(l);
	else
		l->events->link->cut(l->link);
}

void events_tell(struct events *events, enum message message, const char *origin,
		 const char *const *arguments)
{
	struct listener *l;
	char **place;

	pthread_mutex_lock(&events->lock);
	place = &events->kept[++events->last % EVENTS_KEPT];
	free(*place);
	*place = event_text(message, events->last, origin, arguments);
	if (events->last - events->first >= EVENTS_KEPT)
		events->first++;
	for (l = events->listeners; l; l = l->next) {
		if (l->behind < events->first)
			listener_drop(l);
		else
			listener_wake(l);
	}
	pthread_mutex_unlock(&events->lock);
}

/*
 * Lock held. Where a listener begins, and with what text. One that has missed more than is kept
 * begins with what comes: beside the oldest event it would be too far behind in no time.
 */
static void listener_begin(struct listener *l, const char *after)
{
	static const char *const nothing[REGISTRY_ARGUMENTS];
	struct events *events = l->events;
	bool back;
	uint64_t seen;

	back = after && text_number(after, UINT64_MAX, &seen);
	l->behind = events->last + 1;
	/* One that is still to come is of a run whose clock was ahead. */
	if (back && (seen > events->last || seen + 1 < events->first)) {
		l->text = event_text(MESSAGE_EVENTS_LOST, events->last, NULL, nothing);
		return;
	}
	if (back)
		l->behind = seen + 1;
	l->text = mem_strdup(beat);
}

struct listener *events_listen(struct events *events, const struct listener_info *who,
			       const char *after, void *link)
{
	struct listener *l, *other;
	size_t same = 0;

	pthread_mutex_lock(&events->lock);
	for (other = events->listeners; other; other = other->next)
		same += !strcmp(other->info.who.name, who->who.name);
	if (events->ending || events->count >= EVENTS_LISTENERS || same >= EVENTS_LISTENERS_EACH) {
		pthread_mutex_unlock(&events->lock);
		return NULL;
	}
	l = mem_zalloc(1, sizeof(*l));
	l->events = events;
	l->info = *who;
	l->info.id = ++events->last_listener;
	l->info.begun_ms = text_now();
	l->link = link;
	listener_begin(l, after);
	l->next = events->listeners;
	events->listeners = l;
	events->count++;
	pthread_mutex_unlock(&events->lock);
	return l;
}

/* Lock held. */
static bool listener_has_text(struct listener *l)
{
	if (l->text && l->text[l->at])
		return true;
	free(l->text);
	l->text = NULL;
	l->at = 0;
	if (l->behind <= l->events->last)
		l->text = mem_strdup(l->events->kept[l->behind++ % EVENTS_KEPT]);
	return l->text;
}

ssize_t events_read(struct listener *l, char *buffer, size_t size)
{
	struct events *events = l->events;
	ssize_t n = -1;

	pthread_mutex_lock(&events->lock);
	if (!l->over && listener_has_text(l)) {
		size_t left = strlen(l->text + l->at);

		n = (ssize_t)(left < size ? left : size);
		memcpy(buffer, l->text + l->at, (size_t)n);
		l->at += (size_t)n;
	} else if (!l->over) {
		l->waits = true;
		events->link->park(l->link);
		n = 0;
	}
	pthread_mutex_unlock(&events->lock);
	return n;
}

void events_leave(struct listener *l)
{
	struct events *events = l->events;
	struct listener **at;

	pthread_mutex_lock(&events->lock);
	for (at = &events->listeners; *at != l; at = &(*at)->next)
		;
	*at = l->next;
	events->count--;
	pthread_mutex_unlock(&events->lock);
	free(l->text);
	free(l);
}

size_t events_list(struct events *events, struct listener_info list[EVENTS_LISTENERS])
{
	struct listener *l;
	size_t n = 0;

	pthread_mutex_lock(&events->lock);
	for (l = events->listeners; l; l = l->next)
		if (!l->over)
			list[n++] = l->info;
	pthread_mutex_unlock(&events->lock);
	return n;
}

bool events_drop(struct events *events, uint64_t id)
{
	struct listener *l;
	bool found = false;

	pthread_mutex_lock(&events->lock);
	for (l = events->listeners; l && !found; l = l->next) {
		found = l->info.id == id && !l->over;
		if (found)
			listener_drop(l);
	}
	pthread_mutex_unlock(&events->lock);
	return found;
}

void events_tick(struct events *events, bool (*may)(void *arg, const struct listener_info *who),
		 void *arg)
{
	uint64_t now = text_monotonic();
	struct listener *l;

	pthread_mutex_lock(&events->lock);
	if (now < events->beat_ms + BEAT_MS) {
		pthread_mutex_unlock(&events->lock);
		return;
	}
	events->beat_ms = now;
	for (l = events->listeners; l; l = l->next) {
		if (l->over)
			continue;
		if (!may(arg, &l->info)) {
			listener_drop(l);
		} else if (l->waits) {
			free(l->text);
			l->text = mem_strdup(beat);
			l->at = 0;
			listener_wake(l);
		}
	}
	pthread_mutex_unlock(&events->lock);
}

void events_end(struct events *events)
{
	struct listener *l;

	pthread_mutex_lock(&events->lock);
	events->ending = true;
	for (l = events->listeners; l; l = l->next)
		listener_drop(l);
	pthread_mutex_unlock(&events->lock);
}
