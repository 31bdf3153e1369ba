/* SPDX-License-Identifier: GPL-2.0-only */
/* The fabric as Prometheus reads it. */
#ifndef GPUCTL_METRICS_H
#define GPUCTL_METRICS_H

#include "module/model.h"
#include "session/identity.h"

/* Prometheus' text format 0.0.4; the caller frees. */
char *metrics_print(const struct gf_fabric *fabric, const struct gf_histograms *histograms,
		    const struct gf_status *status, const struct knowledge *knowledge);

#endif /* GPUCTL_METRICS_H */
