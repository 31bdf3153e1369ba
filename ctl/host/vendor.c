// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: vendors' nodes
 *
 * The files of nodes.d. A key of a later file replaces that of an earlier one.
 * All paths are below /dev and lead nowhere else: what is written here is what
 * containers get.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/conf_dir.h"
#include "base/text.h"
#include "host/vendor.h"

static const char *const keys[VENDOR_LISTS] = {
	[VENDOR_SHARED] = "shared",
	[VENDOR_SKIP] = "skip",
	[VENDOR_LINKS] = "links",
	[VENDOR_ENV] = "env",
	/* clang-format would make columns of more. */
	[VENDOR_DEVICES] = "devices",
};

static bool is_node(const char *path)
{
	size_t len = strlen(path);

	return !strncmp(path, "/dev/", 5) && path[5] && !strstr(path, "/../") &&
	       strcmp(path + len - 3, "/..") && !strstr(path, "//") && path[len - 1] != '/';
}

static bool word_valid(enum vendor_list list, const char *word)
{
	const char *colon = strchr(word, ':');

	switch (list) {
	case VENDOR_SHARED:
		return is_node(word);
	case VENDOR_LINKS:
		return colon && colon > word && is_node(colon + 1);
	case VENDOR_ENV:
		return strchr(word, '=') && *word != '=';
	default:
		return true;
	}
}

static struct vendor *section(struct vendors *vendors, const char *driver)
{
	struct vendor *vendor;
	size_t i;

	for (i = 0; i < vendors->n; i++)
		if (!strcmp(vendors->items[i].driver, driver))
			return &vendors->items[i];
	vendors->items = mem_grow(vendors->items, vendors->n + 1, sizeof(*vendor));
	vendor = &vendors->items[vendors->n++];
	memset(vendor, 0, sizeof(*vendor));
	vendor->driver = mem_strdup(driver);
	return vendor;
}

static int vendor_take(const struct conf_item *item, void *arg, struct fault *fault)
{
	struct vendor *vendor = section(arg, item->section);
	unsigned int list;
	size_t i;
	int err;

	if (!item->key)
		return 0;
	for (list = 0; list < VENDOR_LISTS && strcmp(keys[list], item->key);)
		list++;
	if (list == VENDOR_LISTS)
		return fault_set(fault, EINVAL, "no key \"%s\"", item->key);
	conf_list_free(vendor->lists[list], vendor->n[list]);
	vendor->lists[list] = NULL;
	vendor->n[list] = 0;
	err = conf_list(item->value, &vendor->lists[list], &vendor->n[list], fault);
	for (i = 0; i < vendor->n[list] && !err; i++)
		if (!word_valid((enum vendor_list)list, vendor->lists[list][i]))
			err = fault_set(fault, EINVAL, "%s: \"%s\" is not understood", item->key,
					vendor->lists[list][i]);
	return err;
}

int vendors_parse(struct vendors *vendors, const char *file, const char *text, size_t len,
		  struct fault *fault)
{
	return conf_parse_names(file, text, len, vendor_take, vendors, fault);
}

static int take_file(const char *file, const char *text, size_t len, void *arg, struct fault *fault)
{
	return vendors_parse(arg, file, text, len, fault);
}

int vendors_load(struct vendors *vendors, const char *data_dir, const char *config_dir,
		 struct fault *fault)
{
	int err;

	memset(vendors, 0, sizeof(*vendors));
	err = conf_dir_read(data_dir, "nodes.d", true, take_file, vendors, fault);
	if (!err)
		err = conf_dir_read(config_dir, "nodes.d", false, take_file, vendors, fault);
	if (err)
		vendors_free(vendors);
	return err;
}

void vendors_free(struct vendors *vendors)
{
	size_t i, list;

	for (i = 0; i < vendors->n; i++) {
		for (list = 0; list < VENDOR_LISTS; list++)
			conf_list_free(vendors->items[i].lists[list], vendors->items[i].n[list]);
		free(vendors->items[i].driver);
	}
	free(vendors->items);
	memset(vendors, 0, sizeof(*vendors));
}

const struct vendor *vendors_find(const struct vendors *vendors, const char *driver)
{
	const struct vendor *any = NULL;
	size_t i;

	for (i = 0; i < vendors->n; i++) {
		if (driver && !strcmp(vendors->items[i].driver, driver))
			return &vendors->items[i];
		if (!strcmp(vendors->items[i].driver, "any"))
			any = &vendors->items[i];
	}
	return any;
}
