// SPDX-License-Identifier: GPL-2.0-only
/* Rules and hardware database of udev: there, not masked, compiled. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/places.h"

#define RULES "60-gpufabric.rules"
#define HWDB "20-gpufabric.hwdb"
#define PROPERTY "ID_GPUFABRIC_KIND"

/* Where a file is, NULL for nowhere. @masked: it says nothing. */
static const char *find_file(const struct doctor *doctor, const char *dir, const char *name,
			     bool *masked)
{
	size_t i;

	for (i = 0; places_udev[i]; i++) {
		char *text, *link = tree_link(&doctor->tree, "%s/%s/%s", places_udev[i], dir, name);
		size_t len;

		*masked = link && !strcmp(link, "/dev/null");
		free(link);
		if (*masked)
			return places_udev[i];
		text = tree_read(&doctor->tree, &len, "%s/%s/%s", places_udev[i], dir, name);
		*masked = text && !len;
		free(text);
		if (text)
			return places_udev[i];
	}
	return NULL;
}

/* The names of properties are strings of the compiled database as they are. */
static bool is_compiled(const struct doctor *doctor)
{
	bool has = false, there = false;
	size_t i, len;

	for (i = 0; places_hwdb[i] && !there; i++) {
		char *text = tree_read(&doctor->tree, &len, "%s", places_hwdb[i]);

		there = text;
		has = text && memmem(text, len, PROPERTY, strlen(PROPERTY));
		free(text);
	}
	return has;
}

void doctor_check_installed(struct doctor *doctor)
{
	bool rules_masked, hwdb_masked;
	const char *rules = find_file(doctor, "rules.d", RULES, &rules_masked);
	const char *hwdb = find_file(doctor, "hwdb.d", HWDB, &hwdb_masked);

	if (!rules)
		doctor_find(doctor, DOCTOR_WARN, "udev",
			    "the rules 60-gpufabric.rules are not installed: no units and properties for GPUs\n"
			    "install the package gpuctl, or make install");
	else if (rules_masked)
		doctor_find(doctor, DOCTOR_WARN, "udev",
			    "the rules are masked by /%s/rules.d/60-gpufabric.rules\n"
			    "rm /%s/rules.d/60-gpufabric.rules; udevadm control --reload",
			    rules, rules);
	if (!hwdb)
		doctor_find(doctor, DOCTOR_WARN, "hwdb",
			    "the hardware database 20-gpufabric.hwdb is not installed: GPUs have no names in udev\n"
			    "install the package gpuctl, or make install; systemd-hwdb update");
	else if (hwdb_masked)
		doctor_find(doctor, DOCTOR_WARN, "hwdb",
			    "the hardware database is masked by /%s/hwdb.d/20-gpufabric.hwdb\n"
			    "rm /%s/hwdb.d/20-gpufabric.hwdb; systemd-hwdb update",
			    hwdb, hwdb);
	else if (!is_compiled(doctor))
		doctor_find(doctor, DOCTOR_WARN, "hwdb",
			    "the compiled hardware database does not have 20-gpufabric.hwdb\n"
			    "systemd-hwdb update; udevadm trigger --subsystem-match=pci");
	else if (rules && !rules_masked)
		doctor_find(doctor, DOCTOR_OK, "udev", "rules and hardware database are in place");
}
