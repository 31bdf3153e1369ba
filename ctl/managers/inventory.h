/* SPDX-License-Identifier: GPL-2.0-only */
/* GPUs and ports as a fabric manager has them. Pure. */
#ifndef GPUCTL_MANAGERS_INVENTORY_H
#define GPUCTL_MANAGERS_INVENTORY_H

#include "base/jread.h"
#include "catalogue/catalogue.h"
#include "managers/conf.h"

#define INVENTORY_GPUS_MAX 4096

enum pool_state {
	POOL_FREE, /* nobody has it */
	POOL_OURS, /* this host has it */
	POOL_OTHERS, /* another host has it */
	POOL_CHANGING, /* a bind or unbind is under way */
	POOL_UNUSABLE, /* it cannot be used */
};

/**
 * struct pool_gpu - a GPU of the fabric
 * @id: name at the manager
 * @vendor, @device, @subsystem_vendor, @subsystem_device: PCI ids, 0 where they are not known
 * @model, @serial: as the manager has them, NULL for nothing
 * @state: of it
 * @host: who has it, NULL for nobody
 * @port: where it is, as the configuration calls it; NULL for nowhere that is known
 * @slot: of this host, where it is at a port of the configuration; else NULL. Borrowed from that
 * @why: it cannot be used, NULL for nothing
 * @gpu: entry of the catalogue, NULL for none; lives as long as that
 * @label: what it is called in lists
 */
struct pool_gpu {
	char *id;
	uint32_t vendor;
	uint32_t device;
	uint32_t subsystem_vendor;
	uint32_t subsystem_device;
	char *model;
	char *serial;
	enum pool_state state;
	char *host;
	char *port;
	const char *slot;
	char *why;
	const struct cat_gpu *gpu;
	char label[64];
};

/**
 * struct pool_port - a port of this host, by the configuration
 * @missing: the manager does not have it
 * @host: whose it is, where the manager says so; NULL else
 * @link: state of the link, NULL where that is not known
 */
struct pool_port {
	bool missing;
	char *host;
	char *link;
};

/**
 * struct inventory - what a manager has
 * @gpus: @n of them, in the manager's order
 * @ports: one for each port of the configuration, @n_ports of them; none where they were not
 *	asked for
 */
struct inventory {
	struct pool_gpu *gpus;
	size_t n;
	struct pool_port *ports;
	size_t n_ports;
};

enum manager_outcome {
	MANAGER_UNCHANGED,
	MANAGER_DONE,
	MANAGER_PARTLY,
	MANAGER_UNKNOWN,
};

/**
 * struct manager_reply - what the program of a driver answers
 * @exit: enum ctl_exit
 * @error: why it is not CTL_DONE, NULL then
 * @outcome: of a change
 * @taken: GPU that somebody else has, NULL for none; @taker: who
 * @lease_ms: of a renewal: the lease of this host, 0 for none
 * @inventory: what was read; of a change only its GPUs
 */
struct manager_reply {
	unsigned int exit;
	char *error;
	enum manager_outcome outcome;
	char *taken;
	char *taker;
	uint32_t lease_ms;
	struct inventory inventory;
};

/* 0 or -EINVAL with the reason; manager_reply_free() in either case. */
int manager_reply_read(const char *text, size_t len, const struct manager_conf *conf,
		       struct manager_reply *reply, struct fault *f);
void manager_reply_free(struct manager_reply *reply);
void inventory_free(struct inventory *inventory);

/* What are the GPUs? By kinds of the configuration, PCI ids, or the manager's words. */
void inventory_identify(struct inventory *inventory, const struct manager_conf *conf,
			const struct catalogue *catalogue);

/* Does the manager not know which host has it, as when it has just started? */
bool pool_gpu_is_unseen(const struct pool_gpu *gpu);

/* Is it of that kind, as people type it: "h100", "any"? */
bool pool_gpu_is(const struct pool_gpu *gpu, const char *kind);

struct pool_gpu *inventory_find(const struct inventory *inventory, const char *id);
/* The one at a port; NULL for none. */
struct pool_gpu *inventory_at(const struct inventory *inventory, const char *port);

/* "free", "bound", "elsewhere", "changing", "unusable". */
const char *pool_state_text(const struct pool_gpu *gpu);

/* The port of a slot by the configuration, NULL for none; and the other way round. */
const char *manager_port_of(const struct manager_conf *conf, const char *slot);
const char *manager_slot_of(const struct manager_conf *conf, const char *port);

/* Why no more GPUs of a kind are free: "3 with hostb, 1 unusable"; the caller frees. */
char *inventory_who_has(const struct inventory *inventory, const char *kind);

#endif /* GPUCTL_MANAGERS_INVENTORY_H */
