// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: identity of GPUs
 *
 * A slot without power has no config space, so nothing can be read there.
 * The module remembers what it saw while it was loaded; for the rest the
 * admin can declare in /etc/gpuctl/slots.d what sits where:
 *
 *	# slot	GPU
 *	3-2	h100-pcie-80
 *	4-*	10de:26b9
 *	5-1	a16	4
 *	3-*	group=nvl0
 *
 * A number is for cards with several GPUs; a group are GPUs that links of their own
 * connect, such as NVLink. Of several lines for a slot the last that says a thing counts.
 * A declaration is a claim, not a fact: it is shown as such and the module is told to
 * verify it after power-on.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf_dir.h"
#include "base/text.h"
#include "session/identity.h"

#define DRIVERS_DIR "/sys/bus/pci/drivers"
#define SIMULATED_DRIVER "gpufabric-sim-gpu"
#define BLANKS " \t"
#define DECLARED_GPUS 64
#define GROUP "group="

static bool parse_ids(const char *word, struct gf_ids *ids)
{
	unsigned int vendor, device, subvendor, subdevice;
	int end = 0;

	if (sscanf(word, "%4x:%4x/%4x:%4x%n", &vendor, &device, &subvendor, &subdevice, &end) ==
		    4 &&
	    !word[end]) {
		ids->subsystem_vendor = subvendor;
		ids->subsystem_device = subdevice;
	} else if (sscanf(word, "%4x:%4x%n", &vendor, &device, &end) != 2 || word[end]) {
		return false;
	}
	ids->vendor = vendor;
	ids->device = device;
	return vendor;
}

static int parse_group(struct declared *declared, const char *word, struct fault *fault)
{
	const char *name = word + strlen(GROUP);

	if (!text_name_valid(name))
		return fault_set(fault, EINVAL,
				 "group \"%s\": a name is a letter followed by up to 62 letters, digits, '_', '.' or '-'",
				 name);
	if (declared->group)
		return fault_set(fault, EINVAL, "more than one group: a slot is in one");
	declared->group = mem_strdup(name);
	return 0;
}

static int parse_gpu(const struct knowledge *knowledge, struct declared *declared, const char *word,
		     struct fault *fault)
{
	const struct cat_gpu *gpu;
	int err;

	if (parse_ids(word, &declared->ids))
		return 0;
	if (knowledge->catalogue.n_gpus) {
		err = cat_gpu_find(knowledge->catalogue.gpus, knowledge->catalogue.n_gpus, word,
				   &gpu, fault);
		if (err)
			return err;
		word = gpu->id;
	}
	declared->name = mem_strdup(word);
	return 0;
}

/* What follows the slot: a GPU, how many of it the card has, a group. */
static int parse_words(const struct knowledge *knowledge, struct declared *declared, char **save,
		       struct fault *fault)
{
	size_t words = 0;
	uint64_t gpus;
	char *word;
	int err = 0;

	while (!err && (word = strtok_r(NULL, BLANKS, save))) {
		if (!strncmp(word, GROUP, strlen(GROUP))) {
			err = parse_group(declared, word, fault);
			continue;
		}
		words++;
		if (words == 1)
			err = parse_gpu(knowledge, declared, word, fault);
		else if (words == 2 && text_number(word, DECLARED_GPUS, &gpus) && gpus)
			declared->gpus = (unsigned int)gpus;
		else
			err = fault_set(fault, EINVAL,
					"more than a slot and a GPU: write \"SLOT GPU\", or \"SLOT GPU NUMBER\" for a card with several GPUs, at most %d",
					DECLARED_GPUS);
	}
	return err;
}

static void declared_free(struct declared *declared)
{
	free(declared->pattern);
	free(declared->name);
	free(declared->group);
}

