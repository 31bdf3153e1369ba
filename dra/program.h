/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpuctl as a program: started without a shell, bounded in time and in what it prints. */
#ifndef DRA_PROGRAM_H
#define DRA_PROGRAM_H

#include <json-c/json.h>
#include <sys/types.h>

#include "dra/text.h"

/* Exit codes of gpuctl that mean something here. */
enum gpuctl_exit {
	GPUCTL_DONE = 0,
	GPUCTL_FAILED = 1,
	GPUCTL_NO_FIT = 3,
	GPUCTL_BUSY = 4,
	GPUCTL_NO_MODULE = 6,
	/* It was not started, was killed, or did not end in time. */
	GPUCTL_LOST = 255,
};

/**
 * struct gpuctl - the program and what it may take
 * @path: of the program
 * @network: file of the network namespace that it runs in, NULL for ours
 * @timeout_ms: of one run
 */
struct gpuctl {
	const char *path, *network;
	uint64_t timeout_ms;
};

/*
 * Run gpuctl with @words, which end with NULL. @reason has its last line on standard error, which
 * is a warning if it succeeded. @json, if not NULL, is the document that it printed; the caller puts it.
 */
int gpuctl_run(const struct gpuctl *gpuctl, const char *const *words, struct json_object **json,
	       struct reason *reason);

/* Start gpuctl, and leave it running: what can be read from it, -1 with the reason. */
int gpuctl_follow(const struct gpuctl *gpuctl, const char *const *words, pid_t *pid,
		  struct reason *reason);
void gpuctl_unfollow(pid_t pid, int fd);

/* A JSON document of others, of bounded depth; NULL with the reason. */
struct json_object *json_read(const char *text, size_t len, struct reason *reason);
/* A member that has the type, NULL if there is none. */
struct json_object *json_member(struct json_object *object, const char *name, enum json_type type);
/* A member that is a text, NULL if there is none. */
const char *json_text(struct json_object *object, const char *name);

#endif /* DRA_PROGRAM_H */
