// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/solver/instance.c ctl/base/jread.c ctl/plan/move_list.c ctl/plan/moves.c ctl/plan/report.c ctl/base/replace.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/*
 * Lists of moves: one line with line and column, or moves that follow from each other: after
 * each of them it is known what was done, and what is next. What the planner said of a step is read by
 * the same means: it is refused likewise, or written and read again.
 */
#include "base/text.h"
#include "fuzz.h"
#include "plan/move_list.h"
#include "plan/report.h"

/* Only the names are used of it; what is planned is not fuzzed here. */
struct plan_config plan_config_at(const struct plan_solution *solution, size_t workload,
				  size_t slot)
{
	(void)solution;
	(void)workload;
	(void)slot;
	abort();
}

static void fuzz_report(const char *text, size_t size)
{
	struct plan_report report, again;
	struct fault fault = { "" };
	struct text metrics = { 0 };
	char *json;

	if (plan_report_read(&report, "f", text, size, &fault)) {
		must(fuzz_is_line(fault.text));
	} else {
		json = plan_report_text(&report);
		must(!plan_report_read(&again, "f", json, strlen(json), &fault));
		must(again.n == report.n && again.moves == report.moves);
		plan_report_metrics(&metrics, &again);
		must(!metrics.text == !report.time);
		plan_report_free(&again);
		free(metrics.text);
		free(json);
	}
	plan_report_free(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = { "" };
	struct move_list list;
	char *text;
	size_t i;

	if (move_list_read(&list, "f", (const char *)data, size, &fault)) {
		must(fuzz_is_line(fault.text));
		must(!strncmp(fault.text, "f:", 2));
	} else {
		must(!fault.text[0]);
		for (i = 0; i < list.n; i++) {
			const struct move *m = &list.items[i];

			must(text_name_valid(m->workload) && *m->host);
			must(!move_has_same(&m->from, &m->to));
			must(move_place(&list, i, &m->to) == MOVE_DONE);
			text = move_has_text(&m->to);
			must(*text);
			free(text);
		}
	}
	move_list_free(&list);
	fuzz_report((const char *)data, size);
	return 0;
}
