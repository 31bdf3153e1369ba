// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/choose/tenant.c ctl/base/conf.c ctl/base/fault.c ctl/base/text.c
/* Files of tenants.d, and verdicts by what they say. */
#include "choose/tenant.h"
#include "fuzz.h"

static void judge(const struct tenants *tenants, const char *name, size_t more)
{
	struct fault fault = { "" };

	if (tenants_admit(tenants, name, more, more / 2, &fault))
		must(fault.text[0]);
	else
		must(!fault.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenants tenants = { 0 };
	struct fault fault = { "" };
	size_t i;

	if (tenants_parse(&tenants, "rack.conf", (const char *)data, size, &fault)) {
		must(!strncmp(fault.text, "rack.conf:", 10));
	} else {
		must(!fault.text[0]);
		if (tenants_check(&tenants, &fault))
			must(fault.text[0]);
	}
	for (i = 0; i < tenants.n; i++) {
		tenants.items[i].held = size % 7;
		must(tenants_find(&tenants, tenants.items[i].name) == &tenants.items[i]);
		judge(&tenants, tenants.items[i].name, size);
	}
	judge(&tenants, NULL, 1);
	tenants_free(&tenants);
	return 0;
}
