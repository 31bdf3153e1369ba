/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of PCI functions from udev's hardware database. */
#ifndef GPUCTL_HOST_HWDB_H
#define GPUCTL_HOST_HWDB_H

#include "module/model.h"

/*
 * The product name of a function: the property ID_GPUFABRIC_NAME, else vendor and model of the
 * PCI id database. Newly allocated; NULL when the database does not know the function.
 */
char *hwdb_name(const struct gf_function *function);

#endif /* GPUCTL_HOST_HWDB_H */
