/* SPDX-License-Identifier: GPL-2.0-only */
/* Bounded GET requests to the Hub. */
#ifndef GPUCTL_HUB_HTTP_H
#define GPUCTL_HUB_HTTP_H

#include "hub/answer.h"
#include "hub/settings.h"
#include "web/http.h"

/**
 * struct hub_http - all requests of one run
 * @settings: endpoint and token
 * @web: keeps connections
 * @bytes: how many bytes of bodies have come
 */
struct hub_http {
	const struct hub_settings *settings;
	struct web web;
	uint64_t bytes;
};

/**
 * struct hub_get - one request
 * @url: of the endpoint
 * @question: for words
 * @from: first byte
 * @n: bytes from there; 0: the whole answer, of at most @max bytes
 * @sink: takes bytes and the offset in the file that they are at; 0 or a negative errno
 * @arg: for it
 * @answer: filled
 */
struct hub_get {
	const char *url;
	const struct hub_question *question;
	uint64_t from;
	uint64_t n;
	uint64_t max;
	int (*sink)(void *arg, uint64_t offset, const char *data, size_t n);
	void *arg;
	struct hub_answer answer;
};

/* These return enum ctl_exit, with the reason in @f. */
int hub_http_open(struct hub_http *http, const struct hub_settings *settings,
		  const char *certificates, struct fault *f);
int hub_http_get(struct hub_http *http, struct hub_get *get, struct fault *f);
void hub_http_close(struct hub_http *http);

#endif /* GPUCTL_HUB_HTTP_H */
