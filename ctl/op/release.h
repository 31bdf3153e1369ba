/* SPDX-License-Identifier: GPL-2.0-only */
/* Ending a composition. */
#ifndef GPUCTL_RELEASE_H
#define GPUCTL_RELEASE_H

#include "op/terms.h"
#include "session/session.h"

/*
 * Take the GPUs of a composition back and end it; @keep leaves them attached, in the
 * pool. The snapshot is to be new enough to know it. With -n nothing is changed.
 */
int release_composition(struct session *session, const struct op_terms *terms, const char *name,
			bool keep);

#endif /* GPUCTL_RELEASE_H */
