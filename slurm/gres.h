/* SPDX-License-Identifier: GPL-2.0-only */
/* What Slurm says of the GPUs that a job has on a node. Pure. */
#ifndef GPUFABRIC_SLURM_GRES_H
#define GPUFABRIC_SLURM_GRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRES_KINDS_MAX 16
#define GRES_KIND_MAX 64

/**
 * struct gres_gpus - GPUs of one kind
 * @kind: "h100", "" where the request names none
 * @count: how many
 */
struct gres_gpus {
	char kind[GRES_KIND_MAX];
	uint32_t count;
};

/*
 * Read "gpu:h100:2(IDX:0-1),shard:3". Returns the number of kinds, 0 for no GPU, or -1 where that is no
 * such list.
 */
int gres_read(const char *text, struct gres_gpus kinds[GRES_KINDS_MAX]);

/* Does a node with such gres, "gpu:h100:4(S:0),..", have as many of all of these kinds? */
bool gres_holds(const char *text, const struct gres_gpus *kinds, size_t n);

/* Of all GPUs of the pool a job takes a licence. */
#define GRES_LICENCE "gf_"

/*
 * How many licences of a kind, "" for any, are in "matlab:2,gf_h100:4"? The GPUs of a kind that has none are not of the
 * pool.
 */
uint32_t gres_licences(const char *licences, const char *kind);

/*
 * How many GPUs a job has here that has so many slots of a kind and licences for it. One that gave GPUs back and is queued
 * again has all of its slots, and its licences as they were; on several nodes it is not known which has lost GPUs.
 */
uint32_t gres_covered(uint32_t slots, uint32_t licences, uint32_t nodes);

/* An account as a tenant: itself where tenants may be called so, "uid-1000" else. */
void gres_tenant(const char *account, uint32_t uid, char tenant[GRES_KIND_MAX]);

/* A job whose time is over is given KillWait, and its Epilog time to work. */
#define LEASE_MORE_S 600

/* A lease for a time limit in minutes, or 0 for a job without one; in seconds. */
uint64_t gres_lease(uint32_t minutes);

#endif /* GPUFABRIC_SLURM_GRES_H */
