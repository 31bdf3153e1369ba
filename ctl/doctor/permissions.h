/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may write hooks, as text that a recorded tree can carry. */
#ifndef GPUCTL_DOCTOR_PERMISSIONS_H
#define GPUCTL_DOCTOR_PERMISSIONS_H

#include <stdbool.h>

enum permission_kind {
	PERMISSION_PLACE, /* hooks.d, or what is in it: where hooks should be */
	PERMISSION_HOOK, /* what is there; what follows is what its path leads through */
	PERMISSION_PART,
};

/**
 * struct permission - a line of that text
 * @kind: what it is about
 * @mode: type and permissions, 0 of a link that leads nowhere
 * @uid: owner
 * @path: of the place, the hook or the part
 */
struct permission {
	enum permission_kind kind;
	unsigned int mode, uid;
	char path[512];
};

/*
 * "place MODE UID PATH" for each entry of hooks.d, "hook MODE UID PATH" for each file in
 * there, and behind that "part MODE UID PATH" for it and each directory on the way, links
 * followed. Caller frees.
 */
char *permissions_read(const char *config_dir);
bool permissions_next(const char **text, struct permission *permission);
/* Whether others than root may write there, as attach and detach judge it. */
bool permissions_open(const struct permission *part);

#endif /* GPUCTL_DOCTOR_PERMISSIONS_H */
