/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may do what: users with their passwords, and how often somebody may guess. */
#ifndef FM_ACCOUNT_H
#define FM_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define ACCOUNT_NAME_MAX 64
#define ACCOUNT_PASSWORD_MAX 128

enum account_role {
	ROLE_NONE,
	ROLE_ADMIN,
	ROLE_HOST, /* reads all, changes the zone of its name */
	ROLE_READER,
};

/**
 * struct account - who it is
 * @version: another one as soon as the password or the role is another; 0 without a password
 */
struct account {
	char name[ACCOUNT_NAME_MAX + 1];
	enum account_role role;
	uint64_t version;
};

const char *account_role_name(enum account_role role);
enum account_role account_role_read(const char *name);

/**
 * struct account_user - a line of the users file
 * @hash: as crypt(5) has it
 */
struct account_user {
	struct account account;
	char *hash;
};

/* The users file: NAME:ROLE:HASH a line, comments and empty lines. Free in either case. */
struct account_list {
	struct account_user *users;
	size_t count;
};

int account_parse(const char *file, const char *text, size_t len, struct account_list *list,
		  struct fault *f);
void account_free(struct account_list *list);
const struct account_user *account_find(const struct account_list *list, const char *name);

/* A new hash, NULL when the library cannot. A check takes as long for a user that is not there. */
char *account_hash(const char *password);
bool account_matches(const struct account_user *user, const char *password);

#define LIMIT_FAILURES 5
#define LIMIT_WINDOW_MS 60000
#define LIMIT_PLACES 512
#define LIMIT_KEY_MAX 96

/**
 * struct account_limit - who failed how often of late; the caller has a lock
 */
struct account_limit {
	struct account_failures {
		char key[LIMIT_KEY_MAX];
		unsigned int count;
		uint64_t first_ms;
	} place[LIMIT_PLACES];
};

/* What an address counts as: one of IPv6 as its network of 64 bits, which one machine may have. */
void limit_address(const char *address, char key[LIMIT_KEY_MAX]);

/* 0: go on; otherwise the number of milliseconds to wait. */
uint64_t limit_wait(const struct account_limit *limit, const char *key, uint64_t now);
void limit_failed(struct account_limit *limit, const char *key, uint64_t now);
void limit_good(struct account_limit *limit, const char *key);

#endif /* FM_ACCOUNT_H */
