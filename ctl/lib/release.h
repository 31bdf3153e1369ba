/* SPDX-License-Identifier: GPL-2.0-only */
/* Ending a composition; commands that do have remove_options and session_options. */
#ifndef GPUCTL_RELEASE_H
#define GPUCTL_RELEASE_H

#include "lib/session.h"

/*
 * Take the GPUs of a composition back and end it; @keep leaves them attached, in the
 * pool. The snapshot is to be new enough to know it. With -n nothing is changed.
 */
int release_composition(struct session *session, const char *name, bool keep);

#endif /* GPUCTL_RELEASE_H */
