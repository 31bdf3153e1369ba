// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: tenants
 *
 * A guarantee is what the others leave; a limit is what is never passed. Between the two a
 * tenant borrows: it takes what is free as long as the GPUs that stay free
 * cover every other tenant's outstanding guarantee. Nothing is ever taken away for
 * a guarantee: a tenant that borrowed keeps what it has until it gives it back.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/text.h"
#include "choose/tenant.h"

struct reader {
	struct tenants *tenants;
	bool has_guarantee, has_limit;
};

struct tenant *tenants_find(const struct tenants *tenants, const char *name)
{
	size_t i;

	for (i = 0; i < tenants->n; i++)
		if (!strcmp(tenants->items[i].name, name))
			return &tenants->items[i];
	return NULL;
}

static int tenant_begin(struct reader *reader, const char *name, struct fault *fault)
{
	struct tenants *tenants = reader->tenants;

	if (!text_name_valid(name))
		return fault_set(fault, EINVAL,
				 "tenant [%s]: a name is a letter followed by up to 62 letters, digits, '_', '.' or '-'",
				 name);
	if (tenants_find(tenants, name))
		return fault_set(fault, EINVAL, "tenant [%s] is described twice", name);
	tenants->items = mem_grow(tenants->items, tenants->n + 1, sizeof(*tenants->items));
	tenants->items[tenants->n++] =
		(struct tenant){ .name = mem_strdup(name), .limit = TENANT_NO_LIMIT };
	reader->has_guarantee = false;
	reader->has_limit = false;
	return 0;
}

static int tenant_take_item(const struct conf_item *item, void *arg, struct fault *fault)
{
	struct reader *reader = arg;
	struct tenants *tenants = reader->tenants;
	unsigned long long value;
	size_t *number;
	bool *has;
	int err;

	if (!item->key)
		return tenant_begin(reader, item->section, fault);
	if (!strcmp(item->key, "guarantee")) {
		number = &tenants->items[tenants->n - 1].guarantee;
		has = &reader->has_guarantee;
	} else if (!strcmp(item->key, "limit")) {
		number = &tenants->items[tenants->n - 1].limit;
		has = &reader->has_limit;
	} else {
		return fault_set(fault, EINVAL,
				 "unknown key %s: the keys of a tenant are guarantee and limit",
				 item->key);
	}
	if (*has)
		return fault_set(fault, EINVAL, "%s is given twice", item->key);
	err = conf_whole(item->value, 0, UINT_MAX, &value, fault);
	if (err) {
		fault_prefix(fault, "%s", item->key);
		return err;
	}
	*number = value;
	/* A line of the section itself may say otherwise than [defaults]. */
	*has = !item->inherited;
	return 0;
}

int tenants_parse(struct tenants *tenants, const char *file, const char *text, size_t len,
		  struct fault *fault)
{
	struct reader reader = { .tenants = tenants };

	return conf_parse_names(file, text, len, tenant_take_item, &reader, fault);
}

int tenants_check(const struct tenants *tenants, struct fault *fault)
{
	size_t i;

	for (i = 0; i < tenants->n; i++)
		if (tenants->items[i].guarantee > tenants->items[i].limit)
			return fault_set(fault, EINVAL,
					 "tenant %s: its guarantee of %zu is above its limit of %zu",
					 tenants->items[i].name, tenants->items[i].guarantee,
					 tenants->items[i].limit);
	return 0;
}

void tenants_free(struct tenants *tenants)
{
	size_t i;

	for (i = 0; i < tenants->n; i++)
		free(tenants->items[i].name);
	free(tenants->items);
	memset(tenants, 0, sizeof(*tenants));
}

/* What a tenant is guaranteed and does not hold. */
static size_t outstanding(const struct tenant *tenant)
{
	return tenant->guarantee > tenant->held ? tenant->guarantee - tenant->held : 0;
}

int tenants_know(const struct tenants *tenants, const char *name, struct fault *fault)
{
	size_t i;

	if (!name || !tenants->n || tenants_find(tenants, name))
		return 0;
	fault_set(fault, EINVAL, "no tenant %s; the tenants are: ", name);
	for (i = 0; i < tenants->n; i++)
		fault_add(fault, "%s%s", i ? ", " : "", tenants->items[i].name);
	return -EINVAL;
}

static int reserved(const struct tenants *tenants, const struct tenant *own, size_t more,
		    size_t left, size_t others, struct fault *fault)
{
	const char *sep = "";
	size_t i;

	fault_set(fault, EDQUOT, "%zu more GPU%s would leave %zu free, and %zu %s guaranteed to ",
		  more, more == 1 ? "" : "s", left, others, others == 1 ? "is" : "are");
	for (i = 0; i < tenants->n; i++) {
		const struct tenant *other = &tenants->items[i];

		if (other == own || !outstanding(other))
			continue;
		fault_add(fault, "%s%s (%zu)", sep, other->name, outstanding(other));
		sep = ", ";
	}
	return -EDQUOT;
}

int tenants_admit(const struct tenants *tenants, const char *name, size_t more, size_t left,
		  struct fault *fault)
{
	const struct tenant *own = name ? tenants_find(tenants, name) : NULL;
	size_t others = 0, i;
	int err;

	if (!tenants->n || !more)
		return 0;
	err = tenants_know(tenants, name, fault);
	if (err)
		return err;
	if (own && (own->limit < own->held || own->limit - own->held < more))
		return fault_set(fault, EDQUOT,
				 "tenant %s holds %zu of at most %zu GPUs: %zu more would be above its limit",
				 name, own->held, own->limit, more);
	if (own && more <= outstanding(own))
		return 0;
	for (i = 0; i < tenants->n; i++)
		if (&tenants->items[i] != own)
			others += outstanding(&tenants->items[i]);
	if (left < others)
		return reserved(tenants, own, more, left, others, fault);
	return 0;
}

size_t tenants_room(const struct tenants *tenants, const char *name, size_t available)
{
	struct fault fault = { "" };
	size_t more = available;

	while (more && tenants_admit(tenants, name, more, available - more, &fault))
		more--;
	return more;
}
