/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_CHECK_H
#define GPUFABRIC_CHECK_H

#include <linux/gpufabric.h>

#include "state.h"

/**
 * enum gf_claim - who claims a slot, seen from a request
 * @GF_CLAIM_NONE: nobody
 * @GF_CLAIM_OURS: the composition that the request names
 * @GF_CLAIM_OTHER: another composition
 */
enum gf_claim {
	GF_CLAIM_NONE,
	GF_CLAIM_OURS,
	GF_CLAIM_OTHER
};

/**
 * enum gf_need - what a request makes of one slot
 * @GF_NEED_NOTHING: the slot is as the request wants it
 * @GF_NEED_ATTACH: power and enumerate it
 * @GF_NEED_DETACH: remove its functions and power it off
 */
enum gf_need {
	GF_NEED_NOTHING,
	GF_NEED_ATTACH,
	GF_NEED_DETACH
};

/**
 * struct gf_check - what is known of a slot when a request is judged
 * @state: its state
 * @flags: GPUFABRIC_SLOT_FLAG_*
 * @foreign: it holds something that is not a GPU
 * @claim: who claims it
 * @busy: an operation is under way on it
 * @force: the request goes on although a composition claims the slot
 * @functions: there are functions in it
 * @has_generation: the request names a generation
 * @same_generation: and that is the slot's
 */
struct gf_check {
	enum gf_state state;
	unsigned int flags;
	int foreign;
	enum gf_claim claim;
	int busy;
	int force;
	int functions;
	int has_generation;
	int same_generation;
};

/*
 * Judge one slot of a request. Pure. Return an enum gf_need, or a negative
 * errno with *@why a constant text that says what to do.
 */
int gf_check_add(const struct gf_check *slot, const char **why);
int gf_check_remove(const struct gf_check *slot, const char **why);
int gf_check_drain(const struct gf_check *slot, const char **why);
int gf_check_clear(const struct gf_check *slot, const char **why);

/**
 * gf_name_valid() - check the form of a composition's name
 * @name: NUL-terminated text
 *
 * Return: 1 for [A-Za-z][A-Za-z0-9_.-]{0,62}, else 0.
 */
int gf_name_valid(const char *name);

#endif /* GPUFABRIC_CHECK_H */
