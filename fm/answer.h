/* SPDX-License-Identifier: GPL-2.0-only */
/* An answer as Redfish has it, made before anything is sent. */
#ifndef FM_ANSWER_H
#define FM_ANSWER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#define ANSWER_ETAG 24
#define ANSWER_BASE "Base.1.18."

/**
 * struct answer - what is sent
 * @status: of HTTP; 0 as long as there is none
 * @body: the document, owned; or @text of the media type @type, owned; or neither
 * @etag: with its quotes, "" for none
 * @location: owned, may be NULL, as may @allow and @token
 * @policy, @account: of the page, borrowed; NULL for none
 * @retry_s: Retry-After, 0 for none
 */
struct answer {
	unsigned int status;
	struct json_object *body;
	char *text;
	const char *type;
	char etag[ANSWER_ETAG];
	char *location;
	char *allow;
	char *token;
	const char *policy;
	const char *account;
	unsigned int retry_s;
	bool challenge;
};

void answer_free(struct answer *answer);

/*
 * An error with one message of Redfish's registry Base; @property, a JSON pointer, and @argument
 * may be NULL. The text is the caller's.
 */
void answer_refuse(struct answer *answer, unsigned int status, const char *message,
		   const char *property, const char *argument, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* A message as it stands in @Message.ExtendedInfo. */
struct json_object *answer_message(const char *message, const char *property, const char *argument,
				   const char *text);

/*
 * The tag of what a document says now; @odata.etag is left out of account. Returns how long the
 * document is as text.
 */
size_t answer_tag(struct json_object *document, char etag[ANSWER_ETAG]);

/* Does a list such as If-Match: "a", W/"b", * have this tag? */
bool answer_tag_matches(const char *list, const char *etag);

/* The header Link of a resource: where its schema is published. False for a document without one. */
bool answer_schema(struct json_object *body, char *link, size_t size);

#endif /* FM_ANSWER_H */
