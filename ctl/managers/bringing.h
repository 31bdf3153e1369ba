/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots whose GPUs a request is bringing or removing: others leave these slots alone meanwhile. */
#ifndef GPUCTL_MANAGERS_BRINGING_H
#define GPUCTL_MANAGERS_BRINGING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/tree.h"
#include "cli/ctl.h"
#include "module/model.h"

/**
 * struct bringing - slots that this process has for itself; all zero for none
 * @fds: of each, negative for a slot that it does not have; @n of them
 * @names: of each
 */
struct bringing {
	int *fds;
	char **names;
	size_t n;
};

/*
 * Have the slots with @which set (NULL: all) of @n @names until bringing_end(), or until this
 * process ends; all or none. CTL_BUSY when another request has one of them; it is not waited for.
 * After an error nothing is to be freed.
 */
int bringing_begin(struct ctl_ctx *ctx, struct bringing *bringing, char *const *names,
		   const bool *which, size_t n);
void bringing_end(struct bringing *bringing);

/*
 * While a request claims a GPU that is here, nobody takes that to the fabric: until bringing_end().
 * CTL_BUSY when somebody does. May be called for one slot after the other.
 */
int bringing_keep(struct ctl_ctx *ctx, struct bringing *bringing, const char *name);

/* Has no other request this slot now? */
bool bringing_is_free(const char *name);

/*
 * A card that was put in just now is powered on by the slot driver, and the module hears of it
 * when it has functions: the port knows before. An assign hook that was stopped leaves such.
 */
bool bringing_is_coming(const struct tree *tree, const struct gf_slot *slot);

/*
 * One slot, with files in the folder @dir, which is made: what is to be closed, or a negative
 * errno; -EWOULDBLOCK when somebody else has it.
 */
int bringing_take(const char *dir, const char *name);

/*
 * Has nobody that slot? And: keep others from having it, beside those who keep it as well; what is to
 * be closed, or a negative errno. Neither makes a file: without one nobody has ever had the slot.
 */
bool bringing_look(const char *dir, const char *name);
int bringing_share(const char *dir, const char *name);

#endif /* GPUCTL_MANAGERS_BRINGING_H */
