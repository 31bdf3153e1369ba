// SPDX-License-Identifier: GPL-2.0-only
/* Hooks run with the rights of who attaches, so nobody else may write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor/doctor.h"
#include "doctor/permissions.h"
#include "lib/text.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static void add_parts(struct text *t, const char *path)
{
	char *real = realpath(path, NULL), *end;
	struct stat st;

	for (end = real ? real + strlen(real) : NULL; end; end = strrchr(real, '/')) {
		bool top = end == real;

		*(top ? end + 1 : end) = '\0';
		if (!stat(real, &st))
			text_add(t, "part %o %u %s\n", st.st_mode, st.st_uid, real);
		if (top)
			break;
	}
	free(real);
}

char *permissions_read(const char *config_dir)
{
	struct text t = { 0 };
	struct tree live;
	struct fault fault = { "" };
	size_t n, m, i, k;
	char **dirs, **names;
	struct stat st;

	if (tree_open(&live, NULL, &fault))
		return mem_strdup("");
	dirs = tree_names(&live, &n, "%s/hooks.d", config_dir + 1);
	for (i = 0; i < n; i++) {
		names = tree_names(&live, &m, "%s/hooks.d/%s", config_dir + 1, dirs[i]);
		for (k = 0; k < m; k++) {
			char *path = mem_printf("%s/hooks.d/%s/%s", config_dir, dirs[i], names[k]);

			/* Of a link that leads nowhere there is no mode. */
			if (stat(path, &st))
				st.st_mode = 0, st.st_uid = 0;
			text_add(&t, "hook %o %u %s\n", st.st_mode, st.st_uid, path);
			add_parts(&t, path);
			free(path);
		}
		tree_free_names(names, m);
	}
	tree_free_names(dirs, n);
	tree_close(&live);
	return t.text ? t.text : mem_strdup("");
}

bool permissions_next(const char **text, struct permission *permission)
{
	while (**text) {
		size_t len = strcspn(*text, "\n");
		char *line = mem_printf("%.*s", (int)(len < 1024 ? len : 1024), *text);
		char kind[8];
		int got;

		*text += len + ((*text)[len] == '\n');
		got = sscanf(line, "%7s %7o %9u %511[^\n]", kind, &permission->mode,
			     &permission->uid, permission->path);
		free(line);
		permission->hook = got == 4 && !strcmp(kind, "hook");
		if (got == 4)
			return true;
	}
	return false;
}

bool permissions_open(const struct permission *part)
{
	return part->uid || (part->mode & 0022 && !(S_ISDIR(part->mode) && part->mode & S_ISVTX));
}

static bool is_name(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t good = strspn(name, LETTERS "0123456789_-");

	return good && !name[good];
}

static const char *why_off(const struct permission *hook)
{
	if (!hook->mode)
		return "it leads nowhere";
	return is_name(hook->path) ? "it is not executable" :
	       "there is more than letters, digits, - and _ in its name";
}

void doctor_check_hooks(struct doctor *doctor)
{
	bool live = tree_is_live(&doctor->tree);
	char *text = live ? permissions_read(doctor->config_dir) :
			    tree_read(&doctor->tree, NULL, "permissions");
	char hook[sizeof(((struct permission *)0)->path)] = "";
	const char *at = text ? text : "";
	struct permission p;
	size_t n = 0, bad = 0;
	bool runs = false;

	while (permissions_next(&at, &p)) {
		if (p.hook) {
			snprintf(hook, sizeof(hook), "%s", p.path);
			runs = S_ISREG(p.mode) && p.mode & 0100 && is_name(p.path);
			n += runs;
			if (runs)
				continue;
			doctor_find(doctor, DOCTOR_NOTE, "hooks", "%s is no hook that runs: %s",
				    p.path, why_off(&p));
		} else if (runs && permissions_open(&p)) {
			bad++;
			runs = false;
			doctor_find(doctor, DOCTOR_FAIL, "hooks",
				    "hook %s is not run and what needs it is refused: others than root may write %s\n"
				    "chown root %s; chmod go-w %s",
				    hook, p.path, p.path, p.path);
		}
	}
	if (n && !bad)
		doctor_find(doctor, DOCTOR_OK, "hooks",
			    "%zu hook%s, none that others may write",
			    n, n == 1 ? "" : "s");
	free(text);
}
