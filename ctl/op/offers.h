/* SPDX-License-Identifier: GPL-2.0-only */
/* GPUs that fabric managers offer, and which of them a request should have. */
#ifndef GPUCTL_OFFERS_H
#define GPUCTL_OFFERS_H

#include "choose/handover.h"
#include "choose/request.h"
#include "managers/manager.h"
#include "op/terms.h"
#include "session/session.h"

/**
 * struct offers - of all managers of this host
 * @managers: as they are configured
 * @list: of each manager, once it was asked
 */
struct offers {
	struct managers managers;
	struct manager_asked *list;
};

/**
 * struct supply_for - a request that this host alone cannot serve
 * @terms: on what terms
 * @ask: which GPUs
 * @to: whom they go to
 * @name: of its composition, which exists when it is resized
 * @waits: when it does not fit now it is made again later
 */
struct supply_for {
	const struct op_terms *terms;
	const struct gpu_request *ask;
	const struct handover_to *to;
	const char *name;
	bool waits;
};

/**
 * struct offers_choice - what a request should have
 * @slots: empty slots that should get a GPU
 * @kinds: the kind of each, as pool_gpu_is() takes it; @n of them
 * @here: slots of this host beside them, @n_here of them
 * @why: why, in words
 */
struct offers_choice {
	char **slots;
	char **kinds;
	size_t n;
	char **here;
	size_t n_here;
	char *why;
};

void offers_load(struct session *session, struct offers *offers);

/* Ask each manager; one that cannot be asked offers nothing, and its error stays with it. */
void offers_ask(struct session *session, struct offers *offers);
void offers_free(struct offers *offers);

/* Empty slots that can get a GPU, as far as this host knows. */
size_t offers_count_slots(const struct session *session, const struct offers *offers,
			  const struct gpu_request *ask);

/*
 * Choose among the GPUs of this host and those that managers can bind to its empty slots; @later:
 * that others give back as well, here and there. CTL_DONE or CTL_NO_FIT, without an error in the
 * context, or another error.
 */
int offers_choose(struct session *session, const struct offers *offers,
		  const struct supply_for *request, bool later, struct offers_choice *choice);
void offers_choice_free(struct offers_choice *choice);

/*
 * Why they do not serve a request, where @kind (NULL: any) is missing; with enum ctl_exit. What befell
 * a manager is that of the request only where no other one answers, and where it does not wait.
 */
int offers_refuse(struct session *session, const struct offers *offers,
		  const struct supply_for *request, const char *kind);

#endif /* GPUCTL_OFFERS_H */
