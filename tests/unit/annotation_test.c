// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/annotation.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c
/*
 * What gpuctl keeps in an annotation: it is read as it was written, byte for byte as it is
 * described; what is not just this is not known, and says nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module/annotation.h"
#include "tap.h"

static const char full[] = "\1"
			   "\1\2ml"
			   "\2\5night"
			   "\3\6" "4711/1"
			   "\4\20\10\7\6\5\4\3\2\1\370\367\366\365\364\363\362\361";
#define FULL (sizeof(full) - 1)

static bool reads(const char *bytes, size_t len, struct annotation *note)
{
	/* In an allocation that ends where it does. */
	uint8_t *copy = mem_zalloc(len, 1);
	bool known;

	memcpy(copy, bytes, len);
	known = annotation_read(copy, len, note);
	free(copy);
	return known;
}

/* Not known, and nothing of it is left but the version. */
static void refused(const char *bytes, size_t len, const char *what)
{
	struct annotation note, none = { .version = (uint8_t)bytes[0] };
	bool known = reads(bytes, len, &note);

	ok(!known && !memcmp(&note, &none, sizeof(note)), "not known: %s", what);
}

static void written(void)
{
	struct annotation note, again;
	uint8_t bytes[GPUFABRIC_ANNOTATION_MAX];

	ok(reads(full, FULL, &note), "all there can be is read");
	is_int(note.version, 1, "its version");
	is_str(note.tenant, "ml", "tenant");
	is_str(note.label, "night", "label");
	is_str(note.job, "4711/1", "job");
	ok(note.lease == 0x0102030405060708, "the end of the lease");
	ok(note.instance == 0xf1f2f3f4f5f6f7f8, "the load of the module it is for");
	ok(annotation_write(&note, bytes) == FULL && !memcmp(bytes, full, FULL),
	   "and is written as it was");
	memset(&note, 0, sizeof(note));
	ok(!annotation_write(&note, bytes), "nothing to say leaves no bytes");
	ok(annotation_read(NULL, 0, &again) && !memcmp(&note, &again, sizeof(note)),
	   "and no bytes say nothing");
	memset(note.tenant, 'a', GPUFABRIC_NAME_MAX);
	memset(note.label, 'b', GPUFABRIC_NAME_MAX);
	memset(note.job, '/', GPUFABRIC_NAME_MAX);
	note.lease = 1;
	ok(annotation_read(bytes, annotation_write(&note, bytes), &again) &&
		   again.version == 1 && !strcmp(again.job, note.job) && again.lease == 1,
	   "the longest there can be");
}

static void not_known(void)
{
	char bytes[FULL + 80];
	size_t i, wrong = 0;
	struct annotation note;

	/* Where it is cut between two items it is one that says less. */
	for (i = 2; i < FULL; i++)
		wrong += reads(full, i, &note) != (i == 5 || i == 12 || i == 20);
	ok(!wrong, "not known: cut anywhere but between items");
	refused("\2\1\1a", 4, "another version");
	refused("\0", 1, "version 0");
	refused("\1\5\1a", 4, "another item");
	refused("\1\0\1a", 4, "item 0");
	refused("\1\1\1a\1\1b", 7, "an item twice");
	refused("\1\1\0", 3, "an empty tenant");
	refused("\1\1\3a b", 6, "a tenant that is no name");
	refused("\1\2\1" "7", 4, "a label that is no name");
	refused("\1\1\2a\0", 5, "a NUL");
	refused("\1\3\3a\nb", 6, "a job of two lines");
	refused("\1\3\1\377", 4, "a job that is no UTF-8");
	refused("\1\4\10\1\0\0\0\0\0\0\0", 11, "half a lease");
	refused("\1\4\20\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 19, "a lease that ends at 0");
	refused("\1\4\20\377\377\377\377\377\377\377\377\1\0\0\0\0\0\0\0", 19, "one without an end");
	memcpy(bytes, "\1\3\100", 3);
	memset(bytes + 3, 'a', 64);
	refused(bytes, 67, "a job that is too long");
}

static void leases(void)
{
	struct annotation note = { .lease = 1000, .instance = 7 };
	uint8_t bytes[GPUFABRIC_ANNOTATION_MAX];
	struct gf_composition composition = { .annotation = bytes, .instance = 7 };
	char buf[ANNOTATION_UNKNOWN];

	is_int((intmax_t)annotation_lease(&note, 7), 1000, "a lease of this load of the module");
	is_int((intmax_t)annotation_lease(&note, 8), 0, "one of another is none");
	composition.n_annotation = annotation_write(&note, bytes);
	is_int((intmax_t)annotation_lease_of(&composition), 1000, "that of a composition");
	bytes[0] = 200;
	is_int((intmax_t)annotation_lease_of(&composition), 0, "none where it is not known");
	annotation_of(&composition, &note);
	is_str(annotation_unknown(buf, &note), "version 200, unknown to this gpuctl", "which is said");
	note.version = ANNOTATION_VERSION;
	is_str(annotation_unknown(buf, &note), "version 1, and yet unknown to this gpuctl",
	       "also of what is damaged");
}

int main(void)
{
	written();
	not_known();
	leases();
	return tap_done();
}
