/* SPDX-License-Identifier: GPL-2.0-only */
/* A Liqid director, asked: what there is, and one step of a change at a time. */
#ifndef GPUCTL_LIQID_DIRECTOR_H
#define GPUCTL_LIQID_DIRECTOR_H

#include "driver/client.h"
#include "liqid/read.h"

#define LIQID_API "/liqid/api/v2"

extern const struct client_dialect liqid_dialect;

/* Read all of it anew; enum ctl_exit. After an error @seen is as it was, or empty. */
int director_read(struct client *client, struct liqid_seen *seen, struct fault *f);

/* How a step ended. */
enum step {
	STEP_DONE,
	STEP_REFUSED, /* not made */
	STEP_LOST, /* nobody knows */
};

/*
 * @method of a path below LIQID_API with a body, which is taken. @ret is enum ctl_exit, with the
 * reason in @f unless it was done.
 */
enum step director_step(struct client *client, const char *method, const char *path,
			struct json_object *body, int *ret, struct fault *f);

/* Prefix a fault with the manager's name; returns @ret. */
int director_fault(const struct client *client, int ret, struct fault *f);

#endif /* GPUCTL_LIQID_DIRECTOR_H */
