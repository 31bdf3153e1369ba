/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups of GPUs with links of their own (NVLink, NVSwitch, XGMI) in a choice of slots. */
#ifndef GPUCTL_CHOOSE_GROUPS_H
#define GPUCTL_CHOOSE_GROUPS_H

#include "choose/choose.h"

/**
 * struct group - GPUs that share links
 * @name: as it was declared
 * @slots: how many slots with a card it has
 * @gpus: GPUs in these
 * @whole: all of them are free, or excluded by this request alone
 * @home: the composition has some of them
 */
struct group {
	const char *name;
	size_t slots;
	size_t gpus;
	bool whole;
	bool home;
};

/**
 * struct groups - those of all slots
 * @items: each of them
 * @n: how many
 * @of: number of each slot's group plus one, 0 for none
 */
struct groups {
	struct group *items;
	size_t n;
	size_t *of;
};

void groups_find(const struct choose_slot *slots, size_t n, const struct choose_request *request,
		 struct groups *groups);
void groups_free(struct groups *groups);

/* Does the composition have GPUs of this slot's group? */
bool groups_is_home(const struct groups *groups, size_t slot);

/* How many whole groups a set of slots takes only a part of. */
size_t groups_broken(const struct groups *groups, const size_t *picked, size_t n);
/*
 * How many parts a set has that no links connect to each other or to the composition: groups, and
 * single slots.
 */
size_t groups_parts(const struct groups *groups, const size_t *picked, size_t n);

/*
 * Where to look for @count GPUs besides everywhere: whole groups that make up that number, with
 * single slots or a part of one more where they do not. @try is told which of the @usable
 * slots that leaves, and by @rank in which order they are taken.
 */
typedef void (*groups_try_fn)(void *arg, const bool *within, const size_t *rank);
void groups_each(const struct groups *groups, const struct choose_slot *slots, const bool *usable,
		 size_t n, size_t count, groups_try_fn try, void *arg);

#endif /* GPUCTL_CHOOSE_GROUPS_H */
