// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: changes of zones
 *
 * Whatever changes the fabric, events come from a comparison with what was told last, so that no
 * way of a change is left out.
 */
#include <stdlib.h>

#include "base/text.h"
#include "fm/watch.h"

/**
 * struct watch_gpu - what was told of a GPU
 */
struct watch_gpu {
	int owner;
	enum fabric_gpu_state state;
};

void watch_init(struct watch *watch, const struct fabric *fabric, const char *name,
		struct events *events)
{
	int i;

	*watch = (struct watch){ .events = events, .name = name };
	watch->hosts = mem_zalloc((size_t)fabric->host_count + 1, sizeof(*watch->hosts));
	watch->gpus = mem_zalloc((size_t)fabric->gpu_count + 1, sizeof(*watch->gpus));
	for (i = 0; i < fabric->host_count; i++)
		watch->hosts[i] = fabric->hosts[i].state;
	for (i = 0; i < fabric->gpu_count; i++)
		watch->gpus[i] = (struct watch_gpu){ fabric->gpus[i].owner, fabric->gpus[i].state };
}

void watch_free(struct watch *watch)
{
	free(watch->hosts);
	free(watch->gpus);
}

static void tell(struct watch *watch, const struct fabric *fabric, enum message message, int gpu,
		 int host)
{
	char *origin = mem_printf("/redfish/v1/Fabrics/%s/Zones/%s", watch->name,
				  fabric->hosts[host].name);
	const char *arguments[REGISTRY_ARGUMENTS] = { fabric->hosts[host].name };

	if (gpu != FABRIC_NONE) {
		arguments[0] = fabric->gpus[gpu].name;
		arguments[1] = fabric->hosts[host].name;
	}
	events_tell(watch->events, message, origin, arguments);
	free(origin);
}

static void look_at_host(struct watch *watch, const struct fabric *fabric, int host)
{
	enum fabric_host_state state = fabric->hosts[host].state;

	if (state == watch->hosts[host])
		return;
	watch->hosts[host] = state;
	if (state == HOST_UP)
		tell(watch, fabric, MESSAGE_HOST_UP, FABRIC_NONE, host);
	else if (state == HOST_LOST)
		tell(watch, fabric, MESSAGE_HOST_LOST, FABRIC_NONE, host);
	else if (state == HOST_OFF)
		tell(watch, fabric, MESSAGE_HOST_OFF, FABRIC_NONE, host);
}

static void look_at_gpu(struct watch *watch, const struct fabric *fabric, int i)
{
	const struct fabric_gpu *gpu = &fabric->gpus[i];
	struct watch_gpu *told = &watch->gpus[i];

	if (gpu->state == GPU_BINDING || gpu->state == GPU_UNBINDING)
		return;
	if (gpu->owner != told->owner) {
		if (told->owner != FABRIC_NONE)
			tell(watch, fabric, MESSAGE_GPU_REMOVED, i, told->owner);
		if (gpu->owner != FABRIC_NONE)
			tell(watch, fabric, MESSAGE_GPU_ADDED, i, gpu->owner);
		told->owner = gpu->owner;
		told->state = GPU_BOUND;
	}
	if (gpu->owner != FABRIC_NONE && gpu->state != told->state) {
		if (gpu->state == GPU_BOUND)
			tell(watch, fabric, MESSAGE_GPU_ON, i, gpu->owner);
		else if (gpu->state == GPU_GONE)
			tell(watch, fabric, MESSAGE_GPU_OFF, i, gpu->owner);
		else if (gpu->state == GPU_UNKNOWN)
			tell(watch, fabric, MESSAGE_GPU_UNKNOWN, i, gpu->owner);
		else if (gpu->state == GPU_TWICE)
			tell(watch, fabric, MESSAGE_GPU_TWICE, i, gpu->owner);
	}
	told->state = gpu->state;
}

void watch_look(struct watch *watch, const struct fabric *fabric)
{
	int i;

	for (i = 0; i < fabric->host_count; i++)
		look_at_host(watch, fabric, i);
	for (i = 0; i < fabric->gpu_count; i++)
		look_at_gpu(watch, fabric, i);
}
