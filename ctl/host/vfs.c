// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: virtual functions
 *
 * They come and go as the driver of their function likes, so they are read where the
 * kernel keeps them: links virtfn0, virtfn1, ... in its directory of sysfs.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "host/vfs.h"

/* The last part of what a link points to, NULL when there is none; the caller frees it. */
static char *link_end(const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *last;

	if (n < 0)
		return NULL;
	target[n] = '\0';
	last = strrchr(target, '/');
	return mem_strdup(last ? last + 1 : target);
}

static char *device_link(const char *sys, const char *address, const char *name)
{
	char *path = mem_printf("%s/bus/pci/devices/%s/%s", sys, address, name);
	char *end = link_end(path);

	free(path);
	return end;
}

static void read_vf(const char *sys, struct gf_function *vf)
{
	char *group = device_link(sys, vf->address, "iommu_group");

	vf->driver = device_link(sys, vf->address, "driver");
	if (group) {
		vf->iommu_group = (uint32_t)strtoul(group, NULL, 10);
		vf->has.iommu_group = true;
	}
	free(group);
}

struct gf_function *vfs_of(const char *sys, const char *address, size_t *n)
{
	struct gf_function *vfs = NULL;
	char name[32];
	char *vf;

	for (*n = 0;; (*n)++) {
		snprintf(name, sizeof(name), "virtfn%zu", *n);
		vf = device_link(sys, address, name);
		if (!vf)
			return vfs;
		vfs = mem_grow(vfs, *n + 1, sizeof(*vfs));
		memset(&vfs[*n], 0, sizeof(*vfs));
		vfs[*n].address = vf;
		read_vf(sys, &vfs[*n]);
	}
}

void vfs_free(struct gf_function *vfs, size_t n)
{
	while (n--) {
		free(vfs[n].address);
		free(vfs[n].driver);
	}
	free(vfs);
}
