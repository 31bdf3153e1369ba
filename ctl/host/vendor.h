/* SPDX-License-Identifier: GPL-2.0-only */
/* What containers need of a driver's nodes beside what sysfs tells: nodes.d. */
#ifndef GPUCTL_VENDOR_H
#define GPUCTL_VENDOR_H

#include <stddef.h>

#include "base/fault.h"

/* The lists of a section. */
enum vendor_list {
	VENDOR_SHARED,
	VENDOR_SKIP,
	VENDOR_LINKS,
	VENDOR_ENV,
	VENDOR_DEVICES,
	VENDOR_LISTS
};

/**
 * struct vendor - a section of nodes.d
 * @driver: its name
 * @lists: by enum vendor_list
 * @n: how many words each has
 */
struct vendor {
	char *driver;
	char **lists[VENDOR_LISTS];
	size_t n[VENDOR_LISTS];
};

struct vendors {
	struct vendor *items;
	size_t n;
};

/* Those that come with gpuctl, then the admin's; 0 or a negative errno. */
int vendors_load(struct vendors *vendors, const char *data_dir, const char *config_dir,
		 struct fault *fault);
/* One file. */
int vendors_parse(struct vendors *vendors, const char *file, const char *text, size_t len,
		  struct fault *fault);
void vendors_free(struct vendors *vendors);

/* The section of a driver, else [any]; NULL without either. @driver may be NULL. */
const struct vendor *vendors_find(const struct vendors *vendors, const char *driver);

#endif /* GPUCTL_VENDOR_H */
