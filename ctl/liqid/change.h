/* SPDX-License-Identifier: GPL-2.0-only */
/* Binding GPUs to our machine and unbinding them, until it is known what came of it. */
#ifndef GPUCTL_LIQID_CHANGE_H
#define GPUCTL_LIQID_CHANGE_H

#include "liqid/director.h"

/**
 * struct edit - a change of our machine
 * @client: asks
 * @seen: what was read last
 * @bind: or unbind
 * @wishes: @n of them; @todo says which are to be made, NULL before that is known
 * @name: what the director calls us as who edits, NULL before that is known
 * @open: edit mode was granted to us, and as far as we know it has not ended
 * @tried: a reprogram may have been made
 * @outcome, @taken, @taker: as in struct job_outcome; @taken is borrowed from @wishes, @taker owned
 */
struct edit {
	struct client *client;
	struct liqid_seen seen;
	bool bind;
	const struct wish *wishes;
	size_t n;
	bool *todo;
	char *name;
	bool open;
	bool tried;
	enum change_outcome outcome;
	const char *taken;
	char *taker;
};

/* Sees it through: enum ctl_exit with the reason in @f; edit_free() in either case. */
int edit_make(struct edit *edit, struct fault *f);
void edit_free(struct edit *edit);

#endif /* GPUCTL_LIQID_CHANGE_H */
