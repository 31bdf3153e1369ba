// SPDX-License-Identifier: GPL-2.0-only
/* Lists of generic resources, and what follows from a job for its composition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "slurm/gres.h"

/* Slurm's words for no limit, and for none given. */
#define MINUTES_NO_LIMIT 0xfffffffe

static bool kind_valid(const char *kind)
{
	return strlen(kind) < GRES_KIND_MAX &&
	       strspn(kind, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       strlen(kind) &&
	       *kind != '-';
}

/* One item without what stands in brackets: "gpu", "gpu:4", "gpu:h100", "gpu:h100:4". */
static bool item_read(char *item, struct gres_gpus *gpus)
{
	char *kind = strchr(item, ':'), *count;
	uint64_t n = 1;

	*gpus = (struct gres_gpus){ .count = 1 };
	if (!kind)
		return true;
	*kind++ = '\0';
	count = strrchr(kind, ':');
	if (count)
		*count++ = '\0';
	if (count && !text_number(count, UINT32_MAX, &n))
		return false;
	if (!count && text_number(kind, UINT32_MAX, &n))
		kind = "";
	if (!kind_valid(kind))
		return false;
	strcpy(gpus->kind, kind);
	gpus->count = (uint32_t)n;
	return true;
}

static int kinds_add(const struct gres_gpus *gpus, struct gres_gpus kinds[GRES_KINDS_MAX], int n)
{
	int i;

	if (!gpus->count)
		return n;
	for (i = 0; i < n; i++)
		if (!strcmp(kinds[i].kind, gpus->kind)) {
			kinds[i].count += gpus->count;
			return n;
		}
	if (n == GRES_KINDS_MAX)
		return -1;
	kinds[n] = *gpus;
	return n + 1;
}

int gres_read(const char *text, struct gres_gpus kinds[GRES_KINDS_MAX])
{
	char item[2 * GRES_KIND_MAX];
	const char *s = text ? text : "";
	int n = 0;

	while (*s && n >= 0) {
		struct gres_gpus gpus;
		size_t len = 0;
		int depth = 0;

		for (; *s && (*s != ',' || depth); s++) {
			depth += *s == '(' ? 1 : *s == ')' ? -1 : 0;
			if (depth < 0 || len + 1 == sizeof(item))
				return -1;
			if (depth > 0 || *s == ')')
				continue;
			item[len++] = *s;
		}
		item[len] = '\0';
		s += *s == ',';
		if (strncmp(item, "gpu", 3) || (item[3] && item[3] != ':'))
			continue;
		n = item_read(item, &gpus) ? kinds_add(&gpus, kinds, n) : -1;
	}
	return n;
}

bool gres_holds(const char *text, const struct gres_gpus *kinds, size_t n)
{
	struct gres_gpus there[GRES_KINDS_MAX];
	int have = gres_read(text, there), j;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t count = 0;

		for (j = 0; j < have; j++)
			if (!*kinds[i].kind || !strcmp(there[j].kind, kinds[i].kind))
				count += there[j].count;
		if (count < kinds[i].count)
			return false;
	}
	return true;
}

uint32_t gres_licences(const char *licences, const char *kind)
{
	const char *s = licences ? licences : "";
	const size_t prefix = strlen(GRES_LICENCE);
	uint32_t count = 0;
	size_t len;

	for (; *s; s += len + (s[len] != '\0')) {
		size_t name = strcspn(s, ":,");

		len = strcspn(s, ",");
		if (name <= prefix || strncmp(s, GRES_LICENCE, prefix))
			continue;
		if (!*kind ||
		    (name - prefix == strlen(kind) && !strncmp(s + prefix, kind, name - prefix)))
			count += s[name] == ':' ? (uint32_t)strtoul(s + name + 1, NULL, 10) : 1;
	}
	return count;
}

uint32_t gres_covered(uint32_t slots, uint32_t licences, uint32_t nodes)
{
	return nodes == 1 && licences < slots ? licences : slots;
}

void gres_tenant(const char *account, uint32_t uid, char tenant[GRES_KIND_MAX])
{
	if (account && text_name_valid(account))
		snprintf(tenant, GRES_KIND_MAX, "%s", account);
	else
		snprintf(tenant, GRES_KIND_MAX, "uid-%u", uid);
}

uint64_t gres_lease(uint32_t minutes)
{
	return minutes < MINUTES_NO_LIMIT ? 60ull * minutes + LEASE_MORE_S : 0;
}
