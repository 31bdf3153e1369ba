/* SPDX-License-Identifier: GPL-2.0-only */
/* Cards of a fabric's pool: brought to empty slots for a request, and given back when it fails. */
#ifndef GPUCTL_ASSIGN_H
#define GPUCTL_ASSIGN_H

#include "op/bringer.h"
#include "managers/bringing.h"
#include "op/terms.h"

struct op;

/* Who was faster with what a request wanted, and made it fail. */
enum assigned_rival {
	ASSIGNED_NO_RIVAL,
	ASSIGNED_RIVAL_HERE, /* another request of this host, with a slot */
	ASSIGNED_RIVAL_HOST, /* whoever else asks the manager, with a GPU */
};

/**
 * struct assigned - cards that a request gets from the fabric
 * @bringers: who brings them and takes them back
 * @wishes: of each slot, what card it is to get
 * @about: the request's slots, as they were before; empty when no card is brought
 * @brings: of each slot: it was empty and gets a card
 * @n: number of slots that get a card
 * @begun: somebody may have been asked to bring them, see @begun of each bringer
 * @rival: of assigned_bring() that failed; stays when all else is freed
 * @bringing: the slots with @brings set, until it is freed
 */
struct assigned {
	struct bringers bringers;
	struct bring_wish *wishes;
	struct hook_slots about;
	bool *brings;
	size_t n;
	bool begun;
	enum assigned_rival rival;
	struct bringing bringing;
};

/*
 * Have a card brought to each empty slot among these, if a fabric manager or hooks would, and
 * wait until all are there, as long as @terms say. @wishes: of each slot, NULL for any card, or
 * of the kind that the admin has declared. All or none: after a failure nothing stays
 * assigned, and nothing is to be freed. Without empty slots or somebody who brings
 * cards nothing happens, and @assigned->n is 0. Otherwise the snapshot is new, so slots have to
 * be looked up again. With -n it is said what would be brought, and nothing else happens.
 */
int assigned_bring(struct session *session, struct assigned *assigned, const struct op_terms *terms,
		   struct gf_slot *const *slots, const struct bring_wish *wishes, size_t n);

/*
 * Attach the slots of a request, of the snapshot that is new after their cards were brought. When
 * it fails all that was brought is given back. Without cards that were brought it is an attach as
 * any other.
 */
int assigned_attach(struct session *session, struct assigned *assigned,
		    const struct op_terms *terms, struct gf_slot *const *slots, size_t n);

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
