/* SPDX-License-Identifier: GPL-2.0-only */
/* Instances as JSON, described in gpuctl-plan(5). Pure: the file's text goes in. */
#ifndef GPUCTL_PLAN_FILE_H
#define GPUCTL_PLAN_FILE_H

#include "plan/solver/instance.h"

/* Bytes of a file at most; more is a mistake. */
#define PLAN_FILE_MAX (1ul << 30)

/*
 * Read an instance, and plan_check() it. 0 or -EINVAL, with "file:line:column: reason" in
 * @fault; @in is to be freed in either case.
 */
int plan_read(struct plan_instance *in, const char *file, const char *text, size_t len,
	      struct fault *fault);

#endif /* GPUCTL_PLAN_FILE_H */
