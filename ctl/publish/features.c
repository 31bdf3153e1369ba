// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: node features
 *
 * Lines of "key=value" that become labels of a node. A label's value is at
 * most 63 letters, digits, dashes, underscores and dots, with a letter or digit at both
 * ends; the part of a key behind the slash as well. A line that is not so is
 * dropped by the reader, so none is written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "publish/capacity.h"
#include "publish/features.h"

#define DOMAIN "gpufabric.io/"
#define LABEL_MAX 63
#define POOL_LABEL "fabric."
/* With a checksum behind it, and POOL_LABEL before it, it is a label's name. */
#define POOL_NAME_PLAIN 47

static bool alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_label(const char *s)
{
	size_t len = strlen(s), i;

	if (!len || len > LABEL_MAX || !alphanumeric(s[0]) || !alphanumeric(s[len - 1]))
		return false;
	for (i = 0; i < len; i++)
		if (!alphanumeric(s[i]) && !strchr("-_.", s[i]))
			return false;
	return true;
}

static void features_put(struct text *t, char *key, char *value)
{
	if (is_label(key) && is_label(value))
		text_add(t, DOMAIN "%s=%s\n", key, value);
	free(key);
	free(value);
}

static void print_kind(struct text *t, const struct capacity_kind *kind)
{
	features_put(t, mem_printf("%s.ready", kind->name), mem_printf("%zu", kind->ready));
	features_put(t, mem_printf("%s.free", kind->name),
		     mem_printf("%zu", kind->ready - kind->held));
	if (kind->memory)
		features_put(t, mem_printf("%s.memory-mib", kind->name),
			     mem_printf("%llu", (unsigned long long)(kind->memory >> 20)));
	if (kind->mixed)
		features_put(t, mem_printf("%s.driver", kind->name), mem_strdup("mixed"));
	else if (kind->driver)
		features_put(t, mem_printf("%s.driver", kind->name), mem_strdup(kind->driver));
}

/* FNV-1a, 32 bits. */
static uint32_t name_checksum(const char *name)
{
	uint32_t sum = 2166136261u;

	while (*name)
		sum = (sum ^ (unsigned char)*name++) * 16777619u;
	return sum;
}

/*
 * gpufabric-dra calls the pool of a manager so: [a-z0-9-], and a checksum of the name behind it
 * where that has something else.
 */
static char *pool_name(const char *manager)
{
	size_t len = strlen(manager), i;
	bool same = len && len <= POOL_NAME_PLAIN;
	struct text t = { 0 };

	for (i = 0; i < len && i < POOL_NAME_PLAIN; i++) {
		char c = manager[i];
		bool inner = i && manager[i + 1];

		if (c >= 'A' && c <= 'Z') {
			same = false;
			c += 'a' - 'A';
		} else if (!alphanumeric(c) && !(c == '-' && inner)) {
			same = false;
			c = '-';
		}
		text_add(&t, "%c", !i && c == '-' ? 'x' : c);
	}
	if (!same)
		text_add(&t, "%s%08x", len ? "-" : "", name_checksum(manager));
	return t.text;
}

char *features_print(const struct gf_fabric *fabric, const struct knowledge *knowledge,
		     const struct managers *managers)
{
	struct capacity capacity;
	struct text t = { 0 };
	size_t ready = 0, held = 0, i;

	capacity_of(fabric, knowledge, &capacity);
	for (i = 0; i < capacity.n; i++) {
		ready += capacity.kinds[i].ready;
		held += capacity.kinds[i].held;
	}
	features_put(&t, mem_strdup("slots"), mem_printf("%zu", fabric->n_slots));
	features_put(&t, mem_strdup("gpus.ready"), mem_printf("%zu", ready));
	features_put(&t, mem_strdup("gpus.free"), mem_printf("%zu", ready - held));
	for (i = 0; i < capacity.n; i++)
		print_kind(&t, &capacity.kinds[i]);
	for (i = 0; i < managers->n; i++) {
		char *pool = pool_name(managers->conf[i].name);

		features_put(&t, mem_printf(POOL_LABEL "%s", pool),
			     mem_printf("%zu", managers->conf[i].n_ports));
		free(pool);
	}
	capacity_free(&capacity);
	return t.text;
}
