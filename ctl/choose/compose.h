/* SPDX-License-Identifier: GPL-2.0-only */
/* Giving a workload a set of GPUs, all or none. */
#ifndef GPUCTL_COMPOSE_H
#define GPUCTL_COMPOSE_H

#include "lib/session.h"

/* --tenant, --label, --job, --for; a command that composes has pool_options as well. */
extern const struct ctl_option compose_options[];

/*
 * Compose what the options ask for under a name that was checked. @flags are
 * those of the request, GPUFABRIC_COMPOSE_FLAG_BIND or 0. With -n nothing is changed.
 */
int compose(struct session *session, const char *name, uint32_t flags);

#endif /* GPUCTL_COMPOSE_H */
