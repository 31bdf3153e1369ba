// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a copy of a host
 *
 * What the checks read and nothing else, each file at its place below a new directory. What
 * would be large or has no place in a file is made small: of the compiled hardware database
 * whether it knows us, of the module's file its signature, of hooks who may write them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/permissions.h"
#include "doctor/places.h"
#include "doctor/units.h"

/**
 * struct recording - a copy that is made
 * @tree: of what
 * @dir: where to
 * @files: how many files and links it has
 * @err: the first error, as a negative errno
 */
struct recording {
	struct tree tree;
	const char *dir;
	size_t files;
	int err;
};

static const char *const of_device[] = {
	"vendor",
	"device",
	"class",
	"resource",
	"config",
	"secondary_bus_number",
	"subordinate_bus_number",
	"sriov_numvfs",
	"users",
};

/* The directories above a path below ours. */
static void make_way(struct recording *r, const char *full)
{
	char *way = mem_strdup(full), *slash = way + strlen(r->dir);

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (mkdir(way, 0755) && errno != EEXIST && !r->err)
			r->err = -errno;
		*slash = '/';
	}
	free(way);
}

static void record_put(struct recording *r, const char *path, const void *data, size_t len)
{
	char *full = mem_printf("%s/%s", r->dir, path);
	FILE *f;

	make_way(r, full);
	f = fopen(full, "wxe");
	if (!f || (len && fwrite(data, len, 1, f) != 1)) {
		if (!r->err)
			r->err = -errno;
	}
	if (f && fclose(f) && !r->err)
		r->err = -errno;
	r->files++;
	free(full);
}

static void record_put_link(struct recording *r, const char *path, const char *target)
{
	char *full = mem_printf("%s/%s", r->dir, path);

	make_way(r, full);
	if (symlink(target, full) && !r->err)
		r->err = -errno;
	r->files++;
	free(full);
}

static void copy(struct recording *r, const char *path)
{
	char *link = tree_link(&r->tree, "%s", path), *text;
	size_t len;

	if (link && !strcmp(link, "/dev/null")) {
		record_put_link(r, path, link);
		free(link);
		return;
	}
	free(link);
	text = tree_read(&r->tree, &len, "%s", path);
	if (text)
		record_put(r, path, text, len);
	free(text);
}

__attribute__((format(printf, 2, 3))) static void copy_path(struct recording *r, const char *fmt,
							    ...)
{
	va_list ap;
	char *path;

	va_start(ap, fmt);
	path = mem_vprintf(fmt, ap);
	va_end(ap);
	copy(r, path);
	free(path);
}

/* Links of sysfs are relative and so hold in the copy. */
__attribute__((format(printf, 2, 3))) static void copy_link(struct recording *r, const char *fmt,
							    ...)
{
	char *path, *link;
	va_list ap;

	va_start(ap, fmt);
	path = mem_vprintf(fmt, ap);
	va_end(ap);
	link = tree_link(&r->tree, "%s", path);
	if (link && *link != '/')
		record_put_link(r, path, link);
	free(link);
	free(path);
}

static void record_devices(struct recording *r)
{
	size_t n, i, k;
	char **names = tree_names(&r->tree, &n, "sys/bus/pci/devices");

	for (i = 0; i < n; i++) {
		char *link = tree_link(&r->tree, "sys/bus/pci/devices/%s", names[i]);
		const char *at = link ? strstr(link, "devices/") : NULL;

		if (at) {
			for (k = 0; k < sizeof(of_device) / sizeof(of_device[0]); k++)
				copy_path(r, "sys/%s/%s", at, of_device[k]);
			copy_link(r, "sys/%s/driver", at);
			copy_link(r, "sys/%s/iommu_group", at);
			copy_link(r, "sys/bus/pci/devices/%s", names[i]);
		}
		free(link);
	}
	tree_free_names(names, n);
}

