/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of zones, whatever a client calls them. The caller holds the manager's lock, but for
 * zone_change() and where another comment says so.
 */
#ifndef FM_ZONE_H
#define FM_ZONE_H

#include "fm/body.h"
#include "fm/service.h"

/**
 * struct wanted - a zone as numbers
 */
struct wanted {
	int gpus[BODY_LINKS_MAX + 1];
	size_t count;
	struct fabric_place wishes[BODY_LINKS_MAX];
	size_t wish_count;
};

/**
 * struct zone_words - what a client calls members of a zone
 * @list: where they stand
 * @own: what stands for the host itself
 * @blocks: they are resource blocks; else endpoints
 */
struct zone_words {
	const char *list, *own;
	bool blocks;
};

extern const struct zone_words zone_words, block_words;

/* No lock is needed. */
bool zone_may_change(const struct ask *ask, const char *zone, struct answer *answer);

/* The GPU of this URI, or FABRIC_NONE; @host is the host of it, or FABRIC_NONE. */
int zone_find(const struct service *service, const struct zone_words *words, const char *uri,
	      int *host);
bool zone_not_found(struct answer *answer, const char *property, const char *what, const char *uri);
bool zone_read(const struct service *service, const struct body_zone *body,
	       const struct zone_words *words, int host, struct wanted *wanted,
	       struct answer *answer);
struct manager_zone zone_of(int host, const struct wanted *wanted);

void zone_refuse(const struct service *service, const struct fabric_answer *why,
		 struct answer *answer);

/**
 * struct zone_resource - a resource whose change is a change of a zone
 * @noun: as messages call it, "zone"
 * @argument: which argument of the path names the host
 * @words: what a client calls its members
 * @read: reads the body of the request
 * @has_tag: it has one of the tags in @list; refuses where it has not
 * @changed: answers when the change is done
 */
struct zone_resource {
	const char *noun;
	unsigned int argument;
	const struct zone_words *words;
	bool (*read)(const char *text, size_t len, struct body_zone *zone, struct answer *answer);
	bool (*has_tag)(const struct service *service, const struct ask *ask, int host,
			const char *list, struct answer *answer);
	void (*changed)(struct service *service, struct ask *ask, const struct task *task,
			struct answer *answer);
};

/* A PATCH with If-Match. Takes the manager's lock. */
enum service_end zone_change(struct service *service, struct ask *ask,
			     const struct zone_resource *resource, struct answer *answer);

/* @ask->outcome makes the answer in the end. */
enum service_end zone_request(struct service *service, struct ask *ask,
			      const struct manager_zone *zones, size_t count,
			      struct answer *answer);
/* The changed resource, with remarks on what was left aside. */
void zone_show(struct ask *ask, struct json_object *document, struct answer *answer);

#endif /* FM_ZONE_H */
