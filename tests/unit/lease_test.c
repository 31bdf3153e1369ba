// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/managers/lease.c ctl/base/text.c ctl/base/fault.c
/* Leases as a host counts them: it stops before the manager may give its GPUs away. */
#include <stdlib.h>

#include "base/text.h"
#include "managers/lease.h"
#include "tap.h"

static void times(void)
{
	static const uint64_t lengths[] = { 5000, 60000, 3600000 };
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const uint64_t length = lengths[i];
		const struct host_lease lease = { .asked = 1000, .length = length };
		uint64_t now = 1000, next;
		enum host_lease_state state = host_lease_judge(&lease, now), then;
		int changes = 0;

		is_int((int)state, LEASE_HOLDS, "it holds");
		while ((next = host_lease_next(&lease, now)) != UINT64_MAX) {
			ok(next > now && host_lease_judge(&lease, next - 1) == state, "it stays so until %llu", (unsigned long long)next);
			then = host_lease_judge(&lease, next);
			ok(then == state + 1, "and is another one then");
			state = then;
			now = next;
			changes++;
		}
		is_int(changes, 3, "to renew, over, too late");
		ok(now - 1000 <= length - length / 4, "a quarter is left when it is too late");
		ok(host_lease_next(&lease, 1000) - 1000 <= 10000, "it is renewed every ten seconds at least");
	}
}

static void unknown(void)
{
	const struct host_lease lease = { 0 };

	is_int((int)host_lease_judge(&lease, 5), LEASE_OVER, "one that is not known is over");
	is_int((int)host_lease_judge(&lease, UINT64_MAX), LEASE_OVER, "and never too late");
}

static void records(void)
{
	static const char *const bad[] = { "", "5", "5 ", " 5", "5 0", "x 5", "5 x", "5 5 5", "101 5", "5 86400001", "-1 5" };
	struct host_lease lease;
	char *text;
	size_t i;

	ok(host_lease_parse("7 60000\n", 100, &lease) && lease.asked == 7 && lease.length == 60000, "a record");
	text = host_lease_text(&lease);
	is_str(text, "7 60000\n", "is written as it is read");
	free(text);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!host_lease_parse(bad[i], 100, &lease) && !lease.length, "not \"%s\"", bad[i]);
}

int main(void)
{
	times();
	unknown();
	records();
	return tap_done();
}
