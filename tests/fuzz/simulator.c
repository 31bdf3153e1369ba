// SPDX-License-Identifier: GPL-2.0-only
// sources: kmod/sim/params.c kmod/sim/model.c
/* The simulator's module parameters and debugfs words: gpus=, link. */
#include "kmod/sim/params.h"

#include "fuzz.h"

#define SWITCHES 3
#define SLOTS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_parts parts = { data, size < 4096 ? size : 4096 };
	char *list = fuzz_part_text(&parts), *text = fuzz_part_text(&parts);
	struct sim_card_spec specs[SWITCHES * SLOTS + 1];
	struct sim_layout layout = { .switches = SWITCHES, .slots = SLOTS };
	struct sim_link link;
	char error[80];
	int err, clip;

	for (clip = 0; clip < 2; clip++) {
		layout.clip = clip;
		memset(specs, 0xa5, sizeof(specs));
		error[0] = '\0';
		err = sim_parse_gpus(list, &layout, specs, error, sizeof(error));
		must(!err || (err < 0 && error[0] && strlen(error) < sizeof(error)));
		must(((unsigned char *)&specs[SWITCHES * SLOTS])[0] == 0xa5);
	}
	if (!sim_parse_link(text, &link))
		must(sim_link_speed_name(link.speed));
	free(text);
	free(list);
	return 0;
}
