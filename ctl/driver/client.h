/* SPDX-License-Identifier: GPL-2.0-only */
/* A fabric manager as a server: who we are there, and one request at a time. */
#ifndef GPUCTL_DRIVER_CLIENT_H
#define GPUCTL_DRIVER_CLIENT_H

#include <json-c/json.h>

#include "managers/conf.h"
#include "web/http.h"

#define CLIENT_ETAG_MAX 256

/**
 * struct client_dialect - what managers of one kind want
 * @sessions: path where a session is begun, NULL: user and password go with each request
 * @header: of each request, NULL for none
 * @is_path: may we be sent there? NULL: nowhere
 * @complaint: what the manager says of an error, "" for nothing; the caller frees
 */
struct client_dialect {
	const char *sessions;
	const char *header;
	bool (*is_path)(const char *text);
	char *(*complaint)(struct json_object *body);
};

/**
 * struct client - one run
 * @conf: the manager, and @dialect: its kind
 * @web: connections
 * @login: user and password, empty without credentials
 * @token: of the session, NULL for none
 * @session: path of the session
 * @renewed: a session that had ended was replaced, which is done once
 * @bytes: of all answers
 * @files: descriptors of PEM blocks in memory, -1 for none
 */
struct client {
	const struct manager_conf *conf;
	const struct client_dialect *dialect;
	struct web web;
	struct manager_login login;
	char *token;
	char *session;
	bool renewed;
	uint64_t bytes;
	int files[3];
};

/**
 * struct answer - what came of a request
 * @status: of HTTP, 0 where there is no whole answer
 * @lost: there is none, but the manager may have got the request, and may still do as it says
 * @etag: of the resource, "" for none
 * @location: path that an answer names, NULL for none
 * @retry_ms: how long the manager wants to be left alone
 * @body: JSON, NULL for none
 */
struct answer {
	long status;
	bool lost;
	char etag[CLIENT_ETAG_MAX];
	char *location;
	uint64_t retry_ms;
	struct json_object *body;
};

/* These return enum ctl_exit, with the reason in @f. */
int client_open(struct client *client, const struct manager_conf *conf,
		const struct client_dialect *dialect, uint64_t timeout_ms, struct fault *f);
void client_close(struct client *client);

/*
 * GET of a resource: CTL_DONE with a body, or with @missing set and status 404. Whatever else
 * the manager says is an error.
 */
int client_get(struct client *client, const char *path, bool *missing, struct answer *answer,
	       struct fault *f);

/* The manager is busy: wait as long as it has said. */
int client_await_turn(struct client *client, const struct answer *answer, struct fault *f);

/*
 * A change: CTL_DONE with any status that the manager gave, for the caller to judge, after
 * a new session where the old one had ended. Otherwise an error, and @answer->lost says whether the
 * change may have been made.
 */
int client_change(struct client *client, const char *method, const char *path, const char *etag,
		  struct json_object *body, struct answer *answer, struct fault *f);
void answer_free(struct answer *answer);

/* What the manager said, with the status; returns enum ctl_exit for that. */
int client_refused(const struct client *client, const char *what, const struct answer *answer,
		   struct fault *f);

/* Wait as long; CTL_TIMEOUT beyond the deadline, CTL_FAILED after a signal. */
int client_wait(struct client *client, uint64_t ms, struct fault *f);

/* From now on there is this much time, and signals have to wait. */
void client_insist(struct client *client, uint64_t ms);

/* Signals that end this program; told() says whether one has come. */
void client_catch_signals(void);
bool client_told(void);

#endif /* GPUCTL_DRIVER_CLIENT_H */
