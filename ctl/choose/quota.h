/* SPDX-License-Identifier: GPL-2.0-only */
/* The tenants of this host, and holding a request to them. */
#ifndef GPUCTL_QUOTA_H
#define GPUCTL_QUOTA_H

#include "choose/pool.h"
#include "choose/tenant.h"

/* How long quota_lock() waits: the lock is held for a look and a request, by each of those that wait. */
#define QUOTA_WAIT_MS 60000ull

/**
 * struct quota - tenants while one request is decided
 * @tenants: from tenants.d, with what each holds
 * @lock: file that other requests wait for, -1 when nobody does
 */
struct quota {
	struct tenants tenants;
	int lock;
};

/* Read tenants.d and count what each holds by the snapshot. */
int quota_load(struct session *session, struct quota *quota);

/* The same for a request of @tenant (NULL: nobody), which has to be one of them. */
int quota_begin(struct session *session, const char *tenant, struct quota *quota);
void quota_end(struct quota *quota);

/* Suppose that nobody holds any. */
void quota_suppose_free(struct quota *quota);

/*
 * May the tenant (NULL: nobody) have @added of the pool's free slots and give back
 * @removed of its own?
 */
int quota_admit(struct session *session, const struct quota *quota, const struct pool *pool,
		const char *tenant, size_t added, size_t removed);

/*
 * The same question, for the last time: by a look at what there is now, and from here until
 * quota_unlock() no other gpuctl asks it. What comes in between is the request and nothing
 * that takes time.
 */
int quota_lock(struct session *session, struct quota *quota, const struct pool *pool,
	       const char *tenant, size_t added, size_t removed);
void quota_unlock(struct quota *quota);

/* How many of the pool's free slots the tenant may have; ARRANGE_NO_LIMIT without tenants. */
size_t quota_room(const struct quota *quota, const struct pool *pool, const char *tenant);

#endif /* GPUCTL_QUOTA_H */
