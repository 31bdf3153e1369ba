/* SPDX-License-Identifier: GPL-2.0-only */
/* A socket for the admin of this machine: gpufabric-fm evict. */
#ifndef FM_CONTROL_H
#define FM_CONTROL_H

#include "base/fault.h"
#include "fm/manager.h"

/* Of this run alone: a second one is refused with -EBUSY. Returns the descriptor of the lock. */
int control_lock(const char *run, struct fault *f);
/* The socket in @run that others ask at; a descriptor, or a negative errno. */
int control_open(const char *run, struct fault *f);
/* Somebody asks: answer. Takes a second at most. */
void control_serve(int fd, struct manager *manager);

/* What the command line does: 0 or a negative errno with the manager's own words. */
int control_evict(const char *run, const char *host, struct fault *f);

#endif /* FM_CONTROL_H */
