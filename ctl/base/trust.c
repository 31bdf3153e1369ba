// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: trust
 *
 * Programs that we run and files that say whom we speak to act with our rights. So one that
 * others may write, or that lies where others may put it, is refused.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/trust.h"

static bool is_ours(uid_t uid)
{
	return !uid || uid == geteuid();
}

static bool others_may_write(const struct stat *st)
{
	return !is_ours(st->st_uid) ||
	       (st->st_mode & 0022 && !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX));
}

int trust_path(const char *path, struct fault *f)
{
	char *real = realpath(path, NULL), *end;
	struct stat st;
	int err = 0;

	if (!real)
		return fault_set(f, errno, "%s: %s", path, strerror(errno));
	for (end = real + strlen(real); !err; end = strrchr(real, '/')) {
		*(end == real ? end + 1 : end) = '\0';
		if (stat(real, &st))
			err = fault_set(f, errno, "%s: %s", real, strerror(errno));
		else if (others_may_write(&st))
			err = fault_set(f, EPERM,
					"users other than root may write %s: chown root, chmod go-w",
					real);
		if (end == real)
			break;
	}
	free(real);
	return err;
}

int trust_secret(const char *path, struct fault *f)
{
	struct stat st;

	if (stat(path, &st))
		return fault_set(f, errno, "%s: %s", path, strerror(errno));
	if (st.st_mode & 0077)
		return fault_set(f, EPERM, "users other than root may read %s: chmod 600", path);
	return trust_path(path, f);
}
