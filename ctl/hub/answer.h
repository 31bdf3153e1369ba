/* SPDX-License-Identifier: GPL-2.0-only */
/* What a server answered besides the body, and words for what went wrong. Pure. */
#ifndef GPUCTL_HUB_ANSWER_H
#define GPUCTL_HUB_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/**
 * struct hub_answer - the headers that we look at
 * @status: of HTTP
 * @error: X-Error-Code: GatedRepo, RepoNotFound, ...
 * @retry: Retry-After
 * @ranged: there was a Content-Range that can be believed
 * @from: its first byte
 * @total: bytes of the whole file
 * @sized: @total is known, by Content-Range or, of a whole answer, Content-Length
 */
struct hub_answer {
	long status;
	char error[32];
	char retry[40];
	bool ranged;
	uint64_t from;
	uint64_t total;
	bool sized;
};

/* One line of headers; the line of a status begins anew. */
void hub_answer_header(struct hub_answer *answer, const char *line, size_t len);

/**
 * struct hub_question - what was asked
 * @host: who was asked
 * @endpoint: where people can look
 * @repo: model
 * @revision: of it
 * @file: NULL: the listing
 * @token: a token was sent
 */
struct hub_question {
	const char *host;
	const char *endpoint;
	const char *repo;
	const char *revision;
	const char *file;
	bool token;
};

/* Why an answer is none, in one line; returns enum ctl_exit. */
int hub_answer_refuse(const struct hub_answer *answer, const struct hub_question *question,
		      struct fault *f);

#endif /* GPUCTL_HUB_ANSWER_H */
