/* SPDX-License-Identifier: GPL-2.0-only */
/* Adding GPUs to a composition and taking others away, all or none. */
#ifndef GPUCTL_RESIZE_H
#define GPUCTL_RESIZE_H

#include "lib/session.h"

/*
 * --remove, --for, --no-fit-check; a command that resizes has pool_options and
 * remove_options as well.
 */
extern const struct ctl_option resize_options[];

/* Resize a composition as the options ask. With -n nothing is changed. */
int resize(struct session *session, const char *name);

#endif /* GPUCTL_RESIZE_H */
