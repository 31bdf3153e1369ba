/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a test lets the manager die: GPUFABRIC_FM_DIE=NAME kills it right after the QMP
 * command NAME was sent, before its answer; so do gfms-bind and gfms-unbind of a PAX, where
 * before-gfms-bind and after-gfms-bind are two more places; before-put, after-put, before-pull and
 * after-pull, about the commands for a simulator's agent; and intent-written, step-done, undo-done and
 * intent-removed. NAME:3 is the third time. Only in builds for tests.
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
	size_t len = strlen(name);
	static int times;

	if (die && !strncmp(die, name, len) && (!die[len] || die[len] == ':') &&
	    ++times >= (die[len] ? atoi(die + len + 1) : 1))
		raise(SIGKILL);
}
#else
static inline void failpoint(const char *name)
{
	(void)name;
}
#endif

#endif /* FM_FAILPOINT_H */
