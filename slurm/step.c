// SPDX-License-Identifier: GPL-2.0-only
/* Variables of a composition, and the cgroup of a step. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "slurm/step.h"

void step_environment_read(const char *text, struct step_environment *environment)
{
	const char *line, *end;

	memset(environment, 0, sizeof(*environment));
	for (line = text ? text : ""; *line; line = end + !!*end) {
		const char *equals;

		end = strchrnul(line, '\n');
		equals = memchr(line, '=', (size_t)(end - line));
		if (!equals || equals == line || environment->n == STEP_VARIABLES_MAX)
			continue;
		environment->names[environment->n] = mem_printf("%.*s", (int)(equals - line), line);
		environment->values[environment->n++] =
			mem_printf("%.*s", (int)(end - equals - 1), equals + 1);
	}
}

void step_environment_free(struct step_environment *environment)
{
	size_t i;

	for (i = 0; i < environment->n; i++) {
		free(environment->names[i]);
		free(environment->values[i]);
	}
	memset(environment, 0, sizeof(*environment));
}

char *step_cgroup(const char *line)
{
	static const char version2[] = "0::", job[] = "/job_", step[] = "/step_";
	const char *path = line + strlen(version2), *at;

	if (strncmp(line, version2, strlen(version2)) || *path != '/')
		return NULL;
	at = strstr(path, job);
	if (!at)
		return NULL;
	at += 1 + strcspn(at + 1, "/\n");
	if (strncmp(at, step, strlen(step)))
		return NULL;
	at += 1 + strcspn(at + 1, "/\n");
	return mem_printf("%.*s", (int)(at - path), path);
}
