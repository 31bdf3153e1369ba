// SPDX-License-Identifier: GPL-2.0-only
// sources: dra/claim.c dra/inventory.c dra/program.c dra/slice.c dra/text.c
// packages: json-c
/*
 * What the driver for Kubernetes reads: claims with their parameters from the API server, and lists from
 * gpuctl. The first byte says which. A refusal is one line; of what is read, names are such as
 * may stand in a path or in a command line, and slices are made of any list.
 */
#include "dra/claim.h"
#include "dra/inventory.h"
#include "dra/slice.h"
#include "fuzz.h"

static void fuzz_claim(struct json_object *root)
{
	struct reason reason = { "" };
	char name[CLAIM_NAME_MAX];
	struct claim claim;
	size_t i;

	if (!claim_read(root, &claim, &reason)) {
		must(fuzz_is_line(reason.text));
	} else {
		must(claim_composition(claim.uid, name) && !strncmp(name, "claim-", 6));
		must(claim.n && claim.n <= CLAIM_DEVICES_MAX);
		for (i = 0; i < claim.n; i++)
			must(claim_word(claim.devices[i].device) && !strchr(claim.devices[i].device, '/') &&
			     !strstr(claim.devices[i].pool, ".."));
		must(!claim.params.driver || (*claim.params.driver != '-' && !strchr(claim.params.driver, '/')));
		must(!claim.params.tenant || *claim.params.tenant != '-');
	}
	claim_free(&claim);
}

static void fuzz_slices(const struct inventory *inventory, const char *version, const char *node, bool taints)
{
	const struct slice_terms terms = { .version = version, .pool = "pool", .node = node, .uid = "uid",
					   .manager = inventory->n_gpus ? inventory->gpus[0].manager : "m",
					   .taints = taints };
	struct json_object *specs = slice_specs(inventory, &terms);
	size_t n = json_object_array_length(specs), i;

	must(n);
	for (i = 0; i < n; i++) {
		struct json_object *spec = json_object_array_get_idx(specs, i);
		struct json_object *slice = slice_object(&terms, i, spec, 7);

		must(json_object_array_length(json_member(spec, "devices", json_type_array)) <= SLICE_DEVICES_MAX);
		must(slice_same(slice, spec, &terms) && !slice_lost_taints(spec, spec));
		json_object_put(slice);
	}
	json_object_put(specs);
}

/* Takes the document. */
static void fuzz_inventory(struct json_object *root)
{
	struct reason reason = { "" };
	struct inventory inventory;
	size_t i;

	if (!inventory_read(root, &inventory, &reason)) {
		must(fuzz_is_line(reason.text));
	} else {
		inventory_kinds(&inventory, root);
		for (i = 0; i < inventory.n_slots; i++)
			must(claim_word(inventory.slots[i].device) && strlen(inventory.slots[i].device) < 64 &&
			     !strchr(inventory.slots[i].device, '.'));
		for (i = 0; i < inventory.n_gpus; i++)
			must(claim_word(inventory.gpus[i].device));
		fuzz_slices(&inventory, "v1", "node", true);
		fuzz_slices(&inventory, "v1beta1", "node", false);
		fuzz_slices(&inventory, "v1", NULL, true);
	}
	inventory_free(&inventory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reason reason = { "" };
	struct json_object *root;
	char *copy;

	if (!size)
		return 0;
	copy = fuzz_behind(data, size--);
	root = json_read(copy, size, &reason);
	must(root || fuzz_is_line(reason.text));
	if (root && *data == 'c') {
		fuzz_claim(root);
		json_object_put(root);
	} else if (root) {
		fuzz_inventory(root);
	}
	free(copy);
	return 0;
}
