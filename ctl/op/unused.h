/* SPDX-License-Identifier: GPL-2.0-only */
/* GPUs of the fabric that are bound to this host and that nobody uses. */
#ifndef GPUCTL_UNUSED_H
#define GPUCTL_UNUSED_H

#include "op/terms.h"
#include "session/session.h"

/*
 * Give back to each fabric manager what it has bound to this host, if calls of this function have
 * found for the manager's return_after that no composition has it, no process holds it and its slot
 * is as it was. What is on is detached first. @n becomes the number of GPUs that were given back, or
 * with -n would be. A manager that cannot be asked and a GPU that cannot be detached are warnings,
 * and do not keep others; the last of their exit codes is returned. The snapshot is another one
 * afterwards.
 */
int unused_return(struct session *session, const struct op_terms *terms, size_t *n);

#endif /* GPUCTL_UNUSED_H */