/* NAME/FILE of each entry of a directory. */
static void record_each(struct recording *r, const char *dir, const char *const *files, size_t m)
{
	size_t n, i, k;
	char **names = tree_names(&r->tree, &n, "%s", dir);

	for (i = 0; i < n; i++)
		for (k = 0; k < m; k++)
			copy_path(r, "%s/%s/%s", dir, names[i], files[k]);
	tree_free_names(names, n);
}

static void record_sysfs(struct recording *r)
{
	static const char *const slot[] = { "address", "power", "adapter" };
	static const char *const ours_in_class[] = { "uevent" };
	static const char *const group[] = { "type" };
	static const char *const console[] = { "name", "bind" };
	static const char *const thunderbolt[] = { "authorized", "device_name" };
	size_t n, i;
	char **names;

	record_devices(r);
	record_each(r, "sys/bus/pci/slots", slot, 3);
	names = tree_names(&r->tree, &n, "sys/bus/pci/slots");
	for (i = 0; i < n; i++)
		copy_link(r, "sys/bus/pci/slots/%s/module", names[i]);
	tree_free_names(names, n);
	record_each(r, "sys/class/gpufabric", ours_in_class, 1);
	record_each(r, "sys/kernel/iommu_groups", group, 1);
	record_each(r, "sys/class/vtconsole", console, 2);
	record_each(r, "sys/bus/thunderbolt/devices", thunderbolt, 2);
	names = tree_names(&r->tree, &n, "sys/bus/pci_express/drivers/pciehp");
	for (i = 0; i < n; i++)
		copy_link(r, "sys/bus/pci_express/drivers/pciehp/%s", names[i]);
	tree_free_names(names, n);
}

/* A link that enables a unit; only that it is there counts. */
static void record_enabled(struct recording *r, const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);

	record_put_link(r, path, name);
	free(path);
}

/* Of a directory what has our name in it. */
static void record_ours(struct recording *r, const char *dir)
{
	size_t n, i;
	char **names = tree_names(&r->tree, &n, "%s", dir);

	for (i = 0; i < n; i++)
		if (strstr(names[i], "gpufabric"))
			copy_path(r, "%s/%s", dir, names[i]);
	tree_free_names(names, n);
}

static void record_whole(struct recording *r, const char *dir)
{
	size_t n, i;
	char **names = tree_names(&r->tree, &n, "%s", dir);

	for (i = 0; i < n; i++)
		copy_path(r, "%s/%s", dir, names[i]);
	tree_free_names(names, n);
}

static void record_wants(struct recording *r, const char *root, const char *starter)
{
	char *dir = mem_printf("%s/%s.wants", root, starter), **names;
	size_t n, i;

	names = tree_names(&r->tree, &n, "%s", dir);
	for (i = 0; i < n; i++)
		if (strstr(names[i], "gpufabric"))
			record_enabled(r, dir, names[i]);
	tree_free_names(names, n);
	free(dir);
}

static void record_udev(struct recording *r, const char *root)
{
	char *rules = mem_printf("%s/rules.d", root), *hwdb = mem_printf("%s/hwdb.d", root);

	record_ours(r, rules);
	record_ours(r, hwdb);
	free(rules);
	free(hwdb);
}

/* Those that keep GPUs in use. */
static void record_processes(struct recording *r)
{
	size_t n, i;
	char **names = tree_names(&r->tree, &n, "proc");

	for (i = 0; i < n; i++) {
		char *comm = names[i][0] <= '9' ? tree_line(&r->tree, "proc/%s/comm", names[i]) :
						  NULL;

		if (comm && !strncmp(comm, "nvidia", 6))
			copy_path(r, "proc/%s/comm", names[i]);
		free(comm);
	}
	tree_free_names(names, n);
}

static void record_files(struct recording *r)
{
	size_t i, k;

	for (i = 0; places_files[i]; i++)
		copy(r, places_files[i]);
	for (i = 0; places_udev[i]; i++)
		record_udev(r, places_udev[i]);
	for (i = 0; places_units[i]; i++) {
		record_ours(r, places_units[i]);
		for (k = 0; places_starters[k]; k++)
			record_wants(r, places_units[i], places_starters[k]);
	}
	for (i = 0; places_cdi[i]; i++)
		record_whole(r, places_cdi[i]);
	record_ours(r, "etc/modules-load.d");
	record_processes(r);
}

