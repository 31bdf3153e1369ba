/* SPDX-License-Identifier: GPL-2.0-only */
/* The form of a request: what the service refuses whoever asks, and for what. */
#ifndef FM_FORM_H
#define FM_FORM_H

#include <stdbool.h>

#include "fm/answer.h"

#define FORM_PATH_MAX 512

/**
 * struct form - a request by its outside
 * @version, @origin, @host, @type: its headers OData-Version, Origin, Host and Content-Type; NULL
 *	for none
 * @has_body: something follows the headers
 * @too_big: more than a body may have
 */
struct form {
	const char *method, *path;
	const char *version, *origin, *host, *type;
	bool has_body, too_big;
};

/* GET and HEAD. */
bool form_reads(const char *method);

/* The status of @answer stays 0 when nothing is wrong. */
void form_check(const struct form *form, struct answer *answer);

#endif /* FM_FORM_H */
