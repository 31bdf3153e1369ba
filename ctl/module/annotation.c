// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: annotations
 *
 * A byte with the version, then items: a byte that says what it is, one with the length, so
 * many bytes. Each item comes at most once, in any order:
 *
 *	1 tenant, 2 label	a name
 *	3 job			a line of UTF-8, at most GPUFABRIC_NAME_MAX bytes
 *	4 lease			its end by CLOCK_BOOTTIME in milliseconds, then the instance
 *				of the module that it is for, both of 64 bits, lowest byte first
 *
 * CLOCK_BOOTTIME goes on while the host sleeps, and nobody sets it. It begins anew with
 * each boot, which the instance tells. Other clients may write annotations too, so
 * nothing is believed: what is not just this is not known, and then nobody is taken his
 * GPUs for it.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "module/annotation.h"

enum item {
	ITEM_TENANT = 1,
	ITEM_LABEL,
	ITEM_JOB,
	ITEM_LEASE,
	ITEMS
};

#define ITEM_HEAD 2
#define LEASE_SIZE 16

static uint64_t get_number(const uint8_t *bytes)
{
	uint64_t value = 0;
	int i;

	for (i = 7; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value;
}

static void put_number(uint8_t *bytes, uint64_t value)
{
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

bool annotation_job_valid(const char *job)
{
	char copy[GPUFABRIC_NAME_MAX + 1];
	size_t len = strlen(job);

	if (!len || len > GPUFABRIC_NAME_MAX)
		return false;
	memcpy(copy, job, len + 1);
	text_tame(copy, false);
	return !strcmp(copy, job);
}

/* The member for the text of an item, NULL when it has none. */
static char *annotation_text_of(struct annotation *note, unsigned int item)
{
	switch (item) {
	case ITEM_TENANT:
		return note->tenant;
	case ITEM_LABEL:
		return note->label;
	case ITEM_JOB:
		return note->job;
	default:
		return NULL;
	}
}

static bool annotation_take_text(char *to, const uint8_t *bytes, size_t len, bool name)
{
	if (len > GPUFABRIC_NAME_MAX || memchr(bytes, '\0', len))
		return false;
	memcpy(to, bytes, len);
	return name ? text_name_valid(to) : annotation_job_valid(to);
}

static bool take_lease(struct annotation *note, const uint8_t *bytes, size_t len)
{
	if (len != LEASE_SIZE)
		return false;
	note->lease = get_number(bytes);
	note->instance = get_number(bytes + 8);
	/* No clock gets there, and what is added to it overflows nowhere. */
	return note->lease && note->lease <= INT64_MAX / 2;
}

static bool take_items(struct annotation *note, const uint8_t *bytes, size_t len)
{
	unsigned int seen = 0;

	while (len) {
		size_t size = len < ITEM_HEAD ? len : ITEM_HEAD + (size_t)bytes[1];
		unsigned int item = bytes[0];
		char *text = annotation_text_of(note, item);

		if (len < ITEM_HEAD || size > len || item >= ITEMS || seen & 1u << item)
			return false;
		seen |= 1u << item;
		if (text ? !annotation_take_text(text, bytes + ITEM_HEAD, size - ITEM_HEAD,
						 item != ITEM_JOB) :
			   item != ITEM_LEASE ||
				    !take_lease(note, bytes + ITEM_HEAD, size - ITEM_HEAD))
			return false;
		bytes += size;
		len -= size;
	}
	return true;
}

bool annotation_read(const uint8_t *bytes, size_t len, struct annotation *note)
{
	memset(note, 0, sizeof(*note));
	if (!len)
		return true;
	note->version = bytes[0];
	if (bytes[0] == ANNOTATION_VERSION && take_items(note, bytes + 1, len - 1))
		return true;
	memset(note, 0, sizeof(*note));
	note->version = bytes[0];
	return false;
}

static size_t annotation_add_item(uint8_t *to, enum item item, const void *data, size_t len)
{
	to[0] = (uint8_t)item;
	to[1] = (uint8_t)len;
	memcpy(to + ITEM_HEAD, data, len);
	return ITEM_HEAD + len;
}

size_t annotation_write(const struct annotation *note, uint8_t bytes[GPUFABRIC_ANNOTATION_MAX])
{
	struct annotation copy = *note;
	uint8_t lease[LEASE_SIZE];
	size_t len = 1;
	int item;

	bytes[0] = ANNOTATION_VERSION;
	for (item = ITEM_TENANT; item <= ITEM_JOB; item++) {
		const char *text = annotation_text_of(&copy, (unsigned int)item);

		if (*text)
			len += annotation_add_item(bytes + len, (enum item)item, text,
						   strlen(text));
	}
	if (note->lease) {
		put_number(lease, note->lease);
		put_number(lease + 8, note->instance);
		len += annotation_add_item(bytes + len, ITEM_LEASE, lease, sizeof(lease));
	}
	return len > 1 ? len : 0;
}

uint64_t annotation_lease(const struct annotation *note, uint64_t instance)
{
	return note->instance == instance ? note->lease : 0;
}

uint64_t annotation_lease_of(const struct gf_composition *composition)
{
	struct annotation note;

	annotation_of(composition, &note);
	return annotation_lease(&note, composition->instance);
}

const char *annotation_unknown(char buf[ANNOTATION_UNKNOWN], const struct annotation *note)
{
	snprintf(buf, ANNOTATION_UNKNOWN, "version %u, %s to this gpuctl", note->version,
		 note->version == ANNOTATION_VERSION ? "and yet unknown" : "unknown");
	return buf;
}
