// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: doctor
 *
 * Each check reads files of a tree, which is this host or a copy of another one,
 * and adds findings; what there is to do is said with the finding or nothing is. The
 * module is not asked, so that it works before the module is there, and on a copy.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"

#define NAMES_SHOWN 8

int doctor_open(struct doctor *doctor, const char *dir, const char *config_dir, struct fault *fault)
{
	char *log;
	int err;

	memset(doctor, 0, sizeof(*doctor));
	err = tree_open(&doctor->tree, dir, fault);
	if (err)
		return err;
	doctor->config_dir = config_dir;
	doctor->release = tree_line(&doctor->tree, "proc/sys/kernel/osrelease");
	doctor->cmdline = tree_line(&doctor->tree, "proc/cmdline");
	if (!doctor->release || !doctor->cmdline || !tree_has(&doctor->tree, "sys/bus/pci"))
		return fault_set(fault, ENOENT,
				 "%s has no tree of a host: proc/cmdline, proc/sys/kernel/osrelease and sys/bus/pci are needed",
				 dir ? dir : "/");
	log = dir ? tree_read(&doctor->tree, NULL, "dmesg") : klog_read();
	doctor->has_log = log;
	klog_parse(&doctor->log, log ? log : "");
	free(log);
	pci_read(&doctor->tree, &doctor->pci);
	doctor_read_slots(doctor);
	return 0;
}

void doctor_close(struct doctor *doctor)
{
	size_t i;

	for (i = 0; i < doctor->n_findings; i++) {
		free(doctor->findings[i].reason);
		free(doctor->findings[i].remedy);
		free(doctor->findings[i].parameter);
	}
	free(doctor->findings);
	for (i = 0; i < doctor->n_slots; i++) {
		free(doctor->slots[i].name);
		free(doctor->slots[i].driver);
		free(doctor->slots[i].composition);
	}
	free(doctor->slots);
	klog_free(&doctor->log);
	pci_free(&doctor->pci);
	free(doctor->release);
	free(doctor->cmdline);
	tree_close(&doctor->tree);
}

void doctor_examine(struct doctor *doctor)
{
	doctor_check_kernel(doctor);
	doctor_check_hotplug(doctor);
	doctor_check_ports(doctor);
	doctor_check_windows(doctor);
	doctor_check_buses(doctor);
	doctor_check_bars(doctor);
	doctor_check_peers(doctor);
	doctor_check_module(doctor);
	doctor_check_holders(doctor);
	doctor_check_installed(doctor);
	doctor_check_units(doctor);
	doctor_check_hooks(doctor);
	doctor_check_cdi(doctor);
}

static struct doctor_finding *add_finding(struct doctor *doctor, enum doctor_level level,
					  const char *check, const char *fmt, va_list ap)
{
	struct doctor_finding *finding;
	char *reason = mem_vprintf(fmt, ap), *remedy = strchr(reason, '\n');

	if (remedy)
		*remedy++ = '\0';
	doctor->findings = mem_grow(doctor->findings, doctor->n_findings + 1, sizeof(*finding));
	finding = &doctor->findings[doctor->n_findings++];
	*finding = (struct doctor_finding){
		level, check, reason, remedy ? mem_strdup(remedy) : NULL, NULL,
	};
	/* Names of files and of devices are quoted: others have chosen them. */
	text_tame(finding->reason, false);
	if (finding->remedy)
		text_tame(finding->remedy, false);
	return finding;
}

struct doctor_finding *doctor_find(struct doctor *doctor, enum doctor_level level,
				   const char *check, const char *fmt, ...)
{
	struct doctor_finding *finding;
	va_list ap;

	va_start(ap, fmt);
	finding = add_finding(doctor, level, check, fmt, ap);
	va_end(ap);
	return finding;
}

void doctor_find_parameter(struct doctor *doctor, enum doctor_level level, const char *check,
			   char *parameter, const char *fmt, ...)
{
	struct doctor_finding *finding;
	va_list ap;

	va_start(ap, fmt);
	finding = add_finding(doctor, level, check, fmt, ap);
	va_end(ap);
	finding->parameter = parameter;
	free(finding->remedy);
	finding->remedy = mem_printf("add to the kernel command line: %s  then reboot", parameter);
}

const char *doctor_level_name(enum doctor_level level)
{
	static const char *const names[] = { "ok", "note", "warn", "FAIL" };

	return names[level];
}

size_t doctor_count(const struct doctor *doctor, enum doctor_level level)
{
	size_t i, n = 0;

	for (i = 0; i < doctor->n_findings; i++)
		n += doctor->findings[i].level == level;
	return n;
}

/* The last one counts, as in the kernel. */
const char *doctor_option_item(const struct doctor *doctor, const char *option, const char *item,
			       char *buf, size_t size)
{
	char *copy = mem_strdup(doctor->cmdline), *rest = copy, *word, *list, *one;
	const char *found = NULL;
	size_t len = strlen(item);

	while ((word = strsep(&rest, " "))) {
		if (strncmp(word, option, strlen(option)) || word[strlen(option)] != '=')
			continue;
		for (list = word + strlen(option) + 1; (one = strsep(&list, ","));) {
			if (strncmp(one, item, len) || (one[len] && one[len] != '='))
				continue;
			snprintf(buf, size, "%s", one[len] ? one + len + 1 : "");
			found = buf;
		}
	}
	free(copy);
	return found;
}

char *doctor_slot_names(const struct doctor *doctor, const size_t *slots, size_t n)
{
	struct text t = { 0 };
	size_t i;

	text_add(&t, n == 1 ? "slot " : "slots ");
	for (i = 0; i < n && i < NAMES_SHOWN; i++)
		text_add(&t, "%s%s", i ? ", " : "", doctor->slots[slots[i]].name);
	if (n > NAMES_SHOWN)
		text_add(&t, " and %zu more", n - NAMES_SHOWN);
	return t.text;
}
