// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/annotation.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c
/*
 * Annotations of compositions. What is known can be written again and says the same then;
 * of what is not known nothing is left but the version.
 */
#include "base/text.h"
#include "fuzz.h"
#include "module/annotation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct annotation note, again, none = { 0 };
	uint8_t bytes[GPUFABRIC_ANNOTATION_MAX];
	size_t len;

	if (size > GPUFABRIC_ANNOTATION_MAX)
		return 0;
	none.version = size ? data[0] : 0;
	if (!annotation_read(data, size, &note)) {
		must(!memcmp(&note, &none, sizeof(note)));
		return 0;
	}
	must(!*note.tenant || text_name_valid(note.tenant));
	must(!*note.label || text_name_valid(note.label));
	must(!*note.job || annotation_job_valid(note.job));
	len = annotation_write(&note, bytes);
	must(len <= size);
	must(annotation_read(bytes, len, &again));
	/* One that says nothing leaves no bytes. */
	again.version = note.version;
	must(!memcmp(&note, &again, sizeof(note)));
	return 0;
}
