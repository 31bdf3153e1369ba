// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: from files and state to an instance
 *
 * The steps stand side by side: the parser knows nothing of forecasts, and the forecast nothing
 * of the file. What a later step refuses is said with the place in the file where the workload
 * stands, since that is what the admin can change.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jread.h"
#include "plan/ahead.h"

int plan_read_onto(struct plan_instance *in, struct plan_ahead *ahead, const char *file,
		   const char *text, size_t len, struct fault *fault)
{
	int err;

	err = plan_parse(in, ahead, file, text, len, fault);
	if (!err)
		err = plan_state_merge(in, ahead, fault);
	if (!err)
		err = plan_demand_forecast(in, ahead, fault);
	if (err)
		return err;
	/* The steps know lines, this knows what belongs together: the whole is meant. */
	err = plan_check(in, fault);
	if (err)
		fault_prefix(fault, "%s:1:1", file);
	return err;
}

int plan_workload_refuse(const struct plan_ahead *ahead, size_t workload, struct fault *fault,
			 const char *fmt, ...)
{
	struct jread r = {
		.file = ahead->file,
		.text = ahead->text,
		.len = ahead->len,
		.fault = fault,
	};
	char why[FAULT_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	jread_key(&r, "workloads");
	jread_index(&r, workload);
	return jread_refuse(&r, "%s", why);
}

void plan_ahead_free(struct plan_ahead *ahead)
{
	size_t i;

	for (i = 0; i < ahead->n_sets; i++) {
		free(ahead->sets[i].name);
		free(ahead->sets[i].tenant);
		free(ahead->sets[i].has);
		free(ahead->sets[i].held);
	}
	for (i = 0; i < ahead->n_asked; i++) {
		free(ahead->asked[i].demand);
		free(ahead->asked[i].each);
		free(ahead->asked[i].past.values);
		free(ahead->asked[i].past.phases);
		free(ahead->asked[i].epochs);
	}
	free(ahead->sets);
	free(ahead->failed);
	free(ahead->asked);
	memset(ahead, 0, sizeof(*ahead));
}
