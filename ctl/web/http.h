/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One HTTP request at a time by libcurl, bounded in time and in the number of requests. What an
 * answer means, and where a redirection may lead, is the caller's to say.
 */
#ifndef GPUCTL_WEB_HTTP_H
#define GPUCTL_WEB_HTTP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/**
 * struct web_tls - who is believed, and who we are; each may be NULL
 * @authorities: file of the authorities to trust in place of those of the system
 * @certificate: file of our certificate
 * @key: file of its key
 * @plain: http:// is possible, too
 */
struct web_tls {
	const char *authorities;
	const char *certificate;
	const char *key;
	bool plain;
};

/**
 * struct web - a client that keeps its connections
 * @curl: of libcurl
 * @deadline: of text_monotonic(), for all requests together
 * @requests: number of requests that were made, @requests_max: and may be
 * @tried: the last request was made, and not refused here
 * @stop: asked meanwhile whether to give up; may be NULL
 */
struct web {
	CURL *curl;
	uint64_t deadline;
	unsigned int requests;
	unsigned int requests_max;
	bool tried;
	bool (*stop)(void);
};

/**
 * struct web_request - one request, without following a redirection
 * @url: whom and what
 * @method: NULL for GET
 * @range: "FIRST-LAST", NULL for all of it
 * @headers: more of them
 * @body: what is sent, NULL for nothing
 * @fresh: by a connection of its own, so that it is never sent twice
 * @header: told each line of the answer's head
 * @data: told the body; it ends the transfer by returning another number than @n
 * @arg: for both
 * @why: filled: libcurl's own words, "" for none
 */
struct web_request {
	const char *url;
	const char *method;
	const char *range;
	struct curl_slist *headers;
	const char *body;
	bool fresh;
	void (*header)(void *arg, const char *line, size_t n);
	size_t (*data)(void *arg, const char *data, size_t n);
	void *arg;
	char why[CURL_ERROR_SIZE];
};

/* How a request ended that has no answer. */
enum web_end {
	WEB_ANSWERED,
	WEB_LATE, /* the deadline has passed */
	WEB_TOO_MANY, /* no more requests */
	WEB_STOPPED, /* @stop said so */
	WEB_UNREACHABLE, /* no name, no route, no listener */
	WEB_STRANGER, /* the server cannot show who it is */
	WEB_ENDED, /* @data ended it */
	WEB_BROKEN, /* the connection failed */
};

/* 0 or -EIO with the reason; web_close() in either case. */
int web_open(struct web *web, const struct web_tls *tls, uint64_t timeout_ms, struct fault *f);
void web_close(struct web *web);

enum web_end web_send(struct web *web, struct web_request *request);

/* Of the last request: could a server have received any of it? */
bool web_was_sent(const struct web *web, enum web_end end);

/* Where a redirection leads, as a whole URL; NULL for nowhere. The caller frees. */
char *web_next(const struct web *web);

/* Scheme, host and port are the same: who gets what is sent. */
bool web_same_origin(const char *a, const char *b);

#endif /* GPUCTL_WEB_HTTP_H */
