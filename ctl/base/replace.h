/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that others read while they are written anew. */
#ifndef GPUCTL_REPLACE_H
#define GPUCTL_REPLACE_H

#include <sys/types.h>

/*
 * Put @text into the file @path: whoever opens it finds the old text or the new one, whole,
 * also after a power cut. A symbolic link is replaced, not followed. The new file is beside
 * the old one until then, under a name with a dot in front, which nobody reads that goes by
 * the name. Returns 0 or a negative errno; -EXDEV for a directory in which
 * anybody could exchange the file meanwhile, when root asks.
 */
int replace_file(const char *path, const char *text, mode_t mode);

/*
 * Keep other writers of the file out, from before they look at what they write: else the
 * one that looked first could write last. A descriptor to close, or a negative errno. The lock
 * is a file beside it, with a dot in front, that only its owner can open.
 */
int replace_lock(const char *path);

/* Words for such an error. */
const char *replace_error(int err);

/*
 * Remove the file; that there is none is no error. The directory is judged as above.
 */
int replace_remove(const char *path);

#endif /* GPUCTL_REPLACE_H */
