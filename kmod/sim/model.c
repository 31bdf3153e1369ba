// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPUs that can be imitated, and cards that are none.
 */

/**
 * DOC: models
 *
 * A simulated GPU carries the simulator's own vendor id, so that no vendor
 * driver can match it, and the ids of the imitated GPU in its subsystem ids.
 * All BARs are 64-bit and prefetchable: they live above 16 TiB, where no host
 * has anything, and need no window below 4 GiB.
 *
 * Other cards that one finds in a slot, a drive and a network adapter, have
 * subsystem ids as well. No driver that goes by the class can bind to them, either:
 * the companion driver does.
 *
 * The device ids below are part of the interface: never reuse one.
 */

#include "model.h"

#define GIB(n)	((u64)(n) << 30)
#define GPU_CLASS	0x030200

static const struct sim_model sim_models[] = {
	{ "h100-80", 0x0001, PCI_VENDOR_ID_NVIDIA, 0x2331, 1, 3,
	  GIB(128), SZ_32M, { 5, 16 }, GPU_CLASS },
	{ "a100-80", 0x0002, PCI_VENDOR_ID_NVIDIA, 0x20b5, 1, 3,
	  GIB(128), SZ_32M, { 4, 16 }, GPU_CLASS },
	{ "a100-40", 0x0003, PCI_VENDOR_ID_NVIDIA, 0x20f1, 1, 3,
	  GIB(64), SZ_32M, { 4, 16 }, GPU_CLASS },
	{ "l40s", 0x0004, PCI_VENDOR_ID_NVIDIA, 0x26b9, 1, 3,
	  GIB(64), SZ_32M, { 4, 16 }, GPU_CLASS },
	{ "mi300x", 0x0005, PCI_VENDOR_ID_ATI, 0x74a1, 0, 2,
	  GIB(256), SZ_2M, { 5, 16 }, GPU_CLASS },
	{ "h200", 0x0006, PCI_VENDOR_ID_NVIDIA, 0x233b, 1, 3,
	  GIB(256), SZ_32M, { 5, 16 }, GPU_CLASS },
	{ "nvme", 0x0007, PCI_VENDOR_ID_SAMSUNG, 0xa80a, 0, 2,
	  SZ_2M, SZ_2M, { 4, 4 }, 0x010802 },
	{ "nic", 0x0008, PCI_VENDOR_ID_MELLANOX, 0x1021, 0, 2,
	  SZ_32M, SZ_2M, { 5, 16 }, 0x020000 },
};

/**
 * sim_model_at() - the model with a given place in the table
 * @index: place, from 0
 *
 * Return: the model, NULL after the last one.
 */
const struct sim_model *sim_model_at(unsigned int index)
{
	return index < ARRAY_SIZE(sim_models) ? &sim_models[index] : NULL;
}

/**
 * sim_model_find() - look a model up
 * @name: its name, need not be terminated
 * @len: length of @name
 *
 * Return: the model, or NULL if there is none of that name.
 */
const struct sim_model *sim_model_find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sim_models); i++) {
		const char *have = sim_models[i].name;

		if (strlen(have) == len && !memcmp(have, name, len))
			return &sim_models[i];
	}
	return NULL;
}
