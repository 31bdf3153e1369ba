/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of our own, of which events are made: Redfish's registry GPUFabric. */
#ifndef FM_REGISTRY_H
#define FM_REGISTRY_H

#include <stddef.h>

#define REGISTRY_PREFIX "GPUFabric"
#define REGISTRY_ARGUMENTS 2

enum message {
	MESSAGE_GPU_ADDED, /* GPU, host */
	MESSAGE_GPU_REMOVED, /* GPU, host */
	MESSAGE_GPU_OFF, /* GPU, host */
	MESSAGE_GPU_ON, /* GPU, host */
	MESSAGE_GPU_UNKNOWN, /* GPU, host */
	MESSAGE_GPU_TWICE, /* GPU */
	MESSAGE_HOST_UP, /* host */
	MESSAGE_HOST_LOST, /* host */
	MESSAGE_HOST_OFF, /* host */
	MESSAGE_EVENTS_LOST,
	MESSAGE_COUNT,
};

/**
 * struct registry_message - a message
 * @text: with %1 and %2 for arguments
 * @arguments: what each is, NULL behind the last
 */
struct registry_message {
	const char *name, *severity, *text, *resolution, *description;
	const char *arguments[REGISTRY_ARGUMENTS + 1];
};

extern const struct registry_message registry[MESSAGE_COUNT];

size_t registry_arguments(enum message message);
/* "GPUFabric.1.0.GPUAdded"; the caller frees. */
char *registry_id(enum message message);
/* The text with its arguments; the caller frees. */
char *registry_text(enum message message, const char *const *arguments);

#endif /* FM_REGISTRY_H */
