/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics in the text format of Prometheus: one number out of a page. Pure. */
#ifndef GPUCTL_PROBE_EXPOSITION_H
#define GPUCTL_PROBE_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

#define EXPOSITION_LABELS_MAX 16

/**
 * struct exposition_label - a label and its value; both owned
 */
struct exposition_label {
	char *name, *value;
};

/**
 * struct exposition_metric - which lines of a page count: NAME or NAME{LABEL="VALUE",...}
 * @name: of the metric
 * @labels: that a line must have; it may have more
 * @n: number of @labels
 */
struct exposition_metric {
	char *name;
	struct exposition_label labels[EXPOSITION_LABELS_MAX];
	size_t n;
};

/* 0 or -EINVAL with the reason; free in either case. */
int exposition_metric_read(struct exposition_metric *metric, const char *text, struct fault *f);
void exposition_metric_free(struct exposition_metric *metric);

/*
 * Sum or mean of what the page says of it; @text ends with a NUL. -ENOENT when it says nothing,
 * -EINVAL when it says that wrongly.
 */
int exposition_find(const char *text, const struct exposition_metric *metric, bool sum,
		    double *value, struct fault *f);

#endif /* GPUCTL_PROBE_EXPOSITION_H */
