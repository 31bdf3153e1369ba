/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hooks: programs of the admin around attach and detach, in
 * hooks.d/NAME.d of the configuration directory.
 */
#ifndef GPUCTL_HOOKS_H
#define GPUCTL_HOOKS_H

#include "session/session.h"

/* Names of hooks; the directory is NAME.d. */
#define HOOK_PRE_ATTACH "pre-attach"
#define HOOK_POST_ATTACH "post-attach"
#define HOOK_PRE_DETACH "pre-detach"
#define HOOK_POST_DETACH "post-detach"
#define HOOK_ASSIGN "assign"
#define HOOK_UNASSIGN "unassign"
#define HOOK_RESIZE "resize"
/* What the programs of pre-detach.d are called with to take back what they did. */
#define HOOK_ABORT_DETACH "abort-detach"

/**
 * struct hooks - the programs of one hook
 * @name: of the hook
 * @programs: paths, in the order in which they run
 * @n: how many; 0 for most hosts
 * @ran: how many of them have been started
 * @together: a program is called once for all slots of a request, which are its arguments,
 *	and not once for each of them
 */
struct hooks {
	const char *name;
	char **programs;
	size_t n;
	size_t ran;
	bool together;
};

/**
 * struct hook_slots - what the programs are told of some slots
 * @names: of the slots
 * @env: environment of each, as before the change
 * @n: how many
 * @composition: that a program which is called once is told of; NULL for none, owned
 * @gpus: number of GPUs that it has then
 */
struct hook_slots {
	char **names;
	char ***env;
	size_t n;
	char *composition;
	size_t gpus;
};

/* How programs that fail are taken. */
enum hooks_failure {
	HOOKS_STOP, /* the first failure is an error */
	HOOKS_GO_ON, /* a warning, and the next program */
	HOOKS_SEE_THROUGH, /* likewise, and one signal alone stops none of them */
};

/*
 * Look a hook's programs up. One that somebody else may write than root and
 * who runs us makes it CTL_DENIED.
 */
int hooks_find(struct ctl_ctx *ctx, const char *name, struct hooks *hooks);
/* Is there a hook of that name? */
bool hooks_is_name(const char *name);
void hooks_free(struct hooks *hooks);

/* Longest time that the programs take for any number of slots, in milliseconds. */
uint64_t hooks_budget(const struct hooks *hooks);

/* Remember what the programs will be told, @reason (NULL for none) with it; reads the catalogue. */
int hook_slots_init(struct session *session, const char *reason, struct gf_slot *const *slots,
		    size_t n, struct hook_slots *about);
void hook_slots_free(struct hook_slots *about);

/*
 * Run the programs one after the other, each for all slots side by side, or together; only
 * for those with @which set, unless that is NULL.
 */
int hooks_run(struct ctl_ctx *ctx, struct hooks *hooks, const struct hook_slots *about,
	      const bool *which, enum hooks_failure failure);

/*
 * The same with an action that is not the hook's name.
 */
void hooks_tell(struct ctl_ctx *ctx, struct hooks *hooks, const char *action,
		const struct hook_slots *about, const bool *which, enum hooks_failure failure);

/* Call those that ran again, last first, with another action; failures are warnings. */
void hooks_undo(struct ctl_ctx *ctx, struct hooks *hooks, const char *action,
		const struct hook_slots *about, const bool *which);

/*
 * Have the unassign hooks give cards back to the fabric. All of them run, whatever the others
 * do, and no signal stops them. Returns NULL, or what went wrong with the commands that
 * do it by hand, in lines; caller frees.
 */
char *hooks_give_back(struct ctl_ctx *ctx, struct hooks *unassign, const struct hook_slots *about,
		      const bool *which);

/* "101, 103": names of the slots with @which set; caller frees. */
char *hook_slots_text(const struct hook_slots *about, const bool *which, const char *separator);

/* For -n: say which would run. */
void hooks_render(struct ctl_ctx *ctx, const struct hooks *hooks);

#endif /* GPUCTL_HOOKS_H */
