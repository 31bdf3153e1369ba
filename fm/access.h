/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is asking: passwords, sessions, limits of guessing. Any thread may call these. */
#ifndef FM_ACCESS_H
#define FM_ACCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fm/account.h"
#include "fm/config.h"

#define ACCESS_SESSIONS 64
#define ACCESS_SESSIONS_EACH 16
#define ACCESS_TOKEN 33
#define ACCESS_ADDRESS 64
#define ACCESS_CACHE 64

/**
 * struct access_session - a session; @id 0 for none
 */
struct access_session {
	uint64_t id;
	struct account account;
	char token[ACCESS_TOKEN];
	char address[ACCESS_ADDRESS];
	uint64_t begun_ms, used_ms;
};

struct access_known {
	unsigned char digest[32];
	struct account account;
	uint64_t until_ms;
};

/**
 * struct access - all of it
 * @lock: covers everything below it
 * @path: of the file with passwords; read again when it has changed
 * @last_version: of an account; each password that is new gets the next one
 * @trouble: with the file, to be said
 * @known: digests, with a secret of this run, of what was found to be right of late: hashing takes
 * long
 */
struct access {
	pthread_mutex_t lock;
	char *path;
	uint64_t session_ms;
	struct account_list users;
	uint64_t last_version;
	int64_t stamp[4];
	struct fault trouble;
	struct account_limit limit;
	struct access_session sessions[ACCESS_SESSIONS];
	uint64_t last_session;
	struct access_known known[ACCESS_CACHE];
	unsigned char secret[32];
};

enum access_verdict {
	ACCESS_GOOD,
	ACCESS_WRONG,
	ACCESS_WAIT, /* too many failures */
};

int access_open(struct access *access, const struct config *config, struct fault *f);
void access_close(struct access *access);

/* Was this found to be right of late? Takes no time. */
bool access_is_known(struct access *access, const char *user, const char *password,
		     struct account *account);
/* Takes as long as a hash. @wait_s is filled for ACCESS_WAIT. */
enum access_verdict access_check(struct access *access, const char *user, const char *password,
				 const char *address, struct account *account,
				 unsigned int *wait_s);

/* A session. ACCESS_WAIT: there are too many; ACCESS_WRONG: the account has changed since you read it. */
enum access_verdict access_begin(struct access *access, const struct account *account,
				 const char *address, struct access_session *session);
/* Of this token, which is used thereby. */
bool access_use(struct access *access, const char *token, struct access_session *session);
bool access_end(struct access *access, uint64_t id);
/* Is it as it was? A session, which is used thereby, or an account with a password. */
bool access_holds(struct access *access, const struct account *account, uint64_t session);
/* A copy of all; returns how many. */
size_t access_list(struct access *access, struct access_session sessions[ACCESS_SESSIONS]);
/* A copy of the accounts with passwords; the caller frees. */
size_t access_accounts(struct access *access, struct account **accounts);

#endif /* FM_ACCESS_H */
