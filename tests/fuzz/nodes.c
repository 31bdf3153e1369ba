// SPDX-License-Identifier: GPL-2.0-only
// sources: tool
// packages: json-c libnl-3.0 libnl-genl-3.0 libudev libsystemd
/*
 * Files of nodes.d. Whatever is accepted stays below /dev, since it is what
 * containers get.
 */
#include "base/text.h"
#include "fuzz.h"
#include "host/vendor.h"

static void check_path(const char *path)
{
	must(!strncmp(path, "/dev/", 5) && path[5]);
	must(!strstr(path, "/../") && !strstr(path, "//"));
	must(strcmp(path + strlen(path) - 3, "/.."));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vendors vendors = { NULL, 0 };
	char *text = mem_zalloc(size + 1, 1);
	struct fault fault = { "" };
	size_t i, j;

	memcpy(text, data, size);
	if (vendors_parse(&vendors, "file", text, size, &fault))
		must(fault.text[0]);
	else
		for (i = 0; i < vendors.n; i++) {
			const struct vendor *vendor = &vendors.items[i];

			must(vendors_find(&vendors, vendor->driver) == vendor);
			for (j = 0; j < vendor->n[VENDOR_SHARED]; j++)
				check_path(vendor->lists[VENDOR_SHARED][j]);
			for (j = 0; j < vendor->n[VENDOR_LINKS]; j++)
				check_path(strchr(vendor->lists[VENDOR_LINKS][j], ':') + 1);
			for (j = 0; j < vendor->n[VENDOR_ENV]; j++)
				must(strchr(vendor->lists[VENDOR_ENV][j], '='));
		}
	vendors_free(&vendors);
	free(text);
	return 0;
}
