// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: conditions
 *
 * States of slots and of compositions have different words, so the word says which of the two
 * a name means. What is gone may have been either.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module/condition.h"
#include "module/netlink_gen.h"

#define BLANKS " \t"

typedef const char *(*name_fn)(unsigned int value);

static int find_state(name_fn name_of, const char *word)
{
	unsigned int i;

	for (i = 0; name_of(i); i++)
		if (!strcmp(name_of(i), word))
			return (int)i;
	return -1;
}

static void list_states(struct fault *fault, name_fn name_of)
{
	unsigned int i;

	for (i = 0; name_of(i); i++)
		fault_add(fault, "%s, ", name_of(i));
}

static int no_state(const char *word, struct fault *fault)
{
	fault_set(fault, EINVAL, "no state \"%s\"; there are ", word);
	list_states(fault, gf_state_name);
	list_states(fault, gfnl_composition_state_name);
	fault_add(fault, CONDITION_GONE);
	return -EINVAL;
}

int condition_parse(const char *text, struct condition *condition, struct fault *fault)
{
	char *copy = mem_strdup(text), *save, *name, *word;
	int err = 0;

	memset(condition, 0, sizeof(*condition));
	name = strtok_r(copy, BLANKS, &save);
	word = name ? strtok_r(NULL, BLANKS, &save) : NULL;
	if (!word || strtok_r(NULL, BLANKS, &save)) {
		err = fault_set(fault, EINVAL,
				"\"%s\": write a name and a state, as in \"train70b active\"",
				text);
		goto out;
	}
	condition->state = find_state(gf_state_name, word);
	condition->is_slot = condition->state >= 0;
	if (!condition->is_slot) {
		condition->state = find_state(gfnl_composition_state_name, word);
		condition->is_composition = condition->state >= 0;
	}
	if (!strcmp(word, CONDITION_GONE)) {
		condition->is_slot = true;
		condition->is_composition = true;
	}
	if (condition->is_slot || condition->is_composition)
		condition->name = mem_strdup(name);
	else
		err = no_state(word, fault);
out:
	free(copy);
	return err;
}

bool condition_met(const struct condition *condition, const struct gf_fabric *fabric)
{
	const struct gf_slot *slot = gf_slot_by_name(fabric, condition->name);
	const struct gf_composition *composition = gf_composition_by_name(fabric, condition->name);

	if (condition->state < 0)
		return !slot && !composition;
	if (condition->is_slot)
		return slot && slot->state == (uint32_t)condition->state;
	return composition && composition->state == (uint32_t)condition->state;
}

void condition_free(struct condition *condition)
{
	free(condition->name);
	memset(condition, 0, sizeof(*condition));
}
