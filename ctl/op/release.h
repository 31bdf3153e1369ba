/* SPDX-License-Identifier: GPL-2.0-only */
/* Ending a composition. */
#ifndef GPUCTL_RELEASE_H
#define GPUCTL_RELEASE_H

#include "op/terms.h"
#include "session/session.h"

enum release_flag {
	RELEASE_KEEP = 1, /* its GPUs stay attached, in the pool */
	RELEASE_SAME = 2 /* unless it has changed since the snapshot */
};

/*
 * Take the GPUs of a composition back and end it; @flags: of enum release_flag. The snapshot is to
 * be new enough to know it. With -n nothing is changed.
 */
int release_composition(struct session *session, const struct op_terms *terms, const char *name,
			unsigned int flags);

#endif /* GPUCTL_RELEASE_H */
