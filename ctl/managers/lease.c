// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: leases as a host counts them
 *
 * The manager counts a lease from when it gets the request, the host from before it has sent it, so the
 * host's is over first. The host uses half of it. In the third quarter it detaches its GPUs. The last
 * one is for what cannot be detached, and for clocks that do not run alike.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "managers/lease.h"

#define LEASE_RENEW_MAX_MS 10000
#define LEASE_LENGTH_MAX_MS 86400000

static uint64_t renew_after(const struct host_lease *lease)
{
	uint64_t sixth = lease->length / 6;

	return sixth < LEASE_RENEW_MAX_MS ? sixth : LEASE_RENEW_MAX_MS;
}

enum host_lease_state host_lease_judge(const struct host_lease *lease, uint64_t now)
{
	uint64_t age = now - lease->asked;

	if (!lease->length)
		return LEASE_OVER;
	if (age >= lease->length - lease->length / 4)
		return LEASE_TOO_LATE;
	if (age >= lease->length / 2)
		return LEASE_OVER;
	return age >= renew_after(lease) ? LEASE_TO_RENEW : LEASE_HOLDS;
}

uint64_t host_lease_next(const struct host_lease *lease, uint64_t now)
{
	switch (host_lease_judge(lease, now)) {
	case LEASE_HOLDS:
		return lease->asked + renew_after(lease);
	case LEASE_TO_RENEW:
		return lease->asked + lease->length / 2;
	case LEASE_OVER:
		if (lease->length)
			return lease->asked + lease->length - lease->length / 4;
		return UINT64_MAX;
	default:
		return UINT64_MAX;
	}
}

bool host_lease_parse(const char *text, uint64_t now, struct host_lease *lease)
{
	char *copy = mem_strdup(text), *length = strchr(copy, ' ');
	bool good = length;

	*lease = (struct host_lease){ 0 };
	if (length) {
		*length++ = '\0';
		length[strcspn(length, "\n")] = '\0';
		good = text_number(copy, now, &lease->asked) &&
		       text_number(length, LEASE_LENGTH_MAX_MS, &lease->length) && lease->length;
	}
	free(copy);
	if (!good)
		*lease = (struct host_lease){ 0 };
	return good;
}

char *host_lease_text(const struct host_lease *lease)
{
	return mem_printf("%llu %llu\n", (unsigned long long)lease->asked,
			  (unsigned long long)lease->length);
}
