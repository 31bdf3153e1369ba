/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The API server: one request at a time for each thread, bounded in time and in size. */
#ifndef DRA_API_H
#define DRA_API_H

#include "dra/program.h"

/**
 * struct api - where the API server is, and who we are
 * @server: https://HOST:PORT
 * @authorities: file of the authorities that its certificate is checked by
 * @token: file of our token, which is read for each request because it is renewed
 * @timeout_ms: of one request
 */
struct api {
	char *server, *authorities, *token;
	uint64_t timeout_ms;
};

/* Status codes that mean something here. */
enum api_status {
	API_AWAY = 0, /* no answer */
	API_OK = 200,
	API_CREATED = 201,
	API_DENIED = 403,
	API_NOT_FOUND = 404,
	API_CONFLICT = 409,
	API_GONE = 410,
};

/* What the pod was given by the kubelet; false with the reason if this is no pod. */
bool api_of_pod(struct api *api, struct reason *reason);
void api_free(struct api *api);

/* Once in a program, before and after all else. */
bool api_start(struct reason *reason);
void api_stop(void);

/*
 * A request: @method NULL is GET, @body NULL is none. Returns the status, API_AWAY if there was
 * none. @reason has the server's words if the status is none of success. @answer, if not
 * NULL, is the document that came with success; the caller puts it.
 */
int api_request(const struct api *api, const char *method, const char *path,
		struct json_object *body, struct json_object **answer, struct reason *reason);

/*
 * A watch, for a multi handle of libcurl's: @line is told each line that comes, which is an event;
 * a line that is too long ends it. NULL with the reason. api_unwatch() frees it, which is no longer in
 * the multi handle.
 */
struct watch;
struct watch *api_watch(const struct api *api, const char *path,
			void (*line)(void *arg, const char *text, size_t len), void *arg,
			struct reason *reason);
void *api_watch_handle(struct watch *watch);
void api_unwatch(struct watch *watch);

#endif /* DRA_API_H */