static int identity_parse_line(struct knowledge *knowledge, char *line, struct fault *fault)
{
	struct declared declared = { .gpus = 1 };
	char *slot, *save;
	int err;

	slot = strtok_r(line, BLANKS, &save);
	if (!slot || *slot == '#')
		return 0;
	err = parse_words(knowledge, &declared, &save, fault);
	if (!err && !declared.name && !declared.ids.vendor && !declared.group)
		err = fault_set(fault, EINVAL,
				"slot %s without a GPU: write \"SLOT GPU\", or \"SLOT group=NAME\"",
				slot);
	if (err) {
		declared_free(&declared);
		return err;
	}
	declared.pattern = mem_strdup(slot);
	knowledge->declared =
		mem_grow(knowledge->declared, knowledge->n_declared + 1, sizeof(declared));
	knowledge->declared[knowledge->n_declared++] = declared;
	return 0;
}

int declared_parse(struct knowledge *knowledge, const char *file, const char *text,
		   struct fault *fault)
{
	char *copy = mem_strdup(text), *line, *rest = copy;
	unsigned int number = 0;
	int err = 0;

	while (!err && (line = strsep(&rest, "\n"))) {
		number++;
		err = identity_parse_line(knowledge, line, fault);
		if (err)
			fault_prefix(fault, "%s:%u", file, number);
	}
	free(copy);
	return err;
}

bool knowledge_has_declarations(const struct ctl_ctx *ctx)
{
	char *dir = mem_printf("%s/slots.d", ctx->config_dir);
	bool has = !access(dir, F_OK);

	free(dir);
	return has;
}

static int load_declared(const char *file, const char *text, size_t len, void *arg,
			 struct fault *fault)
{
	(void)len;
	return declared_parse(arg, file, text, fault);
}

int knowledge_load(struct ctl_ctx *ctx, struct knowledge *knowledge, bool must)
{
	struct fault fault = { "" };
	int err;

	memset(knowledge, 0, sizeof(*knowledge));
	err = catalogue_load_gpus(&knowledge->catalogue, ctx->data_dir, ctx->config_dir, &fault);
	if (err && must)
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	if (err)
		ctl_warn(ctx, "%s", fault.text);

	err = conf_dir_read(ctx->config_dir, "slots.d", false, load_declared, knowledge, &fault);
	if (err && must) {
		knowledge_free(knowledge);
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	}
	if (err)
		ctl_warn(ctx, "%s", fault.text);
	return CTL_DONE;
}

void knowledge_free(struct knowledge *knowledge)
{
	size_t i;

	catalogue_free(&knowledge->catalogue);
	for (i = 0; i < knowledge->n_declared; i++)
		declared_free(&knowledge->declared[i]);
	free(knowledge->declared);
	memset(knowledge, 0, sizeof(*knowledge));
}

static const struct cat_gpu *gpu_by_id(const struct knowledge *knowledge, const char *id)
{
	size_t i;

	for (i = 0; i < knowledge->catalogue.n_gpus; i++)
		if (!strcmp(knowledge->catalogue.gpus[i].id, id))
			return &knowledge->catalogue.gpus[i];
	return NULL;
}

static void take_declaration(const struct knowledge *knowledge, const struct gf_slot *slot,
			     struct identity *identity)
{
	const struct declared *match = NULL;
	size_t i;

	for (i = 0; i < knowledge->n_declared; i++) {
		const struct declared *declared = &knowledge->declared[i];

		if ((declared->name || declared->ids.vendor) &&
		    !fnmatch(declared->pattern, slot->name, 0))
			match = declared;
	}
	if (!match)
		return;
	identity->source = IDENTITY_DECLARED;
	identity->gpus = match->gpus;
	if (!match->name) {
		identity->ids = match->ids;
		return;
	}
	identity->gpu = gpu_by_id(knowledge, match->name);
	snprintf(identity->label, sizeof(identity->label), "%s",
		 identity->gpu ? identity->gpu->brief : match->name);
	/* Ids that the module shall find: only a product with one identity has such. */
	if (identity->gpu && identity->gpu->n_pci == 1) {
		const struct gpu_pci_id *pci = &identity->gpu->pci[0];

		identity->ids = (struct gf_ids){ .vendor = pci->vendor, .device = pci->device };
		if (pci->sub) {
			identity->ids.subsystem_vendor = pci->subvendor;
			identity->ids.subsystem_device = pci->subdevice;
		}
	}
}

