// SPDX-License-Identifier: GPL-2.0-only
/* DOC: few rights for who speaks to the network, see rights.h. */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "web/rights.h"

#define NOBODY 65534
#define MEMORY_MAX (1ull << 30)
#define FILES_MAX 64

const struct passwd *web_nobody(void)
{
	static const struct passwd usual = { .pw_uid = NOBODY, .pw_gid = NOBODY };
	const struct passwd *nobody = getpwnam("nobody");

	return nobody && nobody->pw_uid ? nobody : &usual;
}

static void rights_limit(int what, rlim_t most)
{
	const struct rlimit limit = { most, most };

	setrlimit(what, &limit);
}

int web_give_up_rights(const struct passwd *nobody)
{
	if (nobody &&
	    (setgroups(0, NULL) || setresgid(nobody->pw_gid, nobody->pw_gid, nobody->pw_gid) ||
	     setresuid(nobody->pw_uid, nobody->pw_uid, nobody->pw_uid)))
		return errno;
	/* nobody else of that user may look at what we know */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return errno;
	rights_limit(RLIMIT_CORE, 0);
	rights_limit(RLIMIT_AS, MEMORY_MAX);
	rights_limit(RLIMIT_NOFILE, FILES_MAX);
	return geteuid() && nobody && !setuid(0) ? EPERM : 0;
}
