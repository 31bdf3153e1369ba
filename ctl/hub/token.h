/* SPDX-License-Identifier: GPL-2.0-only */
/* The user's token for the Hub. */
#ifndef GPUCTL_HUB_TOKEN_H
#define GPUCTL_HUB_TOKEN_H

#include <stdbool.h>

#include "hub/settings.h"

/* Sets @token and @token_loose; returns enum ctl_exit with the reason in @f. */
int hub_token_read(struct hub_settings *settings, struct fault *f);

/* One line of printable characters, so that it is one header. */
bool hub_token_is_valid(const char *token);

#endif /* GPUCTL_HUB_TOKEN_H */
