/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of several steps: noted before they are carried out, and undone by the next start. */
#ifndef FM_RECOVER_H
#define FM_RECOVER_H

#include "fm/manager_host.h"

/* Whether notes can be read and are as @m has them: a reload is refused while they are not. */
int recover_may_begin(struct manager *m, struct fault *f);
/* What a run before has left. No thread is there yet. */
int recover_begin(struct manager *m, struct fault *f);
void recover_free(struct manager *m);

/*
 * The host answers: undo what is to be undone there, and forget it on disk, however long that takes. An
 * error of the driver when the host went away meanwhile, -ECANCELED when the manager stops. Called by the
 * host's thread.
 */
int recover_host(struct manager_host *h, int (*look)(struct manager_host *h, struct fault *f),
		 struct fault *f);
/* The host is off: there is nothing to undo. The caller holds the manager's lock. */
void recover_drop(struct manager_host *h);
/* The same on disk, after it. Without the manager's lock. */
void recover_forget(struct manager_host *h);
/* Not before that is done: a host that is back takes requests. Called by the host's thread. */
int recover_may_look(struct manager_host *h, struct fault *f);

/* The task's steps are about to be done; false with the reason when that cannot be noted. */
bool intent_begin(struct manager_host *h, struct fault *f);
/* The last one to end forgets the intent; the others wait for that. */
void intent_end(struct manager_host *h);
/* Once a second or so: writes and removes what could not be written or removed then. */
void intents_tick(struct manager *m);
/* Of requests that are over @m knows what @old knew, so that it undoes none of them. */
void intents_follow(struct manager *m, const struct manager *old);

#endif /* FM_RECOVER_H */
