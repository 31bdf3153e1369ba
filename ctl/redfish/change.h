/* SPDX-License-Identifier: GPL-2.0-only */
/* Binding GPUs to our host and unbinding them, until it is known what came of it. */
#ifndef GPUCTL_REDFISH_CHANGE_H
#define GPUCTL_REDFISH_CHANGE_H

#include "redfish/view.h"

/**
 * struct change - what is asked for, and what came of it
 * @bind: or unbind
 * @wishes: @n of them
 * @asked: some of it may have been made by a request of this change: before that a GPU that this
 *	host has already is another request's
 * @lost: nobody knows what became of a request of it
 * @under_way: the manager was at it when it was last heard of
 * @outcome: filled
 * @taken: Id of a GPU that somebody else has, NULL for none; borrowed from @wishes
 * @taker: who it is, NULL where that is not known; owned
 */
struct change {
	bool bind;
	const struct wish *wishes;
	size_t n;
	bool asked;
	bool lost;
	bool under_way;
	enum change_outcome outcome;
	const char *taken;
	char *taker;
};

/*
 * Ask for it and see it through: enum ctl_exit with the reason in @f. @view has been opened;
 * the GPUs of the change are in it afterwards, as they were seen last.
 */
int change_make(struct view *view, struct change *change, struct fault *f);

/*
 * One request for it, by the way of the configuration; see client_change(). @change->asked is set
 * when the first of several actions was done.
 */
int way_ask(struct view *view, struct change *change, struct answer *answer, struct fault *f);

/* Is a GPU as the change wants it, and can that be this change's doing? */
bool change_is_met(const struct view *view, const struct change *change, size_t i);

#endif /* GPUCTL_REDFISH_CHANGE_H */
