// SPDX-License-Identifier: GPL-2.0-only
/* Hooks run with the rights of who attaches, so nobody else may write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/permissions.h"
#include "op/hooks.h"

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

/* Of a link that leads nowhere there is no mode. */
static void add_line(struct text *t, const char *kind, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		st.st_mode = 0, st.st_uid = 0;
	text_add(t, "%s %o %u %s\n", kind, st.st_mode, st.st_uid, path);
}

static void add_place(struct text *t, const struct tree *live, const char *place)
{
	size_t n, i;
	char **names = tree_names(live, &n, "%s", place + 1);

	add_line(t, "place", place);
	for (i = 0; i < n; i++) {
		char *path = mem_printf("%s/%s", place, names[i]);

		add_line(t, "hook", path);
		add_parts(t, path);
		free(path);
	}
	tree_free_names(names, n);
}

char *permissions_read(const char *config_dir)
{
	char *top = mem_printf("%s/hooks.d", config_dir), **names;
	struct fault fault = { "" };
	struct text t = { 0 };
	struct tree live;
	struct stat st;
	size_t n, i;

	if (tree_open(&live, NULL, &fault)) {
		free(top);
		return mem_strdup("");
	}
	/* Most hosts have none, and nothing is to be said of that. */
	if (!lstat(top, &st))
		add_line(&t, "place", top);
	names = tree_names(&live, &n, "%s", top + 1);
	for (i = 0; i < n; i++) {
		char *place = mem_printf("%s/%s", top, names[i]);

		add_place(&t, &live, place);
		free(place);
	}
	tree_free_names(names, n);
	tree_close(&live);
	free(top);
	return t.text ? t.text : mem_strdup("");
}

static bool permissions_read_kind(const char *word, enum permission_kind *kind)
{
	static const char *const kinds[] = {
		[PERMISSION_PLACE] = "place",
		[PERMISSION_HOOK] = "hook",
		[PERMISSION_PART] = "part",
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		*kind = (enum permission_kind)i;
		if (!strcmp(kinds[i], word))
			return true;
	}
	return false;
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
		if (got == 4 && permissions_read_kind(kind, &permission->kind))
			return true;
	}
	return false;
}

bool permissions_open(const struct permission *part)
{
	return part->uid || (part->mode & 0022 && !(S_ISDIR(part->mode) && part->mode & S_ISVTX));
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool permissions_is_name(const char *path)
{
	const char *name = last_part(path);
	size_t good = strspn(name, LETTERS "0123456789_-");

	return good && !name[good];
}

static bool is_place(const char *path)
{
	const char *name = last_part(path);
	size_t len = strlen(name);
	char *hook = len > 2 && !strcmp(name + len - 2, ".d") ?
			     mem_printf("%.*s", (int)len - 2, name) :
			     NULL;
	bool is = hook && hooks_is_name(hook);

	free(hook);
	return is || !strcmp(name, "hooks.d");
}

static bool is_run(const struct permission *hook)
{
	return permissions_is_name(hook->path) && S_ISREG(hook->mode) && hook->mode & 0100;
}

static char *permissions_text_of(const struct doctor *doctor)
{
	return tree_is_live(&doctor->tree) ? permissions_read(doctor->config_dir) :
					     tree_read(&doctor->tree, NULL, "permissions");
}

bool doctor_has_hook(const struct doctor *doctor, const char *place, const char *end)
{
	char *text = permissions_text_of(doctor), *within = mem_printf("/hooks.d/%s/", place);
	const char *at = text ? text : "";
	struct permission p;
	bool has = false;

	while (!has && permissions_next(&at, &p)) {
		size_t len = strlen(p.path), tail = strlen(end);

		has = p.kind == PERMISSION_HOOK && is_run(&p) && strstr(p.path, within) &&
		      len > tail && !strcmp(p.path + len - tail, end);
	}
	free(within);
	free(text);
	return has;
}

static void find_dangling(struct doctor *doctor, const char *path, const char *what)
{
	doctor_find(doctor, DOCTOR_WARN, "hooks",
		    "%s is a broken link: %s\n"
		    "restore its target, see readlink %s, or rm %s",
		    path, what, path, path);
}

/* What somebody put there to be run, and is not. */
static void check_place(struct doctor *doctor, const struct permission *place)
{
	if (!place->mode)
		find_dangling(doctor, place->path, "no hook in it runs");
	else if (!S_ISDIR(place->mode))
		doctor_find(doctor, DOCTOR_NOTE, "hooks",
			    "%s is not a directory: hooks are files in directories such as pre-detach.d",
			    place->path);
	else if (!is_place(place->path))
		doctor_find(doctor, DOCTOR_WARN, "hooks",
			    "%s: there is no kind of hook with that name, and nothing in it runs\n"
			    "mv %s to one that gpuctl-hooks(5) lists",
			    place->path, place->path);
}

/* True when gpuctl would run it, if its permissions are good. */
static bool check_hook(struct doctor *doctor, const struct permission *hook, bool in_place)
{
	/* What is said of the directory is enough. */
	if (!in_place)
		return false;
	if (!hook->mode)
		find_dangling(doctor, hook->path, "that hook does not run");
	else if (!is_run(hook))
		doctor_find(doctor, DOCTOR_NOTE, "hooks", "%s is not a hook that runs: %s",
			    hook->path,
			    !permissions_is_name(hook->path) ?
				    "its name has other characters than letters, digits, - and _" :
			    S_ISREG(hook->mode) ? "it is not executable" :
						  "it is not a file");
	else
		return true;
	return false;
}

void doctor_check_hooks(struct doctor *doctor)
{
	char *text = permissions_text_of(doctor);
	char hook[sizeof(((struct permission *)0)->path)] = "";
	const char *at = text ? text : "";
	size_t n = 0;
	bool runs = false, in_place = true, bad = false;
	struct permission p;

	while (permissions_next(&at, &p)) {
		switch (p.kind) {
		case PERMISSION_PLACE:
			in_place = S_ISDIR(p.mode) && is_place(p.path);
			check_place(doctor, &p);
			break;
		case PERMISSION_HOOK:
			snprintf(hook, sizeof(hook), "%s", p.path);
			runs = check_hook(doctor, &p, in_place);
			n += runs;
			break;
		case PERMISSION_PART:
			if (!runs || !permissions_open(&p))
				break;
			bad = true;
			runs = false;
			doctor_find(doctor, DOCTOR_FAIL, "hooks",
				    "hook %s does not run, and requests that need it are refused: users other than root may write %s\n"
				    "chown root %s; chmod go-w %s",
				    hook, p.path, p.path, p.path);
			break;
		}
	}
	if (n && !bad)
		doctor_find(doctor, DOCTOR_OK, "hooks", "%zu hook%s, not writable by other users",
			    n, n == 1 ? "" : "s");
	free(text);
}
