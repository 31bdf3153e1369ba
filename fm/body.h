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
#define BODY_STANZAS_MAX 64

/**
 * struct body_zone - PATCH of a zone, or of a system, which has the same members in other words
 * @members: URIs of endpoints, or of resource blocks; owned
 * @wish_endpoint: wishes for ports, @wish_port with each; owned
 * @remarks: what was left aside, as "NAME@Message.ExtendedInfo"; owned, may be NULL
 */
struct body_zone {
	char **members;
	size_t member_count;
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

/**
 * struct body_stanza - a part of a manifest
 * @id: of the stanza, NULL for none
 * @decompose: give everything back; else @zone is what the system is to have
 * @system: its URI; NULL when the blocks alone say which one it is
 * @etag: that the system has to have, NULL for any
 */
struct body_stanza {
	char *id;
	bool decompose;
	char *system, *etag;
	struct body_zone zone;
};

/**
 * struct body_manifest - CompositionService.Compose
 * @apply: it is to be done; else it is asked whether it could be
 * @given: the Manifest as it was sent, owned
 */
struct body_manifest {
	bool apply;
	struct body_stanza *stanzas;
	size_t count;
	struct json_object *given;
};

struct body_login {
	char *user, *password;
};

/* False: @answer says what is wrong. Free in either case. */
bool body_read_zone(const char *text, size_t len, struct body_zone *zone, struct answer *answer);
bool body_read_system(const char *text, size_t len, struct body_zone *zone, struct answer *answer);
void body_free_zone(struct body_zone *zone);
bool body_read_action(const char *text, size_t len, bool with_port, struct body_action *action,
		      struct answer *answer);
void body_free_action(struct body_action *action);
/* Of an action without parameters: nothing, or an empty object. */
bool body_read_nothing(const char *text, size_t len, struct answer *answer);
/* Of RenewLease: perhaps it is given up. */
bool body_read_renewal(const char *text, size_t len, bool *release, struct answer *answer);
bool body_read_login(const char *text, size_t len, struct body_login *login, struct answer *answer);
void body_free_login(struct body_login *login);

/* manifest.c */
bool body_read_manifest(const char *text, size_t len, struct body_manifest *manifest,
			struct answer *answer);
void body_free_manifest(struct body_manifest *manifest);

/* For readers of bodies: one strict JSON object, and members of it. */
struct json_object *body_object(const char *text, size_t len, struct answer *answer);
/* NULL where there is none; @answer has a status where it is no object. */
struct json_object *body_member(struct json_object *from, const char *key, const char *pointer,
				struct answer *answer);
/* @list is NULL where there is none. */
bool body_array(struct json_object *from, const char *key, const char *pointer,
		struct json_object **list, struct answer *answer);
/* A text, owned; @text stays as it is where there is none. */
bool body_text(struct json_object *from, const char *key, size_t max, char **text,
	       struct answer *answer);
/* Links.ResourceBlocks of a system. */
bool body_blocks(struct json_object *links, struct body_zone *zone, struct answer *answer);

#endif /* FM_BODY_H */
