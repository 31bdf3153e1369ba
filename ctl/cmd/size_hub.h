/* SPDX-License-Identifier: GPL-2.0-only */
/* Models of the Hugging Face Hub, by the program hub. */
#ifndef GPUCTL_CMD_SIZE_HUB_H
#define GPUCTL_CMD_SIZE_HUB_H

#include <stdbool.h>

#include "cli/ctl.h"

/* "hf:...": a model of the Hub? */
bool size_hub_is_name(const char *name);

/*
 * Has its headers brought into the cache. @path, which the caller frees, is what is to be
 * sized in place of the name. Returns enum ctl_exit, after ctl_fail().
 */
int size_hub_fetch(struct ctl_ctx *ctx, const char *name, char **path);

#endif /* GPUCTL_CMD_SIZE_HUB_H */
