/* SPDX-License-Identifier: GPL-2.0-only */
/* Who keeps a GPU busy: processes with one of its device nodes open or mapped. */
#ifndef GPUCTL_HOLDERS_H
#define GPUCTL_HOLDERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/ctl.h"
#include "cli/out.h"
#include "module/model.h"

/**
 * struct holder - a process, or something else, that holds a GPU
 * @slot: name of the slot, borrowed
 * @pid: process; 0 for what holds without one
 * @uid: its user
 * @command: its command line, shortened
 * @where: virtual machine that it is ("VM NAME"), unit or container that it belongs to, "-"
 *	when none
 * @paths: device nodes that it holds, ", " between them
 * @mapped: bytes of device memory that it has mapped
 */
struct holder {
	const char *slot;
	pid_t pid;
	uid_t uid;
	char *command;
	char *where;
	char *paths;
	uint64_t mapped;
};

struct holders {
	struct holder *items;
	size_t n;
	size_t unreadable; /* processes that could not be looked into */
};

/**
 * struct holders_roots - where to look; tests have their own
 * @proc: "/proc"
 * @sys: "/sys"
 */
struct holders_roots {
	const char *proc;
	const char *sys;
};

extern const struct holders_roots holders_system;

/* Look for holders of the GPUs in some slots; free with holders_free(). */
void holders_scan(const struct holders_roots *roots, const struct gf_slot *const *slots, size_t n,
		  struct holders *holders);
void holders_free(struct holders *holders);
/* Does anybody hold the GPU in slot @slot? */
bool holders_has(const struct holders *holders, const char *slot);

/* The table of holders, for people and in JSON as "holders". */
void holders_render(struct out *out, const struct holders *holders);

/*
 * Names of other slots whose GPUs the driver of these also drives, so that a
 * removal may disturb them; newly allocated, NULL when there are none.
 */
char *holders_at_risk(const struct gf_fabric *fabric, const struct gf_slot *const *slots, size_t n);

#endif /* GPUCTL_HOLDERS_H */
