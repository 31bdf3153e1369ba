// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPU products as the catalogue files describe them. Verified and assumed
 * values are held apart from the line in the file to the last user, so that no
 * listing can show a guess as a fact; a later directory can add either.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "gpu.h"

#define ASSUMED "assumed."

const struct gpu_fact_type gpu_fact_types[GPU_FACTS] = {
	[GPU_MEMORY_MIB] = { "memory_mib", "MiB", 1024, 4194304, true },
	[GPU_MEMORY_LABEL_GIB] = { "memory_label_gib", "GiB", 1, 4096, true },
	[GPU_DEVICES] = { "devices", "", 1, 8, true },
	[GPU_BANDWIDTH_GBS] = { "bandwidth_gbs", "GB/s", 10, 100000, false },
	[GPU_FP32_TFLOPS] = { "fp32_tflops", "TFLOP/s", 1, 10000, false },
	[GPU_FP16_TFLOPS] = { "fp16_tflops", "TFLOP/s", 1, 100000, false },
	[GPU_FP8_TFLOPS] = { "fp8_tflops", "TFLOP/s", 1, 200000, false },
	[GPU_TDP_W] = { "tdp_w", "W", 5, 5000, false },
	[GPU_IDLE_W] = { "idle_w", "W", 1, 1000, false },
	[GPU_LINK_GBS] = { "link_gbs", "GB/s", 10, 20000, false },
	[GPU_PCIE_GEN] = { "pcie_gen", "", 1, 8, true },
	[GPU_PCIE_WIDTH] = { "pcie_width", "lanes", 1, 32, true },
	[GPU_BAR1_MIB] = { "bar1_mib", "MiB", 1, 4194304, true },
	[GPU_CAPABILITY] = { "compute_capability", "", 1, 99, false },
};

static const char *const form_names[] = {
	[GPU_FORM_CARD] = "pcie-card",
	[GPU_FORM_MODULE] = "module",
	[GPU_FORM_SERVICE] = "service",
};

/* Text keys; the order is that of their bits in @seen, after the facts. */
static const struct {
	const char *key;
	size_t offset;
} text_keys[] = {
	{ "name", offsetof(struct cat_gpu, name) },
	{ "short", offsetof(struct cat_gpu, brief) },
	{ "vendor", offsetof(struct cat_gpu, vendor) },
	{ "driver", offsetof(struct cat_gpu, driver) },
	{ "link", offsetof(struct cat_gpu, link) },
	{ "source", offsetof(struct cat_gpu, source) },
	{ "note", offsetof(struct cat_gpu, note) },
};

#define N_TEXT_KEYS (sizeof(text_keys) / sizeof(text_keys[0]))

enum other_key {
	SEEN_TEXT = 2 * GPU_FACTS,
	SEEN_FORM = SEEN_TEXT + N_TEXT_KEYS,
	SEEN_ALIASES,
	SEEN_PCI,
	SEEN_PCI_VF,
};

_Static_assert(SEEN_PCI_VF < 64, "the keys of an entry fit in cat_gpu.seen");

const char *cat_gpu_form_name(enum gpu_form form)
{
	return form_names[form];
}

const char *cat_gpu_trust_name(enum gpu_trust trust)
{
	static const char *const names[] = {
		[GPU_UNKNOWN] = "unknown",
		[GPU_FROM_LABEL] = "from the label",
		[GPU_ASSUMED] = "assumed",
		[GPU_VERIFIED] = "verified",
	};

	return names[trust];
}

static int gpu_replace(char **where, const char *value, struct fault *f)
{
	char *copy = strdup(value);

	if (!copy)
		return fault_set(f, ENOMEM, "out of memory");
	free(*where);
	*where = copy;
	return 0;
}

static int hex4(const char **s, uint16_t *out)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < 4; i++) {
		char c = (*s)[i];

		if (c >= '0' && c <= '9')
			n = n * 16 + (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'f')
			n = n * 16 + (unsigned int)(c - 'a') + 10;
		else
			return -EINVAL;
	}
	*s += 4;
	*out = (uint16_t)n;
	return 0;
}

static int id_pair(const char **s, uint16_t *vendor, uint16_t *device)
{
	if (hex4(s, vendor) || *(*s)++ != ':' || hex4(s, device))
		return -EINVAL;
	return 0;
}

/* vvvv:dddd or vvvv:dddd/vvvv:dddd, the second pair being the subsystem */
static int pci_id(const char *word, bool vf, struct gpu_pci_id *id, struct fault *f)
{
	const char *s = word;
	int err;

	memset(id, 0, sizeof(*id));
	id->vf = vf;
	err = id_pair(&s, &id->vendor, &id->device);
	if (!err && *s == '/') {
		s++;
		id->sub = true;
		err = id_pair(&s, &id->subvendor, &id->subdevice);
	}
	if (err || *s)
		return fault_set(f, EINVAL,
				 "\"%.40s\" is not a PCI id: write 10de:2331, or 10de:25b6/10de:157e with its subsystem, in lower case",
				 word);
	if (id->vendor == GPU_VENDOR_SIMULATED)
		return fault_set(f, EINVAL,
				 "%04x is the vendor id of the simulator; list the imitated ids instead",
				 id->vendor);
	return 0;
}

