// SPDX-License-Identifier: GPL-2.0-only
/* Units: there, and none that has failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/places.h"
#include "doctor/units.h"

#define TARGET "gpufabric.target"
#define TIMEOUT_MS 10000

static const char *const shipped[] = {
	"gpufabric-attached@.service", "gpufabric-detached@.service", "gpufabric-fault@.service",
	"gpufabric-changed.service",   "gpufabric-watch.service",     TARGET,
};

/* Those that somebody has to enable, and what starts them then. */
static const struct {
	const char *name, *by;
} wanted[] = {
	{ "gpufabric-watch.service", TARGET },
	{ "gpufabric-restore.service", TARGET },
	{ "gpufabric-save.service", "gpufabric-changed.service" },
	{ "gpufabric-cdi.service", "gpufabric-changed.service" },
};

char *units_read(void)
{
	static char *const argv[] = {
		"/usr/bin/systemctl", "show",
		"--no-pager",	      "--property=Id,LoadState,ActiveState,UnitFileState",
		"gpufabric*",	      NULL,
	};
	static char *const env[] = { "LC_ALL=C", NULL };
	struct program program = { .argv = argv, .env = env };
	struct program_limits limits = { .timeout_ms = TIMEOUT_MS };
	char *text = NULL;

	programs_run(&program, 1, &limits);
	if (program_succeeded(&program))
		text = mem_strdup(program.output ? program.output : "");
	program_free(&program);
	return text;
}

static void units_take_line(struct unit *unit, const char *line)
{
	const char *value = strchr(line, '=');
	size_t len = value ? (size_t)(value - line) : 0;
	char *to = NULL;

	if (!value)
		return;
	value++;
	if (len == 2 && !strncmp(line, "Id", len))
		to = unit->id;
	else if (len == 9 && !strncmp(line, "LoadState", len))
		to = unit->load;
	else if (len == 11 && !strncmp(line, "ActiveState", len))
		to = unit->active;
	else if (len == 13 && !strncmp(line, "UnitFileState", len))
		to = unit->file;
	if (to)
		snprintf(to, to == unit->id ? sizeof(unit->id) : sizeof(unit->load), "%s", value);
}

bool units_next(const char **text, struct unit *unit)
{
	memset(unit, 0, sizeof(*unit));
	while (**text) {
		size_t len = strcspn(*text, "\n");
		char *line = mem_printf("%.*s", (int)(len < 1024 ? len : 1024), *text);

		*text += len + ((*text)[len] == '\n');
		units_take_line(unit, line);
		free(line);
		if ((!len || !**text) && unit->id[0])
			return true;
	}
	return false;
}

static bool is_installed(const struct doctor *doctor, const char *name)
{
	size_t i;

	for (i = 0; places_units[i]; i++)
		if (tree_has(&doctor->tree, "%s/%s", places_units[i], name))
			return true;
	return false;
}

/* Those of a list that are missing, in one line; NULL when none is. */
static char *missing(const struct doctor *doctor)
{
	struct text names = { 0 };
	size_t i;

	for (i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++)
		if (!is_installed(doctor, shipped[i]))
			text_join(&names, " ", shipped[i]);
	return names.text;
}

static char *not_enabled(const struct doctor *doctor)
{
	struct text names = { 0 };
	size_t i, k;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		bool is = false;

		for (k = 0; places_units[k]; k++) {
			char *link = tree_link(&doctor->tree, "%s/%s.wants/%s", places_units[k],
					       wanted[i].by, wanted[i].name);

			is = is || link;
			free(link);
		}
		if (!is && is_installed(doctor, wanted[i].name))
			text_join(&names, " ", wanted[i].name);
	}
	return names.text;
}

/* What is wrong with a unit that systemd knows. */
static bool check_unit(struct doctor *doctor, const struct unit *unit)
{
	const char *what = strcmp(unit->active, "failed") ? unit->load : unit->active;

	if (!strcmp(unit->load, "masked"))
		doctor_find(doctor, DOCTOR_WARN, "units", "%s: masked\nsystemctl unmask %s",
			    unit->id, unit->id);
	else if (!strcmp(what, "failed") || !strcmp(what, "error") || !strcmp(what, "bad-setting"))
		doctor_find(doctor, DOCTOR_WARN, "units",
			    "%s: %s\njournalctl -u %s; systemctl restart %s", unit->id, what,
			    unit->id, unit->id);
	else
		return false;
	return true;
}

void doctor_check_units(struct doctor *doctor)
{
	char *lacks, *off, *text;
	size_t n = 0, bad = 0;
	bool active = false;
	struct unit unit;
	const char *at;

	/* As sd_booted() has it. */
	if (!tree_has(&doctor->tree, "run/systemd/system"))
		return;
	lacks = missing(doctor);
	off = not_enabled(doctor);
	text = tree_is_live(&doctor->tree) ? units_read() : tree_read(&doctor->tree, NULL, "units");
	if (lacks)
		doctor_find(doctor, DOCTOR_WARN, "units",
			    "not installed: %s: nothing reacts to GPUs that come and go\n"
			    "install the package gpuctl, or make install; systemctl daemon-reload",
			    lacks);
	if (off)
		doctor_find(doctor, DOCTOR_NOTE, "units",
			    "not enabled: %s\nto use them: systemctl enable %s", off, off);
	for (at = text ? text : ""; units_next(&at, &unit); n++) {
		bad += check_unit(doctor, &unit);
		active |= !strcmp(unit.id, TARGET) && !strcmp(unit.active, "active");
	}
	if (!lacks && text && !active && tree_has(&doctor->tree, PLACE_MODULE)) {
		bad++;
		doctor_find(doctor, DOCTOR_WARN, "units",
			    "the module is loaded and gpufabric.target is not active\n"
			    "udevadm trigger --action=add --subsystem-match=module --sysname-match=gpufabric");
	}
	if (!lacks && !bad)
		doctor_find(doctor, DOCTOR_OK, "units",
			    "units are in place, %zu loaded, none has failed", n);
	free(lacks);
	free(off);
	free(text);
}
