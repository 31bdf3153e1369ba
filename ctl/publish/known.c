// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what others were told
 *
 * Events can be lost, and a watch can end and start again. What happened meanwhile shows in a
 * snapshot only beside what was told before. So this keeps the last state of each slot, in memory
 * and in a file that lives as long as the system runs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/replace.h"
#include "base/text.h"
#include "publish/known.h"

#define FILE_NAME "told"
#define FILE_MODE 0600

static size_t known_at(const struct known *known, const char *name)
{
	size_t i;

	for (i = 0; i < known->n && strcmp(known->slots[i].name, name) != 0;)
		i++;
	return i;
}

static void known_drop(struct known *known, size_t at)
{
	free(known->slots[at].name);
	known->slots[at] = known->slots[--known->n];
	known->changed = true;
}

static void known_clear(struct known *known)
{
	while (known->n)
		known_drop(known, known->n - 1);
}

static struct known_slot *known_add(struct known *known, const char *name)
{
	struct known_slot *slot;

	known->slots = mem_push(known->slots, known->n, sizeof(*known->slots));
	slot = &known->slots[known->n++];
	*slot = (struct known_slot){ .name = mem_strdup(name) };
	return slot;
}

/* "STATE FAULTS SINCE NAME": a name may have spaces. */
static bool known_read_slot(struct known *known, const char *line)
{
	struct known_slot slot = { 0 }, *to;
	int end = 0;

	if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %n", &slot.state, &slot.faults,
		   &slot.since, &end) != 3 ||
	    !end || !line[end])
		return false;
	to = known_add(known, line + end);
	to->state = slot.state;
	to->faults = slot.faults;
	to->since = slot.since;
	return true;
}

static bool known_read(struct known *known, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	bool good = getline(&line, &size, file) > 0 &&
		    sscanf(line, "%" SCNx64, &known->instance) == 1;

	while (good && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		good = known_read_slot(known, line);
	}
	free(line);
	return good;
}

void known_open(struct known *known, const char *dir)
{
	FILE *file;

	*known = (struct known){ .path = dir ? mem_printf("%s/" FILE_NAME, dir) : NULL };
	file = dir ? fopen(known->path, "re") : NULL;
	if (!file)
		return;
	if (!known_read(known, file))
		known_clear(known);
	fclose(file);
	known->changed = false;
}

void known_close(struct known *known)
{
	known_clear(known);
	free(known->slots);
	free(known->path);
	*known = (struct known){ 0 };
}

void known_begin(struct known *known, uint64_t instance)
{
	if (known->instance == instance)
		return;
	known_clear(known);
	known->instance = instance;
	known->changed = true;
}

const struct known_slot *known_find(const struct known *known, const char *name)
{
	size_t at = known_at(known, name);

	return at < known->n ? &known->slots[at] : NULL;
}

void known_set(struct known *known, const struct gf_slot *slot, uint64_t sequence)
{
	size_t at = known_at(known, slot->name);
	bool is_new = at == known->n;
	struct known_slot *to = is_new ? known_add(known, slot->name) : &known->slots[at];

	if (is_new || to->state != slot->state || to->faults != slot->faults ||
	    to->since != slot->since)
		known->changed = true;
	to->state = slot->state;
	to->faults = slot->faults;
	to->since = slot->since;
	to->sequence = sequence;
}

void known_forget(struct known *known, const char *name)
{
	size_t at = known_at(known, name);

	if (at < known->n)
		known_drop(known, at);
}

void known_retain(struct known *known, const struct gf_fabric *fabric)
{
	size_t i;

	for (i = known->n; i; i--)
		if (!gf_slot_by_name(fabric, known->slots[i - 1].name))
			known_drop(known, i - 1);
}

int known_keep(struct known *known)
{
	struct text text = { 0 };
	size_t i;
	int err;

	if (!known->path || !known->changed)
		return 0;
	text_add(&text, "%016" PRIx64 "\n", known->instance);
	for (i = 0; i < known->n; i++)
		text_add(&text, "%" PRIu32 " %" PRIu32 " %" PRIu64 " %s\n", known->slots[i].state,
			 known->slots[i].faults, known->slots[i].since, known->slots[i].name);
	err = replace_file(known->path, text.text, FILE_MODE);
	free(text.text);
	if (!err)
		known->changed = false;
	return err;
}
