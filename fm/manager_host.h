/* SPDX-License-Identifier: GPL-2.0-only */
/* A host's thread, as the files of the manager know it. */
#ifndef FM_MANAGER_HOST_H
#define FM_MANAGER_HOST_H

#include "fm/manager.h"

/**
 * struct manager_host - a host's thread
 * @first_port: of the fabric's numbers, those of the host follow
 * @task: carried out with @txn; NULL when there is nothing to do; covered by the manager's lock
 * @wake: there is something to do
 * @fence_at: when its fence program is asked again
 * @complained: that it does not answer was said
 * @undo: steps of a request that was under way when the manager died, @undo_count of them; covered by
 *	the manager's lock. As long as there are any the host is busy
 * @unforgotten: a note may still have steps of it, although it is off; covered by @recovering of the
 *	manager
 * @cut_off: the last step failed because the host went away
 */
struct manager_host {
	struct manager *manager;
	int index;
	int first_port;
	struct link *link;
	pthread_t thread;
	bool started;
	struct task *task;
	struct fabric_txn txn;
	struct fabric_step *undo;
	size_t undo_count;
	bool unforgotten;
	int wake;
	uint64_t fence_at;
	bool complained, cut_off;
};

#endif /* FM_MANAGER_HOST_H */
