// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: from a request to its answer
 *
 * Nothing here knows the transport. A path is looked up in a table; what is read is made under the
 * manager's lock, what changes something takes that lock itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/expand.h"
#include "fm/form.h"
#include "fm/journal.h"
#include "fm/service.h"

/* Does the path have this shape? Parts for "*" are taken as arguments. */
static bool path_matches(const char *pattern, char *const *parts, size_t n, struct ask *ask)
{
	size_t i, arguments = 0;

	for (i = 0; i < n; i++) {
		size_t len = strcspn(pattern, "/");

		if (!len)
			return false;
		if (len == 1 && *pattern == '*') {
			if (arguments == SERVICE_ARGUMENTS)
				return false;
			ask->argument[arguments++] = parts[i];
		} else if (strlen(parts[i]) != len || strncmp(parts[i], pattern, len)) {
			return false;
		}
		pattern += len;
		if (*pattern)
			pattern++;
	}
	return !*pattern;
}

const struct resource *service_find(const char *path, char *copy, struct ask *ask)
{
	char *parts[12], *at = copy, *part;
	size_t n = 0, i, root = strlen(SERVICE_ROOT);

	if (!strcmp(path, "/redfish") || !strcmp(path, "/redfish/"))
		return &resources[0];
	if (strncmp(path, SERVICE_ROOT, root) || (path[root] && path[root] != '/'))
		return NULL;
	strcpy(copy, path + root);
	while ((part = strsep(&at, "/"))) {
		/* a slash at the end says nothing */
		if (!*part && (part == copy || !at))
			continue;
		if (!*part || n == sizeof(parts) / sizeof(parts[0]))
			return NULL;
		parts[n++] = part;
	}
	for (i = 1; i < resource_count; i++)
		if (path_matches(resources[i].pattern, parts, n, ask))
			return &resources[i];
	return NULL;
}

bool service_number(const char *part, uint64_t *number)
{
	return *part != '0' && text_number(part, UINT64_MAX, number);
}

/* 404 is the caller's to say. */
static bool document_read(struct service *s, const struct resource *resource, const struct ask *ask,
			  struct answer *answer)
{
	/* One at a time: threads of hosts, which need the manager's lock, come between two of them. */
	static pthread_mutex_t expanding = PTHREAD_MUTEX_INITIALIZER;
	struct json_object *document;
	bool good = false;

	if (ask->query->given)
		pthread_mutex_lock(&expanding);
	pthread_mutex_lock(&s->manager->lock);
	document = resource->get(s, ask);
	if (document) {
		answer_tag(document, answer->etag);
		good = !ask->query->given || expand_document(s, ask, document, answer);
	}
	pthread_mutex_unlock(&s->manager->lock);
	if (ask->query->given)
		pthread_mutex_unlock(&expanding);
	if (good) {
		answer->status = 200;
		answer->body = document;
	} else {
		json_object_put(document);
	}
	return good || answer->status;
}

/* For those without a document of their own: is what they belong to there? */
static bool is_there(struct service *s, const struct resource *resource, const struct ask *ask)
{
	struct json_object *document;
	bool there;

	if (!resource->get && strncmp(resource->pattern, "Fabrics/", 8))
		return true;
	pthread_mutex_lock(&s->manager->lock);
	document = resource->get ? resource->get(s, ask) : zone_get(s, ask);
	pthread_mutex_unlock(&s->manager->lock);
	there = document;
	json_object_put(document);
	return there;
}

static void refuse_missing(const struct ask *ask, struct answer *answer)
{
	answer_refuse(answer, 404, "ResourceMissingAtURI", NULL, ask->path,
		      "there is no resource at %.200s", ask->path);
}

static void add_allow(const struct resource *resource, struct answer *answer)
{
	answer->allow = mem_printf("%s%s%s", resource->get ? "GET, HEAD" : "",
				   resource->get && resource->method ? ", " : "",
				   resource->method ? resource->method : "");
}

static void refuse_method(const struct resource *resource, const struct ask *ask,
			  struct answer *answer)
{
	answer_refuse(answer, 405, "OperationNotAllowed", NULL, NULL, "%.20s is not for %.200s",
		      ask->method, ask->path);
	add_allow(resource, answer);
}

static void say_change(const struct ask *ask, const struct answer *answer)
{
	struct json_object *error, *message;
	const char *text = "";
	char *who =
		mem_printf("%s from %s", *ask->who.name ? ask->who.name : "nobody", ask->address);

	if (answer->status >= 400 && json_object_object_get_ex(answer->body, "error", &error) &&
	    json_object_object_get_ex(error, "message", &message))
		text = json_object_get_string(message);
	journal_say(answer->status >= 400 ? LOG_WARNING : LOG_NOTICE, who, NULL, NULL,
		    "%.20s %.200s: %u%s%s", ask->method, ask->path, answer->status,
		    *text ? ": " : "", text);
	free(who);
}

enum service_end service_answer(struct service *s, const struct resource *resource, struct ask *ask,
				struct answer *answer)
{
	enum service_end end = SERVICE_DONE;

	if (form_reads(ask->method)) {
		if (!resource->get) {
			refuse_method(resource, ask, answer);
			return SERVICE_DONE;
		}
		if (!document_read(s, resource, ask, answer))
			refuse_missing(ask, answer);
		else if (answer->status == 200)
			add_allow(resource, answer);
		return SERVICE_DONE;
	}
	if (!resource->method || strcmp(ask->method, resource->method)) {
		refuse_method(resource, ask, answer);
		return SERVICE_DONE;
	}
	if (is_there(s, resource, ask))
		end = resource->change(s, ask, answer);
	else
		refuse_missing(ask, answer);
	if (end == SERVICE_DONE)
		say_change(ask, answer);
	return end;
}

void service_resume(struct service *s, struct ask *ask, bool late, struct answer *answer)
{
	struct task *task;

	pthread_mutex_lock(&s->manager->lock);
	task = manager_task(s->manager, ask->task);
	if (!task || (s->manager->stopping && task->state == TASK_RUNNING)) {
		answer_refuse(answer, 503, "ServiceTemporarilyUnavailable", NULL, "5",
			      "the manager is stopping");
		answer->retry_s = 5;
	} else if (late && task->state == TASK_RUNNING) {
		answer->status = 202;
		answer->location = mem_printf(SERVICE_ROOT "/TaskService/Tasks/%llu",
					      (unsigned long long)task->id);
		answer->body = document_task(s, task);
		answer->retry_s = 1;
	} else {
		zone_outcome(s, ask, task, answer);
	}
	pthread_mutex_unlock(&s->manager->lock);
	say_change(ask, answer);
}
