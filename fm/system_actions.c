// SPDX-License-Identifier: GPL-2.0-only
/* DOC: actions of a system: an admin says that a host is off. */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "fm/body.h"
#include "fm/fence.h"
#include "fm/service.h"

static void refuse_fault(int err, const struct fault *f, struct answer *answer)
{
	if (err == -ENOENT)
		answer_refuse(answer, 404, "ResourceMissingAtURI", NULL, NULL, "%s", f->text);
	else
		answer_refuse(answer, 409, "OperationFailed", NULL, NULL, "%s", f->text);
}

enum service_end system_evict(struct service *s, struct ask *ask, struct answer *answer)
{
	struct fault f = { "" };
	char *who;
	int err;

	if (ask->who.role != ROLE_ADMIN) {
		answer_refuse(answer, 403, "InsufficientPrivilege", NULL, NULL,
			      "%s may not say that a host is off: only an administrator may",
			      ask->who.name);
		return SERVICE_DONE;
	}
	if (!body_read_nothing(ask->body, ask->length, answer))
		return SERVICE_DONE;
	who = mem_printf("%s (%s) from %s", ask->who.name, account_role_name(ask->who.role),
			 ask->address);
	err = fence_evict(s->manager, ask->argument[0], who, &f);
	if (err)
		refuse_fault(err, &f, answer);
	else
		answer->status = 204;
	free(who);
	return SERVICE_DONE;
}
