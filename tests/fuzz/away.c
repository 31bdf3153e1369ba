// SPDX-License-Identifier: GPL-2.0-only
// sources: slurm/away.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/*
 * What gpufabric-slurm-sync reads: licences, and behind form feeds nodes, the pool, and reservations.
 * No more is away than there are licences, and what is to be reserved is found again in a reservation.
 */
#include "base/text.h"
#include "fuzz.h"
#include "slurm/away.h"

static char *part(const char **at, const char *end)
{
	const char *stop = memchr(*at, '\f', (size_t)(end - *at));
	char *text;

	if (!stop)
		stop = end;
	/* Output of programs is a string. */
	text = mem_printf("%.*s", (int)(stop - *at), *at);
	*at = stop < end ? stop + 1 : end;
	return text;
}

static unsigned long total(const struct away *away)
{
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < away->n_kinds; i++)
		sum += away->kinds[i].total;
	return sum;
}

/* Numbers behind colons. */
static unsigned long sum_of(const char *licences)
{
	unsigned long sum = 0;

	while ((licences = strchr(licences, ':')))
		sum += strtoul(++licences, NULL, 10);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct away away = { 0 }, local = { 0 };
	struct fault fault = { "" };
	char *text, *wanted, *line, *found;

	if (size > 4096)
		return 0;
	must(!away_add_local(&local, "h100:1"));
	text = part(&at, end);
	if (away_read_licences(&away, &local, text, &fault))
		must(fuzz_is_line(fault.text));
	free(text);
	text = part(&at, end);
	away_read_nodes(&away, text);
	free(text);
	text = part(&at, end);
	if (away_read_pool(&away, text, &fault))
		must(fuzz_is_line(fault.text));
	free(text);
	text = part(&at, end);
	found = away_reserved(text, "gf_away");
	if (found)
		must(!strpbrk(found, " \n"));
	free(found);
	free(text);

	wanted = away_licences(&away);
	if (wanted) {
		must(*wanted && away_same(wanted, wanted) && sum_of(wanted) <= total(&away));
		line = mem_printf("ReservationName=x Licenses=no:1\nReservationName=gf_away Licenses=%s\n",
				  wanted);
		found = away_reserved(line, "gf_away");
		must(found && away_same(found, wanted));
		free(found);
		free(line);
	}
	free(wanted);
	away_free(&away);
	away_free(&local);
	return 0;
}
