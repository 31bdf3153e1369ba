/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process gives up before it reads what a stranger sends. */
#ifndef GPUCTL_WEB_RIGHTS_H
#define GPUCTL_WEB_RIGHTS_H

#include <pwd.h>

/* Whom root becomes: the user nobody. */
const struct passwd *web_nobody(void);

/*
 * Rights that cannot be got back, memory and files are bounded from now on; 0 or an errno.
 * @nobody: who to become, NULL to stay who we are
 */
int web_give_up_rights(const struct passwd *nobody);

#endif /* GPUCTL_WEB_RIGHTS_H */
