// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the token
 *
 * HF_TOKEN, or the file where the Hub's own client keeps it. That file has to belong to the
 * user who runs us: what somebody else wrote would have us ask in their name, and what root
 * could read of somebody else is not root's to send. That others may read it is said, but
 * does not keep the owner from using it.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "hub/token.h"

#define TOKEN_MAX 1024

bool hub_token_is_valid(const char *token)
{
	size_t len = strlen(token), i;

	for (i = 0; i < len; i++)
		if (!isgraph((unsigned char)token[i]))
			return false;
	return len && len <= TOKEN_MAX;
}

/* Takes the blanks around it away; nothing else is no token. False if it is none. */
static bool token_take(struct hub_settings *s, const char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	for (len = strlen(text); len && isspace((unsigned char)text[len - 1]); len--)
		;
	if (!len)
		return true;
	s->token = mem_printf("%.*s", (int)len, text);
	return hub_token_is_valid(s->token);
}

/* Where the token is kept; @named: a variable said so, and it has to be there. */
static char *token_path(bool *named)
{
	const char *path = hub_variable("HF_TOKEN_PATH"), *home = hub_variable("HF_HOME");
	char *cache, *token;

	*named = path;
	if (path)
		return mem_strdup(path);
	if (home)
		return mem_printf("%s/token", home);
	cache = hub_user_folder("XDG_CACHE_HOME", ".cache");
	token = mem_printf("%s/huggingface/token", cache);
	free(cache);
	return token;
}

static int token_judge(struct hub_settings *s, int fd, const char *path, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > TOKEN_MAX) {
		fault_set(f, EINVAL,
			  "%.200s is not a file with a token: set HF_TOKEN_PATH or HF_TOKEN", path);
		return CTL_FAILED;
	}
	if (st.st_uid != geteuid()) {
		fault_set(f, EPERM,
			  "the token in %.200s is not used: the file belongs to another user; set HF_TOKEN, or HF_TOKEN_PATH to your own file",
			  path);
		return CTL_DENIED;
	}
	if (st.st_mode & 0077)
		s->token_loose = mem_strdup(path);
	return CTL_DONE;
}

static int token_from_file(struct hub_settings *s, const char *path, bool named, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;
	char text[TOKEN_MAX + 1];
	ssize_t n;

	if (fd < 0 && !named && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return CTL_DONE;
	if (fd < 0) {
		fault_set(f, errno, "the token in %.200s: %s", path, strerror(errno));
		return CTL_FAILED;
	}
	ret = token_judge(s, fd, path, f);
	if (!ret) {
		n = read(fd, text, TOKEN_MAX);
		text[n > 0 ? n : 0] = '\0';
		if (!token_take(s, text)) {
			fault_set(f, EINVAL,
				  "%.200s has no token: a token is one line of letters and digits",
				  path);
			ret = CTL_FAILED;
		}
		explicit_bzero(text, sizeof(text));
	}
	close(fd);
	return ret;
}

int hub_token_read(struct hub_settings *s, struct fault *f)
{
	const char *text = hub_variable("HF_TOKEN");
	char *path;
	bool named;
	int ret;

	if (text && token_take(s, text))
		return CTL_DONE;
	if (text) {
		fault_set(f, EINVAL,
			  "HF_TOKEN is not a token: a token is one line of letters and digits");
		return CTL_USAGE;
	}
	path = token_path(&named);
	ret = token_from_file(s, path, named, f);
	free(path);
	return ret;
}
