// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: visible devices
 *
 * Sources: CUDA C++ Programming Guide, environment variables (CUDA_VISIBLE_DEVICES takes
 * UUIDs); ROCm documentation, GPU isolation techniques (ROCR_VISIBLE_DEVICES takes
 * "GPU-" and the unique id of the kfd's topology); Level Zero specification, environment
 * variables (ZE_AFFINITY_MASK, ZE_ENABLE_PCI_ID_DEVICE_ORDER).
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/visible.h"

#define VENDOR_AMD 0x1002
#define VENDOR_NVIDIA 0x10de
#define VENDOR_INTEL 0x8086

/* Classes of the GPUs that Level Zero lists: display controllers. */
#define CLASS_DISPLAY 0x03

/* The value of "key" in a file of lines "key value" or "key: value"; caller frees. */
static char *value_in(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, *value = NULL;
	size_t size = 0, len = strlen(key);

	while (f && !value && getline(&line, &size, f) > 0) {
		char *at = line + len;

		if (strncmp(line, key, len) || !strchr(": \t", *at))
			continue;
		at += strspn(at, ": \t");
		at[strcspn(at, "\n")] = '\0';
		value = mem_strdup(at);
	}
	free(line);
	if (f)
		fclose(f);
	return value;
}

static char *nvidia_uuid(const char *proc, const char *address)
{
	char *path = mem_printf("%s/driver/nvidia/gpus/%s/information", proc, address);
	char *uuid = value_in(path, "GPU UUID");

	free(path);
	return uuid;
}

static uint64_t number_in(const char *path, const char *key)
{
	char *text = value_in(path, key);
	uint64_t value = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return value;
}

/* The kfd names a GPU by domain and by bus, device and function as one number. */
static char *amd_id(const char *sys, const char *address)
{
	char *nodes = mem_printf("%s/class/kfd/kfd/topology/nodes", sys), *id = NULL;
	unsigned int domain, bus, device, function;
	struct dirent *entry;
	DIR *dir = NULL;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4)
		dir = opendir(nodes);
	while (dir && !id && (entry = readdir(dir))) {
		char *path = mem_printf("%s/%s/properties", nodes, entry->d_name);
		uint64_t unique = number_in(path, "unique_id");

		if (unique && number_in(path, "domain") == domain &&
		    number_in(path, "location_id") == (bus << 8 | device << 3 | function))
			id = mem_printf("GPU-%016" PRIx64, unique);
		free(path);
	}
	if (dir)
		closedir(dir);
	free(nodes);
	return id;
}

static unsigned long hex_in(const char *sys, const char *address, const char *file)
{
	char *path = mem_printf("%s/bus/pci/devices/%s/%s", sys, address, file);
	FILE *f = fopen(path, "re");
	unsigned long value = 0;

	if (f) {
		if (fscanf(f, "%lx", &value) != 1)
			value = 0;
		fclose(f);
	}
	free(path);
	return value;
}

/* How many of Intel's GPUs come before this one in the order of addresses. */
static char *intel_index(const char *sys, const char *address)
{
	char *path = mem_printf("%s/bus/pci/devices", sys);
	struct dirent **names = NULL;
	size_t index = 0;
	bool found = false;
	int n, i;

	n = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (!strcmp(name, address))
			found = true;
		else if (!found && hex_in(sys, name, "vendor") == VENDOR_INTEL &&
			 hex_in(sys, name, "class") >> 16 == CLASS_DISPLAY)
			index++;
		free(names[i]);
	}
	free(names);
	free(path);
	return found ? mem_printf("%zu", index) : NULL;
}

static char *identify(const char *proc, const char *sys, const struct gf_function *gpu)
{
	switch (gpu->vendor) {
	case VENDOR_NVIDIA:
		return nvidia_uuid(proc, gpu->address);
	case VENDOR_AMD:
		return amd_id(sys, gpu->address);
	case VENDOR_INTEL:
		return intel_index(sys, gpu->address);
	default:
		return NULL;
	}
}

/* The GPUs of one vendor, or NULL when none of them can be named. */
static char *list_vendor(const char *proc, const char *sys, uint32_t vendor,
			 const struct gf_slot *const *slots, size_t n)
{
	struct text list = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		const struct gf_function *gpu = NULL;
		char *id;

		while ((gpu = gf_gpu_next(slots[i], gpu))) {
			if (gpu->vendor != vendor || !gpu->address)
				continue;
			id = identify(proc, sys, gpu);
			if (id)
				text_join(&list, ",", id);
			free(id);
		}
	}
	return list.text;
}

size_t visible_devices(const char *proc, const char *sys, const struct gf_slot *const *slots,
		       size_t n, struct visible variables[VISIBLE_MAX])
{
	static const struct {
		uint32_t vendor;
		const char *name;
	} vendors[] = {
		{ VENDOR_NVIDIA, "CUDA_VISIBLE_DEVICES" },
		{ VENDOR_AMD, "ROCR_VISIBLE_DEVICES" },
		{ VENDOR_INTEL, "ZE_AFFINITY_MASK" },
	};
	size_t i, count = 0;

	for (i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
		char *list = list_vendor(proc, sys, vendors[i].vendor, slots, n);

		if (!list)
			continue;
		variables[count++] = (struct visible){ vendors[i].name, list };
		if (vendors[i].vendor == VENDOR_INTEL)
			variables[count++] = (struct visible){ "ZE_ENABLE_PCI_ID_DEVICE_ORDER",
							       mem_strdup("1") };
	}
	return count;
}

void visible_free(struct visible *variables, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(variables[i].value);
}
