// SPDX-License-Identifier: GPL-2.0-only
/* DOC: demand series, see series.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "series.h"

/* The tenant is what the file is called. */
static int tenant_name(const struct series_set *set, const char *path, char name[CSV_WORD_MAX],
		       struct fault *f)
{
	const char *base = strrchr(path, '/');
	size_t n, i;

	base = base ? base + 1 : path;
	n = strcspn(base, ".");
	if (!n || n >= CSV_WORD_MAX)
		return fault_set(f, EINVAL,
				 "%s:1:1: the name of the file is not the name of a tenant", path);
	memset(name, 0, CSV_WORD_MAX);
	memcpy(name, base, n);
	for (i = 0; i < set->n; i++)
		if (!strcmp(set->of[i].name, name))
			return fault_set(f, EINVAL, "%s:1:1: tenant %s has a file already", path,
					 name);
	return 0;
}

static int parse_minute(const struct series_set *set, struct csv *c, size_t at_minute,
			uint64_t *first, struct fault *f)
{
	uint64_t minute;
	int err = csv_whole(c, "minute", SERIES_MINUTE_MAX, false, &minute, f);

	if (err)
		return err;
	if (!at_minute)
		*first = minute;
	if (minute != *first + at_minute)
		return csv_fault(c, c->begin, f,
				 "minute %llu where %llu is due: not sorted, or a gap",
				 (unsigned long long)minute,
				 (unsigned long long)(*first + at_minute));
	if (set->n && (at_minute == set->minutes || minute != set->first + at_minute))
		return csv_fault(c, c->begin, f, "minute %llu is not one of tenant %s",
				 (unsigned long long)minute, set->of[0].name);
	return 0;
}

static int series_parse_line(struct csv *c, uint32_t pool, struct series *s, int32_t *demand,
			     struct fault *f)
{
	uint64_t quota, running, pending;
	const char *at;
	int err = csv_whole(c, "quota_gpus", SERIES_GPUS_MAX, false, &quota, f);

	if (err)
		return err;
	at = c->at;
	err = csv_whole(c, "running_gpus", SERIES_GPUS_MAX, false, &running, f);
	if (err)
		return err;
	if (running > pool)
		return csv_fault(c, at, f, "%llu GPUs run, the pool has %u",
				 (unsigned long long)running, pool);
	err = csv_whole(c, "pending_gpus", SERIES_GPUS_MAX, true, &pending, f);
	if (err)
		return err;
	if ((int32_t)quota > s->quota)
		s->quota = (int32_t)quota;
	*demand = (int32_t)(running + pending);
	return 0;
}

int series_add(struct series_set *set, const char *name, const char *text, size_t len,
	       uint32_t pool, struct fault *f)
{
	struct series s = { 0 };
	size_t n = 0, room = 0;
	uint64_t first = 0;
	struct csv c = { 0 };
	int err;

	err = tenant_name(set, name, s.name, f);
	if (!err)
		err = csv_open(&c, name, text, len, SERIES_HEADING, f);
	if (!err && set->n == SERIES_TENANTS_MAX)
		err = csv_fault(&c, c.begin, f, "more than %d tenants", SERIES_TENANTS_MAX);
	while (!err && csv_next(&c)) {
		if (n == room) {
			room = room ? 2 * room : 1024;
			s.demand = mem_grow(s.demand, room, sizeof(*s.demand));
		}
		err = parse_minute(set, &c, n, &first, f);
		if (!err)
			err = series_parse_line(&c, pool, &s, &s.demand[n++], f);
	}
	if (!err && set->n && n != set->minutes)
		err = csv_fault(&c, c.begin, f, "ends after %zu minutes, tenant %s has %zu", n,
				set->of[0].name, set->minutes);
	if (err) {
		free(s.demand);
		return err;
	}
	set->minutes = n;
	set->first = first;
	set->of = mem_grow(set->of, set->n + 1, sizeof(*set->of));
	set->of[set->n++] = s;
	return 0;
}

void series_free(struct series_set *set)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		free(set->of[i].demand);
	free(set->of);
	memset(set, 0, sizeof(*set));
}
