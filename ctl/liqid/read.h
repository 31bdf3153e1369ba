/* SPDX-License-Identifier: GPL-2.0-only */
/* What a Liqid director says that there is: GPUs, and who has them. Pure. */
#ifndef GPUCTL_LIQID_READ_H
#define GPUCTL_LIQID_READ_H

#include "driver/doc.h"
#include "driver/job.h"

#define LIQID_GPUS_MAX 4096

/**
 * struct liqid_gpu - a GPU of the fabric
 * @id: its name there
 * @vendor, @device: PCI ids, 0 where they are not known
 * @state: of it
 * @host: machine that has it, NULL for none
 * @mine: that is ours
 * @why: of one that cannot be used, NULL for nothing
 * @status: as it came, for requests
 */
struct liqid_gpu {
	char *id;
	unsigned int vendor;
	unsigned int device;
	enum gpu_state state;
	char *host;
	bool mine;
	char *why;
	struct json_object *status;
};

/**
 * struct liqid_seen - what was read
 * @machine: ours, @group: that it is in; both as they came
 * @fabric, @group_id, @machine_id: their numbers
 * @pending: a command for our machine has not ended: edit mode, or a reprogram
 * @editor, @since: who began it and when, NULL where that is not said
 * @gpus: @n of them
 */
struct liqid_seen {
	struct json_object *machine;
	struct json_object *group;
	unsigned int fabric;
	unsigned int group_id;
	unsigned int machine_id;
	bool pending;
	char *editor;
	char *since;
	struct liqid_gpu *gpus;
	size_t n;
};

/* What is in an answer: a list, borrowed; NULL with a reason, which may be the director's. */
struct json_object *liqid_data(struct json_object *body, struct fault *f);
/* What the director says of an error, cut to 200 characters; "" for nothing. The caller frees. */
char *liqid_complaint(struct json_object *body);

/*
 * From the lists of the director, in this order; 0 or -EINVAL with the reason. liqid_seen_clear()
 * in either case.
 */
int liqid_take_machine(struct liqid_seen *seen, struct json_object *list, const char *host,
		       struct fault *f);
int liqid_take_group(struct liqid_seen *seen, struct json_object *list, struct fault *f);
void liqid_take_pending(struct liqid_seen *seen, struct json_object *list);
int liqid_take_devices(struct liqid_seen *seen, struct json_object *list, struct fault *f);
void liqid_take_members(struct liqid_seen *seen, struct json_object *list, const char *host);
void liqid_seen_clear(struct liqid_seen *seen);

struct liqid_gpu *liqid_find(const struct liqid_seen *seen, const char *id);

#endif /* GPUCTL_LIQID_READ_H */
