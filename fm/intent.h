/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the manager is about to do, on disk: a request of several steps that was under way when it
 * died is undone by the next start. Threads of hosts call these without the manager's lock.
 */
#ifndef FM_INTENT_H
#define FM_INTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/**
 * struct intent_step - a bind or an unbind, by names, as the configuration may be another one then
 * @port: NULL for none
 */
struct intent_step {
	char *host;
	bool bind;
	char *gpu;
	char *port;
};

/**
 * struct intent - a request
 * @task: its number
 */
struct intent {
	uint64_t task;
	struct intent_step *steps;
	size_t count;
};

/* Before the first step: it is on disk when this returns 0, and can be there all the same when not. */
int intent_write(const char *folder, uint64_t task, const struct intent_step *steps, size_t count,
		 struct fault *f);
/* After the last one. That there is none is no error, but that there is no folder is one. */
int intent_remove(const char *folder, uint64_t task, struct fault *f);

/* Those that are there. A file that is not understood is an error. */
int intents_read(const char *folder, struct intent **intents, size_t *count, struct fault *f);
void intents_free(struct intent *intents, size_t count);
/* What an intent's file says; free in either case. */
int intent_parse(const char *text, size_t len, struct intent *intent, struct fault *f);
void intent_free(struct intent *intent);

#endif /* FM_INTENT_H */
