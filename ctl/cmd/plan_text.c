// SPDX-License-Identifier: GPL-2.0-only
/* DOC: files as a whole, see plan_text.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/plan_text.h"
#include "plan/file.h"

int plan_text(struct ctl_ctx *ctx, const char *name, char **text, size_t *len)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	size_t room = 0, n;
	int err;

	*text = NULL;
	*len = 0;
	if (!file)
		return ctl_fail(ctx, CTL_USAGE, "%s: %s", name, strerror(errno));
	errno = 0;
	do {
		if (*len == room) {
			room = room ? 2 * room : 65536;
			*text = mem_grow(*text, room, 1);
		}
		n = fread(*text + *len, 1, room - *len, file);
		*len += n;
	} while (n && *len <= PLAN_FILE_MAX);
	err = ferror(file) ? errno : 0;
	if (file != stdin)
		fclose(file);
	if (err)
		return ctl_fail(ctx, CTL_USAGE, "%s: %s", name, strerror(err));
	if (*len > PLAN_FILE_MAX)
		return ctl_fail(ctx, CTL_USAGE, "%s: larger than 1 GiB", name);
	return CTL_DONE;
}
