/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may write hooks, as text that a recorded tree can carry. */
#ifndef GPUCTL_DOCTOR_PERMISSIONS_H
#define GPUCTL_DOCTOR_PERMISSIONS_H

#include <stdbool.h>

/**
 * struct permission - a line of that text
 * @hook: it begins a hook; what follows is what its path leads through
 * @mode: type and permissions
 * @uid: owner
 * @path: of the hook, or of the part
 */
struct permission {
	bool hook;
	unsigned int mode, uid;
	char path[512];
};

/*
 * "hook MODE UID PATH" for each file in hooks.d, and behind it "part MODE UID PATH" for
 * it and each directory on the way, links followed. Caller frees.
 */
char *permissions_read(const char *config_dir);
bool permissions_next(const char **text, struct permission *permission);
/* Whether others than root may write there, as attach and detach judge it. */
bool permissions_open(const struct permission *part);

#endif /* GPUCTL_DOCTOR_PERMISSIONS_H */
