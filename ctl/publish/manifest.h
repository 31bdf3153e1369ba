/* SPDX-License-Identifier: GPL-2.0-only */
/* Manifests of Kubernetes: a template for claims, and all that the driver needs. Pure. */
#ifndef GPUCTL_MANIFEST_H
#define GPUCTL_MANIFEST_H

#include <stddef.h>

#include "base/fault.h"

/* Devices of a claim, by the API. */
#define MANIFEST_DEVICES_MAX 32

/**
 * struct manifest_claim - a template for claims
 * @name: of the template
 * @why: one line for people
 * @kind: of GPUs, as gpufabric-dra publishes it
 * @count: number of them
 */
struct manifest_claim {
	const char *name, *why, *kind;
	unsigned int count;
};

/* YAML without a newline at its end; the caller frees. */
char *manifest_claim(const struct manifest_claim *claim);

/* A name that an object can have: [a-z0-9-], at most 63; the caller frees. */
char *manifest_name(const char *text);

/* install.yaml, with {WORDS} in the places of what struct manifest_install has. */
extern const char manifest_text[];

/**
 * struct manifest_install - the driver and where things are on a node
 * @kubelet: root directory of the kubelet
 * @config: directory of gpuctl's configuration
 * @cdi: directory of container devices
 */
struct manifest_install {
	const char *namespace, *image, *kubelet, *config, *cdi;
};

/*
 * YAML without a newline at its end, which the caller frees; NULL with the reason if something
 * cannot stand in it.
 */
char *manifest_install(const struct manifest_install *install, struct fault *fault);

#endif /* GPUCTL_MANIFEST_H */
