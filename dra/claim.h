/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ResourceClaim of resource.k8s.io, as far as this driver is concerned. Pure. */
#ifndef DRA_CLAIM_H
#define DRA_CLAIM_H

#include "dra/program.h"

#define DRIVER_NAME "gpufabric.io"
/* Devices of an allocation, by the API. */
#define CLAIM_DEVICES_MAX 32
/* "claim-" and a uid are the name of a composition. */
#define CLAIM_NAME_MAX 64
#define CLAIM_UID_MAX 57

/**
 * struct claim_device - a device that the scheduler gave to the claim
 * @request: of the claim
 * @pool: of the device's ResourceSlice
 * @device: its name there
 * @slot: of this host that it was composed in, NULL as long as that is not known
 */
struct claim_device {
	char *request, *pool, *device, *slot;
};

/**
 * struct claim_params - opaque parameters for this driver
 * @driver: of the kernel, to bind to the GPUs
 * @tenant: that the composition counts for; only a DeviceClass can say so
 * @peers: the GPUs have to be near peers
 */
struct claim_params {
	char *driver, *tenant;
	bool peers;
};

/**
 * struct claim - what the API server has of a claim
 * @devices: of this driver, @n of them
 */
struct claim {
	char *uid;
	struct claim_device devices[CLAIM_DEVICES_MAX];
	size_t n;
	struct claim_params params;
};

/* False with the reason; claim_free() in either case. */
bool claim_read(struct json_object *object, struct claim *claim, struct reason *reason);
void claim_free(struct claim *claim);

/* The name of its composition; false if @uid is none. */
bool claim_composition(const char *uid, char name[CLAIM_NAME_MAX]);

/* A word that may stand in a path of the API server: a name of an object. */
bool claim_word(const char *word);

#endif /* DRA_CLAIM_H */
