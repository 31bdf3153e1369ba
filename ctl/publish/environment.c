// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: environment of a composition
 *
 * gpuctl run sets it for its command, and gpuctl env prints it for processes that others start.
 */
#include <stdlib.h>
#include <string.h>

#include "publish/environment.h"

/* What no shell takes for anything else than itself. */
#define SHELL_PLAIN                                                                                \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"                           \
	"_-+=.,:/@%"

/* Takes the value. */
static void environment_set(struct environment *environment, const char *name, char *value)
{
	environment->items[environment->n++] =
		(struct visible){ name, value ? value : mem_strdup("") };
}

void environment_of(const char *proc, const char *sys, const struct gf_fabric *fabric,
		    const struct gf_composition *composition, const struct gf_slot *only,
		    struct environment *environment)
{
	const struct gf_slot **slots = mem_zalloc(composition->n_members, sizeof(*slots));
	struct text names = { 0 }, addresses = { 0 };
	size_t i, n = 0;

	memset(environment, 0, sizeof(*environment));
	for (i = 0; i < composition->n_members; i++) {
		const struct gf_slot *slot = gf_slot_by_id(fabric, composition->members[i].slot_id);
		const struct gf_function *gpu = slot ? gf_gpu_function(slot) : NULL;

		if (!gpu || (only && slot != only))
			continue;
		slots[n++] = slot;
		text_join(&names, " ", slot->name);
		for (; gpu; gpu = gf_gpu_next(slot, gpu))
			text_join(&addresses, " ", gpu->address);
	}
	environment_set(environment, "GPUFABRIC_COMPOSITION", mem_strdup(composition->name));
	environment_set(environment, "GPUFABRIC_SLOTS", names.text);
	environment_set(environment, "GPUFABRIC_ADDRESSES", addresses.text);
	environment->n += visible_devices(proc, sys, slots, n, &environment->items[environment->n]);
	free(slots);
}

void environment_free(struct environment *environment)
{
	size_t i;

	for (i = 0; i < environment->n; i++)
		free(environment->items[i].value);
	memset(environment, 0, sizeof(*environment));
}

/* In single quotes, where only those end them. */
static void environment_quote(struct text *text, const char *value)
{
	if (*value && strspn(value, SHELL_PLAIN) == strlen(value)) {
		text_add(text, "%s", value);
		return;
	}
	text_add(text, "'");
	for (; *value; value++)
		text_add(text, *value == '\'' ? "'\\''" : "%c", *value);
	text_add(text, "'");
}

void environment_write(const struct environment *environment, enum environment_format format,
		       struct text *text)
{
	size_t i;

	for (i = 0; i < environment->n; i++) {
		const struct visible *item = &environment->items[i];

		text_add(text, "%s%s=", format == ENVIRONMENT_SHELL ? "export " : "", item->name);
		if (format == ENVIRONMENT_SHELL)
			environment_quote(text, item->value);
		else
			text_add(text, "%s", item->value);
		text_add(text, "\n");
		if (format == ENVIRONMENT_NULL)
			text->text[text->len - 1] = '\0';
	}
}
