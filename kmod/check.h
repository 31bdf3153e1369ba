/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_CHECK_H
#define GPUFABRIC_CHECK_H

#include <linux/gpufabric.h>

#include "state.h"

/* Who claims a slot, seen from a request. */
enum gf_claim {
	GF_CLAIM_NONE,
	GF_CLAIM_OURS, /* the composition that the request names */
	GF_CLAIM_OTHER
};

/* What a request makes of one slot. */
enum gf_need {
	GF_NEED_NOTHING, /* it is as the request wants it */
	GF_NEED_ATTACH, /* power and enumerate it */
	GF_NEED_DETACH /* remove its functions and power it off */
};

/* What is known of a slot when a request is judged. */
struct gf_check {
	enum gf_state state;
	unsigned int flags; /* GPUFABRIC_SLOT_FLAG_* */
	int foreign; /* it holds something that is not a GPU */
	enum gf_claim claim;
	int busy; /* an operation is under way on it */
	int force; /* the request goes on although a composition claims the slot */
	int functions; /* there are functions in it */
	int has_generation; /* the request names one */
	int same_generation; /* and that is the slot's */
};

/* Pure. Return an enum gf_need, or a negative errno with *@why a text that says what to do. */
int gf_check_add(const struct gf_check *slot, const char **why);
int gf_check_remove(const struct gf_check *slot, const char **why);
int gf_check_keep(const struct gf_check *slot, const char **why);
int gf_check_drain(const struct gf_check *slot, const char **why);
int gf_check_abort(const struct gf_check *slot, const char **why);
int gf_check_clear(const struct gf_check *slot, const char **why);

/* Whether @name has the form of a composition's: [A-Za-z][A-Za-z0-9_.-]{0,62}. */
int gf_name_valid(const char *name);

#endif /* GPUFABRIC_CHECK_H */