static int pci_list(const char *value, bool vf, struct gpu_pci_id **ids, size_t *n, struct fault *f)
{
	struct gpu_pci_id *out;
	char **words;
	size_t i, count;
	int err;

	err = conf_list(value, &words, &count, f);
	if (err)
		return err;
	out = calloc(count, sizeof(*out));
	if (!out)
		err = fault_set(f, ENOMEM, "out of memory");
	for (i = 0; !err && i < count; i++)
		err = pci_id(words[i], vf, &out[i], f);
	conf_list_free(words, count);
	if (err) {
		free(out);
		return err;
	}
	free(*ids);
	*ids = out;
	*n = count;
	return 0;
}

static int set_form(struct cat_gpu *gpu, const char *value, struct fault *f)
{
	size_t i;

	for (i = 0; i < sizeof(form_names) / sizeof(form_names[0]); i++) {
		if (!strcmp(value, form_names[i])) {
			gpu->form = (enum gpu_form)i;
			gpu->has_form = true;
			return 0;
		}
	}
	return fault_set(f, EINVAL, "form \"%.40s\": use pcie-card, module or service", value);
}

static int set_aliases(struct cat_gpu *gpu, const char *value, struct fault *f)
{
	char **list;
	size_t n;
	int err;

	err = conf_list(value, &list, &n, f);
	if (err)
		return err;
	conf_list_free(gpu->aliases, gpu->n_aliases);
	gpu->aliases = list;
	gpu->n_aliases = n;
	return 0;
}

/* Every start of gpuctl reads some thousand keys: most differ in their first letter. */
static bool key_is(const char *key, const char *name)
{
	return *key == *name && !strcmp(key, name);
}

/* Bit of @key in cat_gpu.seen, -1 for a key that does not exist. */
static int gpu_key_bit(const char *key)
{
	bool assumed = !strncmp(key, ASSUMED, strlen(ASSUMED));
	const char *fact = assumed ? key + strlen(ASSUMED) : key;
	size_t i;

	for (i = 0; i < GPU_FACTS; i++)
		if (key_is(fact, gpu_fact_types[i].key))
			return (int)(assumed ? GPU_FACTS + i : i);
	for (i = 0; i < N_TEXT_KEYS; i++)
		if (key_is(key, text_keys[i].key))
			return (int)(SEEN_TEXT + i);
	if (key_is(key, "form"))
		return SEEN_FORM;
	if (key_is(key, "aliases"))
		return SEEN_ALIASES;
	if (key_is(key, "pci"))
		return SEEN_PCI;
	if (key_is(key, "pci_vf"))
		return SEEN_PCI_VF;
	return -1;
}

static int set_fact(struct cat_gpu *gpu, int bit, const char *value, struct fault *f)
{
	bool assumed = bit >= GPU_FACTS;
	int fact = assumed ? bit - GPU_FACTS : bit;
	const struct gpu_fact_type *type = &gpu_fact_types[fact];
	unsigned long long whole;
	double number;
	int err;

	if (type->whole) {
		err = conf_whole(value, (unsigned long long)type->min,
				 (unsigned long long)type->max, &whole, f);
		number = err ? 0 : (double)whole;
	} else {
		err = conf_decimal(value, type->min, type->max, &number, f);
	}
	if (err)
		return err;
	if (assumed) {
		gpu->assumed[fact] = number;
		gpu->known_assumed |= 1u << fact;
	} else {
		gpu->verified[fact] = number;
		gpu->known_verified |= 1u << fact;
	}
	return 0;
}

static int gpu_set_key(struct cat_gpu *gpu, int bit, const char *value, struct fault *f)
{
	if (bit < SEEN_TEXT)
		return set_fact(gpu, bit, value, f);
	switch (bit) {
	case SEEN_FORM:
		return set_form(gpu, value, f);
	case SEEN_ALIASES:
		return set_aliases(gpu, value, f);
	case SEEN_PCI:
		return pci_list(value, false, &gpu->pci, &gpu->n_pci, f);
	case SEEN_PCI_VF:
		return pci_list(value, true, &gpu->pci_vf, &gpu->n_pci_vf, f);
	default:
		return gpu_replace((char **)((char *)gpu + text_keys[bit - SEEN_TEXT].offset),
				   value, f);
	}
}

static int open_section(struct cat_gpu **gpus, size_t *n, unsigned int layer, const char *id,
			struct fault *f)
{
	struct cat_gpu *more;
	size_t i;

