// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: health
 *
 * A device is unhealthy when its slot is in quarantine, in fault, lost or stuck, or when it is part of
 * a composition and is gone. The kubelet puts this into the status of pods that have the device. Who
 * must not be allocated is another question, which taints answer.
 *
 * While a fabric manager does not answer, nobody knows which slots have its GPUs: a slot then has the
 * device that it had before.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dra/health.h"
#include "dra/message.h"
#include "health.pb-c.h"

/**
 * struct health_device - a device
 * @slot: where it is
 * @why: for people, "" for a healthy one
 */
struct health_device {
	char *slot, *pool, device[DEVICE_NAME_MAX];
	Health__Status status;
	struct reason why;
};

void health_open(struct health *health)
{
	memset(health, 0, sizeof(*health));
	pthread_mutex_init(&health->lock, NULL);
}

static void devices_free(struct health_device *devices, size_t n)
{
	while (n) {
		free(devices[--n].slot);
		free(devices[n].pool);
	}
	free(devices);
}

void health_close(struct health *health)
{
	devices_free(health->devices, health->n);
	pthread_mutex_destroy(&health->lock);
}

/* False for a slot without a device. */
static bool judge(const struct inv_slot *slot, struct health_device *device)
{
	bool gone = !strcmp(slot->state, "empty") || !strcmp(slot->state, "other");
	bool bad = !strcmp(slot->state, "fault") || !strcmp(slot->state, "lost") ||
		   !strcmp(slot->state, "stuck");

	if (slot->unmanaged || (gone && !slot->composition))
		return false;
	device->status = HEALTH__STATUS__UNHEALTHY;
	if (gone || bad)
		refuse(&device->why, "slot %s is %s%s%s%s", slot->name,
		       !strcmp(slot->state, "fault") ? "in " : "", slot->state,
		       slot->cause ? ": " : "", slot->cause ? slot->cause : "");
	else if (slot->quarantined)
		refuse(&device->why, "slot %s is in quarantine", slot->name);
	else
		device->status = HEALTH__STATUS__HEALTHY;
	return true;
}

static const struct health_device *device_in(const struct health *health, const char *slot)
{
	size_t i;

	for (i = 0; i < health->n; i++)
		if (!strcmp(health->devices[i].slot, slot))
			return &health->devices[i];
	return NULL;
}

/* What the device in the slot is called: of the node's pool, or of a manager's. */
static void name_device(const struct health *health, const char *node,
			const struct inventory *inventory, const struct inv_slot *slot,
			struct health_device *device)
{
	const struct health_device *before = device_in(health, slot->name);
	const struct inv_gpu *gpu = NULL;
	char pool[DEVICE_NAME_MAX];
	size_t i;

	for (i = 0; i < inventory->n_gpus && !gpu; i++)
		if (inventory->gpus[i].slot && !strcmp(inventory->gpus[i].slot, slot->name))
			gpu = &inventory->gpus[i];
	if (gpu) {
		pool_name(gpu->manager, pool);
		device->pool = copy_of(pool);
		memcpy(device->device, gpu->device, DEVICE_NAME_MAX);
	} else if (before && inventory->partial) {
		device->pool = copy_of(before->pool);
		memcpy(device->device, before->device, DEVICE_NAME_MAX);
	} else {
		device->pool = copy_of(node);
		memcpy(device->device, slot->device, DEVICE_NAME_MAX);
	}
}

static bool same(const struct health *health, const struct health_device *devices, size_t n)
{
	size_t i;

	if (!health->version || n != health->n)
		return false;
	for (i = 0; i < n; i++) {
		const struct health_device *a = &health->devices[i], *b = &devices[i];

		if (strcmp(a->slot, b->slot) || strcmp(a->pool, b->pool) ||
		    strcmp(a->device, b->device) || a->status != b->status ||
		    strcmp(a->why.text, b->why.text))
			return false;
	}
	return true;
}

/* With the lock: what is there becomes unknown. */
static bool forget(struct health *health, const struct reason *reason)
{
	bool changed = false;
	size_t i;

	for (i = 0; i < health->n; i++) {
		changed = changed || health->devices[i].status != HEALTH__STATUS__UNKNOWN;
		health->devices[i].status = HEALTH__STATUS__UNKNOWN;
		health->devices[i].why = *reason;
	}
	return changed;
}

bool health_take(struct health *health, const char *node, const struct inventory *inventory,
		 const struct reason *reason)
{
	struct health_device *devices = NULL;
	bool changed;
	size_t n = 0, i;

	pthread_mutex_lock(&health->lock);
	for (i = 0; inventory && i < inventory->n_slots; i++) {
		const struct inv_slot *slot = &inventory->slots[i];
		struct health_device device = { .why = { "" } };

		if (!judge(slot, &device))
			continue;
		name_device(health, node, inventory, slot, &device);
		device.slot = copy_of(slot->name);
		devices = grow(devices, n + 1, sizeof(*devices));
		devices[n++] = device;
	}
	if (!inventory) {
		changed = forget(health, reason);
	} else if (same(health, devices, n)) {
		changed = false;
		devices_free(devices, n);
	} else {
		changed = true;
		devices_free(health->devices, health->n);
		health->devices = devices;
		health->n = n;
	}
	health->version += changed;
	pthread_mutex_unlock(&health->lock);
	return changed;
}

/**
 * struct told - a device's part of the message
 */
struct told {
	Health__DeviceHealth health;
	Health__DeviceName name;
};

bool health_next(struct health *health, uint64_t *seen, struct rpc_answer *answer)
{
	Health__WatchResponse response = HEALTH__WATCH_RESPONSE__INIT;
	Health__DeviceHealth **entries;
	struct told *told;
	bool news;
	size_t i;

	pthread_mutex_lock(&health->lock);
	news = health->version && *seen != health->version;
	*seen = health->version;
	told = zalloc(health->n, sizeof(*told));
	entries = zalloc(health->n, sizeof(*entries));
	for (i = 0; i < health->n; i++) {
		struct health_device *device = &health->devices[i];

		health__device_health__init(&told[i].health);
		health__device_name__init(&told[i].name);
		told[i].name.pool_name = device->pool;
		told[i].name.device_name = device->device;
		told[i].health.device = &told[i].name;
		told[i].health.health = device->status;
		/* Changes are followed, so it is so now. */
		told[i].health.last_updated_time = time(NULL);
		told[i].health.message = device->why.text;
		entries[i] = &told[i].health;
	}
	response.devices = entries;
	response.n_devices = health->n;
	if (news)
		message_answer(answer, &response.base);
	pthread_mutex_unlock(&health->lock);
	free(told);
	free(entries);
	return news;
}
