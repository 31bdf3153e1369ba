// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding a GPU product: by the ids in a device's config space, or by what
 * people type.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gpu.h"

#define FOLDED_MAX 96

static bool same_id(const struct gpu_pci_id *id, uint16_t vendor, uint16_t device,
		    uint16_t subvendor, uint16_t subdevice, bool sub)
{
	if (id->vendor != vendor || id->device != device || id->sub != sub)
		return false;
	return !sub || (id->subvendor == subvendor && id->subdevice == subdevice);
}

static bool has_id(const struct gpu_pci_id *ids, size_t n, uint16_t vendor, uint16_t device,
		   uint16_t subvendor, uint16_t subdevice, bool sub)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (same_id(&ids[i], vendor, device, subvendor, subdevice, sub))
			return true;
	return false;
}

struct gpu_identity cat_gpu_by_pci(const struct cat_gpu *gpus, size_t n, uint16_t vendor,
				   uint16_t device, uint16_t subvendor, uint16_t subdevice)
{
	struct gpu_identity out = { 0 };
	size_t i;
	int sub;

	if (vendor == GPU_VENDOR_SIMULATED) {
		/* what it imitates is all that its subsystem ids can say */
		out.simulated = true;
		vendor = subvendor;
		device = subdevice;
		subvendor = 0;
		subdevice = 0;
	}
	/* an entry that names the subsystem is the more precise one */
	for (sub = 1; sub >= 0; sub--) {
		for (i = 0; i < n; i++) {
			const struct cat_gpu *gpu = &gpus[i];

			out.vf = has_id(gpu->pci_vf, gpu->n_pci_vf, vendor, device, subvendor,
					subdevice, sub);
			if (out.vf || has_id(gpu->pci, gpu->n_pci, vendor, device, subvendor,
					     subdevice, sub)) {
				out.gpu = gpu;
				return out;
			}
		}
	}
	return out;
}

const char *cat_gpu_label(const struct gpu_identity *id, uint16_t vendor, uint16_t device,
			  uint16_t subvendor, uint16_t subdevice, char *buf, size_t size)
{
	const char *mark = id->simulated ? " (sim)" : "";

	if (id->gpu)
		snprintf(buf, size, "%s%s%s", id->gpu->brief, id->vf ? " VF" : "", mark);
	else if (id->simulated)
		snprintf(buf, size, "%04x:%04x%s", subvendor, subdevice, mark);
	else
		snprintf(buf, size, "%04x:%04x", vendor, device);
	return buf;
}

/* Lower case without punctuation; false if too long to be any name. */
static bool gpu_fold(const char *s, char *out)
{
	size_t n = 0;

	for (; *s; s++) {
		if (!isalnum((unsigned char)*s))
			continue;
		if (n + 1 == FOLDED_MAX)
			return false;
		out[n++] = (char)tolower((unsigned char)*s);
	}
	out[n] = '\0';
	return n > 0;
}

/* Equal when folded, @folded perhaps with the vendor before it. */
static bool gpu_is_called(const struct cat_gpu *gpu, const char *own, const char *folded)
{
	char buf[FOLDED_MAX];
	size_t vendor = strlen(gpu->vendor);

	if (!gpu_fold(own, buf))
		return false;
	return !strcmp(buf, folded) ||
	       (!strncmp(folded, gpu->vendor, vendor) && !strcmp(buf, folded + vendor));
}

static bool answers_exactly(const struct cat_gpu *gpu, const char *folded)
{
	return gpu_is_called(gpu, gpu->id, folded) || gpu_is_called(gpu, gpu->name, folded);
}

static bool answers(const struct cat_gpu *gpu, const char *folded)
{
	size_t i;

	if (answers_exactly(gpu, folded) || gpu_is_called(gpu, gpu->brief, folded))
		return true;
	for (i = 0; i < gpu->n_aliases; i++)
		if (gpu_is_called(gpu, gpu->aliases[i], folded))
			return true;
	return false;
}

bool cat_gpu_answers(const struct cat_gpu *gpu, const char *name)
{
	char folded[FOLDED_MAX];

	return gpu_fold(name, folded) && answers(gpu, folded);
}

size_t cat_gpu_matches(const struct cat_gpu *gpus, size_t n, const char *name,
		       const struct cat_gpu **out, size_t max)
{
	char folded[FOLDED_MAX];
	size_t i, count = 0;

	if (!gpu_fold(name, folded))
		return 0;
	for (i = 0; i < n; i++) {
		if (!answers(&gpus[i], folded))
			continue;
		if (count < max)
			out[count] = &gpus[i];
		count++;
	}
	return count;
}

/* Products in whose id the folded name stands, or the other way round. */
static void gpu_suggest(const struct cat_gpu *gpus, size_t n, const char *folded, struct fault *f)
{
	const char *lead = "; did you mean ";
	char id[FOLDED_MAX];
	size_t i, shown = 0;

	for (i = 0; i < n && shown < 6; i++) {
		if (!gpu_fold(gpus[i].id, id))
			continue;
		if (!strstr(id, folded) && strncmp(id, folded, 3))
			continue;
		fault_add(f, "%s%s", lead, gpus[i].id);
		lead = ", ";
		shown++;
	}
	fault_add(f, shown ? "?" : "; 'gpuctl gpus' lists all");
}

int cat_gpu_find(const struct cat_gpu *gpus, size_t n, const char *name, const struct cat_gpu **out,
		 struct fault *f)
{
	const struct cat_gpu *found = NULL, *card = NULL;
	size_t i, count = 0, cards = 0;
	const char *lead = "";
	char folded[FOLDED_MAX];

	if (!gpu_fold(name, folded))
		return fault_set(f, ENOENT, "no GPU is called \"%.80s\"; 'gpuctl gpus' lists all",
				 name);
	for (i = 0; i < n; i++) {
		if (answers_exactly(&gpus[i], folded)) {
			*out = &gpus[i];
			return 0;
		}
		if (!answers(&gpus[i], folded))
			continue;
		found = &gpus[i];
		count++;
		if (found->form == GPU_FORM_CARD) {
			card = found;
			cards++;
		}
	}
	if (count == 1 || cards == 1) {
		*out = count == 1 ? found : card;
		return 0;
	}
	if (!count) {
		fault_set(f, ENOENT, "no GPU is called \"%.80s\"", name);
		gpu_suggest(gpus, n, folded, f);
		return -ENOENT;
	}
	fault_set(f, ENOTUNIQ, "\"%.80s\" may be ", name);
	for (i = 0; i < n; i++) {
		if (answers(&gpus[i], folded)) {
			fault_add(f, "%s%s", lead, gpus[i].id);
			lead = ", ";
		}
	}
	fault_add(f, "; name one of them");
	return -ENOTUNIQ;
}
