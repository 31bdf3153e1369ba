// SPDX-License-Identifier: GPL-2.0-only
/* Sessions: who has logged in gets a token. The transport has looked at the password before. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/service.h"

enum service_end session_create(struct service *s, struct ask *ask, struct answer *answer)
{
	struct access_session session;
	enum access_verdict verdict = access_begin(s->access, &ask->who, ask->address, &session);
	char *path;

	if (verdict == ACCESS_WRONG) {
		answer_refuse(answer, 401, "NoValidSession", NULL, NULL,
			      "the account has changed since you read it");
		return SERVICE_DONE;
	}
	if (verdict != ACCESS_GOOD) {
		answer_refuse(answer, 503, "SessionLimitExceeded", NULL, NULL,
			      "too many sessions: end one, or wait for one to time out");
		answer->retry_s = 30;
		return SERVICE_DONE;
	}
	path = mem_printf(SERVICE_ROOT "/SessionService/Sessions/%llu",
			  (unsigned long long)session.id);
	answer->status = 201;
	answer->token = mem_strdup(session.token);
	answer->body = json_object_new_object();
	document_head(answer->body, path, "#Session.v1_5_0.Session", strrchr(path, '/') + 1,
		      strrchr(path, '/') + 1);
	document_text(answer->body, "UserName", session.account.name);
	json_object_object_add(answer->body, "Password", NULL);
	answer->location = path;
	explicit_bzero(&session, sizeof(session));
	return SERVICE_DONE;
}

enum service_end session_delete(struct service *s, struct ask *ask, struct answer *answer)
{
	uint64_t id;

	/* one's own or an administrator's: others are not even there, see its document */
	if (service_number(ask->argument[0], &id) && access_end(s->access, id))
		answer->status = 204;
	else
		answer_refuse(answer, 404, "ResourceMissingAtURI", NULL, ask->path,
			      "this session does not exist");
	return SERVICE_DONE;
}
