/* SPDX-License-Identifier: GPL-2.0-only */
/* What a scheduler of nodes is told. */
#ifndef GPUCTL_FEATURES_H
#define GPUCTL_FEATURES_H

#include "managers/manager.h"
#include "module/model.h"
#include "session/identity.h"

/*
 * A file for the local source of node feature discovery; the caller frees. For each of the fabric
 * managers it has the number of ports here, by the name of its pool in Kubernetes.
 */
char *features_print(const struct gf_fabric *fabric, const struct knowledge *knowledge,
		     const struct managers *managers);

#endif /* GPUCTL_FEATURES_H */
