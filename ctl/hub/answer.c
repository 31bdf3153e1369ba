// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: answers of the Hub
 *
 * The Hub says "unauthorized" for a model that does not exist, so that nobody learns which
 * private models do. Its X-Error-Code tells more than the status where it is there; where
 * it is not, both readings are said.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "hub/answer.h"
#include "web/header.h"

/* Digits at the start of @s, with @end behind them. */
static bool digits(const char *s, char end, uint64_t *value, const char **rest)
{
	char number[24];
	size_t len = strspn(s, "0123456789");

	if (!len || len >= sizeof(number) || s[len] != end)
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)len, s);
	*rest = s + len + (end ? 1 : 0);
	/* a leading zero would be no other base for a server */
	return text_number(number + (len > 1 ? strspn(number, "0") : 0), UINT64_MAX, value);
}

/* "bytes 0-131071/16381470720" */
static void take_range(struct hub_answer *a, const char *value)
{
	uint64_t to;

	a->ranged = !strncasecmp(value, "bytes ", 6) && digits(value + 6, '-', &a->from, &value) &&
		    digits(value, '/', &to, &value) && digits(value, '\0', &a->total, &value) &&
		    a->from <= to && to < a->total;
	a->sized = a->ranged;
}

void hub_answer_header(struct hub_answer *a, const char *line, size_t len)
{
	char text[WEB_HEADER_MAX];
	const char *value, *rest;
	long status;

	web_header_line(text, line, len);
	status = web_header_status(text);
	if (status >= 0) {
		memset(a, 0, sizeof(*a));
		a->status = status;
		return;
	}
	value = web_header_value(text, "X-Error-Code");
	if (value)
		snprintf(a->error, sizeof(a->error), "%s", value);
	value = web_header_value(text, "Retry-After");
	if (value)
		snprintf(a->retry, sizeof(a->retry), "%s", value);
	value = web_header_value(text, "Content-Range");
	if (value)
		take_range(a, value);
	value = web_header_value(text, "Content-Length");
	if (value && a->status == 200)
		a->sized = digits(value, '\0', &a->total, &rest);
}

static int refuse_unknown(const struct hub_question *q, struct fault *f)
{
	fault_set(f, ENOENT, "%s has no model %s, or does not show it to %s: check the name%s",
		  q->host, q->repo, q->token ? "this token" : "everybody",
		  q->token ? "" : ", or set HF_TOKEN");
	return q->token ? CTL_USAGE : CTL_DENIED;
}

static int refuse_gated(const struct hub_question *q, struct fault *f)
{
	fault_set(f, EPERM, "the model %s is gated: accept its terms at %s/%s, then %s", q->repo,
		  q->endpoint, q->repo,
		  q->token ? "try again with a token of that account that may read it" :
			     "set HF_TOKEN");
	return CTL_DENIED;
}

static int refuse_missing(const struct hub_question *q, const char *error, struct fault *f)
{
	if (!strcmp(error, "RevisionNotFound"))
		fault_set(f, ENOENT, "the model %s has no revision %s: see %s/%s/tree/main",
			  q->repo, q->revision, q->endpoint, q->repo);
	else if (q->file)
		fault_set(f, ENOENT, "the model %s has no file %s", q->repo, q->file);
	else
		fault_set(f, ENOENT, "%s has no model %s at %s: check name and revision", q->host,
			  q->repo, q->revision);
	return CTL_USAGE;
}

static int refuse_status(const struct hub_answer *a, const struct hub_question *q, struct fault *f)
{
	if (a->status == 401 && q->token) {
		fault_set(f, EPERM,
			  "%s rejects the token (401): make a new one at %s/settings/tokens",
			  q->host, q->endpoint);
		return CTL_DENIED;
	}
	if (a->status == 401)
		return refuse_unknown(q, f);
	if (a->status == 403) {
		fault_set(f, EPERM, "%s does not let %s read %s (403): %s", q->host,
			  q->token ? "the owner of the token" : "everybody", q->repo,
			  q->token ? "give the token the right to read it" : "set HF_TOKEN");
		return CTL_DENIED;
	}
	if (a->status == 404)
		return refuse_missing(q, a->error, f);
	if (a->status == 429 && *a->retry)
		fault_set(f, EAGAIN, "%s limits requests from this address: try again %s%s%s",
			  q->host, isdigit((unsigned char)*a->retry) ? "in " : "after ", a->retry,
			  isdigit((unsigned char)*a->retry) ? " s" : "");
	else if (a->status == 429)
		fault_set(f, EAGAIN, "%s limits requests from this address: try again later",
			  q->host);
	else if (a->status >= 500)
		fault_set(f, EIO, "%s has an internal error (%ld): try again later", q->host,
			  a->status);
	else
		fault_set(f, EIO, "%s answered with status %ld: is HF_ENDPOINT a Hub?", q->host,
			  a->status);
	return CTL_FAILED;
}

int hub_answer_refuse(const struct hub_answer *a, const struct hub_question *q, struct fault *f)
{
	if (!strcmp(a->error, "GatedRepo"))
		return refuse_gated(q, f);
	if (!strcmp(a->error, "RepoNotFound"))
		return refuse_unknown(q, f);
	if (!strcmp(a->error, "RevisionNotFound") || !strcmp(a->error, "EntryNotFound"))
		return refuse_missing(q, a->error, f);
	if (!strcmp(a->error, "DisabledRepo")) {
		fault_set(f, EPERM, "%s has disabled the model %s", q->host, q->repo);
		return CTL_DENIED;
	}
	return refuse_status(a, q, f);
}
