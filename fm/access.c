// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: who is asking
 *
 * The file with passwords is looked at for each request and read again when it has changed, so that
 * a user who was removed is out at once, sessions and all, and so is whoever has another password
 * now: what was found out about an account holds for its version. Nothing is hashed with the lock
 * held, so the version is compared again afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/access.h"
#include "fm/journal.h"

#define KNOWN_MS 60000
#define FILE_MAX (1u << 20)

static int read_file(const char *path, struct account_list *list, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	char *text;
	ssize_t len;

	*list = (struct account_list){ 0 };
	if (fd < 0)
		return errno == ENOENT ? 0 : fault_set(f, errno, "%s: %s", path, strerror(errno));
	text = mem_zalloc(FILE_MAX, 1);
	len = read(fd, text, FILE_MAX);
	close(fd);
	err = len < 0 ? fault_set(f, errno, "%s: %s", path, strerror(errno)) :
			account_parse(path, text, (size_t)len, list, f);
	explicit_bzero(text, FILE_MAX);
	free(text);
	return err;
}

/* Is this account as it was? Lock held. */
static bool is_current(const struct access *a, const struct account *account)
{
	const struct account_user *user = account_find(&a->users, account->name);

	return user && user->account.version == account->version;
}

/* A user whose line says the same as before keeps the version. Lock held. */
static void give_versions(struct access *a, struct account_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct account_user *user = &list->users[i];
		const struct account_user *old = account_find(&a->users, user->account.name);

		user->account.version = old && old->account.role == user->account.role &&
							!strcmp(old->hash, user->hash) ?
						old->account.version :
						++a->last_version;
	}
}

/* Sessions of those who are no longer there, or are something else now. Lock held. */
static void drop_sessions(struct access *a)
{
	size_t i;

	for (i = 0; i < ACCESS_SESSIONS; i++)
		if (a->sessions[i].id && !is_current(a, &a->sessions[i].account))
			a->sessions[i] = (struct access_session){ 0 };
}

/* Lock held. A file that cannot be read leaves what was read last. */
static int refresh(struct access *a, struct fault *f)
{
	struct account_list list;
	struct stat st = { 0 };
	int64_t stamp[4];
	int err;

	if (stat(a->path, &st) && errno != ENOENT)
		return fault_set(f, errno, "%s: %s", a->path, strerror(errno));
	stamp[0] = (int64_t)st.st_ino;
	stamp[1] = st.st_size;
	stamp[2] = st.st_mtim.tv_sec;
	stamp[3] = st.st_mtim.tv_nsec;
	if (!memcmp(stamp, a->stamp, sizeof(stamp)))
		return 0;
	memcpy(a->stamp, stamp, sizeof(stamp));
	err = read_file(a->path, &list, f);
	/* What is no fault of the file is tried again. */
	if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		memset(a->stamp, 0, sizeof(a->stamp));
	if (err) {
		account_free(&list);
		return err;
	}
	give_versions(a, &list);
	account_free(&a->users);
	a->users = list;
	explicit_bzero(a->known, sizeof(a->known));
	drop_sessions(a);
	return 0;
}

static void access_lock(struct access *a)
{
	struct fault f = { "" };

	pthread_mutex_lock(&a->lock);
	if (refresh(a, &f))
		a->trouble = f;
}

/* A journal may be slow: others do not wait for it. */
static void access_unlock(struct access *a)
{
	struct fault f = a->trouble;

	a->trouble.text[0] = '\0';
	pthread_mutex_unlock(&a->lock);
	if (*f.text)
		journal_say(LOG_ERR, NULL, NULL, NULL, "%s; accounts stay as they were", f.text);
}

