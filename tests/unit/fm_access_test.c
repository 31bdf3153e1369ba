// SPDX-License-Identifier: GPL-2.0-only
// sources: fm/access.c fm/account.c fm/agent.c fm/channel.c fm/config.c fm/journal.c ctl/base/conf.c ctl/base/text.c ctl/base/fault.c
// packages: gnutls libcrypt libsystemd
/*
 * Sessions of the fabric manager: one that several requests use at a time lives as long as it is
 * used, whichever of them looked at the clock last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/access.h"
#include "fm/config.h"
#include "tap.h"

static uint64_t *used_of(struct access *access, const struct access_session *session)
{
	static uint64_t nowhere;
	size_t i;

	for (i = 0; i < ACCESS_SESSIONS; i++)
		if (access->sessions[i].id == session->id)
			return &access->sessions[i].used_ms;
	return &nowhere;
}

int main(void)
{
	char folder[] = "/tmp/fm_access.XXXXXX", *path;
	struct config config = { .folder = folder, .session_ms = 1000 };
	struct access_session session, again;
	struct account account;
	struct access access, later;
	struct fault fault = { "" };
	unsigned int wait_s;
	char *hash;
	FILE *file;

	if (!mkdtemp(folder))
		return 1;
	path = mem_printf("%s/passwords", folder);
	hash = account_hash("correct horse");
	file = fopen(path, "w");
	if (!file || !hash)
		return 1;
	fprintf(file, "reader:ReadOnly:%s\n", hash);
	fclose(file);
	chmod(path, 0600);
	is_int(access_open(&access, &config, &fault), 0, "accounts are read");
	is_int(access_check(&access, "reader", "correct horse", "192.0.2.1", &account, &wait_s), ACCESS_GOOD, "the password is right");
	is_int(access_begin(&access, &account, "192.0.2.1", &session), ACCESS_GOOD, "a session begins");
	ok(access_use(&access, session.token, &again), "it can be used");
	is_int(access_open(&later, &config, &fault), 0, "a manager that starts again");
	is_int(access_begin(&later, &account, "192.0.2.1", &again), ACCESS_GOOD, "has sessions");
	ok(!access_end(&later, session.id), "and none of them has the number of one before the start");
	access_close(&later);
	/* Somebody who came later had the lock first. */
	*used_of(&access, &session) = text_monotonic() + 500;
	ok(access_use(&access, session.token, &again), "as it can by who looked at the clock before another used it");
	*used_of(&access, &session) = text_monotonic() - 1001;
	ok(!access_use(&access, session.token, &again), "it ends when nobody uses it");
	access_close(&access);
	unlink(path);
	rmdir(folder);
	free(path);
	free(hash);
	return tap_done();
}
