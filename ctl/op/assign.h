/* SPDX-License-Identifier: GPL-2.0-only */
/* Cards of a fabric's pool: brought to empty slots for a request, and given back when it fails. */
#ifndef GPUCTL_ASSIGN_H
#define GPUCTL_ASSIGN_H

#include "op/hooks.h"
#include "op/terms.h"

struct op;

/**
 * struct assigned - cards that a request gets from the fabric
 * @assign: hooks that bring them
 * @unassign: hooks that give them back
 * @about: the request's slots, as they were before; empty when no card is brought
 * @brings: of each slot: it was empty and gets a card
 * @n: number of slots that get a card
 * @begun: the hooks were called, so there may be something to give back
 */
struct assigned {
	struct hooks assign;
	struct hooks unassign;
	struct hook_slots about;
	bool *brings;
	size_t n;
	bool begun;
};

/*
 * Have the hooks bring a card to each empty slot among these, if there are such hooks, and
 * wait until all are there, as long as @terms say. All or none: after a failure nothing stays
 * assigned, and nothing is to be freed. Without empty slots or hooks nothing happens, and
 * @assigned->n is 0. Otherwise the snapshot is new, so slots have to be looked up again. With
 * -n it is said what would be brought, and nothing else happens.
 */
int assigned_bring(struct session *session, struct assigned *assigned, const struct op_terms *terms,
		   struct gf_slot *const *slots, size_t n);

/* CTL_DONE, or what befell a card on its way, in place of the error that follows from it. */
int assigned_check(struct session *session, const struct assigned *assigned);

/*
 * The request failed, whose error is in the context and stays there: wait until nothing goes on in
 * its slots, power off what has come up, have the pre-attach hooks of its operation @op (NULL:
 * there is none yet) take back what they did, and give the cards back. What came of it is added
 * to the error. A signal does not stop this.
 */
void assigned_return(struct session *session, struct assigned *assigned,
		     const struct op_terms *terms, struct op *op);
void assigned_free(struct assigned *assigned);

#endif /* GPUCTL_ASSIGN_H */