int access_open(struct access *a, const struct config *config, struct fault *f)
{
	*a = (struct access){
		.path = mem_printf("%s/passwords", config->folder),
		.session_ms = config->session_ms,
		/* A client may still have the URI of a session of an earlier run. */
		.last_session = text_now(),
	};
	pthread_mutex_init(&a->lock, NULL);
	if (gnutls_rnd(GNUTLS_RND_KEY, a->secret, sizeof(a->secret)))
		return fault_set(f, EIO, "the system gives no random numbers");
	return refresh(a, f);
}

void access_close(struct access *a)
{
	account_free(&a->users);
	free(a->path);
	pthread_mutex_destroy(&a->lock);
	explicit_bzero(a, sizeof(*a));
}

static void digest_of(const struct access *a, const char *user, const char *password,
		      unsigned char digest[32])
{
	char *text = mem_printf("%s:%s", user, password);

	gnutls_hmac_fast(GNUTLS_MAC_SHA256, a->secret, sizeof(a->secret), text, strlen(text),
			 digest);
	explicit_bzero(text, strlen(text));
	free(text);
}

bool access_is_known(struct access *a, const char *user, const char *password,
		     struct account *account)
{
	unsigned char digest[32];
	uint64_t now = text_monotonic();
	bool found = false;
	size_t i;

	digest_of(a, user, password, digest);
	access_lock(a);
	for (i = 0; i < ACCESS_CACHE && !found; i++) {
		found = now < a->known[i].until_ms &&
			!gnutls_memcmp(a->known[i].digest, digest, sizeof(digest));
		if (found)
			*account = a->known[i].account;
	}
	access_unlock(a);
	return found;
}

/* Lock held. */
static void know(struct access *a, const unsigned char digest[32], const struct account *account)
{
	size_t i, oldest = 0;

	for (i = 1; i < ACCESS_CACHE; i++)
		if (a->known[i].until_ms < a->known[oldest].until_ms)
			oldest = i;
	memcpy(a->known[oldest].digest, digest, 32);
	a->known[oldest].account = *account;
	a->known[oldest].until_ms = text_monotonic() + KNOWN_MS;
}

enum access_verdict access_check(struct access *a, const char *user, const char *password,
				 const char *address, struct account *account, unsigned int *wait_s)
{
	char *by_user = mem_printf("user %s", user), by_address[LIMIT_KEY_MAX];
	struct account_user copy = { 0 };
	const struct account_user *found;
	enum access_verdict verdict = ACCESS_WRONG;
	unsigned char digest[32];
	uint64_t now = text_monotonic(), wait, other;
	bool good;

	limit_address(address, by_address);
	digest_of(a, user, password, digest);
	access_lock(a);
	wait = limit_wait(&a->limit, by_user, now);
	other = limit_wait(&a->limit, by_address, now);
	found = account_find(&a->users, user);
	if (found) {
		copy.account = found->account;
		copy.hash = mem_strdup(found->hash);
	}
	access_unlock(a);
	wait = wait > other ? wait : other;
	if (wait) {
		*wait_s = (unsigned int)((wait + 999) / 1000);
		verdict = ACCESS_WAIT;
		goto out;
	}
	good = account_matches(copy.hash ? &copy : NULL, password);
	access_lock(a);
	good = good && is_current(a, &copy.account);
	if (good) {
		verdict = ACCESS_GOOD;
		*account = copy.account;
		limit_good(&a->limit, by_user);
		know(a, digest, account);
	} else {
		/* To hash took a while. */
		now = text_monotonic();
		limit_failed(&a->limit, by_user, now);
		limit_failed(&a->limit, by_address, now);
	}
	access_unlock(a);
	if (!good)
		journal_say(LOG_WARNING, NULL, NULL, NULL, "login of \"%s\" from %s: wrong", user,
			    address);
out:
	if (copy.hash)
		explicit_bzero(copy.hash, strlen(copy.hash));
	free(copy.hash);
	free(by_user);
	return verdict;
}

/* Lock held. A session may have been used after @now was read, by who had the lock first. */
static void expire(struct access *a, uint64_t now)
{
	size_t i;

	for (i = 0; i < ACCESS_SESSIONS; i++)
		if (a->sessions[i].id && now >= a->sessions[i].used_ms + a->session_ms)
			a->sessions[i] = (struct access_session){ 0 };
}

