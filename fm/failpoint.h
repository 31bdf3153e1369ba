/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a test lets the manager die: GPUFABRIC_FM_DIE=NAME kills it right after the QMP
 * command NAME was sent, before its answer; so do gfms-bind and gfms-unbind of a PAX, where
 * before-gfms-bind and after-gfms-bind are two more places; and before-put, after-put, before-pull and
 * after-pull, about the commands for a simulator's agent. Only in builds for tests.
 */
#ifndef FM_FAILPOINT_H
#define FM_FAILPOINT_H

#ifdef FM_FAILPOINTS
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static inline void failpoint(const char *name)
{
	const char *die = getenv("GPUFABRIC_FM_DIE");

	if (die && !strcmp(die, name))
		raise(SIGKILL);
}
#else
static inline void failpoint(const char *name)
{
	(void)name;
}
#endif

#endif /* FM_FAILPOINT_H */
