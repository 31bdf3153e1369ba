// SPDX-License-Identifier: GPL-2.0-only
// sources: tool
// packages: json-c libnl-3.0 libnl-genl-3.0 libudev libsystemd
/*
 * Files of saved compositions. What is accepted must be fit to be asked of the
 * module, and what is made of it and printed must be accepted again, the same.
 */
#include "base/text.h"
#include "fuzz.h"
#include "op/saved.h"

static void check(const struct saved_composition *composition)
{
	size_t i;

	must(text_name_valid(composition->name));
	must(composition->n_slots && composition->n_slots <= GPUFABRIC_MEMBERS_MAX);
	must(strlen(composition->note.job) <= GPUFABRIC_NAME_MAX);
	must(composition->n_bytes <= GPUFABRIC_ANNOTATION_MAX);
	for (i = 0; i < composition->n_slots; i++) {
		must(composition->slots[i].name && composition->slots[i].name[0]);
		must(composition->slots[i].ids.vendor <= 0xffff);
	}
}

static void annotate(struct gf_composition *to, const struct saved_composition *from)
{
	struct annotation note = from->note;

	note.lease = from->lease;
	to->annotation = mem_zalloc(GPUFABRIC_ANNOTATION_MAX, 1);
	to->n_annotation = from->n_bytes ? from->n_bytes : annotation_write(&note, to->annotation);
	if (from->n_bytes)
		memcpy(to->annotation, from->bytes, from->n_bytes);
}

static void drop(struct gf_fabric *fabric)
{
	size_t i;

	for (i = 0; i < fabric->n_compositions; i++) {
		free(fabric->compositions[i].members);
		free(fabric->compositions[i].annotation);
	}
	free(fabric->compositions);
	free(fabric->slots);
	memset(fabric, 0, sizeof(*fabric));
}

/* A fabric in which all of it is composed; its strings are borrowed. */
static void compose(const struct saved *saved, struct gf_fabric *fabric)
{
	size_t i, j, n = 0;

	fabric->compositions = mem_zalloc(saved->n, sizeof(*fabric->compositions));
	for (i = 0; i < saved->n; i++)
		n += saved->items[i].n_slots;
	fabric->slots = mem_zalloc(n, sizeof(*fabric->slots));
	for (i = 0; i < saved->n; i++) {
		const struct saved_composition *from = &saved->items[i];
		struct gf_composition *to = &fabric->compositions[fabric->n_compositions++];

		to->name = from->name;
		annotate(to, from);
		to->owner = from->owner;
		to->members = mem_zalloc(from->n_slots, sizeof(*to->members));
		for (j = 0; j < from->n_slots; j++) {
			struct gf_slot *slot = &fabric->slots[fabric->n_slots++];

			slot->id = (uint32_t)fabric->n_slots;
			slot->name = from->slots[j].name;
			slot->vendor = from->slots[j].ids.vendor;
			slot->device = from->slots[j].ids.device;
			slot->subsystem_vendor = from->slots[j].ids.subsystem_vendor;
			slot->subsystem_device = from->slots[j].ids.subsystem_device;
			slot->serial = from->slots[j].serial;
			to->members[to->n_members].slot_id = slot->id;
			to->members[to->n_members++].slot_name = slot->name;
		}
	}
}

static void print_and_read(const struct saved *saved)
{
	struct gf_fabric fabric = { 0 };
	struct fault fault = { "" };
	struct saved again;
	char *text, *twice;

	compose(saved, &fabric);
	text = saved_print(&fabric, 1, 1);
	must(!saved_parse(&again, "again", text, strlen(text), &fault));
	must(again.n == saved->n);
	drop(&fabric);
	compose(&again, &fabric);
	twice = saved_print(&fabric, 1, 1);
	must(!strcmp(text, twice));
	drop(&fabric);
	saved_free(&again);
	free(text);
	free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = { "" };
	struct saved saved;
	char *text = mem_zalloc(size + 1, 1);
	size_t i;

	memcpy(text, data, size);
	if (saved_parse(&saved, "file", text, size, &fault)) {
		must(!strncmp(fault.text, "file: ", 6) && !saved.n);
	} else {
		for (i = 0; i < saved.n; i++)
			check(&saved.items[i]);
		print_and_read(&saved);
		saved_free(&saved);
	}
	free(text);
	return 0;
}
