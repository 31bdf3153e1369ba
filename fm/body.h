/* SPDX-License-Identifier: GPL-2.0-only */
/* Bodies of requests: read strictly, without side effects. */
#ifndef FM_BODY_H
#define FM_BODY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "fm/answer.h"

#define BODY_MAX 65536
#define BODY_LINKS_MAX 256
#define BODY_URI_MAX 512

/**
 * struct body_zone - PATCH of a zone
 * @endpoints: URIs, owned
 * @wish_endpoint: wishes for ports, @wish_port with each; owned
 * @remarks: what was left aside, as "NAME@Message.ExtendedInfo"; owned, may be NULL
 */
struct body_zone {
	char **endpoints;
	size_t endpoint_count;
	char **wish_endpoint, **wish_port;
	size_t wish_count;
	struct json_object *remarks;
};

/**
 * struct body_action - Zone.AddEndpoint and Zone.RemoveEndpoint; NULL for what is not given
 */
struct body_action {
	char *endpoint, *endpoint_etag, *zone_etag, *port;
};

struct body_login {
	char *user, *password;
};

/* False: @answer says what is wrong. Free in either case. */
bool body_read_zone(const char *text, size_t len, struct body_zone *zone, struct answer *answer);
void body_free_zone(struct body_zone *zone);
bool body_read_action(const char *text, size_t len, bool with_port, struct body_action *action,
		      struct answer *answer);
void body_free_action(struct body_action *action);
bool body_read_login(const char *text, size_t len, struct body_login *login, struct answer *answer);
void body_free_login(struct body_login *login);

#endif /* FM_BODY_H */
