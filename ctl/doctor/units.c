// SPDX-License-Identifier: GPL-2.0-only
/* Units: there, and none that has failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"
#include "doctor/units.h"
#include "lib/program.h"
#include "lib/text.h"

#define ATTACHED "gpufabric-attached@.service"
#define TIMEOUT_MS 10000

static const char *const roots[] = { "etc/systemd/system", "run/systemd/system",
				     "usr/lib/systemd/system", "lib/systemd/system" };

char *units_read(void)
{
	static char *const argv[] = {
		"/usr/bin/systemctl", "show", "--no-pager",
		"--property=Id,LoadState,ActiveState,UnitFileState", "gpufabric*", NULL,
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

static void take_line(struct unit *unit, const char *line)
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
		take_line(unit, line);
		free(line);
		if ((!len || !**text) && unit->id[0])
			return true;
	}
	return false;
}

static bool is_installed(const struct doctor *doctor, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (tree_has(&doctor->tree, "%s/%s", roots[i], name))
			return true;
	return false;
}

void doctor_check_units(struct doctor *doctor)
{
	bool live = tree_is_live(&doctor->tree);
	const char *at;
	struct unit unit;
	size_t n = 0, bad = 0;
	char *text;

	/* As sd_booted() has it. */
	if (!tree_has(&doctor->tree, "run/systemd/system"))
		return;
	if (!is_installed(doctor, ATTACHED)) {
		doctor_find(doctor, DOCTOR_WARN, "units",
			    "gpufabric-attached@.service is not installed: nothing follows GPUs that come and go\n"
			    "install the package gpuctl, or make install; systemctl daemon-reload");
		bad++;
	}
	text = live ? units_read() : tree_read(&doctor->tree, NULL, "units");
	for (at = text ? text : ""; units_next(&at, &unit);) {
		n++;
		if (strcmp(unit.active, "failed") && strcmp(unit.load, "masked") &&
		    strcmp(unit.load, "error") && strcmp(unit.load, "bad-setting"))
			continue;
		bad++;
		if (!strcmp(unit.load, "masked"))
			doctor_find(doctor, DOCTOR_WARN, "units",
				    "%s: masked\nsystemctl unmask %s", unit.id, unit.id);
		else
			doctor_find(doctor, DOCTOR_WARN, "units",
				    "%s: %s\njournalctl -u %s; systemctl restart %s", unit.id,
				    strcmp(unit.active, "failed") ? unit.load : unit.active,
				    unit.id, unit.id);
	}
	if (!bad)
		doctor_find(doctor, DOCTOR_OK, "units",
			    "units are in place, %zu loaded, none has failed",
			    n);
	free(text);
}