	for (i = 0; i < *n; i++) {
		if (strcmp((*gpus)[i].id, id))
			continue;
		if ((*gpus)[i].layer == layer)
			return fault_set(f, EEXIST, "[%s] is already described in this directory",
					 id);
		(*gpus)[i].layer = layer;
		(*gpus)[i].seen = 0;
		return 0;
	}
	more = mem_push(*gpus, *n, sizeof(*more));
	*gpus = more;
	memset(&more[*n], 0, sizeof(*more));
	more[*n].layer = layer;
	more[*n].id = strdup(id);
	if (!more[*n].id)
		return fault_set(f, ENOMEM, "out of memory");
	(*n)++;
	return 0;
}

int cat_gpu_item(struct cat_gpu **gpus, size_t *n, unsigned int layer, const struct conf_item *item,
		 struct fault *f)
{
	struct cat_gpu *gpu;
	size_t i;
	int bit, err;

	if (!item->key)
		return open_section(gpus, n, layer, item->section, f);

	/* Mostly the section that was opened last. */
	for (i = *n - 1; i && strcmp((*gpus)[i].id, item->section); i--)
		;
	gpu = &(*gpus)[i];
	bit = gpu_key_bit(item->key);
	if (bit < 0)
		return fault_set(f, EINVAL, "no such key: %s", item->key);
	if (gpu->seen & (1ull << bit))
		return fault_set(f, EINVAL, "%s is given twice", item->key);
	err = gpu_set_key(gpu, bit, item->value, f);
	if (err) {
		fault_prefix(f, "%s", item->key);
		return err;
	}
	if (!item->inherited)
		gpu->seen |= 1ull << bit;
	return 0;
}

int cat_gpu_complete(struct cat_gpu *gpu, struct fault *f)
{
	const char *missing = NULL;

	if (!gpu->name)
		missing = "name";
	else if (!gpu->vendor)
		missing = "vendor";
	else if (!gpu->has_form)
		missing = "form";
	else if (!gpu->source)
		missing = "source";
	else if (gpu->form == GPU_FORM_CARD && !gpu->n_pci)
		missing = "pci";
	if (missing)
		return fault_set(f, EINVAL, "[%s] needs the key %s", gpu->id, missing);
	if (!gpu->brief)
		return gpu_replace(&gpu->brief, gpu->name, f);
	return 0;
}

void cat_gpu_free(struct cat_gpu *gpus, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t t;

		free(gpus[i].id);
		for (t = 0; t < N_TEXT_KEYS; t++)
			free(*(char **)((char *)&gpus[i] + text_keys[t].offset));
		conf_list_free(gpus[i].aliases, gpus[i].n_aliases);
		free(gpus[i].pci);
		free(gpus[i].pci_vf);
	}
	free(gpus);
}

enum gpu_trust cat_gpu_fact(const struct cat_gpu *gpu, enum gpu_fact fact, double *value)
{
	if (gpu->known_verified & (1u << fact)) {
		*value = gpu->verified[fact];
		return GPU_VERIFIED;
	}
	if (gpu->known_assumed & (1u << fact)) {
		*value = gpu->assumed[fact];
		return GPU_ASSUMED;
	}
	return GPU_UNKNOWN;
}

uint64_t cat_gpu_memory_mib(const struct cat_gpu *gpu, enum gpu_trust *trust)
{
	double mib, label, devices = 1;

	*trust = cat_gpu_fact(gpu, GPU_MEMORY_MIB, &mib);
	if (*trust != GPU_UNKNOWN)
		return (uint64_t)mib;
	if (cat_gpu_fact(gpu, GPU_MEMORY_LABEL_GIB, &label) == GPU_UNKNOWN)
		return 0;
	cat_gpu_fact(gpu, GPU_DEVICES, &devices);
	*trust = GPU_FROM_LABEL;
	return (uint64_t)(label / devices * 1024 * 15 / 16);
}

/*
 * Has it matrix units for 16 bits? All that multiply faster than this do; where nobody says
 * how fast, the width of the memory tells: decoding is bound by it.
 */
#define MATRIX_TFLOPS 40
#define WIDE_GBS 600

/* Cards before this generation multiply no bf16, and engines are about to leave them. */
#define PCIE_GEN 4

bool cat_gpu_for_models(const struct cat_gpu *gpu)
{
	double tflops, gbs = 0, gen;

	if (cat_gpu_fact(gpu, GPU_PCIE_GEN, &gen) != GPU_UNKNOWN && gen < PCIE_GEN)
		return false;
	if (cat_gpu_fact(gpu, GPU_FP16_TFLOPS, &tflops) != GPU_UNKNOWN)
		return tflops >= MATRIX_TFLOPS;
	cat_gpu_fact(gpu, GPU_BANDWIDTH_GBS, &gbs);
	return gbs >= WIDE_GBS;
}
