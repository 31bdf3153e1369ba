/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a workload to slots: the best arrangement that the free pool can give, and which limit
 * decided. Pure.
 */
#ifndef GPUCTL_ARRANGE_H
#define GPUCTL_ARRANGE_H

#include "choose/choose.h"
#include "size/limit.h"

/* No tenant limits the request. */
#define ARRANGE_NO_LIMIT ((size_t)-1)

/**
 * struct arrange_request - a workload and what is said about its GPUs
 * @size: the workload, checked; its method looks at memory
 * @choose: places and counts; without counts the size says how many
 * @mixed: GPUs of several kinds may be taken together
 * @room: GPUs that the tenant may have more, ARRANGE_NO_LIMIT: as many as there are
 * @tenant: its name for words, NULL: nobody's
 */
struct arrange_request {
	const struct size_request *size;
	const struct choose_request *choose;
	bool mixed;
	size_t room;
	const char *tenant;
};

/**
 * struct arrangement - what was chosen for a workload
 * @choice: numbers
 * @limit: what decided: that of @choice, or the pool
 * @why: one line: the arrangement, and what decided
 */
struct arrangement {
	struct size_choice choice;
	enum size_limit limit;
	char *why;
};

/*
 * Kinds whose GPUs hold the workload are tried by the number that it takes, then by memory.
 * Returns 0; -ENOSPC when no free set holds it, -EDQUOT when only the tenant's limit is in
 * the way, -EINVAL when the request contradicts itself.
 */
int arrange(const struct choose_slot *slots, size_t n, const struct arrange_request *request,
	    struct choose_result *result, struct arrangement *out, struct fault *fault);
void arrangement_free(struct arrangement *out);

#endif /* GPUCTL_ARRANGE_H */
