/* SPDX-License-Identifier: GPL-2.0-only */
/* Workloads for Prometheus. Pure. */
#ifndef GPUCTL_SENSE_METRICS_H
#define GPUCTL_SENSE_METRICS_H

#include "sense/files.h"

/* Add the last minute of each workload; nothing where there is none. */
void sense_metrics(struct text *t, const struct sense_shown *shown);

#endif /* GPUCTL_SENSE_METRICS_H */