/* Whether the compiled hardware database has our property; one file for all of it. */
static void record_hwdb(struct recording *r)
{
	static const char property[] = "ID_GPUFABRIC_KIND";
	size_t len, i;

	for (i = 0; places_hwdb[i]; i++) {
		char *text = tree_read(&r->tree, &len, "%s", places_hwdb[i]);

		if (text && memmem(text, len, property, strlen(property)))
			record_put(r, places_hwdb[i], property, strlen(property));
		else if (text)
			record_put(r, places_hwdb[i], "", 0);
		free(text);
	}
}

/* The end of a module's file is where its signature is. */
static void record_module(struct recording *r)
{
	static const char *const places[] = { "updates/dkms", "extra", "updates" };
	char *release = tree_line(&r->tree, "proc/sys/kernel/osrelease");
	size_t n, m, i, k, len;
	char **names, **kernels;

	for (i = 0; release && i < sizeof(places) / sizeof(places[0]); i++) {
		names = tree_names(&r->tree, &n, "lib/modules/%s/%s", release, places[i]);
		for (k = 0; k < n; k++) {
			char *path =
				mem_printf("lib/modules/%s/%s/%s", release, places[i], names[k]);
			char *text = strncmp(names[k], "gpufabric.ko", 12) ?
					     NULL :
					     tree_end(&r->tree, 64, &len, "%s", path);

			if (text)
				record_put(r, path, text, len);
			free(text);
			free(path);
		}
		tree_free_names(names, n);
	}
	free(release);
	names = tree_names(&r->tree, &n, "var/lib/dkms/gpufabric");
	for (i = 0; i < n; i++) {
		kernels = tree_names(&r->tree, &m, "var/lib/dkms/gpufabric/%s", names[i]);
		for (k = 0; strncmp(names[i], "kernel-", 7) && k < m; k++) {
			char *path = mem_printf("var/lib/dkms/gpufabric/%s/%s/recorded", names[i],
						kernels[k]);

			record_put(r, path, "", 0);
			free(path);
		}
		tree_free_names(kernels, m);
	}
	tree_free_names(names, n);
}

static void record_text(struct recording *r, const char *name, const char *text)
{
	if (text)
		record_put(r, name, text, strlen(text));
}

static void record_rest(struct recording *r, const char *config_dir)
{
	const struct tree *tree = &r->tree;
	bool live = tree_is_live(tree);
	char *log = live ? klog_read() : tree_read(tree, NULL, "dmesg"), *units = NULL;
	char *permissions = live ? permissions_read(config_dir) :
				   tree_read(tree, NULL, "permissions");

	record_text(r, "dmesg", log);
	if (tree_has(tree, "run/systemd/system")) {
		record_put(r, "run/systemd/system/recorded", "", 0);
		units = live ? units_read() : tree_read(tree, NULL, "units");
	}
	record_text(r, "units", units);
	record_text(r, "permissions", permissions);
	free(log);
	free(units);
	free(permissions);
}

int doctor_record(const char *from, const char *dir, const char *config_dir, size_t *files,
		  struct fault *fault)
{
	struct recording r = { .dir = dir };
	int err = tree_open(&r.tree, from, fault);

	if (!err && mkdir(dir, 0700))
		err = fault_set(fault, errno, "%s: %s", dir,
				errno == EEXIST ? "exists already; a copy needs a new directory" :
						  strerror(errno));
	if (!err) {
		record_files(&r);
		record_sysfs(&r);
		record_hwdb(&r);
		record_module(&r);
		record_rest(&r, config_dir);
		if (r.err)
			err = fault_set(fault, -r.err, "%s: %s", dir, strerror(-r.err));
	}
	*files = r.files;
	tree_close(&r.tree);
	return err;
}
