// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/ahead.c ctl/plan/demand.c ctl/plan/state.c ctl/plan/solver/check.c ctl/base/csv.c ctl/plan/file.c ctl/plan/file_demand.c ctl/plan/forecast.c ctl/plan/solver/instance.c ctl/base/jread.c ctl/plan/series.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/* Instances of the planner: whatever stands there, one line with line and column, or one in range. */
#include "fuzz.h"
#include "plan/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_instance in;
	struct fault fault = { "" };

	if (plan_read(&in, "f", (const char *)data, size, &fault)) {
		must(fuzz_is_line(fault.text));
		must(!strncmp(fault.text, "f:", 2));
	} else {
		must(!fault.text[0]);
		must(!plan_check(&in, &fault));
	}
	plan_instance_free(&in);
	return 0;
}
