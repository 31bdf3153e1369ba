/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What gpuctl keeps in the annotation of a composition: for whom and until when. To the
 * module these are bytes. Pure; the format is described in annotation.c.
 */
#ifndef GPUCTL_ANNOTATION_H
#define GPUCTL_ANNOTATION_H

#include "module/model.h"

/* The version that this gpuctl writes. */
#define ANNOTATION_VERSION 1

/**
 * struct annotation - what is kept
 * @version: of the bytes, 0 when there were none
 * @tenant: may be empty
 * @label: may be empty
 * @job: may be empty
 * @lease: when it ends, by text_uptime(); 0 for never
 * @instance: the load of the module that @lease is for
 */
struct annotation {
	unsigned int version;
	char tenant[GPUFABRIC_NAME_MAX + 1];
	char label[GPUFABRIC_NAME_MAX + 1];
	char job[GPUFABRIC_NAME_MAX + 1];
	uint64_t lease;
	uint64_t instance;
};

/*
 * Read the annotation of a composition; none at all is an empty one. False when this gpuctl
 * does not know what it says: then all but @version is empty, and nothing follows from that.
 */
bool annotation_read(const uint8_t *bytes, size_t len, struct annotation *note);

static inline bool annotation_of(const struct gf_composition *composition, struct annotation *note)
{
	return annotation_read(composition->annotation, composition->n_annotation, note);
}

/* The bytes for it, and how many; what is not to be told leaves none. */
size_t annotation_write(const struct annotation *note, uint8_t bytes[GPUFABRIC_ANNOTATION_MAX]);

/*
 * End of the lease in this load of the module, 0 for none. One of another load says nothing:
 * its clock may have been another boot's.
 */
uint64_t annotation_lease(const struct annotation *note, uint64_t instance);
/* The same of a composition, 0 also where the annotation is not known. */
uint64_t annotation_lease_of(const struct gf_composition *composition);

/* Jobs are numbered by others: any line of UTF-8 that is not too long, and not empty. */
bool annotation_job_valid(const char *job);

#define ANNOTATION_UNKNOWN 64
/* What is said of one that annotation_read() does not know. */
const char *annotation_unknown(char buf[ANNOTATION_UNKNOWN], const struct annotation *note);

#endif /* GPUCTL_ANNOTATION_H */
