/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tenants: who may hold how many GPUs. Pure: the files' texts and what is held go in, a
 * verdict in words comes out. The format is described in gpuctl-tenants(5).
 */
#ifndef GPUCTL_TENANT_H
#define GPUCTL_TENANT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/* A limit that nothing reaches. */
#define TENANT_NO_LIMIT ((size_t)-1)

/**
 * struct tenant - a share of the GPUs
 * @name: as compositions say it
 * @guarantee: GPUs that others leave to it, 0 for none
 * @limit: GPUs that it never has more than, or TENANT_NO_LIMIT
 * @held: GPUs in its compositions now
 */
struct tenant {
	char *name;
	size_t guarantee;
	size_t limit;
	size_t held;
};

/**
 * struct tenants - all of them; none: nothing is enforced
 * @items: in the order of the files
 * @n: how many
 */
struct tenants {
	struct tenant *items;
	size_t n;
};

/* Add the tenants of one file; 0 or a negative errno, with "file:line: reason" in @fault. */
int tenants_parse(struct tenants *tenants, const char *file, const char *text, size_t len,
		  struct fault *fault);

/* Once all files are read: is each tenant whole? 0 or -EINVAL. */
int tenants_check(const struct tenants *tenants, struct fault *fault);
void tenants_free(struct tenants *tenants);

struct tenant *tenants_find(const struct tenants *tenants, const char *name);

/* 0, or -EINVAL when there are tenants and @name (NULL: nobody) is none of them. */
int tenants_know(const struct tenants *tenants, const char *name, struct fault *fault);

/*
 * May @name (NULL: for nobody) take @more GPUs, when @left are free afterwards? Never above
 * the limit. Above its guarantee a tenant borrows, and that leaves to the others what they
 * are guaranteed and do not hold; within its guarantee it always may. Returns 0; -EDQUOT;
 * -EINVAL when there are tenants and this is none of them.
 */
int tenants_admit(const struct tenants *tenants, const char *name, size_t more, size_t left,
		  struct fault *fault);

/* How many of @available free GPUs @name may have more; all of them where there are no tenants. */
size_t tenants_room(const struct tenants *tenants, const char *name, size_t available);

#endif /* GPUCTL_TENANT_H */
