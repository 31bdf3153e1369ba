/* SPDX-License-Identifier: GPL-2.0-only */
/* The process that speaks to the network, without rights. */
#ifndef GPUCTL_HUB_WORKER_H
#define GPUCTL_HUB_WORKER_H

#include <sys/types.h>

#include "hub/name.h"
#include "hub/settings.h"

/**
 * struct hub_work - a folder to fill
 * @settings, @name: from where
 * @known: commits that need not be asked for again, with blanks between them
 * @folder: descriptor of the folder
 * @owner: filled: who has filled it
 * @sha: filled: the commit
 */
struct hub_work {
	const struct hub_settings *settings;
	const struct hub_name *name;
	const char *known;
	int folder;
	uid_t owner;
	char sha[HUB_SHA_LENGTH + 1];
};

/*
 * Fills the folder, unless the commit is known. Returns enum ctl_exit, with the reason in @f.
 */
int hub_work(struct hub_work *work, struct fault *f);

/*
 * The file of a folder that is to be sized, "" for all of it. Where none was named that is
 * the only GGUF file of a model that has nothing else. Returns enum ctl_exit.
 */
int hub_pick_file(int folder, const struct hub_name *name, char file[HUB_FILE_MAX],
		  struct fault *f);

/* What the caller of the program is told, a line each. */
void hub_say(const char *what, const char *text);

#endif /* GPUCTL_HUB_WORKER_H */
