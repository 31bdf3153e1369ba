// SPDX-License-Identifier: GPL-2.0-only
// sources: tool
// packages: json-c libnl-3.0 libnl-genl-3.0 libudev libsystemd
/*
 * A specification of container devices that one is taken out of. What is left
 * must be read again, and not have that device, or there must be nothing left.
 */
#include "base/text.h"
#include "fuzz.h"
#include "publish/cdi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name = "train70b";
	char *text = mem_zalloc(size + 1, 1), *left, *again;
	struct fault fault = { "" };
	size_t removed;

	memcpy(text, data, size);
	if (cdi_without(text, size, &name, 1, &left, &removed, &fault)) {
		must(fault.text[0] && !left);
	} else if (left) {
		must(!cdi_without(left, strlen(left), &name, 1, &again, &removed, &fault));
		must(!removed && again && !strcmp(left, again));
		free(again);
	}
	free(left);
	free(text);
	return 0;
}
