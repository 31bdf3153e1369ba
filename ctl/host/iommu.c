// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: IOMMU groups
 *
 * The kernel hands a group to a guest as a whole: while another member has a driver
 * of the host the group is not viable. Bridges are members, too, and do no harm:
 * vfio leaves them to the host.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/iommu.h"

static int iommu_by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Entries of a directory but "." and "..", sorted. */
static char **entries(const char *path, size_t *n)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char **names = NULL;

	*n = 0;
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		names = mem_grow(names, *n + 1, sizeof(*names));
		names[(*n)++] = mem_strdup(entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (*n)
		qsort(names, *n, sizeof(*names), iommu_by_name);
	return names;
}

void iommu_free(char **members, size_t n)
{
	while (n--)
		free(members[n]);
	free(members);
}

bool iommu_is_on(const char *sys)
{
	char *path = mem_printf("%s/kernel/iommu_groups", sys);
	size_t n;
	char **groups = entries(path, &n);

	iommu_free(groups, n);
	free(path);
	return n;
}

char **iommu_members(const char *sys, uint32_t group, size_t *n)
{
	char *path = mem_printf("%s/kernel/iommu_groups/%u/devices", sys, group);
	char **members = entries(path, n);

	free(path);
	return members;
}

static bool is_bridge(const char *sys, const char *address)
{
	char *path = mem_printf("%s/bus/pci/devices/%s/class", sys, address);
	FILE *f = fopen(path, "re");
	unsigned int class = 0;

	free(path);
	if (!f)
		return false;
	if (fscanf(f, "%x", &class) != 1)
		class = 0;
	fclose(f);
	return class >> 8 == 0x0604;
}

static bool is_in_slot(const struct gf_slot *slot, const char *address)
{
	size_t i;

	for (i = 0; i < slot->n_functions; i++)
		if (slot->functions[i].address && !strcmp(slot->functions[i].address, address))
			return true;
	return false;
}

char *iommu_others(const char *sys, const struct gf_slot *slot)
{
	const struct gf_function *gpu = NULL;
	struct text text = { 0 };
	char **members;
	size_t n, i;

	while ((gpu = gf_gpu_next(slot, gpu))) {
		if (!gpu->has.iommu_group)
			continue;
		members = iommu_members(sys, gpu->iommu_group, &n);
		for (i = 0; i < n; i++)
			if (!is_in_slot(slot, members[i]) && !is_bridge(sys, members[i]) &&
			    !(text.text && strstr(text.text, members[i])))
				text_join(&text, ", ", members[i]);
		iommu_free(members, n);
	}
	return text.text;
}
