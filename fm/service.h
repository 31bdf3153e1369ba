/* SPDX-License-Identifier: GPL-2.0-only */
/* A request on its way, and those who answer it. */
#ifndef FM_SERVICE_H
#define FM_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm/access.h"
#include "fm/answer.h"
#include "fm/events.h"
#include "fm/manager.h"
#include "fm/query.h"

#define SERVICE_ARGUMENTS 4
#define SERVICE_ROOT "/redfish/v1"

/**
 * struct service - what answers are made from
 * @uuid: of this service, the same after a restart
 */
struct service {
	struct manager *manager;
	const struct config *config;
	struct access *access;
	struct events *events;
	char uuid[37];
};

/**
 * struct ask - a request without its transport
 * @argument: what stood in the path for each "*", in order
 * @who: asks; ROLE_NONE for nobody
 * @session: of the session that was used, 0 for none
 * @login: of POST Sessions: user and password were found to be those of @who
 * @match: If-Match, NULL for none
 * @query: parameters of a GET
 * @waiter: to be told when a task has ended; @park is called with it, and with the manager's lock
 *	held, when there is one to wait for
 * @task: that is waited for
 * @outcome: makes the answer when the task is done
 * @remarks: what of the body was left aside, owned
 * @reply: the answer as far as it is known before the task is done, owned; NULL for nothing
 */
struct ask {
	const char *method;
	const char *path;
	const char *body;
	size_t length;
	const char *argument[SERVICE_ARGUMENTS];
	struct account who;
	uint64_t session;
	char address[ACCESS_ADDRESS];
	const char *match;
	const struct query *query;
	void *waiter;
	void (*park)(void *waiter);
	uint64_t task;
	void (*outcome)(struct service *service, struct ask *ask, const struct task *task,
			struct answer *answer);
	struct json_object *remarks;
	struct json_object *reply;
};

/**
 * enum service_end - what is next
 * @SERVICE_DONE: the answer is there
 * @SERVICE_WAIT: the waiter is told; service_resume() makes the answer then
 */
enum service_end {
	SERVICE_DONE,
	SERVICE_WAIT,
};

typedef struct json_object *(*resource_fn)(const struct service *service, const struct ask *ask);

/**
 * struct resource - a kind of path
 * @pattern: below /redfish/v1, "*" for one part
 * @open: may be read without an account
 * @get: the document, NULL where there is none; called with the manager's lock
 * @change: POST, PATCH or DELETE, which one @method says; NULL for none
 * @method: of @change, in the order of the RFC's list for Allow
 */
struct resource {
	const char *pattern;
	bool open;
	resource_fn get;
	const char *method;
	enum service_end (*change)(struct service *service, struct ask *ask, struct answer *answer);
};

/* Of a path, NULL where nothing is; @ask->argument points into @parts, as long as the path. */
const struct resource *service_find(const char *path, char *parts, struct ask *ask);

/* A part of a path as the number of a resource; what is written otherwise than in links names none. */
bool service_number(const char *part, uint64_t *number);

/* Answers. SERVICE_WAIT: the waiter is told when there is more to say. */
enum service_end service_answer(struct service *service, const struct resource *resource,
				struct ask *ask, struct answer *answer);
/* The answer after the wait; @late: it is not over, and the client is told of the task. */
void service_resume(struct service *service, struct ask *ask, bool late, struct answer *answer);

/* documents.c: those of the service, and all paths. */
extern const struct resource resources[];
extern const size_t resource_count;
void document_head(struct json_object *document, const char *path, const char *type, const char *id,
		   const char *name);
void document_text(struct json_object *document, const char *key, const char *value);
/* {"@odata.id": path}, the path being formatted. */
struct json_object *document_link(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
struct json_object *document_collection(const char *path, const char *type, const char *name,
					struct json_object *members);
/* A list of nothing, or of one. */
struct json_object *document_list(struct json_object *only);
void document_status(struct json_object *document, const char *state, const char *health);
void document_hex(struct json_object *to, const char *key, int value, int digits);
struct json_object *document_task(const struct service *service, const struct task *task);

/* fabric_documents.c */
void document_host_status(struct json_object *document, const struct fabric_host *host);
void document_gpu_status(const struct service *s, struct json_object *document,
			 const struct fabric_gpu *gpu);
struct json_object *systems_get(const struct service *service, const struct ask *ask);
struct json_object *system_get(const struct service *service, const struct ask *ask);
struct json_object *fabrics_get(const struct service *service, const struct ask *ask);
struct json_object *fabric_get(const struct service *service, const struct ask *ask);
struct json_object *switches_get(const struct service *service, const struct ask *ask);
struct json_object *switch_get(const struct service *service, const struct ask *ask);
struct json_object *ports_get(const struct service *service, const struct ask *ask);
struct json_object *port_get(const struct service *service, const struct ask *ask);
struct json_object *endpoints_get(const struct service *service, const struct ask *ask);
struct json_object *endpoint_get(const struct service *service, const struct ask *ask);
struct json_object *zones_get(const struct service *service, const struct ask *ask);
struct json_object *zone_get(const struct service *service, const struct ask *ask);

/* composition.c */
struct json_object *document_block(const char *name);
struct json_object *composition_get(const struct service *service, const struct ask *ask);
struct json_object *blocks_get(const struct service *service, const struct ask *ask);
struct json_object *block_get(const struct service *service, const struct ask *ask);
struct json_object *processor_get(const struct service *service, const struct ask *ask);
struct json_object *resource_zones_get(const struct service *service, const struct ask *ask);
struct json_object *resource_zone_get(const struct service *service, const struct ask *ask);
/* Links to the blocks that a host has, its own first. */
struct json_object *blocks_of(const struct service *service, int host);

/* registry.c, event_documents.c */
struct json_object *registries_get(const struct service *service, const struct ask *ask);
struct json_object *registry_file_get(const struct service *service, const struct ask *ask);
struct json_object *registry_get(const struct service *service, const struct ask *ask);
struct json_object *event_service_get(const struct service *service, const struct ask *ask);
struct json_object *event_stream_get(const struct service *service, const struct ask *ask);
struct json_object *subscriptions_get(const struct service *service, const struct ask *ask);
struct json_object *subscription_get(const struct service *service, const struct ask *ask);
enum service_end subscription_delete(struct service *service, struct ask *ask,
				     struct answer *answer);
/* For events_tick(), with a struct service: does who they were still stand? */
bool service_may_listen(void *service, const struct listener_info *who);

/* zone.c, compose.c, login.c, system_actions.c: what changes something. */
enum service_end zone_patch(struct service *service, struct ask *ask, struct answer *answer);
enum service_end zone_add(struct service *service, struct ask *ask, struct answer *answer);
enum service_end zone_remove(struct service *service, struct ask *ask, struct answer *answer);
void zone_outcome(struct service *service, struct ask *ask, const struct task *task,
		  struct answer *answer);
enum service_end system_patch(struct service *service, struct ask *ask, struct answer *answer);
enum service_end compose(struct service *service, struct ask *ask, struct answer *answer);
enum service_end system_evict(struct service *service, struct ask *ask, struct answer *answer);
enum service_end system_renew(struct service *service, struct ask *ask, struct answer *answer);
enum service_end session_create(struct service *service, struct ask *ask, struct answer *answer);
enum service_end session_delete(struct service *service, struct ask *ask, struct answer *answer);

#endif /* FM_SERVICE_H */
