/* SPDX-License-Identifier: GPL-2.0-only */
/* The words for what was chosen, and for why nothing could be. */
#ifndef GPUCTL_CHOOSE_EXPLAIN_H
#define GPUCTL_CHOOSE_EXPLAIN_H

#include "choose/choose.h"
#include "choose/groups.h"

/* How many GPUs all wants together are. */
size_t choose_count_wants(const struct choose_want *wants, size_t n);
/* 0, or -EINVAL where a request asks for nothing or contradicts itself. */
int choose_check(const struct choose_request *request, struct fault *fault);

/* One line about a choice; caller frees. */
char *choose_why(const struct choose_slot *slots, size_t n, const struct choose_request *request,
		 const struct groups *groups, const size_t *picked, size_t n_picked);

/* Says in @fault what was asked and what the pool has; returns -ENOSPC. */
int choose_lack(const struct choose_slot *slots, size_t n, const struct choose_request *request,
		struct fault *fault);

#endif /* GPUCTL_CHOOSE_EXPLAIN_H */