enum access_verdict access_begin(struct access *a, const struct account *account,
				 const char *address, struct access_session *session)
{
	unsigned char token[(ACCESS_TOKEN - 1) / 2];
	uint64_t now = text_monotonic();
	struct access_session *free_one = NULL;
	enum access_verdict verdict = ACCESS_WAIT;
	size_t i, own = 0;

	if (gnutls_rnd(GNUTLS_RND_KEY, token, sizeof(token)))
		return ACCESS_WAIT;
	access_lock(a);
	expire(a, now);
	for (i = 0; i < ACCESS_SESSIONS; i++) {
		if (!a->sessions[i].id)
			free_one = &a->sessions[i];
		else if (!strcmp(a->sessions[i].account.name, account->name))
			own++;
	}
	if (!is_current(a, account)) {
		verdict = ACCESS_WRONG;
	} else if (free_one && own < ACCESS_SESSIONS_EACH) {
		verdict = ACCESS_GOOD;
		*free_one = (struct access_session){
			.id = ++a->last_session,
			.account = *account,
			.begun_ms = text_now(),
			.used_ms = now,
		};
		strncat(free_one->address, address, ACCESS_ADDRESS - 1);
		for (i = 0; i < sizeof(token); i++)
			snprintf(free_one->token + 2 * i, 3, "%02x", token[i]);
		*session = *free_one;
	}
	access_unlock(a);
	return verdict;
}

bool access_use(struct access *a, const char *token, struct access_session *session)
{
	uint64_t now = text_monotonic();
	bool found = false;
	size_t i;

	if (strlen(token) != ACCESS_TOKEN - 1)
		return false;
	access_lock(a);
	expire(a, now);
	for (i = 0; i < ACCESS_SESSIONS && !found; i++) {
		found = a->sessions[i].id &&
			!gnutls_memcmp(a->sessions[i].token, token, ACCESS_TOKEN - 1);
		if (found) {
			a->sessions[i].used_ms = now;
			*session = a->sessions[i];
		}
	}
	access_unlock(a);
	return found;
}

bool access_holds(struct access *a, const struct account *account, uint64_t session)
{
	uint64_t now = text_monotonic();
	bool holds = false;
	size_t i;

	access_lock(a);
	expire(a, now);
	for (i = 0; i < ACCESS_SESSIONS && session && !holds; i++) {
		holds = a->sessions[i].id == session;
		if (holds)
			a->sessions[i].used_ms = now;
	}
	if (!session)
		holds = is_current(a, account);
	access_unlock(a);
	return holds;
}

bool access_end(struct access *a, uint64_t id)
{
	bool found = false;
	size_t i;

	pthread_mutex_lock(&a->lock);
	for (i = 0; i < ACCESS_SESSIONS; i++) {
		if (!id || a->sessions[i].id != id)
			continue;
		a->sessions[i] = (struct access_session){ 0 };
		found = true;
	}
	pthread_mutex_unlock(&a->lock);
	return found;
}

size_t access_list(struct access *a, struct access_session sessions[ACCESS_SESSIONS])
{
	size_t i, n = 0;

	pthread_mutex_lock(&a->lock);
	expire(a, text_monotonic());
	for (i = 0; i < ACCESS_SESSIONS; i++)
		if (a->sessions[i].id)
			sessions[n++] = a->sessions[i];
	pthread_mutex_unlock(&a->lock);
	return n;
}

size_t access_accounts(struct access *a, struct account **accounts)
{
	size_t i, n;

	access_lock(a);
	n = a->users.count;
	*accounts = mem_zalloc(n + 1, sizeof(**accounts));
	for (i = 0; i < n; i++)
		(*accounts)[i] = a->users.users[i].account;
	access_unlock(a);
	return n;
}
