// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/solver/instance.c ctl/base/jread.c ctl/plan/move_list.c ctl/plan/moves.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/*
 * Lists of moves: one line with line and column, or moves that follow from each other: after
 * each of them it is known what was done, and what is next.
 */
#include "base/text.h"
#include "fuzz.h"
#include "plan/move_list.h"

/* Only the names are used of it; what is planned is not fuzzed here. */
struct plan_config plan_config_at(const struct plan_solution *solution, size_t workload,
				  size_t slot)
{
	(void)solution;
	(void)workload;
	(void)slot;
	abort();
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
	return 0;
}
