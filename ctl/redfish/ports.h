/* SPDX-License-Identifier: GPL-2.0-only */
/* The ports of the configuration as the manager has them. */
#ifndef GPUCTL_REDFISH_PORTS_H
#define GPUCTL_REDFISH_PORTS_H

#include "redfish/view.h"

/* @ports has as many as the configuration; enum ctl_exit with the reason in @f. */
int ports_read(struct view *view, struct job_port *ports, struct fault *f);

#endif /* GPUCTL_REDFISH_PORTS_H */
