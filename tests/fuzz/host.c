// SPDX-License-Identifier: GPL-2.0-only
// sources: tool
// packages: json-c libnl-3.0 libnl-genl-3.0 libudev libsystemd
/*
 * What a recorded host has to be read: its kernel's log, resources of a device, who may
 * write hooks, what systemctl says. All four readers get the same text: none reads
 * beyond it, and what they take from it is in bounds.
 */
#include "base/text.h"
#include "doctor/permissions.h"
#include "doctor/units.h"
#include "fuzz.h"
#include "host/klog.h"

static void read_log(const char *text)
{
	struct klog log;
	size_t i;

	klog_parse(&log, text);
	for (i = 0; i < log.n_windows; i++)
		must(log.windows[i].range.end >= log.windows[i].range.start);
	for (i = 0; i < log.n_sized; i++)
		must(klog_sized(&log, log.sized[i]));
	must(log.refused == !!log.os_refused);
	klog_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_zalloc(size + 1, 1);
	struct pci_range ranges[PCI_RESOURCES];
	struct permission permission;
	struct unit unit;
	const char *at;

	memcpy(text, data, size);
	read_log(text);
	must(pci_parse_resources(text, ranges, PCI_RESOURCES) <= PCI_RESOURCES);
	for (at = text; permissions_next(&at, &permission);)
		must(permission.path[0] && at <= text + size);
	for (at = text; units_next(&at, &unit);)
		must(unit.id[0] && at <= text + size);
	free(text);
	return 0;
}
