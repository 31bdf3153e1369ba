/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers to requests with query parameters. */
#ifndef FM_EXPAND_H
#define FM_EXPAND_H

#include "fm/query.h"
#include "fm/service.h"

/* Members of a collection that are expanded in one answer; the next ones are on another page. */
#define EXPAND_PAGE 256
/* An answer with expanded resources is no longer than this, about. */
#define EXPAND_BYTES (1u << 20)

/*
 * Makes of @document what @ask->query wants. False: @answer says why not. The manager's lock is
 * held, so that all of an answer is of one moment.
 */
bool expand_document(const struct service *service, const struct ask *ask,
		     struct json_object *document, struct answer *answer);

#endif /* FM_EXPAND_H */
