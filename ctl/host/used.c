// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: used memory
 *
 * amdgpu has a file for it. NVIDIA has a library, which is loaded when it is
 * there and never needed: what it declares is declared here, three functions.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/used.h"

#define MIB (1ull << 20)

/* nvmlMemory_t. */
struct nvml_memory {
	unsigned long long total;
	unsigned long long unused;
	unsigned long long used;
};

typedef int (*nvml_init_fn)(void);
typedef int (*nvml_by_bus_fn)(const char *address, void **device);
typedef int (*nvml_memory_fn)(void *device, struct nvml_memory *memory);

/* nvidia-smi writes domains with eight digits, sysfs with four. */
static bool same_address(const char *a, const char *b)
{
	const char *ca = strchr(a, ':'), *cb = strchr(b, ':');

	return ca && cb && strtoul(a, NULL, 16) == strtoul(b, NULL, 16) &&
	       !strncasecmp(ca, cb, strlen(cb));
}

bool used_from_smi(const char *text, const char *address, uint64_t *bytes)
{
	const char *line, *comma, *end;
	char bus[32];

	for (line = text; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		comma = memchr(line, ',', (size_t)(end - line));
		while (line < end && isspace((unsigned char)*line))
			line++;
		if (!comma || comma <= line || (size_t)(comma - line) >= sizeof(bus))
			continue;
		memcpy(bus, line, (size_t)(comma - line));
		bus[comma - line] = '\0';
		if (!same_address(bus, address))
			continue;
		for (comma++; *comma == ' '; comma++)
			;
		if (!isdigit((unsigned char)*comma) || strtoull(comma, NULL, 10) > 1u << 30)
			return false;
		*bytes = strtoull(comma, NULL, 10) * MIB;
		return true;
	}
	return false;
}

static bool from_driver(const char *address, uint64_t *bytes)
{
	unsigned long long n;
	char path[256];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/mem_info_vram_used", address);
	file = fopen(path, "re");
	if (!file)
		return false;
	good = fscanf(file, "%llu", &n) == 1;
	fclose(file);
	if (good)
		*bytes = n;
	return good;
}

static bool from_nvml(const char *address, uint64_t *bytes)
{
	nvml_init_fn init;
	nvml_by_bus_fn by_bus;
	nvml_memory_fn memory;
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *device;
	struct nvml_memory m = { 0 };
	bool good = false;

	if (!library)
		return false;
	*(void **)&init = dlsym(library, "nvmlInit_v2");
	*(void **)&by_bus = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
	*(void **)&memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
	if (init && by_bus && memory && !init())
		good = !by_bus(address, &device) && !memory(device, &m);
	*bytes = m.used;
	dlclose(library);
	return good;
}

bool used_memory(const char *address, const char *smi, uint64_t *bytes, const char **source)
{
	*source = "nvidia-smi";
	if (smi)
		return used_from_smi(smi, address, bytes);
	*source = "driver";
	if (from_driver(address, bytes))
		return true;
	*source = "NVML";
	return from_nvml(address, bytes);
}
