/* SPDX-License-Identifier: GPL-2.0-only */
/* A systemd scope around a command, so that what it starts can be found and ended. */
#ifndef GPUCTL_SCOPE_H
#define GPUCTL_SCOPE_H

#include <stdbool.h>

/*
 * Name of the scope for the command of a composition, gpufabric-run-NAME.scope, with our
 * pid behind NAME when a scope of that name is still there; caller frees. NULL where
 * systemd is not in charge, or not for us: the command then runs without one.
 */
char *scope_name(const char *composition);

/*
 * Become the command, inside the scope @name (NULL: without one). Returns only when it
 * cannot be run, with the errno that says why. It stays the same process, so a
 * parent-death signal that was set before holds.
 */
int scope_exec(const char *name, char *const *argv);

/*
 * End what is left in the scope, by force after some seconds; @name may be NULL. False
 * when something did not end.
 */
bool scope_stop(const char *name);

/* Whether execvp() would find a program: 0 or its errno. */
int scope_find(const char *program);

#endif /* GPUCTL_SCOPE_H */
