// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: intents
 *
 * A file for each request of several steps, STATE/intent-NUMBER, with a line for each step, "bind HOST
 * GPU PORT", and "-" for no port. It is there before the first step and gone before anybody is told
 * of the end. Who has what is still the fabric's own: an intent only says what belongs together.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "fm/config.h"
#include "fm/intent.h"

#define INTENT_NAME "intent-"
#define INTENT_MAX (1u << 20)

static char *intent_path(const char *folder, uint64_t task)
{
	return mem_printf("%s/" INTENT_NAME "%020llu", folder, (unsigned long long)task);
}

static int intent_fault(struct fault *f, const char *path, int err)
{
	return fault_set(f, -err, "%s: %s", path, replace_error(err));
}

int intent_write(const char *folder, uint64_t task, const struct intent_step *steps, size_t count,
		 struct fault *f)
{
	char *path = intent_path(folder, task);
	struct text text = { 0 };
	size_t i;
	int err;

	for (i = 0; i < count; i++)
		text_add(&text, "%s %s %s %s\n", steps[i].bind ? "bind" : "unbind", steps[i].host,
			 steps[i].gpu, steps[i].port ? steps[i].port : "-");
	err = replace_file(path, text.text ? text.text : "", 0600);
	if (err)
		intent_fault(f, path, err);
	free(text.text);
	free(path);
	return err;
}

int intent_remove(const char *folder, uint64_t task, struct fault *f)
{
	char *path = intent_path(folder, task);
	/* A folder that is away comes back with its notes. */
	int err = access(folder, F_OK) ? -errno : replace_remove(path);

	if (err)
		intent_fault(f, path, err);
	free(path);
	return err;
}

static int intent_line(struct intent *intent, char *line, struct fault *f)
{
	char *verb = strsep(&line, " "), *host = strsep(&line, " "), *gpu = strsep(&line, " "),
	     *port = strsep(&line, " ");
	bool bind = !strcmp(verb, "bind");

	if ((!bind && strcmp(verb, "unbind")) || !port || line || !config_name_valid(host) ||
	    !config_name_valid(gpu) || (strcmp(port, "-") && !config_name_valid(port)))
		return fault_set(f, EINVAL, "this is no step of a request");
	intent->steps = mem_push(intent->steps, intent->count, sizeof(*intent->steps));
	intent->steps[intent->count++] = (struct intent_step){
		.host = mem_strdup(host),
		.bind = bind,
		.gpu = mem_strdup(gpu),
		.port = strcmp(port, "-") ? mem_strdup(port) : NULL,
	};
	return 0;
}

int intent_parse(const char *text, size_t len, struct intent *intent, struct fault *f)
{
	int err = 0;

	*intent = (struct intent){ 0 };
	while (len && !err) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		char *line = mem_printf("%.*s", (int)n, text);

		err = end && strlen(line) == n ? intent_line(intent, line, f) :
						 fault_set(f, EINVAL, "this is no whole line");
		free(line);
		text += n + (end ? 1 : 0);
		len -= n + (end ? 1 : 0);
	}
	return err;
}

void intent_free(struct intent *intent)
{
	while (intent->count) {
		struct intent_step *step = &intent->steps[--intent->count];

		free(step->host);
		free(step->gpu);
		free(step->port);
	}
	free(intent->steps);
	intent->steps = NULL;
}

static int intent_read(const char *path, struct intent *intent, struct fault *f)
{
	char *text = mem_zalloc(INTENT_MAX + 1, 1);
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, INTENT_MAX, file) : 0;
	int err = 0;

	if (!file || ferror(file))
		err = fault_set(f, EIO, "it cannot be read");
	if (!err)
		err = intent_parse(text, len, intent, f);
	if (err)
		fault_prefix(f, "%s", path);
	if (file)
		fclose(file);
	free(text);
	return err;
}

static int is_intent(const struct dirent *entry)
{
	const char *number = entry->d_name + strlen(INTENT_NAME);
	uint64_t task;

	return !strncmp(entry->d_name, INTENT_NAME, strlen(INTENT_NAME)) && strlen(number) == 20 &&
	       text_number(number + strspn(number, "0"), UINT64_MAX, &task);
}

int intents_read(const char *folder, struct intent **intents, size_t *count, struct fault *f)
{
	struct dirent **names = NULL;
	int n = scandir(folder, &names, is_intent, alphasort), i, err = 0;

	*intents = NULL;
	*count = 0;
	if (n < 0 && errno != ENOENT)
		return fault_set(f, errno, "%s: %s", folder, strerror(errno));
	for (i = 0; i < n; i++) {
		struct intent intent = { 0 };
		char *path = mem_printf("%s/%s", folder, names[i]->d_name);
		const char *number = names[i]->d_name + strlen(INTENT_NAME);

		if (!err)
			err = intent_read(path, &intent, f);
		text_number(number + strspn(number, "0"), UINT64_MAX, &intent.task);
		*intents = mem_push(*intents, *count, sizeof(**intents));
		(*intents)[(*count)++] = intent;
		free(path);
		free(names[i]);
	}
	free(names);
	return err;
}

void intents_free(struct intent *intents, size_t count)
{
	while (count)
		intent_free(&intents[--count]);
	free(intents);
}
