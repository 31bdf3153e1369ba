// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/liqid/read.c ctl/driver/doc.c ctl/managers/conf.c ctl/base/conf.c ctl/base/conf_dir.c ctl/base/fault.c ctl/base/text.c ctl/base/trust.c
// packages: json-c
/*
 * What a Liqid director answers: five lists, a line each, in the order in which they are read. Each
 * refusal is one line, each GPU has a name and a state that goes with who has it.
 */
#include "fuzz.h"
#include "liqid/read.h"

static void check_gpus(const struct liqid_seen *seen)
{
	size_t i;

	for (i = 0; i < seen->n; i++) {
		const struct liqid_gpu *gpu = &seen->gpus[i];

		must(manager_is_id(gpu->id) && liqid_find(seen, gpu->id) == gpu);
		must(gpu->vendor <= 0xffff && gpu->device <= 0xffff && gpu->status);
		must(!gpu->mine || (gpu->host && !strcmp(gpu->host, "hosta")));
		must((gpu->state == GPU_FREE) == (!gpu->host && !gpu->why));
		must((gpu->state == GPU_UNUSABLE) == !!gpu->why);
	}
}

static bool take(struct liqid_seen *seen, unsigned int which, struct json_object *list, struct fault *f)
{
	switch (which) {
	case 0:
		return !liqid_take_machine(seen, list, "hosta", f);
	case 1:
		return !liqid_take_group(seen, list, f);
	case 2:
		liqid_take_pending(seen, list);
		return true;
	case 3:
		return !liqid_take_devices(seen, list, f);
	default:
		liqid_take_members(seen, list, "hosta");
		return true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct liqid_seen seen = { 0 };
	char *copy = malloc(size + 1), *at = copy, *line;
	unsigned int which;
	bool good = true;

	must(copy);
	memcpy(copy, data, size);
	copy[size] = '\0';
	for (which = 0; which < 5 && good && (line = strsep(&at, "\n")); which++) {
		struct fault f = { "" };
		struct json_object *body = doc_parse(line, strlen(line), &f);
		struct json_object *list = body ? liqid_data(body, &f) : NULL;
		char *said = liqid_complaint(body);

		must(!*said || fuzz_is_line(said));
		good = list && take(&seen, which, list, &f);
		must(good || fuzz_is_line(f.text));
		free(said);
		json_object_put(body);
	}
	check_gpus(&seen);
	liqid_seen_clear(&seen);
	free(copy);
	return 0;
}
