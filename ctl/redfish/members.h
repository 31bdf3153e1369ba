/* SPDX-License-Identifier: GPL-2.0-only */
/* Collections of a manager, with their members or the paths of them. */
#ifndef GPUCTL_REDFISH_MEMBERS_H
#define GPUCTL_REDFISH_MEMBERS_H

#include "driver/client.h"

#define MEMBERS_MAX 4096

/**
 * struct members - of a collection
 * @path: of each
 * @body: of each, as it came with the collection; NULL for one that did not
 * @n: how many
 */
struct members {
	char **path;
	struct json_object **body;
	size_t n;
};

/* How much comes with a collection: @levels of what is below it, 0 where each is asked for. */
struct expansion {
	bool known;
	unsigned int levels;
};

/* All pages of a collection; @missing may be NULL. members_free() in either case. */
int members_read(struct client *client, const char *collection, bool *missing,
		 struct members *members, struct fault *f);
/*
 * The same, with bodies @levels deep as far as the manager can, which it is asked once. One that
 * says that it can, and then does not, is asked for the paths.
 */
int members_expand(struct client *client, struct expansion *expansion, const char *collection,
		   unsigned int levels, struct members *members, struct fault *f);
void members_free(struct members *members);

#endif /* GPUCTL_REDFISH_MEMBERS_H */