/* The size of its BAR, where that was verified: what is assumed refuses nothing. */
static uint64_t identity_bar_of(const struct cat_gpu *gpu)
{
	double mib;
	uint64_t bar;

	if (cat_gpu_fact(gpu, GPU_BAR1_MIB, &mib) != GPU_VERIFIED)
		return 0;
	bar = (uint64_t)mib << 20;
	return bar & (bar - 1) ? 0 : bar;
}

static enum identity_source identity_source(const struct gf_slot *slot)
{
	switch (slot->identity) {
	case GPUFABRIC_IDENTITY_SOURCE_LIVE:
		return IDENTITY_LIVE;
	case GPUFABRIC_IDENTITY_SOURCE_UNKNOWN:
		return IDENTITY_UNKNOWN;
	/* Seen, or whatever a newer module says of what it has read. */
	default:
		return IDENTITY_SEEN;
	}
}

void identity_of(const struct knowledge *knowledge, const struct gf_slot *slot,
		 struct identity *identity)
{
	struct gpu_identity found;
	enum gpu_trust trust;

	memset(identity, 0, sizeof(*identity));
	snprintf(identity->label, sizeof(identity->label), "-");
	identity->gpus = slot->gpus ? slot->gpus : 1;
	identity->group = identity_group(knowledge, slot);
	if (slot->vendor) {
		identity->source = identity_source(slot);
		identity->time = slot->identity_time;
		identity->ids = gf_slot_ids(slot);
	} else if (slot->state != GF_STATE_EMPTY && !gf_slot_is_other(slot)) {
		take_declaration(knowledge, slot, identity);
	}

	if (identity->ids.vendor && !identity->gpu) {
		const struct gf_ids *ids = &identity->ids;

		found = cat_gpu_by_pci(knowledge->catalogue.gpus, knowledge->catalogue.n_gpus,
				       (uint16_t)ids->vendor, (uint16_t)ids->device,
				       (uint16_t)ids->subsystem_vendor,
				       (uint16_t)ids->subsystem_device);
		identity->gpu = found.gpu;
		identity->simulated = found.simulated;
		cat_gpu_label(&found, (uint16_t)ids->vendor, (uint16_t)ids->device,
			      (uint16_t)ids->subsystem_vendor, (uint16_t)ids->subsystem_device,
			      identity->label, sizeof(identity->label));
	}
	if (identity->gpu)
		identity->ids.bar = identity_bar_of(identity->gpu);
	if (identity->gpu)
		identity->memory = cat_gpu_memory_mib(identity->gpu, &trust) << 20;
}

const char *identity_group(const struct knowledge *knowledge, const struct gf_slot *slot)
{
	size_t i;

	for (i = knowledge->n_declared; i-- > 0;)
		if (knowledge->declared[i].group &&
		    !fnmatch(knowledge->declared[i].pattern, slot->name, 0))
			return knowledge->declared[i].group;
	return NULL;
}

/* One of @slots is in the group, and @slot is none of them. */
static bool is_partner(const struct knowledge *knowledge, const struct gf_slot *slot,
		       const char *group, const struct gf_slot *const *slots, size_t n)
{
	bool is = false;
	size_t i;

	for (i = 0; i < n; i++) {
		const char *other = identity_group(knowledge, slots[i]);

		if (slots[i]->id == slot->id)
			return false;
		is |= other && !strcmp(other, group);
	}
	return is;
}

