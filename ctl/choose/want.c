// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: wants
 *
 * The grammar of --gpu, which admins know from other composers:
 * [[vendor:]model:]count, additive, and a count of 0 excludes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "choose/choose.h"
#include "linux/gpufabric.h"

int choose_parse_want(const char *text, char **word, size_t *count, struct fault *fault)
{
	const char *colon = strrchr(text, ':');
	const char *number = colon ? colon + 1 : text;
	uint64_t value;

	*word = NULL;
	if (!text_number(number, UINT32_MAX, &value)) {
		if (!colon && *text)
			return fault_set(fault, EINVAL, "--gpu %s lacks a count: write %s:1", text,
					 text);
		return fault_set(fault, EINVAL,
				 "--gpu %s: write [[vendor:]model:]count, such as h100:4", text);
	}
	if (value > GPUFABRIC_MEMBERS_MAX)
		return fault_set(fault, EINVAL, "--gpu %s: at most %d GPUs in one request", text,
				 GPUFABRIC_MEMBERS_MAX);
	if (colon == text)
		return fault_set(fault, EINVAL, "--gpu %s: no model before the colon", text);
	if (!colon && !value)
		return fault_set(fault, EINVAL, "--gpu 0 excludes every GPU");
	if (colon)
		*word = mem_printf("%.*s", (int)(colon - text), text);
	*count = value;
	return 0;
}

/* "10de" or "10de:2331": ids match GPUs that the catalogue lacks. */
static bool matches_ids(const struct choose_slot *slot, const char *word)
{
	unsigned int vendor, device;
	int end = 0;

	if (sscanf(word, "%4x:%4x%n", &vendor, &device, &end) == 2 && end && !word[end])
		return slot->vendor == vendor && slot->device == device;
	if (strlen(word) == 4 && sscanf(word, "%4x%n", &vendor, &end) == 1 && end == 4)
		return slot->vendor == vendor;
	return false;
}

bool choose_matches(const struct choose_slot *slot, const char *word)
{
	const char *colon = strchr(word, ':');

	if (matches_ids(slot, word))
		return true;
	if (!slot->gpu)
		return !strcasecmp(slot->kind, word);
	if (!colon)
		return !strcasecmp(word, slot->gpu->vendor) || cat_gpu_answers(slot->gpu, word);
	return strlen(slot->gpu->vendor) == (size_t)(colon - word) &&
	       !strncasecmp(word, slot->gpu->vendor, (size_t)(colon - word)) &&
	       cat_gpu_answers(slot->gpu, colon + 1);
}

/**
 * struct tally - how many GPUs of a kind
 * @kind: the kind
 * @count: how many
 */
struct tally {
	const char *kind;
	size_t count;
};

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *ta = a, *tb = b;

	if (ta->count != tb->count)
		return ta->count > tb->count ? -1 : 1;
	return strcmp(ta->kind, tb->kind);
}

char *choose_pool(const struct choose_slot *slots, size_t n)
{
	struct tally *tallies = mem_zalloc(n, sizeof(*tallies));
	struct text text = { 0 };
	size_t kinds = 0, i, j;

	for (i = 0; i < n; i++) {
		if (slots[i].bar != CHOOSE_FREE)
			continue;
		for (j = 0; j < kinds && strcmp(tallies[j].kind, slots[i].kind);)
			j++;
		if (j == kinds)
			tallies[kinds++].kind = slots[i].kind;
		tallies[j].count += slots[i].gpus;
	}
	qsort(tallies, kinds, sizeof(*tallies), compare_tallies);
	for (i = 0; i < kinds; i++)
		text_add(&text, "%s%zu %s", i ? ", " : "", tallies[i].count, tallies[i].kind);
	free(tallies);
	return text.text ? text.text : mem_strdup("none");
}
