/* SPDX-License-Identifier: GPL-2.0-only */
/* What a fabric manager says that there is: GPUs, whose they are, and ports. */
#ifndef GPUCTL_REDFISH_VIEW_H
#define GPUCTL_REDFISH_VIEW_H

#include "driver/client.h"
#include "driver/job.h"
#include "redfish/members.h"

#define VIEW_ENDPOINTS_MAX MEMBERS_MAX

/**
 * struct endpoint - a GPU, as an endpoint of the fabric or as a resource block
 * @path, @id, @etag: of the resource
 * @vendor, @device, @subsystem_vendor, @subsystem_device: PCI ids, 0 where they are not known
 * @model, @serial: as the manager has them, NULL for nothing
 * @state: of it
 * @host: zone or system that has it, NULL for none
 * @port: path of the port where it is, NULL where that is not known
 * @why: of one that cannot be used, NULL for nothing
 * @gpu: it is one; others are not kept
 * @unseen: the manager does not know now which host has it
 */
struct endpoint {
	char *path;
	char *id;
	char etag[CLIENT_ETAG_MAX];
	unsigned int vendor;
	unsigned int device;
	unsigned int subsystem_vendor;
	unsigned int subsystem_device;
	char *model;
	char *serial;
	enum gpu_state state;
	char *host;
	char *port;
	char *why;
	bool gpu;
	bool unseen;
};

/**
 * struct view - what was read
 * @client: who asks
 * @expansion: what comes with a collection
 * @fabric: path, NULL for blocks
 * @collection: path of all endpoints or blocks
 * @owner: path of our zone or system, and @etag: of it
 * @members: paths in it, with those that are no GPUs, @n_members of them
 * @endpoints: @n of them
 */
struct view {
	struct client *client;
	struct expansion expansion;
	char *fabric;
	char *collection;
	char *owner;
	char etag[CLIENT_ETAG_MAX];
	char **members;
	size_t n_members;
	struct endpoint *endpoints;
	size_t n;
};

/* These return enum ctl_exit with the reason in @f; view_free() in either case. */

/* Where things are, and our zone or system; no endpoint. */
int view_open(struct view *view, struct client *client, struct fault *f);
/* All endpoints that are GPUs. */
int view_read_all(struct view *view, struct fault *f);
/* One more, by its Id; one that is not there is an error. */
int view_read_one(struct view *view, const char *id, struct fault *f);
/* Our zone or system, and the endpoints that were read, anew. */
int view_refresh(struct view *view, struct fault *f);
void view_free(struct view *view);

struct endpoint *view_find(const struct view *view, const char *id);
bool view_is_mine(const struct view *view, const struct endpoint *endpoint);

/* The path of a port that the configuration names, and what the configuration would call a path. */
char *view_port_path(const struct view *view, const char *port);
char *view_port_name(const struct view *view, const char *path);

/* Do resource blocks stand for GPUs there? */
bool view_has_blocks(const struct view *view);

/* From a resource as it came; CTL_DONE, @gpu says whether it is a GPU. Pure but for blocks. */
int endpoint_read(struct view *view, struct endpoint *endpoint, const struct answer *answer,
		  struct fault *f);
int block_read(struct view *view, struct endpoint *endpoint, const struct answer *answer,
	       struct fault *f);

#endif /* GPUCTL_REDFISH_VIEW_H */