char *identity_partners(const struct knowledge *knowledge, const struct gf_fabric *fabric,
			const struct gf_slot *const *slots, size_t n)
{
	struct text text = { 0 };
	const char *group;
	size_t i, j;

	for (i = 0; i < n; i++) {
		bool first = true;

		group = identity_group(knowledge, slots[i]);
		for (j = 0; j < i && group; j++)
			if (identity_group(knowledge, slots[j]) &&
			    !strcmp(identity_group(knowledge, slots[j]), group))
				group = NULL;
		for (j = 0; j < fabric->n_slots && group; j++) {
			const struct gf_slot *slot = &fabric->slots[j];
			const char *other = identity_group(knowledge, slot);

			if (!other || strcmp(other, group) || !gf_gpu_function(slot) ||
			    !is_partner(knowledge, slot, group, slots, n))
				continue;
			if (first)
				text_add(&text, "%s%s: %s", text.len ? "; " : "", group,
					 slot->name);
			else
				text_add(&text, ", %s", slot->name);
			first = false;
		}
	}
	return text.text;
}

unsigned int identity_count(const struct knowledge *knowledge, const struct gf_slot *slot)
{
	struct identity identity;

	identity_of(knowledge, slot, &identity);
	return identity.gpus;
}

size_t identity_slots(const struct knowledge *knowledge, struct gf_slot *const *slots, size_t n)
{
	size_t gpus = 0, i;

	for (i = 0; i < n; i++)
		gpus += identity_count(knowledge, slots[i]);
	return gpus;
}

size_t identity_members(const struct knowledge *knowledge, const struct gf_fabric *fabric,
			const struct gf_composition *composition)
{
	const struct gf_slot *slot;
	size_t n = 0, i;

	for (i = 0; i < composition->n_members; i++) {
		slot = gf_slot_by_id(fabric, composition->members[i].slot_id);
		n += slot ? identity_count(knowledge, slot) : 1;
	}
	return n;
}

const char *identity_gpus(char buf[IDENTITY_GPUS], const struct identity *identity)
{
	if (identity->gpus > 1)
		snprintf(buf, IDENTITY_GPUS, "%u x %s", identity->gpus, identity->label);
	else
		snprintf(buf, IDENTITY_GPUS, "%s", identity->label);
	return buf;
}

const char *identity_source_name(enum identity_source source)
{
	static const char *const names[] = {
		[IDENTITY_UNKNOWN] = "unknown",
		[IDENTITY_LIVE] = "live",
		[IDENTITY_SEEN] = "last-seen",
		[IDENTITY_DECLARED] = "declared",
	};

	return names[source];
}

const char *identity_text(char buf[48], const struct identity *identity, uint64_t now)
{
	char age[TEXT_QUANTITY];

	switch (identity->source) {
	case IDENTITY_LIVE:
		snprintf(buf, 48, "live");
		break;
	case IDENTITY_SEEN:
		if (identity->time && identity->time + 1000 < now)
			snprintf(buf, 48, "seen %s ago", text_age(age, now - identity->time));
		else
			snprintf(buf, 48, "seen just now");
		break;
	case IDENTITY_DECLARED:
		snprintf(buf, 48, "declared");
		break;
	default:
		snprintf(buf, 48, "-");
	}
	return buf;
}

const char *identity_loaded_driver(const struct identity *identity, char *buf, size_t size)
{
	const char *names = identity->gpu ? identity->gpu->driver : NULL;
	char *copy, *name, *save, *path;
	const char *found = NULL;

	if (identity->simulated)
		names = SIMULATED_DRIVER;
	if (!names)
		return NULL;
	copy = mem_strdup(names);
	for (name = strtok_r(copy, BLANKS, &save); name && !found;
	     name = strtok_r(NULL, BLANKS, &save)) {
		path = mem_printf("%s/%s", DRIVERS_DIR, name);
		if (!access(path, F_OK)) {
			snprintf(buf, size, "%s", name);
			found = buf;
		}
		free(path);
	}
	free(copy);
	return found;
}
