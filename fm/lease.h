/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leases of hosts: a host that renews its own promises to use no GPU of the fabric any more when
 * that ends. Any thread may call these.
 */
#ifndef FM_LEASE_H
#define FM_LEASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm/config.h"

/**
 * struct lease - of one host
 * @longest_ms: that was ever granted, as the file has it
 * @until_ms: by CLOCK_BOOTTIME
 * @claimed: it is over and somebody gives the host's GPUs away
 */
struct lease {
	char *host;
	uint64_t longest_ms;
	uint64_t until_ms;
	bool claimed;
};

/**
 * struct leases - all of them
 * @writing: held while the file is written; taken before @lock
 * @lock: covers @list and @count, and is never held while something is waited for
 * @path: of the file
 */
struct leases {
	pthread_mutex_t writing, lock;
	char *path;
	struct lease *list;
	size_t count;
};

/*
 * From the file in @folder. A lease that was granted before a restart is as long from now on as
 * the longest that the host ever had: it may have been renewed just before.
 */
int leases_open(struct leases *leases, const char *folder, struct fault *f);
void leases_close(struct leases *leases);
/* Forget those of hosts without fence = lease. */
void leases_keep(struct leases *leases, const struct config *config);

/*
 * From now on for so long, and never for less than it was. It is noted before it is granted. -EBUSY when
 * it is claimed.
 */
int leases_renew(struct leases *leases, const char *host, uint64_t ms, struct fault *f);
/* The host has none: time says nothing of it. */
int leases_end(struct leases *leases, const char *host, struct fault *f);
/* It had one, and that is over. */
bool leases_over(struct leases *leases, const char *host);
/* The same, and it cannot be renewed from now on: until it ends, or the claim is given up. */
bool leases_claim(struct leases *leases, const char *host);
void leases_unclaim(struct leases *leases, const char *host);

#endif /* FM_LEASE_H */
