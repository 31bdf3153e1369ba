// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: accounts and guesses
 *
 * Passwords are hashed by the C library's crypt (yescrypt), never here. Guesses are limited by
 * account and by address: after five failures within a minute both wait until that minute is over,
 * and nothing is hashed for them meanwhile.
 */
#include <arpa/inet.h>
#include <crypt.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/account.h"
#include "fm/config.h"

#define USERS_MAX 256

static const char *const role_names[] = {
	[ROLE_ADMIN] = "Administrator",
	[ROLE_HOST] = "Host",
	[ROLE_READER] = "ReadOnly",
};

const char *account_role_name(enum account_role role)
{
	return role == ROLE_NONE ? "None" : role_names[role];
}

enum account_role account_role_read(const char *name)
{
	enum account_role role;

	for (role = ROLE_ADMIN; role <= ROLE_READER; role++)
		if (!strcmp(name, role_names[role]))
			return role;
	return ROLE_NONE;
}

static int account_line(struct account_list *list, char *line, struct fault *f)
{
	char *name = strsep(&line, ":"), *role = strsep(&line, ":");
	struct account_user *user;

	if (!role || !line || !*line || strchr(line, ':') || strlen(line) > CRYPT_OUTPUT_SIZE)
		return fault_set(f, EINVAL,
				 "not NAME:ROLE:HASH; gpufabric-fm passwd writes such lines");
	if (!config_name_valid(name))
		return fault_set(f, EINVAL, "\"%.80s\" is not a valid name", name);
	if (account_role_read(role) == ROLE_NONE)
		return fault_set(f, EINVAL, "\"%.80s\" is none of Administrator, Host and ReadOnly",
				 role);
	if (account_find(list, name))
		return fault_set(f, EINVAL, "%s appears twice", name);
	if (list->count == USERS_MAX)
		return fault_set(f, E2BIG, "more than %d users", USERS_MAX);
	list->users = mem_push(list->users, list->count, sizeof(*list->users));
	user = &list->users[list->count++];
	*user = (struct account_user){ .account.role = account_role_read(role),
				       .hash = mem_strdup(line) };
	strcpy(user->account.name, name);
	return 0;
}

int account_parse(const char *file, const char *text, size_t len, struct account_list *list,
		  struct fault *f)
{
	unsigned int number = 0;
	int err = 0;

	*list = (struct account_list){ 0 };
	while (len && !err) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		char *line = mem_printf("%.*s", (int)n, text);

		number++;
		if (strlen(line) != n)
			err = fault_set(f, EINVAL, "a NUL character");
		else if (n && *line != '#')
			err = account_line(list, line, f);
		if (err)
			fault_prefix(f, "%s:%u", file, number);
		free(line);
		text += n + (end ? 1 : 0);
		len -= n + (end ? 1 : 0);
	}
	return err;
}

void account_free(struct account_list *list)
{
	while (list->count)
		free(list->users[--list->count].hash);
	free(list->users);
	list->users = NULL;
}

const struct account_user *account_find(const struct account_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!strcmp(list->users[i].account.name, name))
			return &list->users[i];
	return NULL;
}

static char *hash_with(const char *password, const char *setting)
{
	struct crypt_data *data = mem_zalloc(1, sizeof(*data));
	char *hash = crypt_r(password, setting, data);

	hash = hash && *hash != '*' ? mem_strdup(hash) : NULL;
	explicit_bzero(data, sizeof(*data));
	free(data);
	return hash;
}

char *account_hash(const char *password)
{
	char setting[CRYPT_GENSALT_OUTPUT_SIZE];

	if (!crypt_gensalt_rn("$y$", 0, NULL, 0, setting, sizeof(setting)))
		return NULL;
	return hash_with(password, setting);
}

static bool same(const char *a, const char *b)
{
	size_t i, len = strlen(a);
	unsigned char differ = 0;

	if (len != strlen(b))
		return false;
	/* as long for all that differ */
	for (i = 0; i < len; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return !differ;
}

bool account_matches(const struct account_user *user, const char *password)
{
	char *hash;
	bool good;

	if (!user) {
		/* the time that it takes does not tell who is there */
		free(account_hash(password));
		return false;
	}
	hash = hash_with(password, user->hash);
	good = hash && same(hash, user->hash);
	free(hash);
	return good;
}

void limit_address(const char *address, char key[LIMIT_KEY_MAX])
{
	struct in6_addr six;
	char text[INET6_ADDRSTRLEN];

	if (inet_pton(AF_INET6, address, &six) == 1) {
		memset(six.s6_addr + 8, 0, 8);
		inet_ntop(AF_INET6, &six, text, sizeof(text));
		snprintf(key, LIMIT_KEY_MAX, "address %s/64", text);
	} else {
		snprintf(key, LIMIT_KEY_MAX, "address %.64s", address);
	}
}

static size_t limit_find(const struct account_limit *limit, const char *key)
{
	size_t i;

	for (i = 0; i < LIMIT_PLACES; i++)
		if (*limit->place[i].key && !strncmp(limit->place[i].key, key, LIMIT_KEY_MAX - 1))
			break;
	return i;
}

/* Those who fail at a time come in any order, so that the first may be later than @now. */
static bool limit_is_over(const struct account_failures *place, uint64_t now)
{
	return now >= place->first_ms + LIMIT_WINDOW_MS;
}

uint64_t limit_wait(const struct account_limit *limit, const char *key, uint64_t now)
{
	size_t i = limit_find(limit, key);

	if (i == LIMIT_PLACES || limit->place[i].count < LIMIT_FAILURES ||
	    limit_is_over(&limit->place[i], now))
		return 0;
	return limit->place[i].first_ms + LIMIT_WINDOW_MS - now;
}

void limit_failed(struct account_limit *limit, const char *key, uint64_t now)
{
	size_t i = limit_find(limit, key), k;

	/* a new one takes the place of the one that failed first */
	if (i == LIMIT_PLACES) {
		for (i = 0, k = 1; k < LIMIT_PLACES && *limit->place[i].key; k++)
			if (!*limit->place[k].key ||
			    limit->place[k].first_ms < limit->place[i].first_ms)
				i = k;
		limit->place[i].key[0] = '\0';
	}
	if (!*limit->place[i].key || limit_is_over(&limit->place[i], now)) {
		limit->place[i] = (struct account_failures){ .first_ms = now };
		strncat(limit->place[i].key, key, LIMIT_KEY_MAX - 1);
	}
	limit->place[i].count++;
}

void limit_good(struct account_limit *limit, const char *key)
{
	size_t i = limit_find(limit, key);

	if (i < LIMIT_PLACES)
		limit->place[i] = (struct account_failures){ 0 };
}
